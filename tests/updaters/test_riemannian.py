"""The riemannian updater: it never worsens the criterion, and reaches its optimum for a fixed α."""

import dataclasses

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings

from pyod_gessvdd import GESSVDD, UpdateState, available
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.subspace import orthonormalise, random_directions, subspace_distance, whiten
from pyod_gessvdd.updaters.line_search import Armijo
from pyod_gessvdd.updaters.newton import Newton
from pyod_gessvdd.updaters.riemannian import Riemannian
from pyod_gessvdd.updaters.spectral import Spectral
from pyod_gessvdd.updaters.whitened import WhitenedProblem
from tests.oracle import graphs, updates

N, F, D = 60, 6, 3
REGULAR = ["none", "identity", "pca", "within", "knn", "0.7*knn + 0.3*pca"]
SINGULAR = ["between", "between(n_clusters=4)"]

every_regular_graph = pytest.mark.parametrize("spec", REGULAR)
both_directions = pytest.mark.parametrize("direction", ["min", "max"])
both_updaters = pytest.mark.parametrize("updater", [Riemannian(), Newton(max_steps=60)], ids=["riemannian", "newton"])


def make_state(spec, direction, seed=0, d=D, n_support=25, Q=None):
    """A state with random features, α and subspace, as the host makes it, without a ridge."""
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(N, F)) @ rng.normal(size=(F, F))
    Phi -= Phi.mean(axis=0)
    alpha = np.zeros(N)
    alpha[rng.choice(N, n_support, replace=False)] = rng.dirichlet(np.ones(n_support))
    graph = None if spec == "none" else resolve("laplacian", spec).build(Phi, 0)
    S_x = None if graph is None else graph.scatter(Phi)
    Q = random_directions(d, F, seed) if Q is None else Q
    return UpdateState(
        Q=Q,
        Phi=Phi,
        alpha=alpha,
        S_x=S_x,
        S_inv=whiten(Q, S_x, ridge=1e-6).inverse,
        graph=graph,
        n_components=d,
        criterion=direction,
        iteration=1,
    )


def criterion(state, Q):
    """The criterion for the state's α, by explicit inverses, of the subspace that the host makes of an answer."""
    S_alpha = graphs.alpha_scatter(state.Phi.T, state.alpha)
    return updates.criterion(orthonormalise(Q), state.S_x, S_alpha)


def optimum(state):
    """The best criterion over all subspaces, and one that reaches it: generalised eigenvalues, zeros included."""
    S_x = np.eye(F) if state.S_x is None else state.S_x
    values, vectors = scipy.linalg.eigh(state.S_alpha, S_x)
    d = len(state.Q)
    chosen = slice(None, d) if state.criterion == "min" else slice(-d, None)
    return values[chosen].sum(), vectors[:, chosen].T


# It never worsens the criterion -------------------------------------------------------------------------------------


@pytest.mark.parametrize("updater", ["riemannian", "newton"])
@given(
    spec=st.sampled_from([*REGULAR, *SINGULAR]),
    direction=st.sampled_from(["min", "max"]),
    seed=st.integers(0, 10_000),
    d=st.integers(1, 3),
    max_steps=st.sampled_from([1, 2, 7, 100]),
)
@settings(max_examples=40, deadline=None)
def test_an_update_never_worsens_the_criterion(updater, spec, direction, seed, d, max_steps):
    state = make_state(spec, direction, seed, d)
    before = criterion(state, state.Q)
    Q = resolve("updater", f"{updater}(max_steps={max_steps})").update(state)
    assert np.isfinite(Q).all()
    gain = state.sign * (criterion(state, Q) - before)
    assert gain >= -1e-9 * abs(before)
    if d < len(WhitenedProblem.of(state).M):  # otherwise there is only one subspace that the graph sees
        assert gain > 0


@both_updaters
@both_directions
@every_regular_graph
def test_the_optimum_is_left_as_it_is(updater, spec, direction):
    state = make_state(spec, direction)
    Q = orthonormalise(optimum(state)[1])
    state = make_state(spec, direction, Q=Q)
    assert updater.update(state) is Q


