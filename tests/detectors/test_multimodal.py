"""MSSVDD: its Lagrangian and gradients against loops, its equality with SSVDD, its rules, contract and bad input."""

import copy
import pickle
import re

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from pyod.models.base import BaseDetector
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise, roc_auc_score
from sklearn.utils.estimator_checks import check_estimator

from pyod_gessvdd import GESSVDD, MSSVDD, QPSolution
from pyod_gessvdd.boundaries.sphere import Sphere
from pyod_gessvdd.detectors.multimodal.columns import resolve_modalities
from pyod_gessvdd.detectors.multimodal.training import alternate_modalities, gradients
from pyod_gessvdd.qp import solve_svdd
from pyod_gessvdd.regularisers import OMEGA, Samples
from tests.detectors.test_pyod_contract import EXPECTED_FAILURES

N, D = 40, 9
MODALITIES = {"radar": [0, 1, 2], "camera": [4, 3, 8, 7]}
RULES = ("and", "or", "mean")
KERNELS = ("linear", "rbf")


def rows(n=N, seed=0):
    mixing = np.random.default_rng(5).normal(size=(D, D))
    return np.random.default_rng(seed).normal(size=(n, D)) @ mixing + np.arange(D)


def mssvdd(modalities=MODALITIES, **params):
    return MSSVDD(modalities, **{"n_components": 2, "nu": 0.2, "random_state": 0, **params})


@pytest.fixture(scope="module", params=KERNELS)
def fitted(request):
    return mssvdd(kernel=request.param).fit(rows())


# The mathematics ------------------------------------------------------------------------------------------------------


def slow_lambda(regularizer, alpha, upper):
    """λ of every modality and sample, of shape (M, N)."""
    kind = (regularizer - 1) % 3
    if kind == 0:
        return np.ones_like(alpha)
    if kind == 1:
        return alpha
    return np.where((alpha > 1e-7 * upper) & (alpha < (1 - 1e-7) * upper), alpha, 0.0)


def slow_omega(regularizer, Q, X, alpha, upper):
    """ω by its definition: traces of dense products, over pairs of modalities."""
    if regularizer == 0:
        return 0.0
    lam = slow_lambda(regularizer, alpha, upper)
    M = range(len(Q))
    pairs = [(m, n) for m in M for n in M if regularizer > 3 or m == n]
    return sum(np.trace(Q[m] @ X[m].T @ np.outer(lam[m], lam[n]) @ X[n] @ Q[n].T) for m, n in pairs)


def slow_lagrangian(regularizer, beta, Q, X, alpha, upper):
    """L by its definition: loops over modalities and samples."""
    value, center = 0.0, np.zeros(len(Q[0]))
    for m in range(len(Q)):
        for i in range(len(X[m])):
            z = Q[m] @ X[m][i]
            value += alpha[m, i] * (z @ z)
            center += alpha[m, i] * z
    return value - center @ center + beta * slow_omega(regularizer, Q, X, alpha, upper)


def slow_gradients(Q, lagrangian, step=1e-5):
    """Central differences of L, entry by entry."""
    out = [np.zeros_like(q) for q in Q]
    for m, q in enumerate(Q):
        for place in np.ndindex(*q.shape):
            ends = []
            for sign in (1, -1):
                moved = [other.copy() for other in Q]
                moved[m][place] += sign * step
                ends.append(lagrangian(moved))
            out[m][place] = (ends[0] - ends[1]) / (2 * step)
    return out


@pytest.fixture(scope="module")
def problem():
    """Two modalities of different width, any projections, and an α with values at 0, at C and between."""
    random = np.random.default_rng(1)
    X = [random.normal(size=(15, 3)) + 1, random.normal(size=(15, 5))]
    Q = [random.normal(size=(2, 3)), random.normal(size=(2, 5))]
    upper = 0.1
    alpha = np.zeros(30)
    alpha[random.permutation(30)[:13]] = [0.1] * 7 + [0.05] * 6
    center = alpha @ np.vstack([x @ q.T for x, q in zip(X, Q, strict=True)])
    return X, Q, QPSolution(alpha, center=center, upper=np.full(30, upper))


