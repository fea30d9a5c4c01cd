"""The description in the whole of a kernel's space with explicit features, inverse roots and rows really left out.

Unlike its neighbours it has the samples in rows: Φ is (N, F).
"""

import numpy as np


def features(K):
    """Φ with ΦΦᵀ = K, by a full eigendecomposition."""
    values, U = np.linalg.eigh(K)
    kept = values > 1e-12 * values.max()
    return U[:, kept] * np.sqrt(values[kept])


def new_features(Phi, K_new):
    """φ(x) with Φφ(x) = k_x, for each row k_x of K_new: a new row's part in the span of the training rows."""
    return np.array([np.linalg.lstsq(Phi, k, rcond=None)[0] for k in K_new])


def outside_span(k_xx, phi):
    """k(x, x) − ‖φ(x)‖²: a row's squared part outside the span."""
    return np.array([max(kxx - p @ p, 0.0) for kxx, p in zip(k_xx, phi, strict=True)])


def scatter(Phi, weights):
    """S = Σ w_i φ_i φ_iᵀ."""
    S = np.zeros((Phi.shape[1], Phi.shape[1]))
    for weight, phi in zip(weights, Phi, strict=True):
        S += weight * np.outer(phi, phi)
    return S


def usual_scatter(S):
    """Tr(S²)/Tr(S)."""
    return np.trace(S @ S) / np.trace(S)


def whitening(S, lam):
    """(S + λI)^{-1/2}."""
    values, U = np.linalg.eigh(S)
    return U @ np.diag(1.0 / np.sqrt(values + lam)) @ U.T


def lengths(Phi, S, lam):
    """φᵀ(S + λI)⁻¹φ of each row."""
    M = np.linalg.inv(S + lam * np.eye(Phi.shape[1]))
    return np.array([phi @ M @ phi for phi in Phi])


def left_out(Phi, weights, alpha, lam):
    """For each row the squared length in the metric that was learnt without one copy of it, and its squared distance.

    λ stays as it was, and so does ‖u‖², but the centre has lost what one copy of the row gave it.
    """
    M = np.linalg.inv(scatter(Phi, weights) + lam * np.eye(Phi.shape[1]))
    center = Phi.T @ alpha
    lengths, distances = np.empty(len(Phi)), np.empty(len(Phi))
    for i, phi in enumerate(Phi):
        copy = min(1.0, weights[i])
        fewer = weights - copy * (np.arange(len(Phi)) == i)
        M_without = np.linalg.inv(scatter(Phi, fewer) + lam * np.eye(Phi.shape[1]))
        others = center - alpha[i] * copy / weights[i] * phi
        lengths[i] = phi @ M_without @ phi
        distances[i] = lengths[i] - 2 * phi @ M_without @ others + center @ M @ center
    return lengths, distances


def regression(K, targets, ridges, K_new):
    """The kernel ridge regression of the targets with a ridge for every row, at new rows."""
    return K_new @ np.linalg.inv(K + np.diag(ridges)) @ targets