@both_updaters
def test_a_whole_space_is_left_as_it_is(updater):
    state = make_state("pca", "max", d=F)
    assert updater.update(state) is state.Q


# It reaches the optimum ---------------------------------------------------------------------------------------------


@both_updaters
@both_directions
@every_regular_graph
@pytest.mark.parametrize("seed", range(3))
def test_it_reaches_the_optimum_that_spectral_jumps_to(updater, spec, direction, seed):
    state = make_state(spec, direction, seed)
    Q = updater.update(state)
    np.testing.assert_allclose(criterion(state, Q), criterion(state, Spectral().update(state)), rtol=1e-8)
    np.testing.assert_allclose(criterion(state, Q), optimum(state)[0], rtol=1e-8)
    assert subspace_distance(orthonormalise(Q), orthonormalise(Spectral().update(state))) < 1e-3


@both_updaters
@every_regular_graph
def test_with_few_support_vectors_the_minimum_is_zero_and_not_the_one_of_spectral(updater, spec):
    state = make_state(spec, "min", n_support=F - D + 1)  # S_α has rank F − D: a D-dimensional null space
    before = criterion(state, state.Q)
    np.testing.assert_allclose(optimum(state)[0], 0.0, atol=1e-12 * before)
    np.testing.assert_allclose(criterion(state, updater.update(state)), 0.0, atol=1e-8 * before)
    assert criterion(state, Spectral().update(state)) > 1e-4 * before


@both_updaters
@both_directions
@pytest.mark.parametrize("spec", SINGULAR)
def test_from_the_range_of_a_singular_scatter_it_reaches_the_optimum_of_spectral(updater, spec, direction):
    state = make_state(spec, direction)
    values, vectors = np.linalg.eigh(state.S_x)
    inside = vectors[:, values > 1e-9 * values[-1]].T
    state = make_state(
        spec, direction, Q=orthonormalise(np.random.default_rng(0).normal(size=(2, len(inside))) @ inside)
    )
    state = dataclasses.replace(state, n_components=2)
    Q = updater.update(state)
    np.testing.assert_allclose(criterion(state, Q), criterion(state, Spectral().update(state)), rtol=1e-8)


@both_updaters
@both_directions
def test_directions_that_the_graph_does_not_see_stay(updater, direction):
    state = make_state("between(n_clusters=3)", direction, d=4)  # rank 2
    problem = WhitenedProblem.of(state)
    assert problem.U.shape[1] == 2
    assert problem.unseen.shape == (2, F)
    np.testing.assert_allclose(problem.unseen @ state.S_x @ problem.unseen.T, 0.0, atol=1e-9 * np.trace(state.S_x))
    Q = orthonormalise(updater.update(state))
    assert Q.shape == (4, F)
    np.testing.assert_allclose(problem.unseen @ Q.T @ Q, problem.unseen, atol=1e-9)


# The whitened problem -----------------------------------------------------------------------------------------------


@both_directions
@pytest.mark.parametrize("spec", [*REGULAR, *SINGULAR])
def test_the_whitened_criterion_is_the_criterion(spec, direction):
    state = make_state(spec, direction)
    problem = WhitenedProblem.of(state)
    k = problem.U.shape[1]
    np.testing.assert_allclose(problem.U.T @ problem.U, np.eye(k), atol=1e-12)
    assert subspace_distance(orthonormalise(problem.projection(problem.U)), state.Q) < 1e-9
    for seed in range(3):
        U = random_directions(k, len(problem.M), seed).T
        np.testing.assert_allclose(-state.sign * problem.value(U), criterion(state, problem.projection(U)), rtol=1e-8)


# The line search ----------------------------------------------------------------------------------------------------


def test_armijo_takes_the_first_step_if_it_is_good():
    assert Armijo().search(lambda x: x**2, lambda t: 1 - t, 1.0, -2.0, 1.0) == (0.0, 0.0)


