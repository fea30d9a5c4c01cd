"""The scatter S_x = Φᵀ L_x Φ of a graph over the rows of a source, by sums over blocks; L_x itself is never formed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pyod_gessvdd.components.contracts import Laplacian, NoGraph
from pyod_gessvdd.errors import warn
from pyod_gessvdd.laplacians.between import Between
from pyod_gessvdd.laplacians.identity import Identity
from pyod_gessvdd.laplacians.knn import KNN
from pyod_gessvdd.laplacians.pca import PCA
from pyod_gessvdd.laplacians.weighted_sum import WeightedSum, learn_weights
from pyod_gessvdd.laplacians.within import Within
from pyod_gessvdd.linalg import MAX_ROWS, RELATIVE_ZERO, k_means_of_ordered
from pyod_gessvdd.sources.source import Source
from pyod_gessvdd.streamed.order import draw_by_content, drawn_rows
from pyod_gessvdd.streamed.sums import Moments

Array = np.ndarray


def scatter(laplacian: Laplacian, features: Source, total: Moments, random_state: int) -> Array | None:
    """S_x; None without a graph.

    Parameters
    ----------
    laplacian : Laplacian
        One of the built-in graphs, or a sum of them.
    features : Source
        The features φ.
    total : Moments
        Their mean and scatter.
    random_state : int
        Seeds clusters and sampled neighbours.
    """
    if isinstance(laplacian, NoGraph):
        return None
    S_x = _scatter(laplacian, features, total, random_state)
    if not np.trace(S_x) > RELATIVE_ZERO * float(np.trace(total.around_zero)) / total.n_rows:
        raise ValueError(
            f"laplacian {laplacian.name!r} leaves no scatter in the features (its trace is {np.trace(S_x):.3g}); "
            "choose another graph"
        )
    return S_x


def _scatter(laplacian: Laplacian, features: Source, total: Moments, random_state: int) -> Array:
    if isinstance(laplacian, WeightedSum):
        return _weighted_sum(laplacian, features, total, random_state)
    find = SCATTERS.get(type(laplacian))
    if find is None:
        raise ValueError(
            f"laplacian {laplacian.name!r} needs all rows in memory; none, identity, pca, within, between, knn and "
            "sums of them accept a source"
        )
    S = find(laplacian, features, total, random_state)
    return (S + S.T) / 2


def _weighted_sum(laplacian: WeightedSum, features: Source, total: Moments, random_state: int) -> Array:
    given = laplacian.checked_weights()
    scatters = [_scatter(part, features, total, random_state) for part in laplacian.laplacians]
    if given is None:
        names = [part.name for part in laplacian.laplacians]
        laplacian.weights_, factors = learn_weights(scatters, names, total.scatter, total.n_rows)
    else:
        laplacian.weights_ = factors = np.array(given, dtype=float)
    return np.tensordot(factors, np.stack(scatters), axes=1)


def _identity(laplacian: Identity, features: Source, total: Moments, random_state: int) -> Array:
    return total.around_zero


def _pca(laplacian: PCA, features: Source, total: Moments, random_state: int) -> Array:
    return total.scatter / total.n_rows


def _within(laplacian: Within, features: Source, total: Moments, random_state: int) -> Array:
    between = _between(laplacian, features, total, random_state)
    left = float(np.trace(total.scatter - between))
    if left <= RELATIVE_ZERO * float(np.trace(total.scatter)):
        warn(
            f"the rows inside each of the n_clusters={laplacian.n_clusters} clusters are equal, so there is no "
            "scatter within them; using one cluster"
        )
        return total.scatter
    return total.scatter - between


def _between(laplacian: Between | Within, features: Source, total: Moments, random_state: int) -> Array:
    """Σ_c N_c (μ_c − μ)(μ_c − μ)ᵀ over k-means clusters."""
    random = check_random_state(random_state)
    drawn = drawn_rows(features, min(MAX_ROWS, features.n_rows), random)
    clusters = k_means_of_ordered(drawn, int(laplacian.n_clusters), random)
    sums = features.total(_ByCluster(clusters, total.mean))
    sums = sums[sums[:, 0] > 0]
    if isinstance(laplacian, Between) and len(sums) < 2:
        raise ValueError(
            f"{laplacian.name} needs at least 2 clusters to have a scatter between them, "
            f"found {len(sums)} with n_clusters={laplacian.n_clusters}"
        )
    return (sums[:, 1:].T / sums[:, 0]) @ sums[:, 1:]


class _ByCluster:
    """For each cluster, the number of its rows and the sum of their differences from the mean."""

    def __init__(self, clusters: Any, mean: Array) -> None:
        self.clusters, self.mean = clusters, mean

    def __call__(self, block: Array, rows: Array) -> Array:
        sums = np.zeros((self.clusters.n_clusters, 1 + len(self.mean)))
        if len(block):
            labels = self.clusters.predict(np.ascontiguousarray(block))
            away = block - self.mean
            for cluster in np.unique(labels):
                inside = labels == cluster
                sums[cluster, 0] = np.count_nonzero(inside)
                sums[cluster, 1:] = inside.astype(float) @ away
        return sums


def _knn(laplacian: KNN, features: Source, total: Moments, random_state: int) -> Array:
    """The sampled scatter: the edges of some rows stand for all, see :class:`~pyod_gessvdd.laplacians.knn.KNN`."""
    N = features.n_rows
    if laplacian.max_exact >= N:
        raise ValueError(
            f"a whole knn graph, max_exact={laplacian.max_exact} for {N} rows, needs all rows in memory; "
            "a smaller max_exact takes its sampled scatter"
        )
    laplacian.check_neighbors(N)
    laplacian.check_queries(N)
    queries = draw_by_content(features, laplacian.n_queries, check_random_state(random_state))
    count = int(laplacian.n_neighbors)
    lists = _neighbours(features, queries, count)
    others = np.unique(lists)
    lists_of_others = _neighbours(features, others, count)
    mutual = (lists_of_others[np.searchsorted(others, lists)] == queries[:, None, None]).any(axis=2)
    weights = np.where(mutual, 0.5, 1.0) * (N / len(queries))
    places = np.unique(np.concatenate([queries, others]))
    points = features.take(places)
    ends = points[np.searchsorted(places, lists)]
    away = (ends - points[np.searchsorted(places, queries)][:, None]).reshape(-1, features.n_columns)
    # A and its transpose add up: every edge counts once in D − A, from both ends.
    return (away.T * weights.ravel()) @ away


def _neighbours(features: Source, places: Array, count: int) -> Array:
    """The places of the rows nearest to some rows, themselves left out, of shape (n, count)."""
    points = features.take(places)
    found = np.full((len(places), 2, 0), np.nan)
    for block in features.map(_Nearest(points, places, count)):
        both = np.concatenate([found, block], axis=2)
        order = np.argsort(both[:, 0], axis=1, kind="stable")[:, :count]
        found = np.take_along_axis(both, order[:, None, :], axis=2)
    return found[:, 1].astype(int)


class _Nearest:
    """The distances and places of the nearest rows of a block, of shape (n, 2, up to count + 1)."""

    def __init__(self, points: Array, places: Array, count: int) -> None:
        self.points, self.places, self.count = points, places, count

    def __call__(self, block: Array, rows: Array) -> Array:
        from sklearn.neighbors import NearestNeighbors

        # One more than asked for: a point may find itself.
        count = min(self.count + 1, len(block))
        if not count:
            return np.empty((len(self.points), 2, 0))
        distances, near = NearestNeighbors(n_neighbors=count).fit(block).kneighbors(self.points)
        distances[rows[near] == self.places[:, None]] = np.inf
        return np.stack([distances, rows[near].astype(float)], axis=1)


SCATTERS: dict[type, Callable[..., Array]] = {
    Identity: _identity,
    PCA: _pca,
    Within: _within,
    Between: _between,
    KNN: _knn,
}
