"""A whole grid at once is its points one by one: the detectors of the package are the oracle."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pyod_gessvdd import GESSVDD
from pyod_gessvdd.detectors.variants import VARIANTS
from pyod_gessvdd.errors import NoSuchModelError
from pyod_gessvdd.experiments.detectors.paper import fitted, grid
from pyod_gessvdd.experiments.detectors.paper.fitted import Setup, fit_grid
from pyod_gessvdd.experiments.detectors.paper.grid import GridModel, grid_points
from pyod_gessvdd.experiments.detectors.paper.methods import LINEAR, METHODS, NONLINEAR
from pyod_gessvdd.experiments.detectors.paper.spheres import solve_spheres
from pyod_gessvdd.qp import solve_svdd

RANDOM = np.random.default_rng(0)
MIXING = RANDOM.normal(size=(6, 6))
X, TEST = RANDOM.normal(size=(45, 6)) @ MIXING + 3.0, 1.4 * RANDOM.normal(size=(60, 6)) @ MIXING + 3.0
POINTS = [{"C": C, "n_components": d} for C, d in itertools.product((0.1, 0.35), (1, 3))]
STEPS = [{**point, "step_size": step} for point in POINTS for step in (0.1, 100.0)]

pytestmark = pytest.mark.filterwarnings("ignore:the subspace has", "ignore:the graph sees no scatter")


def scores(found, X, points):
    """dist²/R² of each point of a fitted grid, in the order of its points."""
    Phi = found.feature_map.features(X)[0]
    values = np.full((points, len(X)), np.nan)
    for part in found.fits.iterates[-1]:
        Z = Phi @ part.projection.transpose(0, 2, 1) - part.center[:, None]
        values[part.points] = (Z**2).sum(axis=2) / part.radius2[:, None]
    return values


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_grid_fitted_at_once_is_its_points_fitted_alone(variant):
    points = STEPS if "-GR-" in variant else POINTS
    found = fit_grid(variant, X, points, seed=3)
    together = scores(found, TEST, len(points))
    accepted = found.accept(TEST)
    for place, point in enumerate(points):
        alone = GESSVDD.from_variant(variant, random_state=3, **point).fit(X)
        np.testing.assert_allclose(together[place], alone.decision_function(TEST), rtol=2e-6)
        assert (accepted[place] == (alone.predict(TEST) == 0)).all()


@pytest.mark.parametrize("variant", ["0-GR-max", "Sw-GR-min", "kNN-S-max", "PCA-SR-min"])
def test_with_a_kernel_too(variant):
    found = fit_grid(variant, X, POINTS, seed=1, sigma=4.0)
    for place, point in enumerate(POINTS):
        alone = GESSVDD.from_variant(variant, random_state=1, kernel="rbf", sigma=4.0, **point).fit(X)
        np.testing.assert_allclose(scores(found, TEST, len(POINTS))[place], alone.decision_function(TEST), rtol=1e-6)


@pytest.mark.parametrize("variant", ["I-GR-min", "kNN-GR-max", "PCA-S-min", "kNN-SR-max"])
def test_a_warm_started_grid_is_a_cold_one(variant, monkeypatch):
    points = STEPS if "-GR-" in variant else POINTS
    warm = scores(fit_grid(variant, X, points, seed=0), TEST, len(points))
    monkeypatch.setattr(fitted, "fit_together", lambda *args, **given: FIT_TOGETHER(*args, **given, warm=False))
    cold = scores(fit_grid(variant, X, points, seed=0), TEST, len(points))
    np.testing.assert_allclose(warm, cold, rtol=1e-8)


FIT_TOGETHER = fitted.fit_together


def test_iterates_are_what_fewer_updates_give():
    found = fit_grid("PCA-GR-max", X, STEPS, seed=0)
    for n_iter in (0, 2, 4):
        fewer = fit_grid("PCA-GR-max", X, STEPS, seed=0, setup=Setup(n_iter=n_iter))
        assert (found.accept(TEST, n_iter) == fewer.accept(TEST)).all()


def test_a_random_start_is_another_one_for_every_point_and_the_same_for_the_same_seed():
    same = [{"C": 0.2, "n_components": 1}] * 3
    setup = Setup(init="random", n_iter=0)
    first, again, other = (scores(fit_grid("0-GR-min", X, same, seed, setup), TEST, 3) for seed in (0, 0, 1))
    assert (first == again).all()
    assert not np.allclose(first, other)
    assert not np.allclose(first[0], first[1])


# Points of a grid as models -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "description"), [("GESSVDD-kNN-GR-min", LINEAR), ("GESSVDD-Sb-S-max", NONLINEAR)])
def test_a_point_is_its_detector_and_all_points_of_one_width_are_fitted_by_the_first(name, description, monkeypatch):
    fits = []
    monkeypatch.setattr(grid, "fit_grid", lambda *args, **given: fits.append(1) or fit_grid(*args, **given))
    points = grid_points(METHODS[name], description, 6, quick=True)
    kernel = {"kernel": "rbf"} if description == NONLINEAR else {}
    for point in points[:: len(points) // 8]:
        model = point.build(seed=0).fit(X)
        alone = GESSVDD.from_variant(name, random_state=0, **kernel, **point.parameters).fit(X)
        assert (model.predict(TEST) == alone.predict(TEST)).all()
    assert len(fits) == len({point.parameters.get("sigma") for point in points[:: len(points) // 8]})


@pytest.mark.parametrize(
    ("parameters", "n_rows", "sentence"),
    [
        ({"C": 0.2, "n_components": 50}, 45, "n_components must be at most the number of features, 6, got 50"),
        ({"C": 0.1, "n_components": 2}, 8, "C must be at least 1/N = 0.125, got 0.1"),
    ],
)
def test_a_point_without_a_model_says_why_and_accepts_nothing(parameters, n_rows, sentence):
    with pytest.raises(NoSuchModelError, match=sentence):
        GridModel(METHODS["GESSVDD-0-S-max"], LINEAR, parameters, 0).fit(X[:n_rows])
    found = fit_grid("0-S-max", X[:n_rows], [parameters, {"C": 0.5, "n_components": 1}], 0)
    assert found.exists.tolist() == [False, True]
    assert not found.accept(TEST)[0].any()


def test_rows_that_are_all_equal_are_refused():
    with pytest.raises(ValueError, match="all 12 rows of X are equal: there is nothing to describe"):
        fit_grid("0-GR-min", np.ones((12, 3)), POINTS[:1], 0)


# Spheres --------------------------------------------------------------------------------------------------------------


def test_spheres_of_a_stack_are_those_that_the_package_finds_one_by_one():
    stack = RANDOM.normal(size=(7, 30, 3)) * [[[1.0]], [[1e4]], [[1e-4]], [[1.0]], [[1.0]], [[1.0]], [[1.0]]] + 5.0
    C = np.array([0.1, 0.2, 0.5, 1.0, 1 / 30, 0.34, 0.07])
    found = solve_spheres(stack, C)
    for place, Z in enumerate(stack):
        expected = solve_svdd(Z, C[place])
        np.testing.assert_allclose(found.center[place], expected.center, rtol=1e-9)
        np.testing.assert_allclose(found.radius2[place], expected.radius2, rtol=1e-7)
        np.testing.assert_allclose(found.alpha[place], expected.alpha, atol=1e-7)


def test_points_that_are_all_equal_have_a_sphere_of_no_radius():
    found = solve_spheres(np.full((1, 10, 2), 3.0), np.array([0.2]))
    np.testing.assert_allclose(found.center, 3.0)
    assert found.radius2[0] == 0.0
