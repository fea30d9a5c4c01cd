"""PyOD and scikit-learn as hosts: every method of BaseDetector, its traps, and the tools that take a detector."""

import numbers

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pyod.models import knn as pyod_knn
from pyod.models.base import BaseDetector
from pyod.models.feature_bagging import FeatureBagging
from pyod.models.lscp import LSCP
from pyod.models.suod import SUOD
from pythresh.thresholds.filter import FILTER
from pythresh.thresholds.iqr import IQR
from sklearn.base import clone, is_outlier_detector
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from pyod_gessvdd import GESSVDD
from pyod_gessvdd.laplacians.knn import KNN

#: A wide RBF: what a narrow one discards is what makes a far point far, and does not count in the score.
KERNELS = ("linear", "rbf(gamma=0.001)")

N_NORMAL, N_OUTLIERS = 90, 10


def gessvdd(kernel="linear", **params):
    return GESSVDD(**{"kernel": kernel, "laplacian": "pca", "random_state": 0, **params})


@pytest.fixture(scope="module")
def data():
    """Training rows with a tenth of outliers, test rows alike, and the test rows' truth."""
    random = np.random.default_rng(0)

    def draw():
        mixing = np.random.default_rng(1).normal(size=(6, 6))
        return np.vstack([random.normal(size=(N_NORMAL, 6)) @ mixing, random.normal(size=(N_OUTLIERS, 6)) * 9 @ mixing])

    y = np.repeat([0, 1], [N_NORMAL, N_OUTLIERS])
    return draw(), draw(), y


@pytest.fixture(scope="module", params=KERNELS)
def fitted(request, data):
    return gessvdd(kernel=request.param).fit(data[0])


class ZeroThreshold:
    """A thresholder as PyThresh shapes them, on scores less one: its threshold is exactly 0."""

    def fit(self, scores):
        self.thresh_ = 0.0
        self.labels_ = self.predict(scores)
        return self

    def predict(self, scores):
        return (np.asarray(scores) - 1.0 > self.thresh_).astype(float)


# The methods ----------------------------------------------------------------------------------------------------------


def test_gessvdd_is_a_pyod_detector_and_an_outlier_detector_to_sklearn():
    assert isinstance(GESSVDD(), BaseDetector)
    assert is_outlier_detector(GESSVDD())


@pytest.mark.parametrize("kernel", KERNELS)
def test_fit_returns_self_and_sets_what_pyod_reads(kernel, data):
    detector = gessvdd(kernel=kernel)
    assert detector.fit(data[0]) is detector
    n = len(data[0])
    assert detector.decision_scores_.shape == detector.labels_.shape == (n,)
    assert detector.decision_scores_.dtype == np.float64
    assert set(detector.labels_) == {0, 1}
    assert isinstance(detector.threshold_, numbers.Real)
    assert detector._mu == pytest.approx(detector.decision_scores_.mean())
    assert detector._sigma == pytest.approx(detector.decision_scores_.std())
    assert detector._classes == 2


@pytest.mark.parametrize(
    "method",
    [
        "decision_function",
        "predict",
        "predict_proba",
        "predict_confidence",
        "predict_with_rejection",
        "transform",
        "_predict_rank",
    ],
)
def test_methods_before_fit_say_not_fitted(method, data):
    with pytest.raises(NotFittedError, match="not fitted"):
        getattr(GESSVDD(), method)(data[0])


def test_rejection_stats_before_fit_say_not_fitted():
    with pytest.raises(NotFittedError, match="not fitted"):
        GESSVDD().compute_rejection_stats()


def left_out_factor(points, power):
    """By how much scores grow when a row is left out, from the learning rows' coordinates, the residual being last.

    1/(1 − h) with h = ‖z‖²/λ, where λ is the largest eigenvalue of ZᵀZ inside the subspace, to the given power.
    """
    inside = points[:, :-1]
    h = (points**2).sum(axis=1) / np.linalg.eigvalsh(inside.T @ inside)[-1]
    assert 0 <= h.min() < h.max() < 0.99
    return (1 - h) ** -power


@pytest.mark.parametrize("params", [{"residual": False}, {"laplacian": "none"}])
@pytest.mark.parametrize("kernel", KERNELS)
def test_decision_function_of_the_training_rows_is_decision_scores_exactly(kernel, params, data):
    detector = gessvdd(kernel=kernel, **params).fit(data[0])
    assert_array_equal(detector.decision_function(data[0]), detector.decision_scores_)
    assert_array_equal(detector.predict(data[0]), detector.labels_)


