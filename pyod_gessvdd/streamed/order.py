"""Order statistics of a source: exact quantiles, and the rows that have given ranks, without sorting all rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil
from typing import Any

import numpy as np

from pyod_gessvdd.linalg import content_direction
from pyod_gessvdd.sources.source import Source
from pyod_gessvdd.streamed.sums import moments, skewness_of

Array = np.ndarray
Values = Callable[[Array, Array], Array]

#: Up to so many values are sorted as they are, 32 MiB of them; above, those next to the ranks asked for.
SORTED_VALUES = 1 << 22
#: Above, the values of so many rows, evenly spaced, tell where to look.
EDGES = 1 << 17


def quantiles(source: Source, values: Values, shares: Any) -> Array:
    """The exact quantiles of one number per row, interpolated as NumPy does it.

    Parameters
    ----------
    source : Source
        The rows.
    values : callable
        From a block and the places of its rows to one number each.
    shares : sequence of float
        Which quantiles.
    """
    wanted = np.asarray(shares, dtype=float) * (source.n_rows - 1)
    below = np.floor(wanted).astype(int)
    ranks = np.unique(np.concatenate([below, np.minimum(below + 1, source.n_rows - 1)]))
    found, _ = at_ranks(source, values, ranks)
    low = found[np.searchsorted(ranks, below)]
    high = found[np.searchsorted(ranks, np.minimum(below + 1, source.n_rows - 1))]
    return low + (high - low) * (wanted - below)


def at_ranks(source: Source, values: Values, ranks: Array) -> tuple[Array, Array]:
    """The values at ascending ranks, and the places of the rows that have them; equal values in the rows' order.

    Parameters
    ----------
    source, values
        See :func:`quantiles`.
    ranks : ndarray of int
        From zero, ascending.
    """
    if source.n_rows <= SORTED_VALUES and not source.is_lazy:
        numbers, rows = _joined(source.map(_Valued(values)))
        order = np.argsort(numbers, kind="stable")[ranks]
        return numbers[order], rows[order]
    edges, counts = _counts(source, values)
    ends = np.cumsum(counts)
    bins = np.searchsorted(ends, ranks, side="right")
    chosen = np.unique(bins)
    numbers, rows = _joined(source.map(_Valued(values, edges, chosen)))
    order = np.lexsort([rows, numbers])
    # Before the values of a chosen bin come those of the chosen bins before it.
    starts = ends[chosen] - counts[chosen]
    kept_before = np.cumsum(counts[chosen]) - counts[chosen]
    place = np.searchsorted(chosen, bins)
    picked = order[ranks - starts[place] + kept_before[place]]
    return numbers[picked], rows[picked]


def sketch(source: Source, values: Values, count: int) -> Array:
    """So many evenly spaced order statistics: exact while all values are sorted, else interpolated between edges.

    Between the values of two sampled rows next to each other, of :data:`EDGES`, lies about one part in so many of all
    rows, and ranks are exact at both: a rank misses by about 1e-5 of all rows, and hardly ever by 1e-4; with the fewer
    edges of a lazy source by about 1e-4, and hardly ever by 1e-3.
    """
    if source.n_rows <= SORTED_VALUES and not source.is_lazy:
        return at_ranks(source, values, np.unique(np.linspace(0, source.n_rows - 1, count).round().astype(int)))[0]
    edges, counts = _counts(source, values)
    # An edge's rank: what is not above it.
    return np.interp(np.linspace(0, source.n_rows - 1, count), np.cumsum(counts)[:-1] - 1.0, edges)


def _counts(source: Source, values: Values) -> tuple[Array, Array]:
    """The values of some rows, ascending, and how many rows lie up to each, and above the last."""
    # The values of a lazy source travel: as few as leave few between two of them.
    n_edges = min(max(source.n_rows // 500, 1000), EDGES // 8) if source.is_lazy else EDGES
    stride = ceil(source.n_rows / n_edges)
    edges = np.unique(np.concatenate(list(source.map(_Strided(values, stride)))))
    return edges, sum(source.map(_Counted(values, edges)), start=np.zeros(len(edges) + 1, dtype=np.int64))


def draw_by_content(source: Source, count: int, random: np.random.RandomState, *, sort: bool = True) -> Array:
    """The places of rows drawn at random: those that a draw from :func:`~pyod_gessvdd.linalg.rows_by_content` gives.

    Parameters
    ----------
    source : Source
        The rows as they are ordered by, usually scaled.
    count : int
        How many.
    random : RandomState
        Draws their ranks.
    sort : bool, default=True
        Whether the places come in ascending order, else in that of the rows' content.
    """
    ranks = np.sort(random.choice(source.n_rows, count, replace=False))
    direction = content_direction(skewness_of(source, moments(source)))
    _, places = at_ranks(source, _Along(direction), ranks)
    return np.sort(places) if sort else places


class _Along:
    def __init__(self, direction: Array) -> None:
        self.direction = direction

    def __call__(self, block: Array, rows: Array) -> Array:
        return block @ self.direction


class _Valued:
    """Values and places, of all rows or of those whose values fall into some bins."""

    def __init__(self, values: Values, edges: Array | None = None, chosen: Array | None = None) -> None:
        self.values, self.edges, self.chosen = values, edges, chosen

    def __call__(self, block: Array, rows: Array) -> tuple[Array, Array]:
        numbers = self.values(block, rows)
        if self.edges is None or self.chosen is None:
            return numbers, rows
        inside = np.isin(np.searchsorted(self.edges, numbers), self.chosen)
        return numbers[inside], rows[inside]


class _Strided:
    def __init__(self, values: Values, stride: int) -> None:
        self.values, self.stride = values, stride

    def __call__(self, block: Array, rows: Array) -> Array:
        chosen = rows % self.stride == 0
        return self.values(block[chosen], rows[chosen]) if chosen.any() else np.empty(0)


class _Counted:
    def __init__(self, values: Values, edges: Array) -> None:
        self.values, self.edges = values, edges

    def __call__(self, block: Array, rows: Array) -> Array:
        bins = np.searchsorted(self.edges, self.values(block, rows))
        return np.bincount(bins, minlength=len(self.edges) + 1)


def _joined(parts: Iterator[tuple[Array, Array]]) -> tuple[Array, Array]:
    numbers, rows = zip(*parts, strict=True)
    return np.concatenate(numbers), np.concatenate(rows)
