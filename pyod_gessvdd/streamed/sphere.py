"""The sphere around the points of a source: Frank–Wolfe by sums over blocks, then exactly on the shell that is left.

A pass at a centre c sums, between a few thresholds t, the points of each cap {i : d_i > t}, with d_i the squared
distance from c. Two things follow from one pass, for any thresholds:

- an upper bound on the primal value, P(c) ≤ t + C · Σ max(0, d_i − t) for every t (Rockafellar and Uryasev's form of
  the CVaR), so that the gap to any feasible α is certain;
- a vertex that is nearly the best one: C on the largest cap with fewer than 1/C points, and what is left spread over
  the points up to the next threshold.

The weights of the vertices, and with them the next centre, come from the same small active-set problem as in memory. By
the gap, points farther from the sphere than centre and radius can still move are decided; once few enough remain, they
are fetched with their places, and :class:`~pyod_gessvdd.qp.frank_wolfe.Shell` solves the rest of the problem to
rounding. So the solution is that of all points, and only sums and the shell have left the blocks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil, sqrt
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from pyod_gessvdd.dual import BOUND_TOLERANCE, QPSolution, SVDDDual
from pyod_gessvdd.errors import warn
from pyod_gessvdd.linalg import RELATIVE_ZERO, shift_rows
from pyod_gessvdd.qp.frank_wolfe import FrankWolfe, Kept, Shell, Vertex
from pyod_gessvdd.sources.source import Joined, Source, meeting

Array = np.ndarray
#: Maps rows to Z and r²/ρ, or None.
PointsOf = Callable[[Array], tuple[Array, Array | None]]

#: A sample of one in this many rows, fewer where they travel, within limits, gives centres and tells where thresholds
#: lie.
SAMPLE_SHARE, LOCAL_SAMPLE_SHARE, SMALLEST_SAMPLE, LARGEST_SAMPLE = 500, 50, 4000, 100_000
#: The points that are still open are fetched once they are this many, or one in this many of all: few where they
#: travel, else as many as fit into this many bytes, as they save passes.
SMALL_SHELL, SHELL_SHARE, LOCAL_SHARE, SHELL_BYTES = 10_000, 400, 50, 32 << 20
#: The thresholds of a pass, and the standard deviations of a sampled quantile that the first ones span.
THRESHOLDS, SPAN = 33, 5.0
#: The band that is fetched where nothing is worth fetching.
NO_BAND = (0.0, 0.0)
#: After this many passes the open points are fetched however many there are.
MAX_PASSES = 40


def sample_of(rows: Source) -> Array:
    """The rows whose places are multiples of a number: what first guesses are made from."""
    share = SAMPLE_SHARE if rows.is_lazy else LOCAL_SAMPLE_SHARE
    size = min(max(rows.n_rows // share, SMALLEST_SAMPLE), LARGEST_SAMPLE)
    return rows.every(max(1, rows.n_rows // size))[0]


@dataclass(frozen=True)
class StreamedSolution(QPSolution):
    """The solution for the points of a source: α of the shell, and the rule that gives the α of all others.

    Attributes
    ----------
    alpha : ndarray of shape (n_shell,)
        The dual variables on the shell.
    places : ndarray of shape (n_shell,)
        The places of its rows, ascending.
    C : float
        The bound, which is the α of every row outside the shell and the sphere.
    n_outside : int
        How many rows these are.
    points_of : callable
        Maps rows to the points that this is a solution for.
    alpha_mean : ndarray of shape (F,)
        Σ α φ of the features φ.
    S_alpha : ndarray of shape (F, F)
        Σ α (φ − a)(φ − a)ᵀ with a the mean above.
    """

    places: Array = field(default_factory=lambda: np.zeros(0, dtype=int))
    C: float = float("nan")
    n_outside: int = 0
    points_of: PointsOf = field(default=lambda block: (block, None))
    alpha_mean: Array = field(default_factory=lambda: np.zeros(0))
    S_alpha: Array = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def n_support(self) -> int:
        """How many rows have a positive α."""
        return self.n_outside + len(self.support)

    def alpha_of(self, distances: Array, rows: Array) -> Array:
        """α of the rows with these places, by their squared distances from the centre."""
        return _alpha(distances, self.radius2, self.C, self.alpha, self.places, rows)


def _alpha(distances: Array, limit: float, C: float, alpha: Array, places: Array, rows: Array) -> Array:
    """α of some rows: the shell's own on it, elsewhere C beyond a limit that lies in the shell, and 0 up to it."""
    found = np.where(distances > limit, C, 0.0)
    ours, here = meeting(places, rows)
    found[here] = alpha[ours]
    return found


