"""Wilcoxon's signed-rank test over data sets, exact also with ties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

#: The significance level.
LEVEL = 0.05


@dataclass(frozen=True)
class SignedRanks:
    """The test of one detector against another.

    Attributes
    ----------
    plus, minus : float
        The sums of the ranks of the data sets in which the first, and in which the other is better.
    p : float
        The exact two-sided probability of sums as far apart, if the two were equal.
    n : int
        The number of data sets.
    """

    plus: float
    minus: float
    p: float
    n: int

    @property
    def T(self) -> float:
        """The smaller sum."""
        return min(self.plus, self.minus)


def signed_ranks(differences: Sequence[float] | np.ndarray) -> SignedRanks:
    """Compare two detectors by the differences of their figures on the same data sets.

    The ranks of zero differences are split evenly, as Demšar does. scipy's p value is exact only without ties, and ties
    are common here (two detectors that both reach 1.0), hence the distribution of the sum under random signs is made
    by adding one rank after the other, doubled so that the half ranks of ties are whole.
    """
    differences = np.asarray(differences, dtype=float)
    if len(differences) == 0:
        return SignedRanks(np.nan, np.nan, np.nan, 0)
    rank_of = rankdata(np.abs(differences))
    split = rank_of[differences == 0].sum() / 2
    plus, minus = (float(rank_of[sign * differences > 0].sum() + split) for sign in (1, -1))
    chance = _chances((2 * rank_of[differences != 0]).astype(int))
    tail = chance[: round(2 * (min(plus, minus) - split)) + 1].sum()
    return SignedRanks(plus, minus, float(min(1.0, 2 * tail)), len(differences))


def critical_value(n: int) -> int | None:
    """The largest T whose two-sided exact probability is at most 0.05, or None; for n = 9 it is 5, the paper's."""
    significant = np.flatnonzero(2 * np.cumsum(_chances(np.arange(1, n + 1))) <= LEVEL)
    return int(significant[-1]) if len(significant) else None


def _chances(ranks: np.ndarray) -> np.ndarray:
    """The probability of each sum of ranks, if each counts with probability one half."""
    chance = np.zeros(int(ranks.sum()) + 1)
    chance[0] = 1.0
    for step in ranks:
        chance[step:] = chance[step:] + chance[:-step]
        chance /= 2
    return chance
