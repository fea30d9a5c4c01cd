"""Graphs over columns: what they link, and what their penalty does to a subspace."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from pyod_gessvdd import ESSVDD, GESSVDD, SSVDD, FeatureLaplacian, available
from pyod_gessvdd.checks import check_feature_laplacian
from pyod_gessvdd.components.contracts import UpdateState
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.errors import ComponentError
from pyod_gessvdd.feature_laplacians.chain import FeatureChain
from pyod_gessvdd.feature_laplacians.given import GivenFeatureLaplacian
from pyod_gessvdd.feature_laplacians.knn import FeatureKNN
from pyod_gessvdd.graph import Graph
from pyod_gessvdd.updaters.gradient import Gradient
from tests.oracle.updates import criterion as slow_criterion

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(80, 6)) @ RANDOM.normal(size=(6, 6))
PARAMS = {"kernel": "linear", "n_components": 2, "nu": 0.3, "random_state": 0}


@pytest.mark.parametrize("component", [FeatureKNN, FeatureKNN(1), FeatureKNN(9), FeatureChain, FeatureChain(ring=True)])
def test_the_built_in_graphs_keep_the_contract(component):
    for check in check_feature_laplacian(component):
        check()


def test_a_given_matrix_keeps_the_contract_for_its_columns():
    L = FeatureChain().build(np.zeros((3, 4)), 0).toarray()
    for check in check_feature_laplacian(GivenFeatureLaplacian(L)):
        # It is of four columns, and has no default.
        if not check.__name__.endswith(("one_column", "wide_data", "check_contract")):
            check()


def test_columns_are_linked_with_those_that_they_are_most_correlated_with():
    L = FeatureKNN(2).build(X, 0).toarray()
    correlation = np.corrcoef(X.T)
    expected = np.zeros((6, 6))
    for i in range(6):
        others = sorted((j for j in range(6) if j != i), key=lambda j: -abs(correlation[i, j]))
        for j in others[:2]:
            expected[i, j] = expected[j, i] = correlation[i, j]
    assert_allclose(L, np.diag(np.abs(expected).sum(axis=1)) - expected, atol=1e-10)


@pytest.mark.parametrize("ring", [False, True])
def test_neighbouring_columns_are_linked(ring):
    L, values = FeatureChain(ring=ring).build(X, 0).toarray(), np.arange(6.0)
    pairs = [(i, i + 1) for i in range(5)] + ([(5, 0)] if ring else [])
    assert values @ L @ values == pytest.approx(sum((values[i] - values[j]) ** 2 for i, j in pairs))


@pytest.mark.parametrize("n_neighbors", [0, 1.5, None])
def test_a_number_of_neighbours_that_is_none_is_refused(n_neighbors):
    with pytest.raises(ValueError, match="feature_knn needs a whole n_neighbors of at least 1, got"):
        FeatureKNN(n_neighbors).build(X, 0)


# The penalty ----------------------------------------------------------------------------------------------------------

UPDATERS = ["gradient", "spectral", "newton", "riemannian"]


@pytest.mark.parametrize("member", [SSVDD, ESSVDD])
@pytest.mark.parametrize("L", [np.zeros((6, 6)), sp.csr_array((6, 6))], ids=["dense", "sparse"])
def test_a_graph_of_zeros_changes_nothing(member, L):
    plain = member(**PARAMS).fit(X)
    zeros = member(feature_laplacian=L, feature_beta=7.0, **PARAMS).fit(X)
    assert_allclose(zeros.components_, plain.components_, atol=1e-12)
    without = member(feature_laplacian="feature_knn", feature_beta=0.0, **PARAMS).fit(X)
    assert_allclose(without.components_, plain.components_, atol=1e-12)


@pytest.mark.parametrize("updater", UPDATERS)
@pytest.mark.parametrize("criterion", ["min", "max"])
def test_the_penalty_is_smaller_the_more_it_weighs(updater, criterion):
    L = FeatureKNN().build(X, 0).toarray()
    penalties = []
    for beta in (0.0, 0.3, 30.0):
        found = GESSVDD(
            laplacian="none",
            updater=updater,
            criterion=criterion,
            feature_laplacian=L,
            feature_beta=beta,
            residual=False,
            step_size=0.01,
            n_iter=8,
            standardize=True,
            **PARAMS,
        ).fit(X)
        penalties.append(np.trace(found.components_ @ L @ found.components_.T))
    assert penalties[2] < penalties[0]
    assert penalties[1] <= penalties[0] + 1e-9


def state(Q, criterion, penalty, S_x=None):
    alpha = np.where(np.arange(80) % 4 == 0, 1 / 20, 0.0)
    S_inv = np.eye(2) if S_x is None else np.linalg.inv(Q @ S_x @ Q.T)
    return UpdateState(Q, X, alpha, S_x, S_inv, None, 2, criterion, 1, penalty=penalty)


@pytest.mark.parametrize("criterion", ["min", "max"])
@pytest.mark.parametrize("metric", [False, True])
def test_the_gradient_is_that_of_finite_differences(criterion, metric):
    L = FeatureKNN().build(X, 0)
    S_x, sign = (X.T @ X if metric else None), 1.0 if criterion == "max" else -1.0
    Q = np.linalg.qr(RANDOM.normal(size=(6, 2)))[0].T

    def value(Q):
        S = state(Q, criterion, None).S_alpha - sign * 0.4 * L.toarray()
        return slow_criterion(Q, np.eye(6) if S_x is None else S_x, S) if metric else np.trace(Q @ S @ Q.T)

    exact = Gradient().gradient(state(Q, criterion, 0.4 * L, S_x))
    for place in np.ndindex(Q.shape):
        step = np.zeros_like(Q)
        step[place] = 1e-6
        assert exact[place] == pytest.approx((value(Q + step) - value(Q - step)) / 2e-6, rel=1e-4, abs=1e-6)


def test_products_with_the_scatter_agree_with_the_scatter():
    found = state(np.eye(2, 6), "min", 0.4 * FeatureKNN().build(X, 0))
    assert_allclose(found.alpha_scatter_dot(np.eye(6)), found.S_alpha, atol=1e-10)


def test_the_spectral_update_jumps_to_the_optimum_with_the_penalty():
    L = FeatureKNN().build(X, 0)
    found = resolve("updater", "spectral").update(state(np.eye(2, 6), "min", 0.4 * L))
    S = state(np.eye(2, 6), "min", None).S_alpha + 0.4 * L.toarray()
    values = np.linalg.eigvalsh(S)
    assert np.trace(np.linalg.qr(found.T)[0].T @ S @ np.linalg.qr(found.T)[0]) == pytest.approx(values[:2].sum())


# In a detector --------------------------------------------------------------------------------------------------------


class Layout(FeatureLaplacian):
    """Six sensors in two rows of three."""

    def build(self, X, random_state):
        A = np.zeros((6, 6))
        for i, j in [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)]:
            A[i, j] = A[j, i] = 1.0
        return Graph.from_adjacency(A)


@pytest.mark.parametrize(
    "graph", ["feature_knn", "feature_knn(n_neighbors=2)", "feature_chain", Layout(), Layout().build(X, 0).toarray()]
)
def test_a_detector_takes_a_name_a_spec_an_instance_or_a_matrix(graph):
    found = GESSVDD(feature_laplacian=graph, feature_beta=1.0, **PARAMS).fit(X)
    assert not np.allclose(found.projection_, GESSVDD(**PARAMS).fit(X).projection_)
    assert np.isfinite(found.decision_function(X)).all()


def test_parameters_of_the_graph_can_be_set_through_the_detector():
    detector = SSVDD(feature_laplacian="feature_knn").set_params(feature_laplacian__n_neighbors=2)
    assert detector.get_params()["feature_laplacian__n_neighbors"] == 2
    assert detector.feature_laplacian.n_neighbors == 2


def test_the_graph_sees_the_scaled_rows():
    seen = []

    class Looks(Layout):
        """Notes what it is given."""

        def build(self, X, random_state):
            seen.append(np.array(X))
            return super().build(X, random_state)

    SSVDD(feature_laplacian=Looks(), **PARAMS).fit(X)
    assert_allclose(seen[0], (X - X.mean(axis=0)) / X.std(axis=0), rtol=1e-10, atol=1e-11)


def test_the_built_in_graphs_are_registered():
    names = [row["name"] for row in available("feature_laplacian") if row["distribution"] == "pyod-gessvdd"]
    assert names == ["feature_chain", "feature_knn"]


def test_labels_and_a_feature_graph_go_together():
    y = np.where(np.arange(80) < 3, 1.0, -1.0)
    found = SSVDD(feature_laplacian="feature_knn", use_labels=True, **PARAMS).fit(X, y)
    assert (found.alpha_[:3] <= 0).all()


def test_a_fit_without_the_graph_is_what_it_was():
    assert_array_equal(
        SSVDD(feature_laplacian=None, **PARAMS).fit(X).decision_scores_, SSVDD(**PARAMS).fit(X).decision_scores_
    )


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"kernel": "rbf"}, "feature_laplacian is a graph over columns and needs kernel='linear', got kernel 'rbf'"),
        (
            {"updater": "spectral_regression"},
            "updater 'spectral_regression' takes no feature_laplacian; use 'gradient', 'spectral', 'newton' or",
        ),
        ({"n_components": "all"}, "feature_laplacian regularises the updates of a subspace, and there are none; give"),
        ({"n_iter": 0}, "feature_laplacian regularises the updates of a subspace, and there are none; give"),
        ({"feature_beta": -1.0}, "feature_beta must be a number of at least 0, got -1.0"),
    ],
)
def test_what_a_feature_graph_cannot_go_with_is_refused(params, message):
    with pytest.raises(ValueError, match=message):
        GESSVDD(**{**PARAMS, "feature_laplacian": "feature_knn", **params}).fit(X)


def test_a_matrix_of_the_wrong_size_is_named():
    with pytest.raises(ComponentError, match=r"feature_laplacian 'given' returned a matrix of shape \(5, 5\);"):
        SSVDD(feature_laplacian=np.eye(5), **PARAMS).fit(X)
