"""The three sub-algorithms against the paper's formulas with dense N × N matrices."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from pyod_gessvdd import GESSVDD, Graph, UpdateState, linalg
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.subspace import orthonormalise, random_directions, subspace_distance, whiten
from pyod_gessvdd.updaters import spectral_regression as spectral_regression_module
from pyod_gessvdd.updaters.gradient import Gradient
from pyod_gessvdd.updaters.spectral import Spectral
from pyod_gessvdd.updaters.spectral_regression import SpectralRegression
from tests.oracle import graphs, updates

N, F, D = 60, 6, 3
GRAPHS = ["identity", "pca", "within", "between", "knn", "0.7*knn + 0.3*pca", "within + 0.5*between", "knn + within"]
DIRECTIONS = ["min", "max"]

every_graph = pytest.mark.parametrize("spec", GRAPHS)
every_graph_and_none = pytest.mark.parametrize("spec", ["none", *GRAPHS])
both_directions = pytest.mark.parametrize("direction", DIRECTIONS)


def _features(n=N, seed=0):
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(n, F)) @ rng.normal(size=(F, F))
    return Phi - Phi.mean(axis=0)


def _distinct_alpha(n_support=25, n=N, seed=1):
    """α without ties, so that the eigenvectors of L_x⁺ L_α are determined."""
    rng = np.random.default_rng(seed)
    alpha = np.zeros(n)
    alpha[rng.choice(n, n_support, replace=False)] = rng.dirichlet(np.ones(n_support))
    return alpha


def _tied_alpha(n_bound=16, n=N, seed=1):
    """α as a solved SVDD has it: many points at the bound C, a few on the sphere."""
    rng = np.random.default_rng(seed)
    alpha = np.zeros(n)
    chosen = rng.choice(n, n_bound + 3, replace=False)
    alpha[chosen[:n_bound]] = 1 / (n_bound + 1)
    alpha[chosen[n_bound:]] = np.array([0.2, 0.3, 0.5]) / (n_bound + 1)
    return alpha


def _graph(spec, Phi):
    return None if spec == "none" else resolve("laplacian", spec).build(Phi, 0)


def _state(Phi, alpha, graph, direction="min", d=D):
    """What the host hands to an updater, without a ridge."""
    Q = random_directions(d, Phi.shape[1], 5)
    S_x = None if graph is None else graph.scatter(Phi)
    return UpdateState(
        Q=Q,
        Phi=Phi,
        alpha=alpha,
        S_x=S_x,
        S_inv=whiten(Q, S_x, ridge=0.0).inverse,
        graph=graph,
        n_components=d,
        criterion=direction,
        iteration=1,
    )


def _same_rows(Q, P):
    """How far the row spaces are apart: the largest entry of the difference of the projectors."""
    if len(Q) != len(P):
        return np.inf
    return np.abs(np.linalg.pinv(Q) @ Q - np.linalg.pinv(P) @ P).max()


# S_α --------------------------------------------------------------------------------------------------------------


def test_L_alpha_is_the_laplacian_of_the_graph_with_weights_alpha_alpha():
    alpha = _distinct_alpha()
    np.testing.assert_allclose(
        graphs.alpha_laplacian(alpha), graphs.degree_laplacian(graphs.alpha_adjacency(alpha)), atol=1e-15
    )


def test_S_alpha_is_the_weighted_variance_around_the_center():
    X, alpha = _features().T, _distinct_alpha()
    np.testing.assert_allclose(
        graphs.alpha_scatter(X, alpha), X @ graphs.alpha_laplacian(alpha) @ X.T, rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("shift", [0.0, 7.0])
@pytest.mark.parametrize("block_elements", [linalg.BLOCK_ELEMENTS, 4 * F], ids=["one block", "blocks"])
def test_the_state_has_the_scatter_of_L_alpha_without_forming_it(shift, block_elements, monkeypatch):
    monkeypatch.setattr(linalg, "BLOCK_ELEMENTS", block_elements)
    Phi, alpha = _features() + shift, _distinct_alpha()
    state = _state(Phi, alpha, None)
    expected = Phi.T @ graphs.alpha_laplacian(alpha) @ Phi
    np.testing.assert_allclose(state.S_alpha, expected, rtol=1e-9, atol=1e-11)
    B = np.random.default_rng(0).normal(size=(F, 2))
    np.testing.assert_allclose(state.alpha_scatter_dot(B), expected @ B, rtol=1e-9, atol=1e-11)


def test_S_alpha_far_from_the_origin_keeps_its_digits():
    Phi, alpha = _features(), _distinct_alpha()
    far = _state(Phi + 1e6, alpha, None).S_alpha
    np.testing.assert_allclose(far, graphs.alpha_scatter(Phi.T, alpha), rtol=1e-7, atol=1e-8)


def test_alpha_mean_is_the_image_of_the_center_before_the_projection():
    Phi, alpha = _features(), _distinct_alpha()
    np.testing.assert_allclose(_state(Phi, alpha, None).alpha_mean, alpha @ Phi, atol=1e-14)


# Gradient ---------------------------------------------------------------------------------------------------------


@every_graph_and_none
def test_the_gradient_agrees_with_finite_differences_of_the_criterion(spec):
    Phi, alpha = _features(), _distinct_alpha()
    state = _state(Phi, alpha, _graph(spec, Phi))
    S_alpha = graphs.alpha_scatter(Phi.T, alpha)
    slope = state.Q - Gradient(step_size=1.0).update(state)
    expected = updates.finite_differences(lambda Q: updates.criterion(Q, state.S_x, S_alpha), state.Q)
    np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


@every_graph_and_none
def test_the_gradient_is_that_of_sub_algorithm_1(spec):
    Phi, alpha = _features(), _distinct_alpha()
    state = _state(Phi, alpha, _graph(spec, Phi), "max")
    S_x = None if spec == "none" else Phi.T @ state.graph.toarray() @ Phi
    expected = state.Q + 0.3 * updates.gradient(state.Q, S_x, graphs.alpha_scatter(Phi.T, alpha))
    np.testing.assert_allclose(Gradient(step_size=0.3).update(state), expected, rtol=1e-8, atol=1e-10)


@every_graph_and_none
@both_directions
def test_a_small_step_lowers_the_criterion_for_min_and_raises_it_for_max(spec, direction):
    Phi, alpha = _features(), _distinct_alpha()
    state = _state(Phi, alpha, _graph(spec, Phi), direction)
    S_alpha = graphs.alpha_scatter(Phi.T, alpha)
    slope = np.linalg.norm(updates.gradient(state.Q, state.S_x, S_alpha))
    before = updates.criterion(state.Q, state.S_x, S_alpha)
    moved = orthonormalise(Gradient(step_size=1e-3 / slope).update(state))
    after = updates.criterion(moved, state.S_x, S_alpha)
    assert (after - before) * state.sign > 1e-6 * before


@every_graph
def test_with_a_graph_the_step_leaves_the_basis_of_the_subspace_alone(spec):
    # The criterion does not change under Q → RQ, so its gradient is orthogonal to every such move.
    Phi, alpha = _features(), _distinct_alpha()
    state = _state(Phi, alpha, _graph(spec, Phi))
    slope = state.Q - Gradient(step_size=1.0).update(state)
    np.testing.assert_allclose(slope @ state.Q.T, 0.0, atol=1e-10 * np.abs(slope).max())


def test_the_step_size_of_the_detector_holds_unless_the_updater_has_its_own():
    X = np.random.default_rng(0).normal(size=(60, 4))
    common = {"kernel": "linear", "laplacian": "pca", "n_components": 2}
    by_detector = GESSVDD(step_size=0.7, **common).fit(X).components_
    np.testing.assert_array_equal(GESSVDD(updater="gradient(step_size=0.7)", **common).fit(X).components_, by_detector)
    own = GESSVDD(updater=Gradient(step_size=0.7), step_size=0.001, **common).fit(X).components_
    np.testing.assert_array_equal(own, by_detector)


# Spectral ---------------------------------------------------------------------------------------------------------


def _random_subspaces(basis, d, count=1000):
    """Random d-dimensional subspaces of the span of the columns of ``basis``."""
    rng = np.random.default_rng(7)
    return (rng.normal(size=(d, basis.shape[1])) @ basis.T for _ in range(count))


def _range_of(S):
    values, vectors = np.linalg.eigh(S)
    return vectors[:, values > 1e-9 * values[-1]]


@every_graph_and_none
@both_directions
def test_spectral_beats_a_thousand_random_subspaces(spec, direction):
    Phi, alpha = _features(), _distinct_alpha()
    state = _state(Phi, alpha, _graph(spec, Phi), direction)
    S_alpha = graphs.alpha_scatter(Phi.T, alpha)
    best = updates.criterion(orthonormalise(Spectral().update(state)), state.S_x, S_alpha)
    # Outside its range S_x has no inverse: the between graph is compared in the subspace that it sees.
    basis = np.eye(F) if state.S_x is None else _range_of(state.S_x)
    for Q in _random_subspaces(basis, D):
        value = updates.criterion(orthonormalise(Q), state.S_x, S_alpha)
        assert value > best if direction == "min" else value < best


@pytest.mark.parametrize("spec", ["none", "pca", "knn"])
def test_spectral_min_with_few_support_vectors_beats_the_subspaces_with_positive_eigenvalues(spec):
    # Four support vectors span three directions: the others have υ = 0, which the paper leaves out.
    Phi, alpha = _features(), _distinct_alpha(n_support=4)
    state = _state(Phi, alpha, _graph(spec, Phi), "min", d=2)
    S_alpha = graphs.alpha_scatter(Phi.T, alpha)
    found = orthonormalise(Spectral().update(state))
    best = updates.criterion(found, state.S_x, S_alpha)
    assert best > 1e-6 * np.trace(S_alpha) / np.trace(np.eye(F) if state.S_x is None else state.S_x)
    S_x = np.eye(F) if state.S_x is None else state.S_x
    values, vectors = scipy.linalg.eigh(S_alpha, S_x)
    for Q in _random_subspaces(vectors[:, values > 1e-9 * values[-1]], 2):
        assert updates.criterion(orthonormalise(Q), state.S_x, S_alpha) > best * (1 - 1e-9)


# Not for between: its S_x is singular, and the unsymmetric eigenproblem of the oracle has infinite eigenvalues.
@pytest.mark.parametrize("spec", ["none", *(spec for spec in GRAPHS if spec != "between")])
@both_directions
def test_spectral_spans_the_eigenvectors_of_sub_algorithm_2(spec, direction):
    Phi, alpha = _features(), _distinct_alpha()
    state = _state(Phi, alpha, _graph(spec, Phi), direction)
    S_x = np.eye(F) if state.S_x is None else Phi.T @ state.graph.toarray() @ Phi
    expected = updates.spectral(S_x, graphs.alpha_scatter(Phi.T, alpha), D, direction)
    assert _same_rows(Spectral().update(state), expected) < 1e-8


def test_spectral_returns_fewer_rows_when_fewer_eigenvalues_are_positive():
    Phi, alpha = _features(), _distinct_alpha(n_support=3)
    state = _state(Phi, alpha, _graph("pca", Phi), "min", d=5)
    assert Spectral().update(state).shape == (2, F)


def test_spectral_leaves_out_the_directions_that_the_graph_does_not_see():
    Phi, alpha = _features(), _distinct_alpha()
    graph = _graph("between(n_clusters=3)", Phi)
    Q = Spectral().update(_state(Phi, alpha, graph, "max", d=2))
    P = _range_of(graph.scatter(Phi))
    np.testing.assert_allclose(Q, Q @ P @ P.T, atol=1e-9)
    assert Spectral().update(_state(Phi, alpha, graph, "max", d=4)).shape == (2, F)


def test_two_updaters_may_share_the_memo_of_a_fit():
    # Both keep an inverse root there, of S_x and of the gram matrix.
    Phi, alpha = _features(), _distinct_alpha()
    state = _state(Phi, alpha, _graph("pca", Phi))
    alone = SpectralRegression().update(_state(Phi, alpha, _graph("pca", Phi)))
    Spectral().update(state)
    np.testing.assert_array_equal(SpectralRegression().update(state), alone)


def test_what_a_state_keeps_is_computed_once_for_each_owner():
    state, calls = _state(_features(), _distinct_alpha(), None), []
    for owner in ("one", "other", "one"):
        assert state.once(owner, "root", lambda owner=owner: calls.append(owner) or owner) == owner
    assert calls == ["one", "other"]


# Spectral regression ----------------------------------------------------------------------------------------------


def _dense_regression(Phi, alpha, graph, direction, d=D, eta=None):
    gram = Phi.T @ Phi
    eta = 1e-12 * np.trace(gram) / len(gram) if eta is None else eta
    return updates.spectral_regression(Phi.T, graph.toarray(), alpha, d, direction, eta)


@every_graph
@both_directions
@pytest.mark.parametrize("n_support", [25, 5])
def test_spectral_regression_is_the_dense_solution_where_no_eigenvalue_is_tied(spec, direction, n_support):
    Phi, alpha = _features(), _distinct_alpha(n_support)
    graph = _graph(spec, Phi)
    expected, chosen = _dense_regression(Phi, alpha, graph, direction)
    assert np.abs(np.diff(chosen)).min() > 1e-4 * chosen.max()
    found = SpectralRegression().update(_state(Phi, alpha, graph, direction))
    assert _same_rows(found, expected) < 1e-8


@pytest.mark.parametrize("matrix", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@both_directions
def test_spectral_regression_takes_a_ready_matrix(matrix, direction):
    Phi, alpha = _features(), _distinct_alpha()
    graph = Graph.from_matrix(matrix(graphs.knn(Phi.T, 4)))
    expected, _ = _dense_regression(Phi, alpha, graph, direction)
    assert _same_rows(SpectralRegression().update(_state(Phi, alpha, graph, direction)), expected) < 1e-8


@pytest.mark.parametrize("spec", ["identity", "pca", "within", "between", "knn"])
@pytest.mark.parametrize("eta", [0.0, 30.0, 1e9])
def test_the_regularization_is_added_to_the_gram_matrix_as_it_is(spec, eta):
    Phi, alpha = _features(), _distinct_alpha()
    graph = _graph(spec, Phi)
    expected, _ = _dense_regression(Phi, alpha, graph, "max", eta=eta)
    found = SpectralRegression(regularization=eta).update(_state(Phi, alpha, graph, "max"))
    assert _same_rows(found, expected) < 1e-8


def test_the_regularization_must_not_be_negative():
    Phi, alpha = _features(), _distinct_alpha()
    with pytest.raises(ValueError, match=r"regularization must not be negative, got -0\.5"):
        SpectralRegression(regularization=-0.5).update(_state(Phi, alpha, _graph("pca", Phi)))


@every_graph
@both_directions
def test_with_many_support_vectors_the_products_give_the_dense_solution(spec, direction, monkeypatch):
    Phi, alpha = _features(), _distinct_alpha(40)
    graph = _graph(spec, Phi)
    expected, _ = _dense_regression(Phi, alpha, graph, direction)
    monkeypatch.setattr(spectral_regression_module, "DENSE_SUPPORT", 10)
    assert _same_rows(SpectralRegression().update(_state(Phi, alpha, graph, direction)), expected) < 1e-7


@pytest.mark.parametrize("spec", ["knn", "0.7*knn + 0.3*pca"])
@pytest.mark.parametrize("n_support", [45, N], ids=["some", "all"])
def test_min_on_a_sparse_graph_asks_its_kron_reduction_and_gets_the_dense_solution(spec, n_support, monkeypatch):
    Phi, alpha = _features(), _distinct_alpha(n_support)
    graph = _graph(spec, Phi)
    expected, _ = _dense_regression(Phi, alpha, graph, "min")
    asked, reduce = [], Graph.kron_reduction
    monkeypatch.setattr(Graph, "kron_reduction", lambda *args: asked.append(1) or reduce(*args))
    monkeypatch.setattr(spectral_regression_module, "DENSE_SUPPORT", 10)
    assert _same_rows(SpectralRegression().update(_state(Phi, alpha, graph, "min")), expected) < 1e-7
    assert asked


def test_the_kron_reduction_leaves_out_targets_of_support_vectors_whose_alpha_is_rounding(monkeypatch):
    Phi, alpha = _features(), _distinct_alpha(40)
    graph = _graph("knn", Phi)
    alpha[np.flatnonzero(alpha)[:2]] = 1e-17
    alpha /= alpha.sum()
    expected, _ = _dense_regression(Phi, alpha, graph, "min")
    monkeypatch.setattr(spectral_regression_module, "DENSE_SUPPORT", 10)
    assert _same_rows(SpectralRegression().update(_state(Phi, alpha, graph, "min")), expected) < 1e-6


@both_directions
@pytest.mark.parametrize("dense_support", [10, 300])
def test_a_graph_of_several_parts_gives_the_dense_solution(direction, dense_support, monkeypatch):
    rng = np.random.default_rng(0)
    Phi = np.vstack([50 * rng.normal(size=F) + rng.normal(size=(size, F)) for size in (30, 20, 15)])
    alpha = _distinct_alpha(40, len(Phi))
    graph = _graph("knn", Phi)
    assert graph.is_reducible(np.flatnonzero(alpha))
    expected, _ = _dense_regression(Phi, alpha, graph, direction)
    monkeypatch.setattr(spectral_regression_module, "DENSE_SUPPORT", dense_support)
    assert _same_rows(SpectralRegression().update(_state(Phi, alpha, graph, direction)), expected) < 1e-7


@both_directions
@pytest.mark.parametrize("dense_support", [10, 300])
def test_far_groups_whose_every_row_is_a_support_vector_do_not_hide_the_positive_eigenvalues(
    direction, dense_support, monkeypatch
):
    # Each group is a component of the kNN graph; differences of their indicators are null vectors of L_x⁺ L_α.
    rng = np.random.default_rng(0)
    groups = [50 * rng.normal(size=F) + rng.normal(size=(6, F)) for _ in range(7)]
    Phi = np.vstack([*groups, rng.normal(size=(40, F))])
    alpha = np.zeros(len(Phi))
    alpha[:50] = rng.dirichlet(np.ones(50))
    graph = _graph("knn", Phi)
    expected, _ = _dense_regression(Phi, alpha, graph, direction)
    monkeypatch.setattr(spectral_regression_module, "DENSE_SUPPORT", dense_support)
    assert _same_rows(SpectralRegression().update(_state(Phi, alpha, graph, direction)), expected) < 1e-7


def _repeated(Phi, alpha, graph, weights, spec):
    """The rows as often as their weights say, each with its share of α, and the graph of the copies."""
    E = np.repeat(np.eye(len(Phi)), weights, axis=0)
    if spec == "knn":
        # A copy of a row has its neighbours: see KNN on why the search among the copies would not find them.
        A = E @ -graph.toarray() @ E.T
        copies = Graph.from_adjacency(A * (1 - E @ E.T))
    else:
        copies = resolve("laplacian", spec).build(E @ Phi, 0)
    return E @ Phi, E @ (alpha / weights), copies


@pytest.mark.parametrize("spec", ["identity", "pca", "within(n_clusters=1)", "knn"])
@both_directions
@pytest.mark.parametrize("make_alpha", [_distinct_alpha, _tied_alpha], ids=["distinct", "tied"])
@pytest.mark.parametrize("dense_support", [8, 300])
def test_the_regression_of_weighted_samples_is_that_of_repeated_rows(
    spec, direction, make_alpha, dense_support, monkeypatch
):
    Phi, weights = _features(), np.random.default_rng(4).integers(1, 4, size=N)
    alpha = make_alpha() * weights
    alpha /= alpha.sum()
    laplacian = resolve("laplacian", spec)
    expected = SpectralRegression().update(
        _state(*_repeated(Phi, alpha, laplacian.build(Phi, 0), weights, spec), direction)
    )
    monkeypatch.setattr(spectral_regression_module, "DENSE_SUPPORT", dense_support)
    state = _state(Phi, alpha, laplacian.build(Phi, 0, sample_weight=weights.astype(float)), direction)
    found = SpectralRegression().update(replace(state, sample_weight=weights.astype(float)))
    assert _same_rows(found, expected) < 1e-6


def test_the_regulariser_of_all_samples_counts_them_by_their_weights():
    Phi, alpha, weights = _features() + 1.0, _distinct_alpha(), np.arange(N) % 3 + 1
    state = replace(_state(Phi, alpha, None), sample_weight=weights.astype(float))
    repeated = _state(np.repeat(Phi, weights, axis=0), np.repeat(alpha / weights, weights), None)
    updater = Gradient(step_size=1e-3, psi=1, beta=0.1)
    np.testing.assert_allclose(updater.update(state), updater.update(repeated), rtol=1e-9)


@every_graph
@both_directions
@pytest.mark.parametrize("make_alpha", [_distinct_alpha, _tied_alpha], ids=["distinct", "tied"])
def test_the_order_of_the_rows_does_not_change_the_regression(spec, direction, make_alpha):
    Phi, alpha = _features(), make_alpha()
    order = np.random.default_rng(3).permutation(N)
    found = SpectralRegression().update(_state(Phi, alpha, _graph(spec, Phi), direction))
    permuted = SpectralRegression().update(_state(Phi[order], alpha[order], _graph(spec, Phi[order]), direction))
    assert _same_rows(found, permuted) < 1e-8


@pytest.mark.parametrize("spec", ["identity", "pca", "within"])
@both_directions
@pytest.mark.parametrize("dense_support", [20, 300])
def test_ties_at_several_levels_do_not_depend_on_the_order_of_the_rows(spec, direction, dense_support, monkeypatch):
    # Sample weights of 1 and 2 give two bounds, and an eigenspace for each.
    monkeypatch.setattr(spectral_regression_module, "DENSE_SUPPORT", dense_support)
    Phi = _features()
    alpha = np.zeros(N)
    alpha[:40] = np.repeat([1.0, 2.0], 20)
    alpha[40:43] = 0.3, 0.5, 0.7
    alpha /= alpha.sum()
    order = np.random.default_rng(3).permutation(N)
    found = SpectralRegression().update(_state(Phi, alpha, _graph(spec, Phi), direction))
    permuted = SpectralRegression().update(_state(Phi[order], alpha[order], _graph(spec, Phi[order]), direction))
    assert _same_rows(found, permuted) < 1e-7


@every_graph
@both_directions
@pytest.mark.parametrize("make_alpha", [_distinct_alpha, _tied_alpha], ids=["distinct", "tied"])
def test_the_units_of_the_features_do_not_change_the_regression(spec, direction, make_alpha):
    Phi, alpha = _features(), make_alpha()
    graph = _graph(spec, Phi)  # of the same neighbours and clusters for both units
    units = np.array([0.05, 0.1, 1.0, 5.0, 20.0, 50.0])
    found = SpectralRegression().update(_state(Phi, alpha, graph, direction))
    scaled = SpectralRegression().update(_state(Phi * units, alpha, graph, direction))
    assert _same_rows(found, scaled * units) < 1e-5


@pytest.mark.parametrize("spec", ["identity", "pca", "within"])
def test_a_tie_is_broken_in_favour_of_the_targets_that_the_features_fit_best(spec):
    Phi, alpha = _features(), _tied_alpha()
    graph = _graph(spec, Phi)
    # The eigenspace of the bound, by the dense N × N matrix; for max it may come after larger eigenvalues.
    matrix = np.linalg.pinv(graph.toarray(), rcond=1e-10, hermitian=True) @ graphs.alpha_laplacian(alpha)
    rest = graph.closed_form_pinv[2]
    T = scipy.linalg.null_space(matrix - rest * alpha.max() * np.eye(N), rcond=1e-10)
    assert T.shape[1] >= 10
    above = int(np.sum(np.linalg.eigvals(matrix).real > rest * alpha.max() * (1 + 1e-6)))
    found = SpectralRegression().update(_state(Phi, alpha, graph, "max", d=above + 2))

    expected = np.linalg.pinv(Phi) @ T @ np.linalg.svd(Phi @ np.linalg.pinv(Phi) @ T)[2][:2].T
    tied_rows = found[above:]
    assert _same_rows(tied_rows, expected.T) < 1e-8

    fitted = np.linalg.qr(Phi @ tied_rows.T)[0]
    explained = np.linalg.norm(T.T @ fitted) ** 2
    rng = np.random.default_rng(0)
    onto_features = Phi @ np.linalg.pinv(Phi)
    for _ in range(200):
        V = np.linalg.qr(rng.normal(size=(T.shape[1], 2)))[0]
        assert np.linalg.norm(onto_features @ T @ V) ** 2 < explained


@pytest.mark.parametrize("spec", ["identity", "pca", "within"])
@both_directions
def test_a_tie_that_is_not_reached_does_not_matter(spec, direction):
    # With points below the bound on one side and a few larger ones on the other, d rows come before the tie.
    Phi = _features()
    alpha = np.zeros(N)
    alpha[:20] = 1.0
    alpha[20:24] = 0.1, 0.2, 0.3, 0.4
    alpha[24:28] = 2.0, 2.5, 3.0, 3.5
    alpha /= alpha.sum()
    graph = _graph(spec, Phi)
    expected, chosen = _dense_regression(Phi, alpha, graph, direction)
    assert np.abs(np.diff(chosen)).min() > 1e-4 * chosen.max()
    assert _same_rows(SpectralRegression().update(_state(Phi, alpha, graph, direction)), expected) < 1e-8


@pytest.mark.parametrize("spec", ["identity", "pca", "knn"])
def test_a_target_that_only_tells_duplicates_apart_is_passed_over(spec):
    # Rows 0 and 1 are equal and share the largest α: t = e_0 − e_1 has Xt = 0, and q would be rounding.
    Phi = _features()
    Phi[1] = Phi[0]
    alpha = np.zeros(N)
    alpha[:6] = 0.3, 0.3, 0.05, 0.1, 0.11, 0.14
    if spec == "knn":
        # Linked to the same points, as a tie between duplicates may or may not make them.
        A = graphs.knn_adjacency(Phi.T, 4)
        A[1], A[:, 1] = A[0], A[:, 0]
        A[0, 1] = A[1, 0] = 0.0
        graph = Graph.from_adjacency(sp.csr_array(A))
    else:
        graph = _graph(spec, Phi)
    all_rows, _ = _dense_regression(Phi, alpha, graph, "max", d=4)
    lengths = np.linalg.norm(all_rows, axis=1)
    expected = all_rows[lengths > 1e-10 * lengths.max()]
    assert len(expected) == 3
    assert _same_rows(SpectralRegression().update(_state(Phi, alpha, graph, "max")), expected) < 1e-8


def test_spectral_regression_returns_fewer_rows_when_fewer_eigenvalues_are_positive():
    Phi, alpha = _features(), _distinct_alpha()
    found = SpectralRegression().update(_state(Phi, alpha, _graph("between(n_clusters=3)", Phi), "min", d=4))
    assert found.shape == (2, F)


def test_spectral_regression_without_a_graph_is_an_error():
    with pytest.raises(ValueError, match="spectral regression needs a graph, and laplacian 'none' has none"):
        SpectralRegression().update(_state(_features(), _distinct_alpha(), None))


def test_a_detector_without_a_graph_refuses_spectral_regression_before_it_starts():
    with pytest.raises(ValueError, match="'spectral_regression' needs a graph, and laplacian 'none' has none"):
        GESSVDD(laplacian="none", updater="spectral_regression").fit(_features())


@pytest.mark.parametrize("updater", [Gradient(), Spectral(), SpectralRegression()], ids=lambda updater: updater.name)
def test_an_update_leaves_its_state_unchanged(updater):
    Phi, alpha = _features(), _tied_alpha()
    state = _state(Phi, alpha, _graph("knn", Phi))
    before = [array.copy() for array in (state.Q, state.Phi, state.alpha, state.S_x, state.S_inv)]
    updater.update(state)
    for array, copy in zip((state.Q, state.Phi, state.alpha, state.S_x, state.S_inv), before, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("updater", [Spectral(), SpectralRegression()], ids=lambda updater: updater.name)
@both_directions
def test_a_jump_does_not_depend_on_where_it_starts(updater, direction):
    Phi, alpha = _features(), _distinct_alpha()
    state = _state(Phi, alpha, _graph("within", Phi), direction)
    elsewhere = UpdateState(**{**vars(state), "Q": random_directions(D, F, 11)})
    assert subspace_distance(*(orthonormalise(updater.update(s)) for s in (state, elsewhere))) < 1e-9
