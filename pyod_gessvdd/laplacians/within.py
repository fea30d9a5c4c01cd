"""Graph ``Sw``: the scatter inside k-means clusters (paper eq. ``sw``), S_x = S_w."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from pyod_gessvdd.components.contracts import Laplacian
from pyod_gessvdd.graph import Graph
from pyod_gessvdd.laplacians.clusters import cluster_indicator
from pyod_gessvdd.linalg import RELATIVE_ZERO


class Within(Laplacian):
    """Within-cluster graph.

    Parameters
    ----------
    n_clusters : int, default=5
        The number of k-means clusters; the paper uses 5.
    """

    name = "within"
    aliases = ("Sw",)
    kills_constants = True

    def __init__(self, n_clusters: int = 5) -> None:
        self.n_clusters = n_clusters

    def build(self, Phi: np.ndarray, random_state: Any) -> Graph:
        """L = I − Σ_c 1_c 1_cᵀ / N_c; with no more distinct rows than clusters, of one cluster, and a warning."""
        indicator = cluster_indicator(Phi, self.n_clusters, random_state, self.name)
        if _is_flat(Phi, indicator):
            warnings.warn(
                f"the rows inside each of the n_clusters={self.n_clusters} clusters are equal, so that nothing is left "
                "of the scatter within; using one cluster",
                UserWarning,
                stacklevel=2,
            )
            indicator = sp.csr_array(np.ones((len(Phi), 1)))
        return Graph.low_rank(indicator, -1.0 / indicator.sum(axis=0), diagonal=1.0)


def _is_flat(Phi: np.ndarray, indicator: sp.csr_array) -> bool:
    """Whether the clusters hold equal rows only, although the rows are not all equal."""
    sizes = indicator.sum(axis=0)
    sums = indicator.T @ Phi
    squares = float(np.einsum("ij,ij->", Phi, Phi))
    within = squares - float(np.einsum("ij,ij,i->", sums, sums, 1.0 / sizes))
    total = squares - float(np.square(sums.sum(axis=0)).sum()) / len(Phi)
    return within <= RELATIVE_ZERO * total and total > RELATIVE_ZERO * squares
