"""The SVDD dual: every backend on every kind of data, the certificate, and what the host does with bad answers."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import OneClassSVM

from pyod_gessvdd import QPBackend, QPSolution, available
from pyod_gessvdd.dual import SVDDDual, project_to_feasible, upper_bounds
from pyod_gessvdd.errors import ComponentError, NotSolvedError
from pyod_gessvdd.qp import solve_svdd
from pyod_gessvdd.qp.frank_wolfe import FrankWolfe

#: The gap each backend must reach, in one place.
TOLERANCE = {"auto": 1e-8, "frank_wolfe": 1e-8, "interior_point": 1e-8, "libsvm": 1e-8, "osqp": 1e-6}
BACKENDS = [*TOLERANCE, FrankWolfe(compiled=False), FrankWolfe(compiled=True)]

DATA = {
    "gauss": lambda r: r.normal(size=(120, 3)),
    "duplicates": lambda r: np.repeat(r.normal(size=(12, 3)), 10, axis=0),
    "constant": lambda r: np.full((20, 3), 7.0),
    "one dimension": lambda r: r.normal(size=(60, 1)),
    "one point": lambda r: r.normal(size=(1, 3)),
    "fewer points than dimensions": lambda r: r.normal(size=(6, 20)),
    "far offset": lambda r: 100 + 0.01 * r.normal(size=(80, 3)),
    "axis scales": lambda r: r.normal(size=(80, 4)) * np.array([1e-4, 1e-1, 1e1, 1e3]),
    "heavy tails": lambda r: r.standard_t(1.5, size=(100, 3)),
    "integer grid": lambda r: r.integers(0, 3, size=(90, 3)).astype(float),
}
BOUNDS = {
    "C=1/N": lambda N: {"C": 1.0 / N},
    "C=0.1": lambda N: {"C": max(0.1, 1.0 / N)},
    "C=1": lambda N: {"C": 1.0},
    "C=5": lambda N: {"C": 5.0},
    "nu=0.1": lambda N: {"nu": 0.1},
    "nu=0.5": lambda N: {"nu": 0.5},
}


def name_of(backend):
    return (
        backend if isinstance(backend, str) else f"{backend.name}, {'compiled' if backend.compiled else 'not compiled'}"
    )


def tolerance_of(backend):
    return TOLERANCE[backend if isinstance(backend, str) else backend.name]


@pytest.fixture
def random():
    return np.random.default_rng(0)


def test_every_built_in_backend_is_tested():
    built_in = {row["name"] for row in available("qp_backend") if row["distribution"] == "pyod-gessvdd"}
    assert built_in == set(TOLERANCE)


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("backend", BACKENDS, ids=name_of)
def test_every_backend_solves_every_edge(backend, data, bound, random):
    Z = DATA[data](random)
    sphere = solve_svdd(Z, **BOUNDS[bound](len(Z)), backend=backend)
    assert sphere.gap <= tolerance_of(backend)
    assert abs(sphere.alpha.sum() - 1) <= 1e-12
    assert sphere.alpha.min() >= 0
    assert (sphere.alpha <= sphere.upper).all()
    np.testing.assert_allclose(sphere.center, sphere.alpha @ Z, rtol=0, atol=1e-9 * (1 + np.abs(Z).max()))
    # What α says of a point, its distance says too (paper eq. alphaEQ).
    distances = ((Z - sphere.center) ** 2).sum(axis=1)
    slack = np.sqrt(tolerance_of(backend)) * max(distances.max(), 1e-300)
    low, high = sphere.radius2_interval
    assert low <= sphere.radius2 <= high
    assert sphere.radius2 == pytest.approx((low + high) / 2)
    assert (distances[sphere.outside] >= high - slack).all()
    assert (np.delete(distances, sphere.support) <= low + slack).all()
    np.testing.assert_allclose(distances[sphere.boundary], sphere.radius2, rtol=0, atol=slack)


@pytest.mark.parametrize("backend", BACKENDS, ids=name_of)
def test_all_backends_find_the_same_sphere(backend, random):
    Z = random.normal(size=(150, 4))
    reference = solve_svdd(Z, nu=0.2, backend="interior_point")
    sphere = solve_svdd(Z, nu=0.2, backend=backend)
    np.testing.assert_allclose(sphere.center, reference.center, atol=1e-6)
    assert sphere.radius2 == pytest.approx(reference.radius2, rel=1e-6)
    assert sphere.backend == (backend if isinstance(backend, str) else backend.name)


@pytest.mark.parametrize("N", [500, 3000, 25_000])
@pytest.mark.parametrize("bound", [{"C": 0.1}, {"nu": 0.1}, {"nu": 0.5}], ids=str)
def test_frank_wolfe_and_interior_point_check_each_other(N, bound, random):
    Z = random.normal(size=(N, 5))
    first = solve_svdd(Z, **bound, backend="frank_wolfe")
    second = solve_svdd(Z, **bound, backend="interior_point")
    assert first.gap <= 1e-10
    assert second.gap <= 1e-8
    assert first.objective == pytest.approx(second.objective, rel=1e-8)
    np.testing.assert_allclose(first.center, second.center, atol=1e-4)


@pytest.mark.parametrize("bound", [{"C": 0.1}, {"nu": 0.1}, {"nu": 0.5}], ids=str)
def test_screening_does_not_change_the_answer(bound, random):
    Z = random.normal(size=(900, 4))
    below_screening = solve_svdd(Z, **bound, backend=FrankWolfe(compiled=False))
    # The same points, doubled, are above the size from which on points are screened out.
    doubled = np.vstack([Z, Z])
    halved = {key: value / 2 if key == "C" else value for key, value in bound.items()}
    screened = solve_svdd(doubled, **halved, backend="frank_wolfe")
    assert screened.extras["n_shell"] < len(doubled)
    np.testing.assert_allclose(screened.center, below_screening.center, atol=1e-7)
    assert screened.objective == pytest.approx(below_screening.objective, rel=1e-10)


def test_the_sphere_is_the_one_class_svm_of_the_distances(random):
    Z = random.normal(size=(80, 3))
    K = -0.5 * ((Z[:, None] - Z[None]) ** 2).sum(axis=2)
    model = OneClassSVM(kernel="precomputed", nu=0.25, tol=1e-10).fit(K)
    theirs = np.zeros(80)
    theirs[model.support_] = model.dual_coef_[0] / (0.25 * 80)
    np.testing.assert_allclose(solve_svdd(Z, nu=0.25).center, theirs @ Z, atol=1e-4)


def test_the_radius_is_the_middle_of_its_interval_when_no_point_is_on_the_sphere():
    # Two points at the bound and the third inside: every R² between the two distances is optimal.
    sphere = solve_svdd([[-1.0], [1.0], [0.2]], C=0.5)
    assert sphere.boundary.size == 0
    assert sphere.radius2_interval == pytest.approx((0.04, 1.0))
    assert sphere.radius2 == pytest.approx(0.52)


def test_with_every_point_outside_the_radius_is_half_the_smallest_squared_distance():
    sphere = solve_svdd([[-3.0], [-1.0], [1.0], [3.0]], nu=1.0)
    assert sphere.outside.tolist() == [0, 1, 2, 3]
    assert sphere.radius2_interval == pytest.approx((0.0, 1.0))


# Invariants --------------------------------------------------------------------------------------------------------

clouds = st.integers(0, 10_000).map(lambda seed: np.random.default_rng(seed).normal(size=(40, 3)))
exact = st.sampled_from(["interior_point", FrankWolfe(compiled=True), FrankWolfe(compiled=False)])
nus = st.sampled_from([0.05, 0.13, 0.5, 0.9])


@settings(max_examples=25, deadline=None)
@given(Z=clouds, backend=exact, nu=nus, seed=st.integers(0, 99))
def test_the_order_of_the_points_does_not_matter(Z, backend, nu, seed):
    order = np.random.default_rng(seed).permutation(len(Z))
    one, other = (solve_svdd(points, nu=nu, backend=backend) for points in (Z, Z[order]))
    np.testing.assert_allclose(one.center, other.center, atol=1e-6)
    np.testing.assert_allclose(one.radius2_interval, other.radius2_interval, rtol=1e-5)


@settings(max_examples=25, deadline=None)
@given(Z=clouds, backend=exact, nu=nus, scale=st.sampled_from([1e-6, 0.3, 1e5]), shift=st.floats(-50, 50))
def test_translation_and_scaling_move_the_sphere_along(Z, backend, nu, scale, shift):
    one, other = (solve_svdd(points, nu=nu, backend=backend) for points in (Z, scale * (Z + shift)))
    np.testing.assert_allclose(scale * (one.center + shift), other.center, atol=1e-5 * scale)
    assert other.objective == pytest.approx(scale**2 * one.objective, rel=1e-7)


@settings(max_examples=25, deadline=None)
@given(Z=clouds, nu=nus, seed=st.integers(0, 99), backend=st.sampled_from(["frank_wolfe", "osqp"]))
def test_a_warm_start_finds_the_same_sphere(Z, nu, seed, backend):
    near = solve_svdd(Z + 0.1 * np.random.default_rng(seed).normal(size=Z.shape), nu=nu)
    cold, warm = (solve_svdd(Z, nu=nu, backend=backend, warm_start=start) for start in (None, near.alpha))
    np.testing.assert_allclose(cold.center, warm.center, atol=1e-4 if backend == "osqp" else 1e-6)


@settings(max_examples=25, deadline=None)
@given(Z=clouds, nu=nus, backend=exact)
def test_a_doubled_weight_is_a_doubled_row(Z, nu, backend):
    weights = np.ones(len(Z))
    weights[:7] = 2.0
    weighted = solve_svdd(Z, nu=nu, sample_weight=weights, backend=backend)
    repeated = solve_svdd(np.vstack([Z, Z[:7]]), nu=nu, backend=backend)
    np.testing.assert_allclose(weighted.center, repeated.center, atol=1e-6)
    assert weighted.radius2 == pytest.approx(repeated.radius2, rel=1e-5)


@settings(max_examples=25, deadline=None)
@given(Z=clouds, nu=nus, seed=st.integers(0, 99))
def test_the_gap_bounds_the_distance_to_the_optimum(Z, nu, seed):
    """‖c − c*‖² ≤ P(c) − D(α) for any feasible α: what screening rests on."""
    dual = SVDDDual(Z, upper_bounds(len(Z), None, nu))
    alpha = project_to_feasible(np.random.default_rng(seed).random(len(Z)) / len(Z), dual.upper)
    best = solve_svdd(Z, nu=nu)
    distances = dual.squared_distances(alpha @ Z)
    indices, vertex = dual.best_vertex(distances)
    absolute_gap = vertex @ distances[indices] - alpha @ distances
    assert absolute_gap >= 0
    assert ((alpha @ Z - best.center) ** 2).sum() <= absolute_gap + 1e-12
    assert dual.objective(alpha) <= best.objective + 1e-12


@pytest.mark.parametrize("backend", BACKENDS, ids=name_of)
def test_a_row_of_weight_zero_has_no_say(backend, random):
    Z = random.normal(size=(50, 3))
    Z[0] = 100.0
    weights = np.ones(50)
    weights[0] = 0.0
    weighted = solve_svdd(Z, nu=0.2, sample_weight=weights, backend=backend)
    without = solve_svdd(Z[1:], nu=0.2)
    assert weighted.alpha[0] == 0
    np.testing.assert_allclose(weighted.center, without.center, atol=1e-5)


# What the host refuses ---------------------------------------------------------------------------------------------


class Returns(QPBackend):
    """A backend that returns whatever it was given."""

    def __init__(self, answer=None):
        self.answer = answer

    def solve(self, dual, warm_start=None):
        return self.answer(dual) if callable(self.answer) else self.answer


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.ones(3), r"'returns' returned alpha of shape \(3,\); expected \(40,\)"),
        (np.full(40, np.nan), "'returns' returned NaN or infinite values"),
    ],
)
def test_a_malformed_answer_is_an_error_that_names_the_backend(answer, message, random):
    with pytest.raises(ComponentError, match=message):
        solve_svdd(random.normal(size=(40, 2)), nu=0.2, backend=Returns(answer))


def test_an_answer_far_from_the_optimum_is_refused_with_its_gap(random):
    def one_point(dual):
        return np.eye(dual.n_samples)[0]

    with pytest.raises(NotSolvedError, match=r"'returns' did not solve .* gap \d\.\de[+-]\d\d .*try qp_backend='auto'"):
        solve_svdd(random.normal(size=(40, 2)), C=1.0, backend=Returns(one_point))


def test_an_answer_above_the_tolerance_is_used_with_a_warning_that_names_the_gap(random):
    Z = random.normal(size=(40, 2))
    best = solve_svdd(Z, nu=0.5).alpha

    def nearly(dual):
        return QPSolution(0.9999 * best + 0.0001 / len(best))

    with pytest.warns(ConvergenceWarning, match=r"'returns' stopped at a relative duality gap of \d\.\de-\d\d"):
        solve_svdd(Z, nu=0.5, backend=Returns(nearly))


def test_a_backend_may_return_a_bare_alpha_and_the_host_completes_it(random):
    Z = random.normal(size=(40, 2))
    best = solve_svdd(Z, nu=0.5)
    completed = solve_svdd(Z, nu=0.5, backend=Returns(best.alpha))
    assert completed.radius2 == best.radius2
    assert completed.backend == "returns"


def test_an_infeasible_answer_is_made_feasible_and_its_violation_kept(random):
    Z = random.normal(size=(40, 2))
    best = solve_svdd(Z, nu=0.5).alpha
    completed = solve_svdd(Z, nu=0.5, backend=Returns(best * (1 + 1e-10)))
    assert abs(completed.alpha.sum() - 1) <= 1e-12
    assert completed.extras["constraint_violation"] > 1e-11


def test_libsvm_refuses_more_points_than_its_matrix_allows():
    with pytest.raises(ValueError, match="limited to 5000 points, got 5001; use 'auto'"):
        solve_svdd(np.arange(5001.0)[:, None], nu=0.5, backend="libsvm")


def test_auto_says_what_it_took(random):
    assert solve_svdd(random.normal(size=(40, 2)), nu=0.5).extras["chosen"] == "frank_wolfe"


@pytest.mark.parametrize(
    ("Z", "parameters", "message"),
    [
        ([[1.0], [2.0]], {"C": 0.1}, r"C must be at least 1/N = 0\.5 for 2 samples .*got 0\.1"),
        ([[1.0], [2.0]], {"C": 1.0, "nu": 0.5}, r"give C or nu, not both, got C=1\.0 and nu=0\.5"),
        ([[1.0], [2.0]], {"nu": 0.0}, r"nu must be in \(0, 1\], got 0\.0"),
        ([[1.0], [2.0]], {"nu": 1.5}, r"nu must be in \(0, 1\], got 1\.5"),
        ([[1.0], [np.nan]], {"nu": 0.5}, "Z holds NaN or infinite values"),
        ([1.0, 2.0], {"nu": 0.5}, r"Z must be a non-empty matrix of points, got shape \(2,\)"),
        (np.zeros((0, 2)), {"nu": 0.5}, r"Z must be a non-empty matrix of points, got shape \(0, 2\)"),
        ([[1.0], [2.0]], {"sample_weight": [1.0, -1.0]}, "sample_weight must not be negative, got -1"),
        ([[1.0], [2.0]], {"sample_weight": [0.0, 0.0]}, "sample_weight must not be all zero"),
        ([[1.0], [2.0]], {"sample_weight": [1.0]}, r"one number per sample, shape \(2,\), got shape \(1,\)"),
        ([[1.0], [2.0]], {"sample_weight": [1.0, np.inf]}, "sample_weight must be finite"),
        ([[1.0], [2.0]], {"backend": "gurobi"}, "unknown qp_backend 'gurobi'"),
    ],
)
def test_bad_input_gets_a_sentence(Z, parameters, message):
    with pytest.raises(ValueError, match=message):
        solve_svdd(Z, **parameters)


def test_osqp_backend_survives_pickling_after_a_solve(random):
    import pickle

    from pyod_gessvdd.qp.osqp import OSQP

    backend = OSQP()
    solve_svdd(random.normal(size=(40, 2)), nu=0.5, backend=backend)
    again = pickle.loads(pickle.dumps(backend))
    assert again.get_params() == backend.get_params()


def test_the_pass_limit_of_frank_wolfe_is_reported(random):
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter=4 passes"):
        solve_svdd(random.normal(size=(3000, 3)), nu=0.5, backend=FrankWolfe(max_iter=4, compiled=False))


def _not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyod_gessvdd.qp.compiled", None)  # what a missing numba does to the import


def _too_old(monkeypatch):
    from pyod_gessvdd.qp import compiled

    def fail(*_):
        raise AttributeError("module 'numpy' has no attribute 'trapz'")

    monkeypatch.setattr(compiled, "_descend_from", fail)


@pytest.mark.parametrize("numba", [_not_installed, _too_old])
def test_without_a_numba_that_works_numpy_gives_the_same_sphere(random, monkeypatch, caplog, numba):
    from pyod_gessvdd.qp import frank_wolfe

    Z = random.normal(size=(80, 3))
    compiled = solve_svdd(Z, nu=0.3, backend=FrankWolfe(compiled=True))
    numba(monkeypatch)
    frank_wolfe._compiled_descend.cache_clear()
    try:
        with caplog.at_level("INFO", logger="pyod_gessvdd.qp.frank_wolfe"):
            without = solve_svdd(Z, nu=0.3, backend=FrankWolfe(compiled=True))
        assert frank_wolfe._compiled_descend() is None
    finally:
        monkeypatch.undo()
        frank_wolfe._compiled_descend.cache_clear()
        frank_wolfe._compiled_descend()  # for the tests that follow
    assert "small problems are solved without numba" in caplog.text
    np.testing.assert_allclose(without.center, compiled.center, atol=1e-9)
    np.testing.assert_allclose(without.alpha, compiled.alpha, atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    d=st.sampled_from([1, 2, 5, 30]),
    N=st.sampled_from([3, 40, 200]),
    nu=nus,
    warm=st.booleans(),
)
def test_the_compiled_descent_and_the_numpy_one_agree_to_rounding(seed, d, N, nu, warm):
    random = np.random.default_rng(seed)
    Z, residual2 = random.normal(size=(N, d)), random.exponential(size=N)
    start = np.full(N, 1 / N) if warm else None
    one, other = (
        solve_svdd(Z, nu=nu, residual2=residual2, warm_start=start, backend=FrankWolfe(compiled=compiled))
        for compiled in (True, False)
    )
    assert one.objective == pytest.approx(other.objective, rel=1e-13)
    np.testing.assert_allclose(one.center, other.center, rtol=0, atol=1e-9)
    np.testing.assert_allclose(one.alpha, other.alpha, rtol=0, atol=1e-9)


@pytest.mark.parametrize("compiled", [True, False])
def test_a_warm_start_at_the_optimum_is_returned_as_it_is(random, compiled):
    Z = random.normal(size=(80, 3))
    best = solve_svdd(Z, nu=0.3, backend=FrankWolfe(compiled=compiled))
    again = solve_svdd(Z, nu=0.3, backend=FrankWolfe(compiled=compiled), warm_start=best.alpha)
    np.testing.assert_array_equal(again.alpha, best.alpha)
    assert again.n_iter == 1


FRESH_PROCESS = """
import sys
import numpy as np
from pyod_gessvdd.qp import frank_wolfe, solve_svdd

Z = np.random.default_rng(0).normal(size=(30, 2))
frank_wolfe.EARNED_AFTER = 5
loaded = []
for _ in range(6):
    alpha = solve_svdd(Z, nu=0.2).alpha
    loaded.append("pyod_gessvdd.qp.compiled" in sys.modules)
print(loaded)
"""


def test_nothing_is_compiled_before_enough_small_problems_were_solved():
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", FRESH_PROCESS], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([False] * 5 + [True])


def test_compiled_must_be_one_of_three_values(random):
    with pytest.raises(ValueError, match="compiled must be 'auto', True or False, got 'yes'"):
        solve_svdd(random.normal(size=(10, 2)), nu=0.5, backend=FrankWolfe(compiled="yes"))
