"""Sample weights in the graphs: a weight of w is a row that occurs w times."""

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

from pyod_gessvdd import Graph, Laplacian
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.laplacians import clusters
from pyod_gessvdd.laplacians.between import Between
from pyod_gessvdd.laplacians.given import GivenLaplacian
from pyod_gessvdd.laplacians.identity import Identity
from pyod_gessvdd.laplacians.knn import KNN
from pyod_gessvdd.laplacians.none import NoConstraint
from pyod_gessvdd.laplacians.pca import PCA
from pyod_gessvdd.laplacians.weighted_sum import WeightedSum
from pyod_gessvdd.laplacians.within import Within
from tests.oracle import graphs as oracle

N = 24
LABELS = np.arange(N) % 3
counts = st.lists(st.integers(1, 4), min_size=N, max_size=N).map(np.array)


def _rows(far=0.0):
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, 4)) @ rng.normal(size=(4, 4)) + far


def _copies(weights):
    """E of shape (Σw, N): which row each copy is of."""
    return np.repeat(np.eye(N), weights, axis=0)


class _GivenLabels:
    """k-means whose clusters are known: row i of the data, and each of its copies, is in cluster i mod 3."""

    def __init__(self, Phi, *args):
        self.labels = {row.tobytes(): label for row, label in zip(_rows(), LABELS, strict=True)}

    def predict(self, Phi):
        return np.array([self.labels[row.tobytes()] for row in Phi])


@pytest.fixture
def given_labels(monkeypatch):
    monkeypatch.setattr(clusters, "k_means", _GivenLabels)


def _require_equal_to_copies(laplacian, Phi, weights):
    E = _copies(weights)
    repeated = laplacian.build(E @ Phi, 0)
    weighted = laplacian.build(Phi, 0, sample_weight=weights.astype(float))
    L = E.T @ repeated.toarray() @ E
    np.testing.assert_allclose(weighted.toarray(), L, atol=1e-10 * np.abs(L).max())
    S = repeated.scatter(E @ Phi)
    np.testing.assert_allclose(weighted.scatter(Phi), S, atol=1e-10 * np.abs(S).max())
    B = np.random.default_rng(1).normal(size=(N, 2))
    np.testing.assert_allclose(weighted.dot(B), L @ B, atol=1e-10 * np.abs(L).max())


@pytest.mark.parametrize("laplacian", [Identity(), PCA()], ids=lambda laplacian: laplacian.name)
@settings(max_examples=25, deadline=None)
@given(weights=counts)
def test_integer_weights_equal_repeated_rows(laplacian, weights):
    _require_equal_to_copies(laplacian, _rows(), weights)


@pytest.mark.usefixtures("given_labels")
@pytest.mark.parametrize("laplacian", [Within(n_clusters=3), Between(n_clusters=3)], ids=lambda found: found.name)
@pytest.mark.parametrize("seed", range(5))
def test_integer_weights_equal_repeated_rows_in_the_same_clusters(laplacian, seed):
    _require_equal_to_copies(laplacian, _rows(), np.random.default_rng(seed).integers(1, 5, size=N))


@pytest.mark.parametrize("laplacian", [PCA(), Within(n_clusters=3)], ids=lambda laplacian: laplacian.name)
def test_the_weighted_scatter_far_from_the_origin_keeps_its_digits(laplacian):
    weights = 1.0 + LABELS
    near, far = _rows(), _rows(1e6)
    graph = laplacian.build(near, 0, sample_weight=weights)
    np.testing.assert_allclose(graph.scatter(far), graph.scatter(near), rtol=1e-7)


@pytest.mark.parametrize("spec", ["identity", "pca", "within", "between", "knn", "0.7*knn + 0.3*pca"])
def test_weights_of_one_are_no_weights(spec):
    laplacian, Phi = resolve("laplacian", spec), _rows()
    np.testing.assert_allclose(
        laplacian.build(Phi, 0, sample_weight=np.ones(N)).toarray(), laplacian.build(Phi, 0).toarray(), atol=1e-14
    )


