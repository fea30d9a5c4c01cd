"""Duplicates, constant data, equal distances, few samples, and parameters that cannot be used."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_iris

import pyod_gessvdd_graphs
from pyod_gessvdd import GESSVDD
from pyod_gessvdd_graphs import LLE, MST, Epsilon, Farthest, Heat, MutualKNN, SelfTuning, SharedNN, epsilon

GRAPHS = [getattr(pyod_gessvdd_graphs, name) for name in pyod_gessvdd_graphs.__all__]
WITH_NEIGHBOURS = [Heat, MutualKNN, Epsilon, SelfTuning, LLE, SharedNN, Farthest]

every_graph = pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.name)


def adjacency(component, Phi):
    A = -component.build(np.asarray(Phi, dtype=float), 0).toarray()
    np.fill_diagonal(A, 0.0)
    return A


def small(graph):
    """The graph with few enough neighbours for a dozen of samples."""
    return SelfTuning(n_neighbors=3, scale_neighbor=3) if graph is SelfTuning else graph(n_neighbors=3)


# The order of the rows --------------------------------------------------------------------------------------------


@every_graph
@pytest.mark.parametrize("data", ["iris", "grid"])
def test_the_order_of_the_rows_does_not_decide_between_equal_distances(graph, data):
    grid = np.stack(np.meshgrid(*[np.arange(6.0)] * 2), axis=-1).reshape(-1, 2)
    Phi = {"iris": load_iris().data, "grid": grid}[data]
    order = np.random.default_rng(1).permutation(len(Phi))
    here, there = graph().build(Phi, 0), graph().build(Phi[order], 0)
    expected = here.scatter(Phi)
    np.testing.assert_allclose(there.scatter(Phi[order]), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@every_graph
def test_a_permutation_of_the_rows_permutes_the_graph(graph, Phi):
    order = np.random.default_rng(1).permutation(len(Phi))
    here, there = graph().build(Phi, 0).toarray(), graph().build(Phi[order], 0).toarray()
    np.testing.assert_allclose(there, here[np.ix_(order, order)], atol=1e-12)


@every_graph
@settings(max_examples=25, deadline=None)
@given(
    Phi=arrays(float, (12, 2), elements=st.integers(-2, 2).map(float)),
    scale=st.sampled_from([1.0, 1e-120, 1e120]),
)
def test_rows_on_a_coarse_grid_give_a_finite_positive_semi_definite_matrix(graph, Phi, scale):
    if graph is not LLE and scale > 1:
        scale = 1e10
    L = small(graph).build(Phi * scale, 0).toarray()
    assert np.isfinite(L).all()
    np.testing.assert_allclose(L, L.T, atol=1e-12 * np.abs(L).max())
    assert np.linalg.eigvalsh(L)[0] >= -1e-10 * max(1.0, np.abs(L).max())
    np.testing.assert_allclose(L.sum(axis=1), 0.0, atol=1e-10 * max(1.0, np.abs(L).max()))


@every_graph
def test_building_a_graph_leaves_the_features_unchanged(graph, Phi):
    before = Phi.copy()
    Phi.flags.writeable = False
    graph().build(Phi, 0)
    assert (Phi == before).all()


# Duplicates and constant data -------------------------------------------------------------------------------------


@every_graph
def test_samples_that_are_all_equal_have_a_graph_without_scatter(graph):
    Phi = np.full((30, 2), 3.0)
    graph = graph().build(Phi, 0)
    assert np.isfinite(graph.toarray()).all()
    np.testing.assert_allclose(graph.scatter(Phi), 0.0, atol=1e-12)


@pytest.mark.parametrize("graph", [Heat, MutualKNN, SelfTuning, LLE, SharedNN], ids=lambda graph: graph.name)
def test_more_copies_of_each_row_than_neighbours_are_refused_by_the_detector(graph):
    X = np.repeat([[0.0, 0.0], [5.0, 5.0], [9.0, 0.0]], 12, axis=0)
    with pytest.raises(ValueError, match=f"laplacian '{graph.name}' leaves no scatter in the features"):
        GESSVDD(kernel="linear", laplacian=graph()).fit(X)


@pytest.mark.parametrize("graph", [Epsilon, Farthest, MST], ids=lambda graph: graph.name)
def test_more_copies_of_each_row_than_neighbours_are_no_matter_to_graphs_that_reach_farther(graph):
    X = np.repeat([[0.0, 0.0], [5.0, 5.0], [9.0, 0.0]], 12, axis=0)
    assert np.isfinite(GESSVDD(kernel="linear", laplacian=graph(), n_components=1).fit(X).decision_scores_).all()


@pytest.mark.parametrize("graph", [Heat, SelfTuning, SharedNN, MutualKNN], ids=lambda graph: graph.name)
def test_groups_of_equal_rows_are_linked_within_and_not_between(graph):
    Phi = np.repeat([[0.0, 0.0], [5.0, 5.0], [9.0, 0.0]], 4, axis=0)
    np.testing.assert_array_equal(adjacency(small(graph), Phi), np.kron(np.eye(3), np.ones((4, 4)) - np.eye(4)))


def test_lle_reconstructs_a_row_from_its_copies_alone():
    Phi = np.repeat([[0.0, 0.0], [5.0, 5.0], [9.0, 0.0]], 4, axis=0)
    M = np.eye(12) - np.kron(np.eye(3), (np.ones((4, 4)) - np.eye(4)) / 3)
    np.testing.assert_allclose(LLE(n_neighbors=3).build(Phi, 0).toarray(), M.T @ M, atol=1e-14)


def test_the_width_of_the_heat_kernel_does_not_count_the_duplicates():
    # Of the six lists of one neighbour four have the distance 0, and two the distance 2.
    A = adjacency(Heat(n_neighbors=1), [[0.0], [0.0], [10.0], [10.0], [20.0], [22.0]])
    np.testing.assert_allclose(A[4, 5], np.exp(-0.5))
    assert A[0, 1] == A[2, 3] == 1.0


def test_a_scale_of_zero_becomes_the_smallest_positive_distance():
    # 0 is there three times, so that its second neighbour is at the distance 0; the smallest positive distance is 1.
    A = adjacency(SelfTuning(n_neighbors=2, scale_neighbor=2), [[0.0], [0.0], [0.0], [1.0], [3.0]])
    assert A[0, 1] == A[0, 2] == 1.0
    # σ of 1 is the distance 1 to a zero, σ of 3 the distance 3.
    np.testing.assert_allclose(A[3, :3].sum(), 2 * np.exp(-1.0))
    np.testing.assert_allclose(A[3, 4], np.exp(-4 / 3))


def test_the_radius_is_found_although_every_row_is_there_often():
    Phi = np.repeat([[0.0], [1.0], [2.0], [10.0]], 8, axis=0)
    A = adjacency(Epsilon(n_neighbors=1), Phi)
    assert A[0, 8] == A[8, 16] == A[0, 1] == 1.0
    assert A[0, 16] == 0.0


def test_a_spanning_tree_links_a_copy_to_its_original():
    A = adjacency(MST(), [[1.0], [5.0], [1.0], [1.0], [4.0]])
    assert A.sum() == 2 * 4
    assert A[0, 2] == A[0, 3] == A[1, 4] == 1.0


# Graphs in several parts ------------------------------------------------------------------------------------------


def test_a_sample_that_nobody_lists_has_no_mutual_edge():
    A = adjacency(MutualKNN(n_neighbors=2), [[0.0], [1.0], [2.0], [50.0]])
    assert A[3].sum() == 0.0
    assert A[:3, :3].sum() == 6.0


def test_a_sample_outside_every_radius_is_linked_to_its_nearest_neighbour_unless_told_otherwise():
    Phi = [[0.0], [1.0], [2.0], [50.0]]
    assert adjacency(Epsilon(radius=1.0), Phi)[3].tolist() == [0.0, 0.0, 1.0, 0.0]
    assert adjacency(Epsilon(radius=1.0, link_isolated=False), Phi)[3].sum() == 0.0


def test_two_samples_that_are_alone_together_are_linked_once():
    assert adjacency(Epsilon(radius=1.0), [[0.0], [9.0]]).tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_points_on_the_radius_are_inside():
    Phi = np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3 + 0.7], [0.1, 0.2, 0.3 + 1.4]])
    assert adjacency(Epsilon(radius=0.7, link_isolated=False), Phi).sum() == 4.0


def test_neighbour_trees_are_joined_by_the_shortest_links():
    Phi = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [30.0], [31.0]]
    A = adjacency(MST(max_exact=0, n_neighbors=1), Phi)
    np.testing.assert_array_equal(A, adjacency(MST(), Phi))
    assert A[2, 3] == A[5, 6] == 1.0
    assert A.sum() == 2 * 7


def test_a_graph_in_parts_serves_the_detector_with_every_updater():
    X = np.vstack([np.random.default_rng(seed).normal(size=(20, 3)) + 20 * seed for seed in range(3)])
    for updater in ("gradient", "spectral", "spectral_regression"):
        detector = GESSVDD(kernel="linear", laplacian="mutual_knn", updater=updater, n_components=2, random_state=0)
        assert np.isfinite(detector.fit(X).decision_scores_).all()


# What cannot be used ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_neighbors", [0, 5, 6, 2.5, "many"])
@pytest.mark.parametrize("graph", WITH_NEIGHBOURS, ids=lambda graph: graph.name)
def test_every_sample_needs_its_neighbours(graph, n_neighbors):
    expected = (
        f"{graph.name} needs a whole n_neighbors of at least 1 and more samples than neighbours, "
        f"got n_neighbors={n_neighbors!r} and 5 samples"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        graph(n_neighbors=n_neighbors).build(np.eye(5), 0)


def test_the_spanning_tree_needs_neighbours_only_above_its_exact_size():
    assert MST(n_neighbors=9).build(np.eye(5), 0).n_nodes == 5
    with pytest.raises(ValueError, match=r"^mst needs a whole n_neighbors .* got n_neighbors=9 and 5 samples$"):
        MST(n_neighbors=9, max_exact=4).build(np.eye(5), 0)


def test_the_scale_needs_its_neighbour():
    expected = (
        "self_tuning needs a whole scale_neighbor of at least 1 and more samples than neighbours, "
        "got scale_neighbor=5 and 5 samples"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        SelfTuning(n_neighbors=2, scale_neighbor=5).build(np.eye(5), 0)


@pytest.mark.parametrize("value", [0, -1.0, float("nan"), float("inf"), True, "wide"])
@pytest.mark.parametrize(
    ("graph", "name", "otherwise"), [(Heat, "width", " or None"), (Epsilon, "radius", " or None"), (LLE, "reg", "")]
)
def test_a_width_a_radius_and_a_regularisation_must_be_positive(graph, name, otherwise, value):
    expected = f"{graph.name} needs a positive number as {name}{otherwise}, got {name}={value!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        graph(**{name: value}).build(np.eye(8), 0)


@pytest.mark.parametrize("max_exact", [-1, 2.5, None])
def test_the_exact_size_of_a_spanning_tree_must_be_a_whole_number(max_exact):
    expected = f"mst needs a whole max_exact of at least 0, got max_exact={max_exact!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        MST(max_exact=max_exact).build(np.eye(8), 0)


def test_a_radius_that_links_too_many_pairs_is_refused(monkeypatch):
    monkeypatch.setattr(epsilon, "MAX_ENTRIES", 1000)
    Phi = np.random.default_rng(0).normal(size=(200, 2))
    assert Epsilon(radius=0.05).build(Phi, 0).n_nodes == 200
    expected = "epsilon links more than 1,000 pairs of the 200 samples at a radius of 9; give a smaller radius"
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        Epsilon(radius=9.0).build(Phi, 0)
