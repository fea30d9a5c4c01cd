"""The sphere: its scores against the formula, its gradient, its outline, and spheres that are points."""

import numpy as np
import pytest

from pyod_gessvdd.boundaries.sphere import Sphere
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.qp import solve_svdd

C = 0.15


@pytest.fixture
def Z():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 2)) @ rng.normal(size=(2, 2)) + 3.0


@pytest.fixture
def residual2():
    return np.random.default_rng(1).exponential(size=40)


def _fit(Z, residual2=None, C=C, **params):
    upper = np.full(len(Z), C)
    return Sphere.fit(Z.copy(), residual2, upper, backend=resolve("qp_backend", "auto"), tol=1e-10, **params)


def _scores(sphere, Z, residual2=None):
    return sphere.scores(Z.copy(), residual2)  # scores may overwrite the points


# Fit ----------------------------------------------------------------------------------------------------------------


def test_the_sphere_is_that_of_the_svdd_dual(Z):
    sphere, solution = _fit(Z)
    expected = solve_svdd(Z, C)
    np.testing.assert_allclose(sphere.center, expected.center, atol=1e-6)
    np.testing.assert_allclose(sphere.center, solution.alpha @ Z, atol=1e-12)
    assert sphere.radius2 == pytest.approx(expected.radius2, rel=1e-7)


def test_the_radius_is_the_distance_of_any_support_vector_inside_the_bounds(Z):
    sphere, solution = _fit(Z)
    assert len(solution.boundary) > 0
    s = Z[solution.boundary]
    # eq. rsquare, term by term
    expected = np.sum(s * s, axis=1) - 2 * s @ sphere.center + sphere.center @ sphere.center
    np.testing.assert_allclose(sphere.radius2, expected, rtol=1e-7)


def test_residuals_are_points_on_both_sides_of_the_subspace(Z, residual2):
    sphere, solution = _fit(Z, residual2)
    r = np.sqrt(residual2)[:, None]
    mirrored = solve_svdd(np.vstack([np.hstack([Z, r]), np.hstack([Z, -r])]), C / 2, tol=1e-10)
    np.testing.assert_allclose(np.append(sphere.center, 0.0), mirrored.center, atol=1e-6)
    assert sphere.radius2 == pytest.approx(mirrored.radius2, rel=1e-6)
    np.testing.assert_allclose(solution.alpha, mirrored.alpha[:40] + mirrored.alpha[40:], atol=1e-6)


def test_the_last_alpha_is_where_the_solver_starts(Z):
    class Noting(type(resolve("qp_backend", "frank_wolfe"))):
        name = "noting"

        def solve(self, dual, warm_start=None):
            seen.append(warm_start)
            return super().solve(dual, warm_start)

    seen = []
    _, first = _fit(Z)
    Sphere.fit(Z.copy(), None, np.full(40, C), backend=Noting(), tol=1e-8, last_alpha=first.alpha)
    np.testing.assert_array_equal(seen[0], first.alpha)


# Scores -------------------------------------------------------------------------------------------------------------


def test_the_score_is_the_squared_distance_over_the_squared_radius(Z):
    sphere, _ = _fit(Z)
    expected = [np.linalg.norm(z - sphere.center) ** 2 / sphere.radius2 for z in Z]
    np.testing.assert_allclose(_scores(sphere, Z), expected, rtol=1e-9)


def test_the_residual_is_one_more_squared_length(Z, residual2):
    sphere, _ = _fit(Z, residual2)
    expected = [
        (np.linalg.norm(z - sphere.center) ** 2 + r2) / sphere.radius2 for z, r2 in zip(Z, residual2, strict=True)
    ]
    np.testing.assert_allclose(_scores(sphere, Z, residual2), expected, rtol=1e-9)


@pytest.mark.parametrize("with_residual", [False, True])
def test_scores_tell_inside_boundary_and_outside(Z, residual2, with_residual):
    r2 = residual2 if with_residual else None
    sphere, solution = _fit(Z, r2)
    scores = _scores(sphere, Z, r2)
    inside = np.setdiff1d(np.arange(len(Z)), solution.support)
    assert (scores[inside] < 1).all()
    assert (scores[solution.boundary] == 1).all()
    assert (scores[solution.outside] > 1).all()


