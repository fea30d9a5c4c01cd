"""Linear algebra over rows: weighted means and quantiles are those of repeated rows."""

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from pyod_gessvdd.linalg import column_means, weighted_quantiles

SHARES = [0.0, 0.1, 0.25, 0.5, 0.731, 0.9, 1.0]

values = st.floats(-1e3, 1e3).map(lambda value: round(value, 2))  # so that there are ties


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 12).flatmap(
        lambda n: st.tuples(hnp.arrays(float, n, elements=values), hnp.arrays(int, n, elements=st.integers(1, 5)))
    )
)
def test_weighted_quantiles_are_those_of_repeated_rows(case):
    X, weights = case
    expected = np.quantile(np.repeat(X, weights), SHARES)
    np.testing.assert_allclose(weighted_quantiles(X, SHARES, weights.astype(float)), expected, atol=1e-9)


def test_quantiles_of_a_matrix_are_those_of_its_columns():
    X, weights = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 4 + 1.0
    found = weighted_quantiles(X, SHARES, weights)
    assert found.shape == (len(SHARES), 3)
    for column, quantiles in zip(X.T, found.T, strict=True):
        np.testing.assert_array_equal(weighted_quantiles(column, SHARES, weights), quantiles)


def test_without_weights_quantiles_are_numpys():
    X = np.random.default_rng(0).normal(size=(30, 3))
    np.testing.assert_array_equal(weighted_quantiles(X, SHARES), np.quantile(X, SHARES, axis=0))


def test_the_quantiles_of_equal_rows_are_equal_to_the_last_bit():
    X = np.repeat(np.random.default_rng(0).normal(size=33), 3)
    found = weighted_quantiles(X, np.linspace(0.0, 1.0, len(X)), np.ones(len(X)))
    np.testing.assert_array_equal(found, np.sort(X))


@pytest.mark.parametrize("factor", [0.25, 0.5, 10.0])
def test_quantiles_lie_between_the_smallest_and_the_largest_value_whatever_the_weights(factor):
    X = np.random.default_rng(0).normal(size=20)
    weights = factor * np.random.default_rng(1).uniform(0.1, 1.0, size=20)
    found = weighted_quantiles(X, SHARES, weights)
    assert (np.diff(found) >= 0).all()
    assert X.min() <= found[0]
    assert found[-1] <= X.max()


def test_weighted_means_are_those_of_repeated_rows():
    X, weights = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 4 + 1
    expected = np.repeat(X, weights, axis=0).mean(axis=0)
    np.testing.assert_allclose(column_means(X, weights.astype(float)), expected, atol=1e-14)
    np.testing.assert_allclose(column_means(X), X.mean(axis=0), atol=1e-14)
