"""The checks of a QP backend: feasible, optimal by the host's certificate, on ordinary problems and at the edge."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyod_gessvdd.checks import data
from pyod_gessvdd.checks.check import CheckFailed, CheckFunction, require
from pyod_gessvdd.checks.common import Kind, common_checks
from pyod_gessvdd.components.validation import real_array
from pyod_gessvdd.dual import QPSolution, SVDDDual, project_to_feasible, upper_bounds
from pyod_gessvdd.qp import INEXACT_TOL

Array = np.ndarray

#: How far α may miss its constraints before the host puts it right, relative to one and to the largest bound.
FEASIBLE = 1e-6
#: The same for a backend that does not claim to be exact.
NEARLY_FEASIBLE = 1e-3


def _dual(
    Z: Array,
    C: float | None = None,
    nu: float | None = None,
    weights: Array | None = None,
    residual2: Array | float = 0.0,
) -> SVDDDual:
    """The dual of these points as the host passes it: around the origin, with a linear term of mean one."""
    Z = Z - Z.mean(axis=0)
    linear = (Z**2).sum(axis=1) + residual2
    scale2 = linear.mean()
    # With equal bounds ``upper`` is one number seen N times, which cannot be written to.
    return SVDDDual(Z / np.sqrt(scale2), upper_bounds(len(Z), C, nu, weights), linear=linear / scale2)


def _problem(seed: int, n_rows: int = 80) -> SVDDDual:
    return _dual(data.rows(seed, n_rows), nu=0.2)


def _weights() -> Array:
    weights = np.random.default_rng(0).uniform(0.2, 3.0, size=80)
    weights[::10] = 0.0
    return weights


def _solve(backend: Any, dual: SVDDDual, warm_start: Array | None = None) -> Array:
    """α as the backend returned it."""
    answer = backend.solve(dual, warm_start)
    return real_array(answer.alpha if isinstance(answer, QPSolution) else answer, "solve")


def _center(backend: Any, dual: SVDDDual) -> dict[str, Array]:
    """The optimal α need not be unique, the sphere's centre is."""
    return {"centre of the sphere": project_to_feasible(_solve(backend, dual), dual.upper) @ dual.Z}


def _tolerance(backend: Any) -> float:
    # The centre is within the root of the gap.
    return 1e-3 if backend.exact else 1e-2


def _detector(backend: Any) -> tuple[dict[str, Any], Array, Array]:
    return {"kernel": "linear", "n_components": 2, "laplacian": "pca"}, data.rows(0), data.rows(1)[:10]


KIND = Kind(
    name="qp_backend",
    inputs=lambda backend, seed: _problem(seed),
    arrays=lambda dual: {"dual.Z": dual.Z, "dual.upper": dual.upper, "dual.linear": dual.linear},
    answer=_center,
    tolerance=_tolerance,
    detector=_detector,
)


def _require_shape(alpha: Array, dual: SVDDDual, on: str) -> None:
    require(
        alpha.shape == (dual.n_samples,),
        f"solve returned alpha of shape {alpha.shape} on {on}; return shape ({dual.n_samples},), one number per point",
    )
    require(np.isfinite(alpha).all(), f"alpha holds NaN or infinite values on {on}")


def _require_feasible(backend: Any, alpha: Array, dual: SVDDDual, on: str) -> None:
    slack = FEASIBLE if backend.exact else NEARLY_FEASIBLE
    total = float(alpha.sum())
    require(
        abs(total - 1.0) <= slack,
        f"alpha sums to {total:.9g} on {on}; the constraint is Σα = 1, not a bound on the sum",
    )
    largest = float(dual.upper.max())
    below = float(alpha.min())
    require(below >= -slack * largest, f"alpha falls to {below:.3g} on {on}; the constraint is α ≥ 0")
    worst = int(np.argmax(alpha - dual.upper))
    require(
        alpha[worst] - dual.upper[worst] <= slack * largest,
        f"alpha[{worst}] is {alpha[worst]:.6g} on {on}, above its bound {dual.upper[worst]:.6g}; point i's bound is "
        "dual.upper[i], which need not be the same for all",
    )


