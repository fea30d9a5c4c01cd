"""Gower's similarity of rows of numbers and categories, in the form that is a kernel.

    k(x, y) = Σ_j w_j s_j(x_j, y_j),   w_j ≥ 0,  Σ_j w_j = 1
    s_j(a, b) = max(0, 1 − |a − b| / R_j)  for a column of numbers with the training range R_j
    s_j(a, b) = 1 if a = b, else 0         for a column of categories

Gower's own coefficient (1971) has 1 − |a − b| / R_j without the maximum. Inside the training range the two are the same
number. Beyond it Gower's turns negative, and then it is no kernel; with the maximum it is the triangular kernel, whose
Fourier transform is sin²(ωR/2) / (ωR/2)² up to a factor and nowhere negative: positive semi-definite on the whole line
(Bochner). Equality is the inner product of indicator vectors. A sum of such kernels with weights that are not negative
is positive semi-definite again.

Equality of categories, coded as numbers, is untouched by the detector's scaling, which maps equal numbers to equal
numbers. |a − b| / R_j does not change when a column is shifted and scaled; where the detector also takes signed
logarithms, numbers are compared on that scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pyod_gessvdd import PairwiseKernel

Array = np.ndarray


@dataclass(kw_only=True, eq=False, repr=False)
class Gower(PairwiseKernel):
    """Gower's similarity for mixed tables, categories coded as numbers.

    A row unlike all others has a kernel vector near zero and lands next to the centre, as with any narrow kernel: leave
    the detector's ``residual`` on.

    Parameters
    ----------
    categorical : "auto" or sequence of int or bool, default="auto"
        The positions of the columns that hold categories, or one True or False per column. "auto" takes the columns
        with at most ``max_categories`` different values in training, whatever these mean: a column of ratings from 1
        to 5 loses its order.
    max_categories : int, default=10
        What "auto" takes for a column of categories.
    feature_weights : sequence of float, optional
        One weight per column, of any sum; all equal if None.
    energy, approximation, n_landmarks, landmarks, center, random_state
        See :class:`~pyod_gessvdd.PairwiseKernel`. Landmarks must be rows: ``"kmeans"`` would average categories.

    References
    ----------
    J. C. Gower: A General Coefficient of Similarity and Some of Its Properties. Biometrics 27, 1971.

    Examples
    --------
    >>> import numpy as np
    >>> from pyod_gessvdd_kernels import Gower
    >>> rows = np.array([[0.0, 1.0], [10.0, 1.0], [5.0, 2.0]])
    >>> Gower(categorical=[1]).fit(rows).gram(rows, rows)
    array([[1.  , 0.5 , 0.25],
           [0.5 , 1.  , 0.25],
           [0.25, 0.25, 1.  ]])
    """

    name = "gower"

    categorical: Any = "auto"
    max_categories: int = 10
    feature_weights: Any = None

    def prepare(self, X: Array) -> None:
        """Find the columns of categories, the ranges of the others, and the weights."""
        if self.landmarks != "uniform":
            raise ValueError(
                f"kernel 'gower' needs rows as landmarks, which landmarks='uniform' draws, got {self.landmarks!r}"
            )
        self.is_categorical_ = self._find_categorical(X)
        self.ranges_ = np.ptp(X, axis=0)
        self.weights_ = self._find_weights(X.shape[1])

    def gram(self, X: Array, Y: Array) -> Array:
        """The weighted mean of the columns' similarities."""
        K = np.zeros((len(X), len(Y)))
        for j in np.flatnonzero(self.weights_):
            similarity = np.subtract.outer(X[:, j], Y[:, j])
            # In a constant column too, nothing but the same value is near.
            if self.is_categorical_[j] or self.ranges_[j] == 0.0:
                np.equal(similarity, 0.0, out=similarity)
            else:
                np.abs(similarity, out=similarity)
                similarity /= -self.ranges_[j]
                similarity += 1.0
                np.maximum(similarity, 0.0, out=similarity)
            similarity *= self.weights_[j]
            K += similarity
        return K

    def gram_diagonal(self, X: Array) -> Array:
        """One for every row."""
        return np.ones(len(X))

    def _find_categorical(self, X: Array) -> Array:
        D = X.shape[1]
        if isinstance(self.categorical, str):
            if self.categorical != "auto":
                raise ValueError(f"categorical must be 'auto' or positions of columns, got {self.categorical!r}")
            return np.array([len(np.unique(column)) <= self.max_categories for column in X.T])
        chosen = np.asarray(self.categorical)
        if chosen.shape == (D,) and chosen.dtype == bool:
            return chosen.copy()
        mask = np.zeros(D, dtype=bool)
        if chosen.size == 0:
            return mask
        if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or chosen.min() < -D or chosen.max() >= D:
            raise ValueError(
                f"categorical must hold positions from 0 to {D - 1} or {D} booleans for {D} columns, "
                f"got {self.categorical!r}"
            )
        mask[chosen] = True
        return mask

    def _find_weights(self, D: int) -> Array:
        if self.feature_weights is None:
            return np.full(D, 1.0 / D)
        weights = np.asarray(self.feature_weights, dtype=float)
        if weights.shape != (D,) or not np.isfinite(weights).all() or weights.min() < 0 or weights.sum() == 0:
            raise ValueError(
                f"feature_weights must hold {D} numbers that are not negative and not all zero for {D} columns, "
                f"got {self.feature_weights!r}"
            )
        return weights / weights.sum()
