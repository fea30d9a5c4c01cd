"""Solving the SVDD dual: :func:`solve_svdd`, and the host that checks, completes and certifies a backend's answer."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite, sqrt
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pyod_gessvdd.components.contracts import QPBackend
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.components.validation import names_the_writer, real_array
from pyod_gessvdd.dual import SUMS_TO_ONE, QPSolution, SVDDDual, project_to_feasible, upper_bounds
from pyod_gessvdd.errors import ComponentError, NotSolvedError, warn
from pyod_gessvdd.linalg import (
    RELATIVE_ZERO,
    column_means,
    mean_of,
    means_and_square,
    read_only,
    row_blocks,
    shift_rows,
)
from pyod_gessvdd.qp.kernel_dual import KernelDual

__all__ = ["KernelDual", "QPSolution", "SVDDDual", "solve_in_place", "solve_kernel_svdd", "solve_svdd"]

Array = np.ndarray

#: An answer whose gap is above this is refused; between ``tol`` and this it is used with a warning.
GAP_REFUSED = 0.1
#: Kernel matrices are centred if their points are closer together than this share of their squared distance from the
#: origin: up to there at most three digits are lost, and a copy is saved.
FAR_ORIGIN = 1e-3
#: A column that varies less than this share of its offset holds the rounding of its values.
ROUNDING = 16 * float(np.finfo(float).eps)
#: The largest coordinate, and the smallest mean square, of points whose squared distances keep all their digits.
LARGEST, SMALLEST = 1e150, 1e-302
#: The tolerance for a backend that does not claim to be exact, if ``tol`` is smaller.
INEXACT_TOL = 1e-6


def solve_svdd(
    Z: Any,
    C: float | None = None,
    *,
    nu: float | None = None,
    sample_weight: Any = None,
    backend: Any = "auto",
    tol: float = 1e-8,
    warm_start: Any = None,
    residual2: Any = None,
) -> QPSolution:
    """The smallest sphere around the rows of Z that leaves some outside (paper eqs. ``erfuncSVDD2`` and ``LL``).

    Parameters
    ----------
    Z : array of shape (N, d)
        The points.
    C : float, optional
        The upper bound of α, in [1/N, 1]; values above 1 act as 1 (every point inside).
    nu : float, optional
        Instead of C: about the share of points outside, C = 1/(nu · N). With neither, nu = 0.1.
    sample_weight : array of shape (N,), optional
        Row i's bound is C · sample_weight[i]; then N above stands for the sum of the weights.
    backend : str or QPBackend, default="auto"
        The solver.
    tol : float, default=1e-8
        The relative duality gap to reach (1e-6 at least for a backend that is not exact). An answer above it is used
        with a ``ConvergenceWarning`` that names the gap.
    warm_start : array of shape (N,), optional
        The α of a related problem.
    residual2 : array of shape (N,), optional
        r_i², the squared length of each point's part outside the space of Z. The centre lies in that space; squared
        distances, R² and the objective include r_i². The sphere is that of the 2N points (z_i, ±r_i).

    Returns
    -------
    QPSolution
        With ``alpha``, ``center``, ``radius2`` and ``gap`` (computed here, whatever the backend claims).

    Examples
    --------
    >>> from pyod_gessvdd.qp import solve_svdd
    >>> sphere = solve_svdd([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]], C=1.0)
    >>> [float(x) for x in sphere.center], round(sphere.radius2, 6)
    ([1.0, 0.0], 1.0)
    """
    Z = np.array(Z, dtype=float)
    if Z.ndim != 2 or 0 in Z.shape:
        raise ValueError(f"Z must be a non-empty matrix of points, got shape {Z.shape}")
    if not (Z.max() <= LARGEST and Z.min() >= -LARGEST):
        if not np.isfinite(Z).all():
            raise ValueError("Z holds NaN or infinite values; the sphere needs finite points")
        raise _out_of_range(float(np.abs(Z).max()))
    upper = upper_bounds(Z.shape[0], C, nu, sample_weight)
    start = None if warm_start is None else project_to_feasible(np.asarray(warm_start, dtype=float), upper)
    outside = None if residual2 is None else _check_residual2(residual2, Z.shape[0])
    return solve_in_place(Z, upper, resolve("qp_backend", backend), tol, start, outside)


def _check_residual2(residual2: Any, n_samples: int) -> Array:
    """The squared residuals as an array of shape (N,): finite, not negative."""
    values = np.asarray(residual2, dtype=float)
    if values.shape != (n_samples,):
        raise ValueError(f"residual2 must hold one number per point, shape ({n_samples},), got shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError("residual2 must be finite, got NaN or infinite values")
    if values.min() < 0:
        raise ValueError(f"residual2 holds squared lengths, which are not negative, got {values.min():.6g}")
    return values


def solve_in_place(
    Z: Array,
    upper: Array,
    solver: QPBackend,
    tol: float,
    warm_start: Array | None,
    residual2: Array | None = None,
) -> QPSolution:
    """:func:`solve_svdd` for points that may be overwritten, with given bounds and a feasible start."""
    weights = None if upper.strides == (0,) else upper  # equal bounds are one number, repeated
    if weights is not None and not weights.all():
        used = np.flatnonzero(upper)
        solution = solve_in_place(Z[used], *_of_rows(used, upper, solver, tol, warm_start, residual2))
        return _spread(solution, used, upper)
    # Backends see points around the origin with a linear term of mean one, whatever the offset and the unit. A row
    # counts as much as its bound: one with hardly any weight must not decide the unit of the others.
    offset, spread2 = _moved_home(Z, weights)
    if residual2 is not None:
        spread2 += mean_of(residual2, weights)
    if not (SMALLEST <= spread2 <= LARGEST**2 or spread2 == 0.0):
        raise _out_of_range(float(np.sqrt(spread2)))
    scale2 = spread2 or 1.0
    scale = sqrt(scale2)
    linear = np.empty(len(Z))
    for rows in row_blocks(*Z.shape):
        block = Z[rows]
        block /= scale
        np.einsum("ij,ij->i", block, block, out=linear[rows])
    if residual2 is not None:
        linear += residual2 / scale2
    dual = SVDDDual(Z, upper, tol, linear=linear)
    return _solve(dual, solver, warm_start, scale2, offset)


def _moved_home(Z: Array, weights: Array | None) -> tuple[Array, float]:
    """Subtract the mean from the points, in place; return it and their mean squared length."""
    offset, spread2 = means_and_square(Z) if weights is None else (column_means(Z, weights), _mean_square(Z, weights))
    away2 = float(offset @ offset)
    if away2 <= RELATIVE_ZERO**2 * spread2:
        offset[:] = 0.0  # rounding: they are already around the origin
        away2 = 0.0
    else:
        shift_rows(Z, offset, out=Z)
        spread2 = _mean_square(Z, weights)
    if spread2 <= max(ROUNDING**2 * away2, SMALLEST):
        _judge_columns(Z, offset)
        spread2 = _mean_square(Z, weights)
        if spread2 == 0.0 and Z.any():
            raise _out_of_range(float(np.abs(Z).max()))
    return offset, spread2


def _mean_square(Z: Array, weights: Array | None) -> float:
    if weights is None:
        return float(np.vdot(Z, Z)) / len(Z)
    return mean_of(np.einsum("ij,ij->i", Z, Z), weights)


def _judge_columns(Z: Array, offset: Array) -> None:
    """Set to zero, in place, the columns that hold no more than the rounding of their offset.

    A column of 1e8 rounds at 1e-8, the size that another column's values may have.
    """
    sizes = np.maximum(Z.max(axis=0), -Z.min(axis=0))
    Z[:, sizes <= ROUNDING * np.abs(offset)] = 0.0


def _out_of_range(size: float) -> ValueError:
    return ValueError(
        f"points that are about {size:.0e} apart have squared distances outside the range of floating point; "
        "multiply them by a constant first"
    )


def _of_rows(
    rows: Array, upper: Array, solver: QPBackend, tol: float, warm_start: Array | None, residual2: Array | None
) -> tuple[Array, QPBackend, float, Array | None, Array | None]:
    """The arguments for some of the points: those whose α may be positive, as the others do not affect the scale."""
    start, outside = (None if values is None else values[rows] for values in (warm_start, residual2))
    return upper[rows], solver, tol, start, outside


def _spread(solution: QPSolution, rows: Array, upper: Array) -> QPSolution:
    """The solution of some of the points as that of all; the others have α = 0."""
    alpha = np.zeros(len(upper))
    alpha[rows] = solution.alpha
    return replace(solution, alpha=alpha, upper=upper)


def solve_kernel_svdd(
    K: Array,
    upper: Array,
    solver: QPBackend,
    tol: float,
    warm_start: Array | None,
    residual2: Array | None = None,
) -> QPSolution:
    """:func:`solve_in_place` for points in a kernel's space, given by their N × N inner products.

    Parameters
    ----------
    K : ndarray of shape (N, N)
        k(x_i, x_j), symmetric and positive semi-definite, C-contiguous; it is not changed.
    upper, solver, tol, warm_start, residual2
        As in :func:`solve_in_place`.

    Returns
    -------
    QPSolution
        ``center`` is empty: the centre is Σ α_i φ(x_i), and ``extras["center_norm2"]`` its squared length αᵀKα, so that
        the squared distance of a point x from it is k(x, x) − 2 Σ α_i k(x_i, x) + αᵀKα.
    """
    if not upper.all():
        used = np.flatnonzero(upper)
        part = np.ascontiguousarray(K[np.ix_(used, used)])
        return _spread(solve_kernel_svdd(part, *_of_rows(used, upper, solver, tol, warm_start, residual2)), used, upper)
    N, given = len(K), K
    diagonal = K.diagonal()
    means = K @ np.full(N, 1.0 / N)
    # The mean squared distance from the mean: the mean of K's diagonal once the origin is moved there.
    spread = float((diagonal - means).sum() / N)
    if spread <= 16 * np.finfo(float).eps * float(np.abs(diagonal).max()):
        K = np.zeros_like(K)  # what is left is rounding: all points are equal
    elif spread < FAR_ORIGIN * float(diagonal.sum() / N):
        K = K - means
        K -= means[:, None] - means.mean()
    linear = K.diagonal() if residual2 is None else K.diagonal() + residual2
    scale2 = float(linear.sum() / N) or 1.0
    if scale2 != 1.0:
        K, linear = K / scale2, linear / scale2
    dual = KernelDual(K, upper, tol, linear=linear)
    solution = _solve(dual, solver, warm_start, scale2, np.zeros(0))
    solution.extras["center_norm2"] = float(solution.alpha @ (given @ solution.alpha))
    return solution


def _solve(dual: SVDDDual, solver: QPBackend, warm_start: Array | None, scale2: float, offset: Array) -> QPSolution:
    """Let the backend solve the dual, unless there is nothing to solve, and certify its answer.

    Squared lengths were divided by ``scale2`` after ``offset`` was subtracted; the solution is in the original units.
    """
    upper, points = dual.upper, dual.K if isinstance(dual, KernelDual) else dual.Z
    C = dual.uniform_upper
    if (upper.sum() if C is None else C * len(upper)) <= 1.0 + RELATIVE_ZERO:
        answer = QPSolution(upper / upper.sum(), status="only one α is feasible")
    elif points[0].any() or points.any():  # the first row settles nearly all problems
        start = warm_start if solver.supports_warm_start else None
        is_ours = type(solver).__module__.startswith("pyod_gessvdd.")
        answer = solver.solve(dual, start) if is_ours else _foreign_answer(dual, solver, start)
    elif not dual.linear.any():
        answer = QPSolution(upper / upper.sum(), status="all points are equal: every feasible α is optimal")
    else:
        rows, values = dual.best_vertex(dual.linear)
        answer = QPSolution(np.zeros(len(upper)), status="all points are equal: the largest residuals are outside")
        answer.alpha[rows] = values
    return _certify(dual, solver, answer, scale2, offset)


def _foreign_answer(dual: SVDDDual, solver: QPBackend, start: Array | None) -> Any:
    """What a plugin's backend returns for points that it cannot write to: the certificate is about these points."""
    linear = read_only(dual.linear)
    handed = (
        KernelDual(read_only(dual.K), dual.upper, dual.tol, linear=linear)
        if isinstance(dual, KernelDual)
        else SVDDDual(read_only(dual.Z), dual.upper, dual.tol, linear=linear)
    )
    with names_the_writer(f"QP backend {solver.name!r}"):
        return solver.solve(handed, start)