@pytest.mark.parametrize(
    ("kernel", "n_components", "power"),
    # Everything, with a kernel and the pca graph, is the subspace of its first 300 directions.
    [("linear", "all", 1.0), ("linear", 3, 0.75), (KERNELS[1], "all", 0.75), (KERNELS[1], 3, 0.75)],
)
def test_with_the_residual_the_trusted_rows_are_scored_as_if_left_out(kernel, n_components, power, data):
    X, _, _ = data
    detector = gessvdd(kernel=kernel, n_components=n_components).fit(X)
    trusted, as_new = detector.trusted_, detector.decision_function(X)
    assert 0 < trusted.sum() < len(X)
    # Those of the fit come from the training features, which a kernel finds in another way than a new row's.
    expected = as_new[trusted] * left_out_factor(detector.transform(X[trusted]), power)
    assert_allclose(detector.decision_scores_[trusted], expected, rtol=1e-10)
    # The others had no part in the description and are new to it.
    assert_array_equal(detector.decision_scores_[~trusted], as_new[~trusted])


@pytest.mark.parametrize("novelty", [False, True])
def test_by_default_a_trusted_row_scores_higher_than_the_same_row_met_again(novelty, data):
    X, _, _ = data
    detector = GESSVDD(novelty=novelty, random_state=0).fit(X)
    trusted, as_new = detector.trusted_, detector.decision_function(X)
    assert (detector.decision_scores_[trusted] > as_new[trusted]).all()
    assert_array_equal(detector.decision_scores_[~trusted], as_new[~trusted])
    assert trusted.all() == novelty


@pytest.mark.parametrize("threshold", ["contamination", "radius"])
@pytest.mark.parametrize("normal_class", [0, 1])
def test_about_a_tenth_of_the_new_normal_rows_is_called_outlying(normal_class, threshold):
    X, y = load_breast_cancer(return_X_y=True)
    train, new = train_test_split(X[y == normal_class], random_state=0)
    # The sphere is that of clean rows: around the trusted nine tenths of them it would leave out a fifth of all.
    detector = GESSVDD(threshold=threshold, novelty=threshold == "radius", random_state=0).fit(train)
    assert 0.02 < detector.predict(new).mean() < 0.25  # all of them, if rows that took part were the measure


def test_outliers_score_higher(fitted, data):
    _, X_test, y_test = data
    assert roc_auc_score(y_test, fitted.decision_function(X_test)) > 0.8


def test_scores_are_not_constant_and_not_negative(fitted, data):
    scores = fitted.decision_function(data[1])
    assert len(np.unique(scores)) > 0.9 * len(scores)
    assert scores.min() >= 0


def test_threshold_is_the_percentile_of_the_training_scores(fitted):
    assert fitted.threshold_ == np.percentile(fitted.decision_scores_, 90)
    assert_array_equal(fitted.labels_, fitted.decision_scores_ > fitted.threshold_)


def test_predict_is_score_above_threshold(fitted, data):
    labels = fitted.predict(data[1])
    assert labels.dtype.kind == "i"
    assert_array_equal(labels, fitted.decision_function(data[1]) > fitted.threshold_)


@pytest.mark.parametrize("method", ["linear", "unify"])
def test_predict_proba_is_pyods(method, fitted, data):
    probabilities = fitted.predict_proba(data[1], method=method)
    assert probabilities.shape == (len(data[1]), 2)
    assert_allclose(probabilities, BaseDetector.predict_proba(fitted, data[1], method=method), atol=1e-12)
    assert_allclose(probabilities.sum(axis=1), 1)


def test_predict_proba_refuses_other_methods(fitted, data):
    with pytest.raises(ValueError, match="method must be 'linear', 'unify' or 'conformal', got 'softmax'"):
        fitted.predict_proba(data[1], method="softmax")


@pytest.mark.parametrize("method", ["linear", "unify"])
def test_predict_proba_returns_the_confidence_too(method, fitted, data):
    probabilities, confidence = fitted.predict_proba(data[1], method=method, return_confidence=True)
    assert_array_equal(probabilities, fitted.predict_proba(data[1], method=method))
    assert_array_equal(confidence, fitted.predict_confidence(data[1]))