class Home:
    """Points around the origin with a linear term of mean one: what a solver sees, whatever the offset and the unit.

    Parameters
    ----------
    points_of : callable
        Maps rows to points and squared residuals. If it has a ``product``, W and b with z = Wx − b after ``before``,
        that is used: offset and unit are then part of the product.
    sample : ndarray of shape (n, D)
        Rows that give offset and unit.
    """

    def __init__(self, points_of: PointsOf, sample: Array) -> None:
        Z, residual2 = points_of(sample)
        self.points_of, self.offset = points_of, Z.mean(axis=0)
        squares = np.einsum("ij,ij->i", Z - self.offset, Z - self.offset) + (0.0 if residual2 is None else residual2)
        self.scale2 = float(squares.mean()) or 1.0
        self._buffers = threading.local()
        product = getattr(points_of, "product", None)
        self._product = None
        if product is not None:
            W, b = product
            self._product = np.ascontiguousarray(W.T / sqrt(self.scale2)), (b + self.offset) / sqrt(self.scale2)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_buffers"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _buffers=threading.local())

    def __call__(self, block: Array, center: Array) -> Seen:
        """The points of a block's rows seen from a centre; the next call of the same thread overwrites them."""
        residual2 = None
        if self._product is None:
            Z, residual2 = self.points_of(block)
            away = (Z - self.offset) / sqrt(self.scale2) - center
        else:
            W, b = self._product
            before = self.points_of.before  # type: ignore[attr-defined]
            away = self._memory(len(block), len(b))
            np.matmul(block if before is None else before.apply(block), W, out=away)
            shift_rows(away, b + center, out=away)
        distances = np.einsum("ij,ij->i", away, away)
        if residual2 is not None:
            distances += residual2 / self.scale2
        return Seen(away, distances, center)

    def _memory(self, n_rows: int, d: int) -> Array:
        # Fresh memory of that size costs as much as the product.
        buffer = getattr(self._buffers, "rows", None)
        if buffer is None or len(buffer) < n_rows:
            self._buffers.rows = buffer = np.empty((n_rows, d))
        return buffer[:n_rows]


class Seen(NamedTuple):
    """Points seen from a centre: z − c, and their squared distances from it, residuals included."""

    away: Array
    distances: Array
    center: Array

    def points(self, chosen: Array) -> tuple[Array, Array]:
        """Z and the linear term ‖z‖² + r² of some of them."""
        away, c = self.away[chosen], self.center
        return away + c, self.distances[chosen] + away @ (2.0 * c) + c @ c

    def sums(self, chosen: Array) -> Array:
        """1, d, k and z summed over those for which a condition holds."""
        c, n = self.center, float(np.count_nonzero(chosen))
        away, d = chosen.astype(float) @ self.away, float(self.distances.sum(where=chosen))
        return np.concatenate([[n, d, d + 2.0 * (away @ c) + n * (c @ c)], away + n * c])


