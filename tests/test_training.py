"""The alternation of Algorithm 1: against the paper's own algorithms, its history, why it stops, its invariances."""

import re
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import scale

from pyod_gessvdd import GESSVDD, Updater
from pyod_gessvdd.boundaries.sphere import Sphere
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.detectors.variants import VARIANTS
from pyod_gessvdd.qp import solve_svdd
from pyod_gessvdd.subspace import orthonormalise, random_directions, subspace_distance
from pyod_gessvdd.training import TrainingData, alternate
from pyod_gessvdd.updaters.gradient import Gradient
from tests.oracle import graphs, svdd, updates

#: 1/C is no integer: some α lies strictly between the bounds, and R² is determined.
C = 0.11
# Without equal distances the nearest neighbours are determined.
IRIS = load_iris().data + 1e-3 * np.random.default_rng(0).uniform(size=(150, 4))
IRIS, IRIS_NEW = IRIS[50:100] - IRIS[50:100].mean(axis=0), IRIS[90:130] - IRIS[50:100].mean(axis=0)
WINE = scale(load_wine().data)
WINE, WINE_NEW = WINE[:59] - WINE[:59].mean(axis=0), WINE[40:90] - WINE[:59].mean(axis=0)
DATA = {"iris": (IRIS, IRIS_NEW, 2), "wine": (WINE, WINE_NEW, 3)}

both_data_sets = pytest.mark.parametrize(("X", "X_new", "d"), DATA.values(), ids=DATA)

#: Step sizes that move the subspace without throwing it about.
SSVDD_STEP, ESSVDD_STEP = 0.15, 2.0


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(80, 5)) @ rng.normal(size=(5, 5))


# The paper's algorithms ---------------------------------------------------------------------------------------------


@both_data_sets
@pytest.mark.parametrize("n_iter", range(6))
def test_ssvdd_is_the_variant_0_GR_min(X, X_new, d, n_iter):
    detector = GESSVDD.from_variant("0-GR-min", n_components=d, C=C, step_size=SSVDD_STEP, n_iter=n_iter).fit(X)
    expected = svdd.ssvdd(X.T, X_new.T, d, C, eta=SSVDD_STEP, n_iter=n_iter)
    np.testing.assert_allclose(detector.decision_function(X_new), expected, rtol=1e-5, atol=1e-7)


@both_data_sets
@pytest.mark.parametrize("n_iter", range(6))
def test_essvdd_is_the_variant_I_GR_min(X, X_new, d, n_iter):
    params = {"n_components": d, "C": C, "step_size": ESSVDD_STEP, "ridge": 0.0}
    detector = GESSVDD.from_variant("I-GR-min", n_iter=n_iter, **params).fit(X)
    expected = svdd.essvdd(X.T, X_new.T, d, C, eta=ESSVDD_STEP, n_iter=n_iter)
    np.testing.assert_allclose(detector.decision_function(X_new), expected, rtol=1e-5, atol=1e-7)


@both_data_sets
def test_the_steps_of_these_comparisons_move_the_subspace(X, X_new, d):
    # Otherwise the comparisons above would only compare the starts.
    for variant, step_size in (("0-GR-min", SSVDD_STEP), ("I-GR-min", ESSVDD_STEP)):
        detector = GESSVDD.from_variant(variant, n_components=d, C=C, step_size=step_size, ridge=0.0).fit(X)
        assert subspace_distance(detector.components_, svdd.principal_start(X.T, d)) > 0.05


def _labels(X):
    """Five groups along the first principal direction: the graphs of fixed clusters need no k-means here."""
    position = PCA(1).fit_transform(X)[:, 0]
    return np.searchsorted(np.quantile(position, [0.2, 0.4, 0.6, 0.8]), position)


