"""The newton updater: its model against finite differences, its step exact in the model, and its fallback.

What it shares with riemannian (monotone, reaches the optimum, parameters) is tested there for both.
"""

import numpy as np
import pytest

from pyod_gessvdd import GESSVDD
from pyod_gessvdd.subspace import orthonormalise, random_directions
from pyod_gessvdd.updaters.newton import Newton, QuadraticModel
from pyod_gessvdd.updaters.whitened import WhitenedProblem
from tests.oracle import updates
from tests.updaters.test_riemannian import REGULAR, D, F, both_directions, criterion, make_state, optimum


def _model(spec="pca", direction="min", near=None):
    """The problem and its model at the state's subspace, or so near the optimum."""
    state = make_state(spec, direction)
    if near is not None:
        noise = np.random.default_rng(0).normal(size=(D, F))
        best = orthonormalise(optimum(state)[1])
        state = make_state(spec, direction, Q=orthonormalise(best + near * noise))
    problem = WhitenedProblem.of(state)
    return state, problem, QuadraticModel.at(problem.M, problem.U)


def _along(problem, model):
    """The criterion (to be minimised) as a function of D, by explicit inverses."""

    def value(D):
        X = model.U + model.U_perp @ D
        return updates.criterion(X.T, np.eye(len(X)), problem.M)

    return value


# The model ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", REGULAR)
@both_directions
def test_the_models_value_and_gradient_are_the_criterions(spec, direction):
    _, problem, model = _model(spec, direction)
    zero, value = np.zeros_like(model.B), _along(problem, model)
    scale = np.linalg.norm(problem.M)
    np.testing.assert_allclose(model.value(zero), value(zero), rtol=1e-10)
    slope = updates.finite_differences(value, zero)
    np.testing.assert_allclose(model.gradient(zero), slope, atol=1e-7 * scale)


@pytest.mark.parametrize("spec", REGULAR)
@both_directions
def test_the_models_hessian_is_the_criterions(spec, direction):
    _, problem, model = _model(spec, direction)
    value, scale, step = _along(problem, model), np.linalg.norm(problem.M), 1e-4
    rng = np.random.default_rng(0)
    for _ in range(5):
        E = step * rng.normal(size=model.B.shape)
        second = value(E) + value(-E) - 2 * value(0 * E)
        np.testing.assert_allclose(2 * np.vdot(E, model.curvature * E), second, atol=1e-5 * scale * step**2)


def test_the_model_is_exactly_the_lagrangian():
    _, problem, model = _model()
    A = model.U.T @ problem.M @ model.U
    rng = np.random.default_rng(0)
    for size in (1e-3, 1.0, 1e3):
        E = size * rng.normal(size=model.B.shape)
        X = model.U + model.U_perp @ E
        lagrangian = np.trace(X.T @ problem.M @ X) - np.trace(A @ (X.T @ X - np.eye(D)))
        np.testing.assert_allclose(model.value(E), lagrangian, rtol=1e-9)


def test_the_gradient_of_the_model_is_its_derivative_everywhere():
    _, _, model = _model()
    E = np.random.default_rng(0).normal(size=model.B.shape)
    np.testing.assert_allclose(updates.finite_differences(model.value, E), model.gradient(E), rtol=1e-6, atol=1e-8)


# The step -----------------------------------------------------------------------------------------------------------


@both_directions
def test_the_step_is_exact_where_the_model_is_convex(direction):
    _, _, model = _model(direction=direction, near=0.01)
    assert (model.curvature > 0).all()
    step = model.step()
    np.testing.assert_allclose(model.gradient(step), 0.0, atol=1e-12 * np.abs(model.B).max())
    rng = np.random.default_rng(0)
    for size in (1e-3, 1.0, 1e3):
        assert model.value(step + size * rng.normal(size=step.shape)) > model.value(step)


@pytest.mark.parametrize("spec", REGULAR)
@both_directions
def test_one_step_near_the_optimum_squares_the_error(spec, direction):
    errors = []
    for near in (1e-2, 1e-3):
        state, _, _ = _model(spec, direction, near=near)
        best, Q = optimum(state)[1], orthonormalise(Newton().update(state))
        before = np.linalg.norm(state.Q - state.Q @ np.linalg.pinv(best) @ best)
        after = np.linalg.norm(Q - Q @ np.linalg.pinv(best) @ best)
        assert after < before
        errors.append((before, after))
    (before, after), (near_before, near_after) = errors
    # A linear method would gain a factor of ten with the ten times nearer start, this one gains a hundred and more.
    assert near_after <= 1.5 * after * (near_before / before) ** 2 + 1e-10


@both_directions
def test_where_the_model_has_no_optimum_the_step_goes_down_the_gradient(direction):
    _, _, model = _model(direction=direction)
    wrong = model.curvature < 0
    assert wrong.any()
    step = model.step()
    np.testing.assert_allclose(step[wrong], -model.B[wrong] / -model.curvature[wrong])
    np.testing.assert_allclose(step[~wrong], -model.B[~wrong] / model.curvature[~wrong])
    assert np.vdot(model.gradient(np.zeros_like(step)), step) < 0


@pytest.mark.parametrize("tie", [0.0, 1e-300, 1e-14])
def test_ties_give_finite_steps(tie):
    U = random_directions(D, F, 0).T
    M = np.diag([1.0, 1.0 + tie, 1.0, 1.0, 2.0, 2.0])
    step = QuadraticModel.at(M, U).step()
    assert np.isfinite(step).all()


@both_directions
def test_equal_eigenvalues_leave_the_subspace_as_it_is(direction):
    # S_α is a multiple of S_x: every subspace is optimal.
    state = make_state("identity", direction)
    state = type(state)(**{**vars(state), "alpha": np.full(len(state.Phi), 1 / len(state.Phi)), "memo": {}})
    np.testing.assert_array_equal(Newton().update(state), state.Q)


def test_an_eigenvector_of_the_wrong_end_is_left_as_soon_as_the_start_is_not_exactly_one():
    state = make_state("none", "max")
    values, vectors = np.linalg.eigh(state.S_alpha)
    worst = orthonormalise(vectors[:, :D].T + 1e-6 * np.random.default_rng(0).normal(size=(D, F)))
    state = make_state("none", "max", Q=worst)
    Q = Newton(max_steps=60).update(state)
    np.testing.assert_allclose(criterion(state, Q), values[-D:].sum(), rtol=1e-8)


# In the detector ----------------------------------------------------------------------------------------------------


def test_more_steps_per_update_go_further():
    state = make_state("knn", "max")
    reached = [criterion(state, Newton(max_steps=steps).update(state)) for steps in (1, 2, 5, 20)]
    assert (np.diff(reached) >= 0).all()
    assert reached[-1] > reached[0]


@pytest.mark.parametrize("laplacian", ["none", "identity", "pca", "within", "knn", "0.7*knn + 0.3*pca"])
@both_directions
def test_it_fits_with_every_graph(laplacian, direction):
    X = np.random.default_rng(0).normal(size=(60, 5))
    detector = GESSVDD(
        kernel="linear", laplacian=laplacian, updater="newton", criterion=direction, n_components=2, random_state=0
    ).fit(X)
    assert np.isfinite(detector.decision_scores_).all()
    assert detector.variant is None