def test_confidence_is_pyods(fitted, data):
    confidence = fitted.predict_confidence(data[1])
    assert_allclose(confidence, BaseDetector.predict_confidence(fitted, data[1]), atol=1e-12)
    assert confidence.min() >= 0
    assert confidence.max() <= 1


def test_predict_returns_the_confidence_too(fitted, data):
    labels, confidence = fitted.predict(data[1], return_confidence=True)
    assert_array_equal(labels, fitted.predict(data[1]))
    assert_array_equal(confidence, fitted.predict_confidence(data[1]))


@pytest.mark.parametrize("T", [2, 8, 32])
@pytest.mark.filterwarnings("ignore:The cost of rejection must be positive:UserWarning")  # PyOD's own code
def test_predict_with_rejection_is_pyods(T, fitted, data):
    labels = fitted.predict_with_rejection(data[1], T=T)
    assert_array_equal(labels, BaseDetector.predict_with_rejection(clone_of_fit(fitted), data[1], T=T))


def clone_of_fit(detector):
    """A second fitted detector: PyOD's own rejection writes an attribute."""
    other = clone(detector)
    other.__dict__.update(vars(detector))
    return other


def test_predict_with_rejection_rejects_only_what_is_uncertain(fitted, data):
    labels = fitted.predict_with_rejection(data[1], T=2)
    assert set(labels) == {-2, 0, 1}
    decided = labels != -2
    assert_array_equal(labels[decided], fitted.predict(data[1])[decided])
    assert fitted.predict_confidence(data[1])[decided].min() > fitted.predict_confidence(data[1])[~decided].min()


def test_predict_with_rejection_does_not_reject_everything_for_large_T():
    X = np.random.default_rng(0).normal(size=(500, 3))
    detector = gessvdd().fit(X)
    inner = X[np.argsort(detector.decision_scores_)[:10]]
    assert_array_equal(BaseDetector.predict_with_rejection(clone_of_fit(detector), inner, T=50, c_r=0.1), -2)
    assert_array_equal(detector.predict_with_rejection(inner, T=50), 0)


def test_predict_with_rejection_changes_nothing_in_the_detector(fitted, data):
    before = set(vars(fitted))
    fitted.predict_with_rejection(data[1])
    assert set(vars(fitted)) == before


def test_predict_with_rejection_returns_the_stats_too(fitted, data):
    labels, stats = fitted.predict_with_rejection(data[1], return_stats=True)
    assert_array_equal(labels, fitted.predict_with_rejection(data[1]))
    assert stats == list(fitted.compute_rejection_stats())


def test_predict_with_rejection_warns_of_a_delta_outside_its_range(fitted, data):
    with pytest.warns(UserWarning, match=r"delta must be in \(0, 1\), got 2"):
        labels, stats = fitted.predict_with_rejection(data[1], return_stats=True, delta=2)
    assert stats == list(fitted.compute_rejection_stats(delta=0.1))
    assert len(labels) == len(data[1])


def test_rejection_stats_are_pyods(fitted):
    assert_allclose(fitted.compute_rejection_stats(T=8), BaseDetector.compute_rejection_stats(fitted, T=8), rtol=1e-9)


def test_rejection_stats_use_the_costs(fitted):
    cheap, dear = (fitted.compute_rejection_stats(c_r=cost)[2] for cost in (0.01, 1.0))
    assert cheap < dear


def test_rejection_stats_of_a_small_T_warn_of_nothing(fitted):
    rate, rate_bound, cost_bound = fitted.compute_rejection_stats(T=1)
    assert 0 <= rate <= rate_bound <= 1
    assert np.isfinite(cost_bound)


def test_rejection_stats_can_be_printed(fitted, capsys):
    fitted.compute_rejection_stats(verbose=True)
    assert "Expected rejection rate" in capsys.readouterr().out


def test_predict_rank_counts_the_training_rows_below(fitted, data):
    ranks = fitted._predict_rank(data[1])
    assert_array_equal(
        ranks, [np.count_nonzero(fitted.decision_scores_ < score) for score in fitted.decision_function(data[1])]
    )


def test_predict_rank_is_normalised_by_its_largest(fitted, data):
    ranks = fitted._predict_rank(data[1])
    assert_allclose(fitted._predict_rank(data[1], normalized=True), ranks / ranks.max())


def test_predict_rank_of_the_innermost_row_alone_is_zero(fitted, data):
    innermost = data[0][[np.argmin(fitted.decision_scores_)]]
    assert fitted._predict_rank(innermost, normalized=True) == [0.0]


