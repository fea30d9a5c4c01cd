"""Many small spheres in one call: the duals of a stack of point sets, by the loops of :mod:`pyod_gessvdd.qp.compiled`.

A grid of the paper is hundreds of thousands of duals with N ≈ 100 points. Checking, scaling and certifying each in
NumPy takes several times as long as solving it; here all of that is compiled too. Whatever does not end with a
certificate goes to :func:`pyod_gessvdd.qp.solve_in_place`, as every other dual of the package does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.dual import BOUND_TOLERANCE, upper_bounds
from pyod_gessvdd.linalg import RELATIVE_ZERO
from pyod_gessvdd.qp import solve_in_place
from pyod_gessvdd.qp.compiled import _descend

Array = np.ndarray

#: The largest number of passes of the descent, and the relative duality gap that each sphere must reach.
MAX_PASSES, TOLERANCE = 10_000, 1e-8


class Spheres(NamedTuple):
    """The spheres around B sets of N points in d dimensions.

    Attributes
    ----------
    alpha : ndarray of shape (B, N)
        The dual variables.
    center : ndarray of shape (B, d)
        u (paper eq. ``der2``).
    radius2 : ndarray of shape (B,)
        R² (paper eq. ``rsquare``), the middle of its interval where that is one.
    """

    alpha: Array
    center: Array
    radius2: Array


def solve_spheres(Z: Array, C: Array, last_alpha: Array | None = None) -> Spheres:
    """The smallest spheres around each of some sets of points (paper eq. ``LL``).

    Parameters
    ----------
    Z : ndarray of shape (B, N, d)
        The points.
    C : ndarray of shape (B,)
        The bounds of α, from 1/N to 1.
    last_alpha : ndarray of shape (B, N), optional
        Feasible α of related problems: where the solver starts.
    """
    B, N, d = Z.shape
    Z = np.ascontiguousarray(Z)
    warm = np.zeros((B, N)) if last_alpha is None else np.ascontiguousarray(last_alpha)
    alpha, center, radius2, gaps = np.zeros((B, N)), np.empty((B, d)), np.empty(B), np.empty(B)
    _solve_all(Z, np.asarray(C, dtype=float), warm, last_alpha is not None, alpha, center, radius2, gaps)
    for b in np.flatnonzero(~(gaps <= TOLERANCE)):
        upper = upper_bounds(N, float(C[b]), None)
        solved = solve_in_place(Z[b].copy(), upper, resolve("qp_backend", "auto"), TOLERANCE, None)
        alpha[b], center[b], radius2[b] = solved.alpha, solved.center, solved.radius2
    return Spheres(alpha, center, radius2)


@njit(cache=True)
def _solve_all(
    stack: Array, bounds: Array, warm: Array, is_warm: bool, alphas: Array, centers: Array, radii2: Array, gaps: Array
) -> None:
    """Solve every dual of the stack, in the unit in which its points have mean zero and mean square one."""
    B, N, d = stack.shape
    room = d + 8
    Z, linear, upper = np.empty((N, d)), np.empty(N), np.empty(N)
    offset, p0, center, image = np.empty(d), np.zeros(d), np.empty(d), np.empty(d)
    distances, order = np.empty(N), np.arange(N)
    vertices, images, shifted = np.empty((room, N)), np.empty((room, d)), np.empty((room, d))
    kappa, values, weights = np.empty(room), np.empty(room), np.zeros(room)
    H, step, moving = np.empty((room, room)), np.empty(2 * room), np.empty(room, dtype=np.int64)
    for b in range(B):
        C = max(min(bounds[b], 1.0), 1.0 / N)
        square = 0.0
        for j in range(d):
            offset[j] = 0.0
            for i in range(N):
                offset[j] += stack[b, i, j]
            offset[j] /= N
            for i in range(N):
                Z[i, j] = stack[b, i, j] - offset[j]
                square += Z[i, j] * Z[i, j]
        gaps[b] = np.inf
        scale = (square / N) ** 0.5
        if not 1e-140 < scale < 1e140:  # all points equal, or beyond floating point: left to the usual way
            continue
        for i in range(N):
            upper[i] = C
            linear[i] = 0.0
            for j in range(d):
                Z[i, j] /= scale
                linear[i] += Z[i, j] * Z[i, j]
        alpha = alphas[b]
        if C * N <= 1.0 + RELATIVE_ZERO:
            for i in range(N):
                alpha[i] = 1.0 / N
        else:
            m = 0
            for j in range(d):
                center[j] = 0.0
            if is_warm:
                m, weights[0], kappa[0] = 1, 1.0, 0.0
                for i in range(N):
                    vertices[0, i] = warm[b, i]
                    kappa[0] += warm[b, i] * linear[i]
                    for j in range(d):
                        center[j] += warm[b, i] * Z[i, j]
                for j in range(d):
                    images[0, j] = center[j]
            for i in range(N):
                order[i] = i
            passes = _descend(
                Z, linear, upper, 1.0, p0, 0.0, MAX_PASSES, m, center, alpha, distances, order,
                vertices, images, shifted, kappa, values, weights, image, H, step, moving,
            )  # fmt: skip
            if passes < 0:
                continue
        gaps[b], radius2 = _certify(Z, linear, alpha, C, center, distances)
        radii2[b] = radius2 * scale * scale
        for j in range(d):
            centers[b, j] = offset[j] + scale * center[j]


@njit(cache=True)
def _certify(Z: Array, linear: Array, alpha: Array, C: float, center: Array, distances: Array) -> tuple[float, float]:
    """The relative duality gap and R²; α is made feasible to the last bit and ``center`` becomes its own."""
    N, d = Z.shape
    for j in range(d):
        center[j] = 0.0
    for i in range(N):
        # A sum of vertices may pass a bound by its last bit, or stop short of it.
        if alpha[i] > (1.0 - RELATIVE_ZERO) * C:
            alpha[i] = C
        elif alpha[i] < RELATIVE_ZERO * C:
            alpha[i] = 0.0
        for j in range(d):
            center[j] += alpha[i] * Z[i, j]
    center2, objective = 0.0, 0.0
    for j in range(d):
        center2 += center[j] * center[j]
    for i in range(N):
        product = 0.0
        for j in range(d):
            product += Z[i, j] * center[j]
        distances[i] = max(linear[i] - 2.0 * product + center2, 0.0)
        objective += alpha[i] * distances[i]
    distances.sort()
    count = min(max(int(np.ceil(1.0 / C * (1.0 - RELATIVE_ZERO))), 1), N)
    left = min(C, max(1.0 - C * (count - 1), 0.0))
    primal = left * distances[N - count]
    for i in range(N - count + 1, N):
        primal += C * distances[i]
    high = low = distances[N - count]
    if left >= (1.0 - BOUND_TOLERANCE) * C:
        low = distances[N - count - 1] if count < N else 0.0
    gap = max(0.0, (primal - objective) / primal) if primal > 0.0 else 0.0
    return gap, 0.5 * (low + high)
