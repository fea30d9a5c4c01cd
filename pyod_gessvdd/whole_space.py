"""The description in the whole of a kernel's space: no subspace and no updates, but one Cholesky factor.

With L_x = I and every direction kept, S_x = Φᵀ diag(w) Φ, and a row's squared length in the metric (S_x + λI)⁻¹, the
part outside the span of the training rows included, is

    ‖z(x)‖² = φ(x)ᵀ(S_x + λI)⁻¹φ(x) = [k(x, x) − k_xᵀ W A⁻¹ W k_x] / λ,      A = W K W + λI,  W = diag(√w),

without an eigendecomposition. Inner products have the same form. So the SVDD of the rows z_i, with its centre
u = Σ α_j z_j and its radius, is solved from the N × N matrix W⁻¹(I − λA⁻¹)W⁻¹, and with b = W A⁻¹ W⁻¹ α

    ‖z(x) − u‖² = ‖z(x)‖² − 2 k_xᵀ b + ‖u‖².

Had row i been there once less, p = ‖z_i‖² would be p/(1 − p) (Sherman and Morrison): the training rows' scores as if
left out are exact, up to the centre. Without a graph nothing is whitened and ‖z(x)‖² = k(x, x): this is SVDD.

Many rows share the span of m landmarks (Nyström): φ(x) = C⁻¹k_m(x) with CCᵀ = K_m, and what the landmarks miss of a row
lies in a direction of its own, whose scatter is λ alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import scipy.linalg

from pyod_gessvdd.boundaries.sphere import Sphere
from pyod_gessvdd.components.contracts import QPBackend
from pyod_gessvdd.dual import QPSolution
from pyod_gessvdd.kernels.npt import PairwiseKernel
from pyod_gessvdd.linalg import gram, map_blocks, orientation, row_blocks, weighted_quantiles
from pyod_gessvdd.preprocessing import Scaling
from pyod_gessvdd.qp import solve_in_place, solve_kernel_svdd

Array = np.ndarray

#: What is added to the diagonal of a kernel matrix to factor it, as a share of its mean.
JITTER, MOST_JITTER = 1e-12, 1e-5
NOT_POSITIVE_DEFINITE = (
    "the kernel is not positive definite, and its whole space cannot be described; use n_components=None, for a "
    "subspace without the directions of negative eigenvalues"
)
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
        signs = orientation(C @ V)  # of the landmarks' coordinates
        return scipy.linalg.solve_triangular(C, V * (lengths * signs), lower=True, trans=1), center * signs

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
    def n_coordinates(self) -> int:
        """The number of columns of :meth:`transform`."""
        return len(self.center) + 1

    @property
    def center(self) -> Array:
        """u, in the coordinates of :meth:`transform` but the last, in which it is zero."""
        return self._coordinates[1]

    def outline(self, coordinates: list[int], reach: float) -> Array:
        """The sphere projected onto one or two columns of :meth:`transform`."""
        return Sphere(self.center, self.radius2).outline(coordinates, reach)


@dataclass(frozen=True, eq=False)
class Learnt:
    """What is learnt from the trusted rows.

    Attributes
    ----------
    description : WholeSpace
        From rows to scores.
    trusted : ndarray of int
        The rows that it was learnt from.
    solution : QPSolution
        Their solved dual.
    scores, left_out_scores : ndarray of shape (N,)
        All rows' scores, as they are and as if each had been left out; the same for rows that are not trusted.
    """

    description: WholeSpace
    trusted: Array
    solution: QPSolution
    scores: Array
    left_out_scores: Array


@dataclass(frozen=True)
class Lengths:
    """The rows' squared lengths in the metric of the trusted rows.

    ``plain`` as they are, ``left`` the 1 − p by which a trusted row's p is divided when it is left out (1 − wp for a
    weight w below one, and 1 for rows that are not trusted), ``beyond`` the part of every row that no trusted row has a
    part in, and ``scaled`` what leaving a trusted row out of the scaling, too, multiplies its length with.
    """

    plain: Array
    left: Array
    beyond: Array | float = 0.0
    scaled: Array | float = 1.0

    @property
    def left_out(self) -> Array:
        """As if each row had been left out."""
        return (self.plain / self.left + self.beyond) * self.scaled


class _Rows(ABC):
    """Training rows in the kernel's space, with their weights.

    ``max_take_out`` is how often rows that are going to be labelled are taken out.
    """

    max_take_out: ClassVar[int]

    @abstractmethod
    def effective_scatter(self, trusted: Array) -> float:
        """Tr(S_x²)/Tr(S_x) of the trusted rows: the scatter that is usual where rows vary."""

    @abstractmethod
    def metric(self, trusted: Array, lam: float) -> _Metric:
        """The metric (S_x + λI)⁻¹ of the trusted rows."""


class _Metric(ABC):
    """A metric that was learnt from the trusted rows, and all rows in it."""

    @abstractmethod
    def without(self, removed: Array) -> _Metric:
        """The metric without some of the trusted rows."""

    @abstractmethod
    def lengths(self) -> Lengths:
        """All rows' squared lengths."""

    @abstractmethod
    def describe(
        self, scaling: Scaling, upper: Array, backend: QPBackend, tol: float
    ) -> tuple[WholeSpace, QPSolution, Array]:
        """The sphere around the trusted rows, its solution, and ⟨z_i, u⟩ of all rows."""


