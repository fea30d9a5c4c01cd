"""The graphs by name, through the installed entry point: fits, sums, searches, copies, and the authors' figures."""

import os
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold

import pyod_gessvdd_graphs
from pyod_gessvdd import GESSVDD, available

GRAPHS = {graph.name: graph for graph in (getattr(pyod_gessvdd_graphs, name) for name in pyod_gessvdd_graphs.__all__)}
UPDATERS = ["gradient", "newton", "riemannian", "spectral", "spectral_regression"]
ORACLE = "PYOD_GESSVDD_ORACLE"

every_graph = pytest.mark.parametrize("name", GRAPHS)


@pytest.fixture(scope="module")
def data():
    """40 samples around a plane, and 10 around another one."""
    random = np.random.default_rng(0)
    scales = np.array([2.0, 1.0, 0.2, 0.1])
    X = np.vstack([random.normal(size=(40, 4)) * scales, random.normal(size=(10, 4)) * 4 * scales[::-1]])
    return X, np.repeat([0, 1], [40, 10])


@every_graph
def test_the_entry_point_brings_the_graph(name):
    rows = [row for row in available("laplacian") if row["name"] == name]
    assert [row["distribution"] for row in rows] == ["pyod-gessvdd-graphs"]
    assert rows[0]["error"] is None


def test_the_entry_point_brings_nothing_else():
    rows = [row["name"] for row in available() if row["distribution"] == "pyod-gessvdd-graphs"]
    assert rows == sorted(GRAPHS)


@every_graph
@pytest.mark.parametrize("updater", UPDATERS)
@pytest.mark.parametrize("criterion", ["min", "max"])
def test_the_detector_fits_with_the_graph_and_every_updater(name, updater, criterion, data):
    X, _ = data
    detector = GESSVDD(
        kernel="linear", laplacian=name, updater=updater, criterion=criterion, n_components=2, n_iter=3, random_state=0
    ).fit(X)
    again = clone(detector).fit(X)
    assert np.isfinite(detector.decision_scores_).all()
    np.testing.assert_array_equal(again.decision_scores_, detector.decision_scores_)


@every_graph
def test_the_graph_finds_outliers_with_the_default_kernel(name, data):
    X, y = data
    scores = GESSVDD(laplacian=name, random_state=0).fit(X[y == 0]).decision_function(X)
    assert np.median(scores[y == 1]) > np.quantile(scores[y == 0], 0.9)


@every_graph
def test_a_name_and_an_instance_are_the_same_graph(name, data):
    X, _ = data
    by_name, by_instance = (
        GESSVDD(kernel="linear", laplacian=laplacian, random_state=0).fit(X).decision_scores_
        for laplacian in (name, GRAPHS[name]())
    )
    np.testing.assert_array_equal(by_name, by_instance)


def test_aliases_are_found(data):
    X, _ = data
    scores = [
        GESSVDD(kernel="linear", laplacian=spec, random_state=0).fit(X).decision_scores_
        for spec in ("heat", "heat_kernel", "Heat", "shared_nn", "snn", "shared-nn")
    ]
    assert (scores[0] == scores[1]).all()
    assert (scores[0] == scores[2]).all()
    assert (scores[3] == scores[4]).all()
    assert (scores[3] == scores[5]).all()


@pytest.mark.parametrize("spec", ["0.7*heat + 0.3*pca", "mst + 2*lle(n_neighbors=8)", "auto*(self_tuning + knn)"])
def test_the_graphs_can_be_summed(spec, data):
    X, _ = data
    detector = GESSVDD(kernel="linear", laplacian=spec, n_components=2, random_state=0).fit(X)
    assert np.isfinite(detector.decision_scores_).all()
    assert len(detector.laplacian_weights_) == 2


