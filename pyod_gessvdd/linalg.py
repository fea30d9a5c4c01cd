"""Linear algebra over rows: passes in blocks, sums, k-means, orientation.

Public, also for component authors: what a graph, a kernel or an updater needs to keep its memory linear in the number
of rows and its result independent of their order.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy.linalg.lapack import dgeqrf, dorgqr, dsyevd
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.random import sample_without_replacement

__all__ = [
    "RELATIVE_ZERO",
    "RowShift",
    "all_finite",
    "block_height",
    "column_means",
    "content_direction",
    "decorrelation",
    "drawn",
    "few_threads",
    "gram",
    "k_means",
    "map_blocks",
    "means_and_square",
    "not_below_one",
    "orientation",
    "read_only",
    "row_blocks",
    "rows_by_content",
    "shift_rows",
    "skewness",
    "symmetric_eigen",
    "weighted_quantiles",
]

Array = np.ndarray

#: Elements per block in passes over the data: 2 MiB of float64, so that temporaries stay small and in the cache.
BLOCK_ELEMENTS = 1 << 18

#: Weights below this are divided by the largest of them first.
TINY_WEIGHT = 1e-290

#: Row sums and eigenvalues below this share of the largest count as zero.
RELATIVE_ZERO = 1e-12

#: Up to this many rows, those that a fit learns from are drawn by their content, in whatever order they come; of more,
#: by their places: ordering them would take longer than all the rest.
ORDERED_ROWS = 1_000_000

#: To this many decimals a column's skewness does not depend on the order in which rows are summed.
SKEWNESS_DECIMALS = 8

#: A mean below this share of the data's size can be subtracted from a sum of squares without losing digits.
SMALL_SHIFT = 1e-3

#: Up to this many rows, matrices are factored by one thread (:func:`few_threads`).
FEW_ROWS = 1000

#: What :func:`decorrelation` adds to the variance of every direction, as a share of their mean.
LEAST_VARIANCE = 0.01

#: The columns that LAPACK's QR takes at once.
QR_BLOCK = 32
#: The length of the inner loop of :func:`shift_rows`.
WIDE = 1 << 14

#: A multiple of the register tiles of the usual BLAS kernels: of 32, and of the 24 columns that OpenBLAS takes at once
#: with AVX-512, where in blocks of 1,024 rows the last eight were rounded differently.
TILE = 96
#: Numbers per block of :func:`map_blocks`, and its largest height: a single row costs as much as a block.
PADDED_ELEMENTS, MAX_HEIGHT = 1 << 17, 960
#: k-means is run on at most this many rows. It needs no more to place its centres, and the fit stays linear in N.
MAX_ROWS = 20_000


def row_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Consecutive row slices whose blocks hold about :data:`BLOCK_ELEMENTS` numbers each.

    For passes over all rows whose temporaries should stay small:
    ``for rows in row_blocks(*Phi.shape): S += Phi[rows].T @ f(Phi[rows])``.
    """
    step = max(1, BLOCK_ELEMENTS // max(1, n_columns))
    if 0 < n_rows <= step:
        return iter((slice(0, n_rows),))
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def rows_by_content(Phi: Array) -> Array:
    """The indices that order the rows by content, along one projection, of shape (N,).

    Code that depends on the order of its input, such as a neighbour search among equidistant rows or a seeded draw,
    sees ``Phi[rows_by_content(Phi)]`` in the same order whatever the order of the rows and columns and the sign of each
    column. Equal rows may come in either order.
    """
    return np.argsort(Phi @ content_direction(_skewness(Phi)), kind="stable")


def drawn(n_rows: int, count: int, random: np.random.RandomState) -> Array:
    """The ranks, or the places, of some of so many rows, drawn at random, ascending."""
    if n_rows <= ORDERED_ROWS:
        return np.sort(random.choice(n_rows, count, replace=False))
    # Without a permutation of all.
    return np.sort(sample_without_replacement(n_rows, count, random_state=random))


def content_direction(skewness: Array) -> Array:
    """The projection that :func:`rows_by_content` orders rows by, from the columns' skewness, of shape (F,).

    A column's place and sign follow from its own skewness; without any, columns are taken in the given order.
    """
    places = np.argsort(np.argsort(-np.abs(skewness), kind="stable"), kind="stable")
    return np.where(skewness < 0, -np.cos(1.0 + places), np.cos(1.0 + places))


def _skewness(Phi: Array) -> Array:
    mean = column_means(Phi)
    squares, cubes = np.zeros(Phi.shape[1]), np.zeros(Phi.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):  # cubes of large values: see skewness
        for rows in row_blocks(*Phi.shape):
            block = shift_rows(Phi[rows], mean)
            squared = block**2
            squares += np.ones(len(block)) @ squared
            cubes += np.einsum("ij,ij->j", squared, block)
    return skewness(squares, cubes, len(Phi))


def skewness(squares: Array, cubes: Array, n_rows: int) -> Array:
    """The third moments about the mean in units of the second, rounded: the order of summation must not matter.

    Parameters
    ----------
    squares, cubes : ndarray of shape (F,)
        The sums of the columns' squares and cubes around their means.
    n_rows : int
        N.

    Returns
    -------
    ndarray of shape (F,)
        Zero for a constant column, and for one whose cubes are beyond the range of floating point.
    """
    with np.errstate(over="ignore"):
        size = squares**1.5 / np.sqrt(n_rows)
    known = (size > 0) & np.isfinite(size) & np.isfinite(cubes)
    return np.round(np.divide(cubes, size, out=np.zeros_like(cubes), where=known), SKEWNESS_DECIMALS)


def read_only(X: Array) -> Array:
    """A read-only view of X: what components are given, so that none changes another's data."""
    view = X.view()
    view.flags.writeable = False
    return view


def column_means(Phi: Array, weights: Array | None = None) -> Array:
    """The mean of each column, of shape (F,); with weights Σ w_i φ_i / Σ w_i.

    A matrix product is several times faster than numpy's reduction along the rows.
    """
    if weights is not None:
        return (weights @ Phi) / weights.sum()
    return (np.ones(len(Phi)) @ Phi) / len(Phi)


def mean_of(values: Array, weights: Array | None = None) -> float:
    """The mean of some numbers; with weights Σ w_i x_i / Σ w_i."""
    return float(values.sum() / len(values) if weights is None else (weights @ values) / weights.sum())


def all_finite(X: Array) -> bool:
    """Whether X holds neither NaN nor infinity: one pass without a boolean array, unless the squares overflow."""
    return bool(np.isfinite(np.vdot(X, X)) or np.isfinite(X).all())


def means_and_square(Phi: Array) -> tuple[Array, float]:
    """The mean of each column, of shape (F,), and the mean squared length of the rows, in one pass over them."""
    total, square = np.zeros(Phi.shape[1]), 0.0
    for rows in row_blocks(*Phi.shape):
        block = Phi[rows]
        total += np.ones(len(block)) @ block
        square += float(np.vdot(block, block))
    return total / len(Phi), square / len(Phi)


@contextmanager
def few_threads(n_rows: int) -> Iterator[None]:
    """A context with one BLAS thread if the rows are few: several would wait for each other longer than they work.

    Parameters
    ----------
    n_rows : int
        The size of the matrices that are factored.
    """
    if n_rows > FEW_ROWS:
        yield
        return
    with _thread_pools().limit(limits=1, user_api="blas"):
        yield


def one_thread_each() -> Any:
    """A context with one BLAS thread per caller, where the callers are several threads themselves."""
    return _thread_pools().limit(limits=1, user_api="blas")


@cache
def _thread_pools() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def shift_rows(X: Array, shift: Array, out: Array | None = None, *, scale: Array | None = None) -> Array:
    """(x − shift) / scale of each row, in ``out`` if given.

    Numpy's inner loop would be one row of a few columns; here it is many rows at once, several times faster.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        The rows.
    shift : ndarray of shape (D,)
        What is subtracted.
    out : ndarray of shape (n, D), optional
        Where to put the result; X itself is fine.
    scale : ndarray of shape (D,), optional
        What is divided by.
    """
    return RowShift(shift, scale)(X, out)


class RowShift:
    """What :func:`shift_rows` does, for many blocks of rows: (x − shift) / scale.

    Parameters
    ----------
    shift, scale
        As there.
    """

    def __init__(self, shift: Array, scale: Array | None = None) -> None:
        self.shift, self.scale = shift, scale

    @cached_property
    def _repeated(self) -> tuple[Array, Array | None]:
        height = max(1, WIDE // max(1, len(self.shift)))
        return np.tile(self.shift, height), None if self.scale is None else np.tile(self.scale, height)

    def __call__(self, X: Array, out: Array | None = None) -> Array:
        """The shifted rows, in ``out`` if given."""
        out = np.empty_like(X, order="C") if out is None else out
        if not (X.flags.c_contiguous and out.flags.c_contiguous) or X.size < WIDE:
            return _shifted(X, self.shift, self.scale, out)
        shift, scale = self._repeated
        values, results = X.reshape(-1), out.reshape(-1)
        for start in range(0, X.size, len(shift)):
            part = results[start : start + len(shift)]
            numbers, n = values[start : start + len(shift)], len(part)
            _shifted(numbers, shift[:n], None if scale is None else scale[:n], part)
        return out


def _shifted(X: Array, shift: Array, scale: Array | None, out: Array) -> Array:
    np.subtract(X, shift, out=out)
    return out if scale is None else np.divide(out, scale, out=out)


def weighted_quantiles(X: Array, shares: Any, weights: Array | None = None) -> Array:
    """The quantiles of a vector, or of each column; a weight of w counts as w equal rows.

    Parameters
    ----------
    X : ndarray of shape (N,) or (N, D)
        The values.
    shares : sequence of float
        Which quantiles, between 0 and 1.
    weights : ndarray of shape (N,), optional
        How often each row counts, see :func:`not_below_one`; without them this is ``np.quantile``.

    Returns
    -------
    ndarray of shape (len(shares),) or (len(shares), D)
    """
    shares = np.asarray(shares, dtype=float)
    if weights is None and X.ndim == 1:
        return _quantiles(X, shares)
    if weights is None:
        return np.asarray(np.quantile(X, shares, axis=0))
    if X.ndim > 1:
        return np.column_stack([weighted_quantiles(column, shares, weights) for column in X.T])
    weights = not_below_one(weights)
    order = np.argsort(X, kind="stable")
    values, ends = X[order], np.cumsum(weights[order])
    # Row i takes the positions [ends − w, ends − 1]; between two rows' positions we interpolate, as numpy does.
    starts = ends - weights[order]
    places = np.column_stack([starts, np.maximum(ends - 1.0, starts)]).ravel()
    wanted = shares * max(ends[-1] - 1.0, 0.0)
    # At a row's position the quantile is the row's value to the last bit: equal rows have equal quantiles.
    wanted = np.where(np.abs(wanted - np.rint(wanted)) <= RELATIVE_ZERO * ends[-1], np.rint(wanted), wanted)
    return np.asarray(np.interp(wanted, places, np.repeat(values, 2)))


def _quantiles(x: Array, shares: Array) -> Array:
    """``np.quantile`` of a vector, to the last bit, without its overhead, which takes longer than a small sort."""
    wanted = shares * (len(x) - 1)
    below = np.floor(wanted).astype(int)
    above = np.minimum(below + 1, len(x) - 1)
    ordered = np.partition(x, np.concatenate([below, above]))
    low, high, part = ordered[below], ordered[above], wanted - below
    step = high - low
    # From the nearer end, as in numpy: the interpolation stays between the two and never overshoots.
    return np.where(part < 0.5, low + step * part, high - step * (1.0 - part))


def not_below_one(weights: Array) -> Array:
    """The weights with a mean of at least one over the rows that have any.

    Whole numbers count how often a row occurs, and are kept. Weights that average less than one, such as those that sum
    to one, are relative: if all are equal, they mean the same as no weights.
    """
    largest = float(weights.max())
    if largest < TINY_WEIGHT:
        weights = weights / largest  # so small a sum cannot be divided by
    return weights * max(1.0, np.count_nonzero(weights) / float(weights.sum()))


def gram(Phi: Array, shift: Array, weights: Array | None = None) -> Array:
    """Σ w_i (φ_i − shift)(φ_i − shift)ᵀ, of shape (F, F), all weights one if None, in blocks of rows.

    Parameters
    ----------
    Phi : ndarray of shape (N, F)
        The rows φ_i.
    shift : ndarray of shape (F,)
        Zero or, without weights, :func:`column_means`; with weights any vector.
    weights : ndarray of shape (N,), optional
        The weights w_i.
    """
    if weights is not None:
        G = np.zeros((Phi.shape[1], Phi.shape[1]))
        for rows in row_blocks(*Phi.shape):
            block = Phi[rows] - shift
            G += block.T @ (weights[rows, None] * block)
        return G
    G = Phi.T @ Phi
    if np.abs(shift).max(initial=0.0) ** 2 <= SMALL_SHIFT**2 * float(G.trace()) / max(1, Phi.size):
        # Nothing is lost by subtracting N · shift shiftᵀ afterwards, and one product needs no copy of Φ.
        return G - len(Phi) * np.outer(shift, shift)
    G = np.zeros((Phi.shape[1], Phi.shape[1]))
    for rows in row_blocks(*Phi.shape):
        block = Phi[rows] - shift
        G += block.T @ block
    return G


def symmetric_eigen(S: Array) -> tuple[Array, Array]:
    """The eigenvalues of a symmetric matrix, ascending, and its eigenvectors as columns.

    LAPACK is called directly: NumPy's overhead takes longer than a small problem itself.
    """
    values, vectors, info = dsyevd(S, lower=1)
    if info != 0:
        raise np.linalg.LinAlgError("the eigenvalues of a symmetric matrix did not converge")
    return values, vectors


def decorrelation(X: Array, sample_weight: Array | None = None) -> Array:
    """T, symmetric, of shape (D, D): the columns of X @ T are nearly uncorrelated, with nearly the same variance.

    T = ((S + ρI)/(s + ρ))^-½ with the columns' covariance S, its mean eigenvalue s and ρ = s/100, so that a direction
    without any variance is stretched by no more than a factor of ten.

    Parameters
    ----------
    X : ndarray of shape (N, D)
        The rows.
    sample_weight : ndarray of shape (N,), optional
        How often each row counts.
    """
    scatter = gram(X, column_means(X, sample_weight), sample_weight)
    values, vectors = symmetric_eigen(scatter)
    mean = float(values.mean())
    if not mean > 0:
        return np.eye(X.shape[1])
    values = np.maximum(values / mean, 0.0)
    return (vectors * np.sqrt((1.0 + LEAST_VARIANCE) / (values + LEAST_VARIANCE))) @ vectors.T


def thin_qr(A: Array) -> tuple[Array, Array]:
    """Q with orthonormal columns and the triangle R of A = Q R, by LAPACK directly."""
    k = min(A.shape)
    packed, tau, _, _ = dgeqrf(A, lwork=QR_BLOCK * A.shape[1])
    Q, _, _ = dorgqr(packed[:, :k], tau, lwork=QR_BLOCK * k)
    return Q, np.triu(packed[:k])


def orientation(vectors: Array) -> Array:
    """The signs ±1, one per column, that make each column's largest entry positive.

    An eigenvector is determined up to its sign, and the one that LAPACK picks depends on the order of the rows.
    """
    return np.where(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])] < 0, -1.0, 1.0)


