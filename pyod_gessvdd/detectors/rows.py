"""Which rows a fit learns from, how much each counts, and equal rows as one row with a weight."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pyod_gessvdd.dual import QPSolution, upper_bounds
from pyod_gessvdd.linalg import ORDERED_ROWS, drawn, not_below_one, rows_by_content
from pyod_gessvdd.preprocessing import Scaling

Array = np.ndarray

#: The whole of a kernel's space is learnt from at most this many rows, drawn at random; all rows are scored.
MAX_LEARNING_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The distinct rows among N rows.

    Attributes
    ----------
    X : ndarray of shape (n, D)
        The distinct rows, in the order of their values.
    weights : ndarray of shape (n,) or None
        The weight of each, summed over its copies; None if all weigh one.
    place : ndarray of int of shape (N,)
        The index of each row's distinct row.
    share : ndarray of shape (N,)
        Each row's share of the weight of its distinct row.
    """

    X: Array
    weights: Array | None
    place: Array
    share: Array

    @classmethod
    def of(cls, X: Array, sample_weight: Array | None) -> DistinctRows:
        """The distinct rows of X; those of weight zero keep a place and no weight."""
        # Adding zero turns −0.0 into 0.0.
        distinct, place = np.unique(X + 0.0, axis=0, return_inverse=True)
        place = place.ravel()
        own = np.ones(len(X)) if sample_weight is None else sample_weight
        weights = np.bincount(place, weights=own)
        share = np.divide(own, weights[place], out=np.zeros(len(X)), where=weights[place] > 0)
        return cls(distinct, None if (weights == 1.0).all() else weights, place, share)

    def holding(self, chosen: Array) -> Array:
        """The distinct rows of which a copy is chosen, given N booleans."""
        return np.unique(self.place[chosen])

    def spread(self, values: Array) -> Array:
        """The distinct rows' values, spread over all rows."""
        return values[self.place]

    def solution(self, trusted: Array, solution: QPSolution) -> tuple[Array, QPSolution]:
        """The rows that the trusted distinct rows stand for, and the solution with each row's part of α.

        What follows the trusted rows in the solution, labelled outliers, stays at its end.
        """
        places = np.flatnonzero(np.isin(self.place, trusted) & (self.share > 0))
        index = np.searchsorted(trusted, self.place[places])
        share = self.share[places]
        alpha, upper = (
            np.concatenate([values[index] * share, values[len(trusted) :]])
            for values in (solution.alpha, solution.upper)
        )
        return places, replace(solution, alpha=alpha, upper=upper)


def bounds(rows: Array | range, weights: Array | None, settings: dict[str, Any]) -> Array:
    """The bounds of α for the rows that are trained on; a C that sufficed for all rows is raised for fewer."""
    inside = None if weights is None else weights[rows]
    C = settings["C"]
    if C is not None:
        C = max(C, 1.0 / float(len(rows) if inside is None else inside.sum()))
    return upper_bounds(len(rows), C, settings["nu"], inside, largest=settings.get("largest_bound", 1.0))


def draw(X: Array, scaling: Scaling, random_state: int) -> Array:
    """The indices of all rows or, if they are too many, of some drawn at random.

    They are the same ones whatever the order of the rows, up to :data:`~pyod_gessvdd.linalg.ORDERED_ROWS`.
    """
    if len(X) <= MAX_LEARNING_ROWS:
        return np.arange(len(X))
    ranks = drawn(len(X), MAX_LEARNING_ROWS, check_random_state(random_state))
    return ranks if len(X) > ORDERED_ROWS else np.sort(rows_by_content(scaling.apply(X))[ranks])


def counting_rows(weights: Array | None, settings: dict[str, Any]) -> tuple[Array | None, dict[str, Any]]:
    """Weights that count rows where they were relative, and the settings with the C that gives the same bounds."""
    if weights is None:
        return None, settings
    scaled = not_below_one(weights)
    C = settings["C"]
    return scaled, settings if C is None else {**settings, "C": C * float(weights.sum() / scaled.sum())}


def without(weights: Array | None, held_back: Array | None, n_rows: int) -> Array | None:
    """The weights, zero for rows that are held back: they are scored, but nothing is learnt from them."""
    if held_back is None:
        return weights
    weights = np.ones(n_rows) if weights is None else weights.copy()
    weights[held_back] = 0.0
    return weights


def counted(X: Array, weights: Array | None) -> tuple[Array, Array | None]:
    """The rows that count at all, and their weights."""
    if weights is None or weights.all():
        return X, weights
    return X[weights > 0], weights[weights > 0]


def rows_and_weights(X: Array, weights: Array | None, trusted: Array | range) -> tuple[Array, Array | None]:
    """The trusted rows, and their weights unless each counts once."""
    rows = X if len(trusted) == len(X) else X[trusted]
    weights = None if weights is None else weights[trusted]
    return rows, None if weights is None or (weights == 1.0).all() else weights


def spread(values: Array, places: Array | range, out: Array) -> Array:
    """A copy of ``out`` with the values at these indices."""
    out = out.copy()
    out[places] = values
    return out