def test_the_sum_is_the_sum_of_the_matrices(data):
    X, _ = data
    L = 0.7 * GRAPHS["heat"]().build(X, 0).toarray() + 0.3 * (np.eye(len(X)) - 1 / len(X)) / len(X)
    params = {"kernel": "linear", "center": False, "standardize": False, "n_components": 2, "trim": None}
    by_spec = GESSVDD(laplacian="0.7*heat + 0.3*pca", **params).fit(X)
    by_matrix = GESSVDD(laplacian=L, **params).fit(X)
    np.testing.assert_allclose(by_spec.decision_scores_, by_matrix.decision_scores_, rtol=1e-6)


@every_graph
def test_a_fitted_detector_is_the_same_after_pickling(name, data):
    X, _ = data
    detector = GESSVDD(kernel="linear", laplacian=GRAPHS[name](), random_state=0).fit(X)
    copy = pickle.loads(pickle.dumps(detector))
    np.testing.assert_array_equal(copy.decision_function(X), detector.decision_function(X))


@every_graph
def test_a_clone_has_the_same_parameters(name):
    params = {"n_neighbors": 4}
    assert clone(GRAPHS[name](**params)).get_params() == {**GRAPHS[name]().get_params(), **params}


@every_graph
def test_a_search_sets_the_number_of_neighbours(name, data):
    X, y = data
    detector = GESSVDD(kernel="linear", laplacian=GRAPHS[name](), n_components=2, n_iter=1, random_state=0)
    search = GridSearchCV(
        detector,
        {"laplacian__n_neighbors": [3, 12]},
        scoring="roc_auc",
        cv=StratifiedKFold(2, shuffle=True, random_state=0),
        error_score="raise",
    ).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.get_params()["laplacian__n_neighbors"] in (3, 12)


def test_a_search_sets_the_parameters_of_a_graph_given_by_name(data):
    X, y = data
    search = GridSearchCV(
        GESSVDD(kernel="linear", laplacian="heat", n_components=2, n_iter=1, random_state=0),
        {"laplacian__n_neighbors": [3, 12]},
        scoring=lambda detector, X, y: detector.decision_function(X).mean(),
        cv=2,
        error_score="raise",
    ).fit(X, y)
    few, many = search.cv_results_["mean_test_score"]
    assert few != many


# The authors' figures ---------------------------------------------------------------------------------------------


def _update(solution, eta):
    return {"gradient": f"gradient(step_size={eta})", "eig": "spectral"}[solution]


@pytest.mark.parametrize("name", ["iris_linear.npz", "iris_npt.npz"])
@pytest.mark.parametrize("solution", ["gradient", "eig"])
def test_farthest_reproduces_the_authors_iterates_of_their_knn_variants(name, solution):
    folder = os.environ.get(ORACLE)
    if not folder:
        pytest.skip(f"{name} is not part of the project: set {ORACLE} to the folder that holds it")
    data = dict(np.load(Path(folder) / name))
    train = data["Phi"].T if data["Phi"].size else data["X"].T
    errors = []
    for case in np.flatnonzero((data["variant"] == "kNN") & (data["solution"] == solution)):
        for iteration in np.flatnonzero(data["reproducible"][case]):
            detector = GESSVDD(
                kernel="linear",
                laplacian="farthest",
                updater=_update(solution, data["eta"][case]),
                criterion=str(data["minmax"][case]),
                C=float(data["C"][case]),
                init=data["Q0"][case, : int(data["d"][case])],
                n_iter=int(iteration),
                center=False,
                standardize=False,
                residual=False,
                ridge=0.0,
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # d may shrink for an iteration, there as here
                ours = detector.fit(train).projection_
            theirs = data["M"][case, iteration]
            theirs = theirs[np.isfinite(theirs).all(axis=1)]
            metric = theirs.T @ theirs
            errors.append(np.abs(ours.T @ ours - metric).max() / np.abs(metric).max())
    assert len(errors) > 50
    # Their whitening adds an absolute 1e-6, ours nothing.
    assert max(errors) < 1e-5
