"""``weights="auto"``: the weights of a sum of graphs, learnt without labels."""

import pickle

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from pyod_gessvdd import GESSVDD, Laplacian
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.errors import SpecError
from pyod_gessvdd.laplacians.between import Between
from pyod_gessvdd.laplacians.given import GivenLaplacian
from pyod_gessvdd.laplacians.identity import Identity
from pyod_gessvdd.laplacians.knn import KNN
from pyod_gessvdd.laplacians.none import NoConstraint
from pyod_gessvdd.laplacians.pca import PCA
from pyod_gessvdd.laplacians.weighted_sum import WeightedSum
from pyod_gessvdd.laplacians.within import Within

WINE = scale(load_wine().data[:59])
GRAPHS = (KNN(), PCA(), Within(n_clusters=3), Between(n_clusters=3), Identity())


class Scaled(Laplacian):
    """Another graph times a number."""

    def __init__(self, laplacian, factor):
        self.laplacian = laplacian
        self.factor = factor

    def build(self, Phi, random_state):
        return self.factor * self.laplacian.build(Phi, random_state)


def _learn(laplacians, Phi=WINE):
    """The weights and the Laplacian, dense."""
    found = WeightedSum(laplacians, weights="auto")
    L = found.build(Phi, 0).toarray()
    return found.weights_, L


def test_the_weights_are_the_documented_formula():
    weights, L = _learn(GRAPHS)
    centred = WINE - WINE.mean(axis=0)
    total = centred.T @ centred
    values, vectors = np.linalg.eigh(total)
    P = np.diag(np.sqrt(np.maximum(values, 0))) @ vectors.T
    scaled, expected = [], []
    for graph in GRAPHS:
        L_k = graph.build(WINE, 0).toarray()
        L_k = L_k * np.trace(total) / np.trace(WINE.T @ L_k @ WINE)
        scaled.append(L_k)
        expected.append(1 / (2 * np.sqrt(np.trace(P @ WINE.T @ L_k @ WINE @ P.T))))
    expected = np.array(expected) / sum(expected)
    np.testing.assert_allclose(weights, expected, rtol=1e-8)
    np.testing.assert_allclose(L, sum(w * L_k for w, L_k in zip(expected, scaled, strict=True)), atol=1e-10)


def test_the_weights_are_positive_and_sum_to_one_and_the_sum_has_the_total_scatter():
    weights, L = _learn(GRAPHS)
    assert (weights > 0).all()
    np.testing.assert_allclose(weights.sum(), 1.0)
    np.testing.assert_allclose(np.trace(WINE.T @ L @ WINE), np.trace(WINE.T @ WINE), rtol=1e-10)


@given(order=st.permutations(range(len(GRAPHS))))
@settings(max_examples=10, deadline=None)
def test_the_order_of_the_graphs_only_orders_the_weights(order):
    weights, L = _learn(GRAPHS)
    permuted_weights, permuted_L = _learn([GRAPHS[k] for k in order])
    np.testing.assert_allclose(permuted_weights, weights[list(order)], rtol=1e-10)
    np.testing.assert_allclose(permuted_L, L, atol=1e-10)


@given(factor=st.floats(1e-6, 1e6), which=st.integers(0, len(GRAPHS) - 1))
@settings(max_examples=10, deadline=None)
def test_the_scale_of_a_graph_changes_neither_weights_nor_sum(factor, which):
    weights, L = _learn(GRAPHS)
    scaled = [Scaled(graph, factor) if k == which else graph for k, graph in enumerate(GRAPHS)]
    scaled_weights, scaled_L = _learn(scaled)
    np.testing.assert_allclose(scaled_weights, weights, rtol=1e-9)
    np.testing.assert_allclose(scaled_L, L, atol=1e-9)


def test_equal_graphs_get_equal_weights():
    weights, L = _learn([KNN(), KNN(), KNN()])
    np.testing.assert_allclose(weights, 1 / 3)
    np.testing.assert_allclose(L, _learn([KNN()])[1], atol=1e-10)


def test_a_single_graph_has_the_weight_one():
    weights, L = _learn([KNN()])
    assert weights == [1.0]
    direction = KNN().build(WINE, 0).toarray()
    np.testing.assert_allclose(L / np.linalg.norm(L), direction / np.linalg.norm(direction), atol=1e-12)


@given(unit=st.floats(1e-3, 1e3), seed=st.integers(0, 100))
@settings(max_examples=10, deadline=None)
def test_neither_unit_nor_shift_nor_rotation_of_the_features_change_the_weights(unit, seed):
    rng = np.random.default_rng(seed)
    rotation = np.linalg.qr(rng.normal(size=(13, 13)))[0]
    graphs = [KNN(), PCA(), GivenLaplacian(Within(n_clusters=3).build(WINE, 0).toarray())]  # all blind to a shift
    moved = unit * (WINE @ rotation + rng.normal(size=13))
    np.testing.assert_allclose(_learn(graphs, moved)[0], _learn(graphs)[0], rtol=1e-6)


