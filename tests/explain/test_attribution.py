"""Integrated gradients on functions whose integrals are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pyod_gessvdd.explain.attribution import along_path, by_differences, made_exact


@pytest.mark.parametrize("length", [0.0, 1e-9, 1.0, 1e3, 1e9])
def test_a_quadratic_form_is_integrated_to_its_bilinear_split(length):
    random = np.random.default_rng(0)
    A = random.normal(size=(4, 4))
    M = A @ A.T
    start, step = random.normal(size=(5, 4)), length * random.normal(size=(5, 4))
    found = along_path(lambda rows: 2 * (rows - start) @ M, start, start + step, unit=1.0)
    step = (start + step) - start  # what rounding leaves of it
    # Sixteen nodes integrate a quadratic over a path of many units to a few digits, and the sum is made exact later.
    assert_allclose(found, step * (step @ M), rtol=2e-3, atol=1e-300)


@pytest.mark.parametrize("distance", [1.0, 1e2, 1e4, 1e8])
def test_a_slope_near_the_start_is_found_however_far_the_end_is(distance):
    def gradient(rows):  # of 1 − exp(−‖x‖²)
        return 2 * rows * np.exp(-np.einsum("ij,ij->i", rows, rows))[:, None]

    end = np.array([[distance, 0.5]])
    found = along_path(gradient, np.zeros((1, 2)), end, unit=1.0)
    assert_allclose(found.sum(), 1 - np.exp(-(distance**2) - 0.25), rtol=0.05)
    assert found[0, 0] > 0.7 * found.sum()


def test_differences_are_the_gradient():
    random = np.random.default_rng(0)
    rows = random.normal(size=(6, 3))
    found = by_differences(lambda X: (X**3).sum(axis=1), rows, rows - 1, rows + 1, 1e-4)
    assert_allclose(found, 3 * rows**2, rtol=1e-6, atol=1e-7)


def test_differences_stay_between_the_ends_and_leave_out_what_does_not_change():
    def root(X):
        assert X.min() >= 0, "outside of the domain"
        return np.sqrt(X).sum(axis=1)

    rows = np.array([[0.0, 4.0, 0.0]])
    found = by_differences(root, rows, np.zeros((1, 3)), np.array([[0.0, 4.0, 1.0]]), 1e-4)
    assert_allclose(found, [[0.0, 0.25, 100.0]], rtol=1e-4)


@given(
    st.lists(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3), min_size=1, max_size=5),
    st.floats(-1e6, 1e6),
)
def test_sums_are_made_exact_and_nothing_is_added_to_a_zero(parts, total):
    parts = np.array(parts)
    totals = np.full(len(parts), total)
    found = made_exact(parts, totals, np.ones_like(parts))
    assert_allclose(found.sum(axis=1), totals, atol=1e-9 * (np.abs(parts).sum() + abs(total)) + 1e-300)
    some = np.abs(parts).sum(axis=1) > 0
    assert_array_equal(found[some][parts[some] == 0], 0.0)


def test_where_nothing_is_known_the_total_goes_by_the_shares_given():
    found = made_exact(np.zeros((2, 2)), np.array([4.0, 2.0]), np.array([[3.0, 1.0], [0.0, 0.0]]))
    assert_array_equal(found, [[3.0, 1.0], [1.0, 1.0]])