def block_height(row_cost: int) -> int:
    """How many rows :func:`map_blocks` takes at once."""
    return min(max(TILE, PADDED_ELEMENTS // max(1, row_cost) // TILE * TILE), MAX_HEIGHT)


def map_blocks(function: Callable[[Array], Array], X: Array, row_cost: int) -> Array:
    """``function`` over the rows of X, in blocks of one height, a multiple of :data:`TILE`.

    A matrix product rounds the rows of an incomplete register tile differently, and products of different shapes are
    summed in different orders. So every block has the same shape, the last one padded with copies of its last row, and
    a row's result does not depend on its batch.

    Parameters
    ----------
    function : callable
        From (n, D) to (n,) or (n, k), row by row.
    X : ndarray of shape (n, D)
        The rows.
    row_cost : int
        The largest number of intermediate values per row; decides the height, and must not depend on the batch.
    """
    height = block_height(row_cost)
    out: Array | None = None
    for start in range(0, len(X), height):
        block = X[start : start + height]
        n_rows = len(block)
        if n_rows < height:
            given, block = block, np.empty((height, X.shape[1]), dtype=X.dtype)
            block[:n_rows], block[n_rows:] = given, given[-1]
        values = function(block)[:n_rows]
        if out is None:
            out = np.empty((len(X), *values.shape[1:]))
        out[start : start + n_rows] = values
    if out is None:
        raise ValueError("there are no rows")
    return out


def k_means(X: Array, n_clusters: int, random: np.random.RandomState, sample_weight: Array | None = None) -> Any:
    """A fitted ``sklearn.cluster.KMeans`` whose clusters do not depend on the order of the rows.

    Parameters
    ----------
    X : ndarray of shape (N, F)
        The rows; if there are more than :data:`MAX_ROWS`, that many are drawn.
    n_clusters : int
        The number of centres.
    random : RandomState
        Draws the rows and the first centres.
    sample_weight : ndarray of shape (N,), optional
        How much each row counts; all the same if None.
    """
    rows = rows_by_content(X)
    if len(X) > MAX_ROWS:
        rows = rows[drawn(len(X), MAX_ROWS, random)]
    return k_means_of_ordered(X[rows], n_clusters, random, None if sample_weight is None else sample_weight[rows])


def k_means_of_ordered(
    X: Array, n_clusters: int, random: np.random.RandomState, sample_weight: Array | None = None
) -> Any:
    """:func:`k_means` of rows that are already drawn and ordered by content."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    model = KMeans(n_clusters, n_init=1, random_state=random)
    # One OpenMP thread: several sum the centres in an order that changes from run to run.
    with warnings.catch_warnings(), threadpool_limits(1, user_api="openmp"):
        # Fewer distinct rows than clusters just leave clusters empty: no need to warn.
        warnings.filterwarnings("ignore", message="Number of distinct clusters", category=ConvergenceWarning)
        return model.fit(X, sample_weight=sample_weight)
