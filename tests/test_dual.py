"""The dual's own arithmetic; what solvers make of it is tested with them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from pyod_gessvdd.dual import MANY_VALUES, largest


def check(values, count):
    found = largest(values, count)
    assert len(np.unique(found)) == count
    assert_array_equal(np.sort(values[found]), np.sort(values)[len(values) - count :])
    assert values[found[0]] == values[found].min()


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 200), share=st.floats(0, 1), distinct=st.integers(1, 50))
def test_the_largest_of_few_values_with_ties(seed, n, share, distinct):
    values = np.random.default_rng(seed).integers(0, distinct, n).astype(float)
    check(values, max(1, int(share * n)))


@pytest.mark.parametrize("order", ["random", "ascending", "descending", "equal", "two values", "high where sampled"])
@pytest.mark.parametrize("share", [1e-5, 0.001, 0.1, 0.499, 0.7, 1.0])
def test_the_largest_of_many_values(order, share):
    n = 3 * MANY_VALUES
    values = np.random.default_rng(0).random(n)
    if order in ("ascending", "descending"):
        values = np.sort(values)[:: 1 if order == "ascending" else -1]
    elif order != "random":
        values[:] = 0.5
        if order == "two values":
            values[: n // 3] = 1.0
        if order == "high where sampled":
            values[::48] = 1.0 + np.arange(len(values[::48]))
    check(values, max(1, int(share * n)))
