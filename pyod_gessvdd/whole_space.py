"""The description in the whole of a kernel's space: no subspace and no updates, but one Cholesky factor.

With L_x = I and every direction kept, S_x = Φᵀ diag(w) Φ, and a row's squared length in the metric (S_x + λI)⁻¹, the part
outside the span of the training rows included, is

    ‖z(x)‖² = φ(x)ᵀ(S_x + λI)⁻¹φ(x) = [k(x, x) − k_xᵀ W A⁻¹ W k_x] / λ,      A = W K W + λI,  W = diag(√w),

without an eigendecomposition. Inner products have the same form. So the SVDD of the rows z_i, with its centre
u = Σ α_j z_j and its radius, is solved from the N × N matrix W⁻¹(I − λA⁻¹)W⁻¹, and with b = W A⁻¹ W⁻¹ α

    ‖z(x) − u‖² = ‖z(x)‖² − 2 k_xᵀ b + ‖u‖².

Had row i been there once less, p = ‖z_i‖² would be p/(1 − p) (Sherman and Morrison): the training rows' scores as if left
out are exact, up to the centre. Without a graph nothing is whitened and ‖z(x)‖² = k(x, x): this is SVDD.

Many rows share the span of m landmarks (Nyström): φ(x) = C⁻¹k_m(x) with CCᵀ = K_m, and what the landmarks miss of a row
lies in a direction of its own, whose scatter is λ alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from pyod_gessvdd.boundaries.sphere import Sphere
from pyod_gessvdd.components.contracts import QPBackend
from pyod_gessvdd.dual import QPSolution
from pyod_gessvdd.kernels.npt import PairwiseKernel
from pyod_gessvdd.linalg import gram, map_blocks, row_blocks
from pyod_gessvdd.preprocessing import Scaling
from pyod_gessvdd.qp import solve_in_place, solve_kernel_svdd

Array = np.ndarray

#: What is added to the diagonal of a kernel matrix to factor it, as a share of its mean.
JITTER = 1e-12
#: The coordinates that ``transform`` gives, in the directions of largest scatter.
MAX_COORDINATES = 300
#: The least share of itself that a row leaves when it is left out: beyond, rounding decides.
LEAST_LEFT = 1e-12


@dataclass(frozen=True, eq=False)
class WholeSpace:
    """The sphere in the whole of a kernel's space.

    score(x) = [scale · k(x, x) − ‖T k(x, landmarks)‖² − 2 k(x, landmarks)·b + ‖u‖²] / R².

    Attributes
    ----------
    scaling : Scaling
        From rows to scaled rows.
    kernel : PairwiseKernel
        The prepared kernel.
    landmarks : ndarray of shape (m, D)
        Scaled rows: all that the description was learnt from, or those that span it.
    scale : float
        1/λ, or 1 without a graph.
    factor : ndarray of shape (m, m) or None
        T, lower triangular; None without a graph.
    pull : ndarray of shape (m,)
        b.
    center_norm2 : float
        ‖u‖².
    radius2 : float
        R².
    """

    scaling: Scaling
    kernel: PairwiseKernel
    landmarks: Array
    scale: float
    factor: Array | None
    pull: Array
    center_norm2: float
    radius2: float

    has_residual = True

    @cached_property
    def unit(self) -> float:
        """R², or rounding where that is larger: what can divide."""
        return max(self.radius2, np.finfo(float).eps ** 2 * (self.center_norm2 or 1.0))

    def scores(self, X: Array) -> Array:
        """dist²/R² of each row: 1 on the sphere, more outside, of shape (n,)."""
        return map_blocks(lambda block: self.scores_of_scaled(self.scaling.apply(block)), X, self.row_cost(X.shape[1]))

    def row_cost(self, n_columns: int) -> int:
        """The largest number of intermediate values per row of so many columns."""
        return max(n_columns * self.scaling.n_views, len(self.landmarks))

    def scores_of_scaled(self, scaled: Array) -> Array:
        """The same for one block of scaled rows."""
        K = self.kernel.gram(scaled, self.landmarks)
        squares = self.kernel.gram_diagonal(scaled) * self.scale
        squares += self.center_norm2 - 2.0 * (K @ self.pull)
        if self.factor is not None:
            # A triangular product costs half of a full one.
            K = scipy.linalg.blas.dtrmm(1.0, self.factor.T, K.T, lower=0, trans_a=1, overwrite_b=1)
            squares -= np.einsum("ij,ij->j", K, K)
        return np.maximum(squares, 0.0) / self.unit

    def gradient_of_scaled(self, scaled: Array) -> Array:
        """How each score changes with the scaled row, of shape (n, D), for a differentiable kernel."""
        K = self.kernel.gram(scaled, self.landmarks)
        by_kernel = np.broadcast_to(-2.0 * self.pull, K.shape)
        if self.factor is not None:
            by_kernel = by_kernel - 2.0 * (K @ self.factor.T) @ self.factor
        return self.kernel.gram_pullback(scaled, self.landmarks, K, by_kernel / self.unit)

    # Coordinates, for pictures ------------------------------------------------------------------------------------

    @cached_property
    def _coordinates(self) -> tuple[Array, Array]:
        """From k(x, landmarks) to coordinates in the directions of largest scatter, of shape (m, k), and u there.

        In φ(x) = C⁻¹k(x, landmarks) the metric is scale · I − CᵀTᵀTC, and its smallest eigenvalues h belong to the
        directions of largest scatter.
        """
        K = self.kernel.gram(self.landmarks, self.landmarks)
        C = cholesky(K)
        inner = C if self.factor is None else self.factor @ C
        first = max(len(K) - MAX_COORDINATES, 0)
        values, V = scipy.linalg.eigh(inner.T @ inner, subset_by_index=[first, len(K) - 1])
        lengths = np.full(len(values), self.scale) if self.factor is None else np.maximum(self.scale - values, 0.0)
        V, lengths = V[:, ::-1], np.sqrt(lengths[::-1])
        center = (V.T @ (C.T @ self.pull)) / np.where(lengths > 0, lengths, 1.0)
        return scipy.linalg.solve_triangular(C, V * lengths, lower=True, trans=1), center

    def transform(self, X: Array) -> Array:
        """The rows' coordinates in up to 300 directions, those of largest scatter first, and what is left, last."""
        basis, _ = self._coordinates

        def of_block(block: Array) -> Array:
            scaled = self.scaling.apply(block)
            K = self.kernel.gram(scaled, self.landmarks)
            Z = K @ basis
            squares = self.kernel.gram_diagonal(scaled) * self.scale - np.einsum("ij,ij->i", Z, Z)
            if self.factor is not None:
                inner = K @ self.factor.T
                squares -= np.einsum("ij,ij->i", inner, inner)
            return np.column_stack([Z, np.sqrt(np.maximum(squares, 0.0))])

        return map_blocks(of_block, X, self.row_cost(X.shape[1]))

    @property
    def center(self) -> Array:
        """u, in the coordinates of :meth:`transform` but the last, in which it is zero."""
        return self._coordinates[1]

    def outline(self, coordinates: list[int], reach: float) -> Array:
        """The sphere projected onto one or two columns of :meth:`transform`."""
        return Sphere(self.center, self.radius2).outline(coordinates, reach)


