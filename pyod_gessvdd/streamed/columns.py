"""One value per row of a source: in memory while they are few, else in a temporary file that is mapped."""

from __future__ import annotations

import contextlib
import os
import tempfile
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

Array = np.ndarray

#: Up to this many values are an ordinary array; more are a ``numpy.memmap`` of a temporary file.
HELD_ROWS = 1_000_000


class Column:
    """Values that come block by block.

    Parameters
    ----------
    dtype : data-type
        Of the values.
    n_rows : int
        How many rows there are; decides where the values are kept.
    """

    def __init__(self, dtype: Any, n_rows: int) -> None:
        self.dtype = np.dtype(dtype)
        self._blocks: list[Array] = []
        self._path: str | None = None
        if n_rows > HELD_ROWS:
            handle, self._path = tempfile.mkstemp(prefix="gessvdd-", suffix=f".{self.dtype.name}")
            # Written, not mapped: what is written through a map counts as memory in use.
            self._file = os.fdopen(handle, "wb")

    def append(self, values: Array) -> None:
        """Add the values of the next rows."""
        values = np.ascontiguousarray(values, dtype=self.dtype)
        if self._path is None:
            self._blocks.append(values)
        else:
            values.tofile(self._file)

    def discard(self) -> None:
        """Forget the values, and remove their file."""
        self._blocks = []
        if self._path is not None:
            self._file.close()
            _remove(self._path)

    def finished(self) -> Array:
        """All values, as an array or as a map of the file, which is removed with the map."""
        if self._path is None:
            return np.concatenate(self._blocks) if self._blocks else np.empty(0, self.dtype)
        self._file.close()
        if not os.path.getsize(self._path):
            _remove(self._path)
            return np.empty(0, self.dtype)
        mapped = np.memmap(self._path, self.dtype, "r")
        weakref.finalize(mapped, _remove, self._path)
        return mapped


@contextlib.contextmanager
def discarded_on_error(*columns: Column) -> Iterator[None]:
    """If anything inside fails, nothing of these columns stays behind."""
    try:
        yield
    except BaseException:
        for column in columns:
            column.discard()
        raise


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
