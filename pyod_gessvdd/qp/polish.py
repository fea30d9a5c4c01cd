"""From a good α to an exact one: Newton's step on the points whose α is strictly between its bounds."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from pyod_gessvdd.dual import SVDDDual, project_to_feasible

Array = np.ndarray

#: What counts as being at a bound, as a share of it: solvers differ in how close they come, so each is tried.
AT_A_BOUND = (1e-2, 1e-4, 1e-6, 1e-8)


def polish(dual: SVDDDual, alpha: Array) -> Array:
    """Make all points strictly between their bounds equally far from the centre, if that lowers the duality gap.

    LIBSVM keeps its kernel in single precision and OSQP stops at a tolerance: both find which points are at a bound,
    but leave the last digits of the others open.
    """
    alpha = project_to_feasible(alpha, dual.upper)
    candidates = [alpha, *(_newton(dual, alpha, share) for share in AT_A_BOUND)]
    # A second round starts from the best sets of the first.
    best = min(candidates, key=dual.gap)
    return min([best, *(_newton(dual, best, share) for share in AT_A_BOUND)], key=dual.gap)


def _newton(dual: SVDDDual, alpha: Array, share: float) -> Array:
    snapped = np.where(alpha < share * dual.upper, 0.0, alpha)
    snapped = np.where(alpha > (1.0 - share) * dual.upper, dual.upper, snapped)
    free = np.flatnonzero((snapped > 0) & (snapped < dual.upper))
    if not free.size:
        return project_to_feasible(snapped, dual.upper)
    # ‖z_i − c‖² + r_i² = R² for i free, Σα = 1: linear in the change of α_free and in R², up to a common ‖Δc‖².
    center = snapped @ dual.Z / snapped.sum()
    relative = dual.Z[free] - center
    distances, missing = dual.take(free).squared_distances(center), 1.0 - snapped.sum()
    ones = np.ones((len(free), 1))
    if len(free) > dual.Z.shape[1] + 1:
        # The change moves the centre and the sum, d + 1 numbers: first these, then the smallest change that gives them.
        # Points of a sphere are all free, and their N × N system below took minutes.
        moved = _least_squares(np.hstack([2.0 * relative, ones]), distances)
        change = _least_squares(np.hstack([relative, ones]).T, np.append(moved[:-1], missing))
    else:
        system = np.block([[2.0 * relative @ relative.T, ones], [ones.T, np.zeros((1, 1))]])
        change = _least_squares(system, np.append(distances, missing))[:-1]
    snapped[free] += change
    return project_to_feasible(snapped, dual.upper)


def _least_squares(A: Array, b: Array) -> Array:
    """The smallest x that minimises ‖Ax − b‖."""
    return np.asarray(scipy.linalg.lstsq(A, b, lapack_driver="gelsy")[0])
