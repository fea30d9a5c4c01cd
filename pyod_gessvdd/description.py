"""The data description: the sphere in the subspace, and the scores dist²/R² of any rows (paper, "Test phase")."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pyod_gessvdd.dual import QPSolution
from pyod_gessvdd.preprocessing import Scaling
from pyod_gessvdd.residual import ResidualAxis

Array = np.ndarray

#: Scores this close to 1 are on the sphere; support vectors on it were measured to come within 3e-13.
ON_THE_SPHERE = 1e-11


@dataclass(frozen=True)
class Description:
    """The sphere that describes the training data.

    Attributes
    ----------
    projection : ndarray of shape (d, F)
        S_Q^{-1/2} Q.
    offset : ndarray of shape (d,)
        The image of the training mean, subtracted from every projected row.
    center : ndarray of shape (d,), or (d + 1,) with a residual axis
        u (paper eq. ``der2``).
    radius2 : float
        R² (paper eq. ``rsquare``), at least the rounding error of a squared distance, so that it can divide.
    axis : ResidualAxis or None
        The last coordinate, if what the projection discards counts.
    """

    projection: Array
    offset: Array
    center: Array
    radius2: float
    axis: ResidualAxis | None = None

    @classmethod
    def from_sphere(
        cls, projection: Array, feature_mean: Array, sphere: QPSolution, axis: ResidualAxis | None = None
    ) -> Description:
        """The description that a solved sphere gives; a radius of zero (equal points) is lifted to rounding."""
        offset = projection @ feature_mean
        # In the unit of the data: what is small in one unit is not in another.
        size2 = float(sphere.center @ sphere.center + offset @ offset) or 1.0
        rounding = (16 * np.finfo(float).eps) ** 2 * size2
        axis = None if axis is None else replace(axis, mean=feature_mean)
        return cls(projection, offset, sphere.center, max(sphere.radius2, rounding), axis)

    def of_rows(self, scaling: Scaling) -> Description:
        """The same description as a function of unscaled rows, where rows are their own features."""
        scale = 1.0 if scaling.scale is None else scaling.scale
        projection = self.projection / scale
        mean = np.zeros(projection.shape[1]) if scaling.mean is None else scaling.mean
        return replace(self, projection=projection, offset=self.offset + projection @ mean)

    def project(self, Phi: Array, missed: Array | None = None) -> Array:
        """Z = S_Q^{-1/2} Q (φ − mean) of each row (paper eq. ``test``), and the residual's coordinate, if there is one.

        Parameters
        ----------
        Phi : ndarray of shape (n, F)
            The features.
        missed : ndarray of shape (n,), optional
            What the features miss of each row (``Kernel.residual``); for a description with a residual axis only.
        """
        Z = Phi @ self.projection.T - self.offset
        return Z if self.axis is None or missed is None else np.column_stack([Z, self.axis.coordinate(Phi, missed)])

    def scores(self, Phi: Array, missed: Array | None = None) -> Array:
        """‖z − u‖² / R² of each row: 1 on the sphere, more outside (paper eq. ``test1``).

        Within rounding of the sphere a row is on it, and its score is exactly 1: "≤ R" must not depend on the last bit.
        """
        if self.axis is None:
            difference = Phi @ self.projection.T
            difference -= self.offset + self.center
        else:
            difference = self.project(Phi, missed) - self.center
        scores = np.einsum("ij,ij->i", difference, difference) / self.radius2
        scores[np.abs(scores - 1.0) <= ON_THE_SPHERE] = 1.0
        return scores

    def contributions(self, Phi: Array, center: Array) -> Array:
        """What each feature adds to the score, of shape (n, F), for features that miss nothing of a row.

        With a the mean of the training features weighted by α, whose image is the sphere's centre, the score is the
        quadratic form ‖P(φ − a)‖²/R² and feature j's part of it (φ_j − a_j) (Pᵀ P (φ − a))_j / R²: its Shapley value,
        and the integral of the gradient from a to φ. The residual's part is :meth:`ResidualAxis.contributions`.

        Parameters
        ----------
        Phi : ndarray of shape (n, F)
            The features.
        center : ndarray of shape (F,)
            a, the preimage of the sphere's centre.
        """
        d = len(self.projection)
        parts = (Phi - center) * ((self.project(Phi) - self.center[:d]) @ self.projection)
        if self.axis is not None:
            parts += self.axis.contributions(Phi)
        return parts / self.radius2

    def base(self, center: Array) -> float:
        """What the contributions leave of the score: nothing."""
        return 0.0

    def outline(self, coordinates: list[int], reach: float) -> Array:
        """The boundary as it is drawn in one or two coordinates: points of its curve, or of the line its ends.

        Parameters
        ----------
        coordinates : list of int
            Which; the sphere is projected onto them.
        reach : float
            How far boundaries without an end are drawn.
        """
        center, radius = self.center[coordinates], np.sqrt(self.radius2)
        if len(coordinates) == 1:
            return center + radius * np.array([[-1.0], [1.0]])
        angles = np.linspace(0.0, 2.0 * np.pi, 361)
        return center + radius * np.column_stack([np.cos(angles), np.sin(angles)])

    def gradient(self, Phi: Array, missed: Array) -> tuple[Array, Array]:
        """How each row's score changes with its features, of shape (n, F), and with what they miss of it, (n,)."""
        d = len(self.projection)
        coordinates = self.project(Phi, missed)
        difference = 2.0 / self.radius2 * (coordinates - self.center)
        by_features = difference[:, :d] @ self.projection
        if self.axis is None:
            return by_features, np.zeros(len(Phi))
        outside, by_missed = self.axis.gradient(Phi, coordinates[:, d])
        return by_features + difference[:, d, None] * outside, difference[:, d] * by_missed
