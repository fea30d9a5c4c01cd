"""The first step of the flow: validation, scaling, and passing rows through in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.utils.validation import validate_data

from pyod_gessvdd.linalg import RowShift, column_means, read_only, row_blocks, shift_rows, weighted_quantiles
from pyod_gessvdd.sources.source import Source

Array = np.ndarray

#: The range that the largest absolute value of training data must be in for its squares to keep their digits.
LARGEST, SMALLEST = 1e150, 1e-145


def validated(estimator: Any, X: Any, *, reset: bool) -> Array:
    """X as a read-only float64 array; a one-sentence error for non-numeric, non-finite, masked or out-of-range values.

    Parameters
    ----------
    estimator : BaseEstimator
        Its columns are learnt (``reset``) or compared with.
    X : array, list or DataFrame of shape (n, D)
        The rows.
    reset : bool
        Whether this is ``fit``, which needs two rows.
    """
    if isinstance(X, Source):
        raise ValueError(
            "this needs an array of rows; the rows of a source are taken by fit and decision_function of GESSVDD and "
            "of the detectors of its family that have a sphere"
        )
    if _is_ready(estimator, X, reset):
        if reset:
            estimator.n_features_in_ = X.shape[1]
            vars(estimator).pop("feature_names_in_", None)
        columns = None
    else:
        X, columns = _read(estimator, X, reset)
    # One pass accepts nearly all data; only if it does not is the problem looked for.
    if not SMALLEST**2 <= float(np.vdot(X, X)) <= LARGEST**2:
        _check_range(X, columns, training=reset)
    return read_only(X)


def _is_ready(estimator: Any, X: Any, reset: bool) -> bool:
    """Whether X is a plain array of the right form: scikit-learn's validation takes a tenth of a small fit's time."""
    if type(X) is not np.ndarray or X.dtype != np.float64 or X.ndim != 2 or not X.flags.c_contiguous:
        return False
    if reset:
        return X.shape[0] >= 2 and X.shape[1] >= 1
    return X.shape[0] >= 1 and X.shape[1] == estimator.n_features_in_ and not hasattr(estimator, "feature_names_in_")


def _read(estimator: Any, X: Any, reset: bool) -> tuple[Array, list[Any] | None]:
    """X as an array by scikit-learn's rules, and its columns' names if it has any."""
    values = np.asarray(X) if isinstance(X, list | tuple) else X
    if getattr(getattr(values, "dtype", None), "kind", "") in ("S", "U"):
        raise ValueError(f"X must be numeric, got strings such as {str(values.flat[0])!r}; convert them first")
    if isinstance(X, np.ma.MaskedArray) and np.ma.getmaskarray(X).any():
        masked = np.argwhere(np.ma.getmaskarray(X))
        raise ValueError(
            f"X must have all its values, but X[{', '.join(map(str, masked[0]))}] is masked "
            f"({len(masked)} such values); impute or drop them first"
        )
    columns = list(X.columns) if hasattr(X, "columns") and hasattr(X, "dtypes") else None
    if columns is not None:
        _check_columns(X)
    X = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=np.float64,
        order="C",  # another layout, such as a DataFrame's, would be summed in another order
        ensure_all_finite=False,
        ensure_min_samples=2 if reset else 1,
    )
    return X, columns


def _check_range(X: Array, columns: list[Any] | None, *, training: bool) -> None:
    """Raise a ``ValueError`` if a value is not finite or, in training, if squares would lose their digits."""
    largest = max(float(X.max()), -float(X.min()))
    if not largest < np.inf:
        _refuse_first_not_finite(X, columns)
    _check_size(largest, training=training)


def check_block(block: Array, rows: Array, columns: list[str] | None) -> None:
    """The same for one block of a source's rows, with their indices ``rows``."""
    if not len(block) or float(np.vdot(block, block)) <= LARGEST**2:
        return
    largest = float(np.abs(block).max())
    if not largest < np.inf:
        row, column = np.argwhere(~np.isfinite(block))[0]
        what = "NaN" if np.isnan(block[row, column]) else "infinite"
        where = f"column {column}" if columns is None else f"column {columns[column]!r}"
        raise ValueError(
            f"X must be finite, but row {rows[row]} of {where} is {what}: row {row} of the block that starts at row "
            f"{rows[0]}; impute or drop such rows first"
        )
    _check_size(largest, training=True)


