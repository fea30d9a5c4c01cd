"""The Graph value object against dense N × N matrices."""

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings

from pyod_gessvdd import Graph, linalg
from pyod_gessvdd import graph as graph_module
from pyod_gessvdd.linalg import row_blocks
from tests.oracle import graphs as oracle

N = 30


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(params=[0, 256], ids=["iterative", "dense"])
def both_inverses(request, monkeypatch):
    """A sparse graph's pseudo-inverse as in a large graph, and as in a small one."""
    monkeypatch.setattr(graph_module, "SMALL", request.param)


def _ring(n):
    """Adjacency of a ring, and so of a connected sparse graph."""
    return sp.diags_array([np.ones(n - 1), np.ones(n - 1), [1.0], [1.0]], offsets=[1, -1, n - 1, 1 - n], format="csr")


def _two_rings():
    return sp.block_diag([_ring(N // 3), _ring(N - N // 3)], format="csr")


LABELS = np.arange(N) % 4
INDICATOR = sp.csr_array(np.eye(4)[LABELS])


def _pca():
    return Graph.low_rank(np.ones((N, 1)), np.array([-1 / N**2]), diagonal=1 / N)


SHARES = np.random.default_rng(2).dirichlet(np.ones(N))


def _weighted_pca():
    return Graph(N, SHARES, SHARES[:, None], np.array([-1.0]))


def _within():
    return Graph.low_rank(INDICATOR, -1 / INDICATOR.sum(axis=0), diagonal=1.0)


def _between():
    factor = sp.hstack([INDICATOR, sp.csr_array(np.ones((N, 1)))], format="csr")
    return Graph.low_rank(factor, np.append(1 / INDICATOR.sum(axis=0), -1 / N))


def _alpha_graph():
    """L_α as a graph whose base diag(α) does not kill constants although the whole does."""
    alpha = np.random.default_rng(1).dirichlet(np.ones(N))
    return Graph(N, sp.diags_array(alpha, format="csr"), alpha[:, None], np.array([-1.0]))


#: Every way in which a Laplacian can be held, with the dense matrix that it stands for.
KINDS = {
    "identity": (Graph.identity(N, 2.5), 2.5 * np.eye(N)),
    "diagonal of its own": (Graph(N, np.linspace(1, 2, N)), np.diag(np.linspace(1, 2, N))),
    "diagonal of its own and thin": (_weighted_pca(), np.diag(SHARES) - np.outer(SHARES, SHARES)),
    "diagonal and thin": (_pca(), oracle.pca(N)),
    "diagonal and sparse thin": (_within(), oracle.within(LABELS)),
    "thin only": (_between(), oracle.between(LABELS)),
    "sparse connected": (Graph.from_adjacency(_ring(N)), oracle.degree_laplacian(_ring(N).toarray())),
    "sparse disconnected": (Graph.from_adjacency(_two_rings()), oracle.degree_laplacian(_two_rings().toarray())),
    "sparse connected and thin": (
        0.7 * Graph.from_adjacency(_ring(N)) + 0.3 * _pca(),
        0.7 * oracle.degree_laplacian(_ring(N).toarray()) + 0.3 * oracle.pca(N),
    ),
    "sparse disconnected and thin": (
        Graph.from_adjacency(_two_rings()) + 2.0 * _between(),
        oracle.degree_laplacian(_two_rings().toarray()) + 2.0 * oracle.between(LABELS),
    ),
    "sparse regular": (
        Graph.from_adjacency(_ring(N)) + Graph.identity(N),
        oracle.degree_laplacian(_ring(N).toarray()) + np.eye(N),
    ),
    "sparse with negative edges": (Graph.from_matrix(sp.csr_array(oracle.between(LABELS))), oracle.between(LABELS)),
    "dense": (Graph.from_matrix(oracle.between(LABELS)), oracle.between(LABELS)),
    "dense and thin": (Graph.from_matrix(oracle.within(LABELS)) + _pca(), oracle.within(LABELS) + oracle.pca(N)),
    "sparse base that sees constants": (_alpha_graph(), _alpha_graph().toarray()),
}

every_kind = pytest.mark.parametrize(("graph", "L"), KINDS.values(), ids=KINDS)


@every_kind
def test_a_graph_is_the_matrix_it_stands_for(graph, L):
    np.testing.assert_allclose(graph.toarray(), L, atol=1e-14)


@every_kind
def test_the_diagonal_is_the_matrix_diagonal(graph, L):
    np.testing.assert_allclose(graph.diagonal, np.diag(L), atol=1e-14)


@every_kind
def test_dot_multiplies_vectors_and_matrices(graph, L, rng):
    B = rng.normal(size=(N, 3))
    np.testing.assert_allclose(graph.dot(B), L @ B, atol=1e-13)
    np.testing.assert_allclose(graph.dot(B[:, 0]), L @ B[:, 0], atol=1e-13)


@pytest.mark.usefixtures("both_inverses")
@every_kind
def test_pinv_dot_is_the_pseudo_inverse_times_the_vectors(graph, L, rng):
    B = rng.normal(size=(N, 3))
    expected = np.linalg.pinv(L, rcond=1e-10, hermitian=True) @ B
    np.testing.assert_allclose(graph.pinv_dot(B), expected, atol=1e-8 * np.abs(expected).max())
    np.testing.assert_allclose(graph.pinv_dot(B[:, 0]), expected[:, 0], atol=1e-8 * np.abs(expected).max())


@pytest.mark.usefixtures("both_inverses")
@every_kind
def test_pinv_dot_keeps_its_relative_digits_for_small_right_hand_sides(graph, L, rng):
    b = 1e-12 * rng.normal(size=N)
    expected = np.linalg.pinv(L, rcond=1e-10, hermitian=True) @ b
    np.testing.assert_allclose(graph.pinv_dot(b), expected, atol=1e-8 * np.abs(expected).max())


@pytest.mark.usefixtures("both_inverses")
@every_kind
def test_pinv_dot_of_nothing_is_nothing(graph, L):
    assert (graph.pinv_dot(np.zeros((N, 2))) == 0).all()


def test_pinv_dot_of_a_long_chain_keeps_its_digits(rng):
    # The condition of a chain grows with the square of its length.
    chain = sp.diags_array([np.ones(399)] * 2, offsets=[-1, 1], format="csr")
    b = rng.normal(size=400)
    expected = np.linalg.pinv(oracle.degree_laplacian(chain.toarray()), rcond=1e-10, hermitian=True) @ b
    found = Graph.from_adjacency(chain).pinv_dot(b)
    np.testing.assert_allclose(found, expected, atol=1e-7 * np.abs(expected).max())


@every_kind
def test_kills_constants_says_whether_all_row_sums_vanish(graph, L):
    assert graph.kills_constants == (np.abs(L.sum(axis=1)).max() < 1e-12)


@every_kind
def test_scatter_is_the_data_times_the_laplacian_times_the_data(graph, L, rng):
    Phi = rng.normal(size=(N, 4)) + 3.0
    np.testing.assert_allclose(graph.scatter(Phi), Phi.T @ L @ Phi, atol=1e-11)


@every_kind
def test_scatter_far_from_the_origin_keeps_its_digits_where_the_graph_does_not_see_the_shift(graph, L, rng):
    Phi = rng.normal(size=(N, 4))
    expected = Phi.T @ L @ Phi
    if not graph.kills_constants:  # there the shift is part of the scatter, and the dense formula has its digits too
        expected = (Phi + 1e6).T @ L @ (Phi + 1e6)
    # The data themselves are rounded to 1e-10 there.
    np.testing.assert_allclose(graph.scatter(Phi + 1e6), expected, atol=1e-8 * np.abs(expected).max())


@every_kind
def test_scatter_does_not_depend_on_the_block_size(graph, L, rng, monkeypatch):
    Phi = rng.normal(size=(N, 4))
    monkeypatch.setattr(linalg, "BLOCK_ELEMENTS", 7 * 4)
    np.testing.assert_allclose(graph.scatter(Phi), Phi.T @ L @ Phi, atol=1e-12)


@every_kind
def test_scatter_is_symmetric_to_the_last_bit(graph, L, rng):
    S = graph.scatter(rng.normal(size=(N, 5)))
    assert (S == S.T).all()


@pytest.mark.parametrize("left", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("right", KINDS.values(), ids=KINDS)
def test_graphs_add_and_scale_like_their_matrices(left, right):
    combined = 0.7 * left[0] + right[0] * 0.3
    np.testing.assert_allclose(combined.toarray(), 0.7 * left[1] + 0.3 * right[1], atol=1e-13)


@pytest.mark.parametrize("kind", ["sparse connected", "diagonal and sparse thin", "sparse connected and thin"])
def test_sums_of_sparse_graphs_stay_sparse(kind):
    combined = KINDS["sparse disconnected"][0] + KINDS[kind][0]
    assert sp.issparse(combined.base)
    assert combined.base.nnz < N * N / 4


@every_kind
def test_a_rescaled_graph_is_the_matrix_between_two_diagonals(graph, L, rng):
    scale = rng.uniform(0.5, 2.0, size=N)
    np.testing.assert_allclose(graph.rescaled(scale).toarray(), L * np.outer(scale, scale), atol=1e-13)


@pytest.mark.usefixtures("both_inverses")
@every_kind
def test_the_pseudo_inverse_of_a_rescaled_graph_is_found(graph, L, rng):
    scale, B = rng.uniform(0.5, 2.0, size=N), rng.normal(size=(N, 3))
    expected = np.linalg.pinv(L * np.outer(scale, scale), rcond=1e-12, hermitian=True) @ B
    np.testing.assert_allclose(graph.rescaled(scale).pinv_dot(B), expected, atol=1e-6 * np.abs(expected).max())


def test_a_weighted_diagonal_in_the_units_of_its_weights_is_a_multiple_of_the_identity():
    graph = _weighted_pca().rescaled(SHARES**-0.5)
    assert graph.has_closed_form
    assert graph.base == pytest.approx(1.0, rel=1e-14)


def test_graphs_of_different_sizes_do_not_add():
    with pytest.raises(ValueError, match="cannot add graphs of 3 and 4 nodes"):
        Graph.identity(3) + Graph.identity(4)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, sp.coo_array], ids=["dense", "csr", "coo"])
def test_from_adjacency_is_degrees_minus_weights_and_ignores_the_diagonal(convert, rng):
    A = rng.uniform(size=(8, 8))
    A = A + A.T
    np.testing.assert_allclose(Graph.from_adjacency(convert(A)).toarray(), oracle.degree_laplacian(A), atol=1e-14)


def test_from_adjacency_leaves_the_given_weights_unchanged():
    A = np.ones((4, 4))
    Graph.from_adjacency(A)
    assert (A == 1).all()


@pytest.mark.parametrize("matrix", [np.ones((3, 4)), sp.csr_array(np.ones((3, 4)))], ids=["dense", "sparse"])
def test_from_matrix_refuses_a_matrix_that_is_not_square(matrix):
    with pytest.raises(ValueError, match=r"must be a square matrix, got shape \(3, 4\)"):
        Graph.from_matrix(matrix)


@pytest.mark.usefixtures("both_inverses")
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(hnp.arrays(float, (6, 6), elements=st.sampled_from([0.0, 0.0, 0.5, 1.0, 3.0])))
def test_the_pseudo_inverse_of_any_sparse_weighted_graph_is_found(weights):
    A = np.triu(weights, 1) + np.triu(weights, 1).T
    graph = Graph.from_adjacency(sp.csr_array(A))
    expected = np.linalg.pinv(oracle.degree_laplacian(A), rcond=1e-10, hermitian=True)
    np.testing.assert_allclose(graph.pinv_dot(np.eye(6)), expected, atol=1e-8)


# The Kron reduction -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["sparse connected", "sparse connected and thin"])
@pytest.mark.parametrize("n_kept", [1, 7, N - 1, N])
def test_the_kron_reduction_is_the_schur_complement_of_the_dense_matrix(kind, n_kept, rng):
    graph, L = KINDS[kind]
    nodes = np.sort(rng.choice(N, n_kept, replace=False))
    assert graph.is_reducible(nodes)
    found = np.column_stack([graph.kron_reduction(nodes)(e) for e in np.eye(n_kept)])
    np.testing.assert_allclose(found, oracle.schur_complement(L, nodes), atol=1e-9)


def test_a_part_of_the_graph_without_any_of_the_nodes_does_not_change_their_kron_reduction():
    nodes = np.array([0, 3, 4])
    product = Graph.from_adjacency(_two_rings()).kron_reduction(nodes)
    alone = oracle.schur_complement(Graph.from_adjacency(_ring(N // 3)).toarray(), nodes)
    np.testing.assert_allclose(np.column_stack([product(e) for e in np.eye(3)]), alone, atol=1e-9)


@pytest.mark.parametrize("scale", [np.ones(N), np.linspace(0.5, 2.0, N)], ids=["plain", "rescaled"])
def test_the_kron_reduction_onto_several_parts_inverts_the_block_of_the_pseudo_inverse(scale):
    rings = sp.block_diag([_ring(8), _ring(10), _ring(5), _ring(N - 23)], format="csr")
    graph = Graph.from_adjacency(rings).rescaled(scale)
    nodes = np.array([0, 1, 5, 9, 12, 13, 18, 20, 21])  # none of the last ring
    assert graph.is_reducible(nodes)
    K = np.column_stack([graph.kron_reduction(nodes)(e) for e in np.eye(len(nodes))])
    null = 1 / scale[nodes]
    project = np.eye(len(nodes)) - np.outer(null, null) / (null @ null)
    block = np.linalg.pinv(graph.toarray(), rcond=1e-12, hermitian=True)[np.ix_(nodes, nodes)]
    np.testing.assert_allclose(K, K.T, atol=1e-9)
    np.testing.assert_allclose(K @ null, 0.0, atol=1e-9)
    np.testing.assert_allclose(K @ project @ block @ project, project, atol=1e-8)


def test_a_graph_is_not_reducible_to_nodes_of_several_parts_that_leave_nothing_of_one():
    graph = Graph.from_adjacency(_two_rings())
    assert graph.is_reducible(np.arange(N // 3))
    assert graph.is_reducible(np.array([0, N - 1]))
    assert not graph.is_reducible(np.append(np.arange(N // 3), N - 1))


@pytest.mark.parametrize("graph", [Graph.identity(N), _pca(), _alpha_graph()], ids=["identity", "pca", "no links"])
def test_a_graph_whose_null_space_is_unknown_is_not_reducible(graph):
    assert not graph.is_reducible(np.arange(3))


def test_row_blocks_cover_every_row_once():
    blocks = list(row_blocks(10, linalg.BLOCK_ELEMENTS // 3))
    assert [(block.start, block.stop) for block in blocks] == [(0, 3), (3, 6), (6, 9), (9, 10)]


def test_a_row_that_is_larger_than_a_block_is_a_block_of_its_own():
    assert len(list(row_blocks(2, 2 * linalg.BLOCK_ELEMENTS))) == 2
