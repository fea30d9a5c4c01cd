"""Kernel ``mixed``: several kernels of several views of a row, averaged; the default detector's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.spatial.distance

from pyod_gessvdd.kernels.pairwise import WidthKernel, kernel_width, summed_differences, summed_signs
from pyod_gessvdd.linalg import decorrelation

Array = np.ndarray

#: In inner products, values this far out are as good as any beyond: their squares keep their digits.
FARTHEST = 1e6


class _Part(NamedTuple):
    """One kernel of one view: its weight, the view, and the function of that view's columns."""

    weight: float
    view: int
    gram: Callable[[Array, Array, float], Array]
    pullback: Callable[[Array, Array, Array], Array]


@dataclass(kw_only=True, eq=False, repr=False)
class Mixed(WidthKernel):
    """½ exp(−½ gamma ‖x − y‖₁) + ½ exp(−gamma ‖x − y‖²), averaged over the views of a row, and two more if asked for.

    For one view and gamma g this is the sum ``"0.5*laplacian(gamma=g/2) + 0.5*rbf(gamma=g)"``, in fewer passes.

    The first has a cusp and tells near rows apart, the second is smooth and keeps to what many rows have in common. The
    other two follow linear dependences between columns: the smooth kernel of decorrelated columns, for which a row that
    breaks such a dependence is far away, and the inner product.

    Parameters
    ----------
    gamma : float, "scale", "auto" or "median", optional
        The width, see :func:`~pyod_gessvdd.kernels.pairwise.kernel_width`; the detector's ``gamma`` if None, else
        "auto", one over the number of columns of a view.
    widening : float, optional
        ``gamma`` is divided by it where it is not a number; the detector's if None, else 1.
    view_weights : sequence of float, optional
        The weight of the first two kernels in each view; the detector's if None, else all are equal and sum to one.
    smooth : sequence of float, optional
        The share of the smooth kernel in each view, between 0 and 1; the detector's if None, else one half. The kernel
        with the cusp takes three times as long.
    decorrelated : sequence of float, optional
        The weight in each view of exp(−gamma ‖(x − y)T‖²), where T removes the correlations between the training rows'
        columns (:func:`~pyod_gessvdd.linalg.decorrelation`); the detector's if None, else zero.
    linear : sequence of float, optional
        The weight in each view of xᵀy/D, with values beyond ±10⁶ taken for ±10⁶; the detector's if None, else zero.
    energy, approximation, n_landmarks, landmarks, center, random_state
        See :class:`~pyod_gessvdd.kernels.npt.PairwiseKernel`.
    """

    name = "mixed"
    inherits = ("widening", "view_weights", "smooth", "decorrelated", "linear")
    differentiable = True
    averages_views = True

    widening: float | None = None
    view_weights: Sequence[float] | None = None
    smooth: Sequence[float] | None = None
    decorrelated: Sequence[float] | None = None
    linear: Sequence[float] | None = None

    def prepare(self, X: Array, sample_weight: Array | None = None) -> None:
        """Find the width, from the columns of the first view, and the correlations, where they count."""
        self.view_weights_ = self._for_views("view_weights", "a weight", 1.0 / self.n_views_)
        self.smooth_ = self._for_views("smooth", "a share", 0.5)
        if not ((self.smooth_ >= 0.0) & (self.smooth_ <= 1.0)).all():
            raise ValueError(f"smooth must hold shares between 0 and 1, got {self.smooth!r}")
        self.decorrelated_ = self._for_views("decorrelated", "a weight", 0.0)
        self.linear_ = self._for_views("linear", "a weight", 0.0)
        views = self._views(X)
        self.turns_ = [
            decorrelation(view, sample_weight) if weight > 0 else None
            for view, weight in zip(views, self.decorrelated_, strict=True)
        ]
        gamma = "auto" if self.gamma is None else self.gamma
        self.gamma_ = kernel_width(gamma, views[0], self.random_state, sample_weight)
        if isinstance(gamma, str) and self.widening is not None:
            self.gamma_ /= self.widening

    def _for_views(self, name: str, what: str, otherwise: float) -> Array:
        given = getattr(self, name)
        if given is None:
            return np.full(self.n_views_, otherwise)
        if len(given) != self.n_views_:
            raise ValueError(f"{name} must hold {what} for each of the {self.n_views_} views, got {given!r}")
        values = np.array(given, dtype=float)
        if what == "a weight" and not (np.isfinite(values) & (values >= 0.0)).all():
            raise ValueError(f"{name} must hold weights that are not negative, got {given!r}")
        return values

    def gram(self, X: Array, Y: Array) -> Array:
        """The kernels of each view, averaged."""
        K: Array | None = None
        x, y = self._views(X), self._views(Y)
        for part in self._parts():
            values = part.gram(x[part.view], y[part.view], part.weight)
            if K is None:
                K = values
            else:
                K += values
        return np.zeros((len(X), len(Y))) if K is None else K

    def gram_diagonal(self, X: Array) -> Array:
        """The weights' sum, and what the inner products of the row with itself add."""
        diagonal = np.full(len(X), float((self.view_weights_ + self.decorrelated_).sum()))
        for view, weight in zip(self._views(X), self.linear_, strict=True):
            if weight > 0:
                near = _within_reach(view)
                diagonal += weight / view.shape[1] * np.einsum("ij,ij->i", near, near)
        return diagonal

    def gram_pullback(self, X: Array, Y: Array, K: Array, weights: Array) -> Array:
        """The mean of the kernels' pullbacks."""
        x, y = self._views(X), self._views(Y)
        pulled = [np.zeros_like(view) for view in x]
        for part in self._parts():
            pulled[part.view] += part.weight * part.pullback(x[part.view], y[part.view], weights)
        return np.hstack(pulled)

    def gram_diagonal_pullback(self, X: Array, weights: Array) -> Array:
        """2 weights_i x_i/D of the inner products."""
        views = zip(self._views(X), self.linear_, strict=True)
        return np.hstack([2.0 * weight / x.shape[1] * weights[:, None] * _moving(x) for x, weight in views])

    def _parts(self) -> Iterator[_Part]:
        """The kernels that have any weight."""
        for view, turn in enumerate(self.turns_):
            weight, smooth = float(self.view_weights_[view]), float(self.smooth_[view])
            parts = (
                _Part(weight * (1.0 - smooth), view, self._cusped, self._cusped_pullback),
                _Part(weight * smooth, view, self._smooth, self._smooth_pullback),
                _Part(
                    float(self.decorrelated_[view]),
                    view,
                    partial(self._turned, turn),
                    partial(self._turned_pullback, turn),
                ),
                _Part(float(self.linear_[view]), view, _linear, _linear_pullback),
            )
            yield from (part for part in parts if part.weight > 0.0)

    def _views(self, X: Array) -> list[Array]:
        return [X] if self.n_views_ == 1 else [np.ascontiguousarray(x) for x in np.hsplit(X, self.n_views_)]

    # The same as scikit-learn's, whose checks per block cost as much as a block of a few hundred landmarks.

    def _cusped(self, X: Array, Y: Array, weight: float) -> Array:
        K: Array = scipy.spatial.distance.cdist(X, Y, "cityblock")
        K *= -self.gamma_ / 2
        np.exp(K, out=K)
        K *= weight
        return K

    def _cusped_pullback(self, X: Array, Y: Array, weights: Array) -> Array:
        return -self.gamma_ / 2 * summed_signs(X, Y, weights * self._cusped(X, Y, 1.0))

    def _smooth(self, X: Array, Y: Array, weight: float) -> Array:
        # The whole exponent, 2γxᵀy − γ‖x‖² − γ‖y‖² and the logarithm of the weight, is one product.
        root, top = np.sqrt(2.0 * self.gamma_), np.log(weight)
        x, y = root * X, root * Y
        lengths_x, lengths_y = (np.einsum("ij,ij->i", z, z) / -2.0 for z in (x, y))
        K = np.column_stack([x, lengths_x, np.ones(len(x))]) @ np.column_stack([y, np.ones(len(y)), lengths_y + top]).T
        np.minimum(K, top, out=K)
        return np.exp(K, out=K)

    def _smooth_pullback(self, X: Array, Y: Array, weights: Array) -> Array:
        return -2.0 * self.gamma_ * summed_differences(X, Y, weights * self._smooth(X, Y, 1.0))

    def _turned(self, turn: Any, X: Array, Y: Array, weight: float) -> Array:
        return self._smooth(X @ turn, Y @ turn, weight)

    def _turned_pullback(self, turn: Any, X: Array, Y: Array, weights: Array) -> Array:
        return self._smooth_pullback(X @ turn, Y @ turn, weights) @ turn.T


def _within_reach(X: Array) -> Array:
    return np.clip(X, -FARTHEST, FARTHEST)


def _moving(X: Array) -> Array:
    """The values that are within reach, and zero for the others, which do not change what they stand for."""
    return np.where(np.abs(X) <= FARTHEST, X, 0.0)


def _linear(X: Array, Y: Array, weight: float) -> Array:
    return (weight / X.shape[1] * _within_reach(X)) @ _within_reach(Y).T


def _linear_pullback(X: Array, Y: Array, weights: Array) -> Array:
    return (np.abs(X) <= FARTHEST) * (weights @ _within_reach(Y)) / X.shape[1]
