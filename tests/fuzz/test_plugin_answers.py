"""Plugins: whatever a component returns, the host uses it or names the component, and the caller's data stay."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from pyod_gessvdd import GESSVDD, Kernel, Laplacian, QPBackend, QPSolution, Updater
from pyod_gessvdd.errors import ComponentError, NotSolvedError
from pyod_gessvdd.qp import solve_svdd
from tests.fuzz.profile import fuzzed

N, D = 15, 3
ROWS = np.random.default_rng(0).normal(size=(N, D))

shapes = st.one_of(
    st.sampled_from([(N, N), (N,), (N, D), (D, D), (2, D), (1, D), (), (0,), (N, 0)]),
    arrays.array_shapes(min_dims=1, max_dims=3, max_side=N),
)
elements = st.sampled_from([0.0, 1.0, -1.0, 0.5, np.nan, np.inf, 1e300, -1e300, 1e-300, 1 / N, 7.0])
dense = shapes.flatmap(
    lambda shape: arrays.arrays(np.float64, shape, elements=elements, fill=st.sampled_from([0.0, 1 / N]))
)
others = st.one_of(
    st.none(),
    st.text(max_size=3),
    st.integers(),
    st.floats(),
    st.just({}),
    st.just(object()),
    st.lists(st.floats(), max_size=3),
    shapes.map(lambda shape: np.ones(shape, dtype=complex)),
    shapes.map(lambda shape: np.full(shape, "a")),
    shapes.map(lambda shape: np.full(shape, None)),
    shapes.map(lambda shape: np.ones(shape, dtype="datetime64[s]")),
    shapes.map(lambda shape: np.ma.masked_all(shape)),
)
pairs = st.tuples(st.one_of(dense, others), st.one_of(dense, others))


@st.composite
def sparse(draw):
    """Sparse matrices, some with indices that lie outside of them."""
    count = draw(st.integers(0, 6))
    indices = st.lists(st.sampled_from([0, 1, N - 1, N, 10**6, -1]), min_size=count, max_size=count)
    data = np.array(draw(st.lists(elements, min_size=count, max_size=count)))
    matrix = draw(st.sampled_from([sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix]))((N, N))
    if matrix.format == "coo":
        matrix.data, matrix.coords = data, (np.array(draw(indices), dtype=int), np.array(draw(indices), dtype=int))
    else:
        matrix.data, matrix.indices = data, np.array(draw(indices), dtype=np.int32)
        matrix.indptr = np.array(
            [0, *draw(st.lists(st.sampled_from([0, count]), min_size=N, max_size=N))], dtype=np.int32
        )
    return matrix


class Answering:
    """A component that returns what it was made with."""

    def __init__(self, answer=None):
        self.answer = answer


class AnyGraph(Answering, Laplacian):
    name = "any_graph"

    def build(self, Phi, random_state=None):
        return self.answer


class AnyUpdater(Answering, Updater):
    name = "any_updater"

    def update(self, state):
        return self.answer


class AnyBackend(Answering, QPBackend):
    name = "any_backend"

    def solve(self, dual, warm_start=None):
        return self.answer


class AnyKernel(Answering, Kernel):
    name = "any_kernel"

    def fit(self, X):
        return self

    def features(self, X):
        return self.answer

    def residual(self, X):
        return np.zeros(len(X))


COMPONENTS = {"laplacian": AnyGraph, "updater": AnyUpdater, "qp_backend": AnyBackend, "kernel": AnyKernel}


@pytest.mark.parametrize("kind", COMPONENTS)
@fuzzed(examples=50)
@given(data=st.data())
def test_an_answer_is_used_or_its_component_is_named(kind, data):
    answer = data.draw(st.one_of(dense, others, pairs, *([sparse()] if kind == "laplacian" else [])))
    X = ROWS.copy()
    component = COMPONENTS[kind](answer)
    settings = {"kernel": "linear", "n_components": 2, "n_iter": 2, "random_state": 0, kind: component}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            detector = GESSVDD(**settings).fit(X)
        except (ValueError, NotSolvedError) as error:
            assert "\n" not in str(error)
            # Features that are all equal are numbers, and no graph has anything to measure in them.
            assert component.name in str(error) or "leaves no scatter in the features" in str(error), error
        else:
            assert np.isfinite(detector.decision_scores_).all()
    np.testing.assert_array_equal(X, ROWS)


@fuzzed(examples=100)
@given(
    alpha=arrays.arrays(np.float64, (N,), elements=st.floats(-1, 2, width=32)),
    status=st.text(max_size=5),
    n_iter=st.integers(),
)
def test_the_certificate_does_not_believe_a_backend(alpha, status, n_iter):
    answer = QPSolution(alpha, gap=0.0, radius2=1.0, status=status, n_iter=n_iter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            sphere = solve_svdd(ROWS, nu=0.4, backend=AnyBackend(answer))
        except (NotSolvedError, ComponentError):
            return
    best = solve_svdd(ROWS, nu=0.4)
    # The dual's value is at most the optimum, and not farther from it than the gap says.
    assert sphere.objective <= best.objective * (1 + 1e-9)
    assert sphere.objective >= best.objective * (1 - sphere.gap - 1e-7)
