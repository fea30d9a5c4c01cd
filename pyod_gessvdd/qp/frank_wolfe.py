"""QP backend: fully corrective Frank–Wolfe over the capped simplex, with safe screening. Exact, O(N d) memory.

The dual seen from R^{d+1} is: maximise κ − ‖p‖² over the polytope of the points (p, κ) = (Zᵀα, Σ α_i k_i).
A pass over the data finds the vertex that the gradient at c = p likes best (one partial sort); a tiny active-set
problem over the few vertices kept so far re-optimises their weights exactly.

The primal P(c) is strongly convex, ‖c − c*‖² ≤ P(c) − D(α), so a gap bounds how far every distance and R can still
move: a distance is that of (z_i, r_i) from (c, 0), and changes by no more than c moves. Points farther than that from
the sphere have their final α (0 or u_i) and leave the problem: after a few passes over the data only a thin shell
around the sphere is left.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from pyod_gessvdd.components.contracts import QPBackend
from pyod_gessvdd.dual import QPSolution, SVDDDual
from pyod_gessvdd.qp.stopping import FULL_STEPS, NEGLIGIBLE, ROUNDING, STALLED

Array = np.ndarray

#: Below this many points a pass costs less than the bookkeeping of screening.
SCREEN_ABOVE = 1000
#: The shell is thinned out when this many times fewer points are left; their copy is small then.
THIN = 4
#: From this many points on, a strided sample gives the first centre …
SAMPLE_ABOVE = 20_000
#: … of this size, if at least this many of its points would be outside the sphere.
SAMPLE_SIZE, SAMPLE_OUTSIDE = 4000, 40


class Vertex(NamedTuple):
    """A vertex of the capped simplex (or another feasible α) and its image (p, κ)."""

    indices: Array
    alpha: Array
    p: Array
    kappa: float


class FrankWolfe(QPBackend):
    """Fully corrective Frank–Wolfe with safe screening.

    Parameters
    ----------
    max_iter : int, default=10000
        The largest number of passes.
    compiled : bool, default=True
        Whether small problems are solved by code that numba compiles, if numba is installed; the answer is the same.
    """

    name = "frank_wolfe"
    aliases = ("fw",)
    supports_warm_start = True

    def __init__(self, max_iter: int = 10_000, compiled: bool = True) -> None:
        self.max_iter = max_iter
        self.compiled = compiled

    def solve(self, dual: SVDDDual, warm_start: Array | None = None) -> QPSolution:
        """Solve the dual to rounding."""
        start = None
        if warm_start is not None:
            start = _point(dual, warm_start)
            center = start.p
        else:
            center = _sampled_center(dual) if dual.n_samples >= SAMPLE_ABOVE else np.zeros(dual.Z.shape[1])
        shell = _Shell.whole(dual)
        outside: list[Array] = []
        passes = 0
        while True:
            progress = shell.descend(center, start, max(self.max_iter - passes, 1), self.compiled)
            passes += progress.n_passes
            if progress.band is None:
                break
            outside.append(shell.rows_at(progress.band.outside))
            center, start = progress.center, None
            shell = shell.shrink(progress.band)
        alpha = np.zeros(dual.n_samples)
        for rows in outside:
            alpha[rows] = dual.upper[rows]
        # A sum of vertices may pass a bound by its last bit.
        alpha[shell.rows] = np.minimum(progress.alpha, shell.dual.upper)
        status = "solved" if passes < self.max_iter else f"stopped after max_iter={self.max_iter} passes"
        return QPSolution(alpha, n_iter=passes, status=status, extras={"n_shell": shell.dual.n_samples})


@cache
def _compiled_descend() -> Any:
    """The compiled descent, or None without numba."""
    try:
        from pyod_gessvdd.qp.compiled import descend
    except ImportError:
        return None
    return descend


class _Band(NamedTuple):
    """What a gap decides: the points surely outside the sphere, and those near it (the others are inside)."""

    outside: Array
    undecided: Array


class _Progress(NamedTuple):
    """How far a shell got: α on it if it is solved (no band), else where to go on."""

    alpha: Array
    center: Array
    n_passes: int
    band: _Band | None = None


class _Shell(NamedTuple):
    """The part of the problem that is still undecided: its points, and what the decided ones contribute."""

    dual: SVDDDual
    rows: Any
    budget: float
    p0: Array
    kappa0: float

    @classmethod
    def whole(cls, dual: SVDDDual) -> _Shell:
        return cls(dual, slice(None), 1.0, np.zeros(dual.Z.shape[1]), 0.0)

    def rows_at(self, indices: Array) -> Array:
        """The rows of the whole problem that these points of the shell are."""
        return indices if isinstance(self.rows, slice) else self.rows[indices]

    def shrink(self, band: _Band) -> _Shell:
        """The problem of the undecided points."""
        upper = self.dual.upper[band.outside]
        return _Shell(
            self.dual.take(band.undecided),
            self.rows_at(band.undecided),
            self.budget - float(upper.sum()),
            self.p0 + upper @ self.dual.Z[band.outside],
            self.kappa0 + float(upper @ self.dual.linear[band.outside]),
        )

    def descend(self, center: Array, start: Vertex | None, max_iter: int, compiled: bool) -> _Progress:
        """Frank–Wolfe on this shell until it is solved or can be thinned out."""
        if compiled and self.dual.n_samples < SCREEN_ABOVE:
            in_loops = _compiled_descend()
            if in_loops is not None:
                alpha, passes = in_loops(self.dual, center, max_iter, self.budget, self.p0, self.kappa0)
                if passes > 0:
                    return _Progress(alpha, center, passes)
        return self._descend(center, start, max_iter)

    def vertex_at(self, center: Array) -> tuple[Vertex, Array]:
        """The best vertex for the distances from ``center``, and those squared distances."""
        distances = self.dual.squared_distances(center)
        indices, alpha = self.dual.best_vertex(distances, self.budget)
        p = self.p0 + alpha @ self.dual.Z[indices]
        kappa = self.kappa0 + float(alpha @ self.dual.linear[indices])
        return Vertex(indices, alpha, p, kappa), distances

    def _descend(self, center: Array, start: Vertex | None, max_iter: int) -> _Progress:
        # A feasible start with its own centre gives a gap, and with it a band, in the first pass.
        vertices = [] if start is None else [start]
        weights = np.ones(len(vertices))
        best, smallest, stalled = -np.inf, np.inf, 0
        for iteration in range(1, max_iter + 1):
            vertex, distances = self.vertex_at(center)
            if vertices:
                # P(c) − D(α) = Σ (α_best − α)_i (‖z_i − c‖² + r_i²), because c is the centre of the current α.
                images = np.array([kept.p for kept in vertices])
                kappas = np.array([kept.kappa for kept in vertices])
                scale = vertex.kappa - center @ (2 * vertex.p - center)
                gap = (vertex.kappa - weights @ kappas) - 2 * center @ (vertex.p - weights @ images)
                gains = scale - gap > best + ROUNDING * scale or gap < 0.5 * smallest
                stalled = 0 if gains else stalled + 1
                best, smallest = max(scale - gap, best), min(gap, smallest)
                # The host's linear term has a mean of one: a primal value far below is rounding itself.
                if gap <= ROUNDING * max(scale, np.finfo(float).eps) or stalled == STALLED:
                    return _Progress(self._alpha(vertices, weights), center, iteration)
                band = self._band(distances, vertex, gap)
                if band is not None:
                    return _Progress(np.zeros(0), center, iteration, band)
            vertices.append(vertex)
            images = np.array([kept.p for kept in vertices])
            kappas = np.array([kept.kappa for kept in vertices])
            shifted = images - center
            weights = minimise_on_simplex(
                shifted, kappas - images @ (2 * center) + center @ center, np.append(weights, 0.0)
            )
            vertices = [kept for kept, weight in zip(vertices, weights, strict=True) if weight > 0]
            images, weights = images[weights > 0], weights[weights > 0]
            center = weights @ images
        return _Progress(self._alpha(vertices, weights), center, max_iter)

    def _alpha(self, vertices: list[Vertex], weights: Array) -> Array:
        alpha = np.zeros(self.dual.n_samples)
        for vertex, weight in zip(vertices, weights, strict=True):
            alpha[vertex.indices] += weight * vertex.alpha
        return alpha

    def _band(self, distances: Array, vertex: Vertex, gap: float) -> _Band | None:
        if self.dual.n_samples < SCREEN_ABOVE:
            return None
        radius = np.sqrt(distances[vertex.indices].min())
        # Every distance and R itself can still move by √gap; the factor covers the rounding of both.
        reach = 2 * np.sqrt(max(gap, 0.0)) * (1 + 1e-9)
        undecided = (distances >= max(radius - reach, 0.0) ** 2) & (distances <= (radius + reach) ** 2)
        if THIN * np.count_nonzero(undecided) > self.dual.n_samples:
            return None
        outside = distances > (radius + reach) ** 2
        return _Band(np.flatnonzero(outside), np.flatnonzero(undecided))


def minimise_on_simplex(P: Array, kappa: Array, start: Array) -> Array:
    """Minimise ‖Pᵀλ‖² − κᵀλ over the simplex by an active set, from a feasible ``start`` whose last weight may be 0.

    Each step solves the problem on the current face in coordinates relative to its heaviest vertex, with a ridge in
    proximal form, which leaves the fixed point exact, and walks to the first weight that reaches zero. Duplicates and
    dependent vertices, on which a plain least-squares step cycles, only shorten the walk.
    """
    if len(start) == 1:
        return np.ones(1)
    weights = start.copy()
    face = weights > 0
    face[-1] = True
    scale = NEGLIGIBLE * max(float(np.abs(kappa).max()), float(np.einsum("ij,ij->i", P, P).max()))
    full_steps = 0
    for _ in range(20 * len(weights)):
        active = np.flatnonzero(face)
        pivot = active[np.argmax(weights[active])]
        moving = active[active != pivot]
        if not moving.size:
            return face.astype(float)
        V = P[moving] - P[pivot]
        slope = 2 * (V @ (weights @ P)) - (kappa[moving] - kappa[pivot])
        H = 2 * (V @ V.T)
        H[np.diag_indices_from(H)] += 1e-13 * np.trace(H) + np.finfo(float).tiny
        step = np.linalg.solve(H, -slope)
        if -(slope @ step) <= scale or full_steps == FULL_STEPS:
            break
        change = np.zeros(len(weights))
        change[moving] = step
        change[pivot] = -step.sum()
        shrinking = change < 0
        ratios = np.full(len(weights), np.inf)
        ratios[shrinking] = weights[shrinking] / -change[shrinking]
        blocking = int(np.argmin(ratios))
        if ratios[blocking] >= 1:
            weights += change
            full_steps += 1
            continue
        full_steps = 0
        weights += ratios[blocking] * change
        weights[blocking] = 0.0
        face[blocking] = False
    weights = np.maximum(weights, 0.0)
    return weights / weights.sum()


def _point(dual: SVDDDual, alpha: Array) -> Vertex:
    """A feasible α with its image."""
    indices = np.flatnonzero(alpha)
    values = alpha[indices]
    return Vertex(indices, values, values @ dual.Z[indices], float(values @ dual.linear[indices]))


def _sampled_center(dual: SVDDDual) -> Array:
    """A first centre from a strided sample, where a sample says anything about the points outside the sphere."""
    stride = dual.n_samples // SAMPLE_SIZE
    Z, upper = np.ascontiguousarray(dual.Z[::stride]), dual.upper[::stride] * stride
    if upper.max() * SAMPLE_OUTSIDE > 1 or upper.sum() < 1:
        return dual.Z.mean(axis=0)
    return FrankWolfe().solve(SVDDDual(Z, upper, linear=dual.linear[::stride])).alpha @ Z