def _check_size(largest: float, *, training: bool) -> None:
    if training and largest > LARGEST:
        raise ValueError(
            f"X holds values up to {largest:.0e}, whose squares are beyond the range of floating point; "
            "divide them by a constant first"
        )
    if training and 0.0 < largest < SMALLEST:
        raise ValueError(
            f"X holds no value above {largest:.0e}, whose square is below the range of floating point; "
            "multiply them by a constant first"
        )


def _check_columns(frame: Any) -> None:
    """Name the first column of a DataFrame that does not hold numbers, and what it holds."""
    for name, dtype in zip(frame.columns, frame.dtypes, strict=True):
        kind = getattr(dtype, "kind", "O")
        if kind in "biufc":
            continue
        values = np.asarray(frame[name])
        if values.dtype.kind not in "mM":
            try:
                values.astype(float)
                continue
            except (TypeError, ValueError):
                pass
        raise ValueError(
            f"X must be numeric, but column {name!r} holds values of type {dtype}, such as {str(values.flat[0])!r}; "
            "convert or drop it first"
        )


def _refuse_first_not_finite(X: Array, columns: list[Any] | None) -> None:
    wrong = np.argwhere(~np.isfinite(X))
    row, column = wrong[0]
    where = f"X[{row}, {column}]" if columns is None else f"row {row} of column {columns[column]!r}"
    raise ValueError(
        f"X must be finite, but {where} is {'NaN' if np.isnan(X[row, column]) else 'infinite'} "
        f"({len(wrong)} such values); impute or drop them first"
    )


#: The values of ``standardize``.
SCALINGS = ("standard", "robust", "signed_log", "quantile", "views")
#: The interquartile range of a standard normal distribution.
NORMAL_IQR = 1.349
#: A column whose quartiles are closer than this share of its deviation (most of its values are equal) is scaled by the
#: deviation.
NARROW_IQR = 1e-3
#: A column has heavy tails if a value lies this many deviations farther out than a normal one of its rank.
HEAVY = 2.0
#: The binary digits of a deviation, and of a mean in its unit, that do not depend on the order of summation.
SETTLED_BITS = 40
#: The rows' views are computed in blocks this many times smaller than other sums over rows.
CACHED = 4
#: The bit of a float64 that holds its sign.
SIGN = np.int64(np.iinfo(np.int64).min)
#: The maximum number of values that are kept per column to determine ranks.
MAX_KNOTS = 2000


