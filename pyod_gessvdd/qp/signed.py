"""The SVDD dual with negative examples (Tax and Duin, 2004), solved by any backend as a dual without signs.

Labelled outliers should lie outside: with the signed β_i = α_i of a row and −α_l of an outlier, c = Zᵀβ, it is

    maximise  Σ β_i k_i − ‖Zᵀβ‖²   subject to  Σ β_i = 1,  0 ≤ β_i ≤ u_i for rows,  −u_l ≤ β_l ≤ 0 for outliers.

The primal is convex, since with ρ = R² − ‖c‖² its constraints are linear in c and ρ. Its value at c is one partial
sort again: the largest Σ β_i d_i over the feasible β, with d_i the squared distances from c. Moved to β = l + Bα,
with l the lower bounds and B = 1 − Σl, the problem is a dual without signs of the same points, the bounds u/B and the
linear term (k − 2 Z Zᵀl)/B, up to a constant. A constant in the linear term changes no α, so one that makes it a
squared length and a residual is added: every backend solves it, and its certificate is computed here for the problem
with the signs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pyod_gessvdd.components.contracts import QPBackend
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.dual import QPSolution, SVDDDual, upper_bounds
from pyod_gessvdd.errors import NotSolvedError, warn
from pyod_gessvdd.qp import GAP_REFUSED, INEXACT_TOL, solve_in_place, solve_kernel_svdd

Array = np.ndarray

#: The smallest gap that a backend is asked for.
SMALLEST_TOL = 1e-14
#: How often a problem is solved again with a smaller gap: the constant in the linear term makes a relative gap look
#: small.
MAX_SOLVES = 4


def solve_signed_svdd(
    Z: Any,
    outliers: Any,
    C: float | None = None,
    *,
    nu: float | None = None,
    backend: Any = "auto",
    tol: float = 1e-8,
) -> QPSolution:
    """The smallest sphere that holds most rows of Z and leaves the labelled outliers outside (Tax and Duin, 2004).

    Parameters
    ----------
    Z : array of shape (N, d)
        The points, the outliers among them.
    outliers : array of bool of shape (N,)
        Which points are labelled outliers.
    C, nu, backend, tol
        As in :func:`~pyod_gessvdd.qp.solve_svdd`; N is the number of the other points.

    Returns
    -------
    QPSolution
        ``alpha`` is β: negative for outliers. ``gap`` is that of the problem with signs.

    Examples
    --------
    >>> from pyod_gessvdd.qp.signed import solve_signed_svdd
    >>> sphere = solve_signed_svdd([[0.0], [2.0], [4.0]], [False, False, True], C=1.0)
    >>> [float(x) for x in sphere.center], round(sphere.radius2, 6)
    ([1.0], 1.0)
    """
    Z, outliers = np.array(Z, dtype=float), np.asarray(outliers)
    if outliers.dtype != bool or outliers.shape != Z.shape[:1]:
        raise ValueError(
            f"outliers must hold True or False for each of the {len(Z)} points, got an array of shape {outliers.shape} "
            f"and type {outliers.dtype}"
        )
    upper = np.empty(len(Z))
    upper[~outliers] = upper_bounds(int((~outliers).sum()), C, nu)
    upper[outliers] = outlier_bounds(upper[~outliers], int(outliers.sum()))
    return solve_signed(Z, upper, outliers, resolve("qp_backend", backend), tol)


def outlier_bounds(upper: Array, n_outliers: int) -> Array:
    """The bounds of labelled outliers: together they weigh as much as all rows, whose bounds are given."""
    return np.full(n_outliers, float(upper.sum()) / max(n_outliers, 1))


def solve_signed(
    Z: Array,
    upper: Array,
    outliers: Array,
    solver: QPBackend,
    tol: float,
    warm_start: Array | None = None,
    residual2: Array | None = None,
) -> QPSolution:
    """:func:`solve_signed_svdd` with given bounds; ``warm_start`` is a β, Z is not changed.

    Parameters
    ----------
    Z : ndarray of shape (N, d)
        The points.
    upper : ndarray of shape (N,)
        u, the bounds of |β|.
    outliers : ndarray of bool of shape (N,)
        The points whose β is not positive.
    solver, tol, residual2
        As in :func:`~pyod_gessvdd.qp.solve_in_place`.
    warm_start : ndarray of shape (N,), optional
        The β of a related problem.
    """
    residual2 = np.zeros(len(Z)) if residual2 is None else residual2

    def unsigned(bounds: Array, gap: float, start: Array | None, outside: Array) -> QPSolution:
        return solve_in_place(Z.copy(), bounds, solver, gap, start, outside)

    def distances(beta: Array) -> tuple[Array, Array]:
        center = beta @ Z
        away = Z - center
        return center, np.einsum("ij,ij->i", away, away) + residual2

    # Around the rows' mean: z_i·z0 would lose digits far from the origin, and the sphere does not see a shift.
    away = Z - Z.mean(axis=0)
    squares = np.einsum("ij,ij->i", away, away)
    return _solve(
        upper,
        outliers,
        solver,
        tol,
        warm_start,
        linear=squares + residual2,
        inner=away @ (_lower(upper, outliers) @ away),
        squares=squares,
        unsigned=unsigned,
        distances=distances,
    )


def solve_signed_kernel(
    K: Array, upper: Array, outliers: Array, solver: QPBackend, tol: float, warm_start: Array | None = None
) -> QPSolution:
    """:func:`solve_signed` for points that are given by their inner products, as in ``solve_kernel_svdd``.

    ``extras["center_norm2"]`` is ‖c‖² = βᵀKβ.
    """

    def unsigned(bounds: Array, gap: float, start: Array | None, outside: Array) -> QPSolution:
        return solve_kernel_svdd(K, bounds, solver, gap, start, outside)

    def distances(beta: Array) -> tuple[Array, Array]:
        product = K @ beta
        return np.zeros(0), np.maximum(K.diagonal() - 2.0 * product + float(beta @ product), 0.0)

    solution = _solve(
        upper,
        outliers,
        solver,
        tol,
        warm_start,
        linear=K.diagonal(),
        inner=K @ _lower(upper, outliers),
        squares=K.diagonal(),
        unsigned=unsigned,
        distances=distances,
    )
    solution.extras["center_norm2"] = float(solution.alpha @ (K @ solution.alpha))
    return solution


def _lower(upper: Array, outliers: Array) -> Array:
    return np.where(outliers, -upper, 0.0)


def _solve(
    upper: Array,
    outliers: Array,
    solver: QPBackend,
    tol: float,
    warm_start: Array | None,
    *,
    linear: Array,
    inner: Array,
    squares: Array,
    unsigned: Callable[[Array, float, Array | None, Array], QPSolution],
    distances: Callable[[Array], tuple[Array, Array]],
) -> QPSolution:
    """Solve the problem without signs until the gap of the one with signs is small enough."""
    lower = _lower(upper, outliers)
    budget = 1.0 - float(lower.sum())
    bounds = upper / budget
    shifted = (linear - 2.0 * inner) / budget - squares
    shifted -= min(float(shifted.min()), 0.0)
    allowed = tol if solver.exact else max(tol, INEXACT_TOL)
    start = None if warm_start is None else (warm_start - lower) / budget
    gap_asked = tol
    for _ in range(MAX_SOLVES):
        with warnings.catch_warnings():
            # Whether the gap is small enough is decided below, for the problem with the signs.
            warnings.simplefilter("ignore", ConvergenceWarning)
            answer = unsigned(bounds, gap_asked, start, shifted)
        beta = lower + budget * answer.alpha
        beta[outliers] = np.minimum(beta[outliers], 0.0)
        center, away = distances(beta)
        objective, gap, interval = _certificate(SVDDDual(np.zeros((len(upper), 1)), bounds), beta, lower, budget, away)
        if gap <= allowed or gap_asked <= SMALLEST_TOL:
            break
        gap_asked, start = max(gap_asked * min(0.1, 0.1 * allowed / gap), SMALLEST_TOL), answer.alpha
    if gap > GAP_REFUSED:
        raise NotSolvedError(
            f"QP backend {solver.name!r} did not solve the SVDD dual with labelled outliers: relative duality gap "
            f"{gap:.1e}; try qp_backend='auto'"
        )
    if gap > allowed:
        warn(
            f"QP backend {solver.name!r} stopped at a relative duality gap of {gap:.1e} in the dual with labelled "
            f"outliers, above the {allowed:.1e} asked for",
            ConvergenceWarning,
        )
    return QPSolution(
        beta,
        center,
        sum(interval) / 2,
        interval,
        objective,
        gap,
        upper,
        answer.n_iter,
        answer.status,
        solver.name,
        {**answer.extras},
    )


def _certificate(
    dual: SVDDDual, beta: Array, lower: Array, budget: float, distances: Array
) -> tuple[float, float, tuple[float, float]]:
    """D(β), the relative duality gap and the interval of R² of a feasible β; the distances are overwritten."""
    objective, fixed = float(beta @ distances), float(lower @ distances)
    largest, interval = dual.farthest(distances)
    primal = fixed + budget * largest
    return objective, max(0.0, (primal - objective) / primal) if primal > 0 else 0.0, interval
