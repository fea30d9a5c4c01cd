"""The boundaries around the projected rows: the sphere of SVDD, the half-space of the one-class SVM and others."""
