"""Dask arrays and DataFrames as sources: functions go to the blocks, on the scheduler that the user has chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pyod_gessvdd.errors import SourceError, warn
from pyod_gessvdd.sources.source import Result, Source

Array = np.ndarray


class DaskSource(Source):
    """The rows of a Dask array or DataFrame; its own chunks or partitions are the blocks.

    Every pass computes the blocks anew: ``persist`` a collection that is slow to load and fits into the memory of the
    workers. Rows stay where they are; what travels is what the functions of a pass return.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        Rows in chunks of known sizes, each with all columns; an array whose columns are split is rechunked with a
        warning.
    """

    def __init__(self, X: Any) -> None:
        if hasattr(X, "columns"):
            self.names = [str(name) for name in X.columns]
            self.n_columns = len(self.names)
            for name, kind in zip(X.columns, X.dtypes, strict=True):
                _check_kind(kind, f"column {name!r} of the Dask DataFrame")
            self._dtypes = [str(kind) for kind in X.dtypes]
            self._blocks = X.to_delayed()
            self._lengths = [int(n) for n in X.map_partitions(len).compute()]
        else:
            if X.ndim != 2:
                raise SourceError(f"a source of rows needs an array with two dimensions, got shape {X.shape}")
            _check_kind(X.dtype, "the Dask array")
            if np.isnan(np.array(X.chunks[0], dtype=float)).any():
                raise SourceError(
                    "the Dask array has chunks of unknown sizes, so that its rows have no places; call "
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
            self._blocks = list(X.to_delayed().ravel())
            self._lengths = [int(n) for n in X.chunks[0]]
        self.n_rows = sum(self._lengths)
        self._starts = [int(start) for start in np.cumsum([0, *self._lengths[:-1]])]

    @property
    def is_lazy(self) -> bool:
        """Results for every row stay with the rows."""
        return True

    def map(self, function: Callable[[Array, Array], Result]) -> Iterator[Result]:
        """What the function returns for each block, computed by the scheduler."""
        import dask

        tasks = self._tasks(function)
        try:
            # A new delayed object each time: the same function of another pass must not be taken from a cache.
            results = dask.compute(*tasks)
        except Exception as error:
            if _has_lost_the_scheduler(error):
                raise SourceError(
                    f"the Dask scheduler went away during a pass over the rows ({type(error).__name__}); fit again "
                    "when it is back"
                ) from error
            raise
        return iter(results)

    def lazy(self, function: Callable[[Array, Array], tuple[Array, ...]], example: tuple[Array, ...]) -> list[Any]:
        """One Dask array for each array that the function returns."""
        import dask.array

        tasks = self._tasks(function)
        return [
            dask.array.concatenate(
                [
                    dask.array.from_delayed(task[place], shape=(length,), dtype=values.dtype)
                    for task, length in zip(tasks, self._lengths, strict=True)
                ]
            )
            for place, values in enumerate(example)
        ]

    def _tasks(self, function: Callable[[Array, Array], Any]) -> list[Any]:
        import dask

        # One node for all tasks: what a function carries travels once to each worker, not with each block.
        shared = dask.delayed(function, pure=False)
        apply = dask.delayed(_applied, pure=False)
        return [
            apply(shared, block, number, start, length, self._dtypes)
            for number, (block, start, length) in enumerate(zip(self._blocks, self._starts, self._lengths, strict=True))
        ]


def _applied(function: Any, block: Any, number: int, start: int, length: int, dtypes: list[str]) -> Any:
    """A function of one block, where the block is."""
    found = [str(kind) for kind in block.dtypes] if hasattr(block, "dtypes") else [str(block.dtype)]
    if found != dtypes:
        place = next((i for i, (a, b) in enumerate(zip(found, dtypes, strict=False)) if a != b), 0)
        raise SourceError(
            f"partition {number} holds values of type {found[place]} where the collection says {dtypes[place]}; "
            "all partitions need the same types"
        )
    values = np.ascontiguousarray(block, dtype=np.float64)
    if len(values) != length:
        raise SourceError(
            f"partition {number} has {len(values)} rows and had {length} before: every pass must see the same rows"
        )
    return function(values, np.arange(start, start + length))


def _check_kind(kind: Any, what: str) -> None:
    if getattr(kind, "kind", "O") not in "biuf":
        raise SourceError(f"{what} holds values of type {kind}; a source needs numbers: convert or drop it first")


def _has_lost_the_scheduler(error: BaseException) -> bool:
    """Whether an error is that of a connection, told without importing ``distributed``."""
    names = {kind.__name__ for kind in type(error).__mro__}
    return bool(names & {"CommClosedError", "FutureCancelledError", "CancelledError"})


def lazily(function: Callable[[Any], Array], X: Any, names: str | list[str], dtype: Any) -> Any:
    """What a function gives for the rows of a Dask collection, as a lazy collection of the same kind.

    Parameters
    ----------
    function : callable
        From rows to one value each, or to several.
    X : dask.array.Array or dask.dataframe.DataFrame
        The rows. The index of a DataFrame is kept.
    names : str or list of str
        What the values of a DataFrame's rows are called: one name for one value per row, which makes a Series.
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
