"""Regularisers of the subspace against explicit matrices and finite differences, and the detectors that have them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pyod_gessvdd import ESSVDD, GESSVDD, MSSVDD, SSVDD, Laplacian
from pyod_gessvdd.components.registry import registry
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.components.validation import build_graph
from pyod_gessvdd.errors import ComponentError, UnknownComponentError
from pyod_gessvdd.regularisers import OMEGA, CrossGraphPenalty, GraphPenalty, Samples
from tests.oracle import regularisers as oracle

N = 25
RANDOM = np.random.default_rng(0)
PHI = [RANDOM.normal(size=(N, 3)) + 1, RANDOM.normal(size=(N, 4))]
Q = [RANDOM.normal(size=(2, 3)), RANDOM.normal(size=(2, 4))]
ALPHA = [np.where(np.arange(N) % 3 == m, RANDOM.uniform(size=N), 0.0) for m in range(2)]
BOUNDARY = [np.flatnonzero(alpha)[::2] for alpha in ALPHA]
SAMPLES = [Samples(*parts) for parts in zip(PHI, ALPHA, BOUNDARY, strict=True)]
GRAPHS = [resolve("laplacian", spec).build(phi, 0) for spec, phi in zip(("knn", "within"), PHI, strict=True)]


def multipliers(which):
    """λ of every modality."""
    on_sphere = [np.where(np.isin(np.arange(N), rows), alpha, 0.0) for rows, alpha in zip(BOUNDARY, ALPHA, strict=True)]
    return {"all": [np.ones(N)] * 2, "support": ALPHA, "boundary": on_sphere}[which]


def dense(number):
    """M of ω by its number."""
    lam = multipliers(("all", "support", "boundary")[(number - 1) % 3])
    return [[np.outer(lam[m], lam[n]) if number > 3 or m == n else None for n in range(2)] for m in range(2)]


L = [graph.toarray() for graph in GRAPHS]
CASES = {
    **{f"omega {number}": (regulariser, dense(number)) for number, regulariser in OMEGA.items()},
    "graphs": (
        GraphPenalty([graph.scatter(phi) for graph, phi in zip(GRAPHS, PHI, strict=True)]),
        [[L[0], None], [None, L[1]]],
    ),
    "crossed graph": (CrossGraphPenalty(0.5 * GRAPHS[0] + 0.5 * GRAPHS[1]), [[(L[0] + L[1]) / 2] * 2] * 2),
}


@pytest.mark.parametrize(("regulariser", "M"), CASES.values(), ids=CASES)
def test_the_value_is_the_trace_of_the_definition(regulariser, M):
    assert regulariser.value(Q, SAMPLES) == pytest.approx(oracle.penalty(Q, PHI, M), rel=1e-10)
    assert regulariser.value(Q, SAMPLES) >= 0


@pytest.mark.parametrize(("regulariser", "M"), CASES.values(), ids=CASES)
def test_the_products_are_half_of_the_finite_differences(regulariser, M):
    slow = oracle.differences(lambda Q: oracle.penalty(Q, PHI, M), Q)
    for product, gradient in zip(regulariser.products(Q, SAMPLES), slow, strict=True):
        assert_allclose(2 * product, gradient, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("number", range(1, 4))
def test_with_one_modality_nothing_is_crossed(number):
    within, across = (OMEGA[k].products(Q[:1], SAMPLES[:1])[0] for k in (number, number + 3))
    assert_allclose(within, across)


# X-SSVDD: a graph as the regulariser of a subspace --------------------------------------------------------------------

X = RANDOM.normal(size=(60, 5)) @ RANDOM.normal(size=(5, 5))
PARAMS = {"kernel": "linear", "n_components": 2, "random_state": 0, "nu": 0.3}
#: Those of this package; plugins have their own tests.
NAMES = ["identity", "pca", "within", "between", "knn"]


@pytest.mark.parametrize("member", [SSVDD, ESSVDD])
@pytest.mark.parametrize("psi", [*NAMES, "0.5*knn + 0.5*pca", 2])
def test_without_weight_it_is_ssvdd(member, psi):
    plain = member(**PARAMS).fit(X)
    assert_array_equal(member(psi=psi, beta=0.0, **PARAMS).fit(X).components_, plain.components_)
    assert member(psi=psi, beta=0.0).variant == plain.variant
    assert member(psi=psi, beta=0.1).variant is None


def test_a_graph_of_zeros_changes_nothing():
    plain = SSVDD(**PARAMS).fit(X)
    zeros = SSVDD(psi=np.zeros((60, 60)), beta=5.0, **PARAMS).fit(X)
    assert_allclose(zeros.components_, plain.components_, atol=1e-12)


@pytest.mark.parametrize("criterion", ["min", "max"])
@pytest.mark.parametrize("name", NAMES)
def test_a_step_follows_the_gradient_of_criterion_and_penalty(name, criterion):
    params = {**PARAMS, "standardize": False, "laplacian": "none", "criterion": criterion, "residual": False}
    updater = f"gradient(psi={name!r}, beta=0.03, step_size=0.01)"
    start = GESSVDD(n_iter=0, **params).fit(X)
    after = GESSVDD(n_iter=1, updater=updater, **params).fit(X)
    Phi = X - X.mean(axis=0)
    seed = np.random.RandomState(0).randint(np.iinfo(np.int32).max)
    matrix = build_graph(resolve("laplacian", name), Phi, seed, None).toarray()
    alpha = start.alpha_

    def criterion_and_penalty(Q):
        Z = Phi @ Q[0].T
        return alpha @ (Z**2).sum(axis=1) - (alpha @ Z) @ (alpha @ Z) + 0.03 * oracle.penalty(Q, [Phi], [[matrix]])

    gradient = oracle.differences(criterion_and_penalty, [start.components_])[0]
    moved = start.components_ + (0.01 if criterion == "max" else -0.01) * gradient
    projector = after.components_.T @ after.components_
    assert_allclose(np.linalg.qr(moved.T)[0] @ np.linalg.qr(moved.T)[0].T, projector, atol=1e-6)


def test_a_heavy_graph_makes_neighbours_close():
    """The more weight, the less of the graph's scatter is left in the subspace."""
    graph = resolve("laplacian", "knn").build(X - X.mean(axis=0), 0)
    scatter = graph.scatter(X - X.mean(axis=0))
    left = []
    for beta in (0.0, 1e-2, 1e-1):
        Q = SSVDD(psi="knn", beta=beta, n_iter=5, step_size=0.01, standardize=False, **PARAMS).fit(X).components_
        left.append(np.trace(Q @ scatter @ Q.T))
    assert left[0] > left[1] > left[2]