def test_fit_predict_is_deprecated_and_gives_the_labels(data):
    detector = gessvdd()
    with pytest.warns(FutureWarning, match="fit_predict is deprecated"):
        labels = detector.fit_predict(data[0])
    assert_array_equal(labels, detector.labels_)


@pytest.mark.parametrize("scoring", ["roc_auc_score", "prc_n_score"])
def test_fit_predict_score_is_deprecated_and_scores(scoring, data, capsys):
    X, _, y = data
    with pytest.warns(FutureWarning, match="fit_predict_score is deprecated"):
        score = gessvdd().fit_predict_score(X, y, scoring=scoring)
    assert 0.5 < score <= 1
    assert scoring in capsys.readouterr().out


def test_fit_predict_score_refuses_other_scores(data):
    X, _, y = data
    with (
        pytest.warns(FutureWarning, match="deprecated"),
        pytest.raises(NotImplementedError, match="ROC and Precision"),
    ):
        gessvdd().fit_predict_score(X, y, scoring="accuracy")


def test_fit_transform_is_fit_and_transform(data):
    detector = gessvdd()
    Z = detector.fit_transform(data[0])
    assert Z.shape == (len(data[0]), detector.n_components_ + 1)  # and the residual
    assert_array_equal(Z, detector.transform(data[0]))


# The traps ------------------------------------------------------------------------------------------------------------

ROW_METHODS = (
    "decision_function",
    "predict",
    "predict_proba",
    "predict_confidence",
    "predict_with_rejection",
    "transform",
    "_predict_rank",
)


@pytest.mark.parametrize("method", ROW_METHODS)
def test_lists_give_what_arrays_give(method, fitted, data):
    assert_array_equal(getattr(fitted, method)(data[1].tolist()), getattr(fitted, method)(data[1]))


def test_fit_on_lists_is_fit_on_arrays(fitted, data):
    detector = clone(fitted).fit(data[0].tolist())
    assert_array_equal(detector.decision_scores_, fitted.decision_scores_)


@pytest.mark.parametrize("y", [np.zeros(100), np.ones(100), np.arange(100) % 3, ["a"] * 100, np.linspace(0, 1, 100)])
def test_y_is_ignored_without_a_word_whatever_its_classes(y, fitted, data):
    detector = clone(fitted).fit(data[0], y)
    assert_array_equal(detector.predict_proba(data[1]), fitted.predict_proba(data[1]))


@pytest.mark.parametrize(("n", "contamination"), [(8, 0.1), (100, 1e-3), (100, 1e-15)])
def test_outliers_have_a_confidence_with_less_than_one_expected(n, contamination):
    X = np.random.default_rng(0).normal(size=(n, 2))
    detector = gessvdd(contamination=contamination).fit(X)
    labels, confidence = detector.predict([[50.0, -50.0], [0.0, 0.0]], return_confidence=True)
    assert_array_equal(labels, [1, 0])
    assert confidence[0] > 0.3
    rate, rate_bound, cost_bound = detector.compute_rejection_stats()
    assert 0 <= rate <= 1
    assert 0 <= rate_bound <= 1
    assert np.isfinite(cost_bound)


def test_bound_of_a_rate_is_at_most_one_for_few_rows():
    X = np.random.default_rng(0).normal(size=(20, 2))
    detector = gessvdd().fit(X)
    assert BaseDetector.compute_rejection_stats(detector)[1] > 1
    assert detector.compute_rejection_stats()[1] == 1


def test_threshold_object_of_exactly_zero_is_a_threshold(data):
    detector = gessvdd(contamination=ZeroThreshold()).fit(data[0])
    assert detector.threshold_ == 0
    assert_array_equal(detector.labels_, detector.decision_scores_ > 1)
    assert detector.labels_.dtype.kind == "i"
    assert_array_equal(detector.predict(data[1]), detector.decision_function(data[1]) > 1)


def test_threshold_object_without_a_threshold_gives_the_share_of_its_labels(data):
    class NoThreshold(ZeroThreshold):
        def fit(self, scores):
            super().fit(scores).thresh_ = None
            return self

        def predict(self, scores):
            return (scores > 1).astype(int)

    detector = gessvdd(contamination=NoThreshold()).fit(data[0])
    assert detector.threshold_ == detector.labels_.mean()


