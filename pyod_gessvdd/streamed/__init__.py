"""Fits whose rows do not fit in memory: the sums, order statistics and spheres of a source, block by block."""