def solve(
    rows: Source,
    points_of: PointsOf,
    C: float,
    sample: Array,
    backend: FrankWolfe,
    tol: float,
    features_of: Callable[[Array], Array] | None = None,
) -> StreamedSolution:
    """The smallest sphere around the points of all rows that leaves some outside, with its certificate.

    Parameters
    ----------
    rows : Source
        The rows.
    points_of : callable
        Maps a block of rows to their points Z and squared residuals, or None.
    C : float
        The bound of α, the same for every row.
    sample : ndarray of shape (n, D)
        Some of the rows, see :func:`sample_of`.
    backend : FrankWolfe
        Solves what the passes leave.
    tol : float
        The relative duality gap to reach; a larger one causes a warning.
    features_of : callable, optional
        Maps a block of rows to the features whose sums with α are wanted; the points unless given.
    """
    home = Home(points_of, sample)
    passes = _Passes(rows, home, C, sample, backend)
    shell, places, n_outside, center = passes.shell()
    ended = backend.finish(shell, center)
    alpha = np.zeros(shell.dual.n_samples)
    for decided in ended.outside:
        alpha[decided] = shell.dual.upper[decided]
    alpha[ended.shell.rows] = ended.alpha
    order = np.argsort(places)
    dual = shell.dual.take(order)
    shell = shell._replace(dual=dual)
    return _certified(passes, shell, alpha[order], places[order], n_outside, ended.n_passes, tol, features_of)


def _certified(
    passes: _Passes,
    shell: Shell,
    alpha: Array,
    places: Array,
    n_outside: int,
    n_shell_passes: int,
    tol: float,
    features_of: Callable[[Array], Array] | None,
) -> StreamedSolution:
    """The solution with the radius that the shell determines and the gap that one more pass over all rows gives."""
    dual, home = shell.dual, passes.home
    center = shell.p0 + alpha @ dual.Z
    objective = shell.kappa0 + float(alpha @ dual.linear) - float(center @ center)
    distances = dual.squared_distances(center)
    indices, best = dual.best_vertex(distances, shell.budget)
    high = low = float(distances[indices[-1]])
    ends = _Ends(home, center, high, passes.C, alpha, places, features_of or _Coordinates(home.points_of))
    found = passes.rows.total(ends)
    primal = high + passes.C * found.excess
    if best[-1] >= (1.0 - BOUND_TOLERANCE) * passes.C:
        # R² may be anything down to the next distance, which may be that of a point far inside the shell.
        distances[indices] = 0.0
        low = max(float(distances.max()), found.below)
    radius2 = (low + high) / 2
    gap = max(0.0, (primal - objective) / primal) if primal > 0 else 0.0
    status = passes.backend.status(n_shell_passes)
    if gap > tol:
        warn(
            f"the sphere of a source was found to a relative duality gap of {gap:.1e}, above the {tol:.1e} asked for "
            f"(status: {status})",
            ConvergenceWarning,
        )
    return StreamedSolution(
        alpha,
        home.offset + sqrt(home.scale2) * center,
        radius2 * home.scale2,
        (low * home.scale2, high * home.scale2),
        objective * home.scale2,
        gap,
        np.broadcast_to(passes.C, len(alpha)),
        passes.n_passes + 1,
        status,
        passes.backend.name,
        {"n_shell": len(alpha), "n_passes": passes.n_passes + 1},
        places=places,
        C=passes.C,
        n_outside=n_outside,
        points_of=home.points_of,
        alpha_mean=found.mean,
        S_alpha=_symmetric(found.squares - np.outer(found.mean, found.mean)),
    )


