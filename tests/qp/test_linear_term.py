"""The residual as the dual's linear term: the same sphere as that of the 2N mirrored points, for every backend."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyod_gessvdd.dual import SVDDDual, project_to_feasible, upper_bounds
from pyod_gessvdd.qp import solve_svdd
from tests.qp.test_solve_svdd import BACKENDS, exact, name_of, nus

clouds = st.integers(0, 10_000).map(
    lambda seed: (
        np.random.default_rng(seed).normal(size=(40, 3)),
        np.random.default_rng(seed + 1).exponential(size=40),
    )
)


def mirrored(Z, residual2):
    """The 2N points (z_i, ±r_i)."""
    r = np.sqrt(residual2)[:, None]
    return np.vstack([np.hstack([Z, r]), np.hstack([Z, -r])])


@pytest.mark.parametrize("parameters", [{"nu": 0.1}, {"nu": 0.5}, {"C": 0.1}, {"C": 1.0}], ids=str)
@pytest.mark.parametrize("backend", BACKENDS, ids=name_of)
def test_the_linear_term_stands_for_the_mirrored_points(backend, parameters):
    random = np.random.default_rng(0)
    Z, residual2 = 3.0 + random.normal(size=(90, 4)), random.exponential(2.0, size=90)
    halved = {name: value / 2 if name == "C" else value for name, value in parameters.items()}
    both_sides = solve_svdd(mirrored(Z, residual2), **halved, backend="interior_point")
    sphere = solve_svdd(Z, **parameters, residual2=residual2, backend=backend)
    assert sphere.objective == pytest.approx(both_sides.objective, rel=1e-12)
    assert sphere.radius2_interval == pytest.approx(both_sides.radius2_interval, rel=1e-9)
    np.testing.assert_allclose(sphere.center, both_sides.center[:-1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(sphere.alpha, both_sides.alpha[:90] + both_sides.alpha[90:], rtol=0, atol=1e-9)


@pytest.mark.parametrize("backend", ["frank_wolfe", "interior_point"])
@pytest.mark.parametrize("N", [3000, 25_000])
def test_screening_and_working_sets_use_the_linear_term(backend, N):
    random = np.random.default_rng(1)
    Z, residual2 = random.normal(size=(N, 4)), random.exponential(2.0, size=N)
    sphere = solve_svdd(Z, nu=0.1, residual2=residual2, backend=backend)
    both_sides = solve_svdd(mirrored(Z, residual2), nu=0.1)
    assert sphere.is_optimal()
    assert sphere.objective == pytest.approx(both_sides.objective, rel=1e-9)
    np.testing.assert_allclose(sphere.center, both_sides.center[:-1], rtol=0, atol=1e-4)


@pytest.mark.parametrize("backend", BACKENDS, ids=name_of)
def test_a_residual_with_sample_weights_is_solved(backend):
    random = np.random.default_rng(2)
    Z, residual2 = random.normal(size=(60, 3)), random.exponential(size=60)
    weights = random.uniform(0.2, 3.0, size=60)
    weights[::7] = 0.0
    sphere = solve_svdd(Z, nu=0.2, sample_weight=weights, residual2=residual2, backend=backend)
    both = solve_svdd(mirrored(Z, residual2), nu=0.2, sample_weight=np.tile(weights, 2), backend="interior_point")
    np.testing.assert_allclose(sphere.center, both.center[:-1], rtol=0, atol=1e-9)
    assert (sphere.alpha[::7] == 0).all()


@pytest.mark.parametrize("backend", BACKENDS, ids=name_of)
def test_the_radius_includes_the_residual(backend):
    random = np.random.default_rng(3)
    Z, residual2 = random.normal(size=(50, 3)), random.exponential(size=50)
    sphere = solve_svdd(Z, nu=0.2, residual2=residual2, backend=backend)
    distances = ((Z - sphere.center) ** 2).sum(axis=1) + residual2
    np.testing.assert_allclose(distances[sphere.boundary], sphere.radius2, rtol=1e-6)
    assert (distances[sphere.outside] >= sphere.radius2 * (1 - 1e-6)).all()


@pytest.mark.parametrize("backend", BACKENDS, ids=name_of)
def test_equal_residuals_only_lengthen_the_radius(backend):
    Z = np.random.default_rng(4).normal(size=(50, 3))
    plain, lifted = (solve_svdd(Z, nu=0.2, residual2=r2, backend=backend) for r2 in (None, np.full(50, 7.0)))
    np.testing.assert_allclose(lifted.center, plain.center, atol=1e-6)
    assert lifted.radius2 == pytest.approx(plain.radius2 + 7.0, rel=1e-6)


@pytest.mark.parametrize("backend", BACKENDS, ids=name_of)
@pytest.mark.parametrize("Z", [np.full((20, 2), 5.0), np.arange(20.0)[:, None] * 1e-9], ids=["equal", "nearly equal"])
def test_points_that_differ_in_their_residuals_alone_are_solved(backend, Z):
    residual2 = np.arange(20.0)
    sphere = solve_svdd(Z, C=0.25, residual2=residual2, backend=backend)
    assert sphere.outside.tolist() == [16, 17, 18, 19]
    assert sphere.radius2_interval == pytest.approx((15.0, 16.0))
    assert sphere.objective == pytest.approx(17.5)


@settings(max_examples=25, deadline=None)
@given(cloud=clouds, backend=exact, nu=nus, seed=st.integers(0, 99))
def test_the_order_of_points_with_residuals_does_not_matter(cloud, backend, nu, seed):
    Z, residual2 = cloud
    order = np.random.default_rng(seed).permutation(len(Z))
    one = solve_svdd(Z, nu=nu, residual2=residual2, backend=backend)
    other = solve_svdd(Z[order], nu=nu, residual2=residual2[order], backend=backend)
    np.testing.assert_allclose(one.center, other.center, atol=1e-6)
    np.testing.assert_allclose(one.radius2_interval, other.radius2_interval, rtol=1e-5)


@settings(max_examples=25, deadline=None)
@given(cloud=clouds, backend=exact, nu=nus, scale=st.sampled_from([1e-6, 0.3, 1e5]), shift=st.floats(-50, 50))
def test_translation_and_scaling_move_the_sphere_of_points_with_residuals(cloud, backend, nu, scale, shift):
    Z, residual2 = cloud
    one = solve_svdd(Z, nu=nu, residual2=residual2, backend=backend)
    other = solve_svdd(scale * (Z + shift), nu=nu, residual2=scale**2 * residual2, backend=backend)
    np.testing.assert_allclose(scale * (one.center + shift), other.center, atol=1e-5 * scale)
    assert other.objective == pytest.approx(scale**2 * one.objective, rel=1e-7)
    assert other.radius2_interval == pytest.approx([scale**2 * end for end in one.radius2_interval], rel=1e-5)


@settings(max_examples=25, deadline=None)
@given(cloud=clouds, nu=nus, seed=st.integers(0, 99))
def test_the_gap_bounds_the_distance_to_the_optimum_with_residuals(cloud, nu, seed):
    Z, residual2 = cloud
    dual = SVDDDual(Z, upper_bounds(len(Z), None, nu), linear=(Z**2).sum(axis=1) + residual2)
    alpha = project_to_feasible(np.random.default_rng(seed).random(len(Z)) / len(Z), dual.upper)
    best = solve_svdd(Z, nu=nu, residual2=residual2)
    certificate = dual.certify(alpha)
    absolute_gap = certificate.gap * certificate.objective / (1 - certificate.gap)
    assert ((certificate.center - best.center) ** 2).sum() <= absolute_gap + 1e-12
    assert dual.objective(alpha) <= best.objective + 1e-12


def test_the_linear_term_is_the_squared_norms_unless_given():
    Z = np.random.default_rng(5).normal(size=(10, 3))
    dual = SVDDDual(Z, np.full(10, 0.2))
    np.testing.assert_allclose(dual.linear, (Z**2).sum(axis=1))
    given = SVDDDual(Z, np.full(10, 0.2), linear=np.arange(10.0))
    np.testing.assert_array_equal(given.linear, np.arange(10.0))
    np.testing.assert_array_equal(replace(given, upper=np.ones(10)).linear, np.arange(10.0))
    np.testing.assert_array_equal(given.take(np.array([7, 2])).linear, [7.0, 2.0])


@pytest.mark.parametrize(
    ("residual2", "message"),
    [
        ([1.0], r"residual2 must hold one number per point, shape \(2,\), got shape \(1,\)"),
        ([1.0, np.nan], "residual2 must be finite, got NaN or infinite values"),
        ([1.0, -2.0], "residual2 holds squared lengths, which are not negative, got -2"),
    ],
)
def test_bad_residuals_get_a_sentence(residual2, message):
    with pytest.raises(ValueError, match=message):
        solve_svdd([[1.0], [2.0]], nu=0.5, residual2=residual2)


def test_a_solution_is_optimal_if_its_gap_is_below_the_tolerance():
    sphere = solve_svdd(np.random.default_rng(6).normal(size=(40, 2)), nu=0.3)
    assert sphere.is_optimal()
    assert sphere.is_optimal(tol=1e-12)
    assert not replace(sphere, gap=2e-8).is_optimal()
    assert replace(sphere, gap=2e-8).is_optimal(tol=1e-7)
    assert not replace(sphere, gap=float("nan")).is_optimal()