@dataclass(frozen=True, eq=False)
class Scaling:
    """x ↦ (x − mean) / scale, then each of the views of it, side by side.

    Attributes
    ----------
    mean, scale : ndarray of shape (D,) or None
        None where nothing is subtracted or divided by.
    views : tuple of callable
        Applied to the scaled rows, value by value; none leaves them as they are, several make several columns of each.
    """

    mean: Array | None
    scale: Array | None
    views: tuple[Callable[[Array], Array], ...] = ()

    @classmethod
    def learn(cls, X: Array, *, center: bool, standardize: bool | str, sample_weight: Array | None = None) -> Scaling:
        """Learn from the training rows; constant columns are only shifted.

        Parameters
        ----------
        X : ndarray of shape (N, D)
            The training rows.
        center : bool
            Whether the mean (the median) is subtracted.
        standardize : bool or {"standard", "robust", "signed_log", "quantile", "views"}
            Nothing; mean and standard deviation (True means the same); median and interquartile range;
            sign(x) · log(1 + |x|) of the standardised values, which brings far values closer and keeps them distinct;
            each column's ranks as normal scores; the standardised values, their signed logarithms and their normal
            scores side by side, for a kernel that averages over views.
        sample_weight : ndarray of shape (N,), optional
            How often each row counts.
        """
        return cls.assembled(
            center=center,
            standardize=standardize,
            moments=lambda: _moments(X, sample_weight),
            quartiles=lambda: weighted_quantiles(X, (0.25, 0.5, 0.75), sample_weight),
            ranks=lambda scaling: NormalScores.learn(scaling.apply(X), sample_weight),
        )

    @classmethod
    def assembled(
        cls,
        *,
        center: bool,
        standardize: bool | str,
        moments: Callable[[], tuple[Array, Array]],
        quartiles: Callable[[], Array],
        ranks: Callable[[Scaling], NormalScores],
    ) -> Scaling:
        """:meth:`learn` from the statistics that it needs, each computed only if it counts.

        Parameters
        ----------
        center, standardize
            See :meth:`learn`.
        moments : callable
            Returns the columns' means and standard deviations.
        quartiles : callable
            Returns the columns' quartiles, of shape (3, D).
        ranks : callable
            Maps a scaling to the normal scores of the rows that it scales.
        """
        if not standardize:
            return cls(None, None)
        if standardize == "quantile":
            return cls(None, None, (ranks(cls(None, None)),))
        mean, deviation = settled(*moments())
        if standardize == "robust":
            low, mean, high = quartiles()
            spread = (high - low) / NORMAL_IQR
            deviation = np.where(spread > NARROW_IQR * deviation, spread, deviation)
        scaling = cls(mean if center else None, deviation)
        if standardize == "signed_log":
            return replace(scaling, views=(signed_log,))
        if standardize == "views":
            return replace(scaling, views=(as_it_is, signed_log, ranks(scaling)))
        return scaling

    def apply_to_training(self, X: Array, sample_weight: Array | None = None) -> Array:
        """The scaled training rows, halfway to what they would be had each been left out of the scaling.

        A training row is closer than a new row to the mean, the deviation and the ranks that it helped to learn. In a
        distance between two training rows both are; where only one of them moves, half the way is right. It matters
        with many columns: with as many columns as rows, a fifth of new rows exceeded what a tenth of training rows did.
        """
        weights = np.ones(len(X)) if sample_weight is None else sample_weight
        total = float(weights.sum())
        Z = self._shifted(X)
        if total <= 2.0 or self.scale is None:
            return self.apply(X)
        # Mean and variance without one copy of the row (all of it, if it weighs less), in units of those with it.
        copy = np.minimum(weights, 1.0)[:, None]
        mean = -copy * Z / (total - copy)
        variance = total / (total - copy) * (1.0 - copy * Z**2 / (total - copy))
        moved = (Z - mean) / np.sqrt(np.where(variance > NARROW_IQR**2, variance, 1.0))
        views = self.views or (as_it_is,)
        halves = [
            (view(Z) + (view.without_itself(Z, copy) if isinstance(view, NormalScores) else view(moved))) / 2
            for view in views
        ]
        return np.hstack(halves)

    @property
    def is_affine(self) -> bool:
        """Whether the scaled rows are a linear function of the rows, up to a shift."""
        return not self.views

    @property
    def n_views(self) -> int:
        """The number of scaled columns per column of X."""
        return max(1, len(self.views))

    @property
    def heavy_share(self) -> float:
        """The share of columns with heavy tails, such as those of rare values; 1 if ranks are not among the views."""
        shares = [view.heavy_share for view in self.views if isinstance(view, NormalScores)]
        return max(shares, default=1.0)

    def apply(self, X: Array) -> Array:
        """The scaled rows, of shape (n, n_views · D), read-only: X itself if there is nothing to do."""
        if not self.views:
            scaled = self._shifted(X)
            return X if scaled is X else read_only(scaled)
        n_columns = X.shape[1]
        out = np.empty((len(X), self.n_views * n_columns))
        # What is between the rows and the result stays in the cache.
        shift, blocks = self._shift, list(row_blocks(len(X), CACHED * n_columns))
        memory = np.empty((blocks[0].stop if blocks else 0, n_columns))
        for rows in blocks:
            shifted = X[rows] if shift is None else shift(X[rows], memory[: rows.stop - rows.start])
            for k, view in enumerate(self.views):
                place = out[rows, k * n_columns : (k + 1) * n_columns]
                if view is signed_log and place.flags.c_contiguous:
                    signed_log(shifted, place)
                else:
                    place[...] = view(shifted)
        return read_only(out)

    @property
    def _shift(self) -> RowShift | None:
        """(x − mean) / scale; None if there is neither."""
        known = self.mean if self.mean is not None else self.scale
        if known is None:
            return None
        return RowShift(np.zeros_like(known) if self.mean is None else self.mean, self.scale)

    def _shifted(self, X: Array) -> Array:
        """What that gives: X itself if there is nothing to do."""
        shift = self._shift
        return X if shift is None else shift(X)


def settled(mean: Array, deviation: Array) -> tuple[Array, Array]:
    """The columns' means and deviations without their last digits, which depend on the order of summation.

    A description with a small ridge would amplify them: the same rows in another order, or from a file, get the same
    scaling to the last bit. A constant column, of deviation one, keeps its mean.
    """
    fraction, exponent = np.frexp(deviation)
    unit = np.ldexp(1.0, exponent - SETTLED_BITS)
    rounded = np.ldexp(np.round(np.ldexp(fraction, SETTLED_BITS)), exponent - SETTLED_BITS)
    return np.where(deviation == 1.0, mean, np.round(mean / unit) * unit), rounded


