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
    supports_sample_weight = True
    repeats_exactly = False

    def __init__(self, n_clusters: int = 5) -> None:
        self.n_clusters = n_clusters

    def build(self, Phi: np.ndarray, random_state: Any, sample_weight: np.ndarray | None = None) -> Graph:
        """L = Σ_c N_c (1_c/N_c − 1/N)(1_c/N_c − 1/N)ᵀ, which is Σ_c 1_c 1_cᵀ / N_c − 11ᵀ/N.

        With sample weights L = Σ_c w_c w_cᵀ / W_c − wwᵀ/W, where w_c holds the weights of cluster c and W_c is their
        sum.
        """
        indicator = cluster_indicator(Phi, self.n_clusters, random_state, self.name, sample_weight)
        n_found = indicator.shape[1]
        if n_found < 2:
            raise ValueError(
                f"{self.name} needs at least 2 clusters to have a scatter between them, "
                f"found {n_found} with n_clusters={self.n_clusters}"
            )
        sizes = indicator.sum(axis=0)
        everything = sp.csr_array(indicator.sum(axis=1)[:, None])
        weights = np.append(1.0 / sizes, -1.0 / sizes.sum())
        return Graph.low_rank(sp.hstack([indicator, everything], format="csr"), weights)
