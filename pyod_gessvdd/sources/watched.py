"""A source that reports the progress of each pass over it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pyod_gessvdd import progress
from pyod_gessvdd.sources.source import Result, Source

Array = np.ndarray


def watched(source: Source) -> Source:
    """The source, which reports its passes if progress is shown."""
    return Watched(source) if progress.is_shown() else source


class Watched(Source):
    """The rows of a source; each reading is a pass.

    Parameters
    ----------
    source : Source
        The rows.
    """

    def __init__(self, source: Source) -> None:
        self.source, self.n_passes = source, 0
        self.n_rows, self.n_columns, self.names = source.n_rows, source.n_columns, source.names

    @property
    def is_lazy(self) -> bool:
        """As the source is."""
        return self.source.is_lazy

    def lazy(self, function: Callable[[Array, Array], tuple[Array, ...]], example: tuple[Array, ...]) -> list[Any]:
        """As the source does; what is computed later is not reported."""
        return self.source.lazy(function, example)

    def take(self, places: Array) -> Array:
        """As the source does, which may know a quicker way than a pass."""
        return self.source.take(places)

    def every(self, stride: int) -> tuple[Array, Array]:
        """As the source does, which may know a quicker way than a pass."""
        return self.source.every(stride)

    def total(self, function: Callable[[Array, Array], Result]) -> Result:
        """As the source does; where rows are elsewhere, a pass is reported when it has ended."""
        if not self.is_lazy:
            return super().total(function)
        found = self.source.total(function)
        self.n_passes += 1
        progress.rows(self.n_passes, self.n_rows, self.n_rows)
        return found

    def map(self, function: Callable[[Array, Array], Result]) -> Iterator[Result]:
        """What the source's ``map`` returns, and how many rows that was."""
        self.n_passes += 1
        number, done = self.n_passes, 0
        for found, n_rows in self.source.map(_Counted(function)):
            done += n_rows
            progress.rows(number, done, self.n_rows)
            yield found


class _Counted:
    """What a function returns for a block, and the number of its rows; counted here, as it may run elsewhere."""

    def __init__(self, function: Callable[[Array, Array], Any]) -> None:
        self.function = function

    def __call__(self, block: Array, rows: Array) -> tuple[Any, int]:
        return self.function(block, rows), len(rows)
