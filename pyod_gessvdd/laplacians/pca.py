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
    supports_sample_weight = True

    def build(self, Phi: np.ndarray, random_state: Any, sample_weight: np.ndarray | None = None) -> Graph:
        """L = (I − 11ᵀ/N) / N; with sample weights and W = Σ w_i, L = (diag(w) − wwᵀ/W) / W."""
        N = len(Phi)
        if sample_weight is not None:
            shares = sample_weight / sample_weight.sum()
            return Graph(N, shares, shares[:, None], np.array([-1.0]))
        # Bytes: the ones are kept for the whole fit, and a million of them need not be floats.
        ones = np.ones((N, 1), dtype=np.int8)
        return Graph.low_rank(ones, np.array([-1.0 / N**2]), diagonal=1.0 / N)
