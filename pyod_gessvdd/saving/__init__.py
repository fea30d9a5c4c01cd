"""Models in files that hold arrays and JSON and never run: the archive, and what may be in it."""
