"""The sphere around the points of a source: Frank–Wolfe by sums over blocks, then exactly on the shell that is left.

A pass at a centre c adds up, between a few thresholds t, the points of each cap {i : d_i > t}, with d_i the squared
distance from c. Two things follow from one pass, for any thresholds:

- an upper bound of the primal value, P(c) ≤ t + C · Σ max(0, d_i − t) for every t (Rockafellar and Uryasev's form of
  the CVaR), so that the gap to any feasible α is certain;
- a vertex that is nearly the best one: C on the largest cap with fewer than 1/C points, and what is left spread over
  the points up to the next threshold.

The weights of the vertices, and with them the next centre, come from the same small active-set problem as in memory. By
the gap, points farther from the sphere than centre and radius can still move are decided; once few enough are not, they
are fetched with their places, and :class:`~pyod_gessvdd.qp.frank_wolfe.Shell` solves what is left of the problem to
rounding. So the solution is that of all points, and only sums and the shell have left the blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil, sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from pyod_gessvdd.dual import BOUND_TOLERANCE, QPSolution, SVDDDual
from pyod_gessvdd.errors import warn
from pyod_gessvdd.linalg import RELATIVE_ZERO, shift_rows
from pyod_gessvdd.qp.frank_wolfe import FrankWolfe, Kept, Shell, Vertex
from pyod_gessvdd.sources.source import Source

Array = np.ndarray
#: From rows to Z and r²/ρ, or None.
PointsOf = Callable[[Array], tuple[Array, Array | None]]

#: A sample of this share of the rows, within these limits, gives the first centre and says where thresholds lie.
SAMPLE_SHARE, SMALLEST_SAMPLE, LARGEST_SAMPLE = 500, 4000, 100_000
#: The points that are still open are fetched once they are this many, or one in this many of all: few where they
#: travel, else as many as fit into this many bytes, for they save passes.
SMALL_SHELL, SHELL_SHARE, LOCAL_SHARE, SHELL_BYTES = 10_000, 400, 50, 128 << 20
#: The thresholds of a pass, and the standard deviations of a sampled quantile that the first ones span.
THRESHOLDS, SPAN = 33, 5.0
#: After this many passes the open points are fetched however many they are.
MAX_PASSES = 40


def sample_of(rows: Source) -> Array:
    """The rows whose places are multiples of a number: what first guesses are made from."""
    size = min(max(rows.n_rows // SAMPLE_SHARE, SMALLEST_SAMPLE), LARGEST_SAMPLE)
    return rows.every(max(1, rows.n_rows // size))[0]


@dataclass(frozen=True)
class StreamedSolution(QPSolution):
    """The solution for the points of a source: α of the shell, and the rule that gives it to all others.

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
        From rows to the points that this is a solution for.
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

    def alpha_of(self, block: Array, rows: Array) -> Array:
        """α of the rows of a block, which have these places."""
        return self.alpha_at(*self.points_of(block), rows)

    def alpha_at(self, Z: Array, residual2: Array | None, rows: Array) -> Array:
        """The same from their points."""
        away = Z - self.center
        squares = np.einsum("ij,ij->i", away, away)
        squares = squares if residual2 is None else squares + residual2
        return _alpha(squares, self.radius2, self.C, self.alpha, self.places, rows)


def _alpha(distances: Array, limit: float, C: float, alpha: Array, places: Array, rows: Array) -> Array:
    """α of some rows: that of the shell on it, elsewhere C beyond a limit that lies in the shell, and 0 up to it."""
    found = np.where(distances > limit, C, 0.0)
    place = np.minimum(np.searchsorted(places, rows), len(places) - 1)
    in_shell = places[place] == rows
    found[in_shell] = alpha[place[in_shell]]
    return found


