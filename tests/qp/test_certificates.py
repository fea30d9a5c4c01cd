"""Problems on which a certificate was once wrong, a backend gave up, or a solve took minutes."""

from __future__ import annotations

import numpy as np
import pytest

from pyod_gessvdd import SVDD
from pyod_gessvdd.dual import check_weights
from pyod_gessvdd.qp import solve_kernel_svdd, solve_svdd
from pyod_gessvdd.qp.auto import Auto

BACKENDS = ["auto", "frank_wolfe", "interior_point", "libsvm", "osqp"]


def gap_in_long_doubles(Z, solution):
    """(P − D)/P from α alone, in 64 bits of mantissa and without any code of the package."""
    Z, alpha, upper = (np.asarray(values, dtype=np.longdouble) for values in (Z, solution.alpha, solution.upper))
    squares = ((Z - alpha @ Z / alpha.sum()) ** 2).sum(axis=1)
    order = np.argsort(-squares)
    filled = np.minimum(np.cumsum(upper[order]), 1)
    primal = np.diff(filled, prepend=0) @ squares[order]
    return float((primal - alpha @ squares) / primal)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("weight", [0.0, 1e-300], ids=["no weight", "hardly any weight"])
def test_a_far_row_without_weight_decides_neither_centre_nor_scale(backend, weight):
    sphere = solve_svdd([[0.0], [1.0], [2.0], [1e9]], C=1.0, sample_weight=[1, 1, 1, weight], backend=backend)
    assert sphere.radius2 == pytest.approx(1.0)
    assert sphere.center == pytest.approx([1.0])
    assert sphere.alpha.shape == sphere.upper.shape == (4,)
    assert sphere.alpha[3] <= weight


def test_a_far_row_without_weight_does_not_decide_a_kernels_scale():
    Z = np.array([[0.0], [1.0], [2.0], [1e9]])
    sphere = solve_kernel_svdd(Z @ Z.T, np.array([1.0, 1.0, 1.0, 0.0]), Auto(), 1e-8, None)
    assert sphere.radius2 == pytest.approx(1.0)
    assert sphere.alpha == pytest.approx([0.5, 0.0, 0.5, 0.0])


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_large_constant_column_does_not_hide_a_small_one(backend):
    z = np.random.default_rng(0).normal(size=50) * 1e-8
    alone = solve_svdd(z[:, None], C=1.0, backend=backend)
    beside = solve_svdd(np.column_stack([np.full(50, 1e8), z]), C=1.0, backend=backend)
    assert np.sqrt(beside.radius2) == pytest.approx(np.ptp(z) / 2)
    assert np.sqrt(alone.radius2) == pytest.approx(np.ptp(z) / 2)


def test_points_that_differ_by_the_rounding_of_their_offset_are_equal():
    column = np.full(50, 1e8)
    column[::2] = np.nextafter(1e8, 2e8)
    assert solve_svdd(np.column_stack([column, column]), C=1.0).status.startswith("all points are equal")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("unit", [1e-150, 1e-20, 1e20, 1e149])
def test_the_unit_of_the_points_does_not_matter(backend, unit):
    z = np.random.default_rng(0).normal(size=(50, 1))
    sphere = solve_svdd(z * unit, C=1.0, backend=backend)
    assert np.sqrt(sphere.radius2) / unit == pytest.approx(np.ptp(z) / 2)
    assert sphere.center / unit == pytest.approx((z.max() + z.min()) / 2)


@pytest.mark.parametrize("unit", [5e-324, 1e-300, 1e-170, 1e-160, 1e154, 1e200, 1e307])
def test_squares_outside_the_range_of_floating_point_are_refused(unit):
    with pytest.raises(ValueError, match="squared distances outside the range of floating point; multiply them by a"):
        solve_svdd(np.array([[0.0], [1.0], [3.0]]) * unit, C=1.0)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("weight", [5e-324, 1e-310, 1e-200, 1e90])
def test_nu_is_a_share_whatever_the_unit_of_the_weights(backend, weight):
    z = np.random.default_rng(0).normal(size=(50, 1))
    weighted = solve_svdd(z, nu=0.5, sample_weight=np.full(50, weight), backend=backend)
    assert weighted.radius2 == pytest.approx(solve_svdd(z, nu=0.5, backend=backend).radius2)


def test_weights_whose_sum_would_overflow_are_refused():
    with pytest.raises(ValueError, match=r"sample_weight must sum to at most 1e\+100, got weights up to 1e\+308"):
        check_weights(np.full(10, 1e308), 10)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize(
    "weights",
    [np.r_[np.zeros(10), np.ones(50)], np.r_[np.ones(59), 0.0], np.full(60, 5e-324)],
    ids=["ten of zero", "one of zero", "denormal"],
)
def test_svdd_fits_with_weights_of_zero_and_of_hardly_anything(kernel, weights):
    X = np.random.default_rng(0).normal(size=(60, 3))
    used = weights > 0
    weighted, plain = SVDD(kernel=kernel).fit(X, sample_weight=weights), SVDD(kernel=kernel).fit(X[used])
    assert weighted.decision_function(X) == pytest.approx(plain.decision_function(X))