class Chain(Laplacian):
    """Every sample is linked with the next: a graph of somebody else's."""

    def build(self, Phi, random_state):
        n = len(Phi)
        steps = np.eye(n)[:-1] - np.eye(n)[1:]
        return steps.T @ steps


@pytest.mark.parametrize("psi", [Chain(), "knn(n_neighbors=3)", Chain().build(X, 0)], ids=["plugin", "spec", "matrix"])
def test_any_graph_will_do(psi):
    detector = SSVDD(psi=psi, beta=0.01, **PARAMS).fit(X)
    assert np.isfinite(detector.decision_function(X)).all()
    assert not np.allclose(detector.components_, SSVDD(**PARAMS).fit(X).components_)


def test_the_graph_of_clusters_belongs_to_the_seed():
    found = [SSVDD(psi="within(n_clusters=4)", beta=0.1, **{**PARAMS, "random_state": s}).fit(X) for s in (0, 0)]
    assert_array_equal(found[0].components_, found[1].components_)


def test_labelled_outliers_are_in_no_graph():
    y = np.where(np.arange(60) < 3, 1.0, -1.0)
    detector = SSVDD(psi=Chain(), beta=0.01, use_labels=True, **PARAMS).fit(X, y)
    assert np.isfinite(detector.decision_scores_).all()
    assert (detector.alpha_[:3] <= 0).all()


def test_every_installed_graph_is_a_regulariser():
    for name in registry().names("laplacian"):
        if name != "none":
            SSVDD(psi=name, beta=1e-4, **PARAMS).fit(X)


def test_what_is_no_graph_is_refused():
    with pytest.raises(ValueError, match="psi must be 0, 1, 2, 3 or a graph, and laplacian 'none' has none"):
        SSVDD(psi="none", **PARAMS).fit(X)
    with pytest.raises(UnknownComponentError, match="unknown laplacian 'kmm'"):
        SSVDD(psi="kmm", **PARAMS).fit(X)
    with pytest.raises(ComponentError, match="a graph of 5 nodes; expected 60"):
        SSVDD(psi=np.eye(5), **PARAMS).fit(X)


# MSSVDD with graphs ---------------------------------------------------------------------------------------------------

MODALITIES = {"radar": [0, 1, 2], "camera": [3, 4]}
MULTI = {"n_components": 2, "nu": 0.2, "random_state": 0}