class Home:
    """Points around the origin with a linear term of mean one: what a solver sees, whatever the offset and the unit.

    Parameters
    ----------
    points_of : callable
        From rows to points and squared residuals. One that has a ``product``, W and b with z = Wx − b after
        ``before``, is taken by it: offset and unit are part of the product then.
    sample : ndarray of shape (n, D)
        Rows that offset and unit are taken from.
    """

    def __init__(self, points_of: PointsOf, sample: Array) -> None:
        Z, residual2 = points_of(sample)
        self.points_of, self.offset = points_of, Z.mean(axis=0)
        squares = np.einsum("ij,ij->i", Z - self.offset, Z - self.offset) + (0.0 if residual2 is None else residual2)
        self.scale2 = float(squares.mean()) or 1.0
        self._buffer: Array | None = None
        product = getattr(points_of, "product", None)
        self._product = None
        if product is not None:
            W, b = product
            self._product = np.ascontiguousarray(W.T / sqrt(self.scale2)), (b + self.offset) / sqrt(self.scale2)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_buffer": None}

    def __call__(self, block: Array) -> tuple[Array, Array]:
        """Z and the linear term ‖z‖² + r² of a block's rows; the next call overwrites Z."""
        if self._product is None:
            Z, residual2 = self.points_of(block)
            Z = (Z - self.offset) / sqrt(self.scale2)
            linear = np.einsum("ij,ij->i", Z, Z)
            return Z, linear if residual2 is None else linear + residual2 / self.scale2
        W, b = self._product
        before = self.points_of.before  # type: ignore[attr-defined]
        Z = self._memory(len(block), len(b))
        np.matmul(block if before is None else before.apply(block), W, out=Z)
        shift_rows(Z, b, out=Z)
        return Z, np.einsum("ij,ij->i", Z, Z)

    def _memory(self, n_rows: int, d: int) -> Array:
        # Fresh memory of that size costs as much as the product.
        if self._buffer is None or len(self._buffer) < n_rows:
            self._buffer = np.empty((n_rows, d))
        return self._buffer[:n_rows]


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
        From a block of rows to their points Z and squared residuals, or None.
    C : float
        The bound of α, the same for every row.
    sample : ndarray of shape (n, D)
        Some of the rows, see :func:`sample_of`.
    backend : FrankWolfe
        Solves what the passes leave.
    tol : float
        The relative duality gap to reach; a larger one is warned about.
    features_of : callable, optional
        From a block of rows to the features whose sums with α are wanted; the points unless given.
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
    found = list(passes.rows.map(ends))
    below = max(part[0] for part in found)
    sums = np.sum([part[1] for part in found], axis=0)
    primal = high + passes.C * float(sums[-1, 0])
    F = sums.shape[1]
    alpha_mean = sums[F]
    if best[-1] >= (1.0 - BOUND_TOLERANCE) * passes.C:
        # R² may be anything down to the next distance, which may be that of a point far inside the shell.
        distances[indices] = 0.0
        low = max(float(distances.max()), below)
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
        alpha_mean=alpha_mean,
        S_alpha=_symmetric(sums[:F] - np.outer(alpha_mean, alpha_mean)),
    )


