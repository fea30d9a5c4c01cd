"""The boundaries around the projected rows: the sphere of SVDD and the half-space of the one-class SVM."""
