"""Graph ``shared_nn``: neighbours are linked by the share of their neighbours that they have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from pyod_gessvdd import Graph, Laplacian
from pyod_gessvdd.linalg import row_blocks
from pyod_gessvdd_graphs.neighbours import directed, either_way, nearest


class SharedNN(Laplacian):
    r"""Shared-nearest-neighbour weights on the nearest-neighbour graph, sparse.

    .. math:: A_{ij} = |N_i^+ \cap N_j^+| / (k + 1) \quad \text{if } i \in N_j \text{ or } j \in N_i,
              \qquad N_i^+ = N_i \cup \{i\}

    and L = D − A. The weights depend on ranks alone: they keep their meaning where all distances look alike, in many
    dimensions. They lie between 1/(k+1) and 1, so every edge of the ``knn`` graph remains.

    Parameters
    ----------
    n_neighbors : int, default=10
        The number k of neighbours of each sample.

    References
    ----------
    Jarvis, Patrick: Clustering Using a Similarity Measure Based on Shared Near Neighbors. IEEE Transactions on
    Computers C-22(11), 1973.

    Houle, Kriegel, Kröger, Schubert, Zimek: Can Shared-Neighbor Distances Defeat the Curse of Dimensionality? SSDBM,
    2010.
    """

    name = "shared_nn"
    aliases = ("snn",)
    kills_constants = True

    def __init__(self, n_neighbors: int = 10) -> None:
        self.n_neighbors = n_neighbors

    def build(self, Phi: np.ndarray, random_state: Any) -> Graph:
        """L = D − A."""
        N = len(Phi)
        lists = directed(nearest(Phi, self.n_neighbors, self.name)[0])
        with_itself = lists + sp.eye_array(N, format="csr")
        edges = sp.coo_array(sp.triu(either_way(lists)))
        heads, tails = edges.coords
        shared = np.empty(len(heads))
        # Edge by edge: the product of the lists with their transpose would hold every pair that shares a hub.
        for part in row_blocks(len(heads), self.n_neighbors + 1):
            shared[part] = with_itself[heads[part]].multiply(with_itself[tails[part]]).sum(axis=1)
        A = sp.csr_array((shared / (self.n_neighbors + 1), (heads, tails)), shape=(N, N))
        return Graph.from_adjacency(A + A.T)
