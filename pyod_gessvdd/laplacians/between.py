"""Graph ``Sb``: the scatter between k-means clusters (paper eq. ``sb``), S_x = S_b, of rank K − 1 at most."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from pyod_gessvdd.components.contracts import Laplacian
from pyod_gessvdd.graph import Graph
from pyod_gessvdd.laplacians.clusters import cluster_indicator


class Between(Laplacian):
    """Between-cluster graph.

    Parameters
    ----------
    n_clusters : int, default=5
        The number of k-means clusters; the paper uses 5.
    """

    name = "between"
    aliases = ("Sb",)
    kills_constants = True

    def __init__(self, n_clusters: int = 5) -> None:
        self.n_clusters = n_clusters

    def build(self, Phi: np.ndarray, random_state: Any) -> Graph:
        """L = Σ_c N_c (1_c/N_c − 1/N)(1_c/N_c − 1/N)ᵀ, which is Σ_c 1_c 1_cᵀ / N_c − 11ᵀ/N."""
        indicator = cluster_indicator(Phi, self.n_clusters, random_state, self.name)
        N, n_found = indicator.shape
        if n_found < 2:
            raise ValueError(
                f"{self.name} needs at least 2 clusters to have a scatter between them, "
                f"found {n_found} with n_clusters={self.n_clusters}"
            )
        ones = sp.csr_array(np.ones((N, 1)))
        weights = np.append(1.0 / indicator.sum(axis=0), -1.0 / N)
        return Graph.low_rank(sp.hstack([indicator, ones], format="csr"), weights)