@pytest.mark.parametrize(("distance", "score"), [(1 + 1e-13, 1.0), (1 - 1e-13, 1.0), (1 + 1e-9, 1 + 2e-9)])
def test_within_rounding_of_the_sphere_the_score_is_exactly_one(distance, score):
    sphere = Sphere(np.array([3.0, 4.0]), radius2=25.0)
    found = sphere.scores(np.array([[3.0 + 5.0 * distance, 4.0]]))[0]
    assert found == pytest.approx(score, abs=1e-15) if score != 1.0 else found == 1.0


@pytest.mark.parametrize("unit", [1e-18, 1e12])
def test_the_unit_of_the_points_does_not_change_the_scores(unit, Z):
    here, there = _fit(Z)[0], _fit(unit * Z)[0]
    np.testing.assert_allclose(_scores(there, unit * Z), _scores(here, Z), rtol=1e-6, atol=1e-9)


def test_a_small_sphere_far_from_the_origin_is_no_point(Z):
    here, there = _fit(Z)[0], _fit(Z + 1e9)[0]
    np.testing.assert_allclose(_scores(there, Z + 1e9), _scores(here, Z), atol=1e-4)


@pytest.mark.parametrize("value", [2.0, 0.0])
def test_equal_points_have_a_radius_that_can_divide(value):
    points = np.full((6, 2), value)
    sphere, _ = _fit(points, C=0.5)
    assert sphere.radius2 == pytest.approx(0.0, abs=1e-20)
    assert sphere.unit > 0
    assert (_scores(sphere, points) <= 1).all()
    assert np.isfinite(_scores(sphere, points + 1.0)).all()
    if value:
        assert _scores(sphere, points + 1.0).min() > 1e6


# Gradient and outline -----------------------------------------------------------------------------------------------


def test_the_gradient_is_that_of_finite_differences(Z, residual2):
    sphere, _ = _fit(Z, residual2)
    by_points, by_residual2 = sphere.gradient(Z)
    h = 1e-6
    for j, step in enumerate(h * np.eye(2)):
        slope = (_scores(sphere, Z + step, residual2) - _scores(sphere, Z - step, residual2)) / (2 * h)
        np.testing.assert_allclose(by_points[:, j], slope, rtol=1e-6, atol=1e-7)
    slope = (_scores(sphere, Z, residual2 + h) - _scores(sphere, Z, residual2 - h)) / (2 * h)
    np.testing.assert_allclose(by_residual2, slope, rtol=1e-6)


def test_the_gradient_times_the_way_from_the_centre_is_the_score_times_its_degree(Z):
    sphere, _ = _fit(Z)
    by_points, _ = sphere.gradient(Z)
    parts = np.sum(by_points * (Z - sphere.center), axis=1) / sphere.degree
    np.testing.assert_allclose(parts + sphere.base(sphere.center), _scores(sphere, Z), rtol=1e-9)


@pytest.mark.parametrize("pair", [[0, 1], [1, 2], [0, 2]])
def test_the_outline_is_a_circle_around_the_centre_and_zero_in_the_residual(pair):
    sphere = Sphere(np.array([3.0, 4.0]), radius2=4.0)
    around = np.array([3.0, 4.0, 0.0])[pair]
    np.testing.assert_allclose(np.linalg.norm(sphere.outline(pair, 1.0) - around, axis=1), 2.0)


def test_the_outline_of_one_coordinate_is_where_the_sphere_ends():
    assert Sphere(np.array([3.0, 4.0]), radius2=4.0).outline([1], 1.0).tolist() == [[2.0], [6.0]]


def test_centre_and_radius_are_published():
    published = Sphere(np.array([3.0, 4.0]), radius2=4.0).published()
    assert published.keys() == {"center_", "radius_"}
    assert published["center_"].tolist() == [3.0, 4.0]
    assert published["radius_"] == 2.0
