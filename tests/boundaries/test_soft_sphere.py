"""The sphere with squared slacks against its primal, its KKT conditions and a slow dual."""

import numpy as np
import pytest
import scipy.optimize
from numpy.testing import assert_allclose

from pyod_gessvdd import L2SVDD, SVDD
from pyod_gessvdd.boundaries import soft_sphere
from pyod_gessvdd.boundaries.soft_sphere import SoftSphere
from pyod_gessvdd.components.specs import resolve

RANDOM = np.random.default_rng(0)
Z = RANDOM.normal(size=(40, 3))
NEW = 2 * RANDOM.normal(size=(10, 3))
WEIGHTED = (1 + np.arange(40) % 3) / 30


def fit(upper, residual2=None, backend="auto"):
    return SoftSphere.fit(Z.copy(), residual2, upper, backend=resolve("qp_backend", backend), tol=1e-9)


def slow_primal(center, upper, residual2):
    """min over R² of R² + Σ u_i max(0, d_i − R²)² at a centre."""
    distances = ((Z - center) ** 2).sum(axis=1) + residual2

    def value(R2):
        return R2 + upper @ np.maximum(0.0, distances - R2) ** 2

    return scipy.optimize.minimize_scalar(
        value, bounds=(-50, distances.max()), method="bounded", options={"xatol": 1e-12}
    )


@pytest.mark.parametrize("residual2", [np.zeros(40), RANDOM.uniform(size=40)], ids=["plain", "residual"])
@pytest.mark.parametrize("upper", [np.full(40, 1 / 12), np.full(40, 1.0), WEIGHTED], ids=["soft", "hard", "weighted"])
def test_primal_and_dual_agree(upper, residual2):
    sphere, solution = fit(upper, residual2)
    primal = slow_primal(sphere.center, upper, residual2)
    assert solution.objective == pytest.approx(primal.fun, rel=1e-6)
    assert solution.radius2 == pytest.approx(primal.x, rel=1e-4)
    assert solution.gap <= 1e-9
    # No other centre is better.
    for step in 0.05 * RANDOM.normal(size=(10, 3)):
        assert slow_primal(sphere.center + step, upper, residual2).fun > primal.fun


def test_a_support_vector_is_outside_in_proportion_to_its_alpha():
    upper = np.full(40, 1 / 12)
    sphere, solution = fit(upper)
    slacks = ((Z - sphere.center) ** 2).sum(axis=1) - solution.radius2
    assert_allclose(slacks[solution.support], solution.alpha[solution.support] / (2 * upper[0]), atol=1e-7)
    others = np.setdiff1d(np.arange(40), solution.support)
    assert (slacks[others] <= 1e-7).all()
    assert len(solution.outside) == 0


@pytest.mark.parametrize("backend", ["frank_wolfe", "interior_point", "libsvm"])
def test_every_backend_finds_it(backend):
    expected, found = fit(np.full(40, 0.1))[0], fit(np.full(40, 0.1), backend=backend)[0]
    assert_allclose(found.center, expected.center, atol=1e-5)


def test_a_small_weight_leaves_no_radius():
    with pytest.raises(ValueError, match=r"C=0\.0001 is too small for squared slacks: no radius is left"):
        fit(np.full(40, 1e-4))


def test_many_points_are_refused(monkeypatch):
    monkeypatch.setattr(soft_sphere, "MAX_POINTS", 39)
    with pytest.raises(ValueError, match="squared slacks need an N × N matrix and are limited to 39 rows, got 40"):
        fit(np.full(40, 0.1))


def test_the_detector_scores_by_this_sphere():
    found = L2SVDD(kernel="linear", standardize=False, C=0.1).fit(Z)
    sphere, _ = fit(np.full(40, 0.1))
    assert_allclose(found.decision_function(NEW), ((NEW - sphere.center) ** 2).sum(axis=1) / sphere.radius2, rtol=1e-6)


def test_in_a_kernels_space_the_part_outside_the_span_counts():
    found = L2SVDD(kernel="rbf(gamma=0.5)", standardize=False, C=0.5).fit(Z)
    kernel = resolve("kernel", "rbf(gamma=0.5)").fit(Z)
    K, alpha = kernel.gram(Z, Z), found.alpha_
    distances = 1.0 - 2.0 * kernel.gram(NEW, Z) @ alpha + alpha @ K @ alpha
    assert_allclose(found.decision_function(NEW) * found.radius_**2, distances, rtol=1e-6)


def test_more_rows_are_support_vectors_than_with_linear_slacks():
    soft, plain = L2SVDD(nu=0.1).fit(Z), SVDD(nu=0.1).fit(Z)
    assert len(soft.support_) > len(plain.support_)
