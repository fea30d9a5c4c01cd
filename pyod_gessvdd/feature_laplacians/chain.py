"""Feature graph ``feature_chain``: each column is linked with the next, as in time series and spectra."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from pyod_gessvdd.components.contracts import FeatureLaplacian
from pyod_gessvdd.graph import Graph


class FeatureChain(FeatureLaplacian):
    """Neighbouring columns are linked: the weights of a projection should change little from one to the next.

    Parameters
    ----------
    ring : bool, default=False
        Whether the last column is linked with the first.
    """

    name = "feature_chain"

    def __init__(self, ring: bool = False) -> None:
        self.ring = ring

    def build(self, X: np.ndarray, random_state: Any) -> Graph:
        """L = D − A with A_ij = 1 for neighbours."""
        n = X.shape[1]
        A = sp.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1], shape=(n, n)).tolil()
        if self.ring and n > 2:
            A[0, n - 1] = A[n - 1, 0] = 1.0
        return Graph.from_adjacency(sp.csr_array(A))
