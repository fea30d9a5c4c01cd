"""Rows that need not fit in memory, as blocks that can be read again: arrays, memory maps, Parquet, Dask.

``fit`` takes a large ``numpy.memmap``, the path of a Parquet file or folder, and Dask arrays or DataFrames as they are.
:class:`ArraySource` and :class:`ParquetSource` let you choose more: which columns, how many rows at a time.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pyod_gessvdd.sources.arrays import ArraySource
from pyod_gessvdd.sources.parquet import ParquetSource
from pyod_gessvdd.sources.source import SMALL_ROWS, Source

__all__ = ["ArraySource", "ParquetSource", "Source", "as_source"]

#: A memory map of more bytes than this is read block by block; a smaller one is an array like any other.
MAPPED_BYTES = 256 << 20


def as_source(X: Any) -> Source | None:
    """The source that X is or stands for; None for data in memory.

    Parameters
    ----------
    X : Source, memmap, path, Dask array or Dask DataFrame, or anything else
        Paths are those of Parquet files, or of folders of them.
    """
    kind = type(X)
    if kind is np.ndarray:
        return None
    if isinstance(X, Source):
        return X
    if isinstance(X, np.memmap):
        return ArraySource(X) if X.ndim == 2 and X.nbytes > MAPPED_BYTES and X.dtype.kind in "biuf" else None
    if isinstance(X, str | Path):
        return ParquetSource(X)
    if is_dask(X):
        from pyod_gessvdd.sources.dask_rows import DaskSource

        return DaskSource(X)
    return None


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection, decided without importing Dask."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(X, "__dask_graph__")


def in_memory(source: Source) -> Any:
    """All rows of a small source, with column names if there are any; a larger source as it is."""
    if source.n_rows > SMALL_ROWS:
        return source
    rows = source.take(np.arange(source.n_rows))
    if source.names is None:
        return rows
    import pandas

    return pandas.DataFrame(rows, columns=source.names)