#: What the detector is given, and the dense L_x of the oracle.
GRAPHS = {
    "none": lambda X: ("none", None),
    "identity": lambda X: ("identity", graphs.identity(len(X))),
    "pca": lambda X: ("pca", graphs.pca(len(X))),
    "knn": lambda X: ("knn", graphs.knn(X.T, 5)),
    "within": lambda X: (graphs.within(_labels(X)), graphs.within(_labels(X))),
    "between": lambda X: (graphs.between(_labels(X)), graphs.between(_labels(X))),
    "0.7*knn + 0.3*pca": lambda X: ("0.7*knn + 0.3*pca", 0.7 * graphs.knn(X.T, 5) + 0.3 * graphs.pca(len(X))),
}

every_graph = pytest.mark.parametrize("graph", GRAPHS)
both_directions = pytest.mark.parametrize("direction", ["min", "max"])


def _fitted(X, d, laplacian, updater, direction):
    return GESSVDD(
        kernel="linear",
        standardize=False,
        residual=False,
        laplacian=laplacian,
        updater=updater,
        criterion=direction,
        n_components=d,
        C=C,
        n_iter=3,
        ridge=0.0,
    ).fit(X)


@every_graph
@both_directions
@both_data_sets
def test_the_gradient_variants_are_algorithm_1_with_dense_matrices(graph, direction, X, X_new, d):
    laplacian, L_x = GRAPHS[graph](X)
    eta = 0.05 if direction == "max" else -0.05

    def update(Q, S_x, S_alpha, alpha):
        return Q + eta * updates.gradient(Q, S_x, S_alpha)

    detector = _fitted(X, d, laplacian, "gradient(step_size=0.05)", direction)
    expected = svdd.gessvdd(X.T, X_new.T, L_x, d, C, 3, update)
    np.testing.assert_allclose(detector.decision_function(X_new), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("graph", [graph for graph in GRAPHS if graph != "between"])  # its S_x is singular
@both_directions
@both_data_sets
def test_the_spectral_variants_are_algorithm_1_with_dense_matrices(graph, direction, X, X_new, d):
    laplacian, L_x = GRAPHS[graph](X)

    def update(Q, S_x, S_alpha, alpha):
        return updates.spectral(np.eye(len(S_alpha)) if S_x is None else S_x, S_alpha, d, direction)

    detector = _fitted(X, d, laplacian, "spectral", direction)
    expected = svdd.gessvdd(X.T, X_new.T, L_x, d, C, 3, update)
    np.testing.assert_allclose(detector.decision_function(X_new), expected, rtol=1e-4, atol=1e-6)


# What is published --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_published_components_are_orthonormal(variant, kernel, X):
    detector = GESSVDD.from_variant(variant, kernel=kernel, n_components=3, random_state=0).fit(X)
    Q = detector.components_
    assert Q.shape[0] == detector.n_components_ == 3
    np.testing.assert_allclose(Q @ Q.T, np.eye(3), atol=1e-10)


@every_graph
def test_the_sphere_belongs_to_the_published_subspace(graph, X):
    # The paper projects and solves once more with the last Q.
    laplacian, L_x = GRAPHS[graph](X)
    detector = _fitted(X, 2, laplacian, "gradient", "max")
    centered = X - X.mean(axis=0)
    S_Q = np.eye(2) if L_x is None else detector.components_ @ centered.T @ L_x @ centered @ detector.components_.T
    Z = detector.transform(X)
    np.testing.assert_allclose(
        detector.projection_.T @ detector.projection_,
        detector.components_.T @ np.linalg.inv(S_Q) @ detector.components_,
        rtol=1e-6,
        atol=1e-9,
    )
    np.testing.assert_allclose(Z, centered @ detector.projection_.T, atol=1e-9 * np.abs(Z).max())
    np.testing.assert_allclose(detector.center_, detector.alpha_ @ Z, atol=1e-9 * np.abs(Z).max())
    assert detector.radius_**2 == pytest.approx(solve_svdd(Z, C).radius2, rel=1e-9)


# History and the reasons to stop ------------------------------------------------------------------------------------


def _pca_detector(**params):
    params = {"residual": False, "standardize": True, "ridge": 1e-6, **params}
    return GESSVDD(kernel="linear", laplacian="pca", n_components=2, **params)


def test_the_history_has_a_record_for_the_start_and_each_update(X):
    history = _pca_detector(n_iter=4).fit(X).history_
    assert [record["iteration"] for record in history] == [0, 1, 2, 3, 4]
    for record in history:
        assert set(record) == {"iteration", "criterion", "radius", "n_support", "gap", "step"}
        assert 0 <= record["gap"] <= 1e-8


def test_the_last_record_describes_the_published_sphere(X):
    detector = _pca_detector(standardize=False, ridge=0.0).fit(X)
    last = detector.history_[-1]
    assert last["radius"] == detector.radius_
    assert last["n_support"] == len(detector.support_)
    centered = (X - X.mean(axis=0)).T
    expected = updates.criterion(
        detector.components_, np.cov(centered, bias=True), graphs.alpha_scatter(centered, detector.alpha_)
    )
    assert last["criterion"] == pytest.approx(expected, rel=1e-9)


def test_the_step_is_the_distance_to_the_next_subspace(X):
    subspaces = [_pca_detector(n_iter=n_iter).fit(X).components_ for n_iter in range(4)]
    steps = [record["step"] for record in _pca_detector(n_iter=3).fit(X).history_]
    expected = [subspace_distance(*pair) for pair in pairwise(subspaces)]
    np.testing.assert_allclose(steps, [*expected, 0.0], atol=1e-9)
    assert min(expected) > 1e-3


def test_more_updates_continue_the_same_history(X):
    short, long = (_pca_detector(n_iter=n_iter).fit(X).history_ for n_iter in (2, 4))
    for first, second in zip(short[:2], long, strict=False):
        assert first == pytest.approx(second)


@pytest.mark.parametrize("n_iter", [0, 1, 7])
def test_without_a_tolerance_all_updates_are_made(n_iter, X):
    detector = _pca_detector(n_iter=n_iter).fit(X)
    assert detector.n_iter_ == n_iter
    assert detector.stop_reason_ == f"made the {n_iter} updates asked for"


def test_no_update_keeps_the_principal_directions(X):
    detector = _pca_detector(n_iter=0, standardize=False).fit(X)
    assert subspace_distance(detector.components_, PCA(2).fit(X).components_) < 1e-9


def test_no_update_keeps_the_given_start(X):
    Q = random_directions(2, 5, 3)
    assert subspace_distance(_pca_detector(n_iter=0, init=Q).fit(X).components_, Q) < 1e-12


def test_a_tolerance_stops_at_the_first_change_below_it(X):
    criteria = [record["criterion"] for record in _pca_detector(n_iter=50).fit(X).history_]
    changes = np.abs(np.diff(criteria)) / np.abs(criteria[:-1])
    tol = float(np.sort(changes)[len(changes) // 2])
    first = int(np.flatnonzero(changes <= tol)[0]) + 1
    detector = _pca_detector(n_iter=50, tol=tol).fit(X)
    assert detector.n_iter_ == first < 50
    assert detector.stop_reason_ == f"the criterion changed by no more than tol={tol:g} of itself"


def test_a_huge_tolerance_still_makes_one_update(X):
    assert _pca_detector(n_iter=50, tol=1e9).fit(X).n_iter_ == 1


def test_a_tolerance_that_is_not_reached_makes_all_updates(X):
    detector = _pca_detector(n_iter=3, tol=1e-300).fit(X)
    assert detector.stop_reason_ == "made the 3 updates asked for"


# Updaters that return something else than d independent rows --------------------------------------------------------


class Scripted(Updater):
    """Returns the first ``rows[i]`` rows of the current basis, completed by unit vectors, in update i."""

    def __init__(self, rows=(3,)):
        self.rows = rows

    def update(self, state):
        count = self.rows[state.iteration - 1]
        return np.vstack([state.Q, np.eye(state.Q.shape[1])])[:count]


class Dependent(Updater):
    """Returns d rows of which only two are independent."""

    def update(self, state):
        return np.vstack([state.Q[:2], np.ones((state.n_components - 2, 2)) @ state.Q[:2]])


def _scripted(rows, X):
    return GESSVDD(
        kernel="linear",
        laplacian="pca",
        updater=Scripted(rows),
        n_components=3,
        n_iter=len(rows),
        residual=False,
        random_state=0,
    ).fit(X)


def test_fewer_rows_shrink_the_subspace_with_a_warning(X):
    with pytest.warns(UserWarning, match=r"subspace has 1 of the n_components=3 dimensions .*scripted update"):
        detector = _scripted((3, 1), X)
    assert detector.n_components_ == 1
    assert detector.components_.shape == (1, 5)
    assert detector.transform(X).shape == (80, 1)
    assert detector.history_[1]["step"] == 1.0


def test_the_subspace_can_grow_back_to_what_was_asked_for(X):
    detector = _scripted((1, 3), X)  # and no warning: nothing is missing at the end
    assert detector.n_components_ == 3
    np.testing.assert_allclose(detector.components_ @ detector.components_.T, np.eye(3), atol=1e-12)


def test_dependent_rows_are_dropped_with_a_warning(X):
    with pytest.warns(UserWarning, match="subspace has 2 of the n_components=4 dimensions"):
        detector = GESSVDD(kernel="linear", laplacian="pca", updater=Dependent(), n_components=4).fit(X)
    np.testing.assert_allclose(detector.components_ @ detector.components_.T, np.eye(2), atol=1e-12)


def test_an_update_without_any_row_stops_and_keeps_the_subspace(X):
    detector = _scripted((3, 0, 3), X)
    assert detector.n_iter_ == 1
    assert detector.stop_reason_ == "the scripted update found no direction with a positive eigenvalue"
    np.testing.assert_allclose(detector.components_ @ detector.components_.T, np.eye(3), atol=1e-12)
    assert detector.history_[-1]["radius"] == detector.radius_


def test_too_many_rows_are_an_error_that_names_the_updater(X):
    expected = "updater 'scripted' returned a projection of shape (4, 5); expected (at most 3, 5)"
    with pytest.raises(ValueError, match=re.escape(expected)):
        _scripted((4,), X)


def test_the_spectral_update_of_a_thin_graph_shrinks_the_subspace(X):
    params = {"laplacian": "between(n_clusters=3)", "updater": "spectral", "n_components": 4, "random_state": 0}
    with (
        pytest.warns(UserWarning, match="sees no scatter in 2 of the 4 subspace directions"),
        pytest.warns(UserWarning, match="subspace has 2 of the n_components=4 dimensions"),
    ):
        detector = GESSVDD(kernel="linear", **params).fit(X)
    assert detector.n_components_ == 2


# alternate itself ---------------------------------------------------------------------------------------------------


def test_each_solve_starts_from_the_last_alpha(X):
    graph = resolve("laplacian", "pca").build(X, None)
    seen = []

    def fit_boundary(points, last):
        Z, residual2 = points
        assert residual2 is None
        seen.append((Z.copy(), None if last is None else last.alpha))  # the next iteration overwrites Z
        solution = solve_svdd(Z, C)
        return Sphere(solution.center, solution.radius2), solution

    result = alternate(
        TrainingData(X, graph, graph.scatter(X)),
        random_directions(2, 5, 0),
        updater=Gradient(),
        fit_boundary=fit_boundary,
        criterion="max",
        ridge=0.0,
        n_iter=2,
        tol=0.0,
    )
    assert result.n_iter == 2
    assert len(seen) == 3
    assert seen[0][1] is None
    for (Z, _), (_, last_alpha) in pairwise(seen):
        np.testing.assert_array_equal(last_alpha, solve_svdd(Z, C).alpha)
    np.testing.assert_allclose(seen[-1][0], X @ result.subspace.projection.T, atol=1e-12)


# Invariances --------------------------------------------------------------------------------------------------------


def _scores(X, X_new, **params):
    params = {"kernel": "linear", "n_components": 2, "n_iter": 2, "random_state": 0, "C": C, **params}
    return GESSVDD(**params).fit(X).decision_function(X_new)


@pytest.mark.parametrize("updater", ["gradient", "spectral"])
@every_graph
def test_the_basis_of_the_start_does_not_change_the_scores(updater, graph):
    laplacian, _ = GRAPHS[graph](WINE)
    Q = random_directions(3, 13, 0)
    # The matrices are graphs of all rows.
    params = {"laplacian": laplacian, "updater": updater, "n_components": 3, "trim": None}
    expected = _scores(WINE, WINE_NEW, init=Q, **params)
    rotated = random_directions(3, 3, 1) @ Q
    np.testing.assert_allclose(_scores(WINE, WINE_NEW, init=rotated, **params), expected, rtol=1e-6, atol=1e-9)
    mixed = np.random.default_rng(2).normal(size=(3, 3)) @ Q
    np.testing.assert_allclose(_scores(WINE, WINE_NEW, init=mixed, **params), expected, rtol=1e-6, atol=1e-9)


VARIATIONS = pytest.mark.parametrize(
    "params",
    [
        {"laplacian": laplacian, "updater": updater, "standardize": standardize}
        for laplacian in ("none", "identity", "pca", "within", "between", "knn")
        for updater in ("gradient", "spectral", "spectral_regression")
        for standardize in (True, False)
        if (laplacian, updater) != ("none", "spectral_regression")
    ],
    ids=lambda params: "-".join(map(str, params.values())),
)


@VARIATIONS
def test_a_shift_of_the_data_does_not_change_the_scores(params):
    shift = np.array([250.0, -3.25, 0.0, 12.5])
    expected = _scores(IRIS, IRIS_NEW, **params)
    np.testing.assert_allclose(_scores(IRIS + shift, IRIS_NEW + shift, **params), expected, rtol=1e-6, atol=1e-9)


@VARIATIONS
@pytest.mark.parametrize("unit", [1e-9, 1e7])
def test_the_unit_of_the_data_does_not_change_the_scores(params, unit):
    if params["laplacian"] == "none" and params["updater"] == "gradient" and not params["standardize"]:
        # There the step 2ηQS_α has the unit of the data squared (paper, eq. Quopdate): η goes with it.
        params = {**params, "step_size": 0.1 / unit**2}
    expected = _scores(IRIS, IRIS_NEW, **{**params, "step_size": 0.1})
    np.testing.assert_allclose(_scores(IRIS * unit, IRIS_NEW * unit, **params), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@settings(max_examples=5, deadline=None)
@given(unit=st.integers(-6, 6).map(lambda k: 2.0**k), shift=st.integers(-50, 50))
def test_neither_shift_nor_unit_change_the_scores_of_a_distance_kernel(kernel, unit, shift):
    params = {"kernel": kernel, "laplacian": "pca", "standardize": True}
    expected = _scores(IRIS, IRIS_NEW, **params)
    moved = _scores(IRIS * unit + shift, IRIS_NEW * unit + shift, **params)
    np.testing.assert_allclose(moved, expected, rtol=1e-5, atol=1e-8)


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_a_rotation_of_the_feature_space_does_not_change_the_scores(seed):
    rotation = random_directions(4, 4, seed)
    params = {"laplacian": "knn", "standardize": False}
    expected = _scores(IRIS, IRIS_NEW, **params)
    np.testing.assert_allclose(_scores(IRIS @ rotation, IRIS_NEW @ rotation, **params), expected, rtol=1e-6, atol=1e-9)


def test_the_given_start_is_orthonormalised(X):
    Q = np.random.default_rng(0).normal(size=(2, 5))
    detector = _pca_detector(init=Q, n_iter=0).fit(X)
    assert subspace_distance(detector.components_, orthonormalise(Q)) < 1e-12


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_without_n_components_the_subspace_keeps_to_what_the_graph_sees(kernel):
    X = np.random.default_rng(0).normal(size=(80, 9))
    detector = GESSVDD(kernel=kernel, laplacian="between(n_clusters=4)", n_components=None, random_state=0).fit(X)
    assert detector.n_components_ == 3
    with pytest.warns(UserWarning, match="sees no scatter in 2 of the 5 subspace directions"):
        GESSVDD(kernel=kernel, laplacian="between(n_clusters=4)", n_components=5, random_state=0).fit(X)
