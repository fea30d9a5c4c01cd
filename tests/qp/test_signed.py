"""The dual with negative examples against the formulation of Tax and Duin, solved slowly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from pyod_gessvdd import QPBackend
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.dual import QPSolution, upper_bounds
from pyod_gessvdd.errors import NotSolvedError
from pyod_gessvdd.qp import solve_svdd
from pyod_gessvdd.qp.signed import outlier_bounds, solve_signed, solve_signed_kernel, solve_signed_svdd
from tests.oracle import svdd as oracle

EXACT = ["auto", "frank_wolfe", "interior_point", "libsvm"]
AUTO = resolve("qp_backend", "auto")


def problem(seed=0, n_rows=30, n_outliers=4, d=3, nu=0.23):
    """Points with outliers in the midst of them, and the bounds."""
    random = np.random.default_rng(seed)
    Z = random.normal(size=(n_rows + n_outliers, d))
    outliers = np.arange(len(Z)) >= n_rows
    upper = np.asarray(upper_bounds(n_rows, None, nu))
    return Z, outliers, np.concatenate([upper, outlier_bounds(upper, n_outliers)])


@pytest.mark.parametrize("backend", EXACT)
def test_without_negative_examples_it_is_svdd(backend):
    Z, _, _ = problem()
    signed = solve_signed_svdd(Z, np.zeros(len(Z), dtype=bool), nu=0.23, backend=backend)
    plain = solve_svdd(Z, nu=0.23, backend=backend)
    assert_allclose(signed.alpha, plain.alpha, atol=1e-9)
    assert_allclose(signed.center, plain.center, atol=1e-9)
    assert signed.radius2 == pytest.approx(plain.radius2)
    assert signed.objective == pytest.approx(plain.objective)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("with_residual", [False, True])
def test_it_agrees_with_the_slow_formulas(seed, with_residual):
    Z, outliers, upper = problem(seed)
    residual2 = np.random.default_rng(seed).uniform(size=len(Z)) if with_residual else np.zeros(len(Z))
    found = solve_signed(Z, upper, outliers, AUTO, 1e-10, residual2=residual2)
    _, value = oracle.signed_dual(Z @ Z.T, (Z**2).sum(axis=1) + residual2, upper, outliers)
    assert found.objective == pytest.approx(value, rel=1e-6)
    distances = ((Z - found.center) ** 2).sum(axis=1) + residual2
    # Strong duality: the primal at the centre and the radius that were found has the dual's value.
    assert oracle.signed_primal(distances, found.radius2, upper, outliers) == pytest.approx(value, rel=1e-6)
    assert found.gap <= 1e-10
    assert found.alpha.sum() == pytest.approx(1.0)
    assert (found.alpha[outliers] <= 0).all()
    assert (np.abs(found.alpha) <= upper * (1 + 1e-12)).all()


def test_the_gap_bounds_the_distance_to_the_optimum():
    Z, outliers, upper = problem()
    best = solve_signed(Z, upper, outliers, AUTO, 1e-10)

    class Early(QPBackend):
        """Somewhere between the start and the optimum."""

        exact = False

        def solve(self, dual, warm_start=None):
            alpha = AUTO.solve(dual).alpha
            return QPSolution(0.99 * alpha + 0.01 * dual.upper / dual.upper.sum())

    with pytest.warns(ConvergenceWarning, match="'early' stopped at a relative duality gap of .* in the dual with"):
        early = solve_signed(Z, upper, outliers, Early(), 1e-8)
    primal = early.objective / (1 - early.gap)
    assert early.objective < best.objective < primal


def test_an_answer_that_is_none_is_refused():
    class Uniform(QPBackend):
        """Every feasible α alike."""

        exact = False

        def solve(self, dual, warm_start=None):
            return QPSolution(dual.upper / dual.upper.sum())

    Z, outliers, upper = problem(n_outliers=2)
    Z[outliers] *= 0.01
    with pytest.raises(NotSolvedError, match="'uniform' did not solve the SVDD dual"):
        solve_signed(Z, upper, outliers, Uniform(), 1e-8)


@pytest.mark.parametrize("backend", EXACT)
def test_every_backend_finds_the_same_sphere(backend):
    Z, outliers, upper = problem(1)
    found = solve_signed(Z, upper, outliers, resolve("qp_backend", backend), 1e-9)
    best = solve_signed(Z, upper, outliers, AUTO, 1e-9)
    assert_allclose(found.center, best.center, atol=1e-5)
    assert found.radius2 == pytest.approx(best.radius2, rel=1e-4)


def test_points_in_a_kernels_space_have_the_same_solution():
    Z, outliers, upper = problem(2)
    by_points = solve_signed(Z, upper, outliers, AUTO, 1e-10)
    by_kernel = solve_signed_kernel(Z @ Z.T, upper, outliers, AUTO, 1e-10)
    assert_allclose(by_kernel.alpha @ Z, by_points.center, atol=1e-6)
    assert by_kernel.radius2 == pytest.approx(by_points.radius2)
    assert by_kernel.extras["center_norm2"] == pytest.approx(by_points.center @ by_points.center)


def test_outliers_that_can_be_outside_are():
    random = np.random.default_rng(0)
    Z = np.vstack([random.normal(size=(60, 2)), [[2.0, 0.0], [2.2, 0.3]]])
    outliers = np.arange(62) >= 60
    plain, signed = solve_svdd(Z[:60], C=1.0), solve_signed_svdd(Z, outliers, C=1.0)
    for point in Z[outliers]:
        assert ((point - plain.center) ** 2).sum() < plain.radius2
        assert ((point - signed.center) ** 2).sum() >= signed.radius2 * (1 - 1e-9)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), scale=st.sampled_from([1e-6, 1.0, 1e5]), offset=st.sampled_from([0.0, 1e3]))
def test_unit_and_origin_do_not_matter(seed, scale, offset):
    Z, outliers, upper = problem(seed, n_rows=12, n_outliers=2)
    here = solve_signed(Z, upper, outliers, AUTO, 1e-9)
    there = solve_signed(scale * (Z + offset), upper, outliers, AUTO, 1e-9)
    assert_allclose(there.center / scale - offset, here.center, atol=1e-4)
    assert there.radius2 / scale**2 == pytest.approx(here.radius2, rel=1e-3, abs=1e-6)
    assert there.gap <= 1e-9


def test_a_warm_start_leads_to_the_same_sphere():
    Z, outliers, upper = problem(3)
    cold = solve_signed(Z, upper, outliers, AUTO, 1e-10)
    warm = solve_signed(Z + 0.01, upper, outliers, AUTO, 1e-10, cold.alpha)
    assert_allclose(warm.center - 0.01, cold.center, atol=1e-6)


def test_support_sets_count_labelled_outliers():
    Z, outliers, upper = problem(1)
    found = solve_signed(Z, upper, outliers, AUTO, 1e-10)
    assert set(np.flatnonzero(np.abs(found.alpha) > 1e-6)) <= set(found.support)
    distances = ((Z - found.center) ** 2).sum(axis=1)
    assert_allclose(distances[found.boundary], found.radius2, rtol=1e-5)
    assert not outliers[found.outside].any()


@pytest.mark.parametrize("outliers", [[0, 1, 0], [True, False], None])
def test_outliers_are_marked_by_booleans(outliers):
    with pytest.raises(ValueError, match="outliers must hold True or False for each of the 3 points, got an array of"):
        solve_signed_svdd([[0.0], [1.0], [2.0]], outliers)
