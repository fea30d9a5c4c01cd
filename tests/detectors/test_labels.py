"""A few labelled rows: what they change, and what they never do."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import average_precision_score

from pyod_gessvdd import ESSVDD, GESSVDD, SSVDD, SVDD
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.qp.signed import solve_signed_svdd
from pyod_gessvdd.whole_space.known_outliers import DOUBT, STRENGTH
from tests.oracle import whole_space as oracle

RANDOM = np.random.default_rng(0)
NORMAL, ODD = RANDOM.normal(size=(80, 3)), 0.3 * RANDOM.normal(size=(20, 3)) + [1.7, -1.7, 0.0]
X, TRUTH = np.vstack([NORMAL, ODD]), np.repeat([0, 1], [80, 20])
UNKNOWN = np.full(100, -1.0)
FEW = np.where(np.isin(np.arange(100), [80, 83, 90]), 1.0, -1.0)
NEW = np.vstack([RANDOM.normal(size=(30, 3)), 0.3 * RANDOM.normal(size=(10, 3)) + [1.7, -1.7, 0.0]])
NEW_TRUTH = np.repeat([0, 1], [30, 10])

SUBSPACE = {"kernel": "linear", "n_components": 2, "residual": False, "standardize": True}
DETECTORS = {
    "whole space": GESSVDD(random_state=0),
    "novelty": GESSVDD(novelty=True, random_state=0),
    "landmarks": GESSVDD(kernel="mixed(approximation='nystroem', n_landmarks=40)", random_state=0),
    "subspace": GESSVDD(**SUBSPACE, random_state=0),
    "residual": GESSVDD(n_components=3, random_state=0),
    "SVDD": SVDD(random_state=0),
    "SSVDD": SSVDD(kernel="linear", n_components=2, psi=1, center=False),
    "ESSVDD": ESSVDD(kernel="linear", n_components=2, psi=2),
}


def labelled(detector, **params):
    return clone(detector).set_params(use_labels=True, **params)


@pytest.mark.parametrize("detector", DETECTORS.values(), ids=DETECTORS)
def test_y_is_ignored_unless_asked_for(detector):
    with_y = clone(detector).fit(X, FEW)
    assert_array_equal(with_y.decision_scores_, clone(detector).fit(X).decision_scores_)


@pytest.mark.parametrize("detector", DETECTORS.values(), ids=DETECTORS)
def test_without_a_known_outlier_nothing_changes(detector):
    plain = clone(detector).fit(X)
    found = labelled(detector).fit(X, UNKNOWN)
    assert_allclose(found.decision_scores_, plain.decision_scores_, rtol=1e-10)
    assert_allclose(found.decision_function(NEW), plain.decision_function(NEW), rtol=1e-10)
    assert found.threshold_ == pytest.approx(plain.threshold_)


@pytest.mark.parametrize("detector", DETECTORS.values(), ids=DETECTORS)
def test_minus_one_and_nan_are_the_same(detector):
    by_nan = labelled(detector).fit(X, np.where(FEW == 1, 1.0, np.nan))
    assert_array_equal(by_nan.decision_scores_, labelled(detector).fit(X, FEW).decision_scores_)


@pytest.mark.parametrize("detector", DETECTORS.values(), ids=DETECTORS)
def test_known_outliers_are_never_trusted_and_have_no_part_in_scaling_and_metric(detector):
    found = labelled(detector).fit(X, FEW)
    without = clone(detector).fit(X[FEW != 1])
    assert not found.trusted_[FEW == 1].any()
    assert_array_equal(found.trusted_[FEW != 1], without.trusted_)
    new = X[:5]
    assert_array_equal(found.description_.scaling.apply(new), without.description_.scaling.apply(new))
    assert found.decision_scores_.shape == found.alpha_.shape == (100,)
    assert found.alpha_.sum() == pytest.approx(1.0)
    assert found.history_[-1]["gap"] <= 1e-8
    # Their own scores are those of new rows.
    assert_allclose(found.decision_scores_[FEW == 1], found.decision_function(X[FEW == 1]), rtol=1e-9)


@pytest.mark.parametrize("detector", [DETECTORS[name] for name in ("whole space", "novelty", "landmarks", "SVDD")])
def test_a_few_labels_help(detector):
    plain = average_precision_score(NEW_TRUTH, clone(detector).fit(X).decision_function(NEW))
    found = average_precision_score(NEW_TRUTH, labelled(detector).fit(X, FEW).decision_function(NEW))
    assert found > plain + 0.1


@pytest.mark.parametrize("name", ["whole space", "novelty", "SVDD", "residual"])
def test_known_inliers_are_trusted(name):
    y = np.where(np.arange(100) % 3 == 0, 0.0, -1.0)
    y[85] = 1.0
    found = labelled(DETECTORS[name]).fit(X, y)
    assert found.trusted_[y == 0].all()


def test_labels_of_all_rows_are_as_good_as_clean_rows():
    found = labelled(DETECTORS["whole space"]).fit(X, TRUTH)
    assert_array_equal(found.trusted_, TRUTH == 0)


# The whole space ------------------------------------------------------------------------------------------------------

KERNEL = "0.5*rbf(gamma=0.3) + 0.5*laplacian(gamma=0.2)"


def regression(rows, outliers, new, detector, weights=None):
    """m(x) at new rows by the slow regression on all rows, in the unit of the kernel."""
    kernel, lam = resolve("kernel", KERNEL).fit(rows), 1.0 / detector.description_.scale
    K = kernel.gram(np.vstack([rows, outliers]), np.vstack([rows, outliers]))
    # c(o, o) is what the trusted rows leave of k(o, o), over λ.
    n, weights = len(rows), np.ones(len(rows)) if weights is None else weights
    A = np.linalg.inv(K[:n, :n] + lam * np.diag(1 / weights))
    left = np.diag(K[n:, n:] - K[n:, :n] @ A @ K[:n, n:])
    ridges = np.concatenate([lam / weights, np.full(len(outliers), DOUBT * left.mean())])
    targets = np.repeat([0.0, 1.0], [n, len(outliers)])
    return oracle.regression(K, targets, ridges, kernel.gram(new, np.vstack([rows, outliers])))


@pytest.fixture(scope="module")
def fitted():
    detector = GESSVDD(kernel=KERNEL, standardize=False, novelty=True, random_state=0, use_labels=True)
    return detector.fit(X, FEW)


def test_scores_are_multiplied_by_the_regression_of_the_labels(fitted):
    plain = GESSVDD(kernel=KERNEL, standardize=False, novelty=True, random_state=0).fit(X[FEW != 1])
    m = regression(X[FEW != 1], X[FEW == 1], NEW, fitted)
    assert (m > 0.1).any()
    assert (m < 0).any()
    expected = plain.decision_function(NEW) * np.exp(STRENGTH * np.maximum(m, 0.0))
    assert_allclose(fitted.decision_function(NEW), expected, rtol=1e-6)


@pytest.mark.parametrize("weights", [None, np.arange(97) % 3 + 1.0], ids=["alike", "weighted"])
def test_training_rows_are_scored_as_if_left_out_of_the_regression(weights):
    params = {"kernel": KERNEL, "standardize": False, "novelty": True, "random_state": 0}
    rows = X[FEW != 1]
    everywhere = None if weights is None else np.ones(100)
    if everywhere is not None:
        everywhere[FEW != 1] = weights
    found = GESSVDD(**params, use_labels=True).fit(X, FEW, sample_weight=everywhere)
    plain = GESSVDD(**params).fit(rows, sample_weight=weights)
    factors = found.decision_scores_[FEW != 1] / plain.decision_scores_
    for i in (0, 3, 17, 82, 90):
        fewer = np.ones(97) if weights is None else weights.copy()
        fewer[i] -= 1.0
        inside = fewer > 0
        kernel, lam = resolve("kernel", KERNEL).fit(rows), 1.0 / found.description_.scale
        everything = np.vstack([rows, X[FEW == 1]])
        K = kernel.gram(everything, everything)
        full = np.ones(97) if weights is None else weights
        A = np.linalg.inv(K[:97, :97] + lam * np.diag(1 / full))
        doubt = DOUBT * np.diag(K[97:, 97:] - K[97:, :97] @ A @ K[:97, 97:]).mean()
        chosen = np.flatnonzero(np.append(inside, [True] * 3))
        ridges = np.append(lam / fewer[inside], [doubt] * 3)
        targets = np.append(np.zeros(inside.sum()), np.ones(3))
        m = oracle.regression(K[np.ix_(chosen, chosen)], targets, ridges, K[i, chosen][None])[0]
        assert factors[i] == pytest.approx(np.exp(STRENGTH * max(m, 0.0)), rel=1e-6)


def test_the_gradient_of_the_score_agrees_with_finite_differences(fitted):
    description, h = fitted.description_, 1e-6
    found = description.gradient_of_scaled(NEW)
    for column in range(3):
        step = h * (np.arange(3) == column)
        difference = (description.scores_of_scaled(NEW + step) - description.scores_of_scaled(NEW - step)) / (2 * h)
        assert_allclose(found[:, column], difference, rtol=1e-4, atol=1e-5 * np.abs(difference).max())


def test_contributions_add_up_with_labels(fitted):
    contributions, base = fitted.explain(NEW, return_base=True)
    assert_allclose(contributions.sum(axis=1) + base, fitted.decision_function(NEW), rtol=1e-8)


def test_a_saved_model_scores_alike(fitted):
    loaded = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(loaded.decision_function(NEW), fitted.decision_function(NEW))


# The sphere -----------------------------------------------------------------------------------------------------------


def test_the_sphere_of_svdd_has_negative_examples():
    found = SVDD(kernel="linear", standardize=False, nu=0.23, use_labels=True).fit(X, FEW)
    sphere = solve_signed_svdd(X, FEW == 1, nu=0.23)
    assert found.radius_ == pytest.approx(np.sqrt(sphere.radius2), rel=1e-6)
    expected = ((NEW - sphere.center) ** 2).sum(axis=1) / sphere.radius2
    assert_allclose(found.decision_function(NEW), expected, rtol=1e-6)
    assert (found.alpha_[FEW == 1] <= 0).all()
    assert (found.alpha_ < 0).any()
    assert_allclose(found.alpha_ @ X, sphere.center, atol=1e-6)


def test_the_sphere_in_a_kernels_space_has_negative_examples():
    found = SVDD(kernel="rbf(gamma=0.3)", standardize=False, nu=0.23, use_labels=True).fit(X, FEW)
    K = resolve("kernel", "rbf(gamma=0.3)").fit(X)
    distances = 1.0 - 2.0 * K.gram(NEW, X) @ found.alpha_ + found.alpha_ @ K.gram(X, X) @ found.alpha_
    assert_allclose(found.decision_function(NEW) * found.radius_**2, distances, rtol=1e-8)
    assert (found.decision_function(X[FEW == 1]) >= 1 - 1e-6).all()


@pytest.mark.parametrize("updater", ["gradient", "spectral", "newton", "riemannian"])
@pytest.mark.parametrize("criterion", ["min", "max"])
def test_the_subspace_is_learnt_with_the_signed_criterion(updater, criterion):
    detector = GESSVDD(**SUBSPACE, updater=updater, criterion=criterion, use_labels=True, random_state=0).fit(X, FEW)
    sphere = solve_signed_svdd(
        detector.transform(np.vstack([X[FEW != 1], X[FEW == 1]])), np.repeat([False, True], [97, 3])
    )
    assert_allclose(detector.center_, sphere.center, atol=1e-5)
    assert detector.radius_ == pytest.approx(np.sqrt(sphere.radius2), rel=1e-5)
    assert detector.history_[-1]["criterion"] == pytest.approx(sphere.objective, rel=1e-6)
    # The criterion is Tr(P S_β Pᵀ) with the signed β, P the projection.
    scaled = detector.description_.scaling.apply(X)
    S = scaled.T @ (np.diag(detector.alpha_) - np.outer(detector.alpha_, detector.alpha_)) @ scaled
    P = detector.projection_
    assert np.trace(P @ S @ P.T) == pytest.approx(sphere.objective, rel=1e-6)


def test_a_monotone_update_improves_the_signed_criterion():
    histories = [
        GESSVDD(**SUBSPACE, updater="riemannian", criterion=criterion, n_iter=1, use_labels=True).fit(X, FEW).history_
        for criterion in ("min", "max")
    ]
    assert histories[0][-1]["criterion"] < histories[1][-1]["criterion"]


def test_spectral_regression_takes_no_labelled_outliers():
    message = "updater 'spectral_regression' does not take labelled outliers; use 'gradient', 'spectral', 'newton' or"
    with pytest.raises(ValueError, match=message):
        GESSVDD(**SUBSPACE, updater="spectral_regression", use_labels=True).fit(X, FEW)


def test_a_given_graph_is_that_of_the_rows_that_are_left():
    L = np.diag(np.arange(1.0, 101.0))
    found = GESSVDD(**SUBSPACE, laplacian=L, use_labels=True, random_state=0).fit(X, FEW)
    inside = FEW != 1
    without = GESSVDD(**SUBSPACE, laplacian=L[np.ix_(inside, inside)], random_state=0, n_iter=0).fit(X[inside])
    start = clone(found).set_params(n_iter=0).fit(X, FEW)
    assert_allclose(np.abs(start.projection_), np.abs(without.projection_), rtol=1e-8)


# Thresholds, calibration, errors --------------------------------------------------------------------------------------


def test_known_outliers_are_no_calibration_rows():
    found = labelled(DETECTORS["whole space"]).fit(X, FEW)
    # Rows that are not trusted count a little: as calibration rows they score as if they did not.
    scores, trusted = found.decision_scores_[FEW != 1], found.trusted_[FEW != 1]
    assert len(found.calibration_scores_) == 97
    assert np.isin(scores[trusted], found.calibration_scores_).all()
    assert (found.calibration_scores_ >= np.sort(scores) * (1 - 1e-12)).all()
    held = labelled(DETECTORS["whole space"], calibration=0.2).fit(X, FEW)
    assert len(held.calibration_scores_) == round(0.2 * 97)


def test_sample_weights_and_labels_go_together():
    weights = np.arange(100) % 3 + 1.0
    weights[FEW == 1] = 5.0
    found = labelled(DETECTORS["whole space"]).fit(X, FEW, sample_weight=weights)
    without = clone(DETECTORS["whole space"]).fit(X[FEW != 1], sample_weight=weights[FEW != 1])
    assert_array_equal(found.trusted_[FEW != 1], without.trusted_)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "use_labels=True needs y, with 1 for outliers, 0 for inliers and -1 or NaN for unknown"),
        (np.zeros(3), r"y must hold one label per row, shape \(100,\), got shape \(3,\)"),
        (np.full(100, 2.0), "y must hold 0, 1, -1 or NaN, got 2"),
        (["odd"] * 100, "y must hold 0, 1, -1 or NaN, got values of type"),
        (np.r_[0.0, np.ones(99)], "y must leave at least 2 rows that are not labelled as outliers, got 1 of 100"),
    ],
)
def test_labels_that_are_none_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        GESSVDD(use_labels=True).fit(X, y)


def test_a_kernel_matrix_has_no_labelled_rows():
    K = X @ X.T
    with pytest.raises(ValueError, match="use_labels=True needs rows of data, and a kernel matrix has none"):
        GESSVDD(kernel="precomputed", n_components=2, use_labels=True).fit(K, FEW)


def test_use_labels_is_true_or_false():
    with pytest.raises(ValueError, match="use_labels must be True or False, got 'yes'"):
        GESSVDD(use_labels="yes").fit(X, FEW)


def test_the_regression_needs_a_graph():
    found = SVDD(use_labels=True).fit(X, FEW)
    with pytest.raises(ValueError, match="without a graph labelled outliers are negative examples of the sphere"):
        found.description_.regression(X[:2])
