"""The one-class SVM's hyperplane in place of the sphere: its solution, certified like the sphere's, and its scores."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pyod_gessvdd.boundaries.boundary import Boundary, snapped
from pyod_gessvdd.components.contracts import QPBackend
from pyod_gessvdd.dual import QPSolution, SVDDDual, project_to_feasible
from pyod_gessvdd.errors import warn
from pyod_gessvdd.linalg import RELATIVE_ZERO

Array = np.ndarray

#: LIBSVM's stopping tolerance, for points of unit scale, and the largest number of its steps.
TOLERANCE, MAX_STEPS = 1e-7, 1_000_000
#: The relative duality gap above which the user is warned.
ALLOWED_GAP = 1e-5

#: Scores this close to 1 are on the hyperplane; LIBSVM's own precision was measured to be 3e-6.
ON_THE_HYPERPLANE = 1e-5


def solve_hyperplane(Z: Array, upper: Array) -> QPSolution:
    """The hyperplane w·z = ρ that separates most rows of Z from the origin with the largest distance to it.

    The dual is min ½‖Zᵀα‖² under the same Σα = 1, 0 ≤ α ≤ u as the sphere's. At w = Zᵀα its relative duality gap is
    1 − min(α'·Zw)/‖w‖² over all feasible α': one partial sort, whatever LIBSVM claims.

    Parameters
    ----------
    Z : ndarray of shape (N, d)
        The points; overwritten.
    upper : ndarray of shape (N,)
        The bounds of α.

    Returns
    -------
    QPSolution
        ``center`` is w, ``extras["rho"]`` is ρ, ``radius2`` is the squared distance of the hyperplane from the origin.
    """
    scale = float(np.sqrt(np.einsum("ij,ij->", Z, Z) / len(Z)))
    if scale > 0:
        Z /= scale
    alpha, n_iter = _libsvm(Z, upper)
    w = alpha @ Z
    margins = Z @ w
    dual = SVDDDual(Z, upper)
    nearest, weights = dual.best_vertex(-margins)
    worst, norm2 = float(weights @ margins[nearest]), float(w @ w)
    # If the origin is a feasible mean of the points, it is one of their margins too, and the worst is not above zero.
    if not worst > 0:
        raise ValueError(
            "no hyperplane separates the rows from the origin of the feature space, which lies among them; "
            "use kernel='rbf', whose features all lie on one side of it"
        )
    gap = max(0.0, 1.0 - worst / norm2)
    if gap > ALLOWED_GAP:
        warn(
            f"LIBSVM stopped at a relative duality gap of {gap:.1e}, above the {ALLOWED_GAP:.1e} allowed",
            ConvergenceWarning,
        )
    solution = QPSolution(alpha, upper=upper)
    rho = _offset(margins, solution)
    return QPSolution(
        alpha,
        center=w * scale,
        radius2=rho**2 / norm2 * scale**2,
        objective=-0.5 * norm2 * scale**2,
        gap=gap,
        upper=upper,
        n_iter=n_iter,
        backend="libsvm",
        extras={"rho": rho * scale**2},
    )


def _libsvm(Z: Array, upper: Array) -> tuple[Array, int]:
    from sklearn.svm import OneClassSVM

    if upper.sum() <= 1.0 + RELATIVE_ZERO:  # only one α is feasible
        return upper / upper.sum(), 0
    rows = np.flatnonzero(upper)
    largest = float(upper.max())
    weights = upper[rows] / largest
    # LIBSVM lets α sum to nu times the sum of the weights; ours sum to one.
    nu = min(1.0, 1.0 / (largest * float(weights.sum())))
    model = OneClassSVM(kernel="linear", nu=nu, tol=TOLERANCE, max_iter=MAX_STEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gap tells how good the answer is
        model.fit(Z[rows], sample_weight=weights)
    alpha = np.zeros(len(upper))
    alpha[rows[model.support_]] = model.dual_coef_[0] * largest
    return project_to_feasible(alpha, upper), int(model.n_iter_)


def _offset(margins: Array, solution: QPSolution) -> float:
    """ρ: the margin of the points on the hyperplane; if there are none, the middle of its interval."""
    if len(solution.boundary):
        return float(margins[solution.boundary].mean())
    inside = np.delete(margins, solution.outside)
    low = float(margins[solution.outside].max())
    return (low + float(inside.min())) / 2 if len(inside) else low


@dataclass(frozen=True, eq=False)
class HalfSpace(Boundary):
    """The side of the hyperplane w·z = ρ that holds most points; the origin is on the other.

    Attributes
    ----------
    normal : ndarray of shape (d,)
        w.
    rho : float
        ρ > 0.
    """

    normal: Array
    rho: float

    degree = 1

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
    ) -> tuple[HalfSpace, QPSolution]:
        """The one-class SVM's hyperplane, by LIBSVM whatever the backend; it has no residual."""
        solution = solve_hyperplane(Z, upper)
        return cls(solution.center, float(solution.extras["rho"])), solution

    def scores(self, Z: Array, residual2: Array | None = None) -> Array:
        """1 + (ρ − w·z)/ρ: 1 on the hyperplane, 2 at the level of the origin, less than 1 on the data's side."""
        return snapped(2.0 - (Z @ self.normal) / self.rho, ON_THE_HYPERPLANE)

    def gradient(self, Z: Array) -> tuple[Array, float]:
        """−w/ρ for every point, and nothing for the residuals."""
        return np.broadcast_to(self.normal / -self.rho, Z.shape), 0.0

    def base(self, center: Array) -> float:
        """The score of the mean weighted by α, on the data's side of the hyperplane."""
        return float(self.scores(center[None])[0])

    def outline(self, coordinates: list[int], reach: float) -> Array:
        """The line in which the hyperplane cuts the coordinates' plane through w, the rows' mean weighted by α."""
        normal = self.normal[coordinates]
        norm2 = float(normal @ normal)
        if norm2 == 0:
            return np.zeros((0, len(coordinates)))
        foot = normal * (self.rho - float(self.normal @ self.normal) + norm2) / norm2
        if len(coordinates) == 1:
            return foot[None]
        along = np.array([-normal[1], normal[0]]) / np.sqrt(norm2)
        return foot + reach * np.array([[-1.0], [1.0]]) * along

    def published(self) -> dict[str, Any]:
        """W and ρ."""
        return {"coef_": self.normal, "rho_": self.rho}
