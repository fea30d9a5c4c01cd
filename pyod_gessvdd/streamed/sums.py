"""Sums over the blocks of a source: counts, means and scatters, merged so that no digits are lost."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import reduce

import numpy as np

from pyod_gessvdd.linalg import column_means, row_blocks, shift_rows, skewness
from pyod_gessvdd.preprocessing import Scaling, check_block, standard_deviations
from pyod_gessvdd.sources.source import Source

Array = np.ndarray

#: A column whose deviation is at most this share of its mean is constant: the rest is rounding.
CONSTANT = 10 * np.finfo(float).eps


@dataclass(frozen=True, eq=False)
class Moments:
    """The number of rows, their mean, and their scatter around it.

    Attributes
    ----------
    n_rows : int
        N.
    mean : ndarray of shape (F,)
        The columns' means.
    scatter : ndarray of shape (F, F)
        Σ (φ − mean)(φ − mean)ᵀ.
    """

    n_rows: int
    mean: Array
    scatter: Array

    def __add__(self, other: Moments) -> Moments:
        if not (self.n_rows and other.n_rows):
            return self if self.n_rows else other
        n_rows = self.n_rows + other.n_rows
        away = other.mean - self.mean
        # Chan, Golub and LeVeque: the distance between the two means is scatter too.
        between = np.outer(away, away)
        return Moments(
            n_rows,
            self.mean + away * (other.n_rows / n_rows),
            self.scatter + other.scatter + between * (self.n_rows * other.n_rows / n_rows),
        )

    @property
    def around_zero(self) -> Array:
        """Σ φφᵀ."""
        return self.scatter + self.n_rows * np.outer(self.mean, self.mean)

    def after(self, scaling: Scaling) -> Moments | None:
        """The moments of the rows after a scaling; None for one that does more than shift and divide."""
        if not scaling.is_affine:
            return None
        scale = np.ones_like(self.mean) if scaling.scale is None else scaling.scale
        mean = self.mean if scaling.mean is None else self.mean - scaling.mean
        return Moments(self.n_rows, mean / scale, self.scatter / np.outer(scale, scale))

    @property
    def deviations(self) -> Array:
        """The columns' standard deviations; one for a constant column."""
        return standard_deviations(np.diag(self.scatter) / self.n_rows, self.mean)


def survey(source: Source) -> Moments:
    """Mean and scatter, in the pass that sees every value for the first time.

    A value that is not finite, or so large that squares lose their digits, is named with its block and row.
    """
    return reduce(operator.add, source.map(_Surveyed(source.names)))


def moments(source: Source) -> Moments:
    """Mean and scatter of a source's rows."""
    return source.total(block_moments)


def skewness_of(source: Source) -> Array:
    """The skewness of each column, as :func:`~pyod_gessvdd.linalg.rows_by_content` computes it, in one pass."""
    with np.errstate(over="ignore", invalid="ignore"):  # cubes of large values: see skewness
        found = source.total(_third_moments)
    varies = np.sqrt(found.squares / found.n_rows) > CONSTANT * np.abs(found.mean)
    return skewness(found.squares * varies, found.cubes, found.n_rows)


class _Surveyed:
    def __init__(self, names: list[str] | None) -> None:
        self.names = names

    def __call__(self, block: Array, rows: Array) -> Moments:
        # The block as it is, whose place is part of the message.
        check_block(block, rows, self.names)
        parts = row_blocks(*block.shape)
        return reduce(
            operator.add, (block_moments(block[part], rows) for part in parts), block_moments(block[:0], rows)
        )


def block_moments(block: Array, rows: Array) -> Moments:
    """Mean and scatter of one block."""
    n_columns = block.shape[1]
    if not len(block):
        return Moments(0, np.zeros(n_columns), np.zeros((n_columns, n_columns)))
    mean = column_means(block)
    away = shift_rows(block, mean)
    # A sum over many rows rounds; what it missed brings the mean of a constant column back to its value.
    missed = column_means(away)
    return Moments(len(block), mean + missed, away.T @ away - len(block) * np.outer(missed, missed))


@dataclass(frozen=True, eq=False)
class _ThirdMoments:
    """The number of rows, their mean, and the sums of squares and cubes around it, column by column."""

    n_rows: int
    mean: Array
    squares: Array
    cubes: Array

    def __add__(self, other: _ThirdMoments) -> _ThirdMoments:
        if not (self.n_rows and other.n_rows):
            return self if self.n_rows else other
        n, mine, theirs = self.n_rows + other.n_rows, self.n_rows, other.n_rows
        away = other.mean - self.mean
        both = mine * theirs / n
        return _ThirdMoments(
            n,
            self.mean + away * (theirs / n),
            self.squares + other.squares + both * away**2,
            self.cubes
            + other.cubes
            + both * (mine - theirs) / n * away**3
            + 3.0 * away * (mine * other.squares - theirs * self.squares) / n,
        )


def _third_moments(block: Array, rows: Array) -> _ThirdMoments:
    nothing = np.zeros(block.shape[1])
    total = _ThirdMoments(0, nothing, nothing, nothing)
    with np.errstate(over="ignore", invalid="ignore"):
        for part in row_blocks(*block.shape) if len(block) else ():
            mean = column_means(block[part])
            away = shift_rows(block[part], mean)
            missed = column_means(away)  # as in block_moments
            shift_rows(away, missed, out=away)
            squared = away**2
            cubes = np.einsum("ij,ij->j", squared, away)
            total += _ThirdMoments(len(away), mean + missed, np.ones(len(away)) @ squared, cubes)
    return total
