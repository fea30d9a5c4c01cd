"""From a good α to an exact one: Newton's step on the points whose α is strictly between its bounds."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from pyod_gessvdd.dual import SVDDDual, project_to_feasible

Array = np.ndarray

#: α within this share of a bound is taken to be at it; a solver's own tolerance is far below.
AT_A_BOUND = 1e-4


def polish(dual: SVDDDual, alpha: Array, n_steps: int = 3) -> Array:
    """Make all points strictly between their bounds equally far from the centre, if that lowers the duality gap.

    LIBSVM keeps its kernel in single precision and OSQP stops at a tolerance: both find which points are at a bound,
    and leave the last digits of the others open.
    """
    alpha = project_to_feasible(alpha, dual.upper)
    gap = dual.gap(alpha)
    for _ in range(n_steps):
        snapped = np.where(alpha < AT_A_BOUND * dual.upper, 0.0, alpha)
        snapped = np.where(alpha > (1.0 - AT_A_BOUND) * dual.upper, dual.upper, snapped)
        free = np.flatnonzero((snapped > 0) & (snapped < dual.upper))
        if not free.size:
            break
        # ‖z_i − c‖² = R² for i free, Σα = 1: linear in the change of α_free and in R², up to a common ‖Δc‖².
        relative = dual.Z[free] - snapped @ dual.Z / snapped.sum()
        ones = np.ones((len(free), 1))
        system = np.block([[2.0 * relative @ relative.T, ones], [ones.T, np.zeros((1, 1))]])
        goal = np.append(np.einsum("ij,ij->i", relative, relative), 1.0 - snapped.sum())
        snapped[free] += scipy.linalg.lstsq(system, goal, lapack_driver="gelsy")[0][:-1]
        candidate = project_to_feasible(snapped, dual.upper)
        candidate_gap = dual.gap(candidate)
        if candidate_gap >= gap:
            break
        alpha, gap = candidate, candidate_gap
    return alpha
