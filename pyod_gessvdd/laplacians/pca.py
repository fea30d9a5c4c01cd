"""Graph ``PCA``: every pair of samples linked with the weight 1/N² (paper eq. ``st``), S_x = S_t / N."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyod_gessvdd.components.contracts import Laplacian
from pyod_gessvdd.graph import Graph


class PCA(Laplacian):
    """The PCA graph: S_x is the covariance of the features."""

    name = "pca"
    kills_constants = True

    def build(self, Phi: np.ndarray, random_state: Any) -> Graph:
        """L = (I − 11ᵀ/N) / N."""
        N = len(Phi)
        # Bytes: the ones are kept as long as the fit, and a million of them need not be floats.
        ones = np.ones((N, 1), dtype=np.int8)
        return Graph.low_rank(ones, np.array([-1.0 / N**2]), diagonal=1.0 / N)
