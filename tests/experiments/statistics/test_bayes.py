"""How likely one detector is practically better than another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyod_gessvdd.experiments.statistics.bayes import PRIOR, bayesian_signed_ranks

lists = st.lists(st.floats(-0.3, 0.3), min_size=1, max_size=25)


@settings(max_examples=25, deadline=None)
@given(lists)
def test_the_three_probabilities_add_up_and_turn_round_with_the_differences(differences):
    belief = bayesian_signed_ranks(differences)
    assert sum(belief) == pytest.approx(1.0)
    other = bayesian_signed_ranks([-value for value in differences])
    assert (belief.better, belief.equal, belief.worse) == pytest.approx((other.worse, other.equal, other.better))


def test_clear_cases_are_clear():
    assert bayesian_signed_ranks(np.full(20, 0.05)).better > 0.99
    assert bayesian_signed_ranks(np.full(20, -0.05)).worse > 0.99
    assert bayesian_signed_ranks(np.full(20, 0.005)).equal > 0.99
    assert bayesian_signed_ranks(np.full(20, 0.005), rope=0.001).better > 0.99


def test_more_data_sets_make_it_surer():
    rng = np.random.default_rng(0)
    differences = rng.normal(0.02, 0.05, size=200)
    few, many = bayesian_signed_ranks(differences[:15]), bayesian_signed_ranks(differences)
    assert many.better > few.better


def test_it_is_the_share_of_posterior_samples_counted_by_hand():
    """The definition in loops: weights of a Dirichlet, all pairs, and whichever region holds most of their mass."""
    differences = [0.08, -0.03, 0.02, 0.004]
    values = [0.0, *differences]
    weights = np.random.default_rng(7).dirichlet([PRIOR, 1, 1, 1, 1], 300)
    wins = [0, 0, 0]
    for sample in weights:
        mass = [0.0, 0.0, 0.0]
        for weight, value in zip(sample, values, strict=True):
            for other_weight, other in zip(sample, values, strict=True):
                mean = (value + other) / 2
                mass[0 if mean > 0.01 else 2 if mean < -0.01 else 1] += weight * other_weight
        wins[int(np.argmax(mass))] += 1
    found = bayesian_signed_ranks(differences, n_samples=300, seed=7)
    assert tuple(found) == pytest.approx([count / 300 for count in wins])


def test_without_a_data_set_nothing_is_known():
    assert np.isnan(bayesian_signed_ranks([])).all()
