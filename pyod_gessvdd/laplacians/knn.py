"""Graph ``kNN``: i and j are linked if either is among the other's nearest neighbours (paper eq. ``kNNscatter``).

The authors' published code links the farthest points instead; we follow the paper.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from pyod_gessvdd.components import Laplacian
from pyod_gessvdd.graph import Graph, rows_by_content


class KNN(Laplacian):
    """Symmetric nearest-neighbour graph, sparse.

    Parameters
    ----------
    n_neighbors : int, default=5
        The number of neighbours of each sample; the paper uses 5.
    """

    name = "knn"

    def __init__(self, n_neighbors: int = 5) -> None:
        self.n_neighbors = n_neighbors

    def build(self, Phi: np.ndarray, random_state: Any) -> Graph:
        """L = D − A with A_ij = 1 if i ∈ N_j or j ∈ N_i."""
        from sklearn.neighbors import NearestNeighbors

        if not isinstance(self.n_neighbors, Integral) or not 1 <= self.n_neighbors < len(Phi):
            raise ValueError(
                f"{self.name} needs a whole n_neighbors of at least 1 and more samples than neighbours, "
                f"got n_neighbors={self.n_neighbors!r} and {len(Phi)} samples"
            )
        # Among equally near points the search takes those it meets first: that must not be the order of the input.
        order = rows_by_content(Phi)
        A = NearestNeighbors(n_neighbors=self.n_neighbors).fit(Phi[order]).kneighbors_graph()
        back = np.argsort(order)
        return Graph.from_adjacency(A.maximum(A.T)[back][:, back])