def test_clusters_are_those_of_the_weighted_rows():
    # Two centres for three groups: the heavy ones get them.
    Phi = np.repeat([[0.0], [1.0], [3.0]], 8, axis=0) + 1e-3 * _rows()[:, :1]
    for light in range(3):
        weights = np.where(np.arange(N) // 8 == light, 1e-6, 1.0)
        indicator = clusters.cluster_indicator(Phi, 2, 0, "test", weights).toarray() > 0
        first, second = (group for group in range(3) if group != light)
        assert (indicator[8 * first] != indicator[8 * second]).any()


def test_equal_rows_inside_weighted_clusters_are_noticed():
    Phi = np.repeat(_rows()[:3], 8, axis=0)
    weights = 1.0 + np.arange(N) % 2
    with pytest.warns(UserWarning, match="using one cluster"):
        built = Within().build(Phi, 0, sample_weight=weights)
    np.testing.assert_allclose(built.toarray(), weights.sum() * PCA().build(Phi, 0, sample_weight=weights).toarray())


@pytest.mark.parametrize("laplacian", [KNN(n_neighbors=3), KNN(n_neighbors=3, max_exact=5, n_queries=10)])
def test_an_edge_of_the_neighbour_graph_counts_as_often_as_both_its_ends(laplacian):
    Phi, weights = _rows(), 1.0 + LABELS
    A = -laplacian.build(Phi, 0).toarray()
    np.testing.assert_allclose(
        laplacian.build(Phi, 0, sample_weight=weights).toarray(),
        oracle.degree_laplacian(A * np.outer(weights, weights)),
        atol=1e-12,
    )


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_copy_of_a_row_has_its_links_in_a_given_matrix_and_none_to_other_copies(convert):
    Phi, weights = _rows(), 1 + LABELS
    beyond = np.diag(np.linspace(0.0, 1.0, N))
    A = -oracle.knn(Phi.T, 3)
    np.fill_diagonal(A, 0.0)
    E = _copies(weights)
    repeated = oracle.degree_laplacian(E @ A @ E.T) + np.diag(E @ np.diag(beyond))
    built = GivenLaplacian(convert(oracle.degree_laplacian(A) + beyond)).build(
        Phi, 0, sample_weight=weights.astype(float)
    )
    np.testing.assert_allclose(built.toarray(), E.T @ repeated @ E, atol=1e-12)


class _Unweighted(Laplacian):
    """A graph that knows of no weights."""

    def build(self, Phi, random_state):
        return Graph.identity(len(Phi), 2.0)


def test_a_sum_passes_the_weights_on_to_the_graphs_that_take_them():
    Phi, weights = _rows(), 1.0 + LABELS
    built = WeightedSum([PCA(), _Unweighted()], [3.0, 0.5]).build(Phi, 0, sample_weight=weights)
    expected = 3.0 * PCA().build(Phi, 0, sample_weight=weights).toarray() + np.eye(N)
    np.testing.assert_allclose(built.toarray(), expected, atol=1e-14)


def test_learnt_weights_of_a_sum_see_the_sample_weights():
    Phi, weights = _rows(), 1 + LABELS
    parts = [PCA(), Identity()]
    weighted, repeated = WeightedSum(parts, "auto"), WeightedSum(parts, "auto")
    weighted.build(Phi, 0, sample_weight=weights.astype(float))
    repeated.build(_copies(weights) @ Phi, 0)
    np.testing.assert_allclose(weighted.weights_, repeated.weights_, rtol=1e-10)


def test_the_host_gives_weights_only_to_graphs_that_take_them():
    Phi, weights = _rows(), 1.0 + LABELS
    np.testing.assert_array_equal(_Unweighted().build_weighted(Phi, 0, weights).toarray(), 2 * np.eye(N))
    np.testing.assert_array_equal(Identity().build_weighted(Phi, 0, weights).toarray(), np.diag(weights))
    np.testing.assert_array_equal(Identity().build_weighted(Phi, 0, None).toarray(), np.eye(N))
    assert NoConstraint.supports_sample_weight
