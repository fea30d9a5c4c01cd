"""Graph ``ann``: the paper's kNN graph (eq. ``kNNscatter``), with neighbours that are found approximately."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from pyod_gessvdd import Graph, Laplacian
from pyod_gessvdd.linalg import rows_by_content

Array = np.ndarray


class ANN(Laplacian):
    r"""Symmetric nearest-neighbour graph by nearest-neighbour descent, sparse.

    .. math:: A_{ij} = 1 \quad \text{if } i \in N_j \text{ or } j \in N_i

    and L = D − A, where almost all of each :math:`N_i` are the ``n_neighbors`` nearest points. In many dimensions an
    exact search compares all pairs, a time of N²; this one takes about N log N, and the graph has all its edges, where
    ``knn`` above its ``max_exact`` has a sample of them. So spectral regression works with it.

    The same ``random_state`` and ``n_jobs`` find the same neighbours, in whatever order the rows come.

    Parameters
    ----------
    n_neighbors : int, default=5
        The number of neighbours of each sample; the paper uses 5.
    n_candidates : int, default=30
        How many candidates the descent keeps for each sample, at least ``n_neighbors``: more of them find more of the
        true neighbours and take longer.
    n_trees : int, optional
        The random projection trees that the descent starts from; pynndescent's choice if None.
    n_iters : int, optional
        The rounds of the descent, which stops earlier when little changes; pynndescent's choice if None.
    max_exact : int, default=50000
        Up to this many samples the neighbours are searched exactly, as in ``knn``: pynndescent compiles itself once per
        process, for the better part of a minute, in which the exact search is done. Where many graphs are built in one
        process, as in a grid search, a smaller number pays.
    n_jobs : int, default=1
        The threads of the search. Another number finds slightly other neighbours.

    References
    ----------
    Dong, Moses, Li: Efficient k-nearest neighbor graph construction for generic similarity measures. WWW, 2011.
    """

    name = "ann"
    exact = False
    kills_constants = True

    def __init__(
        self,
        n_neighbors: int = 5,
        n_candidates: int = 30,
        n_trees: int | None = None,
        n_iters: int | None = None,
        max_exact: int = 50_000,
        n_jobs: int = 1,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_candidates = n_candidates
        self.n_trees = n_trees
        self.n_iters = n_iters
        self.max_exact = max_exact
        self.n_jobs = n_jobs

    def build(self, Phi: Array, random_state: Any) -> Graph:
        """L = D − A with A_ij = 1 if i ∈ N_j or j ∈ N_i."""
        N, k = len(Phi), self.n_neighbors
        self._check(N)
        # The order of the input must decide neither between equally near points nor where the descent starts.
        order = rows_by_content(Phi)
        # A list of all others leaves nothing to choose, and pynndescent cannot fill it.
        few = len(Phi) <= max(self.max_exact, self._n_candidates + 2)
        search = self._exactly if few else self._by_descent
        neighbours = np.empty((N, k), dtype=np.intp)
        neighbours[order] = order[search(Phi[order], random_state)]
        A = sp.csr_array((np.ones(N * k), neighbours.ravel(), np.arange(0, N * k + 1, k)), shape=(N, N))
        return Graph.from_adjacency(A.maximum(A.T))

    @property
    def _n_candidates(self) -> int:
        return max(self.n_candidates, self.n_neighbors)

    def _exactly(self, Phi: Array, random_state: Any) -> Array:
        from sklearn.neighbors import NearestNeighbors

        return NearestNeighbors(n_neighbors=self.n_neighbors).fit(Phi).kneighbors(return_distance=False)

    def _by_descent(self, Phi: Array, random_state: Any) -> Array:
        # Imported here, where it is needed: it takes seconds.
        from pynndescent import NNDescent

        # It works in single precision: what the rows have in common, and their unit, would cost digits.
        Phi = Phi - Phi.mean(axis=0)
        Phi /= np.abs(Phi).max() or 1.0
        index = NNDescent(
            Phi.astype(np.float32),
            # Its lists begin with the sample itself.
            n_neighbors=self._n_candidates + 1,
            n_trees=self.n_trees,
            n_iters=self.n_iters,
            random_state=random_state,
            n_jobs=self.n_jobs,
        )
        return first_others(index.neighbor_graph[0], self.n_neighbors)

    def _check(self, n_samples: int) -> None:
        if not (isinstance(self.n_neighbors, Integral) and 1 <= int(self.n_neighbors) < n_samples):
            raise ValueError(
                f"{self.name} needs a whole n_neighbors of at least 1 and more samples than neighbours, "
                f"got n_neighbors={self.n_neighbors!r} and {n_samples} samples"
            )
        for parameter, least in (("n_candidates", 1), ("n_trees", 1), ("n_iters", 1), ("max_exact", 0), ("n_jobs", 1)):
            value = getattr(self, parameter)
            may_be_none = parameter in ("n_trees", "n_iters")
            if not ((value is None and may_be_none) or (isinstance(value, Integral) and int(value) >= least)):
                raise ValueError(
                    f"{self.name} needs a whole {parameter} of at least {least}{' or None' if may_be_none else ''}, "
                    f"got {parameter}={value!r}"
                )


def first_others(lists: Array, n_neighbors: int) -> Array:
    """The first ``n_neighbors`` entries of each list that are neither the row itself nor missing (−1)."""
    usable = (lists != np.arange(len(lists))[:, None]) & (lists >= 0)
    n_short = int(np.count_nonzero(usable.sum(axis=1) < n_neighbors))
    if n_short:
        raise ValueError(
            f"ann found fewer than n_neighbors={n_neighbors} neighbours of {n_short} samples; raise n_candidates"
        )
    # A stable sort of "not usable" moves the usable ones to the front, in their order.
    front = np.argsort(~usable, axis=1, kind="stable")[:, :n_neighbors]
    return np.take_along_axis(lists, front, axis=1)
