"""Graph ``heat``: nearest neighbours, the nearer the heavier."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyod_gessvdd import Graph, Laplacian
from pyod_gessvdd_graphs.neighbours import check_positive, directed, either_way, nearest, without_negligible


class Heat(Laplacian):
    r"""Heat-kernel weights on the nearest-neighbour graph, sparse.

    .. math:: A_{ij} = \exp(-\|\phi_i - \phi_j\|^2 / (2 \sigma^2)) \quad \text{if } i \in N_j \text{ or } j \in N_i

    and L = D − A. Far neighbours pull less than in the plain kNN graph, which is the limit of a large σ; a weight below
    1e-8, more than 6σ away, is no edge.

    Parameters
    ----------
    n_neighbors : int, default=5
        The number of neighbours of each sample.
    width : float, optional
        σ, in the units of the features (the paper below writes t = 2σ²); the median distance to a neighbour, zeros
        left out, if None.

    References
    ----------
    Belkin, Niyogi: Laplacian Eigenmaps for Dimensionality Reduction and Data Representation. Neural Computation 15(6),
    2003.
    """

    name = "heat"
    aliases = ("heat_kernel",)
    kills_constants = True

    def __init__(self, n_neighbors: int = 5, width: float | None = None) -> None:
        self.n_neighbors = n_neighbors
        self.width = width

    def build(self, Phi: np.ndarray, random_state: Any) -> Graph:
        """L = D − A; equal rows have the weight 1."""
        if self.width is not None:
            check_positive(self.width, "width", self.name, " or None")
        neighbours, distances = nearest(Phi, self.n_neighbors, self.name)
        width = _median_of_positive(distances) if self.width is None else float(self.width)
        weights = without_negligible(np.exp(-((distances / width) ** 2) / 2))
        return Graph.from_adjacency(either_way(directed(neighbours, weights)))


def _median_of_positive(distances: np.ndarray) -> float:
    positive = distances[distances > 0]
    # Without a positive distance every weight is exp(0), whatever the width.
    return float(np.median(positive)) if positive.size else 1.0
