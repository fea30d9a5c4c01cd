"""The start of Q, its orthonormal form, and the whitening S_Q^{-1/2}."""

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from sklearn.decomposition import PCA

from pyod_gessvdd import linalg
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.subspace import orthonormalise, principal_directions, random_directions, subspace_distance, whiten


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def _projector(Q):
    """The orthogonal projection onto the span of the rows, computed without assuming anything about them."""
    return np.linalg.pinv(Q) @ Q


# The start --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(50, 6), (5, 9)], ids=["more rows", "more columns"])
@pytest.mark.parametrize("shift", [0.0, 1e5])
def test_principal_directions_are_those_of_pca(rng, shape, shift):
    Phi = rng.normal(size=shape) * np.arange(1, shape[1] + 1) + shift
    directions = principal_directions(Phi)
    expected = PCA(len(directions)).fit(Phi).components_
    np.testing.assert_allclose(np.abs(np.sum(directions * expected, axis=1)), 1.0, atol=1e-8)


@pytest.mark.parametrize("shape", [(50, 6), (5, 9)], ids=["more rows", "more columns"])
def test_principal_directions_are_orthonormal(rng, shape):
    directions = principal_directions(rng.normal(size=shape))
    np.testing.assert_allclose(directions @ directions.T, np.eye(len(directions)), atol=1e-12)


def test_principal_directions_leave_out_where_the_features_do_not_vary(rng):
    Phi = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 7))
    assert principal_directions(Phi).shape == (3, 7)
    assert principal_directions(Phi[:5]).shape == (3, 7)


@pytest.mark.parametrize("shape", [(5, 2), (2, 5)])
def test_equal_rows_have_no_principal_direction(shape):
    assert principal_directions(np.full(shape, 3.0)).shape == (0, shape[1])


def test_principal_directions_do_not_depend_on_the_block_size(rng, monkeypatch):
    Phi = rng.normal(size=(50, 4)) * [1, 2, 3, 4]
    whole = principal_directions(Phi)
    monkeypatch.setattr(linalg, "BLOCK_ELEMENTS", 4 * 7)
    np.testing.assert_allclose(np.abs(np.sum(principal_directions(Phi) * whole, axis=1)), 1.0, atol=1e-10)


@pytest.mark.parametrize("shape", [(50, 6), (5, 9)], ids=["more rows", "more columns"])
@pytest.mark.parametrize("around_mean", [True, False])
def test_principal_directions_of_weighted_rows_are_those_of_repeated_rows(rng, shape, around_mean):
    Phi, weights = rng.normal(size=shape) + 1.0, rng.integers(1, 4, size=shape[0])
    found = principal_directions(Phi, weights.astype(float), around_mean=around_mean)
    expected = principal_directions(np.repeat(Phi, weights, axis=0), around_mean=around_mean)
    np.testing.assert_allclose(np.abs(np.sum(found * expected, axis=1)), 1.0, atol=1e-9)


def test_random_directions_are_orthonormal_and_belong_to_the_seed():
    Q = random_directions(3, 7, 0)
    np.testing.assert_allclose(Q @ Q.T, np.eye(3), atol=1e-13)
    assert (random_directions(3, 7, 0) == Q).all()
    assert subspace_distance(random_directions(3, 7, 1), Q) > 0.1


# Orthonormal rows -------------------------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(hnp.arrays(float, (3, 5), elements=st.floats(-100, 100).filter(lambda x: x == 0 or abs(x) > 1e-3)))
def test_orthonormal_rows_span_what_the_given_rows_span(Q):
    lengths = np.linalg.norm(Q, axis=1, keepdims=True)
    singular = np.linalg.svd(Q / np.where(lengths > 0, lengths, 1.0), compute_uv=False)
    rank = int(np.sum(singular > 1e-6))
    if np.sum(singular > 1e-13) != rank:
        return  # rows that are dependent in ten digits: either answer is right
    orthonormal = orthonormalise(Q)
    assert orthonormal.shape == (rank, 5)
    np.testing.assert_allclose(orthonormal @ orthonormal.T, np.eye(rank), atol=1e-12)
    np.testing.assert_allclose(Q @ orthonormal.T @ orthonormal, Q, atol=1e-6 * max(1.0, np.abs(Q).max()))


