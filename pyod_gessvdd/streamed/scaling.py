"""The scaling of a source's columns: moments from one pass, ranks from the columns one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

import numpy as np

from pyod_gessvdd.components.contracts import Kernel
from pyod_gessvdd.feature_map import standardize_for
from pyod_gessvdd.preprocessing import NormalScores, Scaling
from pyod_gessvdd.sources.source import Source
from pyod_gessvdd.streamed.sums import Moments

Array = np.ndarray

#: Ranks and quartiles are those of all rows up to this many; above, of this many rows evenly spaced. With a probability
#: of 99 % a rank is then off by no more than 0.12 % of all rows (Dvoretzky, Kiefer and Wolfowitz).
RANKED_ROWS = 2_000_000
#: As many columns are held at a time as fit into this many bytes.
HELD_BYTES = 128 << 20


def learn_scaling(rows: Source, known: Moments, kernel: Kernel, *, center: bool, standardize: bool | str) -> Scaling:
    """The scaling of the rows for a kernel; see :func:`pyod_gessvdd.feature_map.learn_scaling`.

    Parameters
    ----------
    rows : Source
        The rows.
    known : Moments
        Their columns' means and variances.
    kernel, center, standardize
        As for rows in memory.
    """
    scaling = Scaling.assembled(
        center=center,
        standardize=standardize_for(kernel, standardize),
        moments=lambda: (known.mean, known.deviations),
        quartiles=lambda: np.column_stack([np.quantile(column, (0.25, 0.5, 0.75)) for column in _columns(rows)]),
        ranks=lambda scaling: NormalScores.of_columns(_columns(rows.mapped(scaling.apply, rows.n_columns))),
    )
    if kernel.averages_views:
        kernel.n_views_ = scaling.n_views
    return scaling


def _columns(rows: Source) -> Iterator[Array]:
    """The columns, whole or, for very many rows, a sample of each."""
    stride = ceil(rows.n_rows / RANKED_ROWS)
    at_once = max(1, HELD_BYTES * stride // (8 * rows.n_rows))
    for start in range(0, rows.n_columns, at_once):
        stop = min(start + at_once, rows.n_columns)
        yield from np.ascontiguousarray(np.concatenate(list(rows.map(_Some(start, stop, stride)))).T)


class _Some:
    """Some columns of every n-th row."""

    def __init__(self, start: int, stop: int, stride: int) -> None:
        self.start, self.stop, self.stride = start, stop, stride

    def __call__(self, block: Array, rows: Array) -> Array:
        return block[rows % self.stride == 0, self.start : self.stop]
