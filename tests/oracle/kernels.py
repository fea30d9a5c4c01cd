"""The non-linear projection trick with explicit centring matrices and pseudo-inverses."""

import numpy as np


def centered_gram(K):
    """K̂ = (I − 11ᵀ/N) K (I − 11ᵀ/N) (eq. ``centerK``)."""
    N = len(K)
    H = np.eye(N) - np.ones((N, N)) / N
    return H @ K @ H


def centered_kernel_vector(k, K):
    """k̂ = (I − 11ᵀ/N)[k − K1/N] (eq. ``centerKtest``)."""
    N = len(K)
    return (np.eye(N) - np.ones((N, N)) / N) @ (k - K @ np.ones(N) / N)


def npt_features(K_hat, tolerance=1e-10):
    """Φ = Λ^½ Uᵀ with the positive eigenvalues, largest first (eqs. ``eigen`` and ``nptdata``): of shape (F, N)."""
    values, U = np.linalg.eigh(K_hat)
    order = [k for k in np.argsort(-values) if values[k] > tolerance * values.max()]
    return np.diag(np.sqrt(values[order])) @ U[:, order].T


def npt_test_features(Phi, k_hat):
    """φ = (Φᵀ)⁺ k̂ (eq. ``npttest``)."""
    return np.linalg.pinv(Phi.T) @ k_hat


def residual(kxx, k, K, phi):
    """k̂(x, x) − ‖φ(x)‖², with k̂(x, x) = k(x, x) − 2 Σ_j k(x, x_j)/N + Σ_jl k(x_j, x_l)/N²."""
    return kxx - 2 * k.mean() + K.mean() - phi @ phi