def learn(
    scaling: Scaling,
    kernel: PairwiseKernel,
    scaled: Array,
    trusted: Array,
    bounds: Callable[[Array], Array],
    *,
    ridge: float,
    backend: QPBackend,
    tol: float,
    share_outside: float | None = None,
    sample_weight: Array | None = None,
    scaled_without_itself: Array | None = None,
) -> Learnt:
    """The description of the trusted rows.

    Parameters
    ----------
    scaling : Scaling
        What the rows were scaled by.
    kernel : PairwiseKernel
        Prepared here.
    scaled : ndarray of shape (N, D)
        The scaled training rows.
    trusted : ndarray of int
        The rows to learn from.
    bounds : callable
        From rows to the bounds of their α.
    ridge : float
        λ as a share of Tr(S_x²)/Tr(S_x).
    backend, tol
        The QP's.
    share_outside : float, optional
        If given, this share of the rows is going to be labelled as outliers, and trusted rows among them are taken out:
        who is labelled must not have had a part in the description that a new row like it is measured by.
    sample_weight : ndarray of shape (N,), optional
        How often each row counts.
    scaled_without_itself : ndarray of shape (N, D), optional
        The rows as :meth:`Scaling.apply_to_training` has them, for their scores as if left out.
    """
    weights = np.ones(len(scaled)) if sample_weight is None else sample_weight
    _prepare(kernel, scaled, sample_weight)
    rows: _Rows
    if kernel.is_exact(len(scaled)):
        moved = None if scaled_without_itself is None else kernel.gram(scaled_without_itself, scaled)
        rows = _ExactRows(kernel, scaled, kernel.checked_gram(scaled), weights, moved)
    else:
        rows = _LandmarkRows.of(kernel, scaled, weights, trusted)
    lam = ridge * rows.effective_scatter(trusted)
    metric = rows.metric(trusted, lam)
    lengths = metric.lengths()
    rounds = 0 if share_outside is None else rows.max_take_out
    for _ in range(rounds):
        left_out = lengths.left_out
        limit = weighted_quantiles(left_out, [1.0 - float(share_outside or 0.0)], sample_weight)[0]
        fewer = trusted[left_out[trusted] <= limit]
        if len(fewer) == len(trusted) or len(fewer) < len(scaled) / 2:
            break
        metric = metric.without(np.setdiff1d(trusted, fewer, assume_unique=True))
        trusted = fewer
        lengths = metric.lengths()
    description, solution, along = metric.describe(scaling, bounds(trusted), backend, tol)
    own = np.zeros(len(scaled))
    own[trusted] = solution.alpha * one_copy(weights[trusted]) / weights[trusted] * lengths.plain[trusted]
    rest, unit = description.center_norm2 + lengths.beyond, description.unit
    scores = np.maximum(lengths.plain - 2.0 * along + rest, 0.0) / unit
    left_out = lengths.left_out - 2.0 * (along - own) / lengths.left + description.center_norm2
    left_out = np.maximum(left_out, 0.0) / unit
    return Learnt(description, trusted, solution, scores, left_out)


