"""Which rows a fit learns from: equal rows as one, bounds of α, draws and weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pyod_gessvdd.detectors import rows
from pyod_gessvdd.detectors.rows import (
    DistinctRows,
    bounds,
    counted,
    counting_rows,
    draw,
    rows_and_weights,
    spread,
)
from pyod_gessvdd.dual import QPSolution
from pyod_gessvdd.preprocessing import Scaling

X = np.array([[2.0, 1.0], [0.0, 1.0], [2.0, 1.0], [-0.0, 1.0], [5.0, 5.0]])


# Distinct rows --------------------------------------------------------------------------------------------------------


def test_distinct_rows_are_in_the_order_of_their_values_with_the_weight_of_their_copies():
    found = DistinctRows.of(X, None)
    assert_array_equal(found.X, [[0.0, 1.0], [2.0, 1.0], [5.0, 5.0]])
    assert_array_equal(found.weights, [2.0, 2.0, 1.0])
    assert_array_equal(found.place, [1, 0, 1, 0, 2])
    assert_array_equal(found.share, [0.5, 0.5, 0.5, 0.5, 1.0])


def test_rows_that_are_all_distinct_have_no_weights():
    assert DistinctRows.of(X[[0, 1, 4]], None).weights is None
    assert DistinctRows.of(X[[0, 1, 4]], np.ones(3)).weights is None


def test_sample_weights_of_copies_add_up():
    found = DistinctRows.of(X, np.array([1.0, 2.0, 3.0, 0.0, 0.5]))
    assert_array_equal(found.weights, [2.0, 4.0, 0.5])
    assert_array_equal(found.share, [0.25, 1.0, 0.75, 0.0, 1.0])


def test_a_row_without_weight_keeps_its_place():
    found = DistinctRows.of(X, np.array([1.0, 1.0, 1.0, 1.0, 0.0]))
    assert_array_equal(found.weights, [2.0, 2.0, 0.0])
    assert found.share[4] == 0.0
    assert_array_equal(found.spread(np.array([10.0, 20.0, 30.0])), [20.0, 10.0, 20.0, 10.0, 30.0])


def test_values_of_distinct_rows_are_spread_over_all():
    found = DistinctRows.of(X, None)
    assert_array_equal(found.spread(found.X), X)


def test_a_distinct_row_is_chosen_if_a_copy_is():
    found = DistinctRows.of(X, None)
    assert_array_equal(found.holding(np.array([False, False, True, False, True])), [1, 2])


def test_copies_share_alpha_and_its_bound_by_their_weights():
    found = DistinctRows.of(X, np.array([1.0, 2.0, 3.0, 0.0, 0.5]))
    solution = QPSolution(np.array([0.25, 0.75]), upper=np.array([0.5, 1.0]))
    places, spread_out = found.solution(np.array([0, 1]), solution)
    assert_array_equal(places, [0, 1, 2])  # row 3 has no weight, row 4 is not trusted
    assert_allclose(spread_out.alpha, [0.75 / 4, 0.25, 0.75 * 3 / 4])
    assert_allclose(spread_out.upper, [0.25, 0.5, 0.75])


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), n_rows=st.integers(2, 40), weighted=st.booleans())
def test_nothing_is_lost_among_distinct_rows(seed, n_rows, weighted):
    random = np.random.default_rng(seed)
    values = random.integers(-1, 2, size=(n_rows, 2)).astype(float)
    weights = random.integers(0, 4, size=n_rows).astype(float) if weighted else None
    own = np.ones(n_rows) if weights is None else weights
    found = DistinctRows.of(values, weights)
    assert_array_equal(found.spread(found.X), values)
    total = np.ones(len(found.X)) if found.weights is None else found.weights
    assert total.sum() == own.sum()
    assert_allclose(found.share * found.spread(total), own)
    trusted = np.flatnonzero(total > 0)
    alpha = random.uniform(size=len(trusted))
    places, solution = found.solution(trusted, QPSolution(alpha, upper=np.ones(len(trusted))))
    assert_array_equal(places, np.flatnonzero(own))
    assert solution.alpha.sum() == pytest.approx(alpha.sum())


# Bounds of α ----------------------------------------------------------------------------------------------------------


def test_bounds_are_those_of_the_rows_alone():
    assert_allclose(bounds(np.arange(8), None, {"C": None, "nu": 0.25}), 0.5)
    assert_allclose(bounds(np.array([0, 2]), np.array([1.0, 9.0, 3.0]), {"C": None, "nu": 0.5}), [0.5, 1.0])


def test_a_c_that_was_enough_for_all_rows_is_enough_for_fewer():
    assert_allclose(bounds(np.arange(4), None, {"C": 0.1, "nu": None}), 0.25)
    assert_allclose(bounds(np.arange(4), None, {"C": 0.3, "nu": None}), 0.3)
    assert_allclose(bounds(np.arange(2), np.array([1.0, 3.0, 6.0]), {"C": 0.1, "nu": None}), [0.25, 0.75])


# Weights --------------------------------------------------------------------------------------------------------------


def test_weights_that_count_rows_stay():
    weights, settings = np.array([0.0, 1.0, 2.0, 0.5, 1.0]), {"C": 0.5}
    found = counting_rows(weights, settings)
    assert_array_equal(found[0], weights)
    assert found[1] == settings
    assert counting_rows(None, settings) == (None, settings)


@pytest.mark.parametrize("total", [1.0, 1e-6, 2.9])
def test_relative_weights_become_one_per_row_with_the_same_bounds(total):
    relative = total * np.array([0.5, 0.25, 0.25, 0.0])
    weights, settings = counting_rows(relative, {"C": 0.8 / total, "nu": None})
    assert_allclose(weights, [1.5, 0.75, 0.75, 0.0])
    places = np.arange(3)
    assert_allclose(bounds(places, weights, settings), bounds(places, relative, {"C": 0.8 / total, "nu": None}))


def test_rows_without_weight_do_not_count():
    rows_, weights = counted(X, np.array([1.0, 0.0, 2.0, 1.0, 0.0]))
    assert_array_equal(rows_, X[[0, 2, 3]])
    assert_array_equal(weights, [1.0, 2.0, 1.0])
    assert counted(X, None) == (X, None)


def test_trusted_rows_that_are_there_once_have_no_weights():
    weights = np.array([2.0, 2.0, 2.0, 1.0, 1.0])
    inside, none = rows_and_weights(X, weights, np.array([3, 4]))
    assert_array_equal(inside, X[3:])
    assert none is None
    assert_array_equal(rows_and_weights(X, weights, np.array([2, 3]))[1], [2.0, 1.0])
    assert_array_equal(rows_and_weights(X, weights, np.array([0, 1]))[1], [2.0, 2.0])
    assert rows_and_weights(X, None, np.arange(5))[0] is X


def test_spreading_leaves_the_other_values():
    out = np.zeros(4)
    assert_array_equal(spread(np.array([1.0, 2.0]), np.array([3, 0]), out), [2.0, 0.0, 0.0, 1.0])
    assert not out.any()


# Draws ----------------------------------------------------------------------------------------------------------------


def test_up_to_the_limit_all_rows_are_drawn():
    assert_array_equal(draw(X, Scaling(None, None), 0), np.arange(5))


def test_the_same_rows_are_drawn_in_whatever_order_they_come(monkeypatch):
    monkeypatch.setattr(rows, "MAX_LEARNING_ROWS", 50)
    values = np.random.default_rng(0).normal(size=(300, 3))
    scaling = Scaling.learn(values, center=True, standardize="signed_log")
    order = np.random.default_rng(1).permutation(300)
    first = draw(values, scaling, 7)
    assert len(np.unique(first)) == 50
    assert_array_equal(first, np.sort(first))
    assert_array_equal(np.sort(order[draw(values[order], scaling, 7)]), first)
    assert not np.array_equal(draw(values, scaling, 8), first)