class _Passes:
    """Frank–Wolfe over the whole source, until few enough points are undecided."""

    def __init__(self, rows: Source, home: Home, C: float, sample: Array, backend: FrankWolfe) -> None:
        self.rows, self.home, self.C, self.backend = rows, home, C, backend
        self.n_wanted = 1.0 / C
        Z, self.linear = home(sample)
        self.Z = Z.copy()
        self.n_passes = 0

    def shell(self) -> tuple[Shell, Array, int, Array]:
        """What is left of the problem, the places of its rows, how many rows are decided to be outside, a centre."""
        center = self._first_center()
        kept = Kept(self.Z.shape[1])
        room = self._room()
        thresholds = self._first_thresholds(center)
        best: tuple[float, float, float, Array] | None = None
        while True:
            found = self._pass(center, thresholds)
            kept.add(found.vertex, 0.0 if kept.vertices else 1.0)
            following = kept.reoptimise(center)
            dual = float(kept.weights @ kept.kappas) - float(following @ following)
            reach = 2.0 * sqrt(max(found.primal - dual, 0.0)) * (1 + 1e-9)
            low = max(sqrt(max(found.low, 0.0)) - reach, 0.0) ** 2
            high = (sqrt(max(found.high, 0.0)) + reach) ** 2
            distances = self._sampled_distances(center)
            n_open = np.count_nonzero((distances >= low) & (distances <= high)) / len(distances) * self.rows.n_rows
            if best is None or n_open < best[0]:
                best = n_open, low, high, center
            if n_open <= room or self.n_passes >= MAX_PASSES:
                return self._fetch(*best[1:])
            # What the sample's quantile misses of the true one at this centre, it misses at the next too.
            missed = (found.low + found.high) / 2 - self._sampled_quantile(distances)
            width = max(4.0 * (found.high - found.low), 1e-3 * (thresholds[-1] - thresholds[0]))
            middle = self._sampled_quantile(self._sampled_distances(following)) + missed
            thresholds = middle + width * np.linspace(-1.0, 1.0, THRESHOLDS)
            center = following

    def _room(self) -> int:
        """How many points may be fetched."""
        n_rows, d = self.rows.n_rows, self.Z.shape[1]
        if self.rows.is_lazy:
            return max(SMALL_SHELL, n_rows // SHELL_SHARE)
        return max(5 * SMALL_SHELL, min(n_rows // LOCAL_SHARE, SHELL_BYTES // (8 * (d + 2))))

    def _first_center(self) -> Array:
        """That of the sample alone, if enough of it would be outside its sphere, else its mean."""
        bound = self.C * self.rows.n_rows / len(self.Z)
        if bound > 0.5:
            return self.Z.mean(axis=0)
        dual = SVDDDual(self.Z, np.broadcast_to(max(bound, 1.0 / len(self.Z)), len(self.Z)), linear=self.linear)
        return self.backend.solve(dual).alpha @ self.Z

    def _sampled_distances(self, center: Array) -> Array:
        return _squared_distances(self.Z, self.linear, center)

    def _share(self) -> float:
        return min(1.0, self.n_wanted / self.rows.n_rows)

    def _sampled_quantile(self, distances: Array) -> float:
        return float(np.quantile(distances, 1.0 - self._share()))

    def _first_thresholds(self, center: Array) -> Array:
        share, distances = self._share(), self._sampled_distances(center)
        deviation = SPAN * sqrt(share * (1.0 - share) / len(distances)) + 2.0 / len(distances)
        low, high = np.quantile(distances, np.clip([1.0 - share - deviation, 1.0 - share + deviation], 0.0, 1.0))
        return np.linspace(low, high, THRESHOLDS)

    def _pass(self, center: Array, thresholds: Array) -> _Found:
        """The sums of a pass; thresholds that turn out too high are lowered until enough points are above."""
        while True:
            self.n_passes += 1
            shape = (THRESHOLDS, self.Z.shape[1] + 3)
            sums = sum(self.rows.map(_Caps(self.home, center, thresholds)), start=np.zeros(shape))
            caps = np.cumsum(sums[::-1], axis=0)[::-1]
            if caps[0, 0] >= min(ceil(self.n_wanted * (1 - 1e-12)), self.rows.n_rows):
                return self._found(sums, caps, thresholds)
            span = max(float(thresholds[-1] - thresholds[0]), 1e-6 * max(float(thresholds[-1]), 1e-6))
            # Below zero there is no squared distance: then every point is in the widest cap.
            low = thresholds[0] - 8.0 * span
            thresholds = np.linspace(low if low > 0 else -1e-9, thresholds[0] + span, THRESHOLDS)

    def _found(self, sums: Array, caps: Array, thresholds: Array) -> _Found:
        counts, distances = caps[:, 0], caps[:, 1]
        primal = float((thresholds + self.C * (distances - counts * thresholds)).min())
        # The narrowest cap that holds enough points, and the one inside it, which does not.
        outer = int(np.flatnonzero(counts >= self.n_wanted * (1 - 1e-12))[-1])
        inner = caps[outer + 1] if outer + 1 < len(caps) else np.zeros(caps.shape[1])
        between = sums[outer]
        left = max(1.0 - self.C * inner[0], 0.0)
        image = self.C * inner[2:] + (left / between[0] * between[2:] if between[0] > 0 else 0.0)
        vertex = Vertex(np.zeros(0, dtype=int), np.zeros(0), image[1:], float(image[0]))
        # With all thresholds too low: the mean of the farthest 1/C squared distances is not below R².
        high = thresholds[outer + 1] if outer + 1 < len(caps) else distances[outer] * self.C
        return _Found(vertex, primal, float(thresholds[outer]), float(high))

    def _fetch(self, low: float, high: float, center: Array) -> tuple[Shell, Array, int, Array]:
        self.n_passes += 1
        parts = list(self.rows.map(_Open(self.home, center, low, high)))
        Z, linear, places = (np.concatenate(part) for part in list(zip(*parts, strict=True))[:3])
        outside = np.sum([part[3] for part in parts], axis=0)
        n_outside = round(float(outside[0]))
        shell = Shell(
            SVDDDual(Z, np.broadcast_to(self.C, len(Z)), linear=linear),
            slice(None),
            1.0 - self.C * n_outside,
            self.C * outside[2:],
            self.C * float(outside[1]),
        )
        return shell, places, n_outside, center


@dataclass(frozen=True, eq=False)
class _Found:
    """What a pass finds: a vertex, an upper bound of the primal value, and two ends between which R² at c lies."""

    vertex: Vertex
    primal: float
    low: float
    high: float


def _squared_distances(Z: Array, linear: Array, center: Array) -> Array:
    distances = Z @ (-2.0 * center)
    distances += linear
    distances += center @ center
    return np.maximum(distances, 0.0, out=distances)


class _Caps:
    """Per threshold the sums over the points above it and not above the next: 1, d, k and z."""

    def __init__(self, home: Home, center: Array, thresholds: Array) -> None:
        self.home, self.center, self.thresholds = home, center, thresholds

    def __call__(self, block: Array, rows: Array) -> Array:
        Z, linear = self.home(block)
        distances = _squared_distances(Z, linear, self.center)
        above = np.flatnonzero(distances > self.thresholds[0])
        d = distances[above]
        bins = np.searchsorted(self.thresholds, d) - 1
        members = sp.csr_array((np.ones(len(d)), (bins, np.arange(len(d)))), shape=(len(self.thresholds), len(d)))
        return np.asarray(members @ np.column_stack([np.ones(len(d)), d, linear[above], Z[above]]))


class _Open:
    """The points that are undecided, with their places, and the sums over those outside: 1, k and z."""

    def __init__(self, home: Home, center: Array, low: float, high: float) -> None:
        self.home, self.center, self.low, self.high = home, center, low, high

    def __call__(self, block: Array, rows: Array) -> tuple[Array, Array, Array, Array]:
        Z, linear = self.home(block)
        distances = _squared_distances(Z, linear, self.center)
        outside = distances > self.high
        chosen = np.flatnonzero((distances >= self.low) & ~outside)
        sums = np.concatenate([[np.count_nonzero(outside), linear[outside].sum()], outside.astype(float) @ Z])
        return Z[chosen], linear[chosen], rows[chosen], sums


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

    def __call__(self, block: Array, rows: Array) -> tuple[float, Array]:
        distances = _squared_distances(*self.home(block), self.center)
        below = distances[distances < self.high * (1.0 - RELATIVE_ZERO)]
        excess = float(np.maximum(distances - self.high, 0.0).sum())
        alpha = _alpha(distances, self.high, self.C, self.alpha, self.places, rows)
        support = np.flatnonzero(alpha)
        features = self.features_of(block[support])
        weighted = alpha[support, None] * features
        sums = np.vstack([features.T @ weighted, weighted.sum(axis=0), np.full(features.shape[1], excess)])
        return float(below.max(initial=0.0)), sums


class _Coordinates:
    """The points of rows without their residuals."""

    def __init__(self, points_of: PointsOf) -> None:
        self.points_of = points_of

    def __call__(self, block: Array) -> Array:
        return self.points_of(block)[0]


def _symmetric(S: Array) -> Array:
    return (S + S.T) / 2
