"""T values and critical values of Wilcoxon's signed-rank test."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wilcoxon

from pyod_gessvdd.experiments.statistics.signed_ranks import critical_value, signed_ranks

distinct = st.lists(st.integers(-1000, 1000).filter(bool), min_size=2, max_size=12, unique_by=abs)


@settings(max_examples=50, deadline=None)
@given(distinct)
def test_t_is_scipys_and_the_sums_say_who_is_better(differences):
    ours = np.array(differences, dtype=float)
    found, other = signed_ranks(ours), signed_ranks(-ours)
    assert wilcoxon(ours).statistic == found.T
    assert (found.plus, found.minus, found.p) == (other.minus, other.plus, pytest.approx(other.p))


@settings(max_examples=50, deadline=None)
@given(distinct)
def test_significance_is_scipys(differences):
    ours = np.array(differences, dtype=float)
    assert signed_ranks(ours).p == pytest.approx(wilcoxon(ours, method="exact").pvalue)


def test_nine_data_sets_have_the_papers_critical_value():
    assert critical_value(9) == 5


@pytest.mark.parametrize(("n", "expected"), [(1, None), (5, None), (6, 0), (7, 2), (8, 3), (10, 8), (15, 25)])
def test_critical_values_are_those_of_the_usual_table(n, expected):
    assert critical_value(n) == expected


def test_the_critical_value_is_the_largest_that_enumeration_allows():
    sums = [
        sum(rank for rank, sign in zip(range(1, 9), signs, strict=True) if sign) for signs in product((0, 1), repeat=8)
    ]
    shares = {T: 2 * np.mean([total <= T for total in sums]) for T in range(10)}
    assert critical_value(8) == max(T for T, share in shares.items() if share <= 0.05)


def test_the_ranks_of_equal_figures_are_dealt_out_evenly():
    # |differences| 0, 0, 1, 2: the two zeros have rank 1.5 each, and each side gets 1.5 of them.
    found = signed_ranks([0, 0, 1, 2])
    assert (found.T, found.plus, found.n) == (1.5, 8.5, 4)
