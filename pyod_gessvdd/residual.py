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
        if self.Q.shape[0] < self.Q.shape[1]:
            outside = self.outside(Phi)
            squared += np.einsum("ij,ij->i", outside, outside)
        return np.sqrt(squared) * self.scale

    def outside(self, Phi: Array) -> Array:
        """φ − QᵀQφ of each row, around the mean: the part that the projection discards, of shape (n, F)."""
        outside = Phi.copy() if self.mean is None else Phi - self.mean
        # Not ‖φ‖² − ‖Qφ‖²: the difference of two large numbers would leave only half of the digits of r.
        outside -= (outside @ self.Q.T) @ self.Q
        return outside

    def contributions(self, Phi: Array, center: float) -> Array:
        """What each feature adds to (r/√ρ − center)², of shape (n, F), for features that miss nothing of a row.

        Beyond the centre, feature j has the share y_j e_j / r² of it, with y the row around the mean and e the part of
        it outside the subspace: the integral of the gradient from where the ray from the mean to the row has an
        ordinary residual, to the row. A row too close to the subspace is no feature's doing: all have equal shares.
        """
        outside = self.outside(Phi)
        squared = np.einsum("ij,ij->i", outside, outside)
        excess = np.sqrt(squared) * self.scale - center
        shares = np.full(Phi.shape, 1.0 / Phi.shape[1])
        beyond = excess > 0
        deviation = Phi[beyond] if self.mean is None else Phi[beyond] - self.mean
        shares[beyond] = deviation * outside[beyond] / squared[beyond, None]
        return excess[:, None] ** 2 * shares

    def gradient(self, Phi: Array, coordinate: Array) -> tuple[Array, Array]:
        """How r/√ρ changes with the features, of shape (n, F), and with what they miss, (n,); 0 where r is 0."""
        # r is coordinate/scale, so that dr = (outside · dφ + d missed / 2) / r
        factor = np.divide(self.scale**2, coordinate, out=np.zeros_like(coordinate), where=coordinate > 0)
        return factor[:, None] * self.outside(Phi), factor / 2


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
