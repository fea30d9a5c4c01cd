"""Graph ``farthest``: each sample is linked to the samples farthest from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyod_gessvdd import Graph, Laplacian
from pyod_gessvdd.linalg import rows_by_content
from pyod_gessvdd_graphs.neighbours import check_n_neighbors, directed, either_way

#: The size in MiB of the blocks of distances: small enough for the cache, and never N × N.
BLOCK_MEBIBYTES = 8


class Farthest(Laplacian):
    r"""Symmetric farthest-point graph, sparse.

    .. math:: A_{ij} = 1 \quad \text{if } i \in F_j \text{ or } j \in F_i,
              \qquad F_i \text{ the } n\_neighbors \text{ points farthest from } \phi_i

    and L = D − A. This is what the published implementation of the paper builds where the paper says kNN: use it to
    reproduce that implementation's figures, and ``knn`` for the paper's graph. The search takes a time of N², in blocks
    of rows.

    Parameters
    ----------
    n_neighbors : int, default=5
        The number of farthest points of each sample.

    References
    ----------
    Sohrab, Iosifidis, Gabbouj, Raitoharju: Graph-Embedded Subspace Support Vector Data Description. Pattern
    Recognition 133, 2023; its implementation.
    """

    name = "farthest"
    kills_constants = True

    def __init__(self, n_neighbors: int = 5) -> None:
        self.n_neighbors = n_neighbors

    def build(self, Phi: np.ndarray, random_state: Any) -> Graph:
        """L = D − A."""
        from sklearn.metrics import pairwise_distances_chunked

        check_n_neighbors(self.n_neighbors, len(Phi), self.name)

        def keep_farthest(distances: np.ndarray, start: int) -> np.ndarray:
            rows = np.arange(len(distances))
            distances[rows, start + rows] = -1.0  # nobody is far from itself, not even among duplicates
            return np.argpartition(-distances, self.n_neighbors - 1, axis=1)[:, : self.n_neighbors]

        # Which of equally far points are taken must not depend on the order of the input.
        order = rows_by_content(Phi)
        blocks = pairwise_distances_chunked(Phi[order], reduce_func=keep_farthest, working_memory=BLOCK_MEBIBYTES)
        found = np.vstack(list(blocks))
        farthest = np.empty_like(found)
        farthest[order] = order[found]
        return Graph.from_adjacency(either_way(directed(farthest)))
