"""The Frank–Wolfe descent of :mod:`frank_wolfe` for small problems, in loops that numba compiles.

A paper-style grid search makes hundreds of thousands of fits with N ≈ 100, where a pass over the data costs less than
a call to a NumPy function. The algorithm, its active set and its stopping rule are those of the NumPy version; the
two agree to rounding (a test checks it). The NumPy version does the work until a process has solved so many problems
that importing this module, which makes numba compile it, pays off; without numba it does all the work.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pyod_gessvdd.dual import SVDDDual
from pyod_gessvdd.linalg import RELATIVE_ZERO
from pyod_gessvdd.qp.stopping import FULL_STEPS, NEGLIGIBLE, ROUNDING, STALLED

Array = np.ndarray

EPS = float(np.finfo(float).eps)


@njit(cache=True)
def _best_vertex(distances: Array, upper: Array, budget: float, order: Array, vertices: Array, m: int) -> None:
    """Make row m of ``vertices`` the feasible point that maximises Σ α_i distances_i, starting from the last order."""
    N = len(distances)
    # Shell sort, farthest first: the last order is nearly the next one, and it compiles faster than a library sort.
    stride = 1
    while stride < N // 3:
        stride = 3 * stride + 1
    while stride > 0:
        for i in range(stride, N):
            index = order[i]
            j = i
            while j >= stride and distances[order[j - stride]] < distances[index]:
                order[j] = order[j - stride]
                j -= stride
            order[j] = index
        stride //= 3
    left = budget
    for i in range(N):
        vertices[m, i] = 0.0
    for i in range(N):
        index = order[i]
        if left <= RELATIVE_ZERO * upper[index]:
            break
        vertices[m, index] = min(upper[index], left)
        left -= vertices[m, index]


@njit(cache=True)
def _solve_ridged(H: Array, b: Array, n: int) -> None:
    """Overwrite ``b`` with (H + ridge)⁻¹ b by Cholesky; H is destroyed."""
    trace = 0.0
    for i in range(n):
        trace += H[i, i]
    for i in range(n):
        H[i, i] += 1e-13 * trace + 1e-300
    for j in range(n):
        pivot = H[j, j]
        for k in range(j):
            pivot -= H[j, k] * H[j, k]
        # Dependent vertices leave a pivot that is pure rounding; the ridge keeps it positive.
        pivot = max(pivot, 1e-14 * trace + 1e-300) ** 0.5
        H[j, j] = pivot
        for i in range(j + 1, n):
            value = H[i, j]
            for k in range(j):
                value -= H[i, k] * H[j, k]
            H[i, j] = value / pivot
    for i in range(n):
        for k in range(i):
            b[i] -= H[i, k] * b[k]
        b[i] /= H[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            b[i] -= H[k, i] * b[k]
        b[i] /= H[i, i]


@njit(cache=True)
def _reoptimise(
    P: Array, kappa: Array, weights: Array, m: int, image: Array, H: Array, step: Array, moving: Array
) -> None:
    """Minimise ‖Pᵀλ‖² − κᵀλ over the simplex; ``weights[m - 1]`` may be 0, a dropped vertex gets −1."""
    d = P.shape[1]
    scale = 0.0
    for a in range(m):
        norm = 0.0
        for j in range(d):
            norm += P[a, j] * P[a, j]
        scale = max(scale, abs(kappa[a]), norm)
    full_steps = 0
    for _ in range(20 * m):
        pivot = 0
        for a in range(m):
            if weights[a] > weights[pivot]:
                pivot = a
        n = 0
        for a in range(m):
            if a != pivot and weights[a] >= 0.0:
                moving[n] = a
                n += 1
        if n == 0:
            weights[pivot] = 1.0
            return
        for j in range(d):
            image[j] = 0.0
            for a in range(m):
                if weights[a] > 0.0:
                    image[j] += weights[a] * P[a, j]
        decrease = 0.0
        for s in range(n):
            a = moving[s]
            slope = kappa[pivot] - kappa[a]
            for j in range(d):
                slope += 2.0 * (P[a, j] - P[pivot, j]) * image[j]
            step[s] = -slope
            step[m + s] = slope
            for t in range(s + 1):
                value = 0.0
                for j in range(d):
                    value += (P[a, j] - P[pivot, j]) * (P[moving[t], j] - P[pivot, j])
                H[s, t] = 2.0 * value
        _solve_ridged(H, step, n)
        total = 0.0
        for s in range(n):
            decrease -= step[m + s] * step[s]
            total += step[s]
        if decrease <= NEGLIGIBLE * scale or full_steps == FULL_STEPS:
            return
        ratio, blocking = 2.0, -1
        for s in range(n):
            if step[s] < 0.0 and weights[moving[s]] < -ratio * step[s]:
                ratio, blocking = weights[moving[s]] / -step[s], moving[s]
        if total > 0.0 and weights[pivot] < ratio * total:
            ratio, blocking = weights[pivot] / total, pivot
        length = min(ratio, 1.0)
        for s in range(n):
            weights[moving[s]] += length * step[s]
        weights[pivot] -= length * total
        if ratio < 1.0:
            weights[blocking] = -1.0
            full_steps = 0
        else:
            full_steps += 1


@njit(cache=True)
def _descend(
    Z: Array,
    linear: Array,
    upper: Array,
    budget: float,
    p0: Array,
    kappa0: float,
    max_iter: int,
    m: int,
    center: Array,
    alpha: Array,
    distances: Array,
    order: Array,
    vertices: Array,
    images: Array,
    shifted: Array,
    kappa: Array,
    values: Array,
    weights: Array,
    image: Array,
    H: Array,
    step: Array,
    moving: Array,
) -> int:
    """Solve the dual into ``alpha``; return the number of passes, or −1 if more vertices stay than there is room for.

    The first m vertices, at most one, are given with their images and weights.
    """
    N, d = Z.shape
    stalled, best, smallest = 0, -1.0, 1e300
    for iteration in range(1, max_iter + 1):
        if m == len(kappa):
            return -1
        center2 = 0.0
        for j in range(d):
            center2 += center[j] * center[j]
        for i in range(N):
            product = 0.0
            for j in range(d):
                product += Z[i, j] * center[j]
            distances[i] = max(linear[i] - 2.0 * product + center2, 0.0)
        _best_vertex(distances, upper, budget, order, vertices, m)
        kappa[m] = kappa0
        for j in range(d):
            images[m, j] = p0[j]
        for i in range(N):
            if vertices[m, i] > 0.0:
                kappa[m] += vertices[m, i] * linear[i]
                for j in range(d):
                    images[m, j] += vertices[m, i] * Z[i, j]
        if m > 0:
            primal, gap = kappa[m] + center2, kappa[m]
            for a in range(m):
                gap -= weights[a] * kappa[a]
            for j in range(d):
                mean = 0.0
                for a in range(m):
                    mean += weights[a] * images[a, j]
                primal -= 2.0 * center[j] * images[m, j]
                gap -= 2.0 * center[j] * (images[m, j] - mean)
            gains = primal - gap > best + ROUNDING * primal or gap < 0.5 * smallest
            stalled = 0 if gains else stalled + 1
            best = max(primal - gap, best)
            smallest = min(gap, smallest)
            if gap <= ROUNDING * max(primal, EPS) or stalled == STALLED:
                for i in range(N):
                    alpha[i] = 0.0
                    for a in range(m):
                        alpha[i] += weights[a] * vertices[a, i]
                return iteration
        weights[m] = 0.0 if m > 0 else 1.0
        m += 1
        if m > 1:
            for a in range(m):
                values[a] = kappa[a] + center2
                for j in range(d):
                    shifted[a, j] = images[a, j] - center[j]
                    values[a] -= 2.0 * images[a, j] * center[j]
            _reoptimise(shifted, values, weights, m, image, H, step, moving)
        kept, total = 0, 0.0
        for a in range(m):
            if weights[a] > 0.0:
                for i in range(N):
                    vertices[kept, i] = vertices[a, i]
                for j in range(d):
                    images[kept, j] = images[a, j]
                kappa[kept] = kappa[a]
                weights[kept] = weights[a]
                total += weights[kept]
                kept += 1
        m = kept
        for j in range(d):
            center[j] = 0.0
        for a in range(m):
            weights[a] /= total
            for j in range(d):
                center[j] += weights[a] * images[a, j]
    return -1


@njit(cache=True)
def _descend_from(
    Z: Array,
    linear: Array,
    upper: Array,
    budget: float,
    p0: Array,
    kappa0: float,
    max_iter: int,
    center: Array,
    start: Array,
) -> tuple[Array, int]:
    """:func:`_descend` with its own workspace: passing that many arrays takes longer than a small problem."""
    N, d = Z.shape
    # At most d + 2 vertices keep a positive weight; with some room for those that rounding keeps longer.
    room = d + 8
    center = center.copy()
    images, kappa, weights, vertices = np.empty((room, d)), np.empty(room), np.zeros(room), np.empty((room, N))
    m = min(len(start), 1)
    if m == 1:
        center[:] = 0.0
        kappa[0], weights[0] = 0.0, 1.0
        for i in range(N):
            vertices[0, i] = start[i]
            if start[i] != 0.0:
                kappa[0] += start[i] * linear[i]
                for j in range(d):
                    center[j] += start[i] * Z[i, j]
        images[0] = center
    alpha = np.zeros(N)
    passes = _descend(
        Z,
        linear,
        upper,
        budget,
        p0,
        kappa0,
        max_iter,
        m,
        center,
        alpha,
        np.empty(N),
        np.arange(N),
        vertices,
        images,
        np.empty((room, d)),
        kappa,
        np.empty(room),
        weights,
        np.empty(d),
        np.empty((room, room)),
        np.empty(2 * room),
        np.empty(room, dtype=np.int64),
    )
    return alpha, passes


#: No start.
_NOWHERE = np.zeros(0)


def descend(
    dual: SVDDDual,
    center: Array,
    start: Array | None,
    max_iter: int,
    budget: float,
    p0: Array,
    kappa0: float,
) -> tuple[Array, int]:
    """Solve the dual from ``center``: α and the number of passes, −1 if it ran out of room or time.

    ``start`` is a feasible α, from whose centre it starts instead, or None. ``budget`` is what Σα must be, ``p0`` and
    ``kappa0`` what points of known α contribute to Zᵀα and Σ α_i k_i: for a whole problem 1, 0, 0.
    """
    # One layout of each, so that numba compiles once.
    return _descend_from(
        np.ascontiguousarray(dual.Z),
        np.ascontiguousarray(dual.linear),
        np.array(dual.upper),
        budget,
        p0,
        kappa0,
        max_iter,
        np.ascontiguousarray(center),
        _NOWHERE if start is None else np.array(start),
    )