def samples_of(X, sphere):
    alpha, N = sphere.alpha.reshape(len(X), -1), len(X[0])
    return [Samples(x, alpha[m], sphere.boundary[sphere.boundary // N == m] - m * N) for m, x in enumerate(X)]


@pytest.mark.parametrize("regularizer", range(7))
def test_gradients_are_the_finite_differences_of_the_slow_lagrangian(regularizer, problem):
    X, Q, sphere = problem
    alpha, beta = sphere.alpha.reshape(2, -1), 0.3
    fast = gradients(X, Q, sphere)
    if regularizer:
        products = OMEGA[regularizer].products(Q, samples_of(X, sphere))
        fast = [g + 2 * beta * h for g, h in zip(fast, products, strict=True)]
    slow = slow_gradients(Q, lambda Q: slow_lagrangian(regularizer, beta, Q, X, alpha, 0.1))
    for fast_m, slow_m in zip(fast, slow, strict=True):
        assert_allclose(fast_m, slow_m, rtol=1e-7, atol=1e-7)


def test_gradient_is_the_difference_of_two_products(problem):
    X, Q, sphere = problem
    for x, q, alpha, gradient in zip(X, Q, sphere.alpha.reshape(2, -1), gradients(X, Q, sphere), strict=True):
        expected = 2 * q @ x.T @ np.diag(alpha) @ x - 2 * np.outer(sphere.center, alpha @ x)
        assert_allclose(gradient, expected, atol=1e-12)


@pytest.mark.parametrize("regularizer", range(1, 7))
def test_regularizer_is_the_trace_of_its_definition(regularizer, problem):
    X, Q, sphere = problem
    slow = slow_omega(regularizer, Q, X, sphere.alpha.reshape(2, -1), 0.1)
    assert OMEGA[regularizer].value(Q, samples_of(X, sphere)) == pytest.approx(slow, rel=1e-12)


def features_of(detector, X):
    """What a linear detector projects, by the definition of its scaling."""
    X = X - X.mean(axis=0) if detector.center else X
    X = X / X.std(axis=0) if detector.standardize else X
    return [X[:, columns] for columns in detector.modality_columns_]


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("regularizer", [0, 2, 3, 5, 6])
def test_history_holds_the_slow_lagrangian(regularizer, center):
    detector = mssvdd(regularizer=regularizer, beta=0.4, center=center).fit(rows())
    upper = 1 / (0.2 * 2 * N)
    slow = slow_lagrangian(
        regularizer, 0.4, detector.components_, features_of(detector, rows()), detector.alpha_, upper
    )
    assert detector.history_[-1]["criterion"] == pytest.approx(slow, rel=1e-9)


@pytest.mark.parametrize("criterion", ["min", "max"])
@pytest.mark.parametrize("regularizer", range(7))
def test_one_update_is_a_step_along_the_slow_gradient_and_the_nearest_orthonormal_rows(regularizer, criterion):
    params = {"regularizer": regularizer, "beta": 0.05, "criterion": criterion, "center": False, "nu": 0.3}
    start = mssvdd(n_iter=0, **params).fit(rows())
    after = mssvdd(n_iter=1, **params).fit(rows())
    X, upper = features_of(start, rows()), 1 / (0.3 * 2 * N)
    slow = slow_gradients(
        start.components_, lambda Q: slow_lagrangian(regularizer, 0.05, Q, X, start.alpha_, upper), step=1e-4
    )
    eta = 0.1 if criterion == "max" else -0.1
    for before, gradient, reached in zip(start.components_, slow, after.components_, strict=True):
        nearest = scipy.linalg.polar(before + eta * gradient)[0]
        assert_allclose(reached, nearest, atol=1e-6)


@pytest.mark.parametrize(("criterion", "sign"), [("min", -1), ("max", 1)])
def test_short_steps_move_the_criterion_in_its_direction(criterion, sign):
    detector = mssvdd(criterion=criterion, step_size=0.01, n_iter=8).fit(rows())
    values = [record["criterion"] for record in detector.history_]
    assert sign * (values[-1] - values[0]) > 0


def test_sphere_is_the_svdd_of_all_modalities_points(fitted):
    points = fitted.transform(rows())
    assert points.shape == (N, 2, 2)
    sphere = solve_svdd(points.transpose(1, 0, 2).reshape(-1, 2), nu=0.2)
    assert_allclose(fitted.center_, sphere.center, atol=1e-6 * fitted.radius_)
    assert fitted.radius_ == pytest.approx(np.sqrt(sphere.radius2), rel=1e-6)


def test_coordinates_of_the_joint_subspace_do_not_matter():
    random = np.random.default_rng(2)
    Phi = [random.normal(size=(30, 4)), random.normal(size=(30, 5))]
    Q = [np.eye(3, 4), np.eye(3, 5)]
    turn = np.linalg.qr(random.normal(size=(3, 3)))[0]

    def fit_sphere(Z, last_alpha):
        solution = solve_svdd(Z, nu=0.2)
        return Sphere(solution.center, solution.radius2), solution

    def train(start):
        return alternate_modalities(
            Phi,
            start,
            names=[0, 1],
            fit_sphere=fit_sphere,
            regulariser=OMEGA[5],
            beta=0.2,
            criteria=["max", "max"],
            step_size=0.1,
            n_iter=3,
        )

    plain, turned = train(Q), train([turn @ q for q in Q])
    assert turned.sphere.radius2 == pytest.approx(plain.sphere.radius2, rel=1e-9)
    for q, p in zip(plain.Q, turned.Q, strict=True):
        assert_allclose(turn @ q, p, atol=1e-8)


# SSVDD ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("criterion", ["min", "max"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_one_modality_is_ssvdd(kernel, criterion, standardize, center):
    X, new = rows(80), rows(30, seed=3)
    params = {"kernel": kernel, "standardize": standardize, "center": center, "C": 0.1, "n_components": 2}
    params |= {"gamma": 0.01} if kernel == "rbf" else {}
    ssvdd = GESSVDD.from_variant(f"0-GR-{criterion}", **params).fit(X)
    for modalities, decision in ((None, "and"), ([slice(None)], "mean"), ({"all": list(range(D))}, "all")):
        detector = MSSVDD(modalities, criterion=criterion, threshold="radius", decision=decision, **params).fit(X)
        assert_allclose(detector.decision_scores_, ssvdd.decision_scores_, rtol=1e-9)
        assert_allclose(detector.decision_function(new), ssvdd.decision_function(new), rtol=1e-9)
        assert_array_equal(detector.predict(new), ssvdd.predict(new))
    assert detector.n_iter_ == ssvdd.n_iter_ == 5
    for ours, theirs in zip(detector.history_, ssvdd.history_, strict=True):
        # The step is the root of a number that is rounding where the subspace hardly moves.
        assert {**ours, "step": 0} == pytest.approx({**theirs, "step": 0}, rel=1e-7, abs=1e-9)
        assert ours["step"] == pytest.approx(theirs["step"], abs=1e-7)


# Rules and modalities -------------------------------------------------------------------------------------------------


def test_rules_combine_the_modalities_scores():
    new = rows(25, seed=4)
    detectors = {rule: mssvdd(decision=rule).fit(rows()) for rule in (*RULES, 0, 1, "camera")}
    Z, first = detectors["and"].transform(new), detectors["and"]
    scores = np.sum((Z - first.center_) ** 2, axis=2) / first.radius_**2
    assert_allclose(first.modality_scores(new), scores, rtol=1e-9)
    expected = {
        "and": scores.max(axis=1),
        "or": scores.min(axis=1),
        "mean": scores.mean(axis=1),
        0: scores[:, 0],
        1: scores[:, 1],
        "camera": scores[:, 1],
    }
    for rule, detector in detectors.items():
        assert_allclose(detector.decision_function(new), expected[rule], rtol=1e-9)


def test_radius_says_inside_in_every_modality_or_in_any():
    new = rows(60, seed=4) * 1.5
    every, some = (mssvdd(decision=rule, threshold="radius").fit(rows()) for rule in ("and", "or"))
    inside = np.linalg.norm(every.transform(new) - every.center_, axis=2) <= every.radius_
    assert 0 < inside.sum() < inside.size
    assert_array_equal(every.predict(new) == 0, inside.all(axis=1))
    assert_array_equal(some.predict(new) == 0, inside.any(axis=1))


def test_decision_set_after_fit_counts_from_the_next_fit_on(fitted):
    detector = clone(fitted).fit(rows())
    before = detector.decision_function(rows())
    detector.set_params(decision="or")
    assert_array_equal(detector.decision_function(rows()), before)


def test_all_modalities_together_see_what_each_alone_misses():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 8))
    new = random.normal(size=(200, 8))
    new[:25, :4] += 5  # half of the anomalies are in the first modality, half in the second
    new[25:50, 4:] += 5
    y = np.arange(200) < 50
    params = {"modalities": [slice(0, 4), slice(4, 8)], "n_components": 4}
    auc = {
        rule: roc_auc_score(y, MSSVDD(decision=rule, **params).fit(X).decision_function(new))
        for rule in ("and", "mean", 0, 1)
    }
    assert min(auc["and"], auc["mean"]) > 0.97
    assert max(auc[0], auc[1]) < 0.8


@pytest.mark.parametrize("kernel", KERNELS)
@settings(max_examples=10, deadline=None, derandomize=True)
@given(order=st.permutations(["a", "b", "c"]))
def test_permuting_modalities_permutes_the_components_and_leaves_the_scores(kernel, order):
    X, groups = rows(), {"a": [0, 1, 2], "b": [3, 4, 8], "c": [5, 6, 7]}
    params = {"kernel": kernel, "regularizer": 5, "beta": 0.1}
    permuted = mssvdd({name: groups[name] for name in order}, **params).fit(X)
    plain = mssvdd(groups, **params).fit(X)
    assert permuted.modality_names_ == list(order)
    for name, Q in zip(permuted.modality_names_, permuted.components_, strict=True):
        assert_allclose(Q, plain.components_[plain.modality_names_.index(name)], atol=1e-6)
    for rule in RULES:
        one, other = (clone(detector).set_params(decision=rule).fit(X) for detector in (plain, permuted))
        assert_allclose(one.decision_scores_, other.decision_scores_, rtol=1e-6)


def test_columns_can_be_given_in_every_form():
    X = rows()
    frame = pd.DataFrame(X, columns=list("abcdefghi"))
    forms = [
        [[0, 1, 2], [3, 4]],
        ((0, 1, 2), (3, 4)),
        [slice(0, 3), slice(3, 5)],
        [slice(None, -6), range(3, 5)],
        [np.array([0, 1, 2]), [-6, np.int64(-5)]],
        {"x": [0, 1, 2], "y": slice(3, 5)},
    ]
    expected = mssvdd(forms[0]).fit(X).decision_scores_
    for form in forms:
        assert_array_equal(mssvdd(form).fit(X).decision_scores_, expected)
    for form in ([["a", "b", "c"], ["d", "e"]], {"x": frame.columns[:3], "y": ["d", 4]}, forms[0]):
        assert_array_equal(mssvdd(form).fit(frame).decision_scores_, expected)


def test_columns_in_no_modality_are_not_used():
    X, other = rows(), rows()
    other[:, [5, 6]] = 1e6
    assert_array_equal(mssvdd().fit(X).decision_scores_, mssvdd().fit(other).decision_scores_)
    assert mssvdd().fit(X).n_features_in_ == D


def test_precomputed_kernels_lie_side_by_side():
    X, new = rows(), rows(7, seed=3)

    def side_by_side(A):
        return np.hstack([pairwise.rbf_kernel(A[:, c], X[:, c], gamma=0.01) for c in MODALITIES.values()])

    given = mssvdd([slice(0, N), slice(N, 2 * N)], kernel="precomputed").fit(side_by_side(X))
    computed = mssvdd(kernel="rbf", gamma=0.01, standardize=False).fit(X)
    assert_allclose(given.decision_scores_, computed.decision_scores_, rtol=1e-6)
    assert_allclose(given.decision_function(side_by_side(new)), computed.decision_function(new), rtol=1e-6)


def test_the_joint_subspace_has_30_dimensions_unless_given():
    X = np.random.default_rng(0).normal(size=(80, 75))
    detector = MSSVDD(modalities=[range(40), range(40, 75)], n_iter=0).fit(X)
    assert detector.n_components_ == 30
    assert "30, or as many as" in MSSVDD.__doc__


def test_each_modality_has_a_kernel_of_its_own():
    detector = mssvdd(kernel="rbf").fit(rows())
    first, second = kernels = [modality.feature_map.kernel for modality in detector.model_.modalities]
    assert first is not second
    assert first.gamma_ != second.gamma_
    assert [Q.shape for Q in detector.components_] == [(2, kernel.map_.shape[1]) for kernel in kernels]


# What fit leaves ------------------------------------------------------------------------------------------------------


def test_fitted_attributes_describe_the_model(fitted):
    assert fitted.modality_names_ == ["radar", "camera"]
    assert [columns.tolist() for columns in fitted.modality_columns_] == list(MODALITIES.values())
    for Q in fitted.components_:
        assert_allclose(Q @ Q.T, np.eye(2), atol=1e-10)
    assert fitted.alpha_.shape == (2, N)
    assert fitted.alpha_.sum() == pytest.approx(1)
    C = 1 / (0.2 * 2 * N)
    assert fitted.alpha_.max() <= C * (1 + 1e-9)
    scores = fitted.modality_scores(rows())
    for m in range(2):
        assert_array_equal(np.union1d(fitted.boundary_[m], fitted.outside_[m]), fitted.support_[m])
        assert_array_equal(fitted.support_[m], np.flatnonzero(fitted.alpha_[m] > 1e-7 * C))
        assert_allclose(scores[fitted.boundary_[m], m], 1)
        assert (scores[fitted.outside_[m], m] >= 1).all()
    assert fitted.n_components_ == 2
    assert fitted.n_iter_ == 5
    assert fitted.stop_reason_ == "made the 5 updates asked for"
    assert [record["iteration"] for record in fitted.history_] == list(range(6))
    assert fitted.history_[0].keys() == {"iteration", "criterion", "radius", "n_support", "gap", "step"}
    assert fitted.history_[-1]["radius"] == fitted.radius_
    assert max(record["gap"] for record in fitted.history_) <= 1e-8


def test_about_nu_of_the_points_are_outside():
    detector = mssvdd(nu=0.3, n_components=3).fit(rows(400))
    outside = sum(map(len, detector.outside_)) / 800
    assert 0.29 <= outside <= 0.3


def test_weights_count_in_every_modality():
    weights = np.ones(N)
    weights[5] = 0
    detector = mssvdd(C=0.1, nu=None).fit(rows(), sample_weight=weights)
    assert_array_equal(detector.alpha_[:, 5], 0)
    assert_array_equal(
        mssvdd().fit(rows(), sample_weight=np.ones(N)).labels_,
        mssvdd().fit(rows()).labels_,
    )


def test_nothing_grows_with_the_square_of_the_rows():
    X = np.random.default_rng(0).normal(size=(60_000, 6))
    detector = MSSVDD([[0, 1, 2], [3, 4, 5]], n_components=2, n_iter=2).fit(X)
    assert detector.alpha_.shape == (2, 60_000)


# The contract ---------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Function fit_predict is deprecated:FutureWarning")
@pytest.mark.parametrize("kernel", KERNELS)
def test_sklearns_checks_pass(kernel):
    expected = {
        **EXPECTED_FAILURES,
        "check_sample_weight_equivalence_on_dense_data": (
            "a weight scales the bound of α, as in OneClassSVM, of which scikit-learn expects this failure too; "
            "mean and scaling count every row once"
        ),
    }
    results = check_estimator(MSSVDD(kernel=kernel), expected_failed_checks=expected, on_skip=None, on_fail=None)
    assert {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"} == {}
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(expected)


ROW_METHODS = ("decision_function", "predict", "predict_proba", "predict_confidence", "transform", "modality_scores")


@pytest.mark.parametrize("method", ROW_METHODS)
def test_methods_before_fit_say_not_fitted(method):
    with pytest.raises(NotFittedError, match="not fitted"):
        getattr(MSSVDD(), method)(rows())


def test_mssvdd_is_a_pyod_detector(fitted):
    X = rows(30, seed=3)
    assert isinstance(fitted, BaseDetector)
    assert_array_equal(fitted.decision_function(rows()), fitted.decision_scores_)
    assert fitted.threshold_ == np.percentile(fitted.decision_scores_, 90)
    assert_array_equal(fitted.predict(X), fitted.decision_function(X) > fitted.threshold_)
    assert_allclose(fitted.predict_proba(X), BaseDetector.predict_proba(fitted, X), atol=1e-12)
    assert_allclose(fitted.predict_confidence(X), BaseDetector.predict_confidence(fitted, X), atol=1e-12)


def test_fit_transform_is_fit_and_transform():
    detector = mssvdd()
    assert_array_equal(detector.fit_transform(rows()), detector.transform(rows()))


@pytest.mark.parametrize("kernel", [*KERNELS, "rbf(approximation='nystroem', n_landmarks=20)"])
def test_same_random_state_gives_the_same_bits(kernel):
    one, other = (mssvdd(kernel=kernel).fit(rows()) for _ in range(2))
    assert_array_equal(one.decision_scores_, other.decision_scores_)
    assert_array_equal(one.alpha_, other.alpha_)


@pytest.mark.parametrize("method", ["decision_function", "modality_scores", "transform"])
def test_a_rows_result_does_not_depend_on_its_batch(method, fitted):
    X = rows(70, seed=3)
    together = getattr(fitted, method)(X)
    assert_array_equal(np.concatenate([getattr(fitted, method)(row[None]) for row in X]), together)
    assert_array_equal(getattr(fitted, method)(X[::-1]), together[::-1])


def test_pickle_keeps_the_scores(fitted):
    X = rows(30, seed=3)
    loaded = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(loaded.decision_function(X), fitted.decision_function(X))
    assert loaded.get_params() == fitted.get_params()


def test_clone_and_parameters_go_round(fitted):
    twin = clone(fitted)
    assert not hasattr(twin, "decision_scores_")
    assert repr(twin) == repr(fitted)
    assert_array_equal(twin.fit(rows()).decision_scores_, fitted.decision_scores_)
    params = fitted.get_params(deep=False)
    assert MSSVDD(**params).get_params(deep=False) == params
    assert MSSVDD(kernel="rbf").set_params(kernel__gamma=0.5, decision="or").get_params()["kernel__gamma"] == 0.5


def test_dataframes_with_reordered_or_missing_columns_are_refused():
    frame = pd.DataFrame(rows(), columns=list("abcdefghi"))
    detector = mssvdd({"x": ["a", "b"], "y": ["c", "d"]}).fit(frame)
    assert_array_equal(detector.decision_function(frame), detector.decision_scores_)
    with pytest.raises(ValueError, match=r"(?s)feature names should match.*same order"):
        detector.predict(frame[list("bacdefghi")])
    with pytest.raises(ValueError, match=r"(?s)feature names.*missing.*- i"):
        detector.predict(frame[list("abcdefgh")])


def test_real_data_are_separated():
    X, benign = load_breast_cancer(return_X_y=True)
    normal, rest = X[benign == 1][:250], np.vstack([X[benign == 1][250:], X[benign == 0]])
    y = np.arange(len(rest)) >= (benign == 1).sum() - 250
    thirds = [slice(0, 10), slice(10, 20), slice(20, 30)]
    for rule in ("and", "mean"):
        detector = MSSVDD(thirds, n_components=3, criterion="max", decision=rule).fit(normal)
        assert roc_auc_score(y, detector.decision_function(rest)) > 0.95


# Bad input ------------------------------------------------------------------------------------------------------------


def refuses(message, X=None, sample_weight=None, **params):
    """Fitting fails with exactly this sentence, and leaves a fitted detector as it was."""
    detector = mssvdd().fit(rows())
    scores = detector.decision_function(rows())
    detector.set_params(**params)
    before = copy.copy(vars(detector))
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        detector.fit(rows() if X is None else X, sample_weight=sample_weight)
    assert vars(detector).keys() == before.keys()
    assert all(vars(detector)[name] is value for name, value in before.items())
    assert_array_equal(detector.decision_function(rows()), scores)


FRAME = pd.DataFrame(rows(), columns=list("abcdefghi"))


@pytest.mark.parametrize(
    ("modalities", "X", "message"),
    [
        (
            [[0, 1], [2, 1]],
            None,
            "modalities must not overlap, got column 1 in modality 0 and again in modality 1",
        ),
        (
            {"x": ["a", "b"], "y": ["b", "c"]},
            FRAME,
            "modalities must not overlap, got column 'b' in modality 'x' and again in modality 'y'",
        ),
        (
            {"x": [0, -9]},
            None,
            "modalities must not overlap, got column 0 in modality 'x' and again in modality 'x'",
        ),
        ([], None, "modalities must hold at least one modality, got []"),
        ({}, None, "modalities must hold at least one modality, got {}"),
        ("ab", None, "modalities must be None, a list of columns per modality or a dict, got 'ab'"),
        (3, None, "modalities must be None, a list of columns per modality or a dict, got 3"),
        ({1: [0]}, None, "the name of a modality must be a string, got 1"),
        ({"mean": [0]}, None, "a modality must not be named like a decision rule, got 'mean'"),
        ([[0, 1], []], None, "modality 1 must hold at least one column, got []"),
        ({"x": slice(3, 3)}, None, "modality 'x' must hold at least one column, got slice(3, 3, None)"),
        ([0, 1], None, "modality 0 must be a list of column indices or names, or a slice, got 0"),
        (["a"], FRAME, "modality 0 must be a list of column indices or names, or a slice, got 'a'"),
        (
            {"x": ["a", "z"]},
            FRAME,
            "modality 'x' names the column 'z', which X does not have; "
            "its columns are 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'",
        ),
        (
            {"x": ["a"]},
            None,
            "modality 'x' names the column 'a', but X is not a DataFrame with names; give its index",
        ),
        ([[0, 9]], None, "modality 0 must stay within the 9 columns of X, got column 9"),
        ([[0, -10]], None, "modality 0 must stay within the 9 columns of X, got column -10"),
        ([slice(0, 12)], None, "modality 0 must stay within the 9 columns of X, got slice(0, 12, None)"),
        (
            [slice("a", "c")],
            FRAME,
            "modality 0 must be a slice of indices, got slice('a', 'c', None); list the names instead",
        ),
        ([[0, 1.5]], None, "modality 0 must list column indices or names, got 1.5"),
        ([[True, False]], None, "modality 0 must list column indices or names, got True"),
    ],
)
def test_modalities_that_cannot_be_used_are_refused(modalities, X, message):
    refuses(message, X, modalities=modalities)


def test_name_of_two_columns_is_refused():
    # scikit-learn refuses such frames itself in some versions only.
    message = "modality 'x' names the column 'a', which X has more than once; its columns are 'a', 'b', 'a'"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        resolve_modalities({"x": ["a", "b"]}, 3, ["a", "b", "a"])


def test_many_column_names_are_cut_in_the_error():
    wide = pd.DataFrame(np.tile(rows(), 2), columns=[f"c{i}" for i in range(2 * D)])
    with pytest.raises(ValueError, match=r"its columns are 'c0', .*, 'c9', …$"):
        mssvdd([["z"]]).fit(wide)


@pytest.mark.parametrize("decision", ["xor", "lidar", 2, -1, True, None, 0.0])
def test_decisions_that_do_not_exist_are_refused(decision):
    refuses(
        "decision must be 'and', 'or', 'mean', the position of a modality from 0 to 1 or its name ('radar', 'camera'), "
        f"got {decision!r}",
        decision=decision,
    )


def test_decision_by_name_needs_names():
    refuses(
        "decision must be 'and', 'or', 'mean', the position of a modality from 0 to 1, got 'radar'",
        modalities=[[0, 1], [2, 3]],
        decision="radar",
    )


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"regularizer": 7}, "regularizer must be an integer from 0 to 6, a graph or a graph for each modality, got 7"),
        (
            {"regularizer": True},
            "regularizer must be an integer from 0 to 6, a graph or a graph for each modality, got True",
        ),
        ({"beta": -1.0}, "beta must be a number of at least 0, got -1.0"),
        ({"beta": np.inf}, "beta must be a number of at least 0, got inf"),
        ({"beta": "1"}, "beta must be a number of at least 0, got '1'"),
        ({"criterion": "median"}, "criterion must be 'min' or 'max', got 'median'"),
        ({"threshold": 0.5}, "threshold must be 'contamination' or 'radius', got 0.5"),
        ({"n_components": 0}, "n_components must be a positive integer or None, or 'all' for no subspace, got 0"),
        ({"n_components": "a"}, "n_components must be a positive integer or None, or 'all' for no subspace, got 'a'"),
        (
            {"n_components": "all"},
            "n_components must be a positive integer or None, modalities differ in what 'all' would be, got 'all'",
        ),
        ({"n_iter": -1}, "n_iter must be an integer of at least 0, got -1"),
        ({"n_iter": None}, "n_iter must be an integer of at least 0, got None"),
        ({"step_size": 0.0}, "step_size must be a positive number, got 0.0"),
        ({"qp_tol": 0}, "qp_tol must be a positive number, got 0"),
        ({"center": 1}, "center must be True or False, got 1"),
        ({"center": None}, "center must be True or False, got None"),
        ({"contamination": 0.7}, "contamination must be in (0, 0.5], got 0.7"),
        ({"nu": 1.5}, "nu must be in (0, 1], got 1.5"),
        ({"C": 0.5, "nu": 0.1}, "give C or nu, not both, got C=0.5 and nu=0.1"),
        (
            {"C": 0.012, "nu": None},
            "C must be at least 1/N = 0.0125 for the 80 points of 40 samples in 2 modalities "
            "(Σα = 1 is impossible below), got 0.012",
        ),
        (
            {"n_components": 4},
            "n_components must be at most the number of features of every modality, and modality 'radar' has 3, got 4",
        ),
        (
            {"step_size": 1e308},
            "step_size=1e+308 makes the update of modality 'radar' overflow; use a smaller one",
        ),
    ],
)
def test_parameters_that_cannot_be_used_are_refused(params, message):
    refuses(message, standardize=False, **params)