@dataclass(frozen=True, eq=False)
class Learnt:
    """A description of the whole space, the solved dual, and the training rows' scores as they are and as if left out."""

    description: WholeSpace
    solution: QPSolution
    scores: Array
    left_out_scores: Array


def learn_exact(
    scaling: Scaling,
    kernel: PairwiseKernel,
    scaled: Array,
    upper: Array,
    *,
    ridge: float | None,
    backend: QPBackend,
    tol: float,
    sample_weight: Array | None = None,
) -> Learnt:
    """Learn from the N × N kernel matrix of the training rows.

    Parameters
    ----------
    scaling : Scaling
        What the rows were scaled by.
    kernel : PairwiseKernel
        Prepared here.
    scaled : ndarray of shape (N, D)
        The scaled training rows.
    upper : ndarray of shape (N,)
        The bounds of α.
    ridge : float or None
        λ as a share of Tr(S_x²)/Tr(S_x), the scatter that is usual where rows vary; None without a graph.
    backend, tol
        The QP's.
    sample_weight : ndarray of shape (N,), optional
        How often each row counts.
    """
    kernel.prepare(scaled)
    K = kernel.checked_gram(scaled)
    if ridge is None:
        solution = solve_kernel_svdd(K, upper, backend, tol, None)
        support = solution.support
        norm2 = solution.extras["center_norm2"]
        description = WholeSpace(
            scaling, kernel, scaled[support], 1.0, None, solution.alpha[support], norm2, solution.radius2
        )
        squares = K.diagonal() - 2.0 * (K[:, support] @ solution.alpha[support]) + norm2
        scores = np.maximum(squares, 0.0) / description.unit
        return Learnt(description, solution, scores, scores)
    root = None if sample_weight is None else np.sqrt(sample_weight)
    if root is not None:
        K *= root
        K *= root[:, None]
    lam = ridge * float(np.einsum("ij,ij->", K, K)) / float(np.trace(K))
    np.fill_diagonal(K, K.diagonal() + lam)
    L = cholesky(K, jitter=0.0)
    T = np.tril(scipy.linalg.lapack.dtrtri(L, lower=1)[0])
    A_inv = T.T @ T
    # W⁻¹(I − λA⁻¹)W⁻¹, the inner products of the whitened rows.
    G = -lam * A_inv
    np.fill_diagonal(G, G.diagonal() + 1.0)
    if root is not None:
        G /= root
        G /= root[:, None]
        T *= root
    T /= np.sqrt(lam)
    solution = solve_kernel_svdd(G, upper, backend, tol, None)
    alpha, norm2 = solution.alpha, solution.extras["center_norm2"]
    pull = A_inv @ alpha if root is None else root * (A_inv @ (alpha / root))
    description = WholeSpace(scaling, kernel, scaled, 1.0 / lam, T, pull, norm2, solution.radius2)
    lengths, along = G.diagonal(), G @ alpha
    weights = np.ones(len(G)) if sample_weight is None else sample_weight
    # 1 − p without cancellation: w − 1 + λ(A⁻¹)_ii over w.
    left = np.maximum(weights - 1.0 + lam * A_inv.diagonal(), LEAST_LEFT) / weights
    return Learnt(description, solution, *_both_scores(description, lengths, along, alpha, left))


