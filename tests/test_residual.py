"""The residual's coordinate: what a row would be without itself, and the scatter that whitens what is discarded."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pyod_gessvdd.residual import MOST_LEVERAGE, ResidualAxis, left_out_factor, leverage


@pytest.fixture
def Phi():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 4)) @ rng.normal(size=(4, 4))
    return rows - rows.mean(axis=0)


def with_empty_residual(Z):
    return np.column_stack([Z, np.zeros(len(Z))])


def whitened(Phi):
    values, vectors = np.linalg.eigh(Phi.T @ Phi / len(Phi))
    return Phi @ (vectors / np.sqrt(values)) @ vectors.T


def test_the_leverage_of_whitened_rows_is_the_diagonal_of_the_hat_matrix(Phi):
    hat = Phi @ np.linalg.inv(Phi.T @ Phi) @ Phi.T
    assert_allclose(leverage(with_empty_residual(whitened(Phi))), np.diag(hat), rtol=1e-10)


def test_a_row_left_out_is_as_far_as_its_leverage_says(Phi):
    h = leverage(with_empty_residual(whitened(Phi)))
    for i, row in enumerate(Phi):
        others = np.delete(Phi, i, axis=0)
        left_out = row @ np.linalg.inv(others.T @ others) @ row
        assert_allclose(left_out, h[i] / (1 - h[i]), rtol=1e-8)


def test_the_leverage_does_not_depend_on_the_unit_of_the_graph(Phi):
    Z = with_empty_residual(whitened(Phi))
    assert_allclose(leverage(7.0 * Z), leverage(Z), rtol=1e-12)


def test_no_leverage_reaches_one_and_equal_rows_have_none():
    assert leverage(np.array([[1.0, 0.0], [0.0, 0.0]])).max() == MOST_LEVERAGE
    assert (leverage(np.zeros((3, 2))) == 0).all()
    assert (left_out_factor(np.zeros(3)) == 1).all()


def test_the_ridge_is_added_to_what_is_outside_as_it_is_inside():
    S_x = np.diag([4.0, 2.0, 1.0, 0.5])
    axis = ResidualAxis.learn(np.eye(4)[:2], S_x, ridge=0.1)
    assert_allclose(axis.scale, 1 / np.sqrt((1.0 + 0.5) / 2 + 0.1 * (4.0 + 2.0) / 2))


def test_a_constant_column_is_no_direction_outside():
    S_x = np.diag([4.0, 2.0, 1.0, 0.0])
    assert_allclose(ResidualAxis.learn(np.eye(4)[:2], S_x, ridge=0.0).scale, 1.0)
