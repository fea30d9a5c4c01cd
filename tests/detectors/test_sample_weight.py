"""Sample weights: an integer weight is as good as repeating the row, a weight of zero as leaving the row out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from pyod_gessvdd import ESVDD, GESSVDD, GESVM, SSVDD, SVDD

N = 60
WEIGHTS = np.arange(N) % 3 + 1.0
TIMES = WEIGHTS.astype(int)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(4, 4))
    return rng.normal(size=(N, 4)) @ mixing + 5.0, 2 * rng.normal(size=(25, 4)) @ mixing + 5.0


#: 1/(nu · Σw) is no whole number: the radius is determined.
DETECTORS = {
    "SVDD": SVDD(nu=0.23),
    "SVDD of a linear kernel": SVDD(kernel="linear", nu=0.23),
    "SVDD with a median width": SVDD(gamma="median", nu=0.23),
    "SSVDD": SSVDD(kernel="linear", n_components=2, nu=0.23),
    "ESVDD": ESVDD(kernel="linear", nu=0.23),
    "GESVM without a graph": GESVM(laplacian="none", nu=0.23),
    "no graph": GESSVDD(laplacian="none", n_components=3, nu=0.23),
    "no graph, quantiles": GESSVDD(laplacian="none", n_components=3, nu=0.23, standardize="quantile"),
    "identity": GESSVDD(laplacian="identity", n_components=3, nu=0.23),
    "default": GESSVDD(nu=0.23),
    "default, linear": GESSVDD(kernel="linear", n_components=2, nu=0.23),
    "default, radius": GESSVDD(nu=0.23, threshold="radius"),
    "spectral": GESSVDD(kernel="linear", updater="spectral", n_components=2, nu=0.23),
}

every_detector = pytest.mark.parametrize("detector", DETECTORS.values(), ids=DETECTORS)


@every_detector
def test_a_weight_is_as_good_as_repeating_the_row(detector, data):
    X, new = data
    detector.set_params(random_state=0)
    detector.fit(np.repeat(X, TIMES, axis=0))
    first = np.r_[0, np.cumsum(TIMES)[:-1]]
    scores, threshold = detector.decision_function(new), detector.threshold_
    training, alpha = detector.decision_scores_[first], detector.alpha_
    detector.fit(X, sample_weight=WEIGHTS)
    assert_allclose(detector.decision_function(new), scores, rtol=1e-5)
    assert_allclose(detector.decision_scores_, training, rtol=1e-5)
    assert detector.threshold_ == pytest.approx(threshold, rel=1e-5)
    assert_allclose(detector.alpha_, np.add.reduceat(alpha, first), atol=1e-5)


@every_detector
def test_a_row_of_weight_zero_is_scored_and_not_trained_on(detector, data):
    X, new = data
    detector.set_params(random_state=0)
    weights = np.where(np.arange(N) % 10 == 0, 0.0, 1.0)
    kept = np.flatnonzero(weights)
    detector.fit(X[kept])
    scores, left_out = detector.decision_function(np.vstack([new, X])), detector.decision_scores_
    support, labels = kept[detector.support_], detector.labels_
    detector.fit(X, sample_weight=weights)
    # Two fits, by matrices of different sizes: equal up to rounding.
    assert_allclose(detector.decision_function(np.vstack([new, X])), scores, rtol=1e-12)
    assert_allclose(detector.decision_scores_[kept], left_out, rtol=1e-12)
    # One fit: to the last bit.
    assert_array_equal(detector.decision_scores_[::10], detector.decision_function(X)[::10])
    assert_array_equal(detector.support_, support)
    assert (detector.alpha_[::10] == 0).all()
    assert_array_equal(detector.labels_[kept], labels)
    assert_array_equal(detector.labels_, detector.decision_scores_ > detector.threshold_)


@every_detector
def test_equal_weights_are_so_many_copies_of_the_rows(detector, data):
    X, new = data
    detector.set_params(random_state=0)
    scores = detector.fit(np.repeat(X, 3, axis=0)).decision_function(new)
    assert_allclose(detector.fit(X, sample_weight=np.full(N, 3.0)).decision_function(new), scores, rtol=1e-6)


#: Copies of a row are rows. How many rows there are decides the weights of the mixed kernel's views, the ridge of the
#: whole space, how far a value beyond all others is in ranks, and, with the graph "identity", how far a gradient step
#: goes (S_x grows with the rows, S_α does not). Copies also count in the median of the distances.
DEPEND_ON_THE_NUMBER_OF_ROWS = {
    "SVDD with a median width",
    "no graph",
    "no graph, quantiles",
    "identity",
    "default",
    "default, radius",
}


@pytest.mark.parametrize("name", [name for name in DETECTORS if name not in DEPEND_ON_THE_NUMBER_OF_ROWS])
def test_equal_weights_are_none_where_nothing_depends_on_the_number_of_rows(name, data):
    X, new = data
    detector = DETECTORS[name].set_params(random_state=0)
    scores = detector.fit(X).decision_function(new)
    assert_allclose(detector.fit(X, sample_weight=np.full(N, 3.0)).decision_function(new), scores, rtol=1e-9)


@pytest.mark.parametrize("name", sorted(DEPEND_ON_THE_NUMBER_OF_ROWS))
def test_equal_weights_count_as_rows_where_something_depends_on_their_number(name, data):
    X, new = data
    detector = DETECTORS[name].set_params(random_state=0)
    scores = detector.fit(X).decision_function(new)
    assert not np.allclose(detector.fit(X, sample_weight=np.full(N, 3.0)).decision_function(new), scores, rtol=1e-3)


def test_a_row_of_weight_zero_has_no_part_in_the_probabilities(data):
    X, new = data
    far = np.vstack([X, X[:1] + 100.0])
    expected = GESSVDD(random_state=0).fit(X).predict_proba(new)
    weighted = GESSVDD(random_state=0).fit(far, sample_weight=np.r_[np.ones(N), 0.0])
    assert weighted.decision_scores_[-1] > 2 * weighted.decision_scores_[:-1].max()
    assert_allclose(weighted.predict_proba(new), expected, rtol=1e-9, atol=1e-12)


def test_one_row_with_a_weight_is_not_enough(data):
    with pytest.raises(ValueError, match="sample_weight must leave at least 2 rows with a positive weight, got 1"):
        GESSVDD().fit(data[0], sample_weight=np.eye(N)[3])


def test_a_kernel_matrix_has_no_rows_that_could_be_left_out(data):
    K = rbf_kernel(data[0], gamma=0.1)
    message = "sample_weight must be positive with a kernel matrix, got 0 for row 3; leave out its row and its column"
    with pytest.raises(ValueError, match=message):
        SVDD(kernel="precomputed").fit(K, sample_weight=1.0 - np.eye(N)[3])
    weighted = SVDD(kernel="precomputed", nu=0.23).fit(K, sample_weight=WEIGHTS)
    by_name = SVDD(kernel="rbf", gamma=0.1, standardize=False, nu=0.23).fit(data[0], sample_weight=WEIGHTS)
    assert_allclose(weighted.decision_scores_, by_name.decision_scores_, rtol=1e-5)
