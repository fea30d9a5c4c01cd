"""The dual in a kernel's space: the same sphere as in coordinates, solved from the matrix alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import OneClassSVM

from pyod_gessvdd.dual import QPSolution, SVDDDual, upper_bounds
from pyod_gessvdd.qp import KernelDual, solve_kernel_svdd, solve_svdd
from pyod_gessvdd.qp.auto import Auto
from pyod_gessvdd.qp.frank_wolfe import FrankWolfe
from pyod_gessvdd.qp.interior_point import InteriorPoint
from pyod_gessvdd.qp.libsvm import LibSVM
from pyod_gessvdd.qp.osqp import OSQP

BACKENDS = [Auto, LibSVM, FrankWolfe, InteriorPoint, OSQP]

CLOUDS = {
    "gauss": lambda r, N, D: r.normal(size=(N, D)),
    "duplicates": lambda r, N, D: np.repeat(r.normal(size=(-(-N // 5), D)), 5, axis=0)[:N],
    "grid": lambda r, N, D: r.integers(0, 3, size=(N, D)).astype(float),
    "clusters": lambda r, N, D: 0.05 * r.normal(size=(N, D)) + 5.0 * r.integers(0, 2, size=(N, 1)),
    "heavy tails": lambda r, N, D: r.standard_t(1.5, size=(N, D)),
}


def solve(K, *, C=None, nu=None, sample_weight=None, backend=None, residual2=None):
    upper = upper_bounds(len(K), C, nu, sample_weight)
    return solve_kernel_svdd(K, upper, backend or Auto(), 1e-8, None, residual2)


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(120, 4))


@pytest.fixture
def residual2():
    return np.random.default_rng(1).exponential(2.0, size=120)


def test_the_certificate_is_that_of_the_coordinates(X, residual2):
    upper = upper_bounds(len(X), None, 0.2)
    linear = (X**2).sum(axis=1) + residual2
    kernel, plain = KernelDual(X @ X.T, upper, linear=linear), SVDDDual(X, upper, linear=linear)
    alpha = upper / upper.sum()
    ours, theirs = kernel.certify(alpha), plain.certify(alpha)
    assert ours.center.shape == (0,)
    assert ours.gap == pytest.approx(theirs.gap, rel=1e-12)
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-12)
    assert ours.radius2_interval == pytest.approx(theirs.radius2_interval, rel=1e-12)
    assert kernel.objective(alpha) == pytest.approx(plain.objective(alpha), rel=1e-12)
    assert kernel.gap(alpha) == ours.gap


def test_the_linear_term_is_the_diagonal_unless_given(X):
    K = rbf_kernel(X)
    np.testing.assert_array_equal(KernelDual(K, np.ones(120)).linear, np.ones(120))
    np.testing.assert_array_equal(KernelDual(K, np.ones(120), linear=np.full(120, 3.0)).linear, np.full(120, 3.0))


@pytest.mark.parametrize("kernel", [rbf_kernel, lambda X: X @ X.T, lambda X: np.zeros((len(X), len(X)))])
def test_the_coordinates_have_the_kernels_inner_products(X, kernel):
    dual = KernelDual(kernel(X), np.ones(len(X)))
    np.testing.assert_allclose(dual.Z @ dual.Z.T, dual.K, atol=1e-12)
    assert dual.Z is dual.Z
    rows = np.array([5, 2, 90])
    np.testing.assert_array_equal(dual.take(rows).Z, dual.Z[rows])


def test_coordinates_of_low_rank_are_few(X):
    assert KernelDual(X @ X.T, np.ones(len(X))).Z.shape == (120, 4)


def test_its_repr_computes_no_coordinates(X):
    dual = KernelDual(rbf_kernel(X), np.ones(len(X)))
    assert repr(dual) == "KernelDual(n_samples=120, tol=1e-08)"
    assert "Z" not in vars(dual)


@pytest.mark.parametrize("parameters", [{"nu": 0.1}, {"nu": 0.5}, {"C": 1.0}], ids=str)
@pytest.mark.parametrize("backend", BACKENDS)
def test_every_backend_finds_the_sphere_of_the_coordinates(X, residual2, backend, parameters):
    points = X + 2.0
    plain = solve_svdd(points, **parameters, residual2=residual2)
    sphere = solve(points @ points.T, **parameters, backend=backend(), residual2=residual2)
    assert sphere.objective == pytest.approx(plain.objective, rel=1e-10)
    assert sphere.radius2_interval == pytest.approx(plain.radius2_interval, rel=1e-7)
    assert sphere.extras["center_norm2"] == pytest.approx(plain.center @ plain.center, rel=1e-7)
    np.testing.assert_allclose(sphere.alpha, plain.alpha, atol=1e-8)
    assert sphere.center.shape == (0,)
    assert sphere.is_optimal(1e-8 if backend.exact else 1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_backend_solves_an_rbf_kernel(X, backend):
    sphere = solve(rbf_kernel(X), nu=0.2, backend=backend())
    assert sphere.is_optimal(1e-8 if backend.exact else 1e-6)
    assert sphere.objective == pytest.approx(solve(rbf_kernel(X), nu=0.2).objective, rel=1e-6)


def test_screened_points_keep_the_coordinates_of_the_whole_kernel():
    X = np.random.default_rng(2).normal(size=(1500, 3))
    for backend in (FrankWolfe(), InteriorPoint()):
        sphere = solve(rbf_kernel(X, gamma=0.05), nu=0.2, backend=backend)
        assert sphere.objective == pytest.approx(solve(rbf_kernel(X, gamma=0.05), nu=0.2).objective, rel=1e-9)


def test_the_sphere_of_an_rbf_kernel_is_the_one_class_svm(X):
    model = OneClassSVM(gamma=0.25, nu=0.25, tol=1e-10).fit(X)
    theirs = np.zeros(120)
    theirs[model.support_] = model.dual_coef_[0] / (0.25 * 120)
    np.testing.assert_allclose(solve(rbf_kernel(X, gamma=0.25), nu=0.25).alpha, theirs, atol=1e-6)


def test_the_distance_formula_puts_the_boundary_on_the_sphere(X):
    K = rbf_kernel(X)
    sphere = solve(K, nu=0.3)
    distances = K.diagonal() - 2.0 * K @ sphere.alpha + sphere.extras["center_norm2"]
    np.testing.assert_allclose(distances[sphere.boundary], sphere.radius2, rtol=1e-9)
    assert (distances[sphere.outside] >= sphere.radius2 * (1 - 1e-9)).all()


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    cloud=st.sampled_from(sorted(CLOUDS)),
    N=st.sampled_from([2, 3, 10, 60, 200]),
    D=st.sampled_from([1, 3, 20]),
    width=st.sampled_from([0.01, 0.1, 1.0, 10.0]),
    bound=st.sampled_from([{"nu": 0.02}, {"nu": 0.1}, {"nu": 0.5}, {"nu": 0.9}, {"C": 1.0}]),
    weighted=st.booleans(),
    with_residual=st.booleans(),
)
def test_any_kernel_matrix_is_solved(seed, cloud, N, D, width, bound, weighted, with_residual):
    random = np.random.default_rng(seed)
    X = CLOUDS[cloud](random, N, D)
    weights = random.uniform(0.5, 3.0, size=N) if weighted else None
    if weighted and N > 3:
        weights[::5] = 0.0
    residual2 = random.exponential(size=N) if with_residual else None
    sphere = solve(rbf_kernel(X, gamma=width / D), **bound, sample_weight=weights, residual2=residual2)
    assert sphere.is_optimal()
    assert sphere.alpha.sum() == pytest.approx(1.0, abs=1e-12)
    assert (sphere.alpha >= 0).all()
    assert (sphere.alpha <= sphere.upper).all()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), nu=st.sampled_from([0.05, 0.3, 0.8]), scale=st.sampled_from([1e-6, 0.3, 1e5]))
def test_scaling_and_the_order_of_the_points_move_the_kernels_sphere_along(seed, nu, scale):
    random = np.random.default_rng(seed)
    K = rbf_kernel(random.normal(size=(60, 3)))
    order = random.permutation(60)
    one, other = solve(K, nu=nu), solve(np.ascontiguousarray(scale * K[np.ix_(order, order)]), nu=nu)
    assert other.objective == pytest.approx(scale * one.objective, rel=1e-9)
    assert other.radius2_interval == pytest.approx([scale * end for end in one.radius2_interval], rel=1e-6)
    np.testing.assert_allclose(other.alpha, one.alpha[order], atol=1e-6)


def test_a_constant_added_to_the_kernel_changes_nothing(X):
    # Far from the origin: without centring, the digits would go into the constant.
    one, other = solve(X @ X.T, nu=0.2), solve(X @ X.T + 1e6, nu=0.2)
    assert other.objective == pytest.approx(one.objective, rel=1e-8)
    np.testing.assert_allclose(other.alpha, one.alpha, atol=1e-6)
    assert other.extras["center_norm2"] == pytest.approx(one.extras["center_norm2"] + 1e6)


def test_equal_points_are_a_sphere_of_radius_zero():
    sphere = solve(np.ones((10, 10)), nu=0.3)
    assert sphere.radius2 == 0.0
    assert sphere.status == "all points are equal: every feasible α is optimal"


def test_equal_points_are_told_apart_by_their_residuals():
    sphere = solve(np.ones((10, 10)), C=0.5, residual2=np.arange(10.0))
    assert sphere.outside.tolist() == [8, 9]
    assert sphere.objective == pytest.approx(8.5)


def test_the_matrix_is_not_changed(X):
    for K in (rbf_kernel(X), X @ X.T, X @ X.T + 1e6):
        kept = K.copy()
        solve(K, nu=0.2)
        np.testing.assert_array_equal(K, kept)


def test_auto_takes_libsvm_and_says_so(X):
    assert solve(rbf_kernel(X), nu=0.2).extras["chosen"] == "libsvm"


def test_auto_takes_frank_wolfe_where_libsvm_fails(X, monkeypatch):
    monkeypatch.setattr(LibSVM, "solve", lambda self, dual, start=None: QPSolution(dual.upper / dual.upper.sum()))
    sphere = solve(rbf_kernel(X), nu=0.2)
    assert sphere.extras["chosen"] == "frank_wolfe"
    assert sphere.is_optimal()


def test_libsvm_takes_a_matrix_of_any_size(monkeypatch, X):
    monkeypatch.setattr("pyod_gessvdd.qp.libsvm.MAX_SAMPLES", 50)
    assert solve(rbf_kernel(X), nu=0.2, backend=LibSVM()).is_optimal()