def test_smallest_c_is_one_over_all_points():
    assert_allclose(mssvdd(C=1 / (2 * N), nu=None).fit(rows()).alpha_, 1 / (2 * N))


def test_one_modality_speaks_of_samples():
    with pytest.raises(ValueError, match=r"at least 1/N = 0\.025 for 40 samples"):
        MSSVDD(C=0.02).fit(rows())


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinite")])
def test_values_that_are_not_finite_are_refused(value, word):
    X = rows()
    X[3, 1] = value
    message = f"X must be finite, but X[3, 1] is {word} (1 such values); impute or drop them first"
    refuses(message, X)
    with pytest.raises(ValueError, match=re.escape(message)):
        mssvdd().fit(rows()).predict(X)


def test_other_widths_are_refused():
    with pytest.raises(ValueError, match="X has 8 features, but MSSVDD is expecting 9 features as input"):
        mssvdd().fit(rows()).predict(rows()[:, :8])


@pytest.mark.parametrize("kernel", KERNELS)
def test_modality_of_equal_rows_is_refused(kernel):
    X = rows()
    X[:, :3] = [1, 2, 3]
    refuses("all 40 rows of modality 'radar' are equal: there is nothing to describe", X, kernel=kernel)


def test_modality_whose_differences_underflow_is_refused():
    X = rows()
    X[:, :3] = 0.0
    X[0, 0] = 1e-200
    refuses("all 40 rows of modality 'radar' are equal: there is nothing to describe", X, standardize=False)