def mssvdd(**params):
    return MSSVDD(MODALITIES, **{**MULTI, **params})


@pytest.mark.parametrize("cross_modal", [False, True])
def test_zero_graphs_are_mssvdd(cross_modal):
    plain = mssvdd().fit(X)
    zeros = mssvdd(regularizer=np.zeros((60, 60)), beta=3.0, cross_modal=cross_modal).fit(X)
    without = mssvdd(regularizer="knn", beta=0.0, cross_modal=cross_modal).fit(X)
    assert_allclose(zeros.decision_scores_, plain.decision_scores_, rtol=1e-10)
    assert_allclose(without.decision_scores_, plain.decision_scores_, rtol=1e-10)


@pytest.mark.parametrize("cross_modal", [False, True])
def test_with_one_modality_it_is_x_ssvdd(cross_modal):
    params = {**MULTI, "kernel": "linear", "beta": 0.01, "step_size": 0.02}
    multi = MSSVDD(None, regularizer="knn", cross_modal=cross_modal, **params).fit(X)
    single = SSVDD(psi="knn", **params).fit(X)
    assert_allclose(multi.decision_scores_, single.decision_scores_, rtol=1e-6)


@pytest.mark.parametrize("cross_modal", [False, True])
@pytest.mark.parametrize("criterion", ["min", "max", ["min", "max"], {"camera": "min", "radar": "max"}])
def test_a_step_follows_the_slow_gradient_of_every_modality(cross_modal, criterion):
    params = {"regularizer": ["knn", "pca"], "beta": 0.02, "cross_modal": cross_modal, "standardize": False}
    start, after = (mssvdd(n_iter=n, criterion=criterion, step_size=0.01, **params).fit(X) for n in (0, 1))
    Phi = [X[:, columns] - X[:, columns].mean(axis=0) for columns in start.modality_columns_]
    L = [resolve("laplacian", name).build(phi, 0).toarray() for name, phi in zip(("knn", "pca"), Phi, strict=True)]
    M = [[(L[0] + L[1]) / 2] * 2] * 2 if cross_modal else [[L[0], None], [None, L[1]]]
    alpha = start.alpha_

    def lagrangian(Q):
        Z = [phi @ q.T for phi, q in zip(Phi, Q, strict=True)]
        center = sum(a @ z for a, z in zip(alpha, Z, strict=True))
        inside = sum(a @ (z**2).sum(axis=1) for a, z in zip(alpha, Z, strict=True))
        return inside - center @ center + 0.02 * oracle.penalty(Q, Phi, M)

    assert start.history_[-1]["criterion"] == pytest.approx(lagrangian(start.components_), rel=1e-8)
    signs = {"min": [-1, -1], "max": [1, 1]}.get(criterion) if isinstance(criterion, str) else None
    signs = signs or ([-1, 1] if isinstance(criterion, list) else [1, -1])
    gradients = oracle.differences(lagrangian, start.components_)
    for before, gradient, sign, reached in zip(start.components_, gradients, signs, after.components_, strict=True):
        moved = before + 0.01 * sign * gradient
        left, _, right = np.linalg.svd(moved, full_matrices=False)
        assert_allclose(reached, left @ right, atol=1e-5)


def test_graphs_by_the_names_of_the_modalities():
    by_name = mssvdd(regularizer={"camera": "pca", "radar": "knn"}, beta=0.1).fit(X)
    by_place = mssvdd(regularizer=["knn", "pca"], beta=0.1).fit(X)
    assert_array_equal(by_name.decision_scores_, by_place.decision_scores_)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"regularizer": ["knn"]}, "regularizer must have a value for each of the 2 modalities, got 1"),
        (
            {"regularizer": {"radar": "knn"}},
            "regularizer must have a value for each of the modalities 'radar', 'camera', got 'radar'",
        ),
        ({"criterion": {}}, "criterion must have a value for each of the modalities 'radar', 'camera', got none"),
        ({"criterion": ["min", "most"]}, "criterion must be 'min' or 'max', got 'most'"),
        ({"regularizer": "none"}, "regularizer must be a graph, and laplacian 'none' has none"),
        ({"regularizer": 2, "cross_modal": True}, "cross_modal=True is for graphs, got regularizer=2; 4, 5 and 6 are"),
        ({"cross_modal": 1}, "cross_modal must be True or False, got 1"),
    ],
)
def test_values_by_modality_that_cannot_be_used_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        mssvdd(**params).fit(X)
