"""The slab of one-class kernel spectral regression: how far a row's regression on a constant is from that constant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pyod_gessvdd.boundaries.boundary import Boundary, snapped
from pyod_gessvdd.components.contracts import QPBackend
from pyod_gessvdd.dual import QPSolution, SVDDDual

Array = np.ndarray

#: Scores this close to 1 are on the slab's surface.
ON_THE_SLAB = 1e-11
#: A squared deviation below this is rounding: the rows are fitted exactly.
ROUNDING = 1e-20


@dataclass(frozen=True, eq=False)
class Slab(Boundary):
    """|w·z − 1| ≤ r: the space between two hyperplanes, around the one that holds the mean of the points.

    The regression of the target 1 on all points, in coordinates in which their second moment is the identity, has the
    points' mean c as its coefficients, up to a factor: w = c/‖c‖². The score is (w·z − 1)²/r².

    Attributes
    ----------
    normal : ndarray of shape (d,)
        w.
    radius2 : float
        r², which the share ν of the points exceeds: the bounds of the farthest points sum to one there.
    """

    normal: Array
    radius2: float

    degree = 2

    @classmethod
    def fit(
        cls,
        Z: Array,
        residual2: Array | None,
        upper: Array,
        *,
        backend: QPBackend,
        tol: float,
        last_alpha: Array | None = None,
    ) -> tuple[Slab, QPSolution]:
        """In closed form: every point has its share of the bounds as its α, and there is no dual to solve."""
        alpha = upper / upper.sum()
        center = alpha @ Z
        length2 = float(center @ center)
        if not length2 > np.finfo(float).eps * float(np.einsum("ij,ij->", Z, Z)) / len(Z):
            raise ValueError(
                "the rows' mean is the origin of the feature space, and a constant cannot be regressed on them; "
                "use kernel='rbf', whose features all lie on one side of it"
            )
        normal = center / length2
        deviations = (Z @ normal - 1.0) ** 2
        objective = float(alpha @ deviations)
        # As for the sphere: where the bounds of the farthest points have summed to one.
        _, (low, high) = SVDDDual(Z, upper, linear=deviations).farthest(deviations)
        radius2 = (low + high) / 2
        solution = QPSolution(
            alpha,
            center=center,
            radius2=radius2,
            radius2_interval=(low, high),
            objective=objective,
            gap=0.0,
            upper=upper,
            status="solved in closed form",
        )
        return cls(normal, radius2), solution

    @property
    def unit(self) -> float:
        """r², or the rounding error of a squared deviation if that is larger: safe to divide by."""
        return max(self.radius2, ROUNDING)

    def scores(self, Z: Array, residual2: Array | None = None) -> Array:
        """(w·z − 1)²/r²: 1 on the surface, more outside; far from all rows w·z is zero."""
        return snapped((Z @ self.normal - 1.0) ** 2 / self.unit, ON_THE_SLAB)

    def gradient(self, Z: Array) -> tuple[Array, float]:
        """2 (w·z − 1) w/r², and nothing for the residuals."""
        return np.outer(2.0 / self.unit * (Z @ self.normal - 1.0), self.normal), 0.0

    def base(self, center: Array) -> float:
        """Nothing: the score of the points' mean is zero, and the contributions add up to the score."""
        return 0.0

    def outline(self, coordinates: list[int], reach: float) -> Array:
        """The slab cut by the coordinates' plane through the points' mean: the corners of a strip, or two ends."""
        length2 = float(self.normal @ self.normal)
        center, normal = (self.normal / length2)[coordinates], self.normal[coordinates]
        norm2 = float(normal @ normal)
        if norm2 == 0:
            return np.zeros((0, len(coordinates)))
        across = normal * np.sqrt(self.unit) / norm2
        if len(coordinates) == 1:
            return center + np.array([[-1.0], [1.0]]) * across
        along = reach * np.array([-normal[1], normal[0]]) / np.sqrt(norm2)
        return center + np.array([across - along, across + along, along - across, -across - along])

    def published(self) -> dict[str, Any]:
        """W and r."""
        return {"coef_": self.normal, "radius_": float(np.sqrt(self.radius2))}
