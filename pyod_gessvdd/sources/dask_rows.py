"""Dask arrays and DataFrames as sources: functions go to the blocks, on the scheduler that the user has chosen."""

from __future__ import annotations

import operator
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import reduce
from typing import Any

import numpy as np

from pyod_gessvdd.errors import SourceError, warn
from pyod_gessvdd.linalg import row_blocks
from pyod_gessvdd.sources.source import Joined, Result, Source, Taken, keep_memory

Array = np.ndarray

#: A function of up to this many bytes is sent with every block, a larger one once to each worker.
SMALL_FUNCTION = 100_000


class DaskSource(Source):
    """The rows of a Dask array or DataFrame; its own chunks or partitions are the blocks.

    Every pass computes the blocks again: ``persist`` a collection that is slow to load and fits into the memory of the
    workers. Rows stay where they are; only what the functions of a pass return travels.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        Rows in chunks of known sizes, each with all columns; an array whose columns are split is rechunked with a
        warning.
    """

    def __init__(self, X: Any) -> None:
        import dask

        if hasattr(X, "columns"):
            self.names = [str(name) for name in X.columns]
            self.n_columns = len(self.names)
            for name, kind in zip(X.columns, X.dtypes, strict=True):
                _check_kind(kind, f"column {name!r} of the Dask DataFrame")
            self._dtypes = [str(kind) for kind in X.dtypes]
            self._blocks = X.to_delayed()
            # From these blocks, not by map_partitions: Dask may merge partitions on the way to either.
            self._lengths = list(dask.compute(*[dask.delayed(len)(block) for block in self._blocks]))
        else:
            if X.ndim != 2:
                raise SourceError(f"a source of rows needs an array with two dimensions, got shape {X.shape}")
            _check_kind(X.dtype, "the Dask array")
            if np.isnan(np.array(X.chunks[0], dtype=float)).any():
                raise SourceError(
                    "the Dask array has chunks of unknown sizes, so the positions of its rows are unknown; call "
                    "X.compute_chunk_sizes() first"
                )
            if len(X.chunks[1]) > 1:
                warn(
                    f"the columns of the Dask array are split into {len(X.chunks[1])} chunks; rechunking them into "
                    "one, which moves data: X.rechunk({1: -1}) before persist avoids it"
                )
                X = X.rechunk({1: -1})
            self.n_columns = int(X.shape[1])
            self._dtypes = [str(X.dtype)]
            self._blocks = list(X.to_delayed(optimize_graph=False).ravel())
            self._lengths = [int(n) for n in X.chunks[0]]
        # An empty partition has nothing to add.
        kept = [place for place, length in enumerate(self._lengths) if length]
        self._numbers, self._blocks = kept, [self._blocks[place] for place in kept]
        self._lengths = [self._lengths[place] for place in kept]
        self._client = _client()
        self._collection = X  # its futures are released with it
        self.n_rows = sum(self._lengths)
        self._starts = [int(start) for start in np.cumsum([0, *self._lengths[:-1]])]

    @property
    def is_lazy(self) -> bool:
        """Results for every row stay with the rows."""
        return True

    def map(self, function: Callable[[Array, Array], Result]) -> Iterator[Result]:
        """What the function returns for each block, computed by the scheduler."""
        return iter(self._computed(function))

    def total(self, function: Callable[[Array, Array], Result]) -> Result:
        """The sum of what the function returns; a worker splits its blocks into small ones, which stay in its cache."""
        return reduce(operator.add, self._computed(_InSmallBlocks(function)))

    def take(self, places: Array) -> Array:
        """Some rows, from the blocks that have them."""
        blocks = np.unique(np.searchsorted(self._starts, places, side="right") - 1)
        found = self._computed(Taken(places), blocks.tolist())
        return np.concatenate(found) if found else np.empty((0, self.n_columns))

    def _computed(
        self, function: Callable[[Array, Array], Result], blocks: list[int] | None = None
    ) -> Sequence[Result]:
        import dask

        if self._client is not None and self._client.status not in ("running", "connecting"):
            # Without its client Dask would continue in this process.
            raise gone(f"the client is {self._client.status}")
        try:
            return dask.compute(*self._tasks(function, blocks))
        except Exception as error:
            if is_of_connection(error):
                raise gone(type(error).__name__) from error
            raise

    def lazy(self, function: Callable[[Array, Array], tuple[Array, ...]], example: tuple[Array, ...]) -> list[Any]:
        """One Dask array for each array that the function returns."""
        import dask.array

        tasks = self._tasks(_JoinedBlocks(function))
        return [
            dask.array.concatenate(
                [
                    dask.array.from_delayed(task[place], shape=(length,), dtype=values.dtype)
                    for task, length in zip(tasks, self._lengths, strict=True)
                ]
            )
            for place, values in enumerate(example)
        ]

    def _tasks(self, function: Callable[[Array, Array], Any], blocks: list[int] | None = None) -> list[Any]:
        """One task for each block, or for some of them."""
        import dask

        apply = dask.delayed(_applied, pure=False)
        carried: Any = _Carried(function)
        if len(carried) > SMALL_FUNCTION:
            # A node of its own: it travels once to each worker, not with each block. A small one goes with the blocks:
            # otherwise a worker that has the node but not the block might be chosen, and rows would move to it.
            carried = dask.delayed(carried, pure=False)
        tasks, homes = [], self._homes()
        for place in range(len(self._blocks)) if blocks is None else blocks:
            number, block = self._numbers[place], self._blocks[place]
            start, length = self._starts[place], self._lengths[place]
            # Where the block is, unless that worker is gone: otherwise an idle worker would fetch the rows.
            workers = homes.get(block.key)
            with dask.annotate(workers=list(workers), allow_other_workers=True) if workers else nullcontext():
                tasks.append(apply(carried, block, number, start, length, self._dtypes))
        return tasks

    def _homes(self) -> Any:
        """The workers that hold persisted blocks, by the blocks' keys."""
        if self._client is None:
            return {}
        return self._client.sync(self._client.scheduler.who_has, keys=[block.key for block in self._blocks])


