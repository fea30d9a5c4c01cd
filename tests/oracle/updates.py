"""The criterion and the paper's three sub-algorithms, with explicit inverses and dense eigenproblems."""

import numpy as np
import scipy.linalg


def criterion(Q, S_x, S_alpha):
    """Tr((Q S_x Qᵀ)⁻¹ Q S_α Qᵀ) (eq. ``Ltrace``); with S_x None, Tr(Q S_α Qᵀ) (eq. ``langSSVDD``)."""
    if S_x is None:
        return np.trace(Q @ S_alpha @ Q.T)
    return np.trace(np.linalg.inv(Q @ S_x @ Q.T) @ (Q @ S_alpha @ Q.T))


def gradient(Q, S_x, S_alpha):
    """ΔL = 2 S⁻¹ Q S_α − 2 S⁻¹ Q S_α Qᵀ S⁻¹ Q S_x (Sub-algorithm 1); with S_x None, 2 Q S_α."""
    if S_x is None:
        return 2 * Q @ S_alpha
    S_inv = np.linalg.inv(Q @ S_x @ Q.T)
    return 2 * S_inv @ Q @ S_alpha - 2 * S_inv @ Q @ S_alpha @ Q.T @ S_inv @ Q @ S_x.T


def finite_differences(function, Q, step=1e-6):
    """Central differences of a function of a matrix, entry by entry."""
    slope = np.zeros_like(Q)
    for index in np.ndindex(*Q.shape):
        ahead, behind = Q.copy(), Q.copy()
        ahead[index] += step
        behind[index] -= step
        slope[index] = (function(ahead) - function(behind)) / (2 * step)
    return slope


def spectral(S_x, S_alpha, d, direction):
    """S_α q = υ S_x q (Sub-algorithm 2): the d smallest positive or largest υ, eigenvectors as rows."""
    values, vectors = scipy.linalg.eig(S_alpha, S_x)
    return _select(values, vectors, d, direction)[1].T


def spectral_regression(X, L_x, alpha, d, direction, eta):
    """Sub-algorithm 3 with N × N matrices: L_α t = υ L_x t as L_x⁺ L_α t = υ t, then Q = TᵀXᵀ(XXᵀ + ηI)⁻¹.

    Returns the chosen eigenvalues too: where they are tied, T is not determined.
    """
    L_alpha = np.diag(alpha) - np.outer(alpha, alpha)
    values, vectors = scipy.linalg.eig(np.linalg.pinv(L_x, rcond=1e-10, hermitian=True) @ L_alpha)
    chosen, T = _select(values, vectors, d, direction)
    return T.T @ X.T @ np.linalg.inv(X @ X.T + eta * np.eye(len(X))), chosen


def _select(values, vectors, d, direction):
    values, vectors = values.real, vectors.real
    positive = [k for k in np.argsort(values) if values[k] > 1e-9 * values.max()]
    chosen = positive[:d] if direction == "min" else positive[::-1][:d]
    return values[chosen], vectors[:, chosen]


def newton_ssvdd(Q, S, eta):
    """Q + η ΔL H⁺ with ΔL = 2QS and the Hessian H = 2S of every row (Newton method-based S-SVDD); η < 0 goes down."""
    return Q + eta * (np.linalg.pinv(2 * S, rcond=1e-10, hermitian=True) @ (2 * Q @ S).T).T
