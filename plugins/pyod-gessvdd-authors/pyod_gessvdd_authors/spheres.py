"""Spheres as LIBSVM leaves them when it stops at an absolute 1e-3: often where it began.

The SVDD dual minimises ½ αᵀKα − ½ Σ α_i K_ii over Σα = 1, 0 ≤ α ≤ C. Sequential minimal optimisation begins with the
*first* 1/C rows at C, whatever they are, moves the pair that second-order information favours (Fan, Chen, Lin: JMLR
6, 2005), and stops when the largest violation of the optimality conditions is below 1e-3, in the unit of ½ ‖z − u‖².
Whitened by a graph that sums over rows, as S_x = XXᵀ does, points have squared lengths of about d/N: for the graphs of
kNN and Sb, whose scatter is larger still, the start already passes, and the sphere is that of the first rows.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pyod_gessvdd.experiments.detectors.paper.spheres import Spheres

Array = np.ndarray

#: LIBSVM's default, absolute.
STOPS_AT = 1e-3
#: The largest number of pairs that are moved.
MAX_STEPS = 100_000


def solve_until_libsvm_stops(
    Z: Array, C: Array, last_alpha: Array | None = None, stops_at: float = STOPS_AT, middle: bool = False
) -> Spheres:
    """The sphere around each of several sets of points, as far as it is solved.

    Where some α is strictly between 0 and C, R² is the mean squared distance of those rows; otherwise it is the lower
    end of its interval, the largest squared distance of a row with α = 0, or the middle between that and the smallest
    of a row with α = C.

    Parameters
    ----------
    Z : ndarray of shape (B, N, d)
        The points.
    C : ndarray of shape (B,)
        The bounds of α.
    last_alpha
        Ignored: LIBSVM begins anew each time.
    stops_at : float
        The violation at which it stops.
    middle : bool
        Whether R² is the middle of its interval where no α is strictly between its bounds, as LIBSVM reports it.
    """
    B, N, d = Z.shape
    alpha, center, radius2 = np.zeros((B, N)), np.zeros((B, d)), np.zeros(B)
    _all(np.ascontiguousarray(Z), np.asarray(C, dtype=float), stops_at, middle, alpha, center, radius2)
    return Spheres(alpha, center, radius2)


@njit(cache=True)
def _all(
    stack: Array, bounds: Array, stops_at: float, middle: bool, alphas: Array, centers: Array, radii2: Array
) -> None:
    B, N, _ = stack.shape
    gradient = np.empty(N)
    for b in range(B):
        Z, alpha, C = stack[b], alphas[b], max(min(bounds[b], 1.0), 1.0 / N)
        K = Z @ Z.T
        left = 1.0
        for i in range(N):
            alpha[i] = min(C, left)
            left = max(left - alpha[i], 0.0) if left - alpha[i] > 1e-12 else 0.0
        for i in range(N):
            gradient[i] = -0.5 * K[i, i]
            for j in range(N):
                if alpha[j] > 0.0:
                    gradient[i] += K[i, j] * alpha[j]
        for _ in range(MAX_STEPS):
            if not _move_a_pair(K, alpha, C, gradient, stops_at):
                break
        radii2[b] = _describe(Z, alpha, C, centers[b], middle)


@njit(cache=True)
def _move_a_pair(K: Array, alpha: Array, C: float, gradient: Array, stops_at: float) -> bool:
    """One step; False if the largest violation is below the tolerance."""
    N = len(alpha)
    i, lowest, highest = -1, np.inf, -np.inf
    for t in range(N):
        if alpha[t] < C and gradient[t] < lowest:
            i, lowest = t, gradient[t]
        if alpha[t] > 0.0 and gradient[t] > highest:
            highest = gradient[t]
    if i < 0 or highest - lowest < stops_at:
        return False
    j, best = -1, -np.inf
    for t in range(N):
        slope = gradient[t] - lowest
        if alpha[t] > 0.0 and slope > 0.0:
            gain = slope * slope / max(K[i, i] + K[t, t] - 2.0 * K[i, t], 1e-12)
            if gain > best:
                j, best = t, gain
    if j < 0:
        return False
    step = (gradient[j] - gradient[i]) / max(K[i, i] + K[j, j] - 2.0 * K[i, j], 1e-12)
    if C - alpha[i] <= step:
        step = C - alpha[i]
    if alpha[j] <= step:
        step = alpha[j]
    up, down = alpha[i] + step, alpha[j] - step
    alpha[i] = C if up > C * (1.0 - 1e-12) else up
    alpha[j] = 0.0 if down < C * 1e-12 else down
    for t in range(N):
        gradient[t] += step * (K[t, i] - K[t, j])
    return True


@njit(cache=True)
def _describe(Z: Array, alpha: Array, C: float, center: Array, middle: bool) -> float:
    """The centre, and R²."""
    N, d = Z.shape
    for i in range(N):
        for j in range(d):
            center[j] += alpha[i] * Z[i, j]
    free, mean, inside, outside = 0, 0.0, 0.0, np.inf
    for i in range(N):
        distance = 0.0
        for j in range(d):
            distance += (Z[i, j] - center[j]) ** 2
        if 0.0 < alpha[i] < C:
            free += 1
            mean += distance
        elif alpha[i] == 0.0:
            inside = max(inside, distance)
        else:
            outside = min(outside, distance)
    if free > 0:
        return mean / free
    return 0.5 * (inside + outside) if middle else inside
