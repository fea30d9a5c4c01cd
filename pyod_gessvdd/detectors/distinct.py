"""Equal rows as one row with a weight, and back."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pyod_gessvdd.dual import QPSolution

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The distinct rows among N rows.

    Attributes
    ----------
    X : ndarray of shape (n, D)
        The distinct rows, in the order of their values.
    weights : ndarray of shape (n,) or None
        The weight of each, that of its copies together; None if all weigh one.
    place : ndarray of int of shape (N,)
        Which distinct row each row is.
    share : ndarray of shape (N,)
        What each row has of the weight of its distinct row.
    """

    X: Array
    weights: Array | None
    place: Array
    share: Array

    @classmethod
    def of(cls, X: Array, sample_weight: Array | None) -> DistinctRows:
        """The distinct rows of X; those of weight zero keep a place and no weight."""
        # Adding zero makes one of the two zeros.
        distinct, place = np.unique(X + 0.0, axis=0, return_inverse=True)
        place = place.ravel()
        own = np.ones(len(X)) if sample_weight is None else sample_weight
        weights = np.bincount(place, weights=own)
        share = np.divide(own, weights[place], out=np.zeros(len(X)), where=weights[place] > 0)
        return cls(distinct, None if (weights == 1.0).all() else weights, place, share)

    def weights_of(self, places: Array) -> Array | None:
        """The weights of some of the distinct rows."""
        return None if self.weights is None else self.weights[places]

    def holding(self, chosen: Array) -> Array:
        """The distinct rows of which a copy is chosen, given N booleans."""
        return np.unique(self.place[chosen])

    def spread(self, values: Array) -> Array:
        """The values of the distinct rows, for all rows."""
        return values[self.place]

    def solution(self, trusted: Array, solution: QPSolution) -> tuple[Array, QPSolution]:
        """The rows that the trusted distinct rows stand for, and the solution with each row's part of α."""
        places = np.flatnonzero(np.isin(self.place, trusted) & (self.share > 0))
        index = np.searchsorted(trusted, self.place[places])
        share = self.share[places]
        return places, replace(solution, alpha=solution.alpha[index] * share, upper=solution.upper[index] * share)
