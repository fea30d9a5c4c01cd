"""From a nearly optimal α of a kernel's dual to an exact one: an active-set method on which points are at a bound.

With the points at their bounds known, the others are equally far from the centre, which is a linear system in their α.
A round solves it and walks towards the solution; an α that reaches a bound stays there. Then the point at a bound that
gains most from another α becomes free. The dual's value only rises, and from LIBSVM's answer a few rounds suffice.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from pyod_gessvdd.dual import project_to_feasible
from pyod_gessvdd.qp.kernel_dual import KernelDual

Array = np.ndarray

#: The relative duality gap that ends it; the slack of slopes that count as equal, for a linear term of mean one.
SOLVED, EQUAL = 1e-12, 1e-14
#: An α within this share of its bound starts at the bound.
AT_A_BOUND = 1e-6
#: The ridge of the linear systems, relative to the matrix; in proximal form, which leaves the solution exact.
RIDGE, NO_RIDGE = 1e-13, 1e-60


def settle(dual: KernelDual, alpha: Array, max_rounds: int = 300) -> tuple[Array, int]:
    """The optimal α, if the rounds suffice, and their number.

    Parameters
    ----------
    dual : KernelDual
        The problem.
    alpha : ndarray of shape (N,)
        Where to start; the nearer to the optimum, the fewer rounds.
    max_rounds : int, default=300
        The largest number of rounds.
    """
    upper = dual.upper
    alpha = np.where(alpha <= AT_A_BOUND * upper, 0.0, np.where(alpha >= (1.0 - AT_A_BOUND) * upper, upper, alpha))
    alpha = project_to_feasible(alpha, upper)
    product = dual.K @ alpha
    wanted, last_gap = np.zeros(0, dtype=int), np.inf
    n_rounds = 0
    while True:
        n_rounds += 1
        free = np.concatenate([np.flatnonzero((alpha > 0.0) & (alpha < upper)), wanted])
        if free.size:
            rows = dual.K[free]
            change = _ascend(rows[:, free], dual.linear[free] - 2.0 * product[free], alpha[free], upper[free])
            alpha[free] += change
            product += change @ rows
        gap = dual.certify(alpha, product).gap
        wanted = _wanted(alpha, upper, dual.linear - 2.0 * product)
        # Without new points another round only refines the last one.
        if gap <= SOLVED or not (wanted.size or gap < 0.5 * last_gap) or n_rounds == max_rounds:
            return project_to_feasible(alpha, upper), n_rounds
        last_gap = gap


def _wanted(alpha: Array, upper: Array, slope: Array) -> Array:
    """The point at a bound that gains most by leaving it: only one, because several get in each other's way."""
    can_rise, can_fall = alpha < upper, alpha > 0.0
    free = can_rise & can_fall
    if free.any():
        level = float(slope[free].mean())
        gain = np.where(free, 0.0, np.where(can_rise, slope - level, np.where(can_fall, level - slope, 0.0)))
        best = int(gain.argmax())
        return np.array([best] if gain[best] > EQUAL else [], dtype=int)
    # All are at their bounds: the pair that gains most.
    best, worst = int(np.argmax(np.where(can_rise, slope, -np.inf))), int(np.argmin(np.where(can_fall, slope, np.inf)))
    return np.array([best, worst] if slope[best] > slope[worst] + EQUAL else [], dtype=int)


def _ascend(K: Array, slope: Array, alpha: Array, upper: Array) -> Array:
    """The change of the free α that maximises the dual, as long as none of them passes a bound and comes back."""
    start, alpha = alpha, alpha.copy()
    free = np.arange(len(alpha))
    while free.size > 1:
        part = K if len(free) == len(K) else K[np.ix_(free, free)]
        step = _newton(part, slope[free], int(np.minimum(alpha, upper - alpha)[free].argmax()))
        low, high = -alpha[free], upper[free] - alpha[free]
        room = np.where(step > 0, high, -low)
        blocked = np.abs(step) > room
        if blocked.any():
            step = _bent(part, slope[free], step, low, high, float((room[blocked] / np.abs(step[blocked])).min()))
        moved = alpha[free] + step
        at_low, at_high = moved <= RIDGE * upper[free], moved >= (1.0 - RIDGE) * upper[free]
        moved = np.where(at_low, 0.0, np.where(at_high, upper[free], moved))
        slope = slope - 2.0 * (K[:, free] @ (moved - alpha[free]))
        alpha[free] = moved
        # A blocked step puts some α on its bound, unless bounds of very different size round it away: then it would be
        # blocked for ever.
        if not blocked.any() or not (at_low | at_high).any():
            break
        free = free[~(at_low | at_high)]
    return alpha - start


def _newton(K: Array, slope: Array, pivot: int) -> Array:
    """The change of α that makes all slopes equal; the pivot's α takes what the others give."""
    moving = np.delete(np.arange(len(K)), pivot)
    # Inner products relative to the pivot. With a multiplier for the sum in their place, singular matrices lose digits.
    H = K[np.ix_(moving, moving)] - K[moving, pivot]
    H -= (K[moving, pivot] - K[pivot, pivot])[:, None]
    diagonal = H.reshape(-1)[:: len(H) + 1]
    # Squared distances between nearly equal points may have come out negative; a negative ridge would never end this.
    ridge = RIDGE * abs(float(diagonal.sum())) + NO_RIDGE
    while True:
        diagonal += ridge
        factor, info = dpotrf(H)
        if info == 0:
            break
        # Rounding has left a negative eigenvalue of about its size.
        ridge *= 10.0
    change = np.empty(len(K))
    change[moving], _ = dpotrs(factor, 0.5 * (slope[moving] - slope[pivot]))
    change[pivot] = -change[moving].sum()
    return change


def _bent(K: Array, slope: Array, step: Array, low: Array, high: Array, length: float) -> Array:
    """Along a step that passes bounds: to the first one or, with every α past a bound put on it, on while it gains.

    Stopping at the first bound alone would cost a factorisation for each bound on the way.
    """
    best = length * step
    value = slope @ best - best @ (K @ best)
    length = max(length, RIDGE)
    while length < 1.0:
        length = min(1.0, 4.0 * length)
        change = _balanced(np.clip(length * step, low, high), low, high)
        new_value = slope @ change - change @ (K @ change)
        if new_value <= value:
            break
        best, value = change, new_value
    return best


def _balanced(change: Array, low: Array, high: Array) -> Array:
    """The change within ``low`` and ``high`` that sums to zero, by what is at neither end; none if that fails."""
    for _ in range(10):
        excess = float(change.sum())
        inside = (change > low) & (change < high)
        if abs(excess) <= np.finfo(float).eps or not inside.any():
            break
        change = np.clip(change - np.where(inside, excess / np.count_nonzero(inside), 0.0), low, high)
    return change if abs(excess) <= np.finfo(float).eps else np.zeros(len(change))
