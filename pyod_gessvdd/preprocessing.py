"""The first step of the flow: validation, scaling, and passing rows through in blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.utils.validation import validate_data

from pyod_gessvdd.linalg import column_means, row_blocks, weighted_quantiles

Array = np.ndarray


def validated(estimator: Any, X: Any, *, reset: bool) -> Array:
    """X as a float64 array; one sentence about strings and about the first value that is not finite.

    Parameters
    ----------
    estimator : BaseEstimator
        Whose columns are learnt (``reset``) or compared with.
    X : array, list or DataFrame of shape (n, D)
        The rows.
    reset : bool
        Whether this is ``fit``, which needs two rows.
    """
    values = np.asarray(X) if isinstance(X, list | tuple) else X
    if getattr(getattr(values, "dtype", None), "kind", "") in ("S", "U"):
        raise ValueError(f"X must be numeric, got strings such as {str(values.flat[0])!r}; convert them first")
    X = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=np.float64,
        order="C",  # another layout, such as a DataFrame's, would be added up in another order
        ensure_all_finite=False,
        ensure_min_samples=2 if reset else 1,
    )
    if not np.isfinite(X.sum()) and not np.isfinite(X).all():
        row, column = np.argwhere(~np.isfinite(X))[0]
        raise ValueError(
            f"X must be finite, but X[{row}, {column}] is {'NaN' if np.isnan(X[row, column]) else 'infinite'} "
            f"({np.count_nonzero(~np.isfinite(X))} such values); impute or drop them first"
        )
    return X


#: The values of ``standardize``, and what each does to a column.
SCALINGS = ("standard", "robust", "signed_log", "quantile")
#: The interquartile range of a standard normal distribution.
NORMAL_IQR = 1.349
#: A column whose quartiles are closer than this share of its deviation (most of its values are equal) is scaled by the
#: deviation.
NARROW_IQR = 1e-3
#: Quantiles that are kept of each column, and how far from 0 and 1 the share of a value beyond all of them is.
N_QUANTILES, BEYOND = 1000, 1e-7


@dataclass(frozen=True, eq=False)
class Scaling:
    """x ↦ warp((x − mean) / scale).

    Attributes
    ----------
    mean, scale : ndarray of shape (D,) or None
        None where nothing is subtracted or divided.
    warp : callable or None
        What is done to the scaled rows then, value by value.
    """

    mean: Array | None
    scale: Array | None
    warp: Callable[[Array], Array] | None = None

    @classmethod
    def learn(cls, X: Array, *, center: bool, standardize: bool | str, sample_weight: Array | None = None) -> Scaling:
        """Learn from the training rows; constant columns are only shifted.

        Parameters
        ----------
        X : ndarray of shape (N, D)
            The training rows.
        center : bool
            Whether the mean (the median) is subtracted.
        standardize : bool or {"standard", "robust", "signed_log", "quantile"}
            Nothing; mean and standard deviation (True means the same); median and interquartile range;
            sign(x) · log(1 + |x|) of the standardised values, which brings far values near and tells them apart still;
            each column's quantiles as those of a normal distribution.
        sample_weight : ndarray of shape (N,), optional
            How often each row counts.
        """
        if not standardize:
            return cls(None, None)
        if standardize == "quantile":
            return cls(None, None, NormalScores.learn(X, sample_weight))
        mean, deviation = _moments(X, sample_weight)
        if standardize == "robust":
            low, mean, high = weighted_quantiles(X, (0.25, 0.5, 0.75), sample_weight)
            spread = (high - low) / NORMAL_IQR
            deviation = np.where(spread > NARROW_IQR * deviation, spread, deviation)
        return cls(mean if center else None, deviation, signed_log if standardize == "signed_log" else None)

    @property
    def is_affine(self) -> bool:
        """Whether the scaled rows are a linear function of the rows, up to a shift."""
        return self.warp is None

    def apply(self, X: Array) -> Array:
        """The scaled rows: X itself if there is nothing to do, else a new array."""
        scaled = X
        if self.mean is not None or self.scale is not None:
            scaled = X - self.mean if self.mean is not None else X.copy()
            if self.scale is not None:
                scaled /= self.scale
        return scaled if self.warp is None else self.warp(scaled)


def signed_log(X: Array) -> Array:
    """sign(x) · log(1 + |x|) of each value."""
    return np.copysign(np.log1p(np.abs(X)), X)


@dataclass(frozen=True, eq=False)
class NormalScores:
    """Each value as the normal quantile of the share of training values below it, between two of them by interpolation.

    Attributes
    ----------
    shares : ndarray of shape (n_quantiles,)
        From 0 to 1.
    quantiles : ndarray of shape (n_quantiles, D)
        The columns' quantiles there.
    """

    shares: Array
    quantiles: Array

    @classmethod
    def learn(cls, X: Array, sample_weight: Array | None = None) -> NormalScores:
        """The quantiles of the training rows."""
        # Always with weights: numpy's own quantiles of equal values may differ in the last bit, which splits a tie.
        weights = np.ones(len(X)) if sample_weight is None else sample_weight
        shares = np.linspace(0.0, 1.0, min(int(np.ceil(weights.sum())), N_QUANTILES))
        return cls(shares, np.maximum.accumulate(weighted_quantiles(X, shares, weights), axis=0))

    def __call__(self, X: Array) -> Array:
        """The normal scores of the rows' values."""
        scores = np.empty_like(X)
        for j, quantiles in enumerate(self.quantiles.T):
            # From both sides, because equal quantiles leave a step in between: its middle.
            above = np.interp(X[:, j], quantiles, self.shares)
            below = np.interp(-X[:, j], -quantiles[::-1], -self.shares[::-1])
            scores[:, j] = (above - below) / 2
        return np.asarray(ndtri(np.clip(scores, BEYOND, 1.0 - BEYOND)))


def _moments(X: Array, sample_weight: Array | None = None) -> tuple[Array, Array]:
    """The columns' means and standard deviations, one for a constant column."""
    mean = column_means(X, sample_weight)
    weights = np.ones(len(X)) if sample_weight is None else sample_weight
    total, squares = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for rows in row_blocks(*X.shape):
        block = X[rows] - mean
        total += weights[rows] @ block
        squares += np.einsum("ij,ij->j", block, block if sample_weight is None else weights[rows, None] * block)
    # A sum over many rows rounds; what it missed brings the mean of a constant column back to its value.
    missed = total / weights.sum()
    mean += missed
    deviation = np.sqrt(np.maximum(squares / weights.sum() - missed**2, 0.0))
    # Below the rounding of the mean itself a deviation is noise: such a column is constant.
    constant = deviation <= 10 * np.finfo(float).eps * np.abs(mean)
    return mean, np.where(constant, 1.0, deviation)
