"""The graph by name, through the installed entry point: fits, sums, searches, copies."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from pyod_gessvdd import GESSVDD, available
from pyod_gessvdd_ann import ANN

UPDATERS = ["gradient", "newton", "riemannian", "spectral", "spectral_regression"]


@pytest.fixture(scope="module")
def data():
    """120 samples around a plane, and 30 around another one."""
    random = np.random.default_rng(0)
    scales = np.array([2.0, 1.0, 0.2, 0.1])
    X = np.vstack([random.normal(size=(120, 4)) * scales, random.normal(size=(30, 4)) * 4 * scales[::-1]])
    return X, np.repeat([0, 1], [120, 30])


def test_the_entry_point_brings_the_graph():
    rows = [(row["name"], row["error"]) for row in available() if row["distribution"] == "pyod-gessvdd-ann"]
    assert rows == [("ann", None)]


@pytest.mark.parametrize("updater", UPDATERS)
@pytest.mark.parametrize("spec", ["ann", "ann(max_exact=0)", "0.7*ann(max_exact=0) + 0.3*pca"])
def test_the_detector_fits_with_the_graph_and_every_updater(spec, updater, data):
    X, _ = data
    detector = GESSVDD(kernel="linear", laplacian=spec, updater=updater, n_components=2, n_iter=3, random_state=0)
    scores = detector.fit(X).decision_scores_
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(clone(detector).fit(X).decision_scores_, scores)


def test_up_to_max_exact_samples_it_is_knn(data):
    X, _ = data
    ours, knn = (
        GESSVDD(kernel="linear", laplacian=name, random_state=0).fit(X).decision_scores_ for name in ("ann", "knn")
    )
    np.testing.assert_allclose(ours, knn, rtol=1e-9)


def test_a_fitted_detector_is_the_same_after_pickling(data):
    X, _ = data
    detector = GESSVDD(kernel="linear", laplacian=ANN(max_exact=0), random_state=0).fit(X)
    copy = pickle.loads(pickle.dumps(detector))
    np.testing.assert_array_equal(copy.decision_function(X), detector.decision_function(X))
    assert copy.laplacian.get_params() == ANN(max_exact=0).get_params()


def test_a_search_sets_the_number_of_neighbours(data):
    X, y = data
    search = GridSearchCV(
        GESSVDD(kernel="linear", laplacian="ann", n_components=2, n_iter=1, random_state=0),
        {"laplacian__n_neighbors": [3, 12]},
        scoring=lambda detector, X, y: detector.decision_function(X).mean(),
        cv=StratifiedKFold(2, shuffle=True, random_state=0),
        error_score="raise",
    ).fit(X, y)
    few, many = search.cv_results_["mean_test_score"]
    assert few != many
