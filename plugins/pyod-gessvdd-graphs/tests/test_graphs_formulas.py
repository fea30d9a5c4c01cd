"""Every graph against its formula, written out with all pairs."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist
from sklearn.manifold import LocallyLinearEmbedding

from pyod_gessvdd_graphs import LLE, MST, Epsilon, Farthest, Heat, MutualKNN, SelfTuning, SharedNN


def distance(Phi, i, j):
    return np.sqrt(sum((a - b) ** 2 for a, b in zip(Phi[i], Phi[j], strict=True)))


def ranked(Phi, i):
    """All other rows, the nearest to i first."""
    return sorted((j for j in range(len(Phi)) if j != i), key=lambda j: distance(Phi, i, j))


def lists(Phi, k):
    return [set(ranked(Phi, i)[:k]) for i in range(len(Phi))]


def laplacian(Phi, linked, weight=lambda i, j: 1.0):
    """D − A with A_ij = weight(i, j) for the linked pairs; weights below 1e-8 are no edges."""
    pairs = range(len(Phi))
    A = np.array([[float(weight(i, j)) if i != j and linked(i, j) else 0.0 for j in pairs] for i in pairs])
    A[A < 1e-8] = 0.0
    return np.diag(A.sum(axis=1)) - A


def heat(Phi, k, width=None):
    N = lists(Phi, k)
    if width is None:
        width = np.median([distance(Phi, i, j) for i in range(len(Phi)) for j in N[i]])
    return laplacian(
        Phi, lambda i, j: i in N[j] or j in N[i], lambda i, j: np.exp(-(distance(Phi, i, j) ** 2) / (2 * width**2))
    )


def mutual_knn(Phi, k):
    N = lists(Phi, k)
    return laplacian(Phi, lambda i, j: i in N[j] and j in N[i])


def epsilon(Phi, radius=None, k=5, link_isolated=True):
    if radius is None:
        radius = np.median([distance(Phi, i, ranked(Phi, i)[k - 1]) for i in range(len(Phi))])
    alone = {i for i in range(len(Phi)) if distance(Phi, i, ranked(Phi, i)[0]) > radius and link_isolated}

    def linked(i, j):
        rescued = (i in alone and ranked(Phi, i)[0] == j) or (j in alone and ranked(Phi, j)[0] == i)
        return distance(Phi, i, j) <= radius or rescued

    return laplacian(Phi, linked)


def self_tuning(Phi, k, scale_neighbor):
    N = lists(Phi, k)
    scale = [distance(Phi, i, ranked(Phi, i)[scale_neighbor - 1]) for i in range(len(Phi))]
    return laplacian(
        Phi,
        lambda i, j: i in N[j] or j in N[i],
        lambda i, j: np.exp(-(distance(Phi, i, j) ** 2) / (scale[i] * scale[j])),
    )


def lle(Phi, k, reg=1e-3):
    M = np.eye(len(Phi))
    for i in range(len(Phi)):
        N = ranked(Phi, i)[:k]
        G = np.array([[(Phi[a] - Phi[i]) @ (Phi[b] - Phi[i]) for b in N] for a in N])
        w = np.linalg.inv(G + reg * np.trace(G) * np.eye(k)) @ np.ones(k)
        M[i, N] -= w / w.sum()
    return M.T @ M


def shared_nn(Phi, k):
    N = lists(Phi, k)
    return laplacian(
        Phi,
        lambda i, j: i in N[j] or j in N[i],
        lambda i, j: len((N[i] | {i}) & (N[j] | {j})) / (k + 1),
    )


def farthest(Phi, k):
    F = [set(ranked(Phi, i)[-k:]) for i in range(len(Phi))]
    return laplacian(Phi, lambda i, j: i in F[j] or j in F[i])


def mst(Phi):
    tree = minimum_spanning_tree(cdist(Phi, Phi)).toarray()
    return laplacian(Phi, lambda i, j: tree[i, j] > 0 or tree[j, i] > 0)


#: What to build, and the dense matrix of the formula.
GRAPHS = [
    (Heat(), lambda Phi: heat(Phi, 5)),
    (Heat(n_neighbors=3, width=0.7), lambda Phi: heat(Phi, 3, 0.7)),
    (MutualKNN(), lambda Phi: mutual_knn(Phi, 10)),
    (MutualKNN(n_neighbors=2), lambda Phi: mutual_knn(Phi, 2)),
    (Epsilon(), lambda Phi: epsilon(Phi)),
    (Epsilon(n_neighbors=2, link_isolated=False), lambda Phi: epsilon(Phi, k=2, link_isolated=False)),
    (Epsilon(radius=1.5), lambda Phi: epsilon(Phi, 1.5)),
    (SelfTuning(), lambda Phi: self_tuning(Phi, 10, 7)),
    (SelfTuning(n_neighbors=4, scale_neighbor=6), lambda Phi: self_tuning(Phi, 4, 6)),
    (LLE(), lambda Phi: lle(Phi, 5)),
    (LLE(n_neighbors=2, reg=0.1), lambda Phi: lle(Phi, 2, 0.1)),
    (SharedNN(), lambda Phi: shared_nn(Phi, 10)),
    (SharedNN(n_neighbors=3), lambda Phi: shared_nn(Phi, 3)),
    (Farthest(), lambda Phi: farthest(Phi, 5)),
    (Farthest(n_neighbors=1), lambda Phi: farthest(Phi, 1)),
    (MST(), mst),
    (MST(max_exact=10), mst),
]

every_graph = pytest.mark.parametrize(
    ("component", "formula"), GRAPHS, ids=[repr(component) for component, _ in GRAPHS]
)


@every_graph
def test_the_graph_is_its_formula(component, formula, Phi):
    np.testing.assert_allclose(component.build(Phi, 0).toarray(), formula(Phi), atol=1e-11)


@every_graph
def test_the_graph_is_sparse_with_zero_row_sums(component, formula, Phi):
    graph = component.build(Phi, 0)
    assert sp.issparse(graph.base)
    assert graph.weights.size == 0
    assert graph.kills_constants


@pytest.mark.parametrize(
    "component", [Heat(), MutualKNN(), SelfTuning(), LLE(), SharedNN(), Farthest(), MST()], ids=repr
)
def test_the_number_of_entries_grows_with_the_samples_and_not_with_their_square(component):
    random = np.random.default_rng(0)
    few, many = (component.build(random.normal(size=(N, 2)), 0).base.nnz / N for N in (300, 1200))
    assert many < 1.3 * few


def test_a_wide_heat_kernel_is_the_plain_neighbour_graph(Phi):
    L = Heat(width=1e9).build(Phi, 0).base
    np.testing.assert_allclose((L - L.multiply(sp.eye_array(len(Phi)))).tocsr().data, -1.0)


def test_the_lle_matrix_is_the_one_of_scikit_learns_embedding():
    Phi = np.random.default_rng(0).normal(size=(60, 10))
    # Its reconstruction error is the sum of the smallest eigenvalues but the first, which is zero.
    embedding = LocallyLinearEmbedding(n_neighbors=6, n_components=2, reg=1e-3, eigen_solver="dense").fit(Phi)
    eigenvalues = np.linalg.eigvalsh(LLE(n_neighbors=6).build(Phi, 0).toarray())
    np.testing.assert_allclose(embedding.reconstruction_error_, eigenvalues[1:3].sum(), rtol=1e-8)


@pytest.mark.parametrize("component", [MST(), MST(max_exact=0, n_neighbors=2)], ids=repr)
def test_a_spanning_tree_is_connected_and_has_one_edge_less_than_samples(component, Phi):
    L = component.build(Phi, 0).base
    assert connected_components(L, directed=False)[0] == 1
    assert np.trace(L.toarray()) == 2 * (len(Phi) - 1)


def _random_sets():
    random = np.random.default_rng(0)
    scales, centres = random.uniform(0.1, 3.0, size=8), 15 * random.normal(size=(8, 5))
    return {
        "one group": random.normal(size=(500, 10)),
        "groups of different density": np.vstack(
            [scale * random.normal(size=(60, 5)) + centre for scale, centre in zip(scales, centres, strict=True)]
        ),
        "heavy tails": random.standard_t(1.5, size=(500, 6)),
        "more columns than the tree search likes": random.normal(size=(300, 60)),
    }


@pytest.mark.parametrize("n_neighbors", [1, 5, 10])
@pytest.mark.parametrize(("data", "Phi"), _random_sets().items())
def test_a_tree_joined_from_neighbours_is_the_shortest(data, Phi, n_neighbors):
    joined, exact = (graph.build(Phi, 0).base for graph in (MST(n_neighbors=n_neighbors, max_exact=0), MST()))
    assert abs(joined - exact).max() == 0.0
