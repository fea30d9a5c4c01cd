"""The half-space: scikit-learn's one-class SVM, its certificate, scores, gradient and outline."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import OneClassSVM

from pyod_gessvdd.boundaries import half_space
from pyod_gessvdd.boundaries.half_space import HalfSpace, solve_hyperplane
from pyod_gessvdd.components.specs import resolve

#: 1/(nu · N) is no whole number: some points lie on the hyperplane.
NU = 0.23


@pytest.fixture
def Z():
    return np.random.default_rng(0).normal((4.0, 3.0, 0.0), size=(60, 3))


def _fit(Z, upper=None):
    upper = np.full(len(Z), 1 / (NU * len(Z))) if upper is None else upper
    return HalfSpace.fit(Z.copy(), None, upper, backend=resolve("qp_backend", "auto"), tol=1e-8)


def test_the_hyperplane_is_that_of_the_one_class_svm(Z):
    boundary, solution = _fit(Z)
    svm = OneClassSVM(kernel="linear", nu=NU, tol=1e-10).fit(Z)
    expected = -svm.decision_function(Z) / svm.offset_[0] + 1
    np.testing.assert_allclose(boundary.scores(Z), expected, atol=1e-5)
    np.testing.assert_allclose(solution.alpha @ Z, boundary.normal, rtol=1e-9)
    assert solution.gap < 1e-6
    assert solution.is_optimal(1e-6)


def test_the_score_is_one_on_the_hyperplane_and_two_at_the_level_of_the_origin(Z):
    boundary, solution = _fit(Z)
    expected = [1 + (boundary.rho - boundary.normal @ z) / boundary.rho for z in Z]
    np.testing.assert_allclose(boundary.scores(Z), expected, atol=1e-5)
    assert boundary.scores(np.zeros((1, 3))) == [2.0]
    scores = boundary.scores(Z)
    assert (scores[solution.boundary] == 1).all()
    assert (scores[solution.outside] > 1).all()
    assert (scores[np.setdiff1d(np.arange(60), solution.support)] < 1).all()


def test_a_bound_of_zero_leaves_a_point_out(Z):
    upper = np.full(60, 1 / (NU * 50))
    upper[:10] = 0.0
    boundary, solution = _fit(Z, upper)
    assert (solution.alpha[:10] == 0).all()
    alone, _ = _fit(Z[10:])
    np.testing.assert_allclose(boundary.scores(Z), alone.scores(Z), atol=1e-5)


def test_if_only_one_alpha_is_feasible_it_is_taken(Z):
    _, solution = _fit(Z, np.full(60, 1 / 60))
    np.testing.assert_allclose(solution.alpha, 1 / 60)


def test_points_around_the_origin_have_no_hyperplane(Z):
    message = "no hyperplane separates the rows from the origin of the feature space, which lies among them"
    with pytest.raises(ValueError, match=message):
        _fit(np.vstack([Z, -Z]))


def test_an_answer_that_is_not_optimal_is_told(Z, monkeypatch):
    monkeypatch.setattr(half_space, "ALLOWED_GAP", -1.0)
    with pytest.warns(ConvergenceWarning, match="LIBSVM stopped at a relative duality gap of .*, above the -1.0e"):
        solve_hyperplane(Z.copy(), np.full(60, 1 / (NU * 60)))


def test_the_gap_bounds_the_distance_to_the_optimum(Z, monkeypatch):
    upper = np.full(60, 1 / (NU * 60))
    best = solve_hyperplane(Z.copy(), upper)
    monkeypatch.setattr(half_space, "TOLERANCE", 1e-1)
    monkeypatch.setattr(half_space, "ALLOWED_GAP", 1.0)
    rough = solve_hyperplane(Z.copy(), upper)
    assert rough.objective <= best.objective
    assert best.objective - rough.objective <= rough.gap * abs(rough.objective) * (1 + 1e-9)


def test_the_gradient_is_that_of_finite_differences(Z):
    boundary, _ = _fit(Z)
    by_points, by_residual2 = boundary.gradient(Z)
    for j, step in enumerate(1e-2 * np.eye(3)):
        slope = (boundary.scores(Z + step) - boundary.scores(Z - step)) / 2e-2
        np.testing.assert_allclose(by_points[:, j], slope, atol=1e-3)
    assert by_residual2 == 0.0


def test_contributions_start_from_the_score_of_the_weighted_mean(Z):
    boundary, solution = _fit(Z)
    center = solution.alpha @ Z
    by_points, _ = boundary.gradient(Z)
    parts = np.sum(by_points * (Z - center), axis=1) / boundary.degree
    np.testing.assert_allclose(parts + boundary.base(center), boundary.scores(Z), atol=2e-5)


@pytest.mark.parametrize("pair", [[0, 1], [1, 2]])
def test_the_outline_is_a_line_of_points_on_the_hyperplane(Z, pair):
    boundary, _ = _fit(Z)
    ends = boundary.outline(pair, reach=5.0)
    assert np.linalg.norm(ends[1] - ends[0]) == pytest.approx(10.0)
    # The other coordinates are those of w.
    points = np.tile(boundary.normal, (2, 1))
    points[:, pair] = ends
    np.testing.assert_allclose(points @ boundary.normal, boundary.rho, rtol=1e-9)


def test_the_outline_of_one_coordinate_is_a_point_and_of_none_that_counts_nothing():
    boundary = HalfSpace(np.array([2.0, 0.0]), rho=4.0)
    assert boundary.outline([0], 1.0).tolist() == [[2.0]]
    assert boundary.outline([1], 1.0).shape == (0, 1)


def test_normal_and_offset_are_published():
    published = HalfSpace(np.array([2.0, 0.0]), rho=4.0).published()
    assert published.keys() == {"coef_", "rho_"}
    assert published["coef_"].tolist() == [2.0, 0.0]
    assert published["rho_"] == 4.0
