"""What a source of rows is: blocks that come in order, with their places, and that can be read again."""

from __future__ import annotations

import operator
import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeVar

import numpy as np

from pyod_gessvdd.linalg import one_thread_each, row_blocks

Array = np.ndarray
Result = TypeVar("Result")

#: Numbers per block unless the source has blocks of its own: 4 MiB of float64.
BLOCK_ELEMENTS = 1 << 19
#: How much of the blocks' memory the C library keeps; it can be made to keep 32 MiB at most.
KEPT_BYTES = 31 << 20
#: Up to this many rows a source is read into memory and fitted there.
SMALL_ROWS = 100_000


class Source(ABC):
    """Rows of numbers that need not fit in memory.

    Attributes
    ----------
    n_rows, n_columns : int
        How many.
    names : list of str or None
        The columns' names, where they have any.
    """

    n_rows: int
    n_columns: int
    names: list[str] | None = None

    def __len__(self) -> int:
        return self.n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """(n_rows, n_columns)."""
        return self.n_rows, self.n_columns

    @abstractmethod
    def map(self, function: Callable[[Array, Array], Result]) -> Iterator[Result]:
        """What ``function`` returns for each block, in the order of the rows.

        Parameters
        ----------
        function : callable
            Takes a block of shape (n, D), float64, and the places of its rows, ascending, of shape (n,). It may run in
            another process: what it returns travels, so it returns sums rather than rows.
        """

    def total(self, function: Callable[[Array, Array], Result]) -> Result:
        """The sum of what ``function`` returns for each block, by its ``+``, in the order of the rows.

        Where blocks are in other processes, they are summed there, and one sum of each travels.
        """
        return reduce(operator.add, self.map(function))

    @property
    def is_lazy(self) -> bool:
        """Whether results for every row should stay where the rows are, as those of a Dask collection do."""
        return False

    @property
    def n_places(self) -> int:
        """The number of places that the rows have theirs among: more than there are rows if some were left out."""
        return self.n_rows

    def lazy(self, function: Callable[[Array, Array], tuple[Array, ...]], example: tuple[Array, ...]) -> list[Any]:
        """Where the source is lazy: one lazy array for each array that the function returns for every block.

        Parameters
        ----------
        function : callable
            Maps a block and the places of its rows to arrays with one value per row.
        example : tuple of ndarray
            What it would return for no rows.
        """
        raise NotImplementedError(f"{type(self).__name__} is not lazy")

    def take(self, places: Array) -> Array:
        """Some rows, by their places in ascending order."""
        found = list(self.map(Taken(places)))
        return np.concatenate(found) if found else np.empty((0, self.n_columns))

    def every(self, stride: int) -> tuple[Array, Array]:
        """The rows whose places are multiples of a number, and those places."""
        found = list(self.map(_EveryNth(stride)))
        return np.concatenate([rows for rows, _ in found]), np.concatenate([places for _, places in found])

    def where(self, keep: Callable[[Array, Array], Array]) -> Chosen:
        """The rows for which ``keep(block, places)`` is True."""
        return Chosen(self, keep)

    def mapped(self, function: Callable[[Array], Array], n_columns: int, row_cost: int = 0) -> Mapped:
        """The rows after a function of each block, which is split where a row takes more numbers than it has."""
        return Mapped(self, function, n_columns, row_cost)


