"""The paper's graphs against its equations, written with dense N × N matrices."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_blobs

from pyod_gessvdd import GESSVDD, Graph, linalg
from pyod_gessvdd.components.contracts import Laplacian
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.laplacians.between import Between
from pyod_gessvdd.laplacians.clusters import cluster_indicator
from pyod_gessvdd.laplacians.given import GivenLaplacian
from pyod_gessvdd.laplacians.identity import Identity
from pyod_gessvdd.laplacians.knn import KNN
from pyod_gessvdd.laplacians.none import NoConstraint
from pyod_gessvdd.laplacians.pca import PCA
from pyod_gessvdd.laplacians.weighted_sum import WeightedSum
from pyod_gessvdd.laplacians.within import Within
from tests.oracle import graphs as oracle

SEED = 3


@pytest.fixture
def Phi():
    return load_iris().data[50:]


def _labels(Phi, n_clusters=5, seed=SEED):
    """The clusters that the within and between graphs are built on, as one number per row."""
    return cluster_indicator(Phi, n_clusters, seed, "test").toarray().argmax(axis=1)


def _as_partition(labels):
    """Which pairs of rows share a cluster: the same for any numbering of the clusters."""
    return labels[:, None] == labels[None, :]


#: What to build, and the dense matrix that the paper's equation gives for the data.
GRAPHS = {
    "identity": lambda Phi: oracle.identity(len(Phi)),
    "pca": lambda Phi: oracle.total(len(Phi)) / len(Phi),
    "within": lambda Phi: oracle.within(_labels(Phi)),
    "between": lambda Phi: oracle.between(_labels(Phi)),
    "within(n_clusters=3)": lambda Phi: oracle.within(_labels(Phi, 3)),
    "between(n_clusters=3)": lambda Phi: oracle.between(_labels(Phi, 3)),
    "knn": lambda Phi: oracle.knn(Phi.T, 5),
    "knn(n_neighbors=2)": lambda Phi: oracle.knn(Phi.T, 2),
    "0.7*knn + 0.3*pca": lambda Phi: 0.7 * oracle.knn(Phi.T, 5) + 0.3 * oracle.pca(len(Phi)),
    "within + 2*between": lambda Phi: oracle.within(_labels(Phi)) + 2 * oracle.between(_labels(Phi)),
    "0.5*knn(n_neighbors=3) + identity": lambda Phi: 0.5 * oracle.knn(Phi.T, 3) + np.eye(len(Phi)),
}

every_graph = pytest.mark.parametrize("spec", GRAPHS)


def _distinct_distances(Phi):
    """Iris has equal distances, and the paper does not say which of two equally near points is the nearer."""
    return Phi + 1e-3 * np.random.default_rng(0).normal(size=Phi.shape)


@every_graph
def test_the_graph_is_the_papers_matrix(spec, Phi):
    Phi = _distinct_distances(Phi)
    built = resolve("laplacian", spec).build(Phi, SEED)
    np.testing.assert_allclose(built.toarray(), GRAPHS[spec](Phi), atol=1e-13)


@every_graph
def test_the_scatter_is_the_papers(spec, Phi):
    Phi = _distinct_distances(Phi)
    S = resolve("laplacian", spec).build(Phi, SEED).scatter(Phi)
    X = Phi.T
    np.testing.assert_allclose(S, X @ GRAPHS[spec](Phi) @ X.T, rtol=1e-10)


@pytest.mark.parametrize("spec", [spec for spec in GRAPHS if "identity" not in spec])
def test_a_shift_of_the_data_does_not_change_the_scatter(spec, Phi):
    Phi = _distinct_distances(Phi)
    # A power of two, and data on a grid: the shift itself then rounds nothing.
    Phi = np.round(Phi * 2**20) / 2**20
    here = resolve("laplacian", spec).build(Phi, SEED).scatter(Phi)
    far = resolve("laplacian", spec).build(Phi + 2.0**20, SEED).scatter(Phi + 2.0**20)
    np.testing.assert_allclose(far, here, rtol=1e-7, atol=1e-9 * np.abs(here).max())


@every_graph
def test_the_graph_is_symmetric_and_positive_semi_definite(spec, Phi):
    L = resolve("laplacian", spec).build(Phi, SEED).toarray()
    np.testing.assert_allclose(L, L.T, atol=1e-14)
    assert np.linalg.eigvalsh(L)[0] > -1e-12


@every_graph
def test_the_order_of_the_rows_does_not_change_the_scatter(spec, Phi):
    Phi = _distinct_distances(Phi)
    order = np.random.default_rng(1).permutation(len(Phi))
    built = resolve("laplacian", spec)
    np.testing.assert_allclose(
        built.build(Phi[order], SEED).scatter(Phi[order]), built.build(Phi, SEED).scatter(Phi), rtol=1e-9
    )


def test_the_order_of_the_rows_does_not_decide_between_equally_near_neighbours(Phi):
    order = np.random.default_rng(1).permutation(len(Phi))
    here, there = KNN().build(Phi, None), KNN().build(Phi[order], None)
    np.testing.assert_allclose(there.scatter(Phi[order]), here.scatter(Phi), rtol=1e-12)


@every_graph
def test_building_a_graph_leaves_the_features_unchanged(spec, Phi):
    before = Phi.copy()
    resolve("laplacian", spec).build(Phi, SEED)
    assert (Phi == before).all()


def test_the_scatters_within_and_between_clusters_sum_to_the_total_scatter(Phi):
    total = Within().build(Phi, SEED).scatter(Phi) + Between().build(Phi, SEED).scatter(Phi)
    np.testing.assert_allclose(total, Phi.T @ oracle.total(len(Phi)) @ Phi, rtol=1e-10)


def test_the_pca_scatter_is_the_covariance(Phi):
    np.testing.assert_allclose(PCA().build(Phi, None).scatter(Phi), np.cov(Phi.T, bias=True), rtol=1e-12)


@pytest.mark.parametrize("component", [Identity(), PCA(), Within(), Between()], ids=lambda component: component.name)
def test_the_thin_graphs_hold_no_square_array(component, Phi):
    graph = component.build(Phi, SEED)
    assert np.isscalar(graph.base)
    assert graph.factor.shape[1] <= 6


# Clusters ---------------------------------------------------------------------------------------------------------


def test_the_clusters_are_the_groups_that_the_data_have():
    X, groups = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], cluster_std=0.3, random_state=0)
    assert (_as_partition(_labels(X, 3)) == _as_partition(groups)).all()


def test_the_order_of_the_rows_does_not_change_the_clusters():
    # One blob: where no split is natural, the start of k-means decides.
    X = np.random.default_rng(0).normal(size=(200, 3))
    order = np.random.default_rng(1).permutation(len(X))
    assert (_as_partition(_labels(X)[order]) == _as_partition(_labels(X[order]))).all()


def test_the_seed_decides_the_clusters():
    X = np.random.default_rng(0).normal(size=(200, 3))
    assert (_labels(X, seed=0) == _labels(X, seed=0)).all()
    assert (_as_partition(_labels(X, seed=0)) != _as_partition(_labels(X, seed=1))).any()


def test_empty_clusters_are_left_out():
    X = np.repeat([[0.0, 0.0], [1.0, 5.0], [4.0, 4.0]], 10, axis=0)
    assert cluster_indicator(X, 5, SEED, "test").shape == (30, 3)
    np.testing.assert_allclose(Between().build(X, SEED).toarray(), oracle.between(np.repeat([0, 1, 2], 10)), atol=1e-14)


@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_clusters_of_equal_rows_leave_the_total_scatter_and_a_warning(shift):
    X = np.repeat([[0.0, 0.0], [1.0, 5.0], [4.0, 4.0]], 10, axis=0) + shift
    with pytest.warns(UserWarning, match=r"n_clusters=5 clusters are equal, .* using one cluster"):
        built = Within().build(X, SEED)
    np.testing.assert_allclose(built.toarray(), oracle.total(len(X)), atol=1e-14)


def test_every_row_is_in_exactly_one_cluster(Phi):
    indicator = cluster_indicator(Phi, 5, SEED, "test").toarray()
    assert set(np.unique(indicator)) == {0.0, 1.0}
    assert (indicator.sum(axis=1) == 1).all()


def test_rows_beyond_the_k_means_sample_join_their_nearest_group(monkeypatch):
    monkeypatch.setattr(linalg, "MAX_ROWS", 30)
    X, groups = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], cluster_std=0.3, random_state=0)
    assert (_as_partition(_labels(X, 3)) == _as_partition(groups)).all()


def test_the_order_of_the_rows_does_not_change_the_k_means_sample(monkeypatch):
    monkeypatch.setattr(linalg, "MAX_ROWS", 50)
    X = np.random.default_rng(0).normal(size=(200, 3))
    order = np.random.default_rng(1).permutation(len(X))
    assert (_as_partition(_labels(X)[order]) == _as_partition(_labels(X[order]))).all()


@pytest.mark.parametrize("component", [Within(), Between()], ids=["within", "between"])
def test_fewer_samples_than_clusters_is_an_error(component):
    with pytest.raises(ValueError, match=f"{component.name} needs at least n_clusters=5 samples, got 4"):
        component.build(np.eye(4), SEED)


@pytest.mark.parametrize("component", [Within(n_clusters=0), Between(n_clusters=-1), Within(n_clusters=2.5)], ids=repr)
def test_the_number_of_clusters_must_be_a_whole_number_of_at_least_one(component):
    expected = f"n_clusters must be a whole number of at least 1, got {component.n_clusters}"
    with pytest.raises(ValueError, match=re.escape(expected)):
        component.build(np.eye(4), SEED)


def test_one_cluster_has_no_scatter_between():
    with pytest.raises(ValueError, match=r"between needs at least 2 clusters .* found 1 with n_clusters=1"):
        Between(n_clusters=1).build(np.eye(4), SEED)


def test_equal_rows_have_no_scatter_between():
    with pytest.raises(ValueError, match=r"between needs at least 2 clusters .* found 1 with n_clusters=5"):
        Between().build(np.ones((10, 2)), SEED)


def test_one_cluster_within_is_the_total_scatter(Phi):
    built = Within(n_clusters=1).build(Phi, SEED)
    np.testing.assert_allclose(built.toarray(), oracle.total(len(Phi)), atol=1e-14)


# Neighbours -------------------------------------------------------------------------------------------------------


def test_knn_links_the_nearest_points_and_not_the_farthest():
    Phi = np.array([[0.0], [1.0], [10.0], [11.0]])
    A = -KNN(n_neighbors=1).build(Phi, None).toarray()
    np.fill_diagonal(A, 0.0)
    assert A.tolist() == [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]


def test_knn_links_a_pair_if_only_one_has_the_other_as_its_neighbour():
    # 5 has 3 as its nearest neighbour; 3 has 2.
    Phi = np.array([[0.0], [2.0], [3.0], [5.0]])
    L = KNN(n_neighbors=1).build(Phi, None).toarray()
    assert L[2, 3] == L[3, 2] == -1.0
    assert L[2, 2] == 2.0


def test_knn_is_sparse(Phi):
    base = KNN().build(Phi, None).base
    assert sp.issparse(base)
    assert base.nnz <= len(Phi) * (2 * 5 + 1)


def test_duplicates_are_neighbours_but_no_row_is_its_own():
    Phi = np.repeat([[0.0, 0.0], [5.0, 5.0]], 4, axis=0)
    A = -KNN(n_neighbors=3).build(Phi, None).toarray()
    np.fill_diagonal(A, 0.0)
    np.testing.assert_array_equal(A, np.kron(np.eye(2), np.ones((4, 4)) - np.eye(4)))


def test_more_duplicates_than_neighbours_still_give_every_row_its_neighbours():
    Phi = np.vstack([np.zeros((10, 2)), [[1.0, 1.0]]])
    L = KNN(n_neighbors=3).build(Phi, None).toarray()
    assert (np.diag(L) >= 3).all()
    np.testing.assert_allclose(L.sum(axis=1), 0.0, atol=1e-14)


@pytest.mark.parametrize("n_neighbors", [5, 6])
def test_knn_needs_more_samples_than_neighbours(n_neighbors):
    expected = f"more samples than neighbours, got n_neighbors={n_neighbors} and 5 samples"
    with pytest.raises(ValueError, match=expected):
        KNN(n_neighbors=n_neighbors).build(np.eye(5), None)


@pytest.mark.parametrize("n_neighbors", [0, -2, 1.5])
def test_knn_needs_a_whole_number_of_neighbours(n_neighbors):
    with pytest.raises(ValueError, match=rf"whole n_neighbors of at least 1 .* got n_neighbors={n_neighbors}"):
        KNN(n_neighbors=n_neighbors).build(np.eye(5), None)


# Sums and given matrices ------------------------------------------------------------------------------------------


def test_a_sum_without_weights_counts_each_graph_once(Phi):
    built = WeightedSum([Identity(), PCA()]).build(Phi, SEED)
    np.testing.assert_allclose(built.toarray(), np.eye(len(Phi)) + oracle.pca(len(Phi)), atol=1e-14)


def test_a_sum_takes_the_matrices_of_other_peoples_graphs(Phi):
    class Chain(Laplacian):
        def build(self, Phi, random_state):
            return sp.diags_array([np.ones(len(Phi) - 1)] * 2, offsets=[-1, 1], format="csr")

    A = Chain().build(Phi, None).toarray()
    built = WeightedSum([Chain(), Identity()], [2.0, 3.0]).build(Phi, SEED)
    np.testing.assert_allclose(built.toarray(), 2 * A + 3 * np.eye(len(Phi)), atol=1e-14)


@pytest.mark.parametrize("weights", [[1.0, 0.0], [1.0, -0.5]])
def test_the_weights_of_a_sum_must_be_positive(weights, Phi):
    with pytest.raises(ValueError, match=rf"must be positive, got \[1.0, {weights[1]}\]"):
        WeightedSum([Identity(), PCA()], weights).build(Phi, SEED)


@pytest.mark.parametrize(("laplacians", "weights"), [([Identity()], [1.0, 2.0]), ([], None)])
def test_a_sum_needs_one_weight_per_graph(laplacians, weights, Phi):
    expected = f"got {len(laplacians)} graphs and {len(weights or [])} weights"
    with pytest.raises(ValueError, match=expected):
        WeightedSum(laplacians, weights).build(Phi, SEED)


def test_no_graph_cannot_be_part_of_a_sum(Phi):
    with pytest.raises(ValueError, match="'none' has no graph and cannot be part of a sum"):
        resolve("laplacian", "none + pca").build(Phi, SEED)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_given_matrix_is_the_graph(convert, Phi):
    L = oracle.knn(Phi.T, 4)
    built = GivenLaplacian(convert(L)).build(Phi, SEED)
    assert isinstance(built, Graph)
    np.testing.assert_array_equal(built.toarray(), L)


def test_no_constraint_has_no_graph_to_build(Phi):
    with pytest.raises(NotImplementedError, match="none has no graph"):
        NoConstraint().build(Phi, SEED)


# kNN above max_exact ------------------------------------------------------------------------------------------------


def _sampled(seed, n_queries, Phi):
    return KNN(n_neighbors=4, max_exact=10, n_queries=n_queries).build(Phi, seed)


def test_with_every_point_queried_the_sampled_graph_is_the_whole_graph():
    Phi = np.random.default_rng(0).normal(size=(60, 3))
    whole = KNN(n_neighbors=4).build(Phi, None)
    np.testing.assert_allclose(_sampled(0, 60, Phi).toarray(), whole.toarray(), atol=1e-12)


def test_duplicates_are_not_their_own_neighbours_in_a_sampled_graph():
    Phi = np.repeat(np.random.default_rng(0).normal(size=(8, 2)), 7, axis=0)
    L = _sampled(0, 56, Phi).toarray()
    # Four neighbours each, all among the six other copies: no point is linked to itself or to another group.
    np.testing.assert_allclose(_sampled(0, 56, Phi).scatter(Phi), 0.0, atol=1e-12)
    assert (np.diag(L) >= 4 - 1e-12).all()


def test_the_scatter_of_a_sampled_graph_is_an_unbiased_estimate():
    Phi = np.random.default_rng(0).normal(size=(80, 2)) * [1.0, 5.0]
    whole = KNN(n_neighbors=4).build(Phi, None).scatter(Phi)
    estimates = np.array([_sampled(seed, 20, Phi).scatter(Phi) for seed in range(400)])
    error = estimates.std(axis=0) / np.sqrt(len(estimates))
    assert (np.abs(estimates.mean(axis=0) - whole) < 4 * error).all()


def test_a_sampled_graph_says_so_through_sums_and_scales():
    Phi = np.random.default_rng(0).normal(size=(60, 3))
    assert _sampled(0, 20, Phi).is_estimate
    assert (0.5 * _sampled(0, 20, Phi) + PCA().build(Phi, None)).is_estimate
    assert not KNN().build(Phi, None).is_estimate


def test_spectral_regression_refuses_a_sampled_graph():
    Phi = np.random.default_rng(0).normal(size=(60, 3))
    graph = "knn(max_exact=50, n_queries=20)"
    detector = GESSVDD(
        kernel="linear", laplacian=graph, updater="spectral_regression", n_components=2, trim=None, random_state=0
    )
    with pytest.raises(
        ValueError, match="needs every edge of the graph, and the graph of these 60 samples is a sample"
    ):
        detector.fit(Phi)
    detector.set_params(updater="gradient").fit(Phi)
    assert np.isfinite(detector.decision_scores_).all()


@pytest.mark.parametrize("n_queries", [0, 61, 2.5])
def test_an_impossible_number_of_queries_is_an_error(n_queries):
    Phi = np.random.default_rng(0).normal(size=(60, 3))
    with pytest.raises(
        ValueError, match=rf"n_queries must be a whole number from 1 to the 60 samples, got {n_queries}"
    ):
        _sampled(0, n_queries, Phi)
