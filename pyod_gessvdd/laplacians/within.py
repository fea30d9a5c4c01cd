"""Graph ``Sw``: the scatter inside k-means clusters (paper eq. ``sw``), S_x = S_w."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyod_gessvdd.components import Laplacian
from pyod_gessvdd.graph import Graph
from pyod_gessvdd.laplacians.clusters import cluster_indicator


class Within(Laplacian):
    """Within-cluster graph.

    Parameters
    ----------
    n_clusters : int, default=5
        The number of k-means clusters; the paper uses 5.
    """

    name = "within"
    aliases = ("Sw",)

    def __init__(self, n_clusters: int = 5) -> None:
        self.n_clusters = n_clusters

    def build(self, Phi: np.ndarray, random_state: Any) -> Graph:
        """L = I − Σ_c 1_c 1_cᵀ / N_c."""
        indicator = cluster_indicator(Phi, self.n_clusters, random_state, self.name)
        return Graph.low_rank(indicator, -1.0 / indicator.sum(axis=0), diagonal=1.0)