def test_armijo_shortens_a_step_that_goes_too_far():
    assert Armijo().search(lambda x: x**2, lambda t: 1 - t, 1.0, -2.0, 8.0) == (0.0, 0.0)
    assert Armijo(shrink=0.25).search(lambda x: x**2, lambda t: 1 - t, 1.0, -2.0, 8.0) == (0.5, 0.25)


def test_armijo_refuses_a_step_that_gains_less_than_the_slope_promised():
    def value(x):
        return 1 - 1e-6 * x

    assert Armijo().search(value, lambda t: t, 1.0, -1.0, 1.0) is None
    assert Armijo(share=1e-7).search(value, lambda t: t, 1.0, -1.0, 1.0) is not None


@pytest.mark.parametrize("slope", [0.0, 1.0, np.nan])
def test_armijo_goes_nowhere_without_a_way_down(slope):
    assert Armijo().search(lambda x: -x, lambda t: t, 0.0, slope, 1.0) is None


def test_armijo_never_takes_a_step_to_a_value_that_is_no_number():
    assert Armijo().search(lambda x: np.nan, lambda t: t, 0.0, -1.0, 1.0) is None


# In the detector ----------------------------------------------------------------------------------------------------


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(80, 5)) @ rng.normal(size=(5, 5))


@pytest.mark.parametrize("updater", ["riemannian", "newton"])
@both_directions
@pytest.mark.parametrize("laplacian", ["none", "pca", "within", "knn"])
def test_the_step_size_does_not_matter(updater, direction, laplacian, X):
    params = {"kernel": "linear", "laplacian": laplacian, "n_components": 2, "criterion": direction, "random_state": 0}
    first, second = (GESSVDD(updater=updater, step_size=size, **params).fit(X) for size in (1e-3, 10.0))
    np.testing.assert_array_equal(first.decision_scores_, second.decision_scores_)
    assert first.variant is None


def test_maximisation_never_lowers_the_criterion_of_the_whole_alternation(X):
    # α maximises too: both halves of an iteration go up. For min they pull in opposite directions.
    detector = GESSVDD(
        kernel="linear",
        laplacian="pca",
        updater="riemannian",
        criterion="max",
        n_components=2,
        n_iter=8,
        residual=False,
        ridge=1e-6,
    ).fit(X)
    criteria = [record["criterion"] for record in detector.history_]
    assert (np.diff(criteria) >= -1e-7 * np.abs(criteria[:-1])).all()


def test_the_updaters_are_listed_with_their_parameters():
    rows = {row["name"]: row["parameters"] for row in available("updater")}
    assert rows["riemannian"] == {"max_steps": 500, "tol": 1e-6}
    assert rows["newton"] == {"max_steps": 1, "tol": 1e-10}


@pytest.mark.parametrize("updater", ["riemannian", "newton"])
@pytest.mark.parametrize("max_steps", [0, -1, 2.5, "3", None, True])
def test_a_wrong_number_of_steps_is_refused(updater, max_steps, X):
    detector = GESSVDD(kernel="linear", n_components=2, updater=updater).set_params(updater__max_steps=max_steps)
    message = f"max_steps of updater '{updater}' must be a positive integer, got {max_steps!r}"
    with pytest.raises(ValueError, match=message):
        detector.fit(X)


@pytest.mark.parametrize("updater", ["riemannian", "newton"])
@pytest.mark.parametrize("tol", [-1, "a", float("nan"), float("inf"), True])
def test_a_wrong_tolerance_is_refused(updater, tol, X):
    detector = GESSVDD(kernel="linear", n_components=2, updater=updater).set_params(updater__tol=tol)
    with pytest.raises(ValueError, match=f"tol of updater '{updater}' must be a number of at least 0, got {tol!r}"):
        detector.fit(X)


@pytest.mark.parametrize("updater", ["riemannian", "newton"])
@both_directions
def test_it_works_with_a_kernel(updater, direction, X):
    detector = GESSVDD(updater=updater, criterion=direction, n_components=4, random_state=0).fit(X)
    assert np.isfinite(detector.decision_scores_).all()
