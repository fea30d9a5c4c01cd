"""The description: rows to features, to the subspace, to scores, against the formulas one after the other."""

import numpy as np
import pytest

from pyod_gessvdd.boundaries.sphere import Sphere
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.description import Description
from pyod_gessvdd.feature_map import FeatureMap
from pyod_gessvdd.subspace import Subspace, random_directions

KERNELS = ("linear", "rbf(gamma=0.05, energy=0.9)")
SCALINGS = (False, True, "robust", "signed_log", "quantile")

both_kernels = pytest.mark.parametrize("kernel", KERNELS)
with_and_without_residual = pytest.mark.parametrize("residual", [True, False])


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 5)) @ rng.normal(size=(5, 5)) + 3.0


@pytest.fixture
def new():
    return np.random.default_rng(1).normal(size=(15, 5)) * 3.0 + 3.0


def _described(X, kernel="linear", residual=False, center=True, standardize=True):
    feature_map, Phi, missed = FeatureMap.learn(
        X, resolve("kernel", kernel), center=center, standardize=standardize, counts_missed=residual
    )
    Q = random_directions(2, Phi.shape[1], 0)
    subspace = Subspace.at(Q, Phi.T @ Phi, ridge=0.1, residual=residual)
    Z, residual2 = subspace.points(Phi, missed)
    sphere, _ = Sphere.fit(Z, residual2, np.full(len(X), 0.15), backend=resolve("qp_backend", "auto"), tol=1e-8)
    return Description(feature_map, subspace, sphere)


def _slow_points(description, rows):
    """S_Q^{-1/2} Q φ and, if it counts, r/√ρ, row by row."""
    feature_map, subspace = description.feature_map, description.subspace
    points = []
    for row in rows:
        scaled = feature_map.scaling.apply(row[None])
        phi = feature_map.kernel.features(scaled)[0] - (0.0 if feature_map.mean is None else feature_map.mean)
        z = subspace.whitening.root @ subspace.Q @ phi
        if description.has_residual:
            outside = phi - subspace.Q.T @ subspace.Q @ phi
            r2 = outside @ outside + feature_map.kernel.residual(scaled)[0]
            z = np.append(z, np.sqrt(r2 * subspace.residual_scale))
        points.append(z)
    return np.array(points)


@pytest.mark.parametrize("standardize", SCALINGS)
@pytest.mark.parametrize("center", [True, False])
@with_and_without_residual
@both_kernels
def test_scores_and_coordinates_are_the_formulas_one_after_the_other(X, new, kernel, residual, center, standardize):
    description = _described(X, kernel, residual, center, standardize)
    points = _slow_points(description, new)
    np.testing.assert_allclose(description.transform(new), points, rtol=1e-8, atol=1e-9 * np.abs(points).max())
    middle = np.append(description.boundary.center, [0.0] * residual)
    expected = [np.linalg.norm(z - middle) ** 2 / description.boundary.radius2 for z in points]
    np.testing.assert_allclose(description.scores(new), expected, rtol=1e-8)


@with_and_without_residual
@both_kernels
def test_scores_leave_the_rows_unchanged(X, kernel, residual):
    description = _described(X, kernel, residual)
    before = X.copy()
    description.scores(X)
    description.transform(X)
    np.testing.assert_array_equal(X, before)


@with_and_without_residual
@both_kernels
def test_a_rows_score_does_not_depend_on_its_batch(X, kernel, residual):
    description = _described(X, kernel, residual)
    whole = description.scores(X)
    for batch in (slice(0, 1), slice(3, 20), slice(39, 40)):
        np.testing.assert_array_equal(description.scores(X[batch]), whole[batch])


@with_and_without_residual
@both_kernels
def test_the_gradient_is_that_of_finite_differences(X, new, kernel, residual):
    description = _described(X, kernel, residual)
    Phi, missed = description.feature_map.features(new)
    by_features, by_missed = description.gradient(Phi)
    h = 1e-6 * np.abs(Phi).max()
    for j in range(Phi.shape[1]):
        step = h * np.eye(Phi.shape[1])[j]
        slopes = [description.scores_of_features(Phi + sign * step, missed) for sign in (1, -1)]
        np.testing.assert_allclose(
            by_features[:, j], (slopes[0] - slopes[1]) / (2 * h), rtol=1e-5, atol=1e-6 * np.abs(by_features).max()
        )
    if residual:
        moved = [description.scores_of_features(Phi, missed + sign * h) for sign in (1, -1)]
        np.testing.assert_allclose(by_missed, (moved[0] - moved[1]) / (2 * h), rtol=1e-5)
    else:
        assert (by_missed == 0).all()


def test_equal_rows_are_as_near_as_can_be_and_others_are_far():
    X = np.full((6, 3), 2.0)
    feature_map, Phi, _ = FeatureMap.learn(X, resolve("kernel", "linear"), center=True, standardize=False)
    subspace = Subspace.at(np.eye(3)[:2], None, ridge=0.0, residual=False)
    sphere, _ = Sphere.fit(
        subspace.coordinates(Phi), None, np.full(6, 0.5), backend=resolve("qp_backend", "auto"), tol=1e-8
    )
    description = Description(feature_map, subspace, sphere)
    assert (description.scores(X) <= 1).all()
    assert description.scores(X + 1.0).min() > 1e6