def test_rows_that_depend_on_others_are_dropped(rng):
    Q = rng.normal(size=(2, 6))
    dependent = np.vstack([Q[0], Q[1], Q[0] - 3 * Q[1], np.zeros(6)])
    orthonormal = orthonormalise(dependent)
    assert orthonormal.shape == (2, 6)
    np.testing.assert_allclose(_projector(orthonormal), _projector(Q), atol=1e-12)


def test_a_short_row_is_no_dependent_row(rng):
    Q = rng.normal(size=(3, 6))
    scaled = Q * np.array([[1e-20], [1.0], [1e20]])
    orthonormal = orthonormalise(scaled)
    assert orthonormal.shape == (3, 6)
    np.testing.assert_allclose(_projector(orthonormal), _projector(Q), atol=1e-12)


@pytest.mark.parametrize("Q", [np.zeros((2, 4)), np.zeros((0, 4))], ids=["zero rows", "no rows"])
def test_nothing_spans_nothing(Q):
    assert orthonormalise(Q).shape == (0, 4)


def test_the_subspace_distance_is_the_sine_of_the_largest_principal_angle(rng):
    Q, P = (orthonormalise(rng.normal(size=(3, 8))) for _ in range(2))
    expected = np.sin(scipy.linalg.subspace_angles(Q.T, P.T)[0])
    assert subspace_distance(Q, P) == pytest.approx(expected, abs=1e-12)
    assert subspace_distance(P, Q) == pytest.approx(expected, abs=1e-12)


def test_the_subspace_distance_ignores_the_basis(rng):
    Q = orthonormalise(rng.normal(size=(3, 8)))
    assert subspace_distance(Q, random_directions(3, 3, 0) @ Q) == pytest.approx(0.0, abs=1e-12)


def test_subspaces_of_different_dimensions_are_as_far_apart_as_can_be():
    assert subspace_distance(np.eye(4)[:2], np.eye(4)[:3]) == 1.0


# Whitening --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["identity", "pca", "within", "between", "knn", "0.7*knn + 0.3*pca"])
def test_the_whitened_data_have_unit_scatter_in_the_graph(rng, spec):
    Phi = rng.normal(size=(60, 6)) @ rng.normal(size=(6, 6))
    graph = resolve("laplacian", spec).build(Phi, 0)
    Q = random_directions(3, 6, 1)
    Z = Phi @ (whiten(Q, graph.scatter(Phi), ridge=0.0).root @ Q).T
    np.testing.assert_allclose(Z.T @ graph.dot(Z), np.eye(3), atol=1e-9)


def test_the_root_is_the_symmetric_inverse_square_root(rng):
    A = rng.normal(size=(5, 5))
    Q = random_directions(3, 5, 0)
    S_Q = Q @ A @ A.T @ Q.T
    whitening = whiten(Q, A @ A.T, ridge=0.0)
    np.testing.assert_allclose(whitening.root, np.linalg.inv(scipy.linalg.sqrtm(S_Q)), atol=1e-10)
    np.testing.assert_allclose(whitening.inverse, np.linalg.inv(S_Q), atol=1e-10)
    assert whitening.n_unseen == 0


def test_the_ridge_is_a_share_of_the_mean_eigenvalue(rng):
    A = rng.normal(size=(5, 5))
    Q = random_directions(3, 5, 0)
    S_Q = Q @ A @ A.T @ Q.T
    whitening = whiten(Q, A @ A.T, ridge=0.01)
    np.testing.assert_allclose(whitening.inverse, np.linalg.inv(S_Q + 0.01 * np.trace(S_Q) / 3 * np.eye(3)), atol=1e-10)