def _certify(dual: SVDDDual, solver: QPBackend, answer: Any, scale2: float, offset: Array) -> QPSolution:
    """Check a backend's answer, make it feasible, and compute its certificate."""
    if not isinstance(answer, QPSolution):
        answer = QPSolution(answer)
    alpha = real_array(answer.alpha, f"QP backend {solver.name!r}")
    if alpha.shape != (dual.n_samples,):
        raise ComponentError(
            f"QP backend {solver.name!r} returned alpha of shape {alpha.shape}; expected ({dual.n_samples},)"
        )
    C = dual.uniform_upper
    total, lowest = float(alpha.sum()), float(alpha.min())
    above = float((alpha - dual.upper).max()) if C is None else float(alpha.max()) - C
    if not isfinite(total) and not np.isfinite(alpha).all():
        raise ComponentError(f"QP backend {solver.name!r} returned NaN or infinite values in alpha")
    violation = max(abs(total - 1.0), max(above, -lowest) / (float(dual.upper.max()) if C is None else C))
    if abs(total - 1.0) > SUMS_TO_ONE or lowest < 0.0 or above > 0.0:
        alpha = project_to_feasible(alpha, dual.upper)
    certificate = dual.certify(alpha)
    if certificate.gap > GAP_REFUSED:
        raise NotSolvedError(
            f"QP backend {solver.name!r} did not solve the SVDD dual: relative duality gap {certificate.gap:.1e} "
            f"(status: {answer.status}); try qp_backend='auto'"
        )
    allowed = dual.tol if solver.exact else max(dual.tol, INEXACT_TOL)
    if certificate.gap > allowed:
        warn(
            f"QP backend {solver.name!r} stopped at a relative duality gap of {certificate.gap:.1e}, "
            f"above the {allowed:.1e} asked for (status: {answer.status})",
            ConvergenceWarning,
        )
    low, high = (end * scale2 for end in certificate.radius2_interval)
    return QPSolution(
        alpha,
        offset + sqrt(scale2) * certificate.center,
        (low + high) / 2,
        (low, high),
        certificate.objective * scale2,
        certificate.gap,
        dual.upper,
        answer.n_iter,
        answer.status,
        solver.name,
        {**answer.extras, "constraint_violation": violation},
    )
