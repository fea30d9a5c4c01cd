"""The sphere of SVDD (paper eqs. ``erfuncSVDD2``, ``test1``): the score is dist²/R²."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pyod_gessvdd.boundaries.boundary import Boundary, snapped
from pyod_gessvdd.components.contracts import QPBackend
from pyod_gessvdd.dual import QPSolution
from pyod_gessvdd.linalg import shift_rows
from pyod_gessvdd.qp import solve_in_place
from pyod_gessvdd.qp.signed import outlier_bounds, solve_signed

Array = np.ndarray

#: Scores this close to 1 are on the sphere; support vectors on it were measured to come within 3e-13.
ON_THE_SPHERE = 1e-11


@dataclass(frozen=True, eq=False)
class Sphere(Boundary):
    """The smallest sphere that leaves some points outside; its centre lies in the subspace.

    Attributes
    ----------
    center : ndarray of shape (d,)
        u (paper eq. ``der2``).
    radius2 : float
        R² (paper eq. ``rsquare``).
    """

    center: Array
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
    ) -> tuple[Sphere, QPSolution]:
        """Solve the SVDD dual, with the residuals as its linear term."""
        solution = solve_in_place(Z, upper, backend, tol, last_alpha, residual2)
        return cls(solution.center, solution.radius2), solution

    @classmethod
    def fit_with_outliers(
        cls,
        Z: Array,
        residual2: Array | None,
        upper: Array,
        n_outliers: int,
        *,
        backend: QPBackend,
        tol: float,
        last_alpha: Array | None = None,
    ) -> tuple[Sphere, QPSolution]:
        """:meth:`fit` where the last points are labelled outliers, which should be outside; their α is negative.

        Parameters
        ----------
        Z, residual2, backend, tol, last_alpha
            As in :meth:`fit`.
        upper : ndarray of shape (N − n_outliers,)
            The bounds of the other points' α.
        n_outliers : int
            How many points are labelled outliers.
        """
        outliers = np.arange(len(Z)) >= len(Z) - n_outliers
        bounds = np.concatenate([upper, outlier_bounds(upper, n_outliers)])
        solution = solve_signed(Z, bounds, outliers, backend, tol, last_alpha, residual2)
        return cls(solution.center, solution.radius2), solution

    @cached_property
    def unit(self) -> float:
        """R², or the rounding error of a squared distance if that is larger: safe to divide by."""
        # In the unit of the data: what is small in one unit is not in another.
        size2 = float(self.center @ self.center) or 1.0
        return max(self.radius2, (16 * np.finfo(float).eps) ** 2 * size2)

    def scores(self, Z: Array, residual2: Array | None = None) -> Array:
        """(‖z − u‖² + r²) / R² of each point: 1 on the sphere, more outside (paper eq. ``test1``)."""
        shift_rows(Z, self.center, out=Z)
        squares = np.einsum("ij,ij->i", Z, Z)
        if residual2 is not None:
            squares += residual2
        return snapped(squares / self.unit, ON_THE_SPHERE)

    def gradient(self, Z: Array) -> tuple[Array, float]:
        """2 (z − u)/R², and 1/R²."""
        return 2.0 / self.unit * (Z - self.center), 1.0 / self.unit

    def base(self, center: Array) -> float:
        """Nothing: the contributions add up to the score."""
        return 0.0

    def outline(self, coordinates: list[int], reach: float) -> Array:
        """The sphere projected onto the coordinates: a circle, or the two ends of an interval.

        The coordinate after the last is the residual's, where the centre is zero.
        """
        center, radius = np.append(self.center, 0.0)[coordinates], np.sqrt(self.unit)
        if len(coordinates) == 1:
            return center + radius * np.array([[-1.0], [1.0]])
        angles = np.linspace(0.0, 2.0 * np.pi, 361)
        return center + radius * np.column_stack([np.cos(angles), np.sin(angles)])

    def published(self) -> dict[str, Any]:
        """Centre and radius."""
        return {"center_": self.center, "radius_": float(np.sqrt(self.radius2))}
