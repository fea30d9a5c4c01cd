"""Graph ``mutual_knn``: two samples are linked if each is among the other's nearest neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyod_gessvdd import Graph, Laplacian
from pyod_gessvdd_graphs.neighbours import directed, nearest


class MutualKNN(Laplacian):
    r"""Mutual nearest-neighbour graph, sparse.

    .. math:: A_{ij} = 1 \quad \text{if } i \in N_j \text{ and } j \in N_i

    and L = D − A. A sample far from the others is listed by nobody and has no edge: its row of L is zero, and it has no
    say in S_x. The paper's graph ``knn`` links it to its neighbours all the same.

    Parameters
    ----------
    n_neighbors : int, default=10
        The number of neighbours of each sample; more than for ``knn``, for fewer of their edges remain.

    References
    ----------
    Brito, Chávez, Quiroz, Yukich: Connectivity of the mutual k-nearest-neighbor graph in clustering and outlier
    detection. Statistics & Probability Letters 35(1), 1997.
    """

    name = "mutual_knn"
    kills_constants = True

    def __init__(self, n_neighbors: int = 10) -> None:
        self.n_neighbors = n_neighbors

    def build(self, Phi: np.ndarray, random_state: Any) -> Graph:
        """L = D − A."""
        A = directed(nearest(Phi, self.n_neighbors, self.name)[0])
        return Graph.from_adjacency(A.minimum(A.T))