def svdd(
    scaling: Scaling,
    kernel: PairwiseKernel,
    scaled: Array,
    trusted: Array,
    bounds: Callable[[Array], Array],
    *,
    backend: QPBackend,
    tol: float,
    sample_weight: Array | None = None,
) -> Learnt:
    """:func:`learn` without a graph: the sphere in the kernel's own space, of which only the support is kept."""
    _prepare(kernel, scaled, sample_weight)
    K = kernel.checked_gram(scaled)
    inside = K if len(trusted) == len(K) else K[np.ix_(trusted, trusted)]
    solution = solve_kernel_svdd(inside, bounds(trusted), backend, tol, None)
    support, alpha = trusted[solution.support], solution.alpha[solution.support]
    norm2 = solution.extras["center_norm2"]
    description = WholeSpace(scaling, kernel, scaled[support], 1.0, None, alpha, norm2, solution.radius2)
    squares = K.diagonal() - 2.0 * (K[:, support] @ alpha) + norm2
    scores = np.maximum(squares, 0.0) / description.unit
    return Learnt(description, trusted, solution, scores, scores)


def _prepare(kernel: PairwiseKernel, scaled: Array, sample_weight: Array | None) -> None:
    """Let the kernel find its width from the rows that count."""
    if sample_weight is None:
        kernel.prepare_weighted(scaled, None)
    else:
        counts = sample_weight > 0
        kernel.prepare_weighted(scaled[counts], sample_weight[counts])


@dataclass(frozen=True, eq=False)
class _ExactRows(_Rows):
    """By the N × N kernel matrix."""

    kernel: PairwiseKernel
    scaled: Array
    K: Array
    weights: Array
    moved: Array | None = None

    max_take_out = 10

    def inside(self, trusted: Array) -> tuple[Array, Array]:
        """W and W K W of the trusted rows."""
        root = np.sqrt(self.weights[trusted])
        K = self.K[np.ix_(trusted, trusted)]
        if (root != 1.0).any():
            K *= root
            K *= root[:, None]
        return root, K

    def effective_scatter(self, trusted: Array) -> float:
        """Tr((WKW)²)/Tr(WKW)."""
        _, K = self.inside(trusted)
        trace = float(np.trace(K))
        if not trace > 0:
            raise ValueError(NOT_POSITIVE_DEFINITE)
        return float(np.einsum("ij,ij->", K, K)) / trace

    def metric(self, trusted: Array, lam: float) -> _ExactMetric:
        """By the inverse of A = W K W + λI."""
        root, A = self.inside(trusted)
        A[np.diag_indices_from(A)] += lam
        inverse, _ = scipy.linalg.lapack.dpotri(cholesky(A, 0.0), lower=1, overwrite_c=1)
        A_inv = np.tril(inverse, -1)
        A_inv += A_inv.T
        np.fill_diagonal(A_inv, inverse.diagonal())
        others = np.setdiff1d(np.arange(len(self.K)), trusted, assume_unique=True)
        inner = root[:, None] * self.K[np.ix_(trusted, others)]
        solved = A_inv @ inner
        return _ExactMetric(self, trusted, lam, root, A_inv, others, solved, np.einsum("ij,ij->j", inner, solved))