def test_the_unit_of_the_scatter_only_scales_the_whitening(rng):
    A = rng.normal(size=(5, 5))
    Q = random_directions(3, 5, 0)
    small, large = (whiten(Q, unit * A @ A.T, ridge=1e-3) for unit in (1e-12, 1e12))
    np.testing.assert_allclose(small.root * 1e-6, large.root * 1e6, rtol=1e-9)


def test_without_a_graph_nothing_is_whitened():
    whitening = whiten(np.eye(4)[:2], None, ridge=0.5)
    assert (whitening.root == np.eye(2)).all()
    assert (whitening.inverse == np.eye(2)).all()
    assert whitening.n_unseen == 0


def _partly_unseen(rng):
    """S_x of rank 2 of 6, as the between graph of three clusters has; Q, half outside its range; and both bases."""
    V = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    S_x = V[:, :2] @ np.diag([3.0, 1.0]) @ V[:, :2].T
    Q = np.linalg.qr(rng.normal(size=(4, 4)))[0] @ V[:, :4].T
    return S_x, Q, V[:, :2], V[:, 2:4]


@pytest.mark.parametrize("ridge", [0.0, 1e-6])
def test_directions_that_the_graph_does_not_see_are_counted_and_left_out_of_the_inverse(rng, ridge):
    S_x, Q, _, _ = _partly_unseen(rng)
    whitening = whiten(Q, S_x, ridge)
    assert whitening.n_unseen == 2
    np.testing.assert_allclose(whitening.inverse, np.linalg.pinv(Q @ S_x @ Q.T, rcond=1e-9), rtol=1e-4, atol=1e-5)


def test_the_ridge_alone_scales_a_direction_that_the_graph_does_not_see(rng):
    S_x, Q, seen, unseen = _partly_unseen(rng)
    projection = whiten(Q, S_x, ridge=1e-4).root @ Q
    # Tr S_Q / d = (3 + 1) / 4
    np.testing.assert_allclose(np.linalg.norm(projection @ unseen, axis=0), 100.0, rtol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(projection @ seen, axis=0), [3.0001**-0.5, 1.0001**-0.5], rtol=1e-6)


def test_without_a_ridge_a_direction_that_the_graph_does_not_see_gets_no_weight(rng):
    S_x, Q, seen, unseen = _partly_unseen(rng)
    projection = whiten(Q, S_x, ridge=0.0).root @ Q
    np.testing.assert_allclose(projection @ unseen, 0.0, atol=1e-7)
    np.testing.assert_allclose(np.linalg.norm(projection @ seen, axis=0), [3.0**-0.5, 1.0], rtol=1e-7)


def test_a_direction_is_unseen_below_the_ridge_and_seen_above_it():
    S_x = np.diag([1.0, 1.0, 1e-4])
    assert whiten(np.eye(3), S_x, ridge=1e-3).n_unseen == 1
    assert whiten(np.eye(3), S_x, ridge=1e-3).inverse[2, 2] == 0.0
    assert whiten(np.eye(3), S_x, ridge=1e-6).n_unseen == 0
    assert whiten(np.eye(3), S_x, ridge=1e-6).inverse[2, 2] == pytest.approx(1e4, rel=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_a_subspace_that_the_graph_does_not_see_at_all_keeps_its_shape(seed):
    # Everything in Q S_x Qᵀ is rounding of either sign: compared with itself none of it would look small.
    V = np.linalg.qr(np.random.default_rng(seed).normal(size=(8, 8)))[0]
    S_x = V[:, :3] @ np.diag([3.0, 2.0, 1.0]) @ V[:, :3].T
    whitening = whiten(V[:, 3:6].T, S_x, ridge=1e-6)
    assert whitening.n_unseen == 3
    assert (whitening.inverse == 0).all()
    np.testing.assert_allclose(whitening.root / whitening.root[0, 0], np.eye(3), atol=1e-10)
    assert (whiten(V[:, 3:6].T, S_x, ridge=0.0).root == 0).all()
