"""The Laplacians of the paper as dense N × N matrices."""

import numpy as np


def degree_laplacian(A):
    """L = D − A with [D]_ii = Σ_{j≠i} [A]_ij (eq. ``graph``)."""
    N = len(A)
    D = np.zeros((N, N))
    for i in range(N):
        D[i, i] = sum(A[i, j] for j in range(N) if j != i)
    return D - A * (1 - np.eye(N))


def identity(N):
    """L_x = I (GESSVDD-I)."""
    return np.eye(N)


def total(N):
    """L_t = I − 11ᵀ/N (eq. ``st``)."""
    ones = np.ones((N, 1))
    return np.eye(N) - ones @ ones.T / N


def pca(N):
    """The graph with [A]_ij = 1/N² for i ≠ j ("Framework analysis")."""
    return degree_laplacian(np.full((N, N), 1 / N**2))


def within(labels):
    """L_w = I − Σ_c 1_c 1_cᵀ / N_c (eq. ``sw``)."""
    L = np.eye(len(labels))
    for c in np.unique(labels):
        one_c = (labels == c).astype(float)[:, None]
        L -= one_c @ one_c.T / one_c.sum()
    return L


def between(labels):
    """L_b = Σ_c N_c (1_c/N_c − 1/N)(1_c/N_c − 1/N)ᵀ (eq. ``sb``)."""
    N = len(labels)
    L = np.zeros((N, N))
    for c in np.unique(labels):
        one_c = (labels == c).astype(float)[:, None]
        N_c = one_c.sum()
        difference = one_c / N_c - np.ones((N, 1)) / N
        L += N_c * difference @ difference.T
    return L


def knn_adjacency(X, n_neighbors):
    """[A]_ij = 1 if x_i ∈ N_j or x_j ∈ N_i (eq. ``kNNscatter``), by all pairwise distances."""
    N = X.shape[1]
    nearest = []
    for i in range(N):
        distances = [np.linalg.norm(X[:, i] - X[:, j]) if j != i else np.inf for j in range(N)]
        nearest.append(set(np.argsort(distances)[:n_neighbors]))
    return np.array([[float(i in nearest[j] or j in nearest[i]) for j in range(N)] for i in range(N)])


def knn(X, n_neighbors):
    """L_kNN = D_kNN − A_kNN."""
    return degree_laplacian(knn_adjacency(X, n_neighbors))


def alpha_adjacency(alpha):
    """[A_α]_ij = α_i α_j for i ≠ j, zero on the diagonal ("Framework analysis")."""
    N = len(alpha)
    return np.array([[alpha[i] * alpha[j] if i != j else 0.0 for j in range(N)] for i in range(N)])


def alpha_laplacian(alpha):
    """L_α = diag(α) − α αᵀ (eq. ``Jterm``)."""
    return np.diag(alpha) - np.outer(alpha, alpha)


def alpha_scatter(X, alpha):
    """S_α = Σ α_i (x_i − a)(x_i − a)ᵀ with a = Σ α_i x_i ("Framework analysis")."""
    a = sum(alpha[i] * X[:, i] for i in range(X.shape[1]))
    return sum(alpha[i] * np.outer(X[:, i] - a, X[:, i] - a) for i in range(X.shape[1]))


def schur_complement(L, nodes):
    """L_ss − L_sr L_rr⁻¹ L_rs for the nodes s and the rest r: the Kron reduction of L onto the nodes."""
    rest = np.setdiff1d(np.arange(len(L)), nodes)
    return L[np.ix_(nodes, nodes)] - L[np.ix_(nodes, rest)] @ np.linalg.solve(
        L[np.ix_(rest, rest)], L[np.ix_(rest, nodes)]
    )