def _both_scores(
    description: WholeSpace, lengths: Array, along: Array, alpha: Array, left: Array, beyond: Array | float = 0.0
) -> tuple[Array, Array]:
    """The training rows' scores as they are, and as if each had been left out.

    Parameters
    ----------
    description : WholeSpace
        Theirs.
    lengths : ndarray of shape (N,)
        p = ‖z_i‖².
    along : ndarray of shape (N,)
        ⟨z_i, u⟩.
    alpha : ndarray of shape (N,)
        The dual variables: α_i z_i is row i's own part of u.
    left : ndarray of shape (N,)
        1 − p.
    beyond : ndarray of shape (N,), optional
        The squared length of what no training row but itself has a part in: nothing is learnt there.
    """
    rest, unit = description.center_norm2 + beyond, description.unit
    scores = np.maximum(lengths - 2.0 * along + rest, 0.0) / unit
    left_out = np.maximum((lengths - 2.0 * (along - alpha * lengths)) / left + rest, 0.0) / unit
    return scores, left_out


def cholesky(K: Array, jitter: float = JITTER) -> Array:
    """The lower Cholesky factor of K, with as much more on its diagonal as it takes."""
    mean = float(np.trace(K)) / len(K)
    while True:
        try:
            return np.asarray(scipy.linalg.cholesky(K + jitter * mean * np.eye(len(K)) if jitter else K, lower=True))
        except scipy.linalg.LinAlgError:
            jitter = max(100.0 * jitter, JITTER)