@pytest.mark.parametrize("thresholder", [FILTER, IQR])
@pytest.mark.parametrize("kernel", KERNELS)
def test_pythresh_objects_decide(kernel, thresholder, data):
    detector = gessvdd(kernel=kernel, contamination=thresholder()).fit(data[0])
    expected = thresholder().fit(detector.decision_scores_)
    assert_array_equal(detector.labels_, expected.labels_)
    assert detector.threshold_ == expected.thresh_
    labels, confidence = detector.predict(data[1], return_confidence=True)
    assert_array_equal(labels, expected.predict(detector.decision_function(data[1])))
    assert set(labels) == {0, 1}
    assert confidence.min() >= 0
    assert detector.predict_proba(data[1]).shape == (len(data[1]), 2)
    assert np.isfinite(detector.compute_rejection_stats()).all()
    rejected, stats = detector.predict_with_rejection(data[1], return_stats=True)
    assert len(rejected) == len(data[1])
    assert np.isfinite(stats).all()


def test_threshold_object_is_left_as_it_was_given(data):
    thresholder = FILTER()
    detector = gessvdd(contamination=thresholder).fit(data[0])
    assert thresholder.labels_ is None
    assert detector.thresholder_.labels_ is not None


def test_one_threshold_object_serves_two_detectors(data):
    shared = FILTER()
    first = gessvdd(contamination=shared).fit(data[0])
    labels = first.predict(data[1])
    gessvdd(kernel="rbf", contamination=shared).fit(data[0][:50])
    assert_array_equal(first.predict(data[1]), labels)


def test_clone_takes_a_threshold_object_along(data):
    original = gessvdd(contamination=FILTER())
    assert_array_equal(clone(original).fit(data[0]).labels_, original.fit(data[0]).labels_)


@pytest.mark.parametrize("value", [None, "auto", 5, 0, 0.0, -0.1, 0.51, float("nan"), np.float32(0.7), True, [0.1]])
@pytest.mark.parametrize("how", ["constructor", "set_params"])
def test_contamination_is_checked_in_fit_however_it_was_set(how, value, data):
    detector = gessvdd()
    detector = gessvdd(contamination=value) if how == "constructor" else detector
    detector.set_params(contamination=value)
    with pytest.raises(ValueError, match=r"contamination must be .*\(0, 0\.5\].*got ") as error:
        detector.fit(data[0])
    assert str(error.value).endswith(f"got {value!r}")


def test_contamination_given_as_a_class_gets_a_hint(data):
    with pytest.raises(ValueError, match=r"contamination must be .*PyThresh object.*write FILTER\(\)"):
        GESSVDD(contamination=FILTER).fit(data[0])


@pytest.mark.parametrize("value", [np.float32(0.2), np.float64(0.2)])
def test_contamination_may_be_a_numpy_number(value, data):
    detector = gessvdd(contamination=value).fit(data[0])
    plain = gessvdd(contamination=0.2).fit(data[0])
    assert_array_equal(detector.labels_, plain.labels_)
    assert_array_equal(detector.predict(data[1]), plain.predict(data[1]))
    assert_array_equal(detector.predict_confidence(data[1]), plain.predict_confidence(data[1]))
    assert_allclose(detector.compute_rejection_stats(), plain.compute_rejection_stats())


def test_parameters_set_after_fit_count_from_the_next_fit_on(data):
    detector = gessvdd().fit(data[0])
    before = detector.predict(data[1], return_confidence=True)
    detector.set_params(contamination=FILTER(), threshold="radius")
    assert_array_equal(detector.predict(data[1], return_confidence=True), before)


@pytest.fixture(scope="module")
def frame(data):
    return pd.DataFrame(data[0], columns=list("abcdef"))


@pytest.mark.parametrize("kernel", KERNELS)
def test_dataframes_give_what_arrays_give(kernel, data, frame):
    by_frame = gessvdd(kernel=kernel).fit(frame)
    by_array = gessvdd(kernel=kernel).fit(data[0])
    assert list(by_frame.feature_names_in_) == list("abcdef")
    assert by_frame.n_features_in_ == 6
    assert_array_equal(by_frame.decision_scores_, by_array.decision_scores_)
    for method in ROW_METHODS:
        assert_array_equal(getattr(by_frame, method)(frame), getattr(by_array, method)(data[0]))


@pytest.mark.parametrize("method", ROW_METHODS)
def test_reordered_columns_are_an_error_everywhere(method, frame):
    detector = gessvdd().fit(frame)
    with pytest.raises(ValueError, match=r"(?s)feature names should match.*same order"):
        getattr(detector, method)(frame[list("bacdef")])


