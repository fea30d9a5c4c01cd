"""The active set that makes a nearly optimal α of a kernel's dual exact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel

from pyod_gessvdd.dual import project_to_feasible, upper_bounds
from pyod_gessvdd.qp import KernelDual
from pyod_gessvdd.qp.active_set import settle
from pyod_gessvdd.qp.frank_wolfe import FrankWolfe

duals = st.builds(
    lambda seed, nu, D: KernelDual(
        rbf_kernel(np.random.default_rng(seed).normal(size=(50, D)), gamma=1 / D), upper_bounds(50, None, nu)
    ),
    st.integers(0, 10_000),
    st.sampled_from([0.05, 0.13, 0.5, 0.9]),
    st.sampled_from([2, 10]),
)


@settings(max_examples=40, deadline=None)
@given(dual=duals, seed=st.integers(0, 99))
def test_it_finds_the_optimum_from_any_feasible_start(dual, seed):
    start = project_to_feasible(np.random.default_rng(seed).random(50) / 50, dual.upper)
    alpha, _ = settle(dual, start)
    assert dual.gap(alpha) <= 1e-10
    # Not the interior point, which stops short of the optimum on a few of these: its own gap says so.
    reference = FrankWolfe(compiled=False).solve(dual)
    assert dual.objective(alpha) == pytest.approx(dual.objective(reference.alpha), rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(dual=duals)
def test_the_optimum_stays_where_it_is(dual):
    best, _ = settle(dual, dual.upper / dual.upper.sum())
    again, n_rounds = settle(dual, best)
    np.testing.assert_allclose(again, best, rtol=0, atol=1e-9)
    assert n_rounds <= 2


@settings(max_examples=25, deadline=None)
@given(dual=duals, seed=st.integers(0, 99))
def test_the_value_rises_with_every_round(dual, seed):
    start = project_to_feasible(np.random.default_rng(seed).random(50) / 50, dual.upper)
    values = [dual.objective(settle(dual, start, rounds)[0]) for rounds in (1, 2, 4, 8, 16)]
    assert (np.diff(values) >= -1e-12).all()


def test_it_starts_from_a_vertex_where_every_point_is_at_a_bound():
    dual = KernelDual(rbf_kernel(np.random.default_rng(0).normal(size=(40, 3))), np.full(40, 0.1))
    alpha = np.zeros(40)
    alpha[:10] = 0.1
    settled, n_rounds = settle(dual, alpha)
    assert n_rounds > 1
    assert dual.gap(settled) <= 1e-10


@pytest.mark.parametrize("rank", [1, 2, 5])
def test_matrices_of_low_rank_are_solved(rank):
    Z = np.random.default_rng(rank).normal(size=(60, rank))
    dual = KernelDual(Z @ Z.T, np.full(60, 1.0))
    alpha, _ = settle(dual, np.full(60, 1 / 60))
    assert dual.gap(alpha) <= 1e-10


def test_a_point_with_a_bound_of_zero_stays_at_zero():
    upper = np.full(40, 0.1)
    upper[::4] = 0.0
    dual = KernelDual(rbf_kernel(np.random.default_rng(0).normal(size=(40, 3))), upper)
    alpha, _ = settle(dual, upper / upper.sum())
    assert (alpha[::4] == 0).all()
    assert dual.gap(alpha) <= 1e-10
