"""The approximate graph against the exact one: recall, determinism, order of the rows, edge data, errors."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from pyod_gessvdd_ann import ANN
from pyod_gessvdd_ann.ann import first_others

#: By descent whatever the number of samples.
DESCENT = ANN(max_exact=0)


def groups(n_samples, n_features, seed=0):
    """Normal groups of different spread, as large, wide data look like."""
    random = np.random.default_rng(seed)
    centres = 3 * random.normal(size=(10, n_features))
    member = random.integers(10, size=n_samples)
    return centres[member] + random.uniform(0.5, 2.0, size=10)[member, None] * random.normal(
        size=(n_samples, n_features)
    )


def edges(component, Phi, seed=0):
    A = -component.build(Phi, seed).base
    return sp.csr_array(A - sp.diags_array(A.diagonal()))


def all_pairs(Phi, k):
    """The paper's formula, from all pairs of samples."""
    distances = cdist(Phi, Phi)
    np.fill_diagonal(distances, np.inf)
    A = np.zeros(distances.shape)
    np.put_along_axis(A, np.argsort(distances, axis=1)[:, :k], 1.0, axis=1)
    return np.maximum(A, A.T)


@pytest.mark.parametrize("n_features", [2, 20, 100])
def test_at_least_nine_in_ten_edges_of_the_exact_graph_are_found(n_features):
    Phi = groups(2000, n_features)
    exact, found = all_pairs(Phi, 5), edges(DESCENT, Phi).toarray()
    recall = (exact * found).sum() / exact.sum()
    assert recall >= 0.9
    assert found.sum() <= 1.1 * exact.sum()


def test_the_scatter_is_close_to_the_exact_graphs():
    Phi = groups(2000, 20)
    exact, found = ANN().build(Phi, 0).scatter(Phi), DESCENT.build(Phi, 0).scatter(Phi)
    assert np.linalg.norm(found - exact) < 0.02 * np.linalg.norm(exact)


def test_more_candidates_find_more_of_the_neighbours():
    Phi = groups(2000, 100)
    exact = all_pairs(Phi, 5)
    few, many = ((exact * edges(ANN(max_exact=0, n_candidates=n), Phi).toarray()).sum() / exact.sum() for n in (5, 40))
    assert few < many


def test_up_to_max_exact_samples_the_graph_is_the_papers():
    Phi = groups(300, 20)
    np.testing.assert_array_equal(edges(ANN(max_exact=300), Phi).toarray(), all_pairs(Phi, 5))


def test_max_exact_samples_are_searched_exactly_and_one_more_by_descent():
    Phi = groups(1001, 100)
    few_candidates = ANN(n_candidates=1, n_neighbors=1, max_exact=1000, n_iters=1, n_trees=1)
    assert (edges(few_candidates, Phi[:1000]).toarray() == all_pairs(Phi[:1000], 1)).all()
    assert (edges(few_candidates, Phi).toarray() != all_pairs(Phi, 1)).any()


def test_the_seed_decides_the_graph():
    Phi = groups(2000, 100)
    first, again, other = (edges(ANN(max_exact=0, n_candidates=5), Phi, seed) for seed in (0, 0, 1))
    assert abs(first - again).max() == 0.0
    assert abs(first - other).max() > 0.0


def test_the_global_random_state_is_left_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - it is what must not change
    DESCENT.build(groups(300, 5), 0)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


def test_a_permutation_of_the_rows_permutes_the_graph():
    Phi = groups(1500, 30)
    order = np.random.default_rng(1).permutation(len(Phi))
    here, there = edges(DESCENT, Phi), edges(DESCENT, Phi[order])
    assert abs(there - here[order][:, order]).max() == 0.0


@pytest.mark.parametrize(("scale", "shift"), [(2.0**90, 0.0), (2.0**-90, 0.0), (1.0, 2.0**20)])
def test_neither_the_unit_nor_a_shift_costs_neighbours(scale, shift):
    # On a grid, and by powers of two: the change itself then rounds nothing.
    Phi = np.round(groups(1000, 8) * 2**20) / 2**20
    exact, found = all_pairs(Phi, 5), edges(DESCENT, Phi * scale + shift).toarray()
    assert (exact * found).sum() >= 0.9 * exact.sum()


def test_every_sample_has_its_neighbours_and_is_not_its_own():
    A = edges(ANN(max_exact=0, n_neighbors=7), groups(1000, 10))
    assert (A.sum(axis=1) >= 7).all()
    assert (A.diagonal() == 0).all()
    assert A.nnz <= 1000 * 2 * 7


def test_duplicates_are_linked_among_themselves():
    Phi = np.repeat(groups(40, 6), 25, axis=0)
    graph = DESCENT.build(Phi, 0)
    np.testing.assert_allclose(graph.scatter(Phi), 0.0, atol=1e-10)


def test_samples_that_are_all_equal_have_a_graph_without_scatter():
    Phi = np.full((500, 3), 7.0)
    np.testing.assert_allclose(DESCENT.build(Phi, 0).scatter(Phi), 0.0, atol=1e-10)


def test_the_features_are_left_unchanged():
    Phi = groups(300, 5)
    before = Phi.copy()
    Phi.flags.writeable = False
    DESCENT.build(Phi, 0)
    assert (Phi == before).all()


# Lists ------------------------------------------------------------------------------------------------------------


def test_the_sample_itself_is_left_out_of_its_list_wherever_it_stands():
    lists = np.array([[0, 1, 2], [2, 1, 0], [0, 1, 2], [1, 0, 2]])
    assert first_others(lists, 2).tolist() == [[1, 2], [2, 0], [0, 1], [1, 0]]


def test_lists_that_are_too_short_are_an_error_that_says_what_to_raise():
    lists = np.array([[0, 1, -1], [1, 0, 2], [2, 0, -1]])
    assert first_others(lists, 1).tolist() == [[1], [0], [0]]
    expected = "ann found fewer than n_neighbors=2 neighbours of 2 samples; raise n_candidates"
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        first_others(lists, 2)


# What cannot be used ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_neighbors", [0, 5, 6, 2.5])
def test_every_sample_needs_its_neighbours(n_neighbors):
    expected = (
        "ann needs a whole n_neighbors of at least 1 and more samples than neighbours, "
        f"got n_neighbors={n_neighbors} and 5 samples"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        ANN(n_neighbors=n_neighbors).build(np.eye(5), 0)


@pytest.mark.parametrize(
    ("parameter", "value", "allowed"),
    [
        ("n_candidates", 0, "at least 1"),
        ("n_candidates", None, "at least 1"),
        ("n_trees", 0, "at least 1 or None"),
        ("n_iters", 1.5, "at least 1 or None"),
        ("max_exact", -1, "at least 0"),
        ("n_jobs", -1, "at least 1"),
        ("n_jobs", None, "at least 1"),
    ],
)
def test_the_search_needs_whole_numbers(parameter, value, allowed):
    expected = f"ann needs a whole {parameter} of {allowed}, got {parameter}={value!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        ANN(**{parameter: value}).build(np.eye(9), 0)


@pytest.mark.parametrize("n_samples", [7, 31, 60])
def test_few_samples_can_be_searched_by_descent(n_samples):
    Phi = groups(n_samples, 3)
    np.testing.assert_array_equal(edges(DESCENT, Phi).toarray(), all_pairs(Phi, 5))