def keep_memory() -> None:
    """Make the C library keep the memory of blocks for the next ones instead of asking the system for fresh pages.

    Fresh pages take longer than the sums over them. The largest array that was ever freed decides; this one is never
    touched.
    """
    np.empty(KEPT_BYTES // 8)


def in_order(function: Callable[..., Result], arguments: Iterable[tuple[Any, ...]]) -> Iterator[Result]:
    """What a function returns for each of some arguments, in their order, computed by as many threads as cores.

    NumPy lets other threads run while it computes, and a block is too small for BLAS to split its products.

    Parameters
    ----------
    function : callable
        Applied to a block; several threads call it at the same time.
    arguments : iterable of tuple
        Consumed by the thread that asks for results, a little ahead of them.
    """
    keep_memory()
    n_threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_threads == 1:
        for given in arguments:
            yield function(*given)
        return
    ahead: deque[Future[Result]] = deque()
    with one_thread_each(), ThreadPoolExecutor(n_threads) as pool:
        try:
            for given in arguments:
                ahead.append(pool.submit(function, *given))
                if len(ahead) > n_threads:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for waiting in ahead:
                waiting.cancel()


@dataclass(frozen=True, eq=False)
class Joined:
    """Arrays of several blocks, whose sum is their concatenation.

    Attributes
    ----------
    blocks : list of tuple of ndarray
        The same number of arrays for each block.
    """

    blocks: list[tuple[Array, ...]]

    def __add__(self, other: Joined) -> Joined:
        return Joined([*self.blocks, *other.blocks])

    def arrays(self) -> tuple[Array, ...]:
        """Each array for all blocks."""
        return tuple(np.concatenate(parts) for parts in zip(*self.blocks, strict=True))


class Taken:
    """The rows of a block that have some of these places."""

    def __init__(self, places: Array) -> None:
        self.places = places

    def __call__(self, block: Array, rows: Array) -> Array:
        """Those of one block."""
        if not len(rows):
            return block
        first, last = np.searchsorted(self.places, [rows[0], rows[-1] + 1])
        return block[np.searchsorted(rows, self.places[first:last])]


def meeting(places: Array, rows: Array) -> tuple[Array, Array]:
    """Which of some places, ascending, are those of a block's rows: their indices among the places, and in the block.

    Far fewer places than rows: they are looked up among the rows, not the rows among them.
    """
    if not len(rows):
        return np.empty(0, dtype=int), np.empty(0, dtype=int)
    first, last = np.searchsorted(places, [rows[0], rows[-1] + 1])
    near = np.searchsorted(rows, places[first:last])
    found = rows[near] == places[first:last]
    return np.arange(first, last)[found], near[found]


class _EveryNth:
    def __init__(self, stride: int) -> None:
        self.stride = stride

    def __call__(self, block: Array, rows: Array) -> tuple[Array, Array]:
        chosen = rows % self.stride == 0
        return block[chosen], rows[chosen]


class Chosen(Source):
    """The rows of a source for which a condition holds, with their places there.

    The condition is evaluated once, and its answers are kept as one bit per row; where the source is lazy, it is
    evaluated again in each pass, where the rows are.
    """

    def __init__(self, source: Source, keep: Callable[[Array, Array], Array]) -> None:
        self.source, self.keep = source, keep
        self.n_columns, self.names = source.n_columns, source.names
        if self.is_lazy:
            self.n_rows = self.total(_count)
        else:
            self.keep = remembered = keep if isinstance(keep, Remembered) else Remembered.of(source, keep)
            self.n_rows = remembered.n_rows

    @property
    def is_lazy(self) -> bool:
        """As the source is."""
        return self.source.is_lazy

    @property
    def n_places(self) -> int:
        """Those of the source: the others are still there."""
        return self.source.n_places

    def every(self, stride: int) -> tuple[Array, Array]:
        """The chosen ones of every n-th row."""
        block, rows = self.source.every(stride)
        chosen = self.keep(block, rows)
        return block[chosen], rows[chosen]

    def map(self, function: Callable[[Array, Array], Result]) -> Iterator[Result]:
        """What the function returns for the chosen rows of each block."""
        return self.source.map(_OfChosen(function, self.keep))

    def total(self, function: Callable[[Array, Array], Result]) -> Result:
        """The sum of that."""
        return self.source.total(_OfChosen(function, self.keep))


class Remembered:
    """The answers of a condition on all rows, as bits.

    Parameters
    ----------
    bits : ndarray of uint8
        Eight rows in each.
    n_rows : int
        For how many rows it holds.
    """

    def __init__(self, bits: Array, n_rows: int) -> None:
        self.bits, self.n_rows = bits, n_rows

    @classmethod
    def of(cls, source: Source, keep: Callable[[Array, Array], Array]) -> Remembered:
        """The answers for the rows of a source."""
        bits, n_rows = np.zeros((source.n_places + 7) // 8, dtype=np.uint8), 0
        for chosen in source.map(_Places(keep)):
            n_rows += len(chosen)
            np.bitwise_or.at(bits, chosen // 8, np.uint8(128) >> (chosen % 8).astype(np.uint8))
        return cls(bits, n_rows)

    def __call__(self, block: Array, rows: Array) -> Array:
        """Whether the condition holds for the rows at these places."""
        if not len(rows) or rows[-1] - rows[0] != len(rows) - 1:
            return (self.bits[rows // 8] >> (7 - rows % 8).astype(np.uint8)) & 1 == 1
        first = rows[0] - rows[0] % 8
        return np.unpackbits(self.bits[first // 8 : rows[-1] // 8 + 1])[rows[0] - first :][: len(rows)] == 1


class _Places:
    def __init__(self, keep: Callable[[Array, Array], Array]) -> None:
        self.keep = keep

    def __call__(self, block: Array, rows: Array) -> Array:
        return rows[self.keep(block, rows)]


def _count(block: Array, rows: Array) -> int:
    return len(block)


class _OfChosen:
    def __init__(self, function: Callable[[Array, Array], Any], keep: Callable[[Array, Array], Array]) -> None:
        self.function, self.keep = function, keep

    def __call__(self, block: Array, rows: Array) -> Any:
        # Several times faster than a mask.
        chosen = np.flatnonzero(self.keep(block, rows))
        return self.function(block.take(chosen, axis=0), rows[chosen])


class Mapped(Source):
    """The rows of a source after a function of each block.

    Parameters
    ----------
    source : Source
        The rows.
    function : callable
        Maps a block to as many rows of ``n_columns`` numbers.
    n_columns : int
        How many these are.
    row_cost : int, default=0
        The largest number of values that the function needs for a row: blocks are made as small as that requires.
    """

    def __init__(self, source: Source, function: Callable[[Array], Array], n_columns: int, row_cost: int = 0) -> None:
        self.source, self.function = source, function
        self.n_rows, self.n_columns = source.n_rows, n_columns
        self.row_cost = max(row_cost, n_columns, source.n_columns)

    @property
    def is_lazy(self) -> bool:
        """As the source is."""
        return self.source.is_lazy

    @property
    def n_places(self) -> int:
        """Those of the source."""
        return self.source.n_places

    def map(self, function: Callable[[Array, Array], Result]) -> Iterator[Result]:
        """What the function returns for the mapped rows of each block."""
        for parts in self.source.map(_OfMapped(function, self.function, self.row_cost)):
            yield from parts

    def total(self, function: Callable[[Array, Array], Result]) -> Result:
        """The sum of that."""
        return self.source.total(_TotalOfMapped(function, self.function, self.row_cost))

    def take(self, places: Array) -> Array:
        """Some rows; the function sees no others."""
        return self.function(self.source.take(places))


class _OfMapped:
    def __init__(
        self, function: Callable[[Array, Array], Any], before: Callable[[Array], Array], row_cost: int
    ) -> None:
        self.function, self.before, self.row_cost = function, before, row_cost

    def __call__(self, block: Array, rows: Array) -> Any:
        return list(self.parts(block, rows))

    def parts(self, block: Array, rows: Array) -> Iterator[Any]:
        """One for each part of the block; one for a block without rows."""
        for part in row_blocks(len(block), self.row_cost) if len(block) else [slice(0)]:
            yield self.function(self.before(block[part]), rows[part])


class _TotalOfMapped(_OfMapped):
    def __call__(self, block: Array, rows: Array) -> Any:
        return reduce(operator.add, self.parts(block, rows))
