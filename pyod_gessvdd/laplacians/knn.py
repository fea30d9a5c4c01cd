"""Graph ``kNN``: i and j are linked if either is among the other's nearest neighbours (paper eq. ``kNNscatter``).

The authors' published code links the farthest points instead; we follow the paper.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from pyod_gessvdd.components.contracts import Laplacian
from pyod_gessvdd.graph import Graph
from pyod_gessvdd.linalg import drawn, rows_by_content

Array = np.ndarray


class KNN(Laplacian):
    """Symmetric nearest-neighbour graph, sparse.

    Up to ``max_exact`` samples the whole graph is built. Above, the neighbours of a random sample of points are
    searched among all points, and their edges stand for all: the scatter S_x = Φᵀ L Φ of that graph is an unbiased
    estimate of the whole graph's. Spectral regression needs the graph itself and refuses an estimate.

    With sample weights an edge has the weight w_i w_j, the number of pairs that it stands for. The neighbours are
    distinct rows of the data: this differs from repeating rows, whose nearest neighbours would be their own copies.

    Parameters
    ----------
    n_neighbors : int, default=5
        The number of neighbours of each sample; the paper uses 5.
    max_exact : int, default=50000
        The largest number of samples whose neighbours are all searched, which takes O(N²) time.
    n_queries : int, default=1000
        The number of sampled points above that.
    """

    name = "knn"
    kills_constants = True
    supports_sample_weight = True
    repeats_exactly = False

    def __init__(self, n_neighbors: int = 5, max_exact: int = 50_000, n_queries: int = 1000) -> None:
        self.n_neighbors = n_neighbors
        self.max_exact = max_exact
        self.n_queries = n_queries

    def build(self, Phi: Array, random_state: Any, sample_weight: Array | None = None) -> Graph:
        """L = D − A with A_ij = 1, or w_i w_j with sample weights, if i ∈ N_j or j ∈ N_i."""
        from sklearn.neighbors import NearestNeighbors

        self.check_neighbors(len(Phi))
        # Among equidistant points the search takes those it meets first: that must not depend on the input's order.
        order = rows_by_content(Phi)
        ordered = Phi[order]
        search = NearestNeighbors(n_neighbors=self.n_neighbors).fit(ordered)
        if len(Phi) <= self.max_exact:
            A = search.kneighbors_graph()
            A = A.maximum(A.T)
        else:
            A = self._sampled_edges(search, ordered, random_state)
        back = np.argsort(order)
        A = A[back][:, back]
        if sample_weight is not None:
            W = sp.diags_array(sample_weight)
            A = W @ A @ W
        L = Graph.from_adjacency(A).base
        return Graph(len(Phi), L, is_estimate=len(Phi) > self.max_exact)

    def check_neighbors(self, N: int) -> None:
        """Raise a ``ValueError`` if N samples do not have this many neighbours."""
        if not isinstance(self.n_neighbors, Integral) or not 1 <= self.n_neighbors < N:
            raise ValueError(
                f"{self.name} needs a whole n_neighbors of at least 1 and more samples than neighbours, "
                f"got n_neighbors={self.n_neighbors!r} and {N} samples"
            )

    def check_queries(self, N: int) -> None:
        """Raise a ``ValueError`` if this many of N samples cannot be drawn."""
        if not isinstance(self.n_queries, Integral) or not 1 <= self.n_queries <= N:
            raise ValueError(f"n_queries must be a whole number from 1 to the {N} samples, got {self.n_queries!r}")

    def _sampled_edges(self, search: Any, Phi: Array, random_state: Any) -> sp.csr_array:
        """The edges of a sample of points, weighted so that their expected sum is the whole graph.

        Point i meets the edge {i, j} in its own list or in j's: an edge whose ends list each other can be drawn from
        both sides, so each side contributes half of it. Hence the neighbours' own lists are searched as well.
        """
        N = len(Phi)
        self.check_queries(N)
        queries = drawn(N, self.n_queries, check_random_state(random_state))
        lists = _neighbours(search, Phi, queries)
        others, position = np.unique(lists, return_inverse=True)
        lists_of_others = _neighbours(search, Phi, others)
        mutual = (lists_of_others[position.reshape(lists.shape)] == queries[:, None, None]).any(axis=2)
        weights = np.where(mutual, 0.5, 1.0) * (N / len(queries))
        heads = np.repeat(queries, lists.shape[1])
        A = sp.csr_array((weights.ravel(), (heads, lists.ravel())), shape=(N, N))
        return A + A.T


def _neighbours(search: Any, Phi: Array, rows: Array) -> Array:
    """The nearest neighbours of some of the rows of Φ, themselves left out, of shape (len(rows), n_neighbors)."""
    count = search.n_neighbors
    found = search.kneighbors(Phi[rows], count + 1, return_distance=False)
    itself = found == rows[:, None]
    # Among duplicates a row need not be its own first neighbour, or among them at all: then the last is dropped.
    itself[~itself.any(axis=1), -1] = True
    return found[~itself].reshape(len(rows), count)
