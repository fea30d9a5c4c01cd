"""More kernels for pyod-gessvdd: random Fourier features, and Gower's similarity for mixed tables."""

from __future__ import annotations

from pyod_gessvdd_kernels.gower import Gower
from pyod_gessvdd_kernels.random_features import RFF, LaplacianRFF

__version__ = "0.1.0"

__all__ = ["RFF", "Gower", "LaplacianRFF"]
