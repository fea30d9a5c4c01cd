"""A Laplacian that the user passes as a ready N × N matrix, sparse or dense."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from pyod_gessvdd.components.contracts import Laplacian
from pyod_gessvdd.components.validation import as_graph
from pyod_gessvdd.graph import Graph
from pyod_gessvdd.linalg import RELATIVE_ZERO


class GivenLaplacian(Laplacian):
    """A fixed matrix over the training rows.

    Parameters
    ----------
    L : sparse matrix or ndarray of shape (N, N)
        The Laplacian of the rows that will be fitted, in their order.

    Notes
    -----
    With sample weights, a copy of a row has the row's links and none to its other copies: an edge counts w_i w_j times,
    and the excess of a row's diagonal over its edges, the row's sum, w_i times.
    """

    name = "given"
    supports_sample_weight = True
    repeats_exactly = None

    def __init__(self, L: Any) -> None:
        self.L = L

    def of_rows(self, chosen: np.ndarray) -> GivenLaplacian:
        """The matrix without the other rows and their edges: every row keeps its sum.

        Removing edges of negative weight can make L indefinite. So a matrix that has some, or a row with a negative
        sum, keeps its diagonal: the other rows count as if they were at the mean of the chosen ones.
        """
        L = as_graph(Graph.from_matrix(self.L), len(chosen), self).base
        inside = L[chosen][:, chosen]
        size = RELATIVE_ZERO * np.abs(L.diagonal()).max(initial=0.0)
        if (L - sp.diags_array(L.diagonal())).max() > size or L.sum(axis=1).min() < -size:
            return GivenLaplacian(inside)
        lost = L[chosen].sum(axis=1) - inside.sum(axis=1)
        return GivenLaplacian(inside + (sp.diags_array(lost) if sp.issparse(inside) else np.diag(lost)))

    def build(self, Phi: np.ndarray, random_state: Any, sample_weight: np.ndarray | None = None) -> Graph:
        """The matrix itself; with sample weights W L W with the diagonal that keeps the weighted row sums."""
        graph = Graph.from_matrix(self.L)
        if sample_weight is None:
            return graph
        beyond = sample_weight * graph.dot(np.ones(graph.n_nodes))
        edges = graph.rescaled(sample_weight)
        return edges + Graph(graph.n_nodes, beyond - edges.dot(np.ones(graph.n_nodes)))
