"""The sphere in the whole of a kernel's space: from rows to scores, gradients and coordinates.

``docs/method.md`` derives it (section 5).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg

from pyod_gessvdd.boundaries.sphere import Sphere
from pyod_gessvdd.kernels.npt import PairwiseKernel
from pyod_gessvdd.linalg import block_height, map_blocks, orientation
from pyod_gessvdd.preprocessing import Scaling
from pyod_gessvdd.whole_space.factor import cholesky
from pyod_gessvdd.whole_space.known_outliers import STRENGTH, KnownOutliers, Regression, factors

Array = np.ndarray

#: A remainder below this share of a squared length is the rounding of its parts.
ROUNDING = 1e-10
#: How many blocks of rows are scaled at once.
SCALED_BLOCKS = 16
#: The most coordinates that ``transform`` returns, in the directions of largest scatter.
MAX_COORDINATES = 300


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
    known : KnownOutliers, optional
        Labelled outliers: the score above is multiplied by e^(τ max(0, m(x))), see
        :mod:`pyod_gessvdd.whole_space.known_outliers`.
    """

    scaling: Scaling
    kernel: PairwiseKernel
    landmarks: Array
    scale: float
    factor: Array | None
    pull: Array
    center_norm2: float
    radius2: float
    known: KnownOutliers | None = None

    has_residual = True

    @cached_property
    def unit(self) -> float:
        """R², or the squared length of the centre where R² is only rounding, as around rows that are all equal."""
        return self.radius2 if self.radius2 > np.finfo(float).eps * self.center_norm2 else self.center_norm2 or 1.0

    def scores(self, X: Array) -> Array:
        """dist²/R² of each row: 1 on the sphere, more outside, of shape (n,)."""
        # Many blocks are scaled at once: scaling works value by value, and a small block has few values.
        cost = self.row_cost(X.shape[1])
        height = SCALED_BLOCKS * block_height(cost)
        parts = (self.scaling.apply(X[start : start + height]) for start in range(0, len(X), height))
        return np.concatenate([map_blocks(self.scores_of_scaled, scaled, cost) for scaled in parts])

    def row_cost(self, n_columns: int) -> int:
        """The largest number of intermediate values per row of this many columns."""
        return max(n_columns * self.scaling.n_views, len(self.landmarks))

    def scores_of_scaled(self, scaled: Array) -> Array:
        """The same for one block of scaled rows."""
        K = self.kernel.gram(scaled, self.landmarks)
        unit: Any = self.unit
        if self.known is not None:
            unit = unit / factors(self.known.resemblance(self.kernel, scaled, K, self.scale))
        squares = self.kernel.gram_diagonal(scaled) * self.scale
        squares += self.center_norm2 - 2.0 * (K @ self.pull)
        if self.factor is not None:
            # A triangular product costs half as much as a full one.
            K = scipy.linalg.blas.dtrmm(1.0, self.factor.T, K.T, lower=0, trans_a=1, overwrite_b=1)
            squares -= np.einsum("ij,ij->j", K, K)
        return np.maximum(squares, 0.0) / unit

    def regression(self, outliers: Array) -> Regression:
        """The regression of labels that are 0 at the trusted rows and 1 at these outliers, scaled; with a graph."""
        if self.factor is None:
            raise ValueError("without a graph labelled outliers are negative examples of the sphere")
        return Regression.learn(self.kernel, self.landmarks, self.scale, self.factor, outliers)

    def gradient_of_scaled(self, scaled: Array) -> Array:
        """How each score changes with the scaled row, of shape (n, D), for a differentiable kernel."""
        K = self.kernel.gram(scaled, self.landmarks)
        by_kernel = np.broadcast_to(-2.0 * self.pull, K.shape)
        if self.factor is not None:
            by_kernel = by_kernel - 2.0 * (K @ self.factor.T) @ self.factor
        by_diagonal = np.full(len(scaled), self.scale / self.unit)
        gradient = self.kernel.gram_pullback(scaled, self.landmarks, K, by_kernel / self.unit)
        gradient += self.kernel.gram_diagonal_pullback(scaled, by_diagonal)
        return gradient if self.known is None else self._with_known(self.known, scaled, K, gradient)

    def _with_known(self, known: KnownOutliers, scaled: Array, K: Array, gradient: Array) -> Array:
        """The gradient of the score with its factor e^(τ max(0, m)), from that of the score without."""
        m = known.resemblance(self.kernel, scaled, K, self.scale)
        near = self.kernel.gram(scaled, known.rows)
        weights = np.broadcast_to(self.scale * known.weights, near.shape)
        by_m = self.kernel.gram_pullback(scaled, known.rows, near, weights)
        by_m -= self.kernel.gram_pullback(scaled, self.landmarks, K, np.broadcast_to(known.along, K.shape))
        slope = STRENGTH * (m > 0) * self.scores_of_scaled(scaled)
        return factors(m)[:, None] * gradient + slope[:, None] * by_m

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
        """The rows' coordinates in up to 300 directions, those of largest scatter first, and last what is left."""
        basis, _ = self._coordinates

        def of_block(block: Array) -> Array:
            scaled = self.scaling.apply(block)
            K = self.kernel.gram(scaled, self.landmarks)
            Z = K @ basis
            whole = self.kernel.gram_diagonal(scaled) * self.scale
            squares = whole - np.einsum("ij,ij->i", Z, Z)
            if self.factor is not None:
                inner = K @ self.factor.T
                squares -= np.einsum("ij,ij->i", inner, inner)
            # In a square root, rounding would be seven digits larger than in any other column.
            return np.column_stack([Z, np.sqrt(np.where(squares > ROUNDING * whole, squares, 0.0))])

        return map_blocks(of_block, X, self.row_cost(X.shape[1]))

    @property
    def n_coordinates(self) -> int:
        """The number of columns of :meth:`transform`."""
        return len(self.center) + 1

    @property
    def center(self) -> Array:
        """u, in all coordinates of :meth:`transform` but the last, where it is zero."""
        return self._coordinates[1]

    def outline(self, coordinates: list[int], reach: float) -> Array:
        """The sphere projected onto one or two columns of :meth:`transform`."""
        return Sphere(self.center, self.radius2).outline(coordinates, reach)