def test_a_graph_that_sees_what_the_variance_hides_weighs_more():
    rng = np.random.default_rng(0)
    Phi = np.repeat([[-10.0, 0.0], [10.0, 0.0]], 50, axis=0) + rng.normal(size=(100, 2))
    between, within = _learn([Between(n_clusters=2), Within(n_clusters=2)], Phi)[0]
    assert within > between


# How it is written --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["auto*(knn + pca)", "auto * (kNN(n_neighbors=5) + PCA)", "auto*(1.0*knn + pca)"])
def test_the_spec_of_a_sum_with_learnt_weights(text):
    found = resolve("laplacian", text)
    assert type(found) is WeightedSum
    assert found.weights == "auto"
    assert [type(graph) for graph in found.laplacians] == [KNN, PCA]


def test_weights_beside_auto_are_refused():
    text = "auto*(0.7*knn + pca)"
    with pytest.raises(SpecError, match=r"has 'auto' and explicit weights; write 'auto\*\(knn \+ pca\)'"):
        resolve("laplacian", text)


def test_the_weights_can_be_set_as_a_parameter():
    by_parameter = GESSVDD(kernel="linear", laplacian="knn + pca", random_state=0)
    by_parameter.set_params(laplacian__weights="auto")
    by_spec = GESSVDD(kernel="linear", laplacian="auto*(knn + pca)", random_state=0)
    np.testing.assert_array_equal(by_parameter.fit(WINE).decision_scores_, by_spec.fit(WINE).decision_scores_)


@pytest.mark.parametrize("weights", ["equal", "", "Auto"])
def test_another_word_is_refused(weights):
    message = f"the weights of a sum of graphs must be numbers or 'auto', got {weights!r}"
    with pytest.raises(ValueError, match=message):
        WeightedSum([KNN()], weights).build(WINE, 0)


def test_no_graphs_are_refused():
    with pytest.raises(ValueError, match="got no graphs to learn the weights of"):
        WeightedSum([], "auto").build(WINE, 0)


def test_no_graph_cannot_be_part_of_it():
    with pytest.raises(ValueError, match="'none' has no graph and cannot be part of a sum of graphs"):
        WeightedSum([NoConstraint(), KNN()], "auto").build(WINE, 0)


@pytest.mark.parametrize("blind", [np.zeros((59, 59)), np.ones((59, 59))], ids=["no edges", "orthogonal to the data"])
def test_a_graph_without_scatter_is_named(blind):
    message = "laplacian 'given' sees none of the features' scatter: it has no weight in an 'auto' sum"
    with pytest.raises(ValueError, match=message):
        WeightedSum([KNN(), GivenLaplacian(blind)], "auto").build(WINE, 0)


def test_a_sampled_graph_makes_the_sum_a_sample():
    sampled = KNN(max_exact=20, n_queries=15)
    assert WeightedSum([sampled, PCA()], "auto").build(WINE, 0).is_estimate
    assert not WeightedSum([KNN(), PCA()], "auto").build(WINE, 0).is_estimate


# In the detector ----------------------------------------------------------------------------------------------------


def test_the_detector_publishes_the_weights():
    detector = GESSVDD(kernel="linear", laplacian="auto*(knn + pca + within)", random_state=0).fit(WINE)
    assert detector.laplacian_weights_.shape == (3,)
    np.testing.assert_allclose(detector.laplacian_weights_.sum(), 1.0)
    assert detector.variant is None
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(detector)).laplacian_weights_, detector.laplacian_weights_)
    assert not hasattr(clone(detector), "laplacian_weights_")


def test_given_weights_are_published_too_and_a_single_graph_has_none():
    given = GESSVDD(kernel="linear", laplacian="0.7*knn + 0.3*pca", random_state=0).fit(WINE)
    np.testing.assert_array_equal(given.laplacian_weights_, [0.7, 0.3])
    assert GESSVDD(kernel="linear", laplacian="knn", random_state=0).fit(WINE).laplacian_weights_ is None


@pytest.mark.parametrize("updater", ["gradient", "spectral", "spectral_regression", "riemannian", "newton"])
def test_it_fits_with_every_updater_and_a_kernel(updater):
    detector = GESSVDD(laplacian="auto*(knn + within)", updater=updater, n_components=3, random_state=0).fit(WINE)
    assert np.isfinite(detector.decision_scores_).all()
