"""The metric of the whole space on the span of landmarks (Nyström), for many rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.linalg

from pyod_gessvdd.components.contracts import QPBackend
from pyod_gessvdd.dual import QPSolution
from pyod_gessvdd.kernels.npt import PairwiseKernel
from pyod_gessvdd.linalg import read_only, row_blocks
from pyod_gessvdd.preprocessing import Scaling
from pyod_gessvdd.qp import solve_in_place
from pyod_gessvdd.whole_space.description import WholeSpace
from pyod_gessvdd.whole_space.factor import LEAST_LEFT, Scatters, cholesky, one_copy, one_share, whitened
from pyod_gessvdd.whole_space.metric import Lengths, Metric, Rows

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class LandmarkMap:
    """φ(x) = C⁻¹k(x, landmarks): features whose inner products are the kernel's on the landmarks' span."""

    kernel: PairwiseKernel
    landmarks: Array
    C: Array

    @classmethod
    def at(cls, kernel: PairwiseKernel, landmarks: Array) -> LandmarkMap:
        """The map of a prepared kernel."""
        landmarks = read_only(landmarks)
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


@dataclass(frozen=True, eq=False)
class LandmarkRows(Rows):
    """By features on the span of landmarks, and what these miss."""

    landmark_map: LandmarkMap
    Phi: Array
    missed: Array
    weights: Array

    max_take_out = 1  # among many rows, the few that would follow change nothing

    @classmethod
    def of(cls, kernel: PairwiseKernel, scaled: Array, weights: Array, trusted: Array) -> LandmarkRows:
        """The features of scaled rows; the landmarks are drawn among the trusted ones."""
        candidates = scaled[trusted]
        landmark_map = LandmarkMap.at(kernel, candidates[kernel.landmark_places(candidates)])
        return cls(landmark_map, *landmark_map.features(scaled), weights)

    @cached_property
    def scatters(self) -> Scatters:
        """From rows to their S_x."""
        return Scatters(self.Phi, self.weights)

    def effective_scatter(self, trusted: Array) -> float:
        """That of the features; what they miss has a direction of its own for every row."""
        S, missed = self.scatters.of(trusted), self.weights[trusted] * self.missed[trusted]
        squares = float(np.einsum("ij,ij->", S, S)) + float(missed @ missed)
        return squares / (float(np.trace(S)) + float(missed.sum()))

    def metric(self, trusted: Array, lam: float) -> LandmarkMetric:
        """By the Cholesky factor of S_x + λI."""
        return self.metric_of(self.scatters.of(trusted), trusted, lam)

    def metric_of(self, S: Array, trusted: Array, lam: float) -> LandmarkMetric:
        """The same from S_x, which is overwritten."""
        S[np.diag_indices_from(S)] += lam
        return LandmarkMetric(self, trusted, lam, cholesky(S, 0.0))


@dataclass(frozen=True, eq=False)
class LandmarkMetric(Metric):
    """R with RRᵀ = S_x + λI; the rows that are not trusted and count in S_x all the same, and how much."""

    rows: LandmarkRows
    trusted: Array
    lam: float
    R: Array
    doubted: Array = field(default_factory=lambda: np.zeros(0, dtype=int))
    doubts: Array = field(default_factory=lambda: np.zeros(0))

    @cached_property
    def Z(self) -> Array:
        """ΦR⁻ᵀ of all rows, of shape (N, m)."""
        return whitened(self.R, self.rows.Phi)

    def without(self, removed: Array) -> LandmarkMetric:
        """Another factor, of the small matrix S_x + λI."""
        return self.rows.metric(np.setdiff1d(self.trusted, removed, assume_unique=True), self.lam)

    def squares(self, rows: Array) -> Array:
        """‖z‖² on the span, and what is beyond."""
        Z = whitened(self.R, self.rows.Phi[rows])
        squares: Array = np.einsum("ij,ij->i", Z, Z) + self.rows.missed[rows] / self.lam
        return squares

    def company(self, rows: Array, squares: Array) -> Array:
        """By d = z/‖z‖: Σ_j w_j (d_iᵀd_j)² is a quadratic form of d_i. What landmarks miss, rows do not share."""
        weights = self.rows.weights[rows]
        directions = whitened(self.R, self.rows.Phi[rows]) / np.sqrt(squares)[:, None]
        C = directions.T @ (weights[:, None] * directions)
        inside2 = np.einsum("ij,ij->i", directions, directions) ** 2
        return np.einsum("ij,ij->i", directions @ C, directions) + weights * (1.0 - inside2)

    def doubting(self, rows: Array, weights: Array) -> LandmarkMetric:
        """By another factor."""
        S = self.rows.scatters.of(self.trusted)
        S += self.rows.Phi[rows].T @ (weights[:, None] * self.rows.Phi[rows])
        return replace(self.rows.metric_of(S, self.trusted, self.lam), doubted=rows, doubts=weights)

    def lengths(self) -> Lengths:
        """‖z‖² on the span; beyond, the scatter is λ."""
        plain, left = np.einsum("ij,ij->i", self.Z, self.Z), np.ones(len(self.Z))
        copy = one_copy(self.rows.weights[self.trusted])
        left[self.trusted] = np.maximum(1.0 - copy * plain[self.trusted], LEAST_LEFT)
        copy = self.doubts * one_share(self.rows.weights[self.doubted])
        left[self.doubted] = np.maximum(1.0 - copy * plain[self.doubted], LEAST_LEFT)
        return Lengths(plain, left, self.rows.missed / self.lam)

    def describe(
        self, scaling: Scaling, upper: Array, backend: QPBackend, tol: float
    ) -> tuple[WholeSpace, QPSolution, Array]:
        """By the points Z, with what the landmarks miss as the residual."""
        lam, landmark_map = self.lam, self.rows.landmark_map
        residual2 = self.rows.missed[self.trusted] / lam
        solution = solve_in_place(self.Z[self.trusted], upper, backend, tol, None, residual2)
        # (S + λI)⁻¹ is I/λ minus a positive matrix E/λ, whose factor takes the place of T; E = VᵀV with a lower V.
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
