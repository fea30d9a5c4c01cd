"""Order statistics of a source are those of all rows sorted, however few are held."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils import check_random_state

from pyod_gessvdd.linalg import rows_by_content
from pyod_gessvdd.sources import ArraySource
from pyod_gessvdd.streamed import order
from pyod_gessvdd.streamed.sums import skewness_of


def first(block, rows):
    return block[:, 0]


@pytest.fixture(params=["sorted", "by edges"])
def few_held(request, monkeypatch):
    if request.param == "by edges":
        monkeypatch.setattr(order, "SORTED_VALUES", 100)
        monkeypatch.setattr(order, "EDGES", 50)


@pytest.mark.parametrize("ties", [False, True])
def test_quantiles_are_exact(few_held, ties):
    X = np.random.default_rng(0).normal(size=(1237, 2)).round(1 if ties else 12)
    shares = [0.0, 0.1, 0.5, 0.9, 0.999, 1.0]
    np.testing.assert_allclose(
        order.OrderStatistics(ArraySource(X, 100), first).quantiles(shares), np.quantile(X[:, 0], shares)
    )


@pytest.mark.parametrize("sampled", [1e6, 0.0, -1e6])
def test_quantiles_are_exact_where_the_sampled_rows_are_unlike_the_others(monkeypatch, sampled):
    monkeypatch.setattr(order, "SORTED_VALUES", 100)
    monkeypatch.setattr(order, "EDGES", 50)
    X = np.random.default_rng(0).normal(size=(1000, 1))
    X[::20] = sampled
    shares = [0.2, 0.5, 0.9]
    found = order.OrderStatistics(ArraySource(X, 100), first).quantiles(shares)
    np.testing.assert_allclose(found, np.quantile(X, shares))


@pytest.mark.parametrize("ties", [False, True])
def test_rows_at_ranks_are_those_of_a_stable_sort(few_held, ties):
    X = np.random.default_rng(0).normal(size=(1237, 2)).round(1 if ties else 12)
    ranks = np.unique(np.random.default_rng(1).integers(0, 1237, 200))
    values, places = order.OrderStatistics(ArraySource(X, 100), first).at(ranks)
    np.testing.assert_array_equal(places, np.argsort(X[:, 0], kind="stable")[ranks])
    np.testing.assert_array_equal(values, np.sort(X[:, 0])[ranks])


def test_a_draw_is_the_draw_from_rows_in_memory(few_held):
    X = np.random.default_rng(0).exponential(size=(1237, 3))
    expected = rows_by_content(X)[np.sort(check_random_state(7).choice(1237, 99, replace=False))]
    drawn = order.draw_by_content(ArraySource(X, 100), 99, check_random_state(7), sort=False)
    np.testing.assert_array_equal(drawn, expected)


def test_a_sketch_misses_few_ranks(few_held):
    X = np.random.default_rng(0).normal(size=(1237, 1))
    kept = order.OrderStatistics(ArraySource(X, 100), first).sketch(100)
    ranks = np.searchsorted(np.sort(X[:, 0]), kept) / 1237
    assert np.abs(ranks - np.linspace(0, 1, len(kept))).max() < 0.1


class Passes(ArraySource):
    """Counts how often the rows are read."""

    n_passes = 0

    def map(self, function):
        self.n_passes += 1
        return super().map(function)


def test_the_numbers_are_computed_in_one_pass(few_held):
    X = np.random.default_rng(0).normal(size=(1237, 2))
    source = Passes(X, 100)
    statistics = order.OrderStatistics(source, first)
    statistics.quantiles([0.1, 0.5])
    statistics.at(np.arange(0, 1237, 50))
    assert statistics.spread.high == X[:, 0].max()
    below = statistics.below(0.3)
    assert source.n_passes == 1
    np.testing.assert_array_equal(np.concatenate(list(below.map(first))), X[X[:, 0] < 0.3, 0])
    assert below.n_rows == np.sum(X[:, 0] < 0.3)


def test_rows_that_were_chosen_keep_their_places(few_held):
    X = np.random.default_rng(0).normal(size=(1237, 2))
    positive = ArraySource(X, 100).where(lambda block, rows: block[:, 1] > 0)
    statistics = order.OrderStatistics(positive, first)
    held = np.flatnonzero(X[:, 1] > 0)
    _, places = statistics.at(np.arange(positive.n_rows))
    np.testing.assert_array_equal(places, held[np.argsort(X[held, 0], kind="stable")])
    below = statistics.below(0.0)
    np.testing.assert_array_equal(np.concatenate(list(below.map(lambda block, rows: rows))), held[X[held, 0] < 0.0])


def test_skewness_is_that_of_all_rows_in_any_blocks():
    random = np.random.default_rng(0)
    X = np.column_stack([random.exponential(size=1237), 1e9 - random.exponential(size=1237), np.full(1237, 0.1)])
    X[-300:, 0] += 5.0
    away = X - X.mean(axis=0)
    expected = (away**3).mean(axis=0)[:2] / (away**2).mean(axis=0)[:2] ** 1.5
    for block_rows in (1, 7, 100, 2000):
        found = skewness_of(ArraySource(X, block_rows))
        np.testing.assert_allclose(found[:2], expected, atol=1e-5)
        assert found[2] == 0.0