@dataclass(frozen=True, eq=False)
class LandmarkMap:
    """φ(x) = C⁻¹k(x, landmarks): features whose inner products are the kernel's on the landmarks' span."""

    kernel: PairwiseKernel
    landmarks: Array
    C: Array

    @classmethod
    def at(cls, kernel: PairwiseKernel, landmarks: Array) -> LandmarkMap:
        """The map of a prepared kernel."""
        return cls(kernel, landmarks, cholesky(kernel.checked_gram(landmarks)))

    def features(self, scaled: Array) -> tuple[Array, Array]:
        """The features of scaled rows, of shape (n, m), and what they miss, (n,)."""
        Phi = np.empty((len(scaled), len(self.landmarks)))
        missed = np.empty(len(scaled))
        for rows in row_blocks(len(scaled), len(self.landmarks)):
            K = self.kernel.gram(scaled[rows], self.landmarks)
            Phi[rows] = scipy.linalg.solve_triangular(self.C, K.T, lower=True).T
            missed[rows] = self.kernel.gram_diagonal(scaled[rows]) - np.einsum("ij,ij->i", Phi[rows], Phi[rows])
        return Phi, np.maximum(missed, 0.0)


def learn_nystroem(
    scaling: Scaling,
    kernel: PairwiseKernel,
    scaled: Array,
    upper: Array,
    *,
    ridge: float,
    backend: QPBackend,
    tol: float,
    sample_weight: Array | None = None,
) -> Learnt:
    """:func:`learn_exact` on the span of landmarks, with N × m numbers."""
    kernel.prepare(scaled)
    places = kernel.landmark_places(scaled)
    landmark_map = LandmarkMap.at(kernel, scaled[places])
    Phi, missed = landmark_map.features(scaled)
    weights = np.ones(len(scaled)) if sample_weight is None else sample_weight
    S = gram(Phi, np.zeros(Phi.shape[1]), sample_weight)
    trace = float(np.trace(S)) + float(weights @ missed)
    lam = ridge * (float(np.einsum("ij,ij->", S, S)) + float((weights * missed) @ missed)) / trace
    np.fill_diagonal(S, S.diagonal() + lam)
    R = cholesky(S, jitter=0.0)
    inverse = scipy.linalg.cho_solve((R, True), np.eye(len(S)))
    Z = scipy.linalg.solve_triangular(R, Phi.T, lower=True).T
    solution = solve_in_place(Z.copy(), upper, backend, tol, None, missed / lam)
    # (S + λI)⁻¹ is scale · I less a positive matrix, whose factor takes the place of T.
    E = -lam * inverse
    np.fill_diagonal(E, E.diagonal() + 1.0)
    V = cholesky(E[::-1, ::-1])[::-1, ::-1].T  # lower triangular with VᵀV = E
    T = scipy.linalg.solve_triangular(landmark_map.C, V.T, lower=True, trans=1).T / np.sqrt(lam)
    along_map = scipy.linalg.solve_triangular(R, solution.center, lower=True, trans=1)
    pull = scipy.linalg.solve_triangular(landmark_map.C, along_map, lower=True, trans=1)
    norm2 = float(solution.center @ solution.center)
    description = WholeSpace(
        scaling, kernel, landmark_map.landmarks, 1.0 / lam, np.tril(T), pull, norm2, solution.radius2
    )
    lengths = np.einsum("ij,ij->i", Z, Z)
    left = np.maximum(1.0 - lengths, LEAST_LEFT)
    along = Z @ solution.center
    return Learnt(description, solution, *_both_scores(description, lengths, along, solution.alpha, left, missed / lam))
