"""Components as parameters of the detector: nested names, set_params, copies, and what a saved model remembers."""

import copy
import pickle
from typing import ClassVar

import numpy as np
import pytest
from joblib import wrap_non_picklable_objects
from numpy.testing import assert_array_equal
from sklearn.base import clone

from pyod_gessvdd import GESSVDD, SVDD, Laplacian, Updater
from pyod_gessvdd.components.nesting import NestedComponents
from pyod_gessvdd.components.registry import registry
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.errors import MissingPluginError, UnknownComponentError
from pyod_gessvdd.kernels.pairwise import RBF
from pyod_gessvdd.laplacians.knn import KNN
from pyod_gessvdd.laplacians.weighted_sum import WeightedSum
from pyod_gessvdd.qp.osqp import OSQP


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(60, 4))


def test_names_have_the_parameters_of_their_components():
    params = GESSVDD(laplacian="knn", updater="gradient", kernel="rbf", qp_backend="osqp").get_params()
    assert params["laplacian__n_neighbors"] == 5
    assert params["updater__step_size"] is None
    assert params["kernel__max_features"] == 1000
    assert params["kernel__n_landmarks"] is None
    assert params["kernel__energy"] is None
    assert params["qp_backend__max_iter"] == OSQP().max_iter


def test_spec_strings_have_the_parameters_they_set():
    assert GESSVDD(laplacian="knn(n_neighbors=7)").get_params()["laplacian__n_neighbors"] == 7


def test_instances_have_their_own_parameters():
    assert GESSVDD(laplacian=KNN(9)).get_params()["laplacian__n_neighbors"] == 9


def test_shallow_parameters_are_the_constructors():
    shallow = GESSVDD(laplacian="knn").get_params(deep=False)
    assert shallow["laplacian"] == "knn"
    assert not [name for name in shallow if "__" in name]
    assert list(shallow) == list(GESSVDD._get_param_names())


def test_unknown_names_have_no_parameters_and_fit_says_what_is_wrong(X):
    detector = GESSVDD(laplacian="kmn")
    assert not [name for name in detector.get_params() if name.startswith("laplacian__")]
    with pytest.raises(UnknownComponentError, match="unknown laplacian 'kmn', did you mean 'knn'"):
        detector.fit(X)


def test_set_params_turns_a_name_into_the_component():
    detector = GESSVDD(laplacian="knn").set_params(laplacian__n_neighbors=3)
    assert isinstance(detector.laplacian, KNN)
    assert detector.laplacian.n_neighbors == 3


def test_set_params_keeps_what_a_spec_string_set():
    detector = GESSVDD(kernel="rbf(energy=0.5)").set_params(kernel__gamma=0.1)
    assert isinstance(detector.kernel, RBF)
    assert (detector.kernel.energy, detector.kernel.gamma) == (0.5, 0.1)


def test_set_params_takes_a_new_name_and_its_parameter_in_one_call():
    detector = GESSVDD(laplacian="pca").set_params(laplacian__n_neighbors=3, laplacian="knn")
    assert detector.laplacian.n_neighbors == 3


def test_set_params_reaches_the_fit(X):
    nested = GESSVDD(kernel="linear", laplacian="knn", random_state=0).set_params(laplacian__n_neighbors=11).fit(X)
    spec = GESSVDD(kernel="linear", laplacian="knn(n_neighbors=11)", random_state=0).fit(X)
    default = GESSVDD(kernel="linear", laplacian="knn", random_state=0).fit(X)
    assert_array_equal(nested.decision_scores_, spec.decision_scores_)
    assert not np.allclose(nested.decision_scores_, default.decision_scores_)


def test_set_params_refuses_a_parameter_that_the_component_does_not_have():
    with pytest.raises(ValueError, match="Invalid parameter 'n_neighbors' for estimator PCA"):
        GESSVDD(laplacian="pca").set_params(laplacian__n_neighbors=3)