@dataclass(frozen=True, eq=False)
class _ExactMetric(_Metric):
    """W and A⁻¹; for the other rows x, A⁻¹Wk_x as columns, and k_xᵀWA⁻¹Wk_x."""

    rows: _ExactRows
    trusted: Array
    lam: float
    root: Array
    A_inv: Array
    others: Array
    solved: Array
    explained: Array

    def without(self, removed: Array) -> _ExactMetric:
        """The metric without some of its rows, by the Schur complement of theirs in A⁻¹: no new factor."""
        is_out = np.isin(self.trusted, removed, assume_unique=True)
        kept, out = np.flatnonzero(~is_out), np.flatnonzero(is_out)
        schur = scipy.linalg.inv(self.A_inv[np.ix_(out, out)])
        across = self.A_inv[np.ix_(kept, out)]
        shift = across @ schur
        A_inv = self.A_inv[np.ix_(kept, kept)]
        A_inv -= shift @ across.T
        solved, root = self.solved[out], self.root[out]
        # The removed rows are others now: for them A⁻¹Wk is −shift, and the Schur complement is what is not explained.
        theirs = self.rows.K.diagonal()[self.trusted[out]] + (self.lam - schur.diagonal()) / root**2
        return _ExactMetric(
            self.rows,
            self.trusted[kept],
            self.lam,
            self.root[kept],
            A_inv,
            np.concatenate([self.others, self.trusted[out]]),
            np.hstack([self.solved[kept] - shift @ solved, -shift / root]),
            np.concatenate([self.explained - np.einsum("ij,ij->j", solved, schur @ solved), theirs]),
        )

    def lengths(self) -> Lengths:
        """‖z‖² = [k(x, x) − k_xᵀWA⁻¹Wk_x]/λ."""
        diagonal, trusted, lam = self.rows.K.diagonal(), self.trusted, self.lam
        plain, left = np.empty(len(diagonal)), np.ones(len(diagonal))
        # 1 − cp without cancellation: (w − c + cλ(A⁻¹)_ii)/w.
        remains = lam * self.A_inv.diagonal()
        weights, copy = self.root**2, one_copy(self.root**2)
        plain[trusted] = (1.0 - remains) / weights
        left[trusted] = np.maximum(weights - copy + copy * remains, LEAST_LEFT * copy) / weights
        plain[self.others] = (diagonal[self.others] - self.explained) / lam
        return Lengths(np.maximum(plain, 0.0), left, scaled=self._scaled(remains, weights))

    def _scaled(self, remains: Array, weights: Array) -> Array | float:
        """How much longer trusted rows are without themselves where they have also left the scaling."""
        moved, trusted = self.rows.moved, self.trusted
        if moved is None:
            return 1.0
        k = self.root * moved[np.ix_(trusted, trusted)]
        np.fill_diagonal(k, 0.0)
        inner = k @ self.A_inv
        # Without row i, A⁻¹ loses (A⁻¹)_i (A⁻¹)_iᵀ / (A⁻¹)_ii.
        diagonal = remains / self.lam
        squares = self.rows.K.diagonal()[trusted] - np.einsum("ij,ij->i", inner, k) + inner.diagonal() ** 2 / diagonal
        without = (1.0 - remains) / (diagonal * weights)
        factor = np.ones(len(self.rows.K))
        factor[trusted] = np.maximum(squares, LEAST_LEFT) / np.maximum(without, LEAST_LEFT)
        return factor

    def describe(
        self, scaling: Scaling, upper: Array, backend: QPBackend, tol: float
    ) -> tuple[WholeSpace, QPSolution, Array]:
        """By the inner products W⁻¹(I − λA⁻¹)W⁻¹."""
        rows, root, lam = self.rows, self.root, self.lam
        G = -lam * self.A_inv
        G[np.diag_indices_from(G)] += 1.0
        G /= root
        G /= root[:, None]
        solution = solve_kernel_svdd(G, upper, backend, tol, None)
        pull = root * (self.A_inv @ (solution.alpha / root))
        _, A = rows.inside(self.trusted)
        A[np.diag_indices_from(A)] += lam
        L_inv, _ = scipy.linalg.lapack.dtrtri(cholesky(A, 0.0), lower=1, overwrite_c=1)
        description = WholeSpace(
            scaling,
            rows.kernel,
            rows.scaled[self.trusted],
            1.0 / lam,
            np.tril(L_inv) * (root / np.sqrt(lam)),
            pull,
            solution.extras["center_norm2"],
            solution.radius2,
        )
        return description, solution, rows.K[:, self.trusted] @ pull


