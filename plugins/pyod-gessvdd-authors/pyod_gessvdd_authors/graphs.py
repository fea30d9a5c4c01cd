"""The graphs ``authors_knn``, which links farthest points, and ``authors_between``, N times the paper's S_b."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_random_state

from pyod_gessvdd import Graph, Laplacian

#: The largest N: the distances of all pairs are held at once. The paper's sets have at most 225 rows per class, and
#: the published tenth of MNIST 674.
MAX_SAMPLES = 5000


class AuthorsKNN(Laplacian):
    """Links each sample to the samples farthest from it, where the paper links the nearest.

    A_ij = 1 if i is among the ``n_neighbors`` points farthest from j, or j among those of i; L = D − A.

    Parameters
    ----------
    n_neighbors : int, default=5
        The number of farthest points of each sample; the paper uses 5.
    """

    name = "authors_knn"
    kills_constants = True

    def __init__(self, n_neighbors: int = 5) -> None:
        self.n_neighbors = n_neighbors

    def build(self, Phi: np.ndarray, random_state: Any) -> Graph:
        """L = D − A."""
        N = len(Phi)
        if N > MAX_SAMPLES:
            raise ValueError(f"{self.name} holds all distances at once and is limited to {MAX_SAMPLES} rows, got {N}")
        if not 1 <= self.n_neighbors < N:
            raise ValueError(f"{self.name} needs 1 ≤ n_neighbors < {N} samples, got {self.n_neighbors}")
        # Which of equidistant points are taken must not depend on the order of the input.
        order = np.lexsort(Phi.T[::-1])
        distances = pairwise_distances(Phi[order])
        np.fill_diagonal(distances, -1.0)
        found = np.argsort(-distances, axis=1, kind="stable")[:, : self.n_neighbors]
        rows = np.repeat(order, self.n_neighbors)
        directed = sp.csr_array((np.ones(rows.size), (rows, order[found.ravel()])), shape=(N, N))
        return Graph.from_adjacency(directed.maximum(directed.T).tocsr())


class AuthorsBetween(Laplacian):
    """N times the scatter between k-means clusters.

    With the gradient, the factor divides the step by N² and more; the spectral updates and the ranking of rows are not
    affected.

    Parameters
    ----------
    n_clusters : int, default=5
        The number of clusters; the paper uses 5.
    """

    name = "authors_between"
    kills_constants = True

    def __init__(self, n_clusters: int = 5) -> None:
        self.n_clusters = n_clusters

    def build(self, Phi: np.ndarray, random_state: Any) -> Graph:
        """N (Σ_c 1_c 1_cᵀ / N_c − 11ᵀ/N)."""
        N = len(Phi)
        if not 2 <= self.n_clusters <= N:
            raise ValueError(f"{self.name} needs 2 ≤ n_clusters ≤ {N} samples, got {self.n_clusters}")
        distinct = len(np.unique(Phi, axis=0))
        if distinct < 2:
            raise ValueError(f"{self.name} needs at least 2 distinct samples to have a scatter between clusters, got 1")
        order = np.lexsort(Phi.T[::-1])
        k_means = KMeans(min(self.n_clusters, distinct), n_init=1, random_state=check_random_state(random_state))
        labels = np.empty(N, dtype=int)
        labels[order] = k_means.fit_predict(Phi[order])
        _, labels = np.unique(labels, return_inverse=True)
        indicator = sp.csr_array((np.ones(N), (np.arange(N), labels)))
        weights = np.append(N / indicator.sum(axis=0), -1.0)
        return Graph.low_rank(sp.hstack([indicator, sp.csr_array(np.ones((N, 1)))], format="csr"), weights)
