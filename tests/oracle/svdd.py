"""SSVDD, ESSVDD and Algorithm 1 as their papers write them, with LIBSVM as an independent solver of the SVDD dual."""

import numpy as np
import scipy.linalg
import scipy.optimize
from sklearn.svm import OneClassSVM

from tests.oracle.graphs import alpha_laplacian
from tests.oracle.updates import gradient


def solve_dual(squared_distances, C):
    """The α that maximises Σ α_i α_j ‖z_i − z_j‖²/2 (eq. ``LL`` with Σα = 1), 0 ≤ α ≤ C."""
    N = len(squared_distances)
    svm = OneClassSVM(kernel="precomputed", nu=1 / (N * C), tol=1e-12).fit(-squared_distances / 2)
    alpha = np.zeros(N)
    alpha[svm.support_] = svm.dual_coef_[0]
    return alpha / alpha.sum()


def squared_distances_to_center(Y, M, alpha):
    """(y_i − a)ᵀ M (y_i − a) of the columns of Y, a = Σ α_i y_i."""
    a = Y @ alpha
    return np.array([(y - a) @ M @ (y - a) for y in Y.T])


def squared_radius(distances, alpha, C):
    """R², the squared distance of the support vector that is farthest from both bounds (eq. ``rsquare``)."""
    s = np.argmax(np.minimum(alpha, C - alpha))
    if not 1e-4 * C < alpha[s] < (1 - 1e-4) * C:
        raise ValueError("no support vector with 0 < α < C: choose a C such that 1/C is not an integer")
    return distances[s]


def principal_start(X, d):
    """The d leading eigenvectors of the covariance as rows of Q (Algorithm 1, first line)."""
    _, vectors = np.linalg.eigh(np.cov(X))
    return vectors[:, ::-1][:, :d].T


def _dual_in_subspace(Y, M, C):
    differences = Y.T[:, None, :] - Y.T[None, :, :]
    return solve_dual(np.einsum("ijk,kl,ijl->ij", differences, M, differences), C)


def _orthogonalize(Q):
    return np.linalg.qr(Q.T)[0].T


def _scores(Q, M, X, X_new, alpha, C):
    distances = squared_distances_to_center(Q @ X, M, alpha)
    a = Q @ X @ alpha
    return np.array([(Q @ x - a) @ M @ (Q @ x - a) for x in X_new.T]) / squared_radius(distances, alpha, C)


def ssvdd(X, X_new, d, C, eta, n_iter):
    """SSVDD without ψ: the SVDD of Qx, and Q ← Q − η ΔL with L of eq. ``langSSVDD`` (eq. ``Quopdate``)."""
    Q = principal_start(X, d)
    for _ in range(n_iter):
        alpha = _dual_in_subspace(Q @ X, np.eye(d), C)
        Delta = 2 * Q @ X @ (np.diag(alpha) - np.outer(alpha, alpha)) @ X.T
        Q = _orthogonalize(Q - eta * Delta)
    return _scores(Q, np.eye(d), X, X_new, _dual_in_subspace(Q @ X, np.eye(d), C), C)


def essvdd(X, X_new, d, C, eta, n_iter):
    """ESSVDD: distances (Qx − a)ᵀE⁻¹(Qx − a) with E = QXXᵀQᵀ (eqs. ``primalobj_gesvdd`` and ``Eessvdd``)."""
    Q = principal_start(X, d)
    for _ in range(n_iter):
        E_inv = np.linalg.inv(Q @ X @ X.T @ Q.T)
        alpha = _dual_in_subspace(Q @ X, E_inv, C)
        S_alpha = X @ alpha_laplacian(alpha) @ X.T
        Q = _orthogonalize(Q - eta * gradient(Q, X @ X.T, S_alpha))
    E_inv = np.linalg.inv(Q @ X @ X.T @ Q.T)
    return _scores(Q, E_inv, X, X_new, _dual_in_subspace(Q @ X, E_inv, C), C)


def gessvdd(X, X_new, L_x, d, C, n_iter, update):
    """Algorithm 1 with a dense L_x (None: S_x = I); ``update(Q, S_x, S_alpha, alpha)`` is the sub-algorithm."""
    Q = principal_start(X, d)
    S_x = None if L_x is None else X @ L_x @ X.T
    for iteration in range(n_iter + 1):
        S_Q = np.eye(d) if S_x is None else Q @ S_x @ Q.T
        whitening = np.linalg.inv(scipy.linalg.sqrtm(S_Q).real)
        Z = whitening @ Q @ X
        alpha = _dual_in_subspace(Z, np.eye(d), C)
        if iteration < n_iter:
            Q = _orthogonalize(update(Q, S_x, X @ alpha_laplacian(alpha) @ X.T, alpha))
    return _scores(whitening @ Q, np.eye(d), X, X_new, alpha, C)


def signed_dual(K, linear, upper, outliers):
    """β that maximises Σ β_i k_i − βᵀKβ with Σβ = 1, 0 ≤ β ≤ u for rows and −u ≤ β ≤ 0 for outliers, by SLSQP."""
    bounds = [(-u, 0.0) if outlier else (0.0, u) for u, outlier in zip(upper, outliers, strict=True)]
    start = np.where(outliers, 0.0, 1.0 / np.count_nonzero(~outliers))
    found = scipy.optimize.minimize(
        lambda beta: beta @ K @ beta - beta @ linear,
        start,
        jac=lambda beta: 2 * K @ beta - linear,
        bounds=bounds,
        constraints={"type": "eq", "fun": lambda beta: beta.sum() - 1, "jac": np.ones_like},
        method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-15},
    )
    return found.x, -found.fun


def signed_primal(distances, R2, upper, outliers):
    """R² + Σ u_i max(0, d_i − R²) over rows + Σ u_l max(0, R² − d_l) over outliers (Tax and Duin, 2004)."""
    total = R2
    for d, u, outlier in zip(distances, upper, outliers, strict=True):
        total += u * max(0.0, R2 - d if outlier else d - R2)
    return total
