"""Wilcoxon's signed-rank test between methods over the data sets, with the T values that the paper prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

#: The significance level.
LEVEL = 0.05


@dataclass(frozen=True)
class SignedRanks:
    """The test of one method against another.

    Attributes
    ----------
    T : float
        The smaller sum of ranks; negative, as in the paper, if the other method is the better one.
    critical : int or None
        |T| up to this rejects the hypothesis that the methods are equal, at the level 0.05; None if no T does.
    n : int
        The number of data sets.
    """

    T: float
    critical: int | None
    n: int

    @property
    def is_significant(self) -> bool:
        """Whether the difference is."""
        return self.critical is not None and abs(self.T) <= self.critical


def signed_ranks(ours: Sequence[float], others: Sequence[float]) -> SignedRanks:
    """Compare two methods' figures on the same data sets (Demšar, 2006).

    The ranks of differences of zero are dealt out evenly between the two methods; if their number is odd one of them
    is left out, as Demšar does.
    """
    difference = np.asarray(ours, dtype=float) - np.asarray(others, dtype=float)
    zeros = np.flatnonzero(difference == 0)
    if len(zeros) % 2:
        difference = np.delete(difference, zeros[0])
    ranks = rankdata(np.abs(difference))
    ties = ranks[difference == 0].sum() / 2
    better, worse = ranks[difference > 0].sum() + ties, ranks[difference < 0].sum() + ties
    T = float(min(better, worse))
    return SignedRanks(-T if worse > better else T, critical_value(len(difference)), len(difference))


def critical_value(n: int) -> int | None:
    """The largest T whose two-sided exact probability is at most 0.05, or None if there is none.

    Under the hypothesis each rank is positive with probability 1/2: the number of sets of ranks with each sum is
    counted one rank at a time. For n = 9 it is 5, the paper's value.
    """
    ways = np.zeros(n * (n + 1) // 2 + 1)
    ways[0] = 1
    for rank in range(1, n + 1):
        ways[rank:] += ways[:-rank].copy()
    two_sided = 2 * np.cumsum(ways) / 2.0**n
    significant = np.flatnonzero(two_sided <= LEVEL)
    return int(significant[-1]) if len(significant) else None