def heavy_or_collinear(seed):
    """A problem of heavy tails, or on a line, or both; small, because most of the trouble is there."""
    random = np.random.default_rng(seed)
    N, d = int(random.choice([2, 3, 4, 5, 8, 13, 30, 60])), int(random.choice([1, 2, 3, 5, 10]))
    shape = float(random.choice([0.2, 0.5, 1.0, 2.0]))
    kinds = (
        lambda: random.pareto(shape, size=(N, d)),
        lambda: random.normal(size=(N, 1)) * random.normal(size=(1, d)),
        lambda: random.pareto(shape, size=(N, 1)) * random.normal(size=(1, d)),
        lambda: random.integers(-2, 3, size=(N, d)).astype(float),
    )
    Z = kinds[random.integers(len(kinds))]()
    weights = random.pareto(1.0, size=N) + 1e-3 if random.random() < 0.3 else None
    return Z, {"nu": float(random.choice([0.01, 0.1, 0.3, 0.5, 0.9, 1.0])), "sample_weight": weights}


@pytest.mark.parametrize("backend", ["auto", "interior_point", "libsvm"])
def test_exact_backends_solve_heavy_tails_and_lines(backend):
    for seed in range(300):
        Z, parameters = heavy_or_collinear(seed)
        sphere = solve_svdd(Z, backend=backend, **parameters)
        assert sphere.is_optimal(), seed
        assert not sphere.status.startswith("stopped"), seed
        if sphere.objective > 0:
            assert gap_in_long_doubles(Z, sphere) <= 1e-8, seed


def test_the_interior_point_does_not_circle_for_ever():
    # Mehrotra's corrector went round in a cycle here, and the answer with a gap of 7e-4 was called solved.
    Z = [[13.66474955, 1.71410211], [24.91555873, 0.50904098], [127.84163705, 3.57071883], [2.02007684, 1.4245621]]
    sphere = solve_svdd(
        Z,
        nu=0.4940044509413639,
        residual2=[1.42721258, 1.0791071, 5.84475381, 1.07616209],
        backend="interior_point",
    )
    assert sphere.is_optimal()
    assert sphere.status == "solved"


def test_an_interior_point_that_is_stopped_says_so():
    Z = np.random.default_rng(0).normal(size=(200, 30))
    with pytest.warns(match=r"above the 1.0e-08 asked for \(status: stopped after 6 Newton steps\)"):
        solve_svdd(Z, nu=0.3, backend="interior_point(max_iter=3)")


def test_libsvm_ends_on_points_that_are_equal_to_rounding():
    # The squared distances between nearly equal points came out negative, and so did the ridge that should repair it.
    t = np.array([5.4e2, 1.07e1, 9.2, 1.2e2, 6.5e1, 1.2e1, 1.5e12, 1.1e6])[:, None]
    Z = t * np.random.default_rng(1).normal(size=(1, 10))
    weights = [6.3, 0.62, 1.7, 6.5, 0.12, 4.8, 2.5, 1.6]
    assert solve_svdd(Z, nu=0.87, sample_weight=weights, backend="libsvm").is_optimal()


def test_osqp_polishes_points_of_a_sphere_without_a_matrix_of_all_pairs():
    # 6,000 points are all strictly between their bounds: their system of 6,000 unknowns took minutes.
    Z = np.random.default_rng(0).normal(size=(6000, 3))
    Z /= np.linalg.norm(Z, axis=1)[:, None]
    sphere = solve_svdd(Z, C=1.0, backend="osqp")
    assert sphere.gap <= 1e-6
    assert np.sqrt(sphere.radius2) == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("weights", [[1.0, 1.0, 1e-300], [1.0, 1e-12, 1e-300], [1e9, 1.0, 1e-3]], ids=str)
@pytest.mark.parametrize("nu", [0.5, 0.9])
def test_bounds_of_very_different_size_are_solved(backend, weights, nu):
    # Found by the fuzzer: LIBSVM refused such weights, the active set after it went round for ever, and the interior
    # point warned of an overflow.
    Z = np.array([[0.0], [0.0], [1.0]])
    sphere = solve_svdd(Z, nu=nu, sample_weight=weights, backend=backend)
    assert sphere.is_optimal()
    if sphere.objective > 0:
        assert gap_in_long_doubles(Z, sphere) <= 1e-8
