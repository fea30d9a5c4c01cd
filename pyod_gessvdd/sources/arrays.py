"""Arrays as sources: in memory, or in a file that NumPy maps."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pyod_gessvdd.errors import SourceError
from pyod_gessvdd.sources.source import BLOCK_ELEMENTS, Result, Source, in_order

Array = np.ndarray


class ArraySource(Source):
    """The rows of an array.

    A memory map is read from its file block by block: pages once mapped would count as memory in use until the system
    reclaims them.

    Parameters
    ----------
    X : ndarray or memmap of shape (N, D)
        The rows.
    block_rows : int, optional
        Rows per block.
    """

    def __init__(self, X: Array, block_rows: int | None = None) -> None:
        if X.ndim != 2:
            raise SourceError(f"a source of rows needs an array with two dimensions, got shape {X.shape}")
        if X.dtype.kind not in "biuf":
            raise SourceError(f"a source of rows needs an array of real numbers, got dtype {X.dtype}")
        self.X = X
        self.n_rows, self.n_columns = X.shape
        self.block_rows = block_rows or max(1, BLOCK_ELEMENTS // max(1, self.n_columns))
        self._file = _MappedFile.of(X)

    def map(self, function: Callable[[Array, Array], Result]) -> Iterator[Result]:
        """What the function returns for each block."""

        def of_block(start: int) -> Result:
            stop = min(start + self.block_rows, self.n_rows)
            block = self.X[start:stop] if self._file is None else self._file.read(start, stop)
            return function(np.ascontiguousarray(block, dtype=np.float64), np.arange(start, stop))

        yield from in_order(of_block, ((start,) for start in range(0, self.n_rows, self.block_rows)))
        if self._file is not None:
            self._file.check()

    def take(self, places: Array) -> Array:
        """Some rows."""
        rows = self.X[places] if self._file is None else self._file.take(places)
        return np.asarray(rows, dtype=np.float64)

    def every(self, stride: int) -> tuple[Array, Array]:
        """Every n-th row, without a pass over the others."""
        places = np.arange(0, self.n_rows, stride)
        return self.take(places), places


class _MappedFile:
    """The file behind a memory map of whole rows."""

    def __init__(self, X: np.memmap[Any, Any], path: Path) -> None:
        self.path, self.offset, self.dtype, self.shape = path, X.offset, X.dtype, X.shape
        self.fingerprint = fingerprint(path)

    @classmethod
    def of(cls, X: Array) -> _MappedFile | None:
        """None for an array in memory, and for a view of a map, whose place in the file is unknown."""
        if not isinstance(X, np.memmap) or X.filename is None or not X.flags.c_contiguous:
            return None
        whole = X
        while isinstance(whole.base, np.memmap):
            whole = whole.base
        return cls(X, Path(X.filename)) if whole.ctypes.data == X.ctypes.data and X.mode != "c" else None

    def read(self, start: int, stop: int) -> Array:
        """The rows from start to stop."""
        self.check()
        width = self.shape[1]
        place = self.offset + start * width * self.dtype.itemsize
        values = np.fromfile(self.path, self.dtype, (stop - start) * width, offset=place)
        if values.size != (stop - start) * width:
            raise changed(self.path)
        return values.reshape(-1, width)

    def take(self, places: Array) -> Array:
        """Some rows, each read separately."""
        self.check()
        width = self.shape[1] * self.dtype.itemsize
        rows = np.empty((len(places), self.shape[1]), self.dtype)
        with open(self.path, "rb", buffering=0) as file:
            for row, place in zip(rows, places.tolist(), strict=True):
                file.seek(self.offset + place * width)
                if file.readinto(row) != width:
                    raise changed(self.path)
        return rows

    def check(self) -> None:
        """Raise an error if the file has changed since the source was made."""
        if fingerprint(self.path) != self.fingerprint:
            raise changed(self.path)


def fingerprint(path: Path) -> tuple[int, int]:
    """A file's size and modification time, (-1, -1) if it is gone."""
    try:
        status = os.stat(path)
    except OSError:
        return -1, -1
    return status.st_size, status.st_mtime_ns


def changed(path: Path) -> SourceError:
    """The error about a file that has changed since the start of a fit."""
    return SourceError(
        f"{path} changed while it was read: every pass must see the same rows; fit again when nobody writes to it"
    )