class _Passes:
    """Frank–Wolfe over the whole source, until few enough points are undecided."""

    def __init__(self, rows: Source, home: Home, C: float, sample: Array, backend: FrankWolfe) -> None:
        self.rows, self.home, self.C, self.backend = rows, home, C, backend
        self.n_wanted = 1.0 / C
        self.Z, self.linear = home(sample, np.zeros(len(home.offset))).points(np.arange(len(sample)))
        self.n_passes = 0

    def shell(self) -> tuple[Shell, Array, int, Array]:
        """What is left of the problem, the places of its rows, how many rows are decided to be outside, a centre."""
        center = self._first_center()
        kept = Kept(self.Z.shape[1])
        room = self._room()
        thresholds = self._first_thresholds(center)
        best: tuple[float, float, float, Array] | None = None
        newton, last_gap = _Newton(self.C, self.Z.shape[1]), np.inf
        while True:
            # Points travel only once in the mere hope that they are those that stay open.
            hopes = self.n_passes == (2 if self.rows.is_lazy else 1) or (self.n_passes > 1 and not self.rows.is_lazy)
            band = self._band(center, float(thresholds[THRESHOLDS // 2]), room) if hopes else NO_BAND
            found = self._pass(center, thresholds, band)
            kept.add(found.vertex, 0.0 if kept.vertices else 1.0)
            following = kept.reoptimise(center)
            dual = float(kept.weights @ kept.kappas) - float(following @ following)
            gap = max(found.primal - dual, 0.0)
            reach = 2.0 * sqrt(gap) * (1 + 1e-9)
            low = max(sqrt(max(found.low, 0.0)) - reach, 0.0) ** 2
            high = (sqrt(max(found.high, 0.0)) + reach) ** 2
            if band[0] <= low and high <= band[1]:
                return self._shell(found.fetched, center)
            distances = self._sampled_distances(center)
            n_open = np.count_nonzero((distances >= low) & (distances <= high)) / len(distances) * self.rows.n_rows
            if best is None or n_open < best[0]:
                best = n_open, low, high, center
            if n_open <= room or self.n_passes >= MAX_PASSES:
                self.n_passes += 1
                low, high, center = best[1:]
                return self._shell(self.rows.total(_Caps(self.home, center, thresholds, (low, high))), center)
            # The error of the sample's quantile at this centre is its error at the next too.
            missed = (found.low + found.high) / 2 - self._sampled_quantile(distances)
            width = max(4.0 * (found.high - found.low), 1e-3 * (thresholds[-1] - thresholds[0]))
            if gap < last_gap / 4.0:
                following = newton.step(center, found, thresholds, following)
            last_gap = gap
            middle = self._sampled_quantile(self._sampled_distances(following)) + missed
            thresholds = middle + width * np.linspace(-1.0, 1.0, THRESHOLDS)
            center = following

    def _room(self) -> int:
        """How many points may be fetched."""
        n_rows, d = self.rows.n_rows, self.Z.shape[1]
        if self.rows.is_lazy:
            return max(SMALL_SHELL, n_rows // SHELL_SHARE)
        return max(5 * SMALL_SHELL, min(n_rows // LOCAL_SHARE, SHELL_BYTES // (8 * (d + 2))))

    def _band(self, center: Array, middle: float, room: int) -> tuple[float, float]:
        """Squared distances on both sides of a threshold between which lie nearly as many points as may be fetched."""
        away = np.abs(np.sqrt(self._sampled_distances(center)) - sqrt(max(middle, 0.0)))
        n_near = int(0.8 * min(1.0, room / self.rows.n_rows) * len(away))
        if n_near < 10:
            return NO_BAND
        width = float(np.partition(away, n_near)[n_near])
        return max(sqrt(max(middle, 0.0)) - width, 0.0) ** 2, (sqrt(max(middle, 0.0)) + width) ** 2

    def _first_center(self) -> Array:
        """The centre of the sample alone, if enough of it would be outside its sphere, else its mean."""
        bound = self.C * self.rows.n_rows / len(self.Z)
        if bound > 0.5:
            return self.Z.mean(axis=0)
        dual = SVDDDual(self.Z, np.broadcast_to(max(bound, 1.0 / len(self.Z)), len(self.Z)), linear=self.linear)
        return self.backend.solve(dual).alpha @ self.Z

    def _sampled_distances(self, center: Array) -> Array:
        distances = self.Z @ (-2.0 * center)
        distances += self.linear
        distances += center @ center
        return np.maximum(distances, 0.0, out=distances)

    def _share(self) -> float:
        return min(1.0, self.n_wanted / self.rows.n_rows)

    def _sampled_quantile(self, distances: Array) -> float:
        return float(np.quantile(distances, 1.0 - self._share()))

    def _first_thresholds(self, center: Array) -> Array:
        share, distances = self._share(), self._sampled_distances(center)
        deviation = SPAN * sqrt(share * (1.0 - share) / len(distances)) + 2.0 / len(distances)
        low, high = np.quantile(distances, np.clip([1.0 - share - deviation, 1.0 - share + deviation], 0.0, 1.0))
        return np.linspace(low, high, THRESHOLDS)

    def _pass(self, center: Array, thresholds: Array, band: tuple[float, float]) -> _Found:
        """The sums of a pass; thresholds that turn out too high are lowered until enough points are above."""
        while True:
            self.n_passes += 1
            seen = self.rows.total(_Caps(self.home, center, thresholds, band))
            caps = np.cumsum(seen.sums[::-1], axis=0)[::-1]
            if caps[0, 0] >= min(ceil(self.n_wanted * (1 - 1e-12)), self.rows.n_rows):
                return self._found(seen, caps, thresholds)
            span = max(float(thresholds[-1] - thresholds[0]), 1e-6 * max(float(thresholds[-1]), 1e-6))
            # Below zero there is no squared distance: then every point is in the widest cap.
            low = thresholds[0] - 8.0 * span
            thresholds = np.linspace(low if low > 0 else -1e-9, thresholds[0] + span, THRESHOLDS)

    def _found(self, seen: _Fetched, caps: Array, thresholds: Array) -> _Found:
        counts, distances = caps[:, 0], caps[:, 1]
        primal = float((thresholds + self.C * (distances - counts * thresholds)).min())
        # The narrowest cap that holds enough points, and the one inside it, which does not.
        outer = int(np.flatnonzero(counts >= self.n_wanted * (1 - 1e-12))[-1])
        inner = caps[outer + 1] if outer + 1 < len(caps) else np.zeros(caps.shape[1])
        between = seen.sums[outer]
        left = max(1.0 - self.C * inner[0], 0.0)
        image = self.C * inner[2:] + (left / between[0] * between[2:] if between[0] > 0 else 0.0)
        vertex = Vertex(np.zeros(0, dtype=int), np.zeros(0), image[1:], float(image[0]))
        # With all thresholds too low: the mean of the farthest 1/C squared distances is not below R².
        high = thresholds[outer + 1] if outer + 1 < len(caps) else distances[outer] * self.C
        return _Found(vertex, primal, float(thresholds[outer]), float(high), seen)

    def _shell(self, fetched: _Fetched, center: Array) -> tuple[Shell, Array, int, Array]:
        Z, linear, places = fetched.points.arrays()
        outside = fetched.outside
        n_outside = round(float(outside[0]))
        shell = Shell(
            SVDDDual(Z, np.broadcast_to(self.C, len(Z)), linear=linear),
            slice(None),
            1.0 - self.C * n_outside,
            self.C * outside[3:],
            self.C * float(outside[2]),
        )
        return shell, places, n_outside, center


class _Newton:
    """Newton's step for the centre: to the minimum of a smooth P(c) with this slope and this curvature.

    The slope of P is 2(c − p), with p the mean of the cap. When c moves by δ, points leave the cap and others enter
    where their distance is close to the threshold t, and p moves by −2C·S_t·δ, where S_t is the scatter of the points
    per unit of t. So c* − c ≈ (I + 2C·S_t)⁻¹ (p − c). With many points between two thresholds S_t is known well, far
    better than from a sample, and two or three steps do what would take many vertices.
    """

    def __init__(self, C: float, d: int) -> None:
        self.C, self.n_near, self.curvature = C, 10 * d, np.empty((0, d))

    def step(self, center: Array, found: _Found, thresholds: Array, otherwise: Array) -> Array:
        """The next centre; ``otherwise`` where too few points have been near the sphere so far."""
        between = found.fetched.sums[:-1].sum(axis=0)
        if between[0] >= self.n_near:
            # The pass that saw the most of them knows best.
            self.n_near, d = between[0], len(center)
            scatter = found.fetched.near - np.outer(between[3:], between[3:]) / between[0]
            self.curvature = np.eye(d) + 2.0 * self.C / (thresholds[-1] - thresholds[0]) * _symmetric(scatter)
        if not len(self.curvature):
            return otherwise
        return center + np.linalg.solve(self.curvature, found.vertex.p - center)


@dataclass(frozen=True, eq=False)
class _Fetched:
    """What a pass sums: per threshold, zzᵀ between the first and the last, beyond the band; the band's points."""

    sums: Array
    near: Array
    outside: Array
    points: Joined

    def __add__(self, other: _Fetched) -> _Fetched:
        return _Fetched(
            self.sums + other.sums,
            self.near + other.near,
            self.outside + other.outside,
            self.points + other.points,
        )


@dataclass(frozen=True, eq=False)
class _Found:
    """What a pass finds: a vertex, an upper bound on the primal value, and an interval that holds R² at c."""

    vertex: Vertex
    primal: float
    low: float
    high: float
    fetched: _Fetched


class _Caps:
    """Per threshold the sums over the points above it and not above the next: 1, d, k and z; and those in a band."""

    def __init__(self, home: Home, center: Array, thresholds: Array, band: tuple[float, float]) -> None:
        self.home, self.center, self.thresholds, self.band = home, center, thresholds, band

    def __call__(self, block: Array, rows: Array) -> _Fetched:
        seen = self.home(block, self.center)
        distances, (low, high) = seen.distances, self.band
        top = distances > self.thresholds[-1]
        near = np.flatnonzero((distances > self.thresholds[0]) & ~top)
        Z, linear = seen.points(near)
        bins = np.searchsorted(self.thresholds, distances[near]) - 1
        members = sp.csr_array((np.ones(len(near)), (bins, np.arange(len(near)))), (THRESHOLDS, len(near)))
        sums = np.asarray(members @ np.column_stack([np.ones(len(near)), distances[near], linear, Z]))
        sums[-1] += seen.sums(top)
        if not high > low:
            return _Fetched(sums, Z.T @ Z, np.zeros(len(self.center) + 3), Joined([]))
        outside = distances > high
        chosen = np.flatnonzero((distances >= low) & ~outside)
        return _Fetched(sums, Z.T @ Z, seen.sums(outside), Joined([(*seen.points(chosen), rows[chosen])]))


class _Ends:
    """What the certificate and the next update need: the largest d below R², Σ max(0, d − R²), Σ α φ and Σ α φφᵀ."""

    def __init__(
        self,
        home: Home,
        center: Array,
        high: float,
        C: float,
        alpha: Array,
        places: Array,
        features_of: Callable[[Array], Array],
    ) -> None:
        self.home, self.center, self.high, self.C = home, center, high, C
        self.alpha, self.places, self.features_of = alpha, places, features_of

    def __call__(self, block: Array, rows: Array) -> _Ended:
        distances = self.home(block, self.center).distances
        below = float(distances.max(initial=0.0, where=distances < self.high * (1.0 - RELATIVE_ZERO)))
        excess = float(np.maximum(distances - self.high, 0.0).sum())
        alpha = _alpha(distances, self.high, self.C, self.alpha, self.places, rows)
        support = np.flatnonzero(alpha)
        features = self.features_of(block[support])
        weighted = alpha[support, None] * features
        return _Ended(below, excess, weighted.sum(axis=0), features.T @ weighted)


@dataclass(frozen=True, eq=False)
class _Ended:
    below: float
    excess: float
    mean: Array
    squares: Array

    def __add__(self, other: _Ended) -> _Ended:
        return _Ended(
            max(self.below, other.below),
            self.excess + other.excess,
            self.mean + other.mean,
            self.squares + other.squares,
        )


class _Coordinates:
    """The points of rows without their residuals."""

    def __init__(self, points_of: PointsOf) -> None:
        self.points_of = points_of

    def __call__(self, block: Array) -> Array:
        return self.points_of(block)[0]


def _symmetric(S: Array) -> Array:
    return (S + S.T) / 2
