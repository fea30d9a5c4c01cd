"""Graph ``Sw``: the scatter inside k-means clusters (paper eq. ``sw``), S_x = S_w."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from pyod_gessvdd.components.contracts import Laplacian
from pyod_gessvdd.errors import warn
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
    supports_sample_weight = True
    repeats_exactly = False

    def __init__(self, n_clusters: int = 5) -> None:
        self.n_clusters = n_clusters

    def build(self, Phi: np.ndarray, random_state: Any, sample_weight: np.ndarray | None = None) -> Graph:
        """L = I − Σ_c 1_c 1_cᵀ / N_c; with no more distinct rows than clusters, for one cluster, with a warning.

        With sample weights L = diag(w) − Σ_c w_c w_cᵀ / W_c, where w_c holds the weights of cluster c and W_c is their
        sum.
        """
        indicator = cluster_indicator(Phi, self.n_clusters, random_state, self.name, sample_weight)
        if _is_flat(Phi, indicator):
            warn(
                f"the rows inside each of the n_clusters={self.n_clusters} clusters are equal, so there is no scatter "
                "within them; using one cluster"
            )
            indicator = sp.csr_array(indicator.sum(axis=1)[:, None])
        base = 1.0 if sample_weight is None else sample_weight.astype(float)
        return Graph(len(Phi), base, indicator, -1.0 / indicator.sum(axis=0))


def _is_flat(Phi: np.ndarray, indicator: sp.csr_array) -> bool:
    """Whether the clusters hold only equal rows, although the rows are not all equal."""
    sizes = indicator.sum(axis=0)
    sums = indicator.T @ Phi
    squares = float(np.einsum("ij,ij->i", Phi, Phi) @ indicator.sum(axis=1))
    within = squares - float(np.einsum("ij,ij,i->", sums, sums, 1.0 / sizes))
    total = squares - float(np.square(sums.sum(axis=0)).sum()) / sizes.sum()
    return within <= RELATIVE_ZERO * total and total > RELATIVE_ZERO * squares
