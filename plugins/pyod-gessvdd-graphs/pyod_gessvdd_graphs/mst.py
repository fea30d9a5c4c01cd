"""Graph ``mst``: the tree of least length that links all samples."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from pyod_gessvdd import Graph, Laplacian
from pyod_gessvdd_graphs.neighbours import directed, either_way, nearest

Array = np.ndarray


class MST(Laplacian):
    r"""Euclidean minimum spanning tree, sparse.

    .. math:: A_{ij} = 1 \quad \text{if } \{i, j\} \text{ is an edge of the tree}

    and L = D − A: connected with the fewest edges, N − 1, and without a number of neighbours to choose. Equal rows are
    linked to one of them.

    Up to ``max_exact`` distinct rows the tree is exact. Above, the spanning forest of the nearest-neighbour graph keeps
    its edges between mutual neighbours, and its parts are joined by the shortest links there are. Nothing proves that
    tree the shortest, but on all data where we compared them it was. No N × N array is formed either way.

    Parameters
    ----------
    n_neighbors : int, default=10
        The number of neighbours of each sample above ``max_exact``.
    max_exact : int, default=1000
        The largest number of distinct rows whose tree is exact, which takes a time of N².

    References
    ----------
    Prim: Shortest connection networks and some generalizations. Bell System Technical Journal 36(6), 1957.
    """

    name = "mst"
    kills_constants = True

    def __init__(self, n_neighbors: int = 10, max_exact: int = 1000) -> None:
        self.n_neighbors = n_neighbors
        self.max_exact = max_exact

    def build(self, Phi: np.ndarray, random_state: Any) -> Graph:
        """L = D − A."""
        if not isinstance(self.max_exact, Integral) or self.max_exact < 0:
            raise ValueError(f"{self.name} needs a whole max_exact of at least 0, got max_exact={self.max_exact!r}")
        N = len(Phi)
        # Sorted by their values: which of two equally short trees is found does not depend on the order of the input.
        distinct, first, which = np.unique(Phi, axis=0, return_index=True, return_inverse=True)
        original = first[which.ravel()]
        copies = np.flatnonzero(original != np.arange(N))
        edges = np.vstack([first[self._tree(distinct)], np.column_stack([copies, original[copies]])])
        A = sp.csr_array((np.ones(len(edges)), tuple(edges.T)), shape=(N, N))
        return Graph.from_adjacency(A + A.T)

    def _tree(self, X: Array) -> Array:
        """The edges of a spanning tree of distinct rows, of shape (N − 1, 2)."""
        if len(X) <= self.max_exact:
            return _join(X, np.arange(len(X)))
        neighbours, distances = nearest(X, self.n_neighbors, self.name)
        # The order of the lengths decides, and a length that was rounded to zero would be no edge.
        lengths = directed(neighbours, np.unique(distances, return_inverse=True)[1].reshape(distances.shape) + 1)
        forest = minimum_spanning_tree(either_way(lengths))
        # An outlier lists members of several groups, and would be their bridge; they do not list it: cut and join anew.
        forest = sp.csr_array(forest.multiply(lengths.minimum(lengths.T)))
        _, tree = connected_components(forest, directed=False)
        return np.vstack([np.column_stack(forest.nonzero()), _join(X, tree)])


def _join(X: Array, tree: Array) -> Array:
    """The shortest edges that join the trees of a forest to one, of shape (n_trees − 1, 2): Prim's algorithm.

    From the largest tree on, the nearest one is joined, again and again; for every row outside the link to its nearest
    row inside is kept, so that each pair of rows is looked at once at most.

    Parameters
    ----------
    X : ndarray of shape (N, F)
        The rows.
    tree : ndarray of int, of shape (N,)
        Which tree each row belongs to, counted from zero.
    """
    from scipy.spatial import KDTree

    sizes = np.bincount(tree)
    members = np.split(np.argsort(tree, kind="stable"), np.cumsum(sizes)[:-1])
    joined = members[int(sizes.argmax())]
    outside = np.setdiff1d(np.arange(len(X)), joined)
    inside, distance = np.empty(len(X), dtype=int), np.full(len(X), np.inf)
    edges = np.empty((len(sizes) - 1, 2), dtype=int)
    for edge in edges:
        found, where = KDTree(X[joined]).query(X[outside])
        nearer = found < distance[outside]
        distance[outside[nearer]], inside[outside[nearer]] = found[nearer], joined[where[nearer]]
        nearest_row = outside[distance[outside].argmin()]
        edge[:] = nearest_row, inside[nearest_row]
        joined = members[tree[nearest_row]]
        outside = outside[tree[outside] != tree[nearest_row]]
    return edges
