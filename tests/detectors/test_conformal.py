"""Conformal p-values, selections with a bounded false discovery rate, and thresholds that move with recent scores."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from pyod_gessvdd import ESSVDD, ESVDD, GESSVDD, GESVDD, GESVM, MSSVDD, SSVDD, SVDD

FAMILY = [GESSVDD, SVDD, GESVDD, ESVDD, GESVM, SSVDD, ESSVDD]


def normal(n, seed, D=4):
    return np.random.default_rng(seed).normal(size=(n, D))


def p_by_definition(calibration, scores):
    return np.array([(1 + (calibration >= score).sum()) / (1 + len(calibration)) for score in scores])


@pytest.mark.parametrize(
    "detector", [GESSVDD(novelty=True), SVDD(), MSSVDD([[0, 1], [2, 3]])], ids=lambda made: type(made).__name__
)
def test_p_values_are_ranks_among_the_training_rows_scores(detector):
    detector.fit(normal(80, 0))
    new = np.vstack([normal(20, 1), 9.0 + normal(2, 2)])
    expected = p_by_definition(detector.decision_scores_, detector.decision_function(new))
    assert_array_equal(detector.p_values(new), expected)
    assert_array_equal(detector.calibration_scores_, np.sort(detector.decision_scores_))
    assert_array_equal(detector.p_values(new)[-2:], 1 / 81)


def test_rows_that_count_a_little_are_calibration_rows_as_if_they_did_not():
    detector = GESSVDD(random_state=0).fit(normal(700, 0, D=8))
    scores, trusted = detector.decision_scores_, detector.trusted_
    assert np.isin(scores[trusted], detector.calibration_scores_).all()
    assert (detector.calibration_scores_ >= np.sort(scores) * (1 - 1e-12)).all()
    assert (detector.calibration_scores_[-20:] > 1.05 * np.sort(scores)[-20:]).all()
    # New rows' p-values in the tail are those of ranks; by the scores as they are, they would be far too small.
    new = normal(2000, 1, D=8)
    assert (p_by_definition(scores, detector.decision_function(new)) <= 0.01).mean() > 0.03
    assert (detector.p_values(new) <= 0.01).mean() < 0.02


@pytest.mark.parametrize("make", FAMILY)
def test_held_back_rows_have_no_part_in_the_description(make):
    X = normal(60, 0)
    params = {"random_state": 0, "nu": 0.2, **({"novelty": True} if make is GESSVDD else {})}
    detector = make(calibration=0.25, **params).fit(X)
    held = ~detector.trusted_
    assert held.sum() == 15
    assert_array_equal(detector.alpha_[held], 0.0)
    assert len(detector.calibration_scores_) == 15
    assert_array_equal(np.sort(detector.decision_function(X[held])), detector.calibration_scores_)
    assert_array_equal(detector.decision_scores_[held], detector.decision_function(X[held]))
    alone = make(**params).fit(X[~held])
    assert_allclose(detector.decision_function(X), alone.decision_function(X), rtol=1e-6)
    assert len(detector.decision_scores_) == len(detector.labels_) == 60


def test_a_held_back_row_that_was_also_trained_on_is_a_new_row():
    X = np.repeat(normal(40, 0), 2, axis=0)
    detector = GESSVDD(novelty=True, calibration=0.3, random_state=1).fit(X)
    held = detector.calibration_scores_
    assert len(held) == 24
    assert np.isin(held, detector.decision_function(X)).all()


def test_the_rows_that_are_held_back_do_not_depend_on_the_order_of_the_rows():
    X = normal(50, 0)
    order = np.random.default_rng(1).permutation(50)
    first, second = (GESSVDD(kernel="linear", calibration=0.2, random_state=0).fit(rows) for rows in (X, X[order]))
    assert_allclose(second.calibration_scores_, first.calibration_scores_, rtol=1e-9)


@pytest.mark.parametrize("params", [{}, {"novelty": True}, {"calibration": 0.33}], ids=str)
def test_new_normal_rows_are_below_a_level_as_often_as_it_says(params):
    shares = []
    for seed in range(6):
        detector = GESSVDD(kernel="linear", random_state=seed, **params).fit(normal(300, seed))
        shares.append([(detector.p_values(normal(1000, 100 + seed)) <= level).mean() for level in (0.05, 0.1, 0.5)])
    assert np.mean(shares, axis=0) == pytest.approx([0.05, 0.1, 0.5], rel=0.35)


def test_p_values_count_weights_as_repeated_rows():
    X, weights = normal(40, 0), np.arange(40) % 3 + 1
    weighted = GESSVDD(kernel="linear", novelty=True).fit(X, sample_weight=weights)
    counted = np.repeat(weighted.decision_scores_, weights)
    new = normal(30, 1)
    assert_allclose(weighted.p_values(new), p_by_definition(counted, weighted.decision_function(new)))
    held = GESSVDD(kernel="linear", calibration=0.5, random_state=0).fit(X, sample_weight=weights)
    places = ~held.trusted_ & (held.alpha_ == 0)
    assert held.p_values(new).min() >= 1 / (1 + weights.sum())
    assert len(held.calibration_scores_) == 20 <= places.sum()


def test_the_probability_of_an_outlier_is_one_less_its_p_value():
    detector = GESSVDD(random_state=0).fit(normal(60, 0))
    new = normal(10, 1)
    probabilities = detector.predict_proba(new, method="conformal")
    assert_allclose(probabilities[:, 1], 1.0 - detector.p_values(new))
    assert_allclose(probabilities.sum(axis=1), 1.0)


def benjamini_hochberg(p, level):
    order = np.argsort(p)
    passed = np.flatnonzero(p[order] <= level * np.arange(1, len(p) + 1) / len(p))
    called = np.zeros(len(p), dtype=int)
    if passed.size:
        called[order[: passed[-1] + 1]] = 1
    return called


@pytest.mark.parametrize("level", [0.02, 0.1, 0.5])
def test_selections_are_benjamini_and_hochbergs(level):
    detector = GESSVDD(kernel="linear", novelty=True).fit(normal(400, 0))
    new = np.vstack([normal(90, 1), 6.0 + normal(10, 2)])
    assert_array_equal(detector.predict_fdr(new, level), benjamini_hochberg(detector.p_values(new), level))


def test_false_discoveries_stay_below_the_level_and_outliers_are_found():
    false, found = [], []
    for seed in range(40):
        detector = GESSVDD(kernel="linear", novelty=True).fit(normal(300, seed))
        called = detector.predict_fdr(np.vstack([normal(90, 100 + seed), 7.0 + normal(10, 200 + seed)]), level=0.1)
        false.append(called[:90].sum() / max(1, called.sum()))
        found.append(called[90:].mean())
    assert np.mean(false) <= 0.12
    assert np.mean(found) >= 0.9


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 2, "0.1", None])
def test_a_level_that_is_none_is_refused(level):
    detector = GESSVDD(kernel="linear").fit(normal(40, 0))
    with pytest.raises(ValueError, match=r"level must be a number in \(0, 1\), got "):
        detector.predict_fdr(normal(5, 1), level=level)


@pytest.mark.parametrize("calibration", [0, 1, -0.2, 1.5, True, "auto"])
def test_a_share_that_is_none_is_refused(calibration):
    with pytest.raises(ValueError, match="calibration must be None or a share of the rows between 0 and 1, got "):
        GESSVDD(calibration=calibration).fit(normal(40, 0))


def test_rows_to_learn_from_must_be_left():
    with pytest.raises(ValueError, match=r"calibration=0\.9 of 5 rows leaves 1 to learn from, fewer than 2"):
        GESSVDD(calibration=0.9).fit(normal(5, 0))


def test_rows_of_a_kernel_matrix_cannot_be_held_back():
    X = normal(40, 0)
    with pytest.raises(ValueError, match="calibration holds rows of data back, and a kernel matrix has none"):
        GESSVDD(kernel="precomputed", n_components=2, calibration=0.2).fit(X @ X.T)


@pytest.mark.parametrize("method", ["p_values", "predict_fdr"])
def test_an_unfitted_detector_says_so(method):
    with pytest.raises(NotFittedError, match="not fitted"):
        getattr(GESSVDD(), method)(normal(5, 0))


# Thresholds that move -------------------------------------------------------------------------------------------------


def test_a_threshold_follows_recent_scores_and_the_description_stays():
    detector = GESSVDD(kernel="linear", contamination=0.1).fit(normal(200, 0))
    drifted = 1.5 * normal(300, 1)
    before = detector.decision_function(drifted)
    assert detector.predict(drifted).mean() > 0.2
    training_labels, training_scores = detector.labels_.copy(), detector.decision_scores_.copy()
    assert detector.update_threshold(before[:150]) is detector
    assert detector.threshold_ == pytest.approx(np.quantile(before[:150], 0.9))
    assert_array_equal(detector.decision_function(drifted), before)
    assert detector.predict(drifted[150:]).mean() == pytest.approx(0.1, abs=0.06)
    assert_array_equal(detector.p_values(drifted), p_by_definition(before[:150], before))
    assert detector.predict_confidence(drifted).min() >= 0.0
    assert_array_equal(detector.labels_, training_labels)
    assert_array_equal(detector.decision_scores_, training_scores)


def test_a_split_by_hand_is_one_more_way_to_calibrate():
    X = normal(100, 0)
    detector = MSSVDD([[0, 1], [2, 3]]).fit(X[:80])
    detector.update_threshold(detector.decision_function(X[80:]))
    assert len(detector.calibration_scores_) == 20
    assert detector.p_values(9.0 + normal(1, 1)).tolist() == [1 / 21]


@pytest.mark.parametrize(
    ("scores", "shape"), [([], r"\(0,\)"), ([1.0], r"\(1,\)"), ([[1.0, 2.0]], r"\(1, 2\)"), ([1.0, np.nan], r"\(2,\)")]
)
def test_scores_that_are_none_are_refused_and_nothing_changes(scores, shape):
    detector = GESSVDD(kernel="linear").fit(normal(40, 0))
    before = dict(vars(detector))
    with pytest.raises(ValueError, match=rf"scores must be at least 2 finite numbers in a row, got .* shape {shape}"):
        detector.update_threshold(scores)
    assert dict(vars(detector)) == before


def test_the_boundary_does_not_move():
    detector = GESSVDD(kernel="linear", threshold="radius").fit(normal(40, 0))
    with pytest.raises(ValueError, match="threshold='radius' lets the boundary decide, which does not move"):
        detector.update_threshold(detector.decision_scores_)
