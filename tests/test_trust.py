"""Which training rows are trusted: the concentration steps of a wide description."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from pyod_gessvdd import trust
from pyod_gessvdd.kernels.linear import Linear
from pyod_gessvdd.kernels.mixed import Mixed
from pyod_gessvdd.kernels.pairwise import RBF
from pyod_gessvdd.trust import MAX_ROUNDS, trusted_rows
from tests.oracle import whole_space as oracle


def normal(n_rows=150, n_columns=5, seed=0):
    return np.random.default_rng(seed).normal(size=(n_rows, n_columns))


def logarithms(X):
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    return np.sign(standard) * np.log1p(np.abs(standard))


def wide_lengths(K, kept=None):
    """The squared lengths of all rows by the wide description of some, those as if each had been left out."""
    kept = np.arange(len(K)) if kept is None else kept
    Phi = oracle.features(K)
    lam = oracle.usual_scatter(oracle.scatter(Phi[kept], np.ones(len(kept))))
    lengths = oracle.lengths(Phi, oracle.scatter(Phi[kept], np.ones(len(kept))), lam)
    lengths[kept] = oracle.left_out(Phi[kept], np.ones(len(kept)), np.full(len(kept), 1 / len(kept)), lam)[0]
    return lengths


def trusted(X, share=0.9, kernel=None, seed=0, **params):
    return trusted_rows(X, Mixed() if kernel is None else kernel, share, seed, **params)


# Whom it trusts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_columns", [5, 20, 100, 300])
@pytest.mark.parametrize("n_planted", [2, 5, 10])
@pytest.mark.parametrize("shift", [5, 10, 100])
def test_a_planted_group_is_not_trusted(n_columns, n_planted, shift):
    X = normal(n_columns=n_columns)
    X[:n_planted] += shift
    assert trusted(X).rows.min() >= n_planted


@pytest.mark.parametrize("share", [0.5, 0.8, 0.9, 0.95])
def test_about_the_share_is_trusted(share):
    X = normal(200)
    found = trusted(X, share)
    # The limit is an interpolated quantile, so that there are exactly this many scores below it.
    assert len(found.rows) == round(share * 200)


def test_every_round_is_the_slow_formula():
    X = normal(120, 3)
    scaled, kept = logarithms(X), np.arange(120)
    found = trusted(X)
    for entry in found.history:
        lengths = wide_lengths(rbf_kernel(scaled, gamma=1 / 3), kept)
        assert entry["limit"] == pytest.approx(np.quantile(lengths, 0.9), rel=1e-8)
        kept = np.flatnonzero(lengths < np.quantile(lengths, 0.9))
    assert_array_equal(found.rows, kept)


def test_rows_as_they_are_need_no_scaling():
    X = normal(100, 3)
    X[:, 0] *= 1e-6
    X[0, 0] = 1e-4  # far among its own, and nothing beside the other columns
    far = {standardize: 0 in trusted(X, kernel=RBF(gamma=0.3), standardize=standardize).rows for standardize in (0, 1)}
    assert far == {0: True, 1: False}


def test_a_row_too_far_for_the_digits_of_a_sum_is_not_trusted():
    X = normal(100, 3)
    X[0] = 1e5
    near = trusted(X, kernel=Linear(), standardize=False, center=False).rows
    X[0] = 1e9  # of the sum of all squares, the squares of the others are the rounding
    assert_array_equal(trusted(X, kernel=Linear(), standardize=False, center=False).rows, near)
    assert near.min() > 0


# Equal rows -----------------------------------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), share=st.sampled_from([0.6, 0.8, 0.9]))
def test_equal_rows_are_trusted_together(seed, share):
    random = np.random.default_rng(seed)
    distinct = random.normal(size=(30, 3))
    places = random.integers(0, 30, size=90)
    rows = trusted(distinct[places], share).rows
    assert not np.isin(np.delete(places, rows), places[rows]).any()


def test_a_group_of_equal_rows_across_the_limit_is_left_out():
    X = np.vstack([normal(85, 3), np.full((15, 3), 6.0)])
    # A tenth is left out; the group of fifteen is not divided.
    assert_array_equal(trusted(X).rows, np.arange(85))


def test_at_least_half_of_the_rows_stay():
    X = np.vstack([np.zeros((60, 2)), normal(40, 2)])
    assert len(trusted(X, 0.5).rows) >= 50


def test_rows_that_are_all_equal_are_all_trusted():
    assert_array_equal(trusted(np.ones((20, 2))).rows, np.arange(20))


# Order and weights ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_rows_does_not_matter(seed):
    X = normal(400, 4)
    X[:20] += 4
    order = np.random.default_rng(seed).permutation(len(X))
    assert_array_equal(np.sort(order[trusted(X[order]).rows]), trusted(X).rows)


def test_a_weight_is_as_good_as_repeating_the_row():
    X = normal(80, 4)
    X[:5] += 4
    weights = np.arange(80) % 3 + 1.0
    repeated = trusted(np.repeat(X, weights.astype(int), axis=0))
    weighted = trusted(X, sample_weight=weights)
    assert_array_equal(weighted.rows, np.unique(np.repeat(np.arange(80), weights.astype(int))[repeated.rows]))
    limits = ([entry["limit"] for entry in found.history] for found in (weighted, repeated))
    assert_allclose(*limits, rtol=1e-8)


@pytest.mark.parametrize("weight", [0.3, 1 / 80, 1e-6])
def test_equal_weights_are_none_however_small(weight):
    X = normal(80, 4)
    X[:5] += 4
    assert_array_equal(trusted(X, sample_weight=np.full(80, weight)).rows, trusted(X).rows)


# Many rows ------------------------------------------------------------------------------------------------------------


def test_of_many_rows_a_sample_finds_nearly_the_same(monkeypatch):
    X = normal(1000, 4)
    X[:60] += 4
    whole = trusted(X).rows
    monkeypatch.setattr(trust, "MAX_ROWS", 400)
    sampled = trusted(X).rows
    assert sampled.min() >= 60
    assert len(np.intersect1d(whole, sampled)) >= 0.95 * len(whole)
    assert len(sampled) == pytest.approx(900, abs=2)


def test_the_sample_of_many_rows_does_not_depend_on_their_order(monkeypatch):
    monkeypatch.setattr(trust, "MAX_ROWS", 200)
    X = normal(500, 4)
    order = np.random.default_rng(1).permutation(len(X))
    assert_array_equal(np.sort(order[trusted(X[order]).rows]), trusted(X).rows)


def test_a_seed_gives_the_same_rows_and_another_may_not(monkeypatch):
    monkeypatch.setattr(trust, "MAX_ROWS", 100)
    X = normal(500, 4)
    assert_array_equal(trusted(X, seed=3).rows, trusted(X, seed=3).rows)
    assert not np.array_equal(trusted(X, seed=3).rows, trusted(X, seed=4).rows)


# The rounds -----------------------------------------------------------------------------------------------------------


def test_history_tells_of_every_round():
    X = normal(200, 5)
    X[:10] += 5
    found = trusted(X)
    assert [entry["round"] for entry in found.history] == list(range(1, len(found.history) + 1))
    assert 1 < len(found.history) < MAX_ROUNDS
    for entry in found.history:
        assert set(entry) == {"round", "n_trusted", "n_new", "limit"}
        assert entry["limit"] > 0
    # All rows start, and nobody is new in the first round.
    assert found.history[0]["n_new"] == 0
    assert found.history[-1]["n_trusted"] == len(found.rows)


def test_a_set_that_comes_back_ends_the_rounds(monkeypatch):
    sets = [np.arange(20), np.arange(10, 30), np.arange(20)]
    steps = iter(sets)
    monkeypatch.setattr(trust, "_closest", lambda scores, share, weights: (1.0, next(steps)))
    found = trusted(normal(30, 3), kernel=RBF())
    assert_array_equal(found.rows, np.arange(20))
    assert [entry["n_new"] for entry in found.history] == [0, 10, 10]


def test_rounds_that_do_not_settle_end_too(monkeypatch):
    steps = iter(np.arange(10) + start for start in range(100))
    monkeypatch.setattr(trust, "_closest", lambda scores, share, weights: (1.0, next(steps)))
    assert len(trusted(normal(60, 3), kernel=RBF()).history) == MAX_ROUNDS