@dataclass(frozen=True, eq=False)
class _LandmarkRows(_Rows):
    """By features on the span of landmarks, and what these miss."""

    landmark_map: LandmarkMap
    Phi: Array
    missed: Array
    weights: Array

    max_take_out = 1  # among many rows the few that follow change nothing any more

    @classmethod
    def of(cls, kernel: PairwiseKernel, scaled: Array, weights: Array, trusted: Array) -> _LandmarkRows:
        """The features of scaled rows; the landmarks are drawn among the trusted ones."""
        candidates = scaled[trusted]
        landmark_map = LandmarkMap.at(kernel, candidates[kernel.landmark_places(candidates)])
        return cls(landmark_map, *landmark_map.features(scaled), weights)

    @cached_property
    def total(self) -> Array:
        """The scatter of all rows; that of most of them is what the others leave of it."""
        weights = None if (self.weights == 1.0).all() else self.weights
        return gram(self.Phi, np.zeros(self.Phi.shape[1]), weights)

    def scatter(self, trusted: Array) -> Array:
        """S_x of the trusted rows."""
        others = np.setdiff1d(np.arange(len(self.Phi)), trusted, assume_unique=True)
        return self.total - gram(self.Phi[others], np.zeros(self.Phi.shape[1]), self.weights[others])

    def effective_scatter(self, trusted: Array) -> float:
        """That of the features; what they miss has its own direction for every row."""
        S, missed = self.scatter(trusted), self.weights[trusted] * self.missed[trusted]
        squares = float(np.einsum("ij,ij->", S, S)) + float(missed @ missed)
        return squares / (float(np.trace(S)) + float(missed.sum()))

    def metric(self, trusted: Array, lam: float) -> _LandmarkMetric:
        """By the Cholesky factor of S_x + λI."""
        S = self.scatter(trusted)
        S[np.diag_indices_from(S)] += lam
        R = cholesky(S, 0.0)
        return _LandmarkMetric(self, trusted, lam, R, scipy.linalg.solve_triangular(R, self.Phi.T, lower=True).T)


@dataclass(frozen=True, eq=False)
class _LandmarkMetric(_Metric):
    """R with RRᵀ = S_x + λI, and Z = ΦR⁻ᵀ of all rows."""

    rows: _LandmarkRows
    trusted: Array
    lam: float
    R: Array
    Z: Array

    def without(self, removed: Array) -> _LandmarkMetric:
        """Another factor, of the small matrix S_x + λI."""
        return self.rows.metric(np.setdiff1d(self.trusted, removed, assume_unique=True), self.lam)

    def lengths(self) -> Lengths:
        """‖z‖² on the span; beyond, the scatter is λ."""
        plain, left = np.einsum("ij,ij->i", self.Z, self.Z), np.ones(len(self.Z))
        copy = one_copy(self.rows.weights[self.trusted])
        left[self.trusted] = np.maximum(1.0 - copy * plain[self.trusted], LEAST_LEFT)
        return Lengths(plain, left, self.rows.missed / self.lam)

    def describe(
        self, scaling: Scaling, upper: Array, backend: QPBackend, tol: float
    ) -> tuple[WholeSpace, QPSolution, Array]:
        """By the points Z, with what the landmarks miss as the residual."""
        lam, landmark_map = self.lam, self.rows.landmark_map
        residual2 = self.rows.missed[self.trusted] / lam
        solution = solve_in_place(self.Z[self.trusted], upper, backend, tol, None, residual2)
        # (S + λI)⁻¹ is I/λ less a positive matrix E/λ, whose factor takes the place of T; E = VᵀV with a lower V.
        E = -lam * scipy.linalg.cho_solve((self.R, True), np.eye(len(self.R)))
        E[np.diag_indices_from(E)] += 1.0
        V = cholesky(E[::-1, ::-1])[::-1, ::-1].T
        T = scipy.linalg.solve_triangular(landmark_map.C, V.T, lower=True, trans=1).T / np.sqrt(lam)
        along_features = scipy.linalg.solve_triangular(self.R, solution.center, lower=True, trans=1)
        description = WholeSpace(
            scaling,
            landmark_map.kernel,
            landmark_map.landmarks,
            1.0 / lam,
            np.tril(T),
            scipy.linalg.solve_triangular(landmark_map.C, along_features, lower=True, trans=1),
            float(solution.center @ solution.center),
            solution.radius2,
        )
        return description, solution, self.Z @ solution.center


def one_copy(weights: Array) -> Array:
    """The weight that leaves with a row: one copy of it, or what there is of one."""
    return np.minimum(weights, 1.0)


def cholesky(K: Array, jitter: float = JITTER) -> Array:
    """The lower Cholesky factor of K, with as much more on its diagonal as rounding takes."""
    mean = float(np.trace(K)) / len(K)
    while mean > 0 and jitter <= MOST_JITTER:
        try:
            return np.asarray(scipy.linalg.cholesky(K + jitter * mean * np.eye(len(K)) if jitter else K, lower=True))
        except scipy.linalg.LinAlgError:
            jitter = max(100.0 * jitter, JITTER)
    raise ValueError(NOT_POSITIVE_DEFINITE)


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
