"""A Laplacian that the user hands over as a ready N × N matrix, sparse or dense."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from pyod_gessvdd.components.contracts import Laplacian
from pyod_gessvdd.graph import Graph


class GivenLaplacian(Laplacian):
    """A fixed matrix over the training rows.

    Parameters
    ----------
    L : sparse matrix or ndarray of shape (N, N)
        The Laplacian of the rows that will be fitted, in their order.

    Notes
    -----
    With sample weights a copy of a row has the links of the row and none to its other copies: an edge counts w_i w_j
    times and what a row's diagonal has beyond its edges, the row's sum, w_i times.
    """

    name = "given"
    supports_sample_weight = True
    repeats_exactly = None

    def __init__(self, L: Any) -> None:
        self.L = L

    def of_rows(self, rows: np.ndarray) -> GivenLaplacian:
        """The matrix without the other rows and their edges: every row keeps its sum."""
        L = sp.csr_array(self.L) if sp.issparse(self.L) else np.asarray(self.L, dtype=float)
        if L.ndim != 2 or L.shape[0] != L.shape[1] or L.shape[0] <= rows.max(initial=0):
            return self  # the host says what is wrong with it
        inside = L[rows][:, rows]
        lost = np.asarray(L[rows].sum(axis=1)).ravel() - np.asarray(inside.sum(axis=1)).ravel()
        return GivenLaplacian(inside + (sp.diags_array(lost) if sp.issparse(inside) else np.diag(lost)))

    def build(self, Phi: np.ndarray, random_state: Any, sample_weight: np.ndarray | None = None) -> Graph:
        """The matrix itself; with sample weights W L W with the diagonal that keeps the weighted row sums."""
        graph = Graph.from_matrix(self.L)
        if sample_weight is None:
            return graph
        beyond = sample_weight * graph.dot(np.ones(graph.n_nodes))
        edges = graph.rescaled(sample_weight)
        return edges + Graph(graph.n_nodes, beyond - edges.dot(np.ones(graph.n_nodes)))
