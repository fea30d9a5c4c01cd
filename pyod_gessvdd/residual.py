"""The residual: what the projection discards of a row, as one more coordinate of the sphere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pyod_gessvdd.dual import QPSolution
from pyod_gessvdd.linalg import RELATIVE_ZERO, gram

Array = np.ndarray

#: The largest leverage of a row: beyond it, what the row would be without itself is anybody's guess.
MOST_LEVERAGE = 0.99
#: The power of 1/(1 − h) by which a training row's score grows when the row is left out. One holds if the subspace
#: stays and every direction is whitened by its own scatter; here directions turn away, and what is discarded shares
#: one scatter. Measured as the share of new normal rows above the score that a tenth of the training rows exceed, on
#: 11 sets: 0.64 with 0, 0.11 with 3/4, 0.05 with 1.
LEFT_OUT_POWER = 0.75


@dataclass(frozen=True)
class ResidualAxis:
    """The coordinate r/√ρ with r² = ‖φ − QᵀQφ‖² + what the features themselves miss of the row.

    The view of probabilistic PCA: the discarded directions share one scatter ρ, as the kept ones have S_Q. Without a
    graph nothing is whitened and ρ = 1: with all directions kept, ‖z − u‖² is the distance in the kernel's whole space.

    A length has no side: rows that lie as far outside lie there in different directions, and the middle between them
    is inside. So the sphere is solved for every row at +r/√ρ and at −r/√ρ (:func:`solve_both_sides`), which puts its
    centre into the subspace. With the rows on one side only, the centre would lie where rows usually are, and a row
    without any residual would be an outlier (mean ROC-AUC over six ADBench sets, trained on clean rows, with 100
    components: 0.83 instead of 0.86).

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
    def learn(cls, Q: Array, S_x: Array | None, ridge: float) -> ResidualAxis:
        """The axis beside Q, for centred features, with the mean scatter that the graph leaves outside Q as ρ.

        The ridge, a share of the mean scatter inside, is added to ρ as the whitening adds it to S_Q.
        """
        rho = _outside_scatter(Q, S_x)
        if S_x is not None and rho > _nothing(S_x):
            rho += ridge * float(np.einsum("ij,ij->", Q @ S_x, Q)) / len(Q)
        return cls(Q, None, 1.0 / float(np.sqrt(rho)) if rho > _nothing(S_x) else 0.0)

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

    def contributions(self, Phi: Array) -> Array:
        """What each feature adds to r²/ρ, of shape (n, F), for features that miss nothing of a row.

        y_j e_j / ρ, with y the row around the mean and e the part of it outside the subspace: the Shapley value of this
        quadratic form with the mean as the reference. (The parts e_j²/ρ of the same sum would share a feature's move
        out with all that are correlated with it.)
        """
        deviation = Phi if self.mean is None else Phi - self.mean
        return self.scale**2 * deviation * self.outside(Phi)

    def gradient(self, Phi: Array, coordinate: Array) -> tuple[Array, Array]:
        """How r/√ρ changes with the features, of shape (n, F), and with what they miss, (n,); 0 where r is 0."""
        # r is coordinate/scale, so that dr = (outside · dφ + d missed / 2) / r
        factor = np.divide(self.scale**2, coordinate, out=np.zeros_like(coordinate), where=coordinate > 0)
        return factor[:, None] * self.outside(Phi), factor / 2


def _outside_scatter(Q: Array, S_x: Array | None) -> float:
    """ρ, the mean scatter outside Q; with nothing outside, the smallest scatter inside."""
    if S_x is None:
        return 1.0
    # A constant column is no direction that rows could have differed in.
    variances = np.diag(S_x)
    outside = int(np.count_nonzero(variances > RELATIVE_ZERO * variances.max(initial=0.0))) - len(Q)
    if outside <= 0:
        return float(np.linalg.eigvalsh(Q @ S_x @ Q.T)[0])
    return (float(np.trace(S_x)) - float(np.einsum("ij,ij->", Q @ S_x, Q))) / outside


def _nothing(S_x: Array | None) -> float:
    # Relative to the mean scatter: a difference of traces is never exactly zero.
    return 0.0 if S_x is None else RELATIVE_ZERO * float(np.trace(S_x)) / len(S_x)


def leverage(Z: Array) -> Array:
    """How much each training row pulls the metric towards itself: h_i = ‖z_i‖²/N, below one.

    The whitening is learnt from the rows that it is then applied to. A row in a direction of its own has a scatter
    there that is its own doing, and looks closer than it would have looked had it not been there. For
    s = φᵀ(S + ρI)⁻¹φ with S = ΦᵀΦ/N the formula of Sherman and Morrison tells what it would have been:
    s/(1 − s/N). Where the graph's scale is not that of the covariance, the unit is the largest scatter in the subspace.

    Parameters
    ----------
    Z : ndarray of shape (N, d + 1)
        The whitened training rows, around their mean, with the residual's coordinate.
    """
    inside = Z[:, :-1]
    unit = float(np.linalg.eigvalsh(gram(inside, np.zeros(inside.shape[1])))[-1])  # N times the largest scatter
    share = np.einsum("ij,ij->i", Z, Z) / unit if unit > 0 else np.zeros(len(Z))
    return np.minimum(share, MOST_LEVERAGE)


def left_out_factor(leverage: Array) -> Array:
    """By how much the score of each training row grows when the row is left out."""
    return (1.0 - leverage) ** -LEFT_OUT_POWER


def solve_both_sides(
    solve: Callable[[Array, Array, Array | None], QPSolution], Z: Array, upper: Array, last_alpha: Array | None
) -> QPSolution:
    """The sphere around rows that stand at +r/√ρ and at −r/√ρ, as a solution for N rows.

    Parameters
    ----------
    solve : callable
        From points, bounds of α and the last α to the certified sphere.
    Z : ndarray of shape (2N, d + 1)
        The rows and, after them, the rows mirrored; may be overwritten.
    upper : ndarray of shape (N,)
        The bounds of α; each side has half of it.
    last_alpha : ndarray of shape (N,) or None
        The α of a related problem.
    """
    N = len(upper)
    sphere = solve(Z, np.tile(upper / 2, 2), None if last_alpha is None else np.tile(last_alpha / 2, 2))
    # The two sides' α may be exchanged, so their mean is as good; with it the centre is in the subspace.
    center = np.append(sphere.center[:-1], 0.0)
    return replace(sphere, alpha=sphere.alpha[:N] + sphere.alpha[N:], upper=upper, center=center)