class _InSmallBlocks:
    """The sum of what a function returns for the parts of a block."""

    def __init__(self, function: Callable[[Array, Array], Any]) -> None:
        self.function = function

    def __call__(self, block: Array, rows: Array) -> Any:
        keep_memory()
        return reduce(operator.add, (self.function(block[part], rows[part]) for part in row_blocks(*block.shape)))


class _JoinedBlocks(_InSmallBlocks):
    """The arrays that a function returns for the parts of a block, one after the other."""

    def __call__(self, block: Array, rows: Array) -> tuple[Array, ...]:
        keep_memory()
        return Joined([self.function(block[part], rows[part]) for part in row_blocks(*block.shape)]).arrays()


class _Carried:
    """A function as bytes, so that Dask neither looks into it nor calls it."""

    def __init__(self, function: Any) -> None:
        import cloudpickle

        self.bytes = cloudpickle.dumps(function)

    def __len__(self) -> int:
        return len(self.bytes)

    def function(self) -> Any:
        return pickle.loads(self.bytes)


def _client() -> Any:
    """The client of ``distributed`` that is in use, if any."""
    if "distributed" not in sys.modules:
        return None
    import distributed

    try:
        return distributed.default_client()
    except ValueError:
        return None


def _applied(carried: _Carried, block: Any, number: int, start: int, length: int, dtypes: list[str]) -> Any:
    """A function of one block, where the block is."""
    found = [str(kind) for kind in block.dtypes] if hasattr(block, "dtypes") else [str(block.dtype)]
    if found != dtypes:
        place = next((i for i, (a, b) in enumerate(zip(found, dtypes, strict=False)) if a != b), 0)
        raise SourceError(
            f"partition {number} holds values of type {found[place]} where the collection declares {dtypes[place]}; "
            "all partitions need the same types"
        )
    values = np.ascontiguousarray(block, dtype=np.float64)
    if len(values) != length:
        raise SourceError(
            f"partition {number} has {len(values)} rows and had {length} before: every pass must see the same rows"
        )
    return carried.function()(values, np.arange(start, start + length))


def _check_kind(kind: Any, what: str) -> None:
    if getattr(kind, "kind", "O") not in "biuf":
        raise SourceError(f"{what} holds values of type {kind}; a source needs numbers: convert or drop it first")


def gone(why: str) -> SourceError:
    """The error about a scheduler that no longer answers."""
    return SourceError(f"the Dask scheduler went away during a pass over the rows ({why}); fit again when it is back")


def is_of_connection(error: BaseException) -> bool:
    """Whether an error is a connection error, decided without importing ``distributed``."""
    names = {kind.__name__ for kind in type(error).__mro__}
    return bool(names & {"CommClosedError", "FutureCancelledError", "CancelledError"})


def lazily(function: Callable[[Any], Array], X: Any, names: str | list[str], dtype: Any) -> Any:
    """What a function returns for the rows of a Dask collection, as a lazy collection of the same kind.

    Parameters
    ----------
    function : callable
        Maps rows to one value each, or to several.
    X : dask.array.Array or dask.dataframe.DataFrame
        The rows. The index of a DataFrame is kept.
    names : str or list of str
        The names of the values of a DataFrame's rows: one name for one value per row, which makes a Series.
    dtype : data-type
        Of the values.
    """
    several = not isinstance(names, str)
    if hasattr(X, "columns"):
        import pandas

        meta: Any = pandas.DataFrame(columns=names, dtype=dtype) if several else pandas.Series(name=names, dtype=dtype)
        return X.map_partitions(_of_partition, function, names, dtype, meta=meta)
    if X.ndim == 2 and len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    of_block = _OfBlock(function, len(names) if several else None, dtype)
    if several:
        return X.map_blocks(of_block, chunks=(X.chunks[0], (len(names),)), meta=np.empty((0, 0), dtype))
    return X.map_blocks(of_block, drop_axis=1, meta=np.empty(0, dtype))


class _OfBlock:
    """A function of a block that may have no rows."""

    def __init__(self, function: Any, width: int | None, dtype: Any) -> None:
        self.function, self.width, self.dtype = function, width, dtype

    def __call__(self, block: Any) -> Array:
        if not len(block):
            return np.empty(0 if self.width is None else (0, self.width), self.dtype)
        return np.asarray(self.function(block), dtype=self.dtype)


def _of_partition(frame: Any, function: Any, names: str | list[str], dtype: Any) -> Any:
    import pandas

    if isinstance(names, str):
        return pandas.Series(_OfBlock(function, None, dtype)(frame), index=frame.index, name=names)
    return pandas.DataFrame(_OfBlock(function, len(names), dtype)(frame), index=frame.index, columns=names)