def _require_optimal(backend: Any, alpha: Array, dual: SVDDDual, on: str) -> None:
    allowed = dual.tol if backend.exact else max(dual.tol, INEXACT_TOL)
    gap = dual.gap(project_to_feasible(alpha, dual.upper))
    remedy = "solve more precisely" if gap < 1e-2 else "maximise Σ α_i k_i − ‖Zᵀα‖² with k = dual.linear"
    remedy += ", or declare exact = False" if backend.exact and gap <= INEXACT_TOL else ""
    require(gap <= allowed, f"the relative duality gap on {on} is {gap:.1e}, above {allowed:.0e}; {remedy}")


def _check_on(backend: Any, dual: SVDDDual, on: str) -> None:
    """Shape, feasibility and optimality at once."""
    try:
        alpha = _solve(backend, dual)
    except Exception as error:
        raise CheckFailed(f"on {on} solve raised {type(error).__name__} ({error})") from error
    _require_shape(alpha, dual, on)
    _require_feasible(backend, alpha, dual, on)
    _require_optimal(backend, alpha, dual, on)


def check_qp_backend_shape(backend: Any) -> None:
    """``solve`` returns a ``QPSolution``, or α itself, of shape (N,)."""
    dual = _problem(0)
    _require_shape(_solve(backend, dual), dual, f"{dual.n_samples} points")


def check_qp_backend_is_feasible(backend: Any) -> None:
    """α sums to one, is not negative, and is not above C, before the host puts the rest right."""
    for C in (1 / 16, 0.3):
        dual = _dual(data.rows(0, 80), C=C)
        _require_feasible(backend, _solve(backend, dual), dual, f"80 points with C = {C:.3g}")


def check_qp_backend_is_optimal(backend: Any) -> None:
    """The host's duality gap is at most ``dual.tol``, or 1e-6 for a backend that declares ``exact = False``."""
    for nu in (0.05, 0.2, 0.7):
        for n_columns in (2, 10):
            dual = _dual(data.rows(1, 100, n_columns), nu=nu)
            alpha = _solve(backend, dual)
            _require_optimal(backend, alpha, dual, f"100 points in {n_columns} dimensions with nu = {nu:g}")


def check_qp_backend_respects_each_bound(backend: Any) -> None:
    """With sample weights each α_i stays below its own bound, and zero where the weight is zero."""
    dual = _dual(data.rows(0, 80), nu=0.2, weights=_weights())
    alpha = _solve(backend, dual)
    _require_feasible(backend, alpha, dual, "weighted points")


def check_qp_backend_is_optimal_with_weights(backend: Any) -> None:
    """The duality gap is closed with sample weights too, which count as copies of a point."""
    dual = _dual(data.rows(0, 80), nu=0.2, weights=_weights())
    _require_optimal(backend, _solve(backend, dual), dual, "weighted points")


def check_qp_backend_uses_the_linear_term(backend: Any) -> None:
    """The duality gap is closed where the linear term is ‖z_i‖² + r_i²: points with a part outside the space of Z."""
    residual2 = np.random.default_rng(0).exponential(3.0, size=80)
    for name, weights in (("points", None), ("weighted points", _weights())):
        dual = _dual(data.rows(0, 80), nu=0.2, weights=weights, residual2=residual2)
        _check_on(backend, dual, f"{name} with a residual, whose dual.linear is not ‖z_i‖²")


