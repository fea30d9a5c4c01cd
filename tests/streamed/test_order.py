"""Order statistics of a source are those of all rows sorted, however few are held."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils import check_random_state

from pyod_gessvdd.linalg import rows_by_content
from pyod_gessvdd.sources import ArraySource
from pyod_gessvdd.streamed import order


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
    np.testing.assert_allclose(order.quantiles(ArraySource(X, 100), first, shares), np.quantile(X[:, 0], shares))


@pytest.mark.parametrize("ties", [False, True])
def test_rows_at_ranks_are_those_of_a_stable_sort(few_held, ties):
    X = np.random.default_rng(0).normal(size=(1237, 2)).round(1 if ties else 12)
    ranks = np.unique(np.random.default_rng(1).integers(0, 1237, 200))
    values, places = order.at_ranks(ArraySource(X, 100), first, ranks)
    np.testing.assert_array_equal(places, np.argsort(X[:, 0], kind="stable")[ranks])
    np.testing.assert_array_equal(values, np.sort(X[:, 0])[ranks])


def test_a_draw_is_the_draw_from_rows_in_memory(few_held):
    X = np.random.default_rng(0).exponential(size=(1237, 3))
    expected = rows_by_content(X)[np.sort(check_random_state(7).choice(1237, 99, replace=False))]
    drawn = order.draw_by_content(ArraySource(X, 100), 99, check_random_state(7), sort=False)
    np.testing.assert_array_equal(drawn, expected)


def test_a_sketch_misses_few_ranks(few_held):
    X = np.random.default_rng(0).normal(size=(1237, 1))
    kept = order.sketch(ArraySource(X, 100), first, 100)
    ranks = np.searchsorted(np.sort(X[:, 0]), kept) / 1237
    assert np.abs(ranks - np.linspace(0, 1, len(kept))).max() < 0.1
