"""The residual: what the projection discards of a row, in units of the scatter that is usual outside the subspace.

As in probabilistic PCA, the discarded directions share one scatter ρ, while the kept ones have S_Q. A row gets one more
squared length, r²/ρ, where r² is what lies outside the subspace plus what the features themselves miss of it. A length
has no sign: rows equally far outside lie there in different directions, and the middle between them is inside. So the
sphere's centre stays in the subspace, and r²/ρ is a linear term of the dual, k_i = ‖z_i‖² + r_i²/ρ
(``docs/method.md``, section 5).
"""

from __future__ import annotations

import numpy as np

from pyod_gessvdd.linalg import RELATIVE_ZERO, gram

Array = np.ndarray

#: Below this share of ‖φ‖² the difference ‖φ‖² − ‖Qφ‖² has lost too many digits, and φ − QᵀQφ is formed.
CANCELLED = 1e-5
#: The largest leverage of a row: beyond it, what the row would be without itself is anybody's guess.
MOST_LEVERAGE = 0.99
#: The power of 1/(1 − h) by which a training row's score grows when the row is left out of a subspace. It is one if
#: the subspace stays and every direction is whitened by its own scatter; here directions turn away, and those that are
#: discarded share one scatter. Measured as the share of new normal rows above the score that a tenth of the training
#: rows exceed, on 11 sets: 0.64 with 0, 0.11 with 3/4, 0.05 with 1.
LEFT_OUT_POWER = 0.75


def residual_scale(Q: Array, S_x: Array | None, ridge: float) -> float:
    """1/ρ, or 0 where the graph leaves no scatter outside Q. Without a graph nothing is whitened, and ρ = 1.

    The ridge, a share of the mean scatter inside, is added to ρ as the whitening adds it to S_Q.

    Parameters
    ----------
    Q : ndarray of shape (d, F)
        The kept directions, orthonormal rows.
    S_x : ndarray of shape (F, F) or None
        The graph's scatter; None without a graph.
    ridge : float
        See :func:`~pyod_gessvdd.subspace.whiten`.
    """
    if S_x is None:
        return 1.0
    inside = float(np.einsum("ij,ij->", Q @ S_x, Q))
    total = float(np.trace(S_x))
    # A constant column is not a direction in which rows could have differed.
    variances = np.diag(S_x)
    n_outside = int(np.count_nonzero(variances > RELATIVE_ZERO * variances.max(initial=0.0))) - len(Q)
    # With nothing outside, a direction not seen in training may have the smallest scatter inside.
    rho = (total - inside) / n_outside if n_outside > 0 else float(np.linalg.eigvalsh(Q @ S_x @ Q.T)[0])
    # Relative to the mean scatter: a difference of traces is never exactly zero.
    if rho <= RELATIVE_ZERO * total / len(S_x):
        return 0.0
    return 1.0 / (rho + ridge * inside / len(Q))


def discarded(Phi: Array, inside: Array, Q: Array) -> Array:
    """‖φ − QᵀQφ‖² of each row, of shape (n,).

    Parameters
    ----------
    Phi : ndarray of shape (n, F)
        Centred features.
    inside : ndarray of shape (n, d)
        Qφ.
    Q : ndarray of shape (d, F)
        Orthonormal rows.
    """
    if Q.shape[0] == Q.shape[1]:
        return np.zeros(len(Phi))
    norms = np.einsum("ij,ij->i", Phi, Phi)
    squares = norms - np.einsum("ij,ij->i", inside, inside)
    near = np.flatnonzero(squares < CANCELLED * norms)
    if near.size:
        outside = Phi[near] - inside[near] @ Q
        squares[near] = np.einsum("ij,ij->i", outside, outside)
    return squares


def leverage(Z: Array, residual2: Array, sample_weight: Array | None = None) -> Array:
    """How much each training row pulls the metric towards itself: h_i = ‖z_i‖²/N, below one.

    The whitening is learnt from the rows that it is then applied to. A row in a direction of its own causes the scatter
    there itself, and looks closer than it would have looked had it been left out. For s = φᵀ(S + ρI)⁻¹φ with
    S = ΦᵀΦ/N, the Sherman–Morrison formula gives what it would have been: s/(1 − s/N). Where the graph's scale is not
    that of the covariance, the unit is the largest scatter in the subspace.

    Parameters
    ----------
    Z : ndarray of shape (N, d)
        The whitened training rows, around their mean.
    residual2 : ndarray of shape (N,)
        r²/ρ.
    sample_weight : ndarray of shape (N,), optional
        How often each row counts.
    """
    weighted = Z if sample_weight is None else Z * np.sqrt(sample_weight)[:, None]
    unit = float(np.linalg.eigvalsh(gram(weighted, np.zeros(Z.shape[1])))[-1])  # N times the largest scatter
    return leverage_of(Z, residual2, unit)


def leverage_of(Z: Array, residual2: Array | None, unit: float) -> Array:
    """:func:`leverage` of some rows, with the unit taken from all rows: N times the largest scatter."""
    share = np.einsum("ij,ij->i", Z, Z) + (0.0 if residual2 is None else residual2)
    return np.minimum(share / unit, MOST_LEVERAGE) if unit > 0 else np.zeros(len(Z))


def left_out_factor(leverage: Array, power: float) -> Array:
    """The factor by which each training row's score grows when the row is left out.

    Parameters
    ----------
    leverage : ndarray of shape (N,)
        h.
    power : float
        1 in the whole space, where 1/(1 − h) is exact; :data:`LEFT_OUT_POWER` in a subspace.
    """
    return (1.0 - leverage) ** -power