@pytest.mark.parametrize("method", ROW_METHODS)
def test_missing_columns_are_named_everywhere(method, frame):
    detector = gessvdd().fit(frame)
    with pytest.raises(ValueError, match=r"(?s)feature names.*missing.*- f"):
        getattr(detector, method)(frame[list("abcde")])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.int64, bool, object])
def test_scores_are_float64_whatever_comes_in(dtype, kernel, data):
    X = (data[0] > 0) if dtype is bool else data[0].astype(dtype)
    unfitted = gessvdd(kernel=kernel)
    detector = clone(unfitted).fit(X)
    assert detector.decision_scores_.dtype == detector.decision_function(X).dtype == np.float64
    assert detector.transform(X).dtype == detector.predict_proba(X).dtype == np.float64
    assert_array_equal(detector.decision_scores_, unfitted.fit(X.astype(np.float64)).decision_scores_)


@pytest.mark.parametrize("method", ["linear", "unify"])
def test_equal_scores_give_finite_probabilities(method):
    corners = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    X = np.vstack([corners] * 3)
    detector = gessvdd(laplacian="none", n_iter=0, C=1.0).fit(X)
    assert np.ptp(detector.decision_scores_) < 1e-9
    probabilities = detector.predict_proba(np.vstack([X, [[5.0, 5.0]]]), method=method)
    assert np.isfinite(probabilities).all()
    assert probabilities[-1, 1] == 1


@pytest.mark.parametrize("kernel", [*KERNELS, "rbf(approximation='nystroem', n_landmarks=20)"])
def test_editing_the_training_array_later_changes_nothing(kernel, data):
    X = np.ascontiguousarray(data[0])
    detector = gessvdd(kernel=kernel).fit(X)
    before = detector.decision_function(data[1])
    edited = X.copy()
    other = gessvdd(kernel=kernel).fit(edited)
    edited[:] = 1e6
    assert_array_equal(other.decision_function(data[1]), before)


@pytest.mark.parametrize("kernel", KERNELS)
def test_fit_and_scores_leave_the_data_alone(kernel, data):
    X = data[0].copy()
    X.flags.writeable = False
    weights = np.ones(len(X))
    weights.flags.writeable = False
    detector = gessvdd(kernel=kernel, standardize=False).fit(X, sample_weight=weights)
    for method in ROW_METHODS:
        getattr(detector, method)(X)
    assert_array_equal(X, data[0])


@pytest.mark.parametrize("kernel", KERNELS)
def test_refit_on_other_data_leaves_nothing_of_the_old_fit(kernel, data, frame):
    other = np.random.default_rng(3).normal(size=(60, 3))
    detector = gessvdd(kernel=kernel, contamination=FILTER()).fit(frame)
    detector.predict_with_rejection(frame)
    detector.set_params(contamination=0.1).fit(other)
    fresh = gessvdd(kernel=kernel).fit(other)
    assert set(vars(detector)) == set(vars(fresh))
    assert not hasattr(detector, "feature_names_in_")
    for method in ROW_METHODS:
        assert_array_equal(getattr(detector, method)(other), getattr(fresh, method)(other))


