"""The residual: what the projection discards of a row, as one more coordinate of the sphere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyod_gessvdd.graph import RELATIVE_ZERO

Array = np.ndarray


@dataclass(frozen=True)
class ResidualAxis:
    """The coordinate r/√ρ with r² = ‖φ − QᵀQφ‖² + what the features themselves miss of the row.

    The view of probabilistic PCA: the discarded directions share one scatter ρ, as the kept ones have S_Q. Without a
    graph nothing is whitened and ρ = 1: with all directions kept, ‖z − u‖² is the distance in the kernel's whole space.

    Attributes
    ----------
    Q : ndarray of shape (d, F)
        The kept directions, orthonormal rows.
    mean : ndarray of shape (F,) or None
        The training mean of the features; None for features that are centred already.
    scale : float
        1/√ρ, or 0 where the graph leaves no scatter outside Q.
    """

    Q: Array
    mean: Array | None
    scale: float

    @classmethod
    def learn(cls, Q: Array, S_x: Array | None) -> ResidualAxis:
        """The axis beside Q, for centred features, with the mean scatter that the graph leaves outside Q as ρ."""
        return cls(Q, None, _inverse_root(_outside_scatter(Q, S_x), S_x))

    def coordinate(self, Phi: Array, missed: Array) -> Array:
        """r/√ρ of each row; ``missed`` is the kernel's own residual, of shape (n,)."""
        squared = np.array(missed)
        d, n_features = self.Q.shape
        if d < n_features:
            outside = Phi.copy() if self.mean is None else Phi - self.mean
            # Not ‖φ‖² − ‖Qφ‖²: the difference of two large numbers would leave only half of the digits of r.
            outside -= (outside @ self.Q.T) @ self.Q
            squared += np.einsum("ij,ij->i", outside, outside)
        return np.sqrt(squared) * self.scale


def _outside_scatter(Q: Array, S_x: Array | None) -> float:
    """ρ, the mean scatter outside Q; with nothing outside, the smallest scatter inside."""
    d, n_features = Q.shape
    if S_x is None:
        return 1.0
    if d == n_features:
        return float(np.linalg.eigvalsh(Q @ S_x @ Q.T)[0])
    return (float(np.trace(S_x)) - float(np.einsum("ij,ij->", Q @ S_x, Q))) / (n_features - d)


def _inverse_root(rho: float, S_x: Array | None) -> float:
    # Relative to the mean scatter: a difference of traces is never exactly zero.
    smallest = 0.0 if S_x is None else RELATIVE_ZERO * float(np.trace(S_x)) / len(S_x)
    return 1.0 / float(np.sqrt(rho)) if rho > smallest else 0.0
