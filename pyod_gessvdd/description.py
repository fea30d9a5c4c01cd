"""The data description that a fit ends with: rows to features, to the subspace, to scores (paper, "Test phase")."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pyod_gessvdd.boundaries.boundary import Boundary
from pyod_gessvdd.components.contracts import Kernel
from pyod_gessvdd.feature_map import FeatureMap
from pyod_gessvdd.linalg import map_blocks
from pyod_gessvdd.preprocessing import Scaling
from pyod_gessvdd.subspace import Subspace

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Description:
    """A feature map, a subspace of the features with its metric, and the boundary in it.

    Attributes
    ----------
    feature_map : FeatureMap
        From rows to centred features and what they miss.
    subspace : Subspace
        From features to whitened coordinates and the squared residual.
    boundary : Boundary
        From those to scores.
    """

    feature_map: FeatureMap
    subspace: Subspace
    boundary: Boundary

    @cached_property
    def _of_rows(self) -> tuple[Array, Array] | None:
        """W and b with z = Wx − b where rows are their own features: scaled and projected in one product."""
        if self.has_residual or not self.feature_map.is_affine:
            return None
        return self.feature_map.folded(self.subspace.projection)

    @property
    def has_residual(self) -> bool:
        """Whether what the projection discards counts."""
        return self.subspace.residual_scale is not None

    @property
    def n_coordinates(self) -> int:
        """The number of columns of :meth:`transform`."""
        return len(self.subspace.Q) + self.has_residual

    def scores(self, X: Array) -> Array:
        """The rows' scores, 1 on the boundary, of shape (n,)."""
        if self._of_rows is not None:
            W, b = self._of_rows
            return map_blocks(lambda block: self.boundary.scores(block @ W.T - b), X, row_cost=X.shape[1])
        return self.feature_map.apply(self.scores_of_features, X)

    def scores_of_features(self, Phi: Array, missed: Array | None) -> Array:
        """The same from centred features and what they miss."""
        return self.boundary.scores(*self.subspace.points(Phi, missed))

    def transform(self, X: Array) -> Array:
        """The rows' coordinates, of shape (n, d), with one more column, r/√ρ, if the residual counts."""

        def of_features(Phi: Array, missed: Array | None) -> Array:
            Z, residual2 = self.subspace.points(Phi, missed)
            return Z if residual2 is None else np.column_stack([Z, np.sqrt(residual2)])

        return self.feature_map.apply(of_features, X)

    @property
    def scaling(self) -> Scaling:
        """From rows to scaled rows."""
        return self.feature_map.scaling

    @property
    def kernel(self) -> Kernel:
        """The fitted kernel."""
        return self.feature_map.kernel

    def scores_of_scaled(self, scaled: Array) -> Array:
        """The scores of one block of scaled rows."""
        return self.scores_of_features(*self.feature_map.of_scaled(scaled))

    def gradient_of_scaled(self, scaled: Array) -> Array:
        """How each score changes with the scaled row, of shape (n, D), for a differentiable kernel."""
        Phi, _, pullback = self.kernel.features_residual_and_pullback(scaled)
        return pullback(*self.gradient(Phi if self.feature_map.mean is None else Phi - self.feature_map.mean))

    def gradient(self, Phi: Array) -> tuple[Array, Array]:
        """How each row's score changes with its features, of shape (n, F), and with what they miss of it, (n,)."""
        return self.subspace.pullback(Phi, *self.boundary.gradient(self.subspace.coordinates(Phi)))

    def contributions(self, Phi: Array, center: Array) -> Array:
        """What each feature adds to the score, of shape (n, F), for features that miss nothing of a row.

        With a the mean of the training features weighted by α, whose image is the sphere's centre, the sphere's score
        is the quadratic form ‖P(φ − a)‖²/R² and feature j's part of it (φ_j − a_j) (Pᵀ P (φ − a))_j / R²: its Shapley
        value, and the integral of the gradient from a to φ. The residual's part is φ_j e_j / (ρR²), with e the part of
        φ outside the subspace: the Shapley value of that form, with the features' mean as the reference. (The parts
        e_j²/(ρR²) of the same sum would spread a feature's move outside over all that are correlated with it.)

        Parameters
        ----------
        Phi : ndarray of shape (n, F)
            Centred features.
        center : ndarray of shape (F,)
            a.
        """
        by_coordinates, by_residual2 = self.boundary.gradient(self.subspace.coordinates(Phi))
        parts = (Phi - center) * (by_coordinates @ self.subspace.projection)
        if self.subspace.residual_scale is not None:
            parts += 2.0 * by_residual2 * self.subspace.residual_scale * Phi * self.subspace.outside(Phi)
        return parts / self.boundary.degree

    def base(self, center: Array) -> float:
        """The part of the score that these contributions leave."""
        return self.boundary.base(self.subspace.coordinates(center[None])[0])

    def outline(self, coordinates: list[int], reach: float) -> Array:
        """The boundary in one or two columns of :meth:`transform`; see :meth:`Boundary.outline`."""
        return self.boundary.outline(coordinates, reach)

    def row_cost(self, n_columns: int) -> int:
        """The largest number of intermediate values per row of this many columns."""
        return self.kernel.row_cost(n_columns)