def check_qp_backend_warm_start(backend: Any) -> str | None:
    """A warm start, near or far, leads to the same sphere as a cold one."""
    if not backend.supports_warm_start:
        return "it declares supports_warm_start = False"
    dual = _problem(0)
    cold = project_to_feasible(_solve(backend, dual), dual.upper)
    corner = np.zeros(dual.n_samples)
    corner[:16] = 1 / 16
    for name, start in (("the solution", cold), ("equal", dual.upper / dual.upper.sum()), ("a corner", corner)):
        kept = start.copy()
        alpha = project_to_feasible(_solve(backend, dual, start), dual.upper)
        require(np.array_equal(kept, start), "it changes warm_start, which belongs to the host; work on a copy")
        allowed = dual.tol if backend.exact else INEXACT_TOL
        gap = dual.gap(alpha)
        require(
            gap <= allowed,
            f"started warm from {name} it stops at a relative duality gap of {gap:.1e}, above {allowed:.0e}; go on "
            "until the gap is closed, or declare supports_warm_start = False",
        )
    return None


def check_qp_backend_ignores_the_order_of_points(backend: Any) -> None:
    """Points in another order lie in the same sphere."""
    dual = _problem(0)
    order = np.random.default_rng(0).permutation(dual.n_samples)
    moved = dual.take(order)
    first, second = (next(iter(_center(backend, each).values())) for each in (dual, moved))
    distance = float(np.linalg.norm(first - second))
    require(
        distance <= _tolerance(backend),
        f"the same points in another order have their centre {distance:.1g} away; let nothing depend on a row's number",
    )


def check_qp_backend_on_one_dimension(backend: Any) -> None:
    """Points on a line are solved."""
    _check_on(backend, _dual(data.rows(0, 50, 1), nu=0.2), "points on a line")


def check_qp_backend_on_many_dimensions(backend: Any) -> None:
    """More dimensions than points are solved."""
    _check_on(backend, _dual(data.rows(0, 30, 50), nu=0.3), "30 points in 50 dimensions")


def check_qp_backend_on_duplicates(backend: Any) -> None:
    """Points that occur six times each, whose α is not unique, are solved."""
    _check_on(backend, _dual(np.tile(data.rows(0, 10), (6, 1)), nu=0.2), "points that occur six times each")


def check_qp_backend_on_a_constant_column(backend: Any) -> None:
    """Points with a dimension in which nothing varies are solved."""
    Z = data.rows(0, 50)
    Z[:, 0] = 0.0
    _check_on(backend, _dual(Z, nu=0.2), "points with a constant dimension")


def check_qp_backend_on_few_points(backend: Any) -> None:
    """Two and three points are solved."""
    for N in (2, 3):
        _check_on(backend, _dual(data.rows(0, N, 2), C=0.9), f"{N} points")


def check_qp_backend_with_every_point_inside(backend: Any) -> None:
    """C = 1, the smallest sphere around all points, is solved."""
    _check_on(backend, _dual(data.rows(0, 50), C=1.0), "50 points with C = 1")


def check_qp_backend_with_hardly_any_freedom(backend: Any) -> None:
    """C just above 1/N, where nearly every α is at its bound, is solved."""
    _check_on(backend, _dual(data.rows(0, 50), C=1.001 / 50), "50 points with C = 1.001/N")


def check_qp_backend_with_a_far_outlier(backend: Any) -> None:
    """A point a thousand times as far away as the others, which sets the scale, is solved."""
    Z = data.rows(0, 50)
    Z[7] *= 1000.0
    _check_on(backend, _dual(Z, nu=0.2), "points with a far outlier")


CHECKS: tuple[CheckFunction, ...] = (
    *common_checks(KIND),
    check_qp_backend_shape,
    check_qp_backend_is_feasible,
    check_qp_backend_is_optimal,
    check_qp_backend_respects_each_bound,
    check_qp_backend_is_optimal_with_weights,
    check_qp_backend_uses_the_linear_term,
    check_qp_backend_warm_start,
    check_qp_backend_ignores_the_order_of_points,
    check_qp_backend_on_one_dimension,
    check_qp_backend_on_many_dimensions,
    check_qp_backend_on_duplicates,
    check_qp_backend_on_a_constant_column,
    check_qp_backend_on_few_points,
    check_qp_backend_with_every_point_inside,
    check_qp_backend_with_hardly_any_freedom,
    check_qp_backend_with_a_far_outlier,
)
