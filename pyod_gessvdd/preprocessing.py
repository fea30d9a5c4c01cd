"""The first step of the flow: scaling, and passing rows through in blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pyod_gessvdd.graph import row_blocks

Array = np.ndarray

#: A multiple of the register tiles of the usual BLAS kernels.
TILE = 32
#: Numbers per block of :func:`map_blocks`, and its largest height: a single row costs as much as a block.
PADDED_ELEMENTS, MAX_HEIGHT = 1 << 17, 1024


@dataclass(frozen=True)
class Scaling:
    """x ↦ (x − mean) / scale.

    Attributes
    ----------
    mean, scale : ndarray of shape (D,) or None
        None where nothing is subtracted or divided.
    """

    mean: Array | None
    scale: Array | None

    @classmethod
    def learn(cls, X: Array, *, center: bool, standardize: bool) -> Scaling:
        """Mean and standard deviation of the columns; constant columns are only shifted."""
        if not standardize:
            return cls(None, None)
        mean = X.mean(axis=0)
        # A sum over many rows rounds; the second pass brings the mean of a constant column back to its value.
        mean += sum((X[rows] - mean).sum(axis=0) for rows in row_blocks(*X.shape)) / len(X)
        variance = np.zeros(X.shape[1])
        for rows in row_blocks(*X.shape):
            variance += ((X[rows] - mean) ** 2).sum(axis=0)
        deviation = np.sqrt(variance / len(X))
        # Below the rounding of the mean itself a deviation is noise: such a column is constant.
        constant = deviation <= 10 * np.finfo(float).eps * np.abs(mean)
        return cls(mean if center else None, np.where(constant, 1.0, deviation))

    def apply(self, X: Array) -> Array:
        """The scaled rows: X itself if there is nothing to do, else a new array."""
        if self.mean is None and self.scale is None:
            return X
        scaled = X - self.mean if self.mean is not None else X.copy()
        if self.scale is not None:
            scaled /= self.scale
        return scaled


def map_blocks(function: Callable[[Array], Array], X: Array, row_cost: int) -> Array:
    """``function`` over the rows of X, in blocks of one height, a multiple of :data:`TILE`.

    A matrix product rounds the rows of an incomplete register tile differently, and products of different shapes are
    added up in different orders. So every block has the same shape, the last one padded with copies of its last row: a
    row's result does not depend on its batch.

    Parameters
    ----------
    function : callable
        From (n, D) to (n,) or (n, k), row by row.
    X : ndarray of shape (n, D)
        The rows.
    row_cost : int
        The largest number of intermediate values per row; decides the height, and must not depend on the batch.
    """
    height = min(max(TILE, PADDED_ELEMENTS // max(1, row_cost) // TILE * TILE), MAX_HEIGHT)
    out: Array | None = None
    for start in range(0, len(X), height):
        block = X[start : start + height]
        n_rows = len(block)
        if n_rows < height:
            block = np.concatenate([block, np.repeat(block[-1:], height - n_rows, axis=0)])
        values = function(block)[:n_rows]
        if out is None:
            out = np.empty((len(X), *values.shape[1:]))
        out[start : start + n_rows] = values
    if out is None:
        raise ValueError("there are no rows")
    return out
