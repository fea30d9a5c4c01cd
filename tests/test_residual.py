"""The residual: what the projection discards, its unit, the subspace with it, and what a row would be left out."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal

from pyod_gessvdd.qp import solve_svdd
from pyod_gessvdd.residual import LEFT_OUT_POWER, MOST_LEVERAGE, discarded, left_out_factor, leverage, residual_scale
from pyod_gessvdd.subspace import Subspace, random_directions, whiten


@pytest.fixture
def Phi():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 4)) @ rng.normal(size=(4, 4))
    return rows - rows.mean(axis=0)


def no_residual(Z):
    return np.zeros(len(Z))


def whitened(Phi):
    values, vectors = np.linalg.eigh(Phi.T @ Phi / len(Phi))
    return Phi @ (vectors / np.sqrt(values)) @ vectors.T


# What is discarded --------------------------------------------------------------------------------------------------


def slow_discarded(Phi, Q):
    """‖φ − QᵀQφ‖² row by row, with the difference formed."""
    return np.array([np.sum((phi - Q.T @ (Q @ phi)) ** 2) for phi in Phi])


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), d=st.integers(1, 5), exponent=st.integers(-12, 1))
def test_what_is_discarded_keeps_its_digits_however_little_it_is(seed, d, exponent):
    rng = np.random.default_rng(seed)
    Q = random_directions(d, 6, seed)
    inside = rng.normal(size=(20, d)) @ Q
    outside = rng.normal(size=(20, 6))
    Phi = inside + 10.0**exponent * (outside - outside @ Q.T @ Q)
    found = discarded(Phi, Phi @ Q.T, Q)
    # Relative to itself up to what φ's own rounding, about 1e-16 of its length, does to what is outside.
    length = np.linalg.norm(Phi, axis=1)
    assert_allclose(np.sqrt(found), np.sqrt(slow_discarded(Phi, Q)), rtol=1e-9, atol=1e-14 * length.max())


def test_rows_in_the_subspace_discard_only_rounding_and_never_a_negative_amount(Phi):
    Q = random_directions(2, 4, 0)
    inside = Phi @ Q.T @ Q
    found = discarded(inside, inside @ Q.T, Q)
    assert (found >= 0).all()
    assert found.max() < 1e-28 * np.sum(inside**2, axis=1).max()


def test_the_whole_space_discards_nothing(Phi):
    Q = random_directions(4, 4, 0)
    assert_array_equal(discarded(Phi, Phi @ Q.T, Q), 0.0)


# Its unit -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ridge", [0.0, 0.1, 2.0])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_unit_is_the_mean_scatter_outside_and_the_ridge_inside(Phi, d, ridge):
    S_x, Q = Phi.T @ Phi, random_directions(d, 4, 1)
    complement = np.linalg.svd(Q)[2][d:]
    outside = np.trace(complement @ S_x @ complement.T) / (4 - d)
    inside = np.trace(Q @ S_x @ Q.T) / d
    assert_allclose(1 / residual_scale(Q, S_x, ridge), outside + ridge * inside, rtol=1e-10)


def test_the_ridge_is_added_to_what_is_outside_as_it_is_inside():
    S_x = np.diag([4.0, 2.0, 1.0, 0.5])
    assert_allclose(residual_scale(np.eye(4)[:2], S_x, ridge=0.1), 1 / ((1.0 + 0.5) / 2 + 0.1 * (4.0 + 2.0) / 2))


def test_a_constant_column_is_no_direction_outside():
    S_x = np.diag([4.0, 2.0, 1.0, 0.0])
    assert_allclose(residual_scale(np.eye(4)[:2], S_x, ridge=0.0), 1.0)


def test_without_a_graph_nothing_is_whitened():
    assert residual_scale(np.eye(4)[:2], None, ridge=0.5) == 1.0


def test_with_nothing_outside_the_smallest_scatter_inside_is_the_unit():
    S_x = np.diag([4.0, 2.0, 0.5])
    assert_allclose(residual_scale(np.eye(3), S_x, ridge=0.0), 2.0)


def test_where_the_graph_leaves_no_scatter_outside_the_residual_does_not_count():
    Q = random_directions(2, 4, 0)
    assert residual_scale(Q, Q.T @ np.diag([3.0, 1.0]) @ Q, ridge=0.1) == 0.0


# The subspace -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("graph", [True, False])
def test_points_are_the_whitened_coordinates_and_the_residual_with_what_the_features_miss(Phi, graph):
    Q, missed = random_directions(2, 4, 0), np.linspace(0.0, 1.0, 30)
    S_x = Phi.T @ Phi if graph else None
    subspace = Subspace.at(Q, S_x, 0.1, residual=True)
    Z, residual2 = subspace.points(Phi, missed)
    assert_allclose(Z, [whiten(Q, S_x, 0.1).root @ Q @ phi for phi in Phi], rtol=1e-10, atol=1e-12)
    assert_allclose(residual2, (slow_discarded(Phi, Q) + missed) * residual_scale(Q, S_x, 0.1), rtol=1e-9)
    assert_allclose(subspace.coordinates(Phi), Z, rtol=1e-10, atol=1e-12)


def test_without_the_residual_points_have_none(Phi):
    subspace = Subspace.at(random_directions(2, 4, 0), Phi.T @ Phi, 0.1, residual=False)
    assert subspace.residual_scale is None
    Z, residual2 = subspace.points(Phi)
    assert residual2 is None
    assert_array_equal(Z, subspace.coordinates(Phi))


@pytest.mark.parametrize("residual", [True, False])
def test_training_points_are_the_points_in_the_memory_that_is_given(Phi, residual, monkeypatch):
    monkeypatch.setattr("pyod_gessvdd.linalg.BLOCK_ELEMENTS", 4 * 7)
    missed = np.linspace(0.0, 1.0, 30) if residual else None
    subspace = Subspace.at(random_directions(2, 4, 0), Phi.T @ Phi, 0.1, residual=residual)
    expected, expected2 = subspace.points(Phi, missed)
    fits, too_wide = np.empty((30, 2)), np.empty((30, 3))
    for buffer in (None, fits, too_wide):
        Z, residual2 = subspace.training_points(Phi, missed, buffer)
        assert_allclose(Z, expected, rtol=1e-12, atol=1e-14)
        assert (Z is buffer) == (buffer is fits)
        if residual:
            assert_allclose(residual2, expected2, rtol=1e-12)
        else:
            assert residual2 is None


@pytest.mark.parametrize("residual", [True, False])
def test_the_pullback_is_the_gradient_of_finite_differences(Phi, residual):
    subspace = Subspace.at(random_directions(2, 4, 0), Phi.T @ Phi, 0.1, residual=residual)
    missed, weights, by_residual2 = np.full(30, 0.5), np.array([0.3, -1.2]), 0.7

    def value(features, missed):
        Z, residual2 = subspace.points(features, missed)
        return Z @ weights + (0.0 if residual2 is None else by_residual2 * residual2)

    by_features, by_missed = subspace.pullback(Phi, np.tile(weights, (30, 1)), by_residual2)
    h = 1e-6
    for j, step in enumerate(h * np.eye(4)):
        slope = (value(Phi + step, missed) - value(Phi - step, missed)) / (2 * h)
        assert_allclose(by_features[:, j], slope, rtol=1e-6, atol=1e-7)
    assert_allclose(by_missed, (value(Phi, missed + h) - value(Phi, missed - h)) / (2 * h), rtol=1e-6, atol=1e-9)


def test_the_sphere_with_the_residual_is_that_of_the_points_on_both_sides(Phi):
    subspace = Subspace.at(random_directions(2, 4, 0), Phi.T @ Phi, 0.1, residual=True)
    Z, residual2 = subspace.points(Phi, np.zeros(30))
    r = np.sqrt(residual2)[:, None]
    mirrored = solve_svdd(np.vstack([np.hstack([Z, r]), np.hstack([Z, -r])]), nu=0.23, tol=1e-10)
    sphere = solve_svdd(Z, nu=0.23, residual2=residual2, tol=1e-10)
    assert sphere.objective == pytest.approx(mirrored.objective, rel=1e-9)
    assert sphere.radius2 == pytest.approx(mirrored.radius2, rel=1e-6)
    assert_allclose(np.append(sphere.center, 0.0), mirrored.center, atol=1e-6)
    assert_allclose(sphere.alpha, mirrored.alpha[:30] + mirrored.alpha[30:], atol=1e-6)


# Left out -----------------------------------------------------------------------------------------------------------


def test_the_leverage_of_whitened_rows_is_the_diagonal_of_the_hat_matrix(Phi):
    hat = Phi @ np.linalg.inv(Phi.T @ Phi) @ Phi.T
    assert_allclose(leverage(whitened(Phi), no_residual(Phi)), np.diag(hat), rtol=1e-10)


def test_a_row_left_out_is_as_far_as_its_leverage_says(Phi):
    h = leverage(whitened(Phi), no_residual(Phi))
    for i, row in enumerate(Phi):
        others = np.delete(Phi, i, axis=0)
        left_out = row @ np.linalg.inv(others.T @ others) @ row
        assert_allclose(left_out, h[i] / (1 - h[i]), rtol=1e-8)


def test_the_residual_adds_to_the_leverage(Phi):
    Z, residual2 = whitened(Phi), np.linspace(0.0, 2.0, 30)
    assert_allclose(leverage(Z, residual2), (np.sum(Z**2, axis=1) + residual2) / 30, rtol=1e-10)


def test_the_leverage_does_not_depend_on_the_unit_of_the_graph(Phi):
    Z, residual2 = whitened(Phi), np.linspace(0.0, 2.0, 30)
    assert_allclose(leverage(7.0 * Z, 49.0 * residual2), leverage(Z, residual2), rtol=1e-12)


def test_a_weight_pulls_as_so_many_rows_do(Phi):
    weights = np.arange(30) % 3 + 1
    Z, residual2 = whitened(Phi), np.linspace(0.0, 2.0, 30)
    repeated = leverage(np.repeat(Z, weights, axis=0), np.repeat(residual2, weights))
    assert_allclose(np.repeat(leverage(Z, residual2, weights.astype(float)), weights), repeated, rtol=1e-10)


def test_no_leverage_reaches_one_and_equal_rows_have_none():
    assert leverage(np.array([[1.0], [0.0]]), np.zeros(2)).max() == MOST_LEVERAGE
    assert (leverage(np.zeros((3, 2)), np.zeros(3)) == 0).all()
    assert (left_out_factor(np.zeros(3), LEFT_OUT_POWER) == 1).all()


def test_left_out_a_row_is_farther_by_a_power_of_what_it_leaves():
    h = np.array([0.0, 0.5, 0.9])
    assert_allclose(left_out_factor(h, 1.0), [1.0, 2.0, 10.0])
    assert_allclose(left_out_factor(h, LEFT_OUT_POWER), [1.0, 2.0**0.75, 10.0**0.75])
