"""Graph ``self_tuning``: heat-kernel weights whose width follows the local density."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyod_gessvdd import Graph, Laplacian
from pyod_gessvdd_graphs.neighbours import check_n_neighbors, directed, either_way, nearest, without_negligible


class SelfTuning(Laplacian):
    r"""Locally scaled weights on the nearest-neighbour graph, sparse.

    .. math:: A_{ij} = \exp(-\|\phi_i - \phi_j\|^2 / (\sigma_i \sigma_j))
              \quad \text{if } i \in N_j \text{ or } j \in N_i

    and L = D − A, where σ_i is the distance of φ_i to its ``scale_neighbor``-th neighbour: tight and loose groups get
    alike weights. A σ_i of zero, among duplicates, is replaced by the smallest positive distance to a neighbour;
    a weight below 1e-8 is no edge.

    Parameters
    ----------
    n_neighbors : int, default=10
        The number of neighbours of each sample.
    scale_neighbor : int, default=7
        Which neighbour gives the scale; the paper below uses the 7th.

    References
    ----------
    Zelnik-Manor, Perona: Self-Tuning Spectral Clustering. Advances in Neural Information Processing Systems 17, 2004.
    """

    name = "self_tuning"
    kills_constants = True

    def __init__(self, n_neighbors: int = 10, scale_neighbor: int = 7) -> None:
        self.n_neighbors = n_neighbors
        self.scale_neighbor = scale_neighbor

    def build(self, Phi: np.ndarray, random_state: Any) -> Graph:
        """L = D − A; equal rows have the weight 1."""
        check_n_neighbors(self.n_neighbors, len(Phi), self.name)
        check_n_neighbors(self.scale_neighbor, len(Phi), self.name, "scale_neighbor")
        neighbours, distances = nearest(Phi, max(self.n_neighbors, self.scale_neighbor), self.name)
        # Without a positive distance every weight is exp(0), whatever the scale.
        smallest = distances[distances > 0].min(initial=np.inf)
        scale = np.maximum(distances[:, self.scale_neighbor - 1], smallest)
        neighbours, distances = neighbours[:, : self.n_neighbors], distances[:, : self.n_neighbors]
        # Divided one by one: the product of two small scales may be zero.
        exponent = (distances / scale[:, None]) * (distances / scale[neighbours])
        return Graph.from_adjacency(either_way(directed(neighbours, without_negligible(np.exp(-exponent)))))
