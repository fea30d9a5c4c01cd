"""Components: their contracts, the registry that finds them, what users write for them, and the host's checks."""
