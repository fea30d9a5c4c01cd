"""Components that write to what they are handed, or return matrices that would corrupt memory."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from pyod_gessvdd import GESSVDD, Graph, Kernel, Laplacian, PairwiseKernel, QPBackend, Updater
from pyod_gessvdd.errors import ComponentError
from pyod_gessvdd.kernels.linear import Linear
from pyod_gessvdd.qp import solve_kernel_svdd, solve_svdd


class WritingKernel(Linear):
    def features(self, X):
        X *= 1e10
        return X


class WritingFeatures(Kernel):
    def features(self, X):
        X -= X.mean(axis=0)
        return X


class WritingGram(PairwiseKernel):
    def gram(self, X, Y):
        X[:] = 0.0
        return X @ Y.T


class WritingUpdater(Updater):
    def update(self, state):
        state.Phi[0] = 1e30
        return state.Q


class WritingLaplacian(Laplacian):
    def build(self, Phi, random_state):
        Phi /= 2.0
        return Graph.identity(len(Phi))


class WritingSolver(QPBackend):
    def solve(self, dual, warm_start=None):
        (dual.K if hasattr(dual, "K") else dual.Z)[:] = 0.0
        return np.full(dual.n_samples, 1.0 / dual.n_samples)


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(60, 4)) + 3.0


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("kernel", [WritingKernel(), WritingFeatures(), WritingGram()], ids=lambda kernel: kernel.name)
def test_a_kernel_that_writes_to_the_rows_is_refused_and_the_rows_stay(kernel, standardize, X):
    before = X.copy()
    with pytest.raises((ComponentError, ValueError), match="read-only"):
        GESSVDD(kernel=kernel, n_components=2, standardize=standardize, random_state=0).fit(X)
    np.testing.assert_array_equal(X, before)
    assert X.flags.writeable


@pytest.mark.parametrize(
    ("parameter", "component", "who"),
    [
        ("kernel", WritingFeatures(), "kernel 'writingfeatures'"),
        ("updater", WritingUpdater(), "updater 'writingupdater'"),
        ("laplacian", WritingLaplacian(), "laplacian 'writinglaplacian'"),
        ("qp_backend", WritingSolver(), "QP backend 'writingsolver'"),
    ],
)
def test_whoever_writes_is_named(parameter, component, who, X):
    detector = GESSVDD(**{"kernel": "linear", "n_components": 2, "random_state": 0, parameter: component})
    message = rf"{who} writes to the array that it was given \(.*read-only\); it must work on a copy"
    with pytest.raises(ComponentError, match=message):
        detector.fit(X)


def test_a_backend_cannot_change_the_points_that_it_is_certified_for(X):
    with pytest.raises(ComponentError, match="QP backend 'writingsolver' writes to the array"):
        solve_svdd(X, backend=WritingSolver())
    with pytest.raises(ComponentError, match="QP backend 'writingsolver' writes to the array"):
        solve_kernel_svdd(X @ X.T, np.broadcast_to(0.1, 60), WritingSolver(), 1e-8, None)


def out_of_range(kind, n=60):
    """A sparse Laplacian whose indices point far beyond its arrays."""
    L = (sp.eye_array(n, format="csr") * 2.0).tocsr()
    if kind in ("csr", "csc"):
        L = L.asformat(kind)
        L.indices[3] = 10**6
    elif kind == "negative":
        L.indices[3] = -(10**6)
    elif kind == "coo":
        L = L.tocoo()
        L.col[3] = 10**6
    elif kind == "lil":
        L = L.tolil()
        L.rows[3] = [10**6]
    return L


class Given(Laplacian):
    def __init__(self, kind="csr", wrapped=False):
        self.kind, self.wrapped = kind, wrapped

    def build(self, Phi, random_state):
        L = out_of_range(self.kind, len(Phi))
        return Graph(len(Phi), L) if self.wrapped else L


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("kind", ["csr", "csc", "negative", "coo", "lil"])
def test_indices_outside_of_a_sparse_laplacian_are_refused_before_scipy_uses_them(kind, wrapped, X):
    with pytest.raises(
        ComponentError, match=r"laplacian 'given' returned a matrix that cannot be used: a sparse matrix"
    ):
        GESSVDD(kernel="linear", laplacian=Given(kind, wrapped), n_components=2).fit(X)


@pytest.mark.parametrize("kind", ["csr", "coo"])
def test_indices_outside_of_a_given_matrix_are_refused(kind, X):
    for use in (Graph.from_matrix, Graph.from_adjacency):
        with pytest.raises(ValueError, match="has indices outside of it"):
            use(out_of_range(kind))
    with pytest.raises(ValueError, match="has indices outside of it"):
        GESSVDD(kernel="linear", laplacian=out_of_range(kind), n_components=2).fit(X)
