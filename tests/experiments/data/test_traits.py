"""What kind of data a set is."""

from __future__ import annotations

import numpy as np
import pytest

from pyod_gessvdd.experiments.data.traits import TRAITS, traits


def test_repeated_rows_discrete_columns_and_skewness_are_counted():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=400), rng.integers(0, 3, 400), rng.exponential(size=400), np.zeros(400)])
    X[300:] = X[:100]
    found = traits(X)
    assert tuple(found) == TRAITS
    assert found["repeated"] == 0.25
    assert found["discrete"] == 0.5
    # Of the three columns that vary; the exponential's is 2, the others' near 0.
    assert 0 <= found["skewness"] < 0.5


def test_constant_data_have_no_skewness():
    assert traits(np.ones((5, 2))) == {"repeated": pytest.approx(0.8), "discrete": 1.0, "skewness": 0.0}


def test_of_large_sets_some_rows_are_looked_at():
    assert traits(np.arange(50_000.0)[:, None])["repeated"] == 0.0
