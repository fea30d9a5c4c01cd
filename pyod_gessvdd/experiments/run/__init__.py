"""Running jobs: each in a process that may die, on this machine or on a cluster."""
