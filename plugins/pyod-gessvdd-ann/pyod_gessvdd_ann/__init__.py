"""Approximate nearest-neighbour graphs for GESSVDD: install the package, then ``GESSVDD(laplacian="ann")``."""

from __future__ import annotations

from pyod_gessvdd_ann.ann import ANN

__all__ = ["ANN"]
