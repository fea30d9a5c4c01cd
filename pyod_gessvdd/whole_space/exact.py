"""The metric of the whole space from the N × N kernel matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from pyod_gessvdd.components.contracts import QPBackend
from pyod_gessvdd.dual import QPSolution
from pyod_gessvdd.kernels.npt import PairwiseKernel
from pyod_gessvdd.preprocessing import Scaling
from pyod_gessvdd.qp import solve_kernel_svdd
from pyod_gessvdd.whole_space.description import WholeSpace
from pyod_gessvdd.whole_space.factor import LEAST_LEFT, NOT_POSITIVE_DEFINITE, cholesky, one_copy
from pyod_gessvdd.whole_space.metric import Lengths, Metric, Rows

Array = np.ndarray

#: Up to this condition number A⁻¹ has kept the digits that its factor needs.
WELL_CONDITIONED = 1e6


@dataclass(frozen=True, eq=False)
class ExactRows(Rows):
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
        K = self.K.take(trusted, axis=0).take(trusted, axis=1)
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

    def metric(self, trusted: Array, lam: float) -> ExactMetric:
        """By the inverse of A = W K W + λI."""
        root, A = self.inside(trusted)
        A[np.diag_indices_from(A)] += lam
        inverse, _ = scipy.linalg.lapack.dpotri(cholesky(A, 0.0), lower=1, overwrite_c=1)
        A_inv = inverse + inverse.T  # the upper triangle of ``inverse`` is zero, as it was in the factor
        np.fill_diagonal(A_inv, inverse.diagonal())
        others = np.setdiff1d(np.arange(len(self.K)), trusted, assume_unique=True)
        inner = root[:, None] * self.K[np.ix_(trusted, others)]
        solved = A_inv @ inner
        return ExactMetric(self, trusted, lam, root, A_inv, others, solved, np.einsum("ij,ij->j", inner, solved))


@dataclass(frozen=True, eq=False)
class ExactMetric(Metric):
    """W and A⁻¹; for the other rows x, A⁻¹Wk_x as columns, and k_xᵀWA⁻¹Wk_x."""

    rows: ExactRows
    trusted: Array
    lam: float
    root: Array
    A_inv: Array
    others: Array
    solved: Array
    explained: Array

    def without(self, removed: Array) -> ExactMetric:
        """The metric without some of its rows, by their Schur complement in A⁻¹: no new factor."""
        is_out = np.isin(self.trusted, removed, assume_unique=True)
        kept, out = np.flatnonzero(~is_out), np.flatnonzero(is_out)
        schur = scipy.linalg.inv(self.A_inv[np.ix_(out, out)])
        across = self.A_inv[np.ix_(kept, out)]
        shift = across @ schur
        A_inv = self.A_inv[np.ix_(kept, kept)]
        A_inv -= shift @ across.T
        solved, root = self.solved[out], self.root[out]
        # The removed rows are now others: for them A⁻¹Wk is −shift, and the Schur complement is what is unexplained.
        theirs = self.rows.K.diagonal()[self.trusted[out]] + (self.lam - schur.diagonal()) / root**2
        return ExactMetric(
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
        """How much longer trusted rows become when they are left out of the scaling too."""
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

    def _inverse_factor(self) -> Array:
        """L⁻¹, lower triangular, of A = LLᵀ."""
        n, lam = len(self.A_inv), self.lam
        if n * float(self.rows.K.diagonal().max()) <= WELL_CONDITIONED * lam:
            # The factor of A⁻¹ = L⁻ᵀL⁻¹ from its other end: half the work of inverting L.
            return cholesky(self.A_inv[::-1, ::-1], 0.0).T[::-1, ::-1]
        _, A = self.rows.inside(self.trusted)
        A[np.diag_indices_from(A)] += lam
        return scipy.linalg.lapack.dtrtri(cholesky(A, 0.0), lower=1, overwrite_c=1)[0]

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
        description = WholeSpace(
            scaling,
            rows.kernel,
            rows.scaled[self.trusted],
            1.0 / lam,
            self._inverse_factor() * (root / np.sqrt(lam)),
            pull,
            solution.extras["center_norm2"],
            solution.radius2,
        )
        return description, solution, rows.K[:, self.trusted] @ pull
