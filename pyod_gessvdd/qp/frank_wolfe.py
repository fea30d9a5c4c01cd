"""QP backend: fully corrective Frank–Wolfe over the capped simplex, with safe screening. Exact, O(N d) memory.

The dual seen from R^{d+1} is: maximise κ − ‖p‖² over the polytope of the points (p, κ) = (Zᵀα, Σ α_i k_i).
A pass over the data finds the best vertex for the gradient at c = p (one partial sort); a tiny active-set problem over
the few vertices kept so far re-optimises their weights exactly.

The primal P(c) is strongly convex, ‖c − c*‖² ≤ P(c) − D(α), so a gap bounds how far every distance and R can still
move: a distance is that of (z_i, r_i) from (c, 0), and changes by no more than c moves. Points farther than that from
the sphere have their final α (0 or u_i) and leave the problem: after a few passes over the data only a thin shell
around the sphere is left.
"""

from __future__ import annotations

import logging
from functools import cache
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from pyod_gessvdd.components.contracts import QPBackend
from pyod_gessvdd.dual import QPSolution, SVDDDual
from pyod_gessvdd.qp.stopping import FULL_STEPS, NEGLIGIBLE, ROUNDING, STALLED

logger = logging.getLogger(__name__)

Array = np.ndarray

EPS = float(np.finfo(float).eps)
#: What replaces a weight of zero, and the ridge of equal vertices, in a denominator: no quotient overflows.
NO_WEIGHT, NO_RIDGE = 1e-200, 1e-60
#: Below this many points a pass costs less than the bookkeeping of screening.
SCREEN_ABOVE = 1000
#: Up to this many dimensions compiled loops are faster than the matrix products of NumPy's version.
LOOPS_UP_TO = 128
#: This many small problems take NumPy about half a second, the least that loading compiled code takes.
EARNED_AFTER = 1000
_small_solves = count(1)
#: The shell is thinned out when this many times fewer points are left; then their copy is small.
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
    compiled : {"auto", True, False}, default="auto"
        Whether small problems are solved by code that numba compiles, if numba works here. The first compilation on a
        machine takes seconds: "auto" waits until the process has solved :data:`EARNED_AFTER` small problems, or
        something else has triggered it. Both versions take the same steps and stop by the same rule, so that α and the
        centre agree to rounding wherever α is unique; only ``compiled=False`` gives the same bits whatever else the
        process has solved.
    """

    name = "frank_wolfe"
    aliases = ("fw",)
    supports_warm_start = True

    def __init__(self, max_iter: int = 10_000, compiled: bool | str = "auto") -> None:
        self.max_iter = max_iter
        self.compiled = compiled

    def solve(self, dual: SVDDDual, warm_start: Array | None = None) -> QPSolution:
        """Solve the dual to rounding."""
        if self.compiled not in ("auto", True, False):
            raise ValueError(f"compiled must be 'auto', True or False, got {self.compiled!r}")
        is_sampled = warm_start is None and dual.n_samples >= SAMPLE_ABOVE
        center = _sampled_center(dual) if is_sampled else np.zeros(dual.Z.shape[1])
        ended = self.finish(Shell.whole(dual), center, warm_start)
        alpha = ended.alpha
        if ended.outside:
            alpha = np.zeros(dual.n_samples)
            for rows in ended.outside:
                alpha[rows] = dual.upper[rows]
            alpha[ended.shell.rows] = ended.alpha
        extras = {"n_shell": ended.shell.dual.n_samples}
        return QPSolution(alpha, n_iter=ended.n_passes, status=self.status(ended.n_passes), extras=extras)

    def status(self, passes: int) -> str:
        """What the host is told after this many passes."""
        return "solved" if passes < self.max_iter else f"stopped after max_iter={self.max_iter} passes"

    def finish(self, shell: Shell, center: Array, start: Array | None = None) -> Ended:
        """Go on from a shell until nothing in it is undecided; ``start`` is a feasible α, whose centre then counts."""
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
        # A sum of vertices may exceed a bound by its last bit.
        return Ended(outside, shell, np.minimum(progress.alpha, shell.dual.upper), passes)


def _loops(compiled: bool | str) -> Any:
    """The compiled descent if it should be used now, else None."""
    if compiled is False:
        return None
    is_loaded = _compiled_descend.cache_info().currsize > 0
    if compiled is True or is_loaded or next(_small_solves) > EARNED_AFTER:
        return _compiled_descend()
    return None


@cache
def _compiled_descend() -> Any:
    """The compiled descent, or None without a numba that works."""
    try:
        from pyod_gessvdd.qp.compiled import descend

        # Compiled by its first call, where a numba that is too old for the NumPy here fails with any error.
        descend(SVDDDual(np.array([[-1.0], [1.0]]), np.ones(2)), np.zeros(1), None, 10, 1.0, np.zeros(1), 0.0)
    except Exception as error:
        logger.info("small problems are solved without numba: %s", error)
        return None
    return descend


class _Band(NamedTuple):
    """What a gap decides: the points surely outside the sphere, and those near it (the others are inside).

    ``p`` and ``kappa`` are what those outside, and those decided before, contribute to Zᵀα and Σ α_i k_i.
    """

    outside: Array
    undecided: Array
    p: Array
    kappa: float


class _Progress(NamedTuple):
    """How far a shell got: α on it if it is solved (no band), else where to continue."""

    alpha: Array
    center: Array
    n_passes: int
    band: _Band | None = None


class Ended(NamedTuple):
    """How a descent ends: the rows decided to be outside on the way, the last shell, and α on it."""

    outside: list[Array]
    shell: Shell
    alpha: Array
    n_passes: int


class Shell(NamedTuple):
    """The part of the problem that is still undecided: its points, and what the decided ones contribute."""

    dual: SVDDDual
    rows: Any
    budget: float
    p0: Array
    kappa0: float

    @classmethod
    def whole(cls, dual: SVDDDual) -> Shell:
        """All points."""
        return cls(dual, slice(None), 1.0, np.zeros(dual.Z.shape[1]), 0.0)

    def rows_at(self, indices: Array) -> Array:
        """The rows of the whole problem that these points of the shell correspond to."""
        return indices if isinstance(self.rows, slice) else self.rows[indices]

    def shrink(self, band: _Band) -> Shell:
        """The problem of the undecided points."""
        taken = float(self.dual.upper[band.outside].sum())
        rows = self.rows_at(band.undecided)
        return Shell(self.dual.take(band.undecided), rows, self.budget - taken, band.p, band.kappa)

    def descend(self, center: Array, start: Array | None, max_iter: int, compiled: bool | str) -> _Progress:
        """Frank–Wolfe on this shell until it is solved or can be thinned out."""
        if self.dual.n_samples < SCREEN_ABOVE and self.dual.Z.shape[1] <= LOOPS_UP_TO:
            in_loops = _loops(compiled)
            if in_loops is not None:
                alpha, passes = in_loops(self.dual, center, start, max_iter, self.budget, self.p0, self.kappa0)
                if passes > 0:
                    return _Progress(alpha, center, passes)
        return self._descend(center, start, max_iter)

    def vertex_at(self, center: Array) -> tuple[Vertex, Array]:
        """The best vertex for the distances from ``center``, and those squared distances."""
        distances = self.dual.squared_distances(center)
        indices, alpha = self.dual.best_vertex(distances, self.budget)
        # Taking rows is several times faster than indexing them.
        p = self.p0 + alpha @ self.dual.Z.take(indices, axis=0)
        kappa = self.kappa0 + float(alpha @ self.dual.linear[indices])
        return Vertex(indices, alpha, p, kappa), distances

    def _descend(self, center: Array, start: Array | None, max_iter: int) -> _Progress:
        kept = Kept(self.dual.Z.shape[1])
        # A feasible start with its own centre gives a gap, and with it a band, in the first pass.
        if start is not None:
            vertex = _point(self.dual, start)
            center = vertex.p
            kept.add(vertex, 1.0)
        best, smallest, stalled = -np.inf, np.inf, 0
        for iteration in range(1, max_iter + 1):
            vertex, distances = self.vertex_at(center)
            if kept.vertices:
                # P(c) − D(α) = Σ (α_best − α)_i (‖z_i − c‖² + r_i²), because c is the centre of the current α.
                scale = vertex.kappa - float(center @ (2 * vertex.p - center))
                gap = vertex.kappa - float(kept.weights @ kept.kappas)
                gap -= 2 * float(center @ (vertex.p - kept.weights @ kept.images))
                gains = scale - gap > best + ROUNDING * scale or gap < 0.5 * smallest
                stalled = 0 if gains else stalled + 1
                best, smallest = max(scale - gap, best), min(gap, smallest)
                # The host's linear term has mean one: a primal value far below is rounding itself.
                if gap <= ROUNDING * max(scale, EPS) or stalled == STALLED:
                    return _Progress(kept.alpha(self.dual.n_samples), center, iteration)
                band = self._band(distances, vertex, gap)
                if band is not None:
                    return _Progress(np.zeros(0), center, iteration, band)
            del distances  # before the next pass allocates others of the same size
            kept.add(vertex, 0.0 if kept.vertices else 1.0)
            center = kept.reoptimise(center)
        return _Progress(kept.alpha(self.dual.n_samples), center, max_iter)

    def _band(self, distances: Array, vertex: Vertex, gap: float) -> _Band | None:
        if self.dual.n_samples < SCREEN_ABOVE:
            return None
        farthest = distances[vertex.indices]
        radius = np.sqrt(farthest.min())
        # Every distance and R itself can still move by √gap; the factor covers the rounding of both.
        reach = 2 * np.sqrt(max(gap, 0.0)) * (1 + 1e-9)
        undecided = (distances >= max(radius - reach, 0.0) ** 2) & (distances <= (radius + reach) ** 2)
        if THIN * np.count_nonzero(undecided) > self.dual.n_samples:
            return None
        outside = distances > (radius + reach) ** 2
        # In the vertex all points outside are at their bounds: what it holds without the others is theirs.
        near = np.flatnonzero(farthest <= (radius + reach) ** 2)
        rows, alpha = vertex.indices[near], vertex.alpha[near]
        p = vertex.p - alpha @ self.dual.Z.take(rows, axis=0)
        kappa = vertex.kappa - float(alpha @ self.dual.linear[rows])
        return _Band(np.flatnonzero(outside), np.flatnonzero(undecided), p, kappa)


class Kept:
    """The vertices that have a positive weight, their images in arrays that grow, and the weights."""

    def __init__(self, d: int) -> None:
        self.vertices: list[Vertex] = []
        # One row per vertex: (p, κ, weight), with room for more.
        self._rows = np.empty((8, d + 2))
        self._view()

    def _view(self) -> None:
        rows = self._rows[: len(self.vertices)]
        self.images, self.kappas, self.weights = rows[:, :-2], rows[:, -2], rows[:, -1]

    def add(self, vertex: Vertex, weight: float) -> None:
        """One more vertex."""
        n = len(self.vertices)
        if n == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[n, :-2] = vertex.p
        self._rows[n, -2:] = vertex.kappa, weight
        self.vertices.append(vertex)
        self._view()

    def reoptimise(self, center: Array) -> Array:
        """Make the weights optimal, drop the vertices that have none, and return the new centre."""
        if len(self.vertices) > 1:
            # Relative to the old centre, which the new one is close to: fewer digits are lost.
            relative = self.kappas - self.images @ (2 * center) + center @ center
            weights = minimise_on_simplex(self.images - center, relative, self.weights)
            self.weights[:] = weights
            if not weights.all():
                stays = weights.nonzero()[0]
                self._rows[: len(stays)] = self._rows[stays]
                self.vertices = [self.vertices[index] for index in stays]
                self._view()
        return self.weights @ self.images

    def alpha(self, n_samples: int) -> Array:
        """Σ weight · vertex, of shape (N,)."""
        alpha = np.zeros(n_samples)
        for vertex, weight in zip(self.vertices, self.weights, strict=True):
            alpha[vertex.indices] += weight * vertex.alpha
        return alpha


def minimise_on_simplex(P: Array, kappa: Array, start: Array) -> Array:
    """Minimise ‖Pᵀλ‖² − κᵀλ over the simplex by an active set, from a feasible ``start``; only its last may be 0.

    Each step solves the problem on the current face in coordinates relative to its heaviest vertex, with a ridge in
    proximal form, which leaves the fixed point exact, and walks to the first weight that reaches zero. Duplicates and
    dependent vertices, on which a plain least-squares step cycles, only shorten the walk. Where no weight blocks, the
    same factor serves the next steps, which refine the first to rounding.
    """
    weights = start.copy()
    active = np.arange(len(weights))
    negligible = NEGLIGIBLE * max(float(np.abs(kappa).max()), float(np.einsum("ij,ij->i", P, P).max()))
    while len(active) > 1:
        pivot = active[weights[active].argmax()]
        moving = active[active != pivot]
        V = P[moving] - P[pivot]
        half_kappa = 0.5 * (kappa[moving] - kappa[pivot])
        factor = _ridged_factor(V)
        blocking = -1
        for n_full_steps in range(FULL_STEPS + 1):
            slope = V @ (weights @ P) - half_kappa
            step = -dpotrs(factor, slope)[0]
            if -2 * (slope @ step) <= negligible or n_full_steps == FULL_STEPS:
                break
            # How much of the step each weight allows, as reciprocals: above one it blocks.
            pressure = step / -np.maximum(weights[moving], NO_WEIGHT)
            total = float(step.sum())
            worst = int(pressure.argmax())
            blocking, largest = moving[worst], float(pressure[worst])
            if total > largest * weights[pivot]:
                blocking, largest = pivot, total / max(float(weights[pivot]), NO_WEIGHT)
            length = 1.0 if largest <= 1 else 1.0 / largest
            weights[moving] += length * step
            weights[pivot] -= length * total
            if largest > 1:
                break
            blocking = -1
        if blocking < 0:
            break
        weights[blocking] = 0.0
        active = active[active != blocking]
    weights = np.maximum(weights, 0.0)
    return weights / weights.sum()


def _ridged_factor(V: Array) -> Array:
    """The Cholesky factor of V Vᵀ plus a ridge that dependent rows need."""
    H = V @ V.T
    diagonal = H.reshape(-1)[:: len(H) + 1]
    ridge = 1e-13 * float(diagonal.sum()) + NO_RIDGE
    while True:
        diagonal += ridge
        factor, info = dpotrf(H)
        if info == 0:
            return factor
        # Rounding has left a negative eigenvalue of about its size.
        ridge *= 10.0


def _point(dual: SVDDDual, alpha: Array) -> Vertex:
    """A feasible α with its image."""
    indices = alpha.nonzero()[0]
    values = alpha[indices]
    return Vertex(indices, values, values @ dual.Z.take(indices, axis=0), float(values @ dual.linear[indices]))


def _sampled_center(dual: SVDDDual) -> Array:
    """A first centre from a strided sample, where it tells anything about the points outside the sphere."""
    stride = dual.n_samples // SAMPLE_SIZE
    Z, upper = np.ascontiguousarray(dual.Z[::stride]), dual.upper[::stride] * stride
    if upper.max() * SAMPLE_OUTSIDE > 1 or upper.sum() < 1:
        return dual.Z.mean(axis=0)
    return FrankWolfe().solve(SVDDDual(Z, upper, linear=dual.linear[::stride])).alpha @ Z
