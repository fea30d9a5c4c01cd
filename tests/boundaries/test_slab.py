"""The slab of one-class kernel spectral regression against explicit kernel regression."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pyod_gessvdd import OCKSR
from pyod_gessvdd.boundaries.slab import Slab
from pyod_gessvdd.components.specs import resolve

RANDOM = np.random.default_rng(0)
X, NEW = RANDOM.normal(size=(50, 3)), 2 * RANDOM.normal(size=(20, 3))
PARAMS = {"kernel": "rbf(gamma=0.3)", "standardize": False, "nu": 0.2}


def slow_scores(X, new, delta, nu, weights=None):
    """(f/μ − 1)²/r² with f(x) = k_xᵀ(K + δ diag(1/w))⁻¹ 1."""
    kernel = resolve("kernel", "rbf(gamma=0.3)").fit(X)
    weights = np.ones(len(X)) if weights is None else weights
    solved = np.linalg.solve(kernel.gram(X, X) + delta * np.diag(1 / weights), np.ones(len(X)))
    inside, outside = (kernel.gram(rows, X) @ solved for rows in (X, new))
    mean = np.average(inside, weights=weights)
    deviations = np.sort(np.repeat((inside / mean - 1) ** 2, weights.astype(int)))
    count = round(nu * len(deviations))  # so many are outside; the radius is half way between these and the others
    return (outside / mean - 1) ** 2 / ((deviations[-count] + deviations[-count - 1]) / 2)


@pytest.mark.parametrize("ridge", [1.0, 0.1])
def test_the_score_is_that_of_the_kernel_regression_of_a_constant(ridge):
    found = OCKSR(ridge=ridge, **PARAMS).fit(X)
    K = resolve("kernel", "rbf(gamma=0.3)").fit(X).gram(X, X)
    delta = ridge * np.trace(K) / found.n_components_
    assert_allclose(found.decision_function(NEW), slow_scores(X, NEW, delta, 0.2), rtol=1e-4)


def test_with_a_small_ridge_all_rows_have_the_same_projection():
    found = OCKSR(ridge=1e-6, **PARAMS).fit(X)
    assert_allclose(found.transform(X) @ found.coef_, 1.0, atol=0.01)
    assert found.decision_function(np.full((1, 3), 50.0)) * found.radius_**2 == pytest.approx(1.0)


def test_weights_are_as_good_as_repeated_rows():
    weights = np.arange(50) % 3 + 1
    by_weight = OCKSR(**PARAMS).fit(X, sample_weight=weights)
    by_rows = OCKSR(**PARAMS).fit(np.repeat(X, weights, axis=0))
    assert_allclose(by_weight.decision_function(NEW), by_rows.decision_function(NEW), rtol=1e-4)


def fitted_slab():
    Z = RANDOM.normal((3.0, 1.0, 0.0), size=(40, 3))
    slab, solution = Slab.fit(Z, None, np.full(40, 1 / 8), backend=resolve("qp_backend", "auto"), tol=1e-8)
    return Z, slab, solution


def test_the_share_nu_of_the_points_is_outside():
    Z, slab, solution = fitted_slab()
    assert (slab.scores(Z) > 1).sum() == 8
    assert solution.alpha.sum() == pytest.approx(1.0)
    assert slab.scores(solution.center[None])[0] == pytest.approx(0.0)


def test_the_gradient_is_that_of_finite_differences():
    Z, slab, _ = fitted_slab()
    gradient, by_residual = slab.gradient(Z)
    assert by_residual == 0.0
    for column in range(3):
        step = 1e-6 * (np.arange(3) == column)
        difference = (slab.scores(Z + step) - slab.scores(Z - step)) / 2e-6
        assert_allclose(gradient[:, column], difference, rtol=1e-5, atol=1e-6)


def test_the_outline_is_on_the_surface():
    _, slab, solution = fitted_slab()
    corners = slab.outline([0, 1], 5.0)
    assert corners.shape == (4, 2)
    points = np.column_stack([corners, np.full(4, solution.center[2])])
    assert_allclose(slab.scores(points), 1.0, rtol=1e-8)
    ends = slab.outline([0], 5.0)
    points = np.column_stack([ends, np.tile(solution.center[1:], (2, 1))])
    assert_allclose(slab.scores(points), 1.0, rtol=1e-8)
    assert Slab(np.array([1.0, 0.0]), 0.5).outline([1], 5.0).shape == (0, 1)


def test_contributions_add_up_to_the_score():
    rows = X + 5.0
    found = OCKSR(kernel="linear", standardize=False, nu=0.2).fit(rows)
    contributions = found.explain(rows + 1.0)
    assert_allclose(contributions.sum(axis=1), found.decision_function(rows + 1.0), rtol=1e-6)


def test_points_around_the_origin_have_no_slab():
    message = "the rows' mean is the origin of the feature space, and a constant cannot be regressed on them; use"
    with pytest.raises(ValueError, match=message):
        OCKSR(kernel="linear").fit(np.vstack([X, -X]))


def test_exactly_fitted_rows_have_a_unit_all_the_same():
    Z = np.ones((5, 1))
    slab, _ = Slab.fit(Z, None, np.full(5, 0.5), backend=resolve("qp_backend", "auto"), tol=1e-8)
    assert np.isfinite(slab.scores(np.array([[0.0], [1.0]]))).all()
