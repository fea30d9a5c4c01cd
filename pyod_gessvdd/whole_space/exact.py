"""The metric of the whole space from the N × N kernel matrix."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.linalg

from pyod_gessvdd.components.contracts import QPBackend
from pyod_gessvdd.dual import QPSolution
from pyod_gessvdd.kernels.npt import PairwiseKernel
from pyod_gessvdd.preprocessing import Scaling
from pyod_gessvdd.qp import solve_kernel_svdd
from pyod_gessvdd.whole_space.description import WholeSpace
from pyod_gessvdd.whole_space.factor import LEAST_LEFT, NOT_POSITIVE_DEFINITE, cholesky, one_share
from pyod_gessvdd.whole_space.metric import Lengths, Metric, Rows

Array = np.ndarray

#: How many rows are mirrored at a time: of a whole matrix, the transpose is read against the grain.
MIRRORED = 128
#: Up to this condition number A⁻¹ has kept the digits that its factor needs.
WELL_CONDITIONED = 1e6


@dataclass(frozen=True, eq=False)
class ExactRows(Rows):
    """By the N × N kernel matrix.

    ``moved`` is the kernel of the rows, scaled without themselves, with the rows, and their kernel with themselves.
    """

    kernel: PairwiseKernel
    scaled: Array
    K: Array
    weights: Array
    moved: tuple[Array, Array] | None = None

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
        A_inv, _ = scipy.linalg.lapack.dpotri(cholesky(A, 0.0), lower=1, overwrite_c=1)
        for start in range(0, len(A_inv), MIRRORED):  # LAPACK leaves the upper triangle to us
            rows = slice(start, start + MIRRORED)
            A_inv[rows, start:] = A_inv[start:, rows].T
            corner = np.tril(A_inv[rows, rows].T)
            A_inv[rows, rows] = corner + np.tril(corner, -1).T
        others = np.setdiff1d(np.arange(len(self.K)), trusted, assume_unique=True)
        inner = root[:, None] * self.K[np.ix_(trusted, others)]
        solved = A_inv @ inner
        return ExactMetric(self, trusted, lam, root, A_inv, others, solved, np.einsum("ij,ij->j", inner, solved))


@dataclass(frozen=True, eq=False)
class ExactMetric(Metric):
    """W and A⁻¹ of the trusted rows, and of doubted ones after them; of the others x, A⁻¹Wk_x and k_xᵀWA⁻¹Wk_x."""

    rows: ExactRows
    trusted: Array
    lam: float
    root: Array
    A_inv: Array
    others: Array
    solved: Array
    explained: Array
    doubted: Array = field(default_factory=lambda: np.zeros(0, dtype=int))

    @property
    def members(self) -> Array:
        """The rows that count."""
        return np.concatenate([self.trusted, self.doubted])

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

    def squares(self, rows: Array) -> Array:
        """[k(x, x) − k_xᵀWA⁻¹Wk_x]/λ."""
        return (self.rows.K.diagonal()[rows] - self.explained[self._places(rows)]) / self.lam

    def company(self, rows: Array, squares: Array) -> Array:
        """By G = [K − k_xᵀWA⁻¹Wk_y]/λ of these rows."""
        cosines2 = (self._unexplained(rows) / self.lam) ** 2 / np.outer(squares, squares)
        np.fill_diagonal(cosines2, 1.0)
        return cosines2 @ self.rows.weights[rows]

    def _unexplained(self, rows: Array) -> Array:
        """K − k_xᵀWA⁻¹Wk_y of some of the other rows."""
        inner = self.root[:, None] * self.rows.K[np.ix_(self.trusted, rows)]
        return self.rows.K[np.ix_(rows, rows)] - inner.T @ self.solved[:, self._places(rows)]

    def _places(self, rows: Array) -> Array:
        """Where these rows are among the others."""
        order = self.others.argsort()
        return order[np.searchsorted(self.others, rows, sorter=order)]

    def doubting(self, rows: Array, weights: Array) -> ExactMetric:
        """By the blocks of the larger A⁻¹: no new factor of the trusted rows' part."""
        places, root = self._places(rows), np.sqrt(weights)
        schur = root[:, None] * self._unexplained(rows) * root
        schur[np.diag_indices_from(schur)] += self.lam
        inverse = scipy.linalg.inv((schur + schur.T) / 2)
        across = self.solved[:, places] * root
        corner = -across @ inverse
        n_trusted, n_members = len(self.trusted), len(self.trusted) + len(rows)
        A_inv = np.empty((n_members, n_members))
        np.subtract(self.A_inv, corner @ across.T, out=A_inv[:n_trusted, :n_trusted])
        A_inv[:n_trusted, n_trusted:], A_inv[n_trusted:, :n_trusted] = corner, corner.T
        A_inv[n_trusted:, n_trusted:] = inverse
        members, others = np.concatenate([self.trusted, rows]), np.delete(self.others, places)
        root = np.concatenate([self.root, root])
        inner = root[:, None] * self.rows.K[np.ix_(members, others)]
        solved = A_inv @ inner
        explained = np.einsum("ij,ij->j", inner, solved)
        return ExactMetric(self.rows, self.trusted, self.lam, root, A_inv, others, solved, explained, rows)

    def lengths(self) -> Lengths:
        """‖z‖² = [k(x, x) − k_xᵀWA⁻¹Wk_x]/λ."""
        diagonal, n_trusted, lam = self.rows.K.diagonal(), len(self.trusted), self.lam
        plain, left = np.empty(len(diagonal)), np.ones(len(diagonal))
        # 1 − cp without cancellation: (w − c + cλ(A⁻¹)_ii)/w.
        remains = lam * self.A_inv.diagonal()
        weights = self.root**2
        plain[self.members] = (1.0 - remains) / weights
        copy = weights * one_share(self.rows.weights[self.members])
        left[self.members] = np.maximum(weights - copy + copy * remains, LEAST_LEFT * copy) / weights
        remains, weights = remains[:n_trusted], weights[:n_trusted]
        plain[self.others] = (diagonal[self.others] - self.explained) / lam
        return Lengths(np.maximum(plain, 0.0), left, scaled=self._scaled(remains, weights))

    def _scaled(self, remains: Array, weights: Array) -> Array | float:
        """How much longer trusted rows become when they are left out of the scaling too."""
        if self.rows.moved is None:
            return 1.0
        (moved, own), trusted = self.rows.moved, self.trusted
        k = self.root * moved[np.ix_(trusted, self.members)]
        np.fill_diagonal(k, 0.0)
        inner = k @ self.A_inv
        # Without row i, A⁻¹ loses (A⁻¹)_i (A⁻¹)_iᵀ / (A⁻¹)_ii.
        diagonal = remains / self.lam
        squares = own[trusted] - np.einsum("ij,ij->i", inner, k) + inner.diagonal() ** 2 / diagonal
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
        A = self.rows.K[np.ix_(self.members, self.members)]
        A *= self.root
        A *= self.root[:, None]
        A[np.diag_indices_from(A)] += lam
        return scipy.linalg.lapack.dtrtri(cholesky(A, 0.0), lower=1, overwrite_c=1)[0]

    def describe(
        self, scaling: Scaling, upper: Array, backend: QPBackend, tol: float
    ) -> tuple[WholeSpace, QPSolution, Array]:
        """By the inner products W⁻¹(I − λA⁻¹)W⁻¹."""
        rows, root, lam, n_trusted = self.rows, self.root, self.lam, len(self.trusted)
        G = -lam * self.A_inv[:n_trusted, :n_trusted]
        G[np.diag_indices_from(G)] += 1.0
        G /= root[:n_trusted]
        G /= root[:n_trusted, None]
        solution = solve_kernel_svdd(G, upper, backend, tol, None)
        pull = root * (self.A_inv[:, :n_trusted] @ (solution.alpha / root[:n_trusted]))
        description = WholeSpace(
            scaling,
            rows.kernel,
            rows.scaled[self.members],
            1.0 / lam,
            self._inverse_factor() * (root / np.sqrt(lam)),
            pull,
            solution.extras["center_norm2"],
            solution.radius2,
        )
        return description, solution, rows.K[:, self.members] @ pull
