"""Order statistics of a source: exact quantiles, and the rows that have given ranks, without sorting all rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from pyod_gessvdd.linalg import ORDERED_ROWS, content_direction, drawn
from pyod_gessvdd.sources.arrays import ArraySource
from pyod_gessvdd.sources.source import Chosen, Joined, Remembered, Source
from pyod_gessvdd.streamed.columns import Column, discarded_on_error
from pyod_gessvdd.streamed.sums import Moments, skewness_of

Array = np.ndarray
Values = Callable[[Array, Array], Array]

#: Up to this many values, 32 MiB, are all sorted; above, only those next to the requested ranks.
SORTED_VALUES = 1 << 22
#: Above that, the values of this many rows, evenly spaced, tell where to look.
EDGES = 1 << 17
#: The standard deviations of a sampled rank within which the rows that have given ranks are looked for.
SPAN = 6.0
#: Up to this many bounds, numbers are looked up among them without sorting the numbers.
FEW_BOUNDS = 100


@dataclass(frozen=True, eq=False)
class Spread:
    """The smallest and the largest of some numbers, and the mean and the scatter of all."""

    low: float
    high: float
    moments: Moments

    @classmethod
    def of(cls, numbers: Array) -> Spread:
        """The spread of an array."""
        if not len(numbers):
            return cls(np.inf, -np.inf, Moments(0, np.zeros(1), np.zeros((1, 1))))
        mean = numbers.mean(keepdims=True)
        scatter = np.array([[((numbers - mean) ** 2).sum()]])
        return cls(float(numbers.min()), float(numbers.max()), Moments(len(numbers), mean, scatter))

    def __add__(self, other: Spread) -> Spread:
        return Spread(min(self.low, other.low), max(self.high, other.high), self.moments + other.moments)


class OrderStatistics:
    """The order of one number per row of a source; what a pass finds is kept for the next query.

    One pass computes the numbers, and they are kept, in a file if they are many. Where the source is lazy and numbers
    would travel they are computed again in each pass. Up to :data:`SORTED_VALUES` are all sorted. Above, the numbers of
    some rows are edges, a pass counts the rows between them, and another fetches the few next to the requested ranks.

    Parameters
    ----------
    source : Source
        The rows.
    values : callable
        Maps a block and the places of its rows to one number per row.
    """

    def __init__(self, source: Source, values: Values) -> None:
        self.source, self.values = source, values
        self.sorts_all = source.n_rows <= SORTED_VALUES and not source.is_lazy

    @cached_property
    def _numbers(self) -> tuple[Source, Values]:
        """The numbers as a source of one column, or else the rows and what maps them to numbers."""
        source = self.source
        if source.is_lazy or source.n_places > source.n_rows or source.n_columns == 1:
            return source, self.values
        column = Column(float, source.n_rows)
        with discarded_on_error(column):
            for numbers in source.map(self.values):
                column.append(numbers)
        return ArraySource(column.finished().reshape(-1, 1)), first_column

    @cached_property
    def _all(self) -> tuple[Array, Array]:
        return self._joined()

    @cached_property
    def _sorted(self) -> Array:
        # Without places a sort need not be stable, which is ten times faster.
        return np.sort(self._all[0])

    def _joined(self, bounds: Array | None = None) -> tuple[Array, Array]:
        source, values = self._numbers
        numbers, rows = source.total(_Valued(values, bounds)).arrays()
        return numbers, rows

    def below(self, limit: float) -> Chosen:
        """The rows whose number is below a limit."""
        source, values = self._numbers
        keep = _Below(values, limit)
        return self.source.where(keep if source is self.source else Remembered.of(source, keep))

    @cached_property
    def spread(self) -> Spread:
        """The smallest and the largest number, mean and deviation; a by-product of the order."""
        return Spread.of(self._all[0]) if self.sorts_all else self._counts[2]

    @cached_property
    def _sample(self) -> Array:
        """The numbers of some rows, evenly spaced, ascending."""
        source, values = self._numbers
        # The values of a lazy source travel: as few as leave few rows between two of them.
        n_edges = min(max(source.n_rows // 500, 1000), EDGES // 8) if source.is_lazy else EDGES
        stride = ceil(source.n_rows / n_edges)
        return np.sort(np.concatenate(list(source.map(_Strided(values, stride)))))

    @cached_property
    def _counts(self) -> tuple[Array, Array, Spread]:
        """The edges, ascending, how many rows lie up to each and above the last, and the spread of all."""
        edges = np.unique(self._sample)
        source, values = self._numbers
        found = source.total(_Counted(values, edges))
        return edges, found.counts, found.beside

    def at(self, ranks: Array) -> tuple[Array, Array]:
        """The values at ascending ranks, and the places of the rows that have them; equal values in the rows' order.

        Parameters
        ----------
        ranks : ndarray of int
            From zero, ascending.
        """
        if self.sorts_all:
            numbers, rows = self._all
            picked = np.argsort(numbers, kind="stable")[ranks]
            return numbers[picked], rows[picked]
        edges, counts, _ = self._counts
        ends = np.cumsum(counts)
        bins = np.searchsorted(ends, ranks, side="right")
        chosen = np.unique(bins)
        numbers, rows = self._joined(_bounds(edges, chosen))
        order = np.lexsort([rows, numbers])
        # Before the values of a chosen bin come those of the chosen bins before it.
        starts = ends[chosen] - counts[chosen]
        kept_before = np.cumsum(counts[chosen]) - counts[chosen]
        place = np.searchsorted(chosen, bins)
        picked = order[ranks - starts[place] + kept_before[place]]
        return numbers[picked], rows[picked]

    def quantiles(self, shares: Any) -> Array:
        """Exact quantiles, interpolated as in NumPy."""
        last = self.source.n_rows - 1
        wanted = np.asarray(shares, dtype=float) * last
        below = np.floor(wanted).astype(int)
        above = np.minimum(below + 1, last)
        ranks = np.unique(np.concatenate([below, above]))
        found = self._sorted[ranks] if self.sorts_all else self._nearby(ranks)
        low, high = found[np.searchsorted(ranks, below)], found[np.searchsorted(ranks, above)]
        return low + (high - low) * (wanted - below)

    def _nearby(self, ranks: Array) -> Array:
        """The values at a few ranks: fetched from where the sample says that they are, unless they are elsewhere."""
        if self.source.is_lazy or "_counts" in vars(self):
            return self.at(ranks)[0]
        bounds = _around(self._sample, ranks / (self.source.n_rows - 1))
        source, values = self._numbers
        found = source.total(_Near(values, bounds))
        ends = np.cumsum(found.counts)
        inside = np.searchsorted(ends, ranks, side="right")
        if not (inside % 2).all():
            return self.at(ranks)[0]
        # Those in front of a value that were not fetched are the ones between the bounds before it.
        not_fetched = np.cumsum(found.counts[::2])[inside // 2]
        return np.sort(found.beside.arrays()[0])[ranks - not_fetched]

    def sketch(self, count: int) -> Array:
        """Evenly spaced order statistics, ``count`` of them: exact where all values are sorted, else interpolated.

        They are interpolated between the values of sampled rows, the edges, where ranks are exact. Between two of the
        :data:`EDGES` lies about one part in that many of all rows: a rank is off by about 1e-5 of all rows, and hardly
        ever by 1e-4; with the fewer edges of a lazy source by about 1e-4, and hardly ever by 1e-3.
        """
        wanted = np.linspace(0, self.source.n_rows - 1, count)
        if self.sorts_all:
            return self._sorted[np.unique(wanted.round().astype(int))]
        edges, counts, _ = self._counts
        # An edge's rank counts what is not above it.
        return np.interp(wanted, np.cumsum(counts)[:-1] - 1.0, edges)


def draw(source: Source, count: int, random: np.random.RandomState) -> Array:
    """The places, ascending, of the rows that a fit learns from: as in memory by content or, of very many, by place."""
    if source.n_rows > ORDERED_ROWS:
        return drawn(source.n_rows, count, random)
    return draw_by_content(source, count, random)


def draw_by_content(source: Source, count: int, random: np.random.RandomState, *, sort: bool = True) -> Array:
    """The places of rows drawn at random: those that a draw from :func:`~pyod_gessvdd.linalg.rows_by_content` gives.

    Parameters
    ----------
    source : Source
        The rows in the form that orders them, usually scaled.
    count : int
        How many.
    random : RandomState
        Draws their ranks.
    sort : bool, default=True
        Whether the places are in ascending order, or else in the order of the rows' content.
    """
    ranks = drawn(source.n_rows, count, random)
    direction = content_direction(skewness_of(source))
    _, places = OrderStatistics(source, _Along(direction)).at(ranks)
    return np.sort(places) if sort else places


def drawn_rows(source: Source, count: int, random: np.random.RandomState) -> Array:
    """The rows of such a draw themselves, in the order of their content."""
    places = draw_by_content(source, count, random, sort=False)
    order = np.argsort(places)
    rows = np.empty((len(places), source.n_columns))
    rows[order] = source.take(places[order])
    return rows


def first_column(block: Array, rows: Array) -> Array:
    """The numbers of a source that has one column."""
    return block[:, 0]


class _Along:
    def __init__(self, direction: Array) -> None:
        self.direction = direction

    def __call__(self, block: Array, rows: Array) -> Array:
        return block @ self.direction


class _Below:
    def __init__(self, values: Values, limit: float) -> None:
        self.values, self.limit = values, limit

    def __call__(self, block: Array, rows: Array) -> Array:
        return self.values(block, rows) < self.limit


def _bounds(edges: Array, chosen: Array) -> Array:
    """Where the chosen bins begin and end, in turn; of bins next to each other only the first and the last.

    Bin k holds what is above edge k − 1 and not above edge k.
    """
    ends = np.concatenate([[-np.inf], edges, [np.inf]])
    apart = np.diff(chosen) > 1
    first, last = chosen[np.append(True, apart)], chosen[np.append(apart, True)]
    return np.column_stack([ends[first], ends[last + 1]]).ravel()


class _Valued:
    """Values and places, of all rows or of those whose values lie between bounds, see :func:`_bounds`."""

    def __init__(self, values: Values, bounds: Array | None = None) -> None:
        self.values, self.bounds = values, bounds

    def __call__(self, block: Array, rows: Array) -> Joined:
        numbers = self.values(block, rows)
        if self.bounds is None:
            return Joined([(numbers, rows)])
        if len(self.bounds) <= FEW_BOUNDS:
            inside = np.searchsorted(self.bounds, numbers) % 2 == 1
        else:
            # Many bounds are found among sorted numbers faster than numbers among many bounds.
            order = np.argsort(numbers)
            ends = np.searchsorted(numbers[order], self.bounds, side="right")
            begun, ended = (np.bincount(ends[k::2], minlength=len(order) + 1) for k in (0, 1))
            inside = order[np.cumsum(begun - ended)[:-1] > 0]
        return Joined([(numbers[inside], rows[inside])])


def _around(sample: Array, shares: Array) -> Array:
    """Bounds, lower and upper ones in turn, between which the numbers at some shares lie, by a sorted sample."""
    reach = SPAN * np.sqrt(len(sample) * shares * (1.0 - shares)) + 2.0
    ends = np.concatenate([[-np.inf], sample, [np.inf]])
    low, high = (
        np.clip(np.rint(shares * len(sample) + side * reach), 0, len(sample) + 1).astype(int) for side in (-1, 1)
    )
    apart = low[1:] > np.maximum.accumulate(high)[:-1]
    first, last = np.append(True, apart), np.append(apart, True)
    return np.column_stack([ends[low[first]], ends[np.maximum.accumulate(high)[last]]]).ravel()


class _Near:
    """How many numbers lie between bounds, and those above a lower and not above the next upper one."""

    def __init__(self, values: Values, bounds: Array) -> None:
        self.values, self.bounds = values, bounds

    def __call__(self, block: Array, rows: Array) -> _Counts:
        numbers = self.values(block, rows)
        place = np.searchsorted(self.bounds, numbers)
        counts = np.bincount(place, minlength=len(self.bounds) + 1)
        return _Counts(counts, Joined([(numbers[place % 2 == 1],)]))


class _Strided:
    def __init__(self, values: Values, stride: int) -> None:
        self.values, self.stride = values, stride

    def __call__(self, block: Array, rows: Array) -> Array:
        chosen = rows % self.stride == 0
        return self.values(block[chosen], rows[chosen]) if chosen.any() else np.empty(0)


class _Counted:
    def __init__(self, values: Values, edges: Array) -> None:
        self.values, self.edges = values, edges

    def __call__(self, block: Array, rows: Array) -> _Counts:
        numbers = self.values(block, rows)
        if len(numbers) < len(self.edges):
            counts = np.bincount(np.searchsorted(self.edges, numbers), minlength=len(self.edges) + 1)
        else:
            # For many numbers, sorting them and looking the edges up takes half the time.
            up_to = np.searchsorted(np.sort(numbers), self.edges, side="right")
            counts = np.diff(up_to, prepend=0, append=len(numbers))
        return _Counts(counts, Spread.of(numbers))


@dataclass(frozen=True, eq=False)
class _Counts:
    """How many numbers lie between bounds, and what else is summed: their spread, or some of them."""

    counts: Array
    beside: Any

    def __add__(self, other: _Counts) -> _Counts:
        return _Counts(self.counts + other.counts, self.beside + other.beside)
