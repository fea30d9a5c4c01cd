"""Graph ``epsilon``: all samples within a radius are linked."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from pyod_gessvdd import Graph, Laplacian
from pyod_gessvdd.linalg import rows_by_content
from pyod_gessvdd_graphs.neighbours import check_n_neighbors, check_positive, directed, either_way, nearest

#: More entries than this in the adjacency matrix are refused: they take some 250 MB.
MAX_ENTRIES = 20_000_000

#: The radius counts as that much larger, so that rounding does not cut off points that lie on it.
SLACK = 1e-9


class Epsilon(Laplacian):
    r"""Radius graph, sparse.

    .. math:: A_{ij} = 1 \quad \text{if } \|\phi_i - \phi_j\| \le \varepsilon

    and L = D − A. Where the data are dense a sample has many edges, where they are sparse few or none. A radius that
    links more than 20 million ordered pairs is refused.

    Parameters
    ----------
    radius : float, optional
        ε, in the units of the features. If None, the median of the distances of the samples to their
        ``n_neighbors``-th neighbour, with equal rows counted once.
    n_neighbors : int, default=5
        Decides the radius if that is None.
    link_isolated : bool, default=True
        Whether a sample with nobody within the radius is linked to its nearest neighbour. Otherwise its row of L is
        zero, and it has no say in S_x.

    References
    ----------
    von Luxburg: A tutorial on spectral clustering. Statistics and Computing 17(4), 2007, section 2.2.
    """

    name = "epsilon"
    kills_constants = True

    def __init__(self, radius: float | None = None, n_neighbors: int = 5, link_isolated: bool = True) -> None:
        self.radius = radius
        self.n_neighbors = n_neighbors
        self.link_isolated = link_isolated

    def build(self, Phi: np.ndarray, random_state: Any) -> Graph:
        """L = D − A."""
        A = self._within(Phi, self._radius(Phi) * (1 + SLACK))
        isolated = A.sum(axis=1) == 0
        if self.link_isolated and len(Phi) > 1 and isolated.any():
            neighbours, _ = nearest(Phi, 1, self.name)
            A = A + either_way(directed(neighbours, isolated[:, None]))
        return Graph.from_adjacency(A)

    def _radius(self, Phi: np.ndarray) -> float:
        if self.radius is not None:
            check_positive(self.radius, "radius", self.name, " or None")
            return float(self.radius)
        check_n_neighbors(self.n_neighbors, len(Phi), self.name)
        distinct = np.unique(Phi, axis=0)
        n_neighbors = min(self.n_neighbors, len(distinct) - 1)
        return float(np.median(nearest(distinct, n_neighbors, self.name)[1][:, -1])) if n_neighbors else 0.0

    def _within(self, Phi: np.ndarray, radius: float) -> sp.csr_array:
        """The 0/1 matrix of the pairs within the radius, without its diagonal."""
        from sklearn.neighbors import NearestNeighbors

        N = len(Phi)
        # The radius may be the distance of a pair, and rounding may depend on the order of the rows.
        order = rows_by_content(Phi)
        search = NearestNeighbors(radius=radius).fit(Phi[order])
        step = max(100, MAX_ENTRIES // N)
        parts, n_entries = [], 0
        for start in range(0, N, step):
            parts.append(search.radius_neighbors_graph(Phi[order[start : start + step]]))
            n_entries += parts[-1].nnz
            if n_entries > MAX_ENTRIES:
                raise ValueError(
                    f"{self.name} links more than {MAX_ENTRIES:,} pairs of the {N} samples at a radius of "
                    f"{radius:.3g}; give a smaller radius"
                )
        A = sp.csr_array(sp.vstack(parts, format="csr"))
        A.setdiag(0.0)
        A.eliminate_zeros()
        back = np.argsort(order)
        return either_way(A[back][:, back])