# Labels -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", ["contamination", "radius"])
@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("laplacian", ["none", "pca", "knn"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_labels_are_the_scores_above_the_threshold_for_every_setting(kernel, laplacian, residual, threshold, data):
    detector = gessvdd(kernel=kernel, laplacian=laplacian, residual=residual, threshold=threshold, nu=0.15).fit(data[0])
    assert_array_equal(detector.labels_, detector.decision_scores_ > detector.threshold_)
    assert 0 < detector.labels_.sum() < len(data[0]) / 2


# The sphere decides ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=KERNELS)
def sphere(request, data):
    return gessvdd(kernel=request.param, threshold="radius", nu=0.2, residual=False).fit(data[0])


def test_radius_labels_what_is_outside_the_sphere(sphere, data):
    assert sphere.threshold_ == 1
    assert_array_equal(sphere.labels_, sphere.decision_scores_ > 1)
    assert_array_equal(sphere.predict(data[1]), sphere.decision_function(data[1]) > 1)
    assert_array_equal(np.flatnonzero(sphere.labels_), sphere.outside_)
    distances = np.linalg.norm(sphere.transform(data[1]) - sphere.center_, axis=1)
    assert_array_equal(sphere.predict(data[1]), distances > sphere.radius_)


def test_with_the_residual_new_rows_are_held_to_the_sphere_as_its_rows_would_be_without_themselves(data):
    detector = gessvdd(threshold="radius", nu=0.2).fit(data[0])
    assert_array_equal(detector.labels_, detector.decision_scores_ > detector.threshold_)
    # The training rows on the sphere score 1 as new rows; left out, a fifth of the trusted ones is outside.
    assert_allclose(detector.decision_function(data[0])[detector.boundary_], 1.0, rtol=1e-6)
    left_out = detector.decision_scores_[detector.trusted_]
    assert detector.threshold_ == pytest.approx(np.quantile(left_out, 0.8))
    assert detector.threshold_ > 1
    assert_array_equal(detector.predict(data[1]), detector.decision_function(data[1]) > detector.threshold_)


def test_radius_expects_its_own_share_of_outliers(sphere, data):
    by_labels = clone(sphere).set_params(threshold="contamination", contamination=float(sphere.labels_.mean()))
    by_labels.fit(data[0])
    sure = sphere.predict(data[1]) == by_labels.predict(data[1])
    assert_allclose(sphere.predict_confidence(data[1])[sure], by_labels.predict_confidence(data[1])[sure])
    assert_allclose(sphere.compute_rejection_stats(), by_labels.compute_rejection_stats(), rtol=1e-9)


def test_radius_rejects_and_reports(sphere, data):
    labels, stats = sphere.predict_with_rejection(data[1], T=4, return_stats=True)
    assert -2 in labels
    assert stats == list(sphere.compute_rejection_stats(T=4))


def test_radius_with_every_row_inside_still_has_a_confidence(data):
    detector = gessvdd(threshold="radius", C=1.0, residual=False).fit(data[0])
    assert detector.labels_.sum() == 0
    far = data[0][:1] + 1000
    labels, confidence = detector.predict(far, return_confidence=True)
    assert labels == [1]
    assert confidence > 0.3
    assert np.isfinite(detector.compute_rejection_stats()).all()


@pytest.mark.parametrize("declared", [{"trim": None}, {"trim": 0.1}, {"novelty": True}])
def test_radius_makes_the_contamination_irrelevant(declared, data):
    # But for which rows are trusted, unless that is declared.
    params = {"threshold": "radius", **declared}
    few, many = (gessvdd(contamination=share, **params).fit(data[0]) for share in (0.01, 0.5))
    assert_array_equal(few.predict(data[1]), many.predict(data[1]))
    assert few.compute_rejection_stats() == many.compute_rejection_stats()


# scikit-learn's own checks --------------------------------------------------------------------------------------------

EXPECTED_FAILURES = {
    "check_outliers_train": "PyOD labels outliers 1 and inliers 0, scikit-learn −1 and 1",
    "check_outliers_fit_predict": "PyOD labels outliers 1 and inliers 0, and its fit_predict is deprecated",
}


def test_at_most_two_of_sklearns_checks_are_expected_to_fail():
    assert len(EXPECTED_FAILURES) <= 2


# The checks' data have as few as four distinct rows: that the subspace shrinks on them is said, and is no failure.
@pytest.mark.filterwarnings("ignore:.*subspace:UserWarning", "ignore:.*n_clusters:UserWarning")
@pytest.mark.filterwarnings("ignore:Function fit_predict is deprecated:FutureWarning")
@pytest.mark.parametrize(
    "detector",
    [GESSVDD(kernel="linear"), GESSVDD(), GESSVDD(novelty=True)],
    ids=["linear", "default", "novelty"],
)
def test_sklearns_checks_pass(detector):
    results = check_estimator(detector, expected_failed_checks=EXPECTED_FAILURES, on_skip=None, on_fail=None)
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert failed == {}
    # An expected failure that passes is out of date.
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(EXPECTED_FAILURES)


# The tools that take a detector ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
def test_clone_is_unfitted_and_fits_the_same(kernel, data):
    detector = gessvdd(kernel=kernel, laplacian=KNN(n_neighbors=3)).fit(data[0])
    twin = clone(detector)
    assert not hasattr(twin, "decision_scores_")
    assert twin.laplacian is not detector.laplacian
    assert repr(twin) == repr(detector)
    assert_array_equal(twin.fit(data[0]).decision_scores_, detector.decision_scores_)


@pytest.mark.parametrize("kernel", KERNELS)
def test_feature_bagging_takes_it(kernel, data):
    X, X_test, y_test = data
    ensemble = FeatureBagging(gessvdd(kernel=kernel), n_estimators=4, random_state=0).fit(X)
    assert all(type(member) is GESSVDD for member in ensemble.estimators_)
    assert roc_auc_score(y_test, ensemble.decision_function(X_test)) > 0.8


def test_lscp_takes_it(data):
    X, X_test, y_test = data
    detectors = [gessvdd(), gessvdd(KERNELS[1]), pyod_knn.KNN()]
    ensemble = LSCP(detectors, n_bins=3, random_state=0).fit(X)
    assert roc_auc_score(y_test, ensemble.decision_function(X_test)) > 0.8


@pytest.mark.filterwarnings("ignore:UNK does not have a predefined code:UserWarning")  # SUOD knows PyOD's own by name
def test_suod_takes_it(data):
    X, X_test, y_test = data
    ensemble = SUOD(
        [gessvdd(), gessvdd(KERNELS[1])],
        n_jobs=1,
        rp_flag_global=False,
        bps_flag=False,
        approx_flag_global=False,
        verbose=False,
    ).fit(X)
    assert roc_auc_score(y_test, ensemble.decision_function(X_test)) > 0.8


@pytest.mark.parametrize("kernel", KERNELS)
def test_pipeline_ends_with_it(kernel, data):
    X, X_test, y_test = data
    pipeline = make_pipeline(StandardScaler(), gessvdd(kernel=kernel, standardize=False)).fit(X)
    assert roc_auc_score(y_test, pipeline.decision_function(X_test)) > 0.8
    assert set(pipeline.predict(X_test)) == {0, 1}
    assert pipeline.predict_proba(X_test).shape == (len(X_test), 2)


def test_pipeline_goes_on_from_its_subspace(data):
    X, X_test, _ = data
    first = gessvdd(n_components=2)
    pipeline = Pipeline([("subspace", first), ("knn", pyod_knn.KNN())]).fit(X)
    alone = pyod_knn.KNN().fit(first.transform(X))
    assert_array_equal(pipeline.decision_function(X_test), alone.decision_function(first.transform(X_test)))


def mean_score(detector, X, y):
    """Unlike a ranking, no two fits share it."""
    return detector.decision_function(X).mean()


def search(grid, data, **params):
    X, _, y = data
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    scoring = {"roc_auc": "roc_auc", "mean": mean_score}
    return GridSearchCV(gessvdd(**params), grid, scoring=scoring, refit="roc_auc", cv=cv, error_score="raise").fit(X, y)


@pytest.mark.parametrize(
    ("params", "grid"),
    [
        ({"kernel": "linear", "laplacian": "knn"}, {"laplacian__n_neighbors": [3, 9]}),
        ({"kernel": "linear", "laplacian": KNN()}, {"laplacian__n_neighbors": [3, 9]}),
        ({"kernel": "linear", "n_components": 2, "n_iter": 20}, {"updater__step_size": [0.01, 1.0]}),
        ({"kernel": "rbf", "laplacian": "pca"}, {"kernel__gamma": [0.001, 1.0]}),
        ({"kernel": "rbf", "laplacian": "pca"}, {"gamma": [0.001, 1.0]}),
        ({"kernel": "linear"}, {"laplacian": ["pca", "knn(n_neighbors=7)"]}),
    ],
    ids=lambda value: ",".join(value),
)
def test_grid_search_reaches_components_and_their_parameters(params, grid, data):
    found = search(grid, data, **params)
    assert max(found.cv_results_["mean_test_roc_auc"]) > 0.5
    first, second = found.cv_results_["mean_test_mean"]
    assert first != second, "the parameter does not reach the component"
    ((name, value),) = found.best_params_.items()
    assert found.best_estimator_.get_params()[name] == value


def test_grid_search_leaves_the_given_component_alone(data):
    graph = KNN(n_neighbors=5)
    search({"laplacian__n_neighbors": [3, 9]}, data, kernel="linear", laplacian=graph)
    assert graph.n_neighbors == 5


@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision", "f1"])
def test_sklearns_scorers_read_it(scoring, fitted, data):
    from sklearn.metrics import get_scorer

    _, X_test, y_test = data
    assert get_scorer(scoring)(fitted, X_test, y_test) > 0.5
