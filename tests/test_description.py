"""The sphere as a description: projection, scores, and the sphere itself."""

import numpy as np
import pytest

from pyod_gessvdd.description import Description
from pyod_gessvdd.preprocessing import Scaling
from pyod_gessvdd.qp import solve_svdd


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def projection(rng):
    return rng.normal(size=(2, 5))


@pytest.fixture
def Phi(rng):
    return rng.normal(size=(40, 5)) + 3.0


def _described(Phi, projection, C=0.15):
    mean = Phi.mean(axis=0)
    sphere = solve_svdd((Phi - mean) @ projection.T, C)
    return Description.from_sphere(projection, mean, sphere), sphere


def test_the_projection_subtracts_the_training_mean_first(Phi, projection):
    description, _ = _described(Phi, projection)
    expected = [projection @ (phi - Phi.mean(axis=0)) for phi in Phi]
    np.testing.assert_allclose(description.project(Phi), expected, atol=1e-12)


def test_the_score_is_the_squared_distance_over_the_squared_radius(Phi, projection):
    description, sphere = _described(Phi, projection)
    Z = description.project(Phi)
    expected = [np.linalg.norm(z - sphere.center) ** 2 / sphere.radius2 for z in Z]
    np.testing.assert_allclose(description.scores(Phi), expected, rtol=1e-9)


def test_the_radius_is_the_distance_of_any_support_vector_inside_the_bounds(Phi, projection):
    description, sphere = _described(Phi, projection)
    assert len(sphere.boundary) > 0
    s = description.project(Phi)[sphere.boundary]
    # eq. rsquare, term by term
    expected = np.sum(s * s, axis=1) - 2 * s @ description.center + description.center @ description.center
    np.testing.assert_allclose(description.radius2, expected, rtol=1e-7)


def test_scores_tell_inside_boundary_and_outside(Phi, projection):
    description, sphere = _described(Phi, projection)
    scores = description.scores(Phi)
    inside = np.setdiff1d(np.arange(len(Phi)), sphere.support)
    assert (scores[inside] < 1).all()
    assert (scores[sphere.boundary] == 1).all()
    assert (scores[sphere.outside] > 1).all()


@pytest.mark.parametrize(("distance", "score"), [(1 + 1e-13, 1.0), (1 - 1e-13, 1.0), (1 + 1e-9, 1 + 2e-9)])
def test_within_rounding_of_the_sphere_the_score_is_exactly_one(distance, score):
    description = Description(np.eye(2), np.zeros(2), np.array([3.0, 4.0]), radius2=25.0)
    found = description.scores(np.array([[3.0 + 5.0 * distance, 4.0]]))[0]
    assert found == pytest.approx(score, abs=1e-15) if score != 1.0 else found == 1.0


def test_equal_points_have_a_radius_that_can_divide(projection):
    Phi = np.full((6, 5), 2.0)
    description, sphere = _described(Phi, projection, C=0.5)
    assert sphere.radius2 == pytest.approx(0.0, abs=1e-20)
    assert description.radius2 > 0
    scores = description.scores(Phi)
    assert np.isfinite(scores).all()
    assert (scores <= 1).all()
    assert description.scores(Phi + 1.0).min() > 1e6


def test_scores_leave_the_features_unchanged(Phi, projection):
    description, _ = _described(Phi, projection)
    before = Phi.copy()
    description.scores(Phi)
    np.testing.assert_array_equal(Phi, before)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
def test_the_description_of_unscaled_rows_is_the_same_function(Phi, projection, center, standardize):
    scaling = Scaling.learn(Phi, center=center, standardize=standardize)
    description, _ = _described(scaling.apply(Phi), projection)
    rows = description.of_rows(scaling)
    np.testing.assert_allclose(rows.project(Phi), description.project(scaling.apply(Phi)), atol=1e-12)
    np.testing.assert_allclose(rows.scores(Phi), description.scores(scaling.apply(Phi)), rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-18, 1e12])
def test_the_unit_of_the_features_does_not_change_the_scores(unit, Phi, projection):
    here, _ = _described(Phi, projection)
    there, _ = _described(unit * Phi, projection)
    np.testing.assert_allclose(there.scores(unit * Phi), here.scores(Phi), rtol=1e-6, atol=1e-9)


def test_a_small_sphere_far_from_the_origin_is_no_point(Phi, projection):
    here, _ = _described(Phi, projection)
    there, _ = _described(Phi + 1e9, projection)
    np.testing.assert_allclose(there.scores(Phi + 1e9), here.scores(Phi), atol=1e-4)


def test_equal_points_at_the_origin_have_a_radius_that_can_divide(projection):
    description, _ = _described(np.zeros((6, 5)), projection, C=0.5)
    assert (description.scores(np.zeros((2, 5))) == 0).all()
    assert np.isfinite(description.scores(np.ones((2, 5)))).all()