def test_set_params_refuses_a_parameter_that_the_detector_does_not_have():
    with pytest.raises(ValueError, match="Invalid parameter 'graph' for estimator GESSVDD"):
        GESSVDD().set_params(graph__n_neighbors=3)


def test_set_params_returns_the_detector():
    detector = GESSVDD(laplacian="within")
    assert detector.set_params(laplacian__n_clusters=3) is detector
    assert detector.set_params() is detector


def test_set_params_of_a_clone_leaves_the_original_alone():
    detector = GESSVDD(laplacian=KNN(5))
    clone(detector).set_params(laplacian__n_neighbors=9)
    assert detector.laplacian.n_neighbors == 5


def test_fit_leaves_the_given_component_alone(X):
    graph = KNN(5)
    kernel = RBF()
    GESSVDD(kernel=kernel, laplacian=graph, gamma=0.1, random_state=0).fit(X)
    assert vars(graph) == vars(KNN(5))
    assert vars(kernel) == vars(RBF())


def test_components_left_at_none_take_the_detectors_value(X):
    by_detector = GESSVDD(kernel="rbf", gamma=0.3, random_state=0).fit(X)
    by_kernel = GESSVDD(kernel="rbf(gamma=0.3)", gamma=0.7, random_state=0).fit(X)
    assert by_detector.kernel_.gamma_ == by_kernel.kernel_.gamma_ == 0.3


# What a component asks the detector for ------------------------------------------------------------------------------


class Asking(Updater):
    """An updater that asks for the step size, and has a tolerance and a seed of its own."""

    inherits = ("step_size",)
    seen: ClassVar[list] = []

    def __init__(self, step_size=None, tol=None, random_state=None):
        self.step_size = step_size
        self.tol = tol
        self.random_state = random_state

    def update(self, state):
        self.seen.append((self.step_size, self.tol, self.random_state))
        return state.Q


class AskingMore(Asking):
    """Asks for the tolerance too."""

    inherits = "tol"


@pytest.fixture
def seen():
    Asking.seen.clear()
    return Asking.seen


def test_only_what_a_component_asks_for_comes_from_the_detector(X, seen):
    # Its own tol, of whatever meaning, must not become the alternation's.
    GESSVDD(kernel="linear", updater=Asking(), step_size=0.3, tol=1e-9, n_iter=1, random_state=0).fit(X)
    assert seen == [(0.3, None, None)]


def test_a_subclass_asks_for_what_its_parents_ask_for_too(X, seen):
    assert AskingMore.inherits == ("step_size", "tol")
    GESSVDD(kernel="linear", updater=AskingMore(), step_size=0.3, tol=1e-9, n_iter=1, random_state=0).fit(X)
    assert seen == [(0.3, 1e-9, None)]


def test_what_a_component_was_given_stays(X, seen):
    GESSVDD(kernel="linear", updater=Asking(step_size=0.7, tol=3), step_size=0.3, n_iter=1, random_state=0).fit(X)
    assert seen == [(0.7, 3, None)]


def test_asking_for_what_the_detector_does_not_have_leaves_none(X):
    # energy is a parameter of SVDD and of no other.
    assert GESSVDD(kernel="rbf", random_state=0).fit(X).kernel_.energy is None
    assert SVDD(kernel="rbf", energy=0.8, random_state=0).fit(X).kernel_.energy == 0.8


def test_asking_for_a_parameter_that_the_component_does_not_have_is_harmless(X, seen):
    class Confused(Asking):
        inherits = ("n_iter", "no_such_thing")

    GESSVDD(kernel="linear", updater=Confused(), step_size=0.3, n_iter=1, random_state=0).fit(X)
    assert seen == [(0.3, None, None)]


def test_the_built_in_components_ask_for_what_their_docstrings_say():
    assert set(RBF.inherits) == {"energy", "center", "random_state", "gamma", "sigma"}
    assert resolve("updater", "gradient").inherits == ("step_size", "psi", "beta", "random_state")
    assert KNN.inherits == ()


