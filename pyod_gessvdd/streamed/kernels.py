"""A kernel's map of the rows of a source: landmarks drawn as for rows in memory, and sums over blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pyod_gessvdd.components.contracts import Kernel
from pyod_gessvdd.components.validation import check_features, names_the_writer
from pyod_gessvdd.kernels.npt import PairwiseKernel
from pyod_gessvdd.kernels.pairwise import MEDIAN_ROWS
from pyod_gessvdd.linalg import MAX_ROWS, k_means_of_ordered, read_only, symmetric_eigen
from pyod_gessvdd.sources.source import Source
from pyod_gessvdd.streamed.order import drawn_rows
from pyod_gessvdd.streamed.sums import Moments, block_moments

Array = np.ndarray


def check_streamable_kernel(kernel: Kernel, n_rows: int) -> None:
    """Raise one sentence about a kernel that needs all rows in memory to be fitted, and which do not."""
    if isinstance(kernel, PairwiseKernel) and kernel.input_is_rows:
        kernel.is_exact(n_rows)  # refuses an exact map of so many rows, and names the alternative
    elif not (kernel.is_identity or kernel.learns_by_moments):
        raise ValueError(
            f"kernel {kernel.name!r} needs all rows in memory; linear, kernels with a Nyström map and random Fourier "
            "features accept a source"
        )


def fit_kernel(kernel: Kernel, scaled: Source, known: Moments) -> Moments:
    """Fit a kernel to scaled rows; return the mean and scatter of its features.

    Parameters
    ----------
    kernel : Kernel
        Not the linear one, whose features are the rows.
    scaled : Source
        The rows after scaling.
    known : Moments
        Their means and covariances.
    """
    rows = _with_the_same_moments(known)
    if not isinstance(kernel, PairwiseKernel):
        with names_the_writer(f"kernel {kernel.name!r}"):
            kernel.fit(read_only(rows))
    else:
        kernel.check_limits()
        count = kernel.landmark_count(scaled.n_rows)
        if not kernel.learns_by_moments:
            rows = drawn_rows(scaled, MEDIAN_ROWS, check_random_state(kernel.random_state))
        with names_the_writer(f"kernel {kernel.name!r}"):
            kernel.prepare_weighted(read_only(rows), None)
        in_parts = scaled.mapped(_same, scaled.n_columns, count)
        kernel.learn_map(_landmarks(kernel, scaled, count), lambda sums_of: in_parts.total(_Unweighted(sums_of)))
    return _features_moments(kernel, scaled, np.shape(kernel.features(read_only(rows)))[1])


def _with_the_same_moments(known: Moments) -> Array:
    """Rows, two per column, whose columns have these means, variances and covariances."""
    values, vectors = symmetric_eigen(known.scatter / known.n_rows)
    steps = (vectors * np.sqrt(np.maximum(len(values) * values, 0.0))).T
    return np.concatenate([known.mean - steps, known.mean + steps])


def _landmarks(kernel: PairwiseKernel, scaled: Source, count: int) -> Array:
    random = check_random_state(kernel.random_state)
    if kernel.landmarks == "uniform":
        return drawn_rows(scaled, count, random)
    drawn = drawn_rows(scaled, min(MAX_ROWS, scaled.n_rows), random)
    centres: Array = k_means_of_ordered(drawn, count, random).cluster_centers_
    return centres


def _features_moments(kernel: Kernel, scaled: Source, n_features: int) -> Moments:
    """Mean and scatter of the features; those of a Nyström map are oriented as in memory, by their largest entries."""
    row_cost = max(kernel.row_cost(scaled.n_columns), n_features)
    found = scaled.mapped(_Features(kernel, n_features), n_features, row_cost).total(_largest_and_moments)
    if not isinstance(kernel, PairwiseKernel):
        return found.moments
    signs = np.where(found.largest < 0, -1.0, 1.0)
    kernel.turn(signs)
    moments = found.moments
    return Moments(moments.n_rows, signs * moments.mean, signs * moments.scatter * signs[:, None])


@dataclass(frozen=True, eq=False)
class _Oriented:
    """The entry of each column that is farthest from zero, and the columns' moments."""

    largest: Array
    moments: Moments

    def __add__(self, other: _Oriented) -> _Oriented:
        larger = np.abs(other.largest) > np.abs(self.largest)
        return _Oriented(np.where(larger, other.largest, self.largest), self.moments + other.moments)


def _largest_and_moments(block: Array, rows: Array) -> _Oriented:
    largest = np.zeros(block.shape[1])
    if len(block):
        largest = block[np.abs(block).argmax(axis=0), np.arange(block.shape[1])]
    return _Oriented(largest, block_moments(block, rows))


class _Features:
    """The features of scaled rows, checked."""

    def __init__(self, kernel: Kernel, n_features: int) -> None:
        self.kernel, self.n_features = kernel, n_features

    def __call__(self, block: Array) -> Array:
        if not len(block):
            return np.empty((0, self.n_features))
        return check_features(self.kernel.features(read_only(block)), len(block), self.kernel, self.n_features)


class _Unweighted:
    """A function of rows and their weights, for rows that all count equally."""

    def __init__(self, function: Callable[[Array, Array], Any]) -> None:
        self.function = function

    def __call__(self, block: Array, rows: Array) -> Any:
        return self.function(block, np.ones(len(block)))


def _same(block: Array) -> Array:
    return block