@pytest.mark.parametrize("weights", [np.ones(N - 1), np.ones(2 * N)])
def test_weights_are_one_per_sample(weights):
    refuses(
        f"sample_weight must hold one number per sample, shape (40,), got shape {weights.shape}", sample_weight=weights
    )


def test_dependent_columns_shrink_the_subspace_with_a_warning():
    X = rows()
    X[:, 2] = X[:, 1] = X[:, 0]
    message = (
        r"n_components=2, but the features of modality 'radar' vary in only 1 of 3 directions \(constant or "
        r"dependent columns\); the joint subspace has no more"
    )
    with pytest.warns(UserWarning, match=message) as caught:
        detector = mssvdd().fit(X)
    assert caught[0].filename == __file__
    assert detector.n_components_ == 1
    assert mssvdd(n_components=None).fit(X).n_components_ == 1


@pytest.mark.parametrize("regularizer", [1, 4])
def test_regularizers_that_vanish_on_centred_features_warn(regularizer):
    message = f"regularizer={regularizer} is zero for centred features, whose sum is zero; use center=False"
    with pytest.warns(UserWarning, match=message) as caught:
        detector = mssvdd(regularizer=regularizer, beta=0.5).fit(rows())
    assert caught[0].filename == __file__
    assert_allclose(detector.decision_scores_, mssvdd().fit(rows()).decision_scores_, rtol=1e-8)
    mssvdd(regularizer=regularizer, beta=0.0).fit(rows())


def test_update_that_loses_a_direction_stops_and_says_so():
    # Two corners of a square in the first modality: 2 η Σ α φφᵀ = I takes the first row of Q away.
    X = np.array([[1.0, 0.0, 2.0, 0.1], [-1.0, 0.0, -2.0, 0.1], [0.0, 0.5, 0.0, -0.1], [0.0, -0.5, 0.0, -0.1]])
    start = MSSVDD([[0, 1], [2, 3]], n_iter=0, C=1.0, n_components=2, standardize=False).fit(X)
    Z = start.transform(X) - start.center_
    weighted = [np.sum(start.alpha_[m][:, None] * Z[:, m] ** 2, axis=0) for m in range(2)]
    step_size = 1 / (2 * weighted[1][0])
    message = "left modality 1 only 1 of 2 independent directions; the projections before"
    with pytest.warns(UserWarning, match=message) as caught:
        detector = clone(start).set_params(n_iter=3, step_size=step_size).fit(X)
    assert caught[0].filename == __file__
    assert detector.n_iter_ == 0
    assert detector.stop_reason_ == "the update left modality 1 only 1 of 2 independent directions"
    for Q, before in zip(detector.components_, start.components_, strict=True):
        assert_array_equal(Q, before)