def test_component_classes_are_no_estimators_to_get_params():
    assert GESSVDD(laplacian=KNN).get_params()["laplacian"] is KNN


# Copies and pickles ---------------------------------------------------------------------------------------------------


def local_graph():
    class Complete(Laplacian):
        """Every pair linked; a class that pickle cannot name."""

        def build(self, Phi, random_state):
            return len(Phi) * np.eye(len(Phi)) - 1.0

    return Complete()


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("laplacian", ["knn", KNN(7), local_graph()], ids=["name", "instance", "local class"])
def test_copies_of_a_fitted_detector_score_the_same(duplicate, laplacian, X):
    detector = GESSVDD(kernel="linear", laplacian=laplacian, random_state=0).fit(X)
    assert_array_equal(duplicate(detector).decision_function(X), detector.decision_function(X))


def test_rejection_stats_need_no_pickle(X):
    detector = GESSVDD(kernel="linear", laplacian=local_graph(), random_state=0).fit(X)
    assert np.isfinite(detector.compute_rejection_stats()).all()


def test_classes_that_pickle_cannot_name_go_through_cloudpickle(X):
    # This is how joblib's workers get a graph that was written in a notebook.
    detector = GESSVDD(kernel="linear", laplacian=local_graph(), random_state=0).fit(X)
    loaded = pickle.loads(pickle.dumps(wrap_non_picklable_objects(detector, keep_wrapper=False)))
    assert_array_equal(loaded.decision_function(X), detector.decision_function(X))
    assert_array_equal(clone(loaded).fit(X).decision_scores_, detector.decision_scores_)


class Remembering(NestedComponents):
    """The least estimator that remembers plugins."""

    _component_parameters = ("laplacian",)

    def __init__(self, laplacian="knn"):
        self.laplacian = laplacian


class Foreign(Laplacian):
    """A component of another distribution."""

    def build(self, Phi, random_state):
        return np.eye(len(Phi))


@pytest.fixture
def plugin(monkeypatch):
    """A registry in which another distribution has registered ``Foreign``; calling it uninstalls that distribution."""
    from dataclasses import replace

    found = registry()
    entry = replace(found.find("laplacian", "knn"), component=Foreign, distribution="their-graphs", version="1.2.3")
    with monkeypatch.context() as patch:
        patch.setattr(found, "registrations", [*found.registrations, entry])
        patch.setitem(found._by_name, ("laplacian", "foreign"), [entry])
        yield patch.undo


@pytest.mark.parametrize(
    "laplacian", [Foreign(), WeightedSum([KNN(), Foreign()])], ids=["alone", "inside a sum of graphs"]
)
def test_fitted_models_remember_the_plugins_they_used(plugin, laplacian):
    estimator = Remembering()
    estimator._remember_plugins(laplacian)
    assert estimator.plugins_ == [
        {"kind": "laplacian", "name": "foreign", "distribution": "their-graphs", "version": "1.2.3"}
    ]


def test_built_in_components_are_not_remembered(plugin):
    estimator = Remembering()
    estimator._remember_plugins(KNN(), RBF())
    assert estimator.plugins_ == []


def test_detectors_remember_named_plugins(plugin, X):
    detector = GESSVDD(kernel="linear", laplacian="foreign", random_state=0).fit(X)
    assert [used["distribution"] for used in detector.plugins_] == ["their-graphs"]


def test_loading_names_the_distribution_that_is_missing(plugin):
    estimator = Remembering()
    estimator._remember_plugins(Foreign())
    saved = pickle.dumps(estimator)
    assert pickle.loads(saved).plugins_ == estimator.plugins_
    plugin()
    with pytest.raises(MissingPluginError, match=r"laplacian 'foreign' of their-graphs 1\.2\.3.*not installed here"):
        pickle.loads(saved)
