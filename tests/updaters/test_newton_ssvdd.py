"""The step of Newton method-based S-SVDD against its formula, with explicit Hessians and pseudo-inverses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pyod_gessvdd import GESSVDD, SSVDD
from pyod_gessvdd.checks import check_updater
from pyod_gessvdd.components.contracts import UpdateState
from pyod_gessvdd.updaters.newton_ssvdd import NewtonSSVDD
from tests.oracle import updates as oracle

RANDOM = np.random.default_rng(0)
FEATURES, D, N = 8, 2, 30
PHI = RANDOM.normal(size=(N, FEATURES))
Q = np.linalg.qr(RANDOM.normal(size=(FEATURES, D)))[0].T


def state(n_support, criterion, S_x=None):
    alpha = np.zeros(N)
    alpha[RANDOM.permutation(N)[:n_support]] = 1 / n_support
    S_inv = np.eye(D) if S_x is None else np.linalg.inv(Q @ S_x @ Q.T)
    return UpdateState(Q, PHI, alpha, S_x, S_inv, None, D, criterion, 1, boundary=np.flatnonzero(alpha)[:2])


def projector(rows):
    basis = np.linalg.qr(rows.T)[0]
    return basis @ basis.T


def slow_scatter(found, psi, beta):
    """S_α + β X λ λᵀ Xᵀ."""
    alpha = found.alpha
    on_sphere = np.where(np.isin(np.arange(N), found.boundary), alpha, 0.0)
    lam = [np.zeros(N), np.ones(N), alpha, on_sphere][psi]
    return PHI.T @ (np.diag(alpha) - np.outer(alpha, alpha) + beta * np.outer(lam, lam)) @ PHI


@pytest.mark.parametrize("n_support", [4, 6])
@pytest.mark.parametrize(("criterion", "sign"), [("min", -1), ("max", 1)])
@pytest.mark.parametrize("psi", [0, 1, 2, 3])
def test_the_step_is_that_of_the_formula(n_support, criterion, sign, psi):
    found = state(n_support, criterion)
    S = slow_scatter(found, psi, 0.3)
    expected = oracle.newton_ssvdd(Q, S, sign * 0.2)
    updated = NewtonSSVDD(step_size=0.2, psi=psi, beta=0.3).update(found)
    assert_allclose(projector(updated), projector(expected), atol=1e-8)


def test_gradient_and_hessian_of_the_formula_are_finite_differences():
    S = slow_scatter(state(5, "min"), 2, 0.3)

    def value(Q):
        return np.trace(Q @ S @ Q.T)

    assert_allclose(2 * Q @ S, oracle.finite_differences(value, Q), atol=1e-6)
    for j in range(FEATURES):
        step = np.zeros_like(Q)
        step[0, j] = 1e-4
        slope = (2 * (Q + step) @ S - 2 * (Q - step) @ S)[0] / 2e-4
        assert_allclose(slope, 2 * S[j], atol=1e-8)


def test_where_the_scatter_has_its_full_rank_the_subspace_stays():
    found = state(N, "min")
    assert_allclose(projector(NewtonSSVDD(step_size=0.3).update(found)), projector(Q), atol=1e-10)
    X = RANDOM.normal(size=(80, 4))
    params = {"kernel": "linear", "n_components": 2, "nu": 0.3, "residual": False, "random_state": 0}
    start, after = (
        GESSVDD(laplacian="none", updater="newton_ssvdd", n_iter=n, **params).fit(X).components_ for n in (0, 3)
    )
    assert_allclose(projector(after), projector(start), atol=1e-8)


@pytest.mark.parametrize(("criterion", "smaller"), [("min", True), ("max", False)])
def test_otherwise_the_criterion_moves_as_asked(criterion, smaller):
    found = state(4, criterion)
    updated = np.linalg.qr(NewtonSSVDD(step_size=0.3).update(found).T)[0].T
    before, after = (np.trace(q @ found.S_alpha @ q.T) for q in (Q, updated))
    assert (after < before) == smaller


def test_with_a_metric_the_step_is_made_in_whitened_coordinates():
    S_x = PHI.T @ PHI
    found = state(4, "min", S_x)
    root = np.linalg.inv(np.linalg.cholesky(S_x))  # Wᵀ S_x W = I with W = rootᵀ
    U = np.linalg.qr(np.linalg.solve(root.T, Q.T))[0]
    M = root @ found.S_alpha @ root.T
    moved = oracle.newton_ssvdd(U.T, M, -0.2) @ root
    assert_allclose(projector(NewtonSSVDD(step_size=0.2).update(found)), projector(moved), atol=1e-8)


def test_it_is_a_component_like_others():
    for check in check_updater(NewtonSSVDD):
        check()
    X = RANDOM.normal(size=(60, 5))
    params = {"kernel": "rbf", "gamma": 0.5, "n_components": 2, "n_iter": 2, "nu": 0.2}
    found = GESSVDD.from_variant("0-GR-min", **params).set_params(updater="NSSVDD").fit(X)
    plain = SSVDD(**params, standardize=False, threshold="radius").fit(X)
    assert found.variant is None
    assert not np.allclose(projector(found.components_), projector(plain.components_))