def as_it_is(X: Array) -> Array:
    """X, unchanged."""
    return X


def signed_log(X: Array, out: Array | None = None) -> Array:
    """sign(x) · log(1 + |x|) of each value, in ``out`` if given."""
    out = np.abs(X, out=out)
    np.log1p(out, out=out)
    if X.dtype != np.float64:
        return np.copysign(out, X, out=out)
    # The sign is a bit, and setting it takes less time than numpy's copysign.
    bits = out.view(np.int64)
    np.bitwise_or(bits, X.view(np.int64) & SIGN, out=bits)
    return out


@dataclass(frozen=True, eq=False)
class NormalScores:
    """Each value as the normal quantile of its rank among the training values; equal values share their middle rank.

    Attributes
    ----------
    values, scores : list of ndarray
        For each column its distinct training values, at most 2,000 of them, and their normal scores; between two
        values scores are interpolated.
    beyond : float
        The score of a value above all of them; one below all of them has its negative.
    total : float
        How many values there were.
    """

    values: list[Array]
    scores: list[Array]
    beyond: float
    total: float

    @classmethod
    def learn(cls, X: Array, sample_weight: Array | None = None) -> NormalScores:
        """The ranks of the training rows."""
        return cls.of_columns(X.T, sample_weight)

    @classmethod
    def of_columns(cls, columns: Iterable[Array], sample_weight: Array | None = None) -> NormalScores:
        """The same, column by column: only one of them need be in memory."""
        values, scores = [], []
        for column in columns:
            weights = np.ones(len(column)) if sample_weight is None else sample_weight
            total = float(weights.sum())
            distinct, places = np.unique(column, return_inverse=True)
            count = np.bincount(places.ravel(), weights=weights)
            middle_rank = np.cumsum(count) - count / 2
            if len(distinct) > MAX_KNOTS:
                kept = np.linspace(0, len(distinct) - 1, MAX_KNOTS).round().astype(int)
                distinct, middle_rank = distinct[kept], middle_rank[kept]
            values.append(distinct)
            scores.append(ndtri((middle_rank + 0.5) / (total + 1.0)))
        return cls(values, scores, float(ndtri((total + 0.5) / (total + 1.0))), total)

    def __call__(self, X: Array) -> Array:
        """The normal scores of the rows' values."""
        out = np.empty_like(X)
        for j, (values, scores) in enumerate(zip(self.values, self.scores, strict=True)):
            out[:, j] = np.interp(X[:, j], values, scores, left=-self.beyond, right=self.beyond)
        return out

    @property
    def heavy_share(self) -> float:
        """The share of standardised columns with a value two deviations farther out than its normal score."""
        pairs = zip(self.values, self.scores, strict=True)
        return float(np.mean([np.max(np.abs(values) - np.abs(scores)) > HEAVY for values, scores in pairs]))

    def without_itself(self, X: Array, copy: Array | float = 1.0) -> Array:
        """The normal scores of training values among the others; ``copy`` is the weight that leaves with a row."""
        # The rank r without the value's own half: (r + ½)/(N + 1) becomes ((r − ½) + ½)/N.
        rank = ndtr(self(X)) * (self.total + 1.0) - copy / 2
        total = self.total + 1.0 - copy
        return np.asarray(ndtri(np.clip(rank, 0.25, total - 0.25) / total))


def _moments(X: Array, sample_weight: Array | None = None) -> tuple[Array, Array]:
    """The columns' means and standard deviations, one for a constant column."""
    # Around the mean of the first rows, so that one pass is enough: only what the others add to it is summed.
    mean = column_means(X[next(row_blocks(*X.shape))])
    total, squares, count = np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0.0
    for rows in row_blocks(*X.shape):
        block = shift_rows(X[rows], mean)
        weights = np.ones(len(block)) if sample_weight is None else sample_weight[rows]
        total += weights @ block
        squares += weights @ np.multiply(block, block, out=block)
        count += float(weights.sum())
    missed = total / count  # with what a sum over many rows rounds: the mean of a constant column is its value
    mean += missed
    return mean, standard_deviations(squares / count - missed**2, mean)


def standard_deviations(variances: Array, mean: Array) -> Array:
    """The roots of the columns' variances; one for a constant column."""
    deviation = np.sqrt(np.maximum(variances, 0.0))
    # A deviation below the rounding of the mean itself is noise: such a column is constant.
    constant = deviation <= 10 * np.finfo(float).eps * np.abs(mean)
    return np.where(constant, 1.0, deviation)
