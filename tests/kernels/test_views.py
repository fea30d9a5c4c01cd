"""Views of a row side by side: what the scaling makes of a column, and the kernel that averages over them."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from pyod_gessvdd import GESSVDD
from pyod_gessvdd.feature_map import learn_scaling
from pyod_gessvdd.kernels.mixed import Mixed
from pyod_gessvdd.kernels.pairwise import RBF
from pyod_gessvdd.linalg import decorrelation
from pyod_gessvdd.preprocessing import Scaling

N, D = 40, 3


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).lognormal(size=(N, D))


def prepared(X, n_views, sample_weight=None, **params):
    kernel = Mixed(**params)
    kernel.n_views_ = n_views
    kernel.prepare(X, sample_weight)
    return kernel


# The kernel -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, (0.2, 0.5, 0.3), (0.0, 1.0, 0.0)])
def test_the_kernel_is_the_weighted_mean_of_the_kernels_of_the_views(weights):
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(12, 3 * D)), random.normal(size=(7, 3 * D))
    kernel = prepared(X, 3, view_weights=weights)
    single = prepared(X[:, :D], 1)
    assert kernel.gamma_ == single.gamma_ == 1 / D
    shares = (1 / 3, 1 / 3, 1 / 3) if weights is None else weights
    views = (slice(0, D), slice(D, 2 * D), slice(2 * D, 3 * D))
    expected = sum(share * single.gram(X[:, view], Y[:, view]) for share, view in zip(shares, views, strict=True))
    assert_allclose(kernel.gram(X, Y), expected, rtol=1e-12)
    assert_allclose(kernel.gram_diagonal(X), np.diag(kernel.gram(X, X)), rtol=1e-12)


def test_of_one_view_it_is_the_mean_of_a_cusped_and_a_smooth_kernel(X):
    K = prepared(X, 1, gamma=0.3).gram(X[:5], X)
    for i, j in np.ndindex(5, N):
        difference = X[i] - X[j]
        cusped, smooth = np.exp(-0.15 * np.abs(difference).sum()), np.exp(-0.3 * (difference**2).sum())
        assert K[i, j] == pytest.approx((cusped + smooth) / 2, rel=1e-9)


@pytest.mark.parametrize("smooth", [(1.0, 0.5, 0.0), (0.0, 0.0, 0.0), (1.0, 1.0, 1.0), (0.25, 0.7, 1.0)])
def test_each_view_has_its_share_of_the_smooth_kernel(smooth):
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(8, 3 * D)), random.normal(size=(5, 3 * D))
    weights = (0.2, 0.5, 0.3)
    K = prepared(X, 3, view_weights=weights, smooth=smooth, gamma=0.3).gram(X, Y)
    for i, j in np.ndindex(K.shape):
        expected = 0.0
        for weight, share, difference in zip(weights, smooth, (X[i] - Y[j]).reshape(3, D), strict=True):
            expected += weight * share * np.exp(-0.3 * (difference**2).sum())
            expected += weight * (1 - share) * np.exp(-0.15 * np.abs(difference).sum())
        assert K[i, j] == pytest.approx(expected, rel=1e-12)


def test_views_without_any_weight_have_a_kernel_of_zeros(X):
    assert not prepared(X, 1, view_weights=[0.0]).gram(X, X[:3]).any()


@pytest.mark.parametrize("smooth", [(0.5, 0.5), ()])
def test_as_many_shares_as_views_are_needed(smooth):
    with pytest.raises(ValueError, match="smooth") as refused:
        prepared(np.zeros((4, 6)), 3, smooth=smooth)
    assert str(refused.value) == f"smooth must hold a share for each of the 3 views, got {smooth!r}"


@pytest.mark.parametrize("smooth", [(0.5, 1.1, 0.5), (-0.1, 0.5, 0.5), (0.5, float("nan"), 0.5)])
def test_shares_of_the_smooth_kernel_are_shares(smooth):
    with pytest.raises(ValueError, match="smooth") as refused:
        prepared(np.zeros((4, 6)), 3, smooth=smooth)
    assert str(refused.value) == f"smooth must hold shares between 0 and 1, got {smooth!r}"


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), n_views=st.integers(1, 4))
def test_kernel_matrices_over_views_are_positive_definite(seed, n_views):
    random = np.random.default_rng(seed)
    X = random.normal(size=(15, 2 * n_views))
    weights, smooth = random.dirichlet(np.ones(n_views)), random.random(n_views).round(1)
    K = prepared(X, n_views, view_weights=tuple(weights), smooth=tuple(smooth)).gram(X, X)
    assert np.linalg.eigvalsh(K).min() > 0
    assert_allclose(K, K.T, rtol=1e-12)


@pytest.mark.parametrize("weights", [None, np.arange(12) % 3 + 1.0])
def test_decorrelated_columns_and_inner_products_add_their_parts(weights):
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(12, 2 * D)), random.normal(size=(7, 2 * D))
    X[:, D + 1] += 2 * X[:, D]
    kernel = prepared(
        X, 2, view_weights=(0.4, 0.3), decorrelated=(0.0, 0.2), linear=(0.5, 0.0), gamma=0.3, sample_weight=weights
    )
    turn = decorrelation(X[:, D:], weights)
    without = prepared(X, 2, view_weights=(0.4, 0.3), gamma=0.3)
    turned = rbf_kernel(Y[:, D:] @ turn, X[:, D:] @ turn, gamma=0.3)
    expected = without.gram(Y, X) + 0.2 * turned + 0.5 * Y[:, :D] @ X[:, :D].T / D
    assert_allclose(kernel.gram(Y, X), expected, rtol=1e-10)
    assert_allclose(kernel.gram_diagonal(Y), np.diag(kernel.gram(Y, Y)), rtol=1e-10)
    assert_allclose(kernel.gram_diagonal(Y), 0.9 + 0.5 * (Y[:, :D] ** 2).sum(axis=1) / D, rtol=1e-10)


def test_beyond_a_million_inner_products_grow_no_more():
    X = np.array([[1.0, 0.0], [-2.0, 1.0], [0.5, 3.0]])
    kernel = prepared(X, 1, linear=(1.0,))
    far, farther = np.array([[1e6, 0.0]]), np.array([[1e200, 0.0]])
    assert_array_equal(kernel.gram(farther, X), kernel.gram(far, X))
    assert_array_equal(kernel.gram_diagonal(farther), kernel.gram_diagonal(far))
    assert kernel.gram_diagonal_pullback(farther, np.ones(1)).tolist() == [[0.0, 0.0]]
    assert kernel.gram_pullback(farther, X, kernel.gram(farther, X), np.ones((1, 3)))[0, 0] == 0.0


@pytest.mark.parametrize("name", ["view_weights", "decorrelated", "linear"])
@pytest.mark.parametrize("weights", [(0.5, -0.1), (0.5, float("nan")), (float("inf"), 0.5)])
def test_weights_are_not_negative(name, weights):
    with pytest.raises(ValueError, match=name) as refused:
        prepared(np.zeros((4, 6)), 2, **{name: weights})
    assert str(refused.value) == f"{name} must hold weights that are not negative, got {weights!r}"


@pytest.mark.parametrize("name", ["decorrelated", "linear"])
def test_as_many_weights_of_every_kind_as_views_are_needed(name):
    with pytest.raises(ValueError, match=rf"^{name} must hold a weight for each of the 3 views, got \(0\.5,\)$"):
        prepared(np.zeros((4, 6)), 3, **{name: (0.5,)})


@pytest.mark.parametrize("smooth", [None, (1.0, 0.5, 0.0)])
@pytest.mark.parametrize("weights", [None, (0.2, 0.5, 0.3), (0.0, 1.0, 0.0)])
@pytest.mark.parametrize("others", [{}, {"decorrelated": (0.0, 0.4, 0.1), "linear": (0.7, 0.0, 0.2)}], ids=str)
def test_the_pullback_agrees_with_finite_differences(weights, smooth, others):
    random = np.random.default_rng(0)
    X, Y, outer = random.normal(size=(6, 3 * D)), random.normal(size=(9, 3 * D)), random.normal(size=(6, 9))
    kernel = prepared(Y, 3, view_weights=weights, smooth=smooth, **others)
    found, h = kernel.gram_pullback(X, Y, kernel.gram(X, Y), outer), 1e-6
    for column in range(3 * D):
        step = h * (np.arange(3 * D) == column)
        difference = (kernel.gram(X + step, Y) - kernel.gram(X - step, Y)) / (2 * h)
        assert_allclose(found[:, column], (outer * difference).sum(axis=1), rtol=1e-6, atol=1e-8)
        own = (kernel.gram_diagonal(X + step) - kernel.gram_diagonal(X - step)) / (2 * h)
        pulled = kernel.gram_diagonal_pullback(X, outer[:, 0])[:, column]
        assert_allclose(pulled, outer[:, 0] * own, rtol=1e-6, atol=1e-8)


def test_widening_divides_a_width_that_is_found_and_leaves_one_that_is_given(X):
    assert prepared(X, 1, widening=4.0).gamma_ == pytest.approx(1 / D / 4)
    assert prepared(X, 1, gamma="scale", widening=2.0).gamma_ == pytest.approx(1 / (D * X.var()) / 2)
    assert prepared(X, 1, gamma=0.3, widening=4.0).gamma_ == 0.3


@pytest.mark.parametrize(("n_views", "weights"), [(3, (0.5, 0.5)), (1, (0.2, 0.8)), (3, ())])
def test_as_many_weights_as_views_are_needed(n_views, weights):
    with pytest.raises(ValueError, match="view_weights") as refused:
        prepared(np.zeros((4, 6)), n_views, view_weights=weights)
    assert str(refused.value) == f"view_weights must hold a weight for each of the {n_views} views, got {weights!r}"


@pytest.mark.parametrize("trim", ["auto", None])
def test_a_detector_takes_the_weights_of_its_views(X, trim):
    by_kernel = GESSVDD(kernel="mixed(view_weights=[0.2, 0.5, 0.3])", trim=trim, random_state=0).fit(X)
    assert_allclose(by_kernel.kernel_.view_weights_, [0.2, 0.5, 0.3])
    plain = GESSVDD(kernel="mixed(view_weights=[0, 1, 0])", trim=trim, random_state=0).fit(X)
    by_name = GESSVDD(standardize="signed_log", trim=trim, random_state=0).fit(X)
    assert_array_equal(plain.trusted_, by_name.trusted_)


@pytest.mark.parametrize("trim", ["auto", None])
def test_a_detector_says_how_many_weights_it_needs(X, trim):
    message = r"view_weights must hold a weight for each of the 3 views, got \[0\.5, 0\.5\]"
    with pytest.raises(ValueError, match=message):
        GESSVDD(kernel="mixed(view_weights=[0.5, 0.5])", trim=trim, random_state=0).fit(X)


# The scaling ----------------------------------------------------------------------------------------------------------


def test_views_are_standardised_values_their_logarithms_and_their_normal_scores(X):
    scaling = Scaling.learn(X, center=True, standardize="views")
    scaled = scaling.apply(X)
    assert scaled.shape == (N, 3 * D)
    assert scaling.n_views == 3
    assert not scaling.is_affine
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    ranks = scipy.stats.rankdata(X, axis=0)
    assert_allclose(scaled[:, :D], standard, rtol=1e-10, atol=1e-11)
    assert_allclose(scaled[:, D : 2 * D], np.sign(standard) * np.log1p(np.abs(standard)), rtol=1e-10, atol=1e-11)
    assert_allclose(scaled[:, 2 * D :], scipy.stats.norm.ppf(ranks / (N + 1)), atol=1e-10)


def test_the_kernel_is_told_of_its_views(X):
    for kernel, n_views, n_columns in ((Mixed(), 3, 3 * D), (RBF(), 1, D)):
        scaling = learn_scaling(X, kernel, center=True, standardize="auto")
        assert kernel.n_views_ == scaling.n_views == n_views
        assert scaling.apply(X).shape == (N, n_columns)


# Leaving a row out of the scaling -------------------------------------------------------------------------------------


def slow_half_way(X, weights, standardize):
    """Each row by a scaling that was learnt with one copy less of it, and half way from where it was to there."""
    rows = []
    for i, x in enumerate(X):
        copy = min(1.0, weights[i])
        fewer = weights - copy * (np.arange(len(X)) == i)
        views = []
        for shares in (weights, fewer):
            mean = np.average(X, axis=0, weights=shares)
            deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=shares))
            z = (x - mean) / deviation
            below = np.array([shares[X[:, j] < x[j]].sum() for j in range(X.shape[1])])
            equal = np.array([shares[X[:, j] == x[j]].sum() for j in range(X.shape[1])])
            scores = scipy.stats.norm.ppf((below + equal / 2 + 0.5) / (shares.sum() + 1))
            log = np.sign(z) * np.log1p(np.abs(z))
            views.append({"standard": z, "signed_log": log, "views": np.hstack([z, log, scores])}[standardize])
        rows.append((views[0] + views[1]) / 2)
    return np.array(rows)


@pytest.mark.parametrize("standardize", ["standard", "signed_log", "views"])
@pytest.mark.parametrize("weights", [np.ones(N), np.arange(N) % 3 + 1.0, np.arange(N) % 4 / 2 + 0.5])
def test_training_rows_are_half_way_to_where_they_would_be_without_themselves(X, weights, standardize):
    scaling = Scaling.learn(X, center=True, standardize=standardize, sample_weight=weights)
    found = scaling.apply_to_training(X, weights)
    assert_allclose(found, slow_half_way(X, weights, standardize), rtol=1e-8, atol=1e-10)


def test_equal_values_keep_their_middle_rank_without_one_of_them():
    X = np.random.default_rng(0).integers(0, 4, size=(60, 2)).astype(float)
    scaling = Scaling.learn(X, center=True, standardize="views")
    assert_allclose(scaling.apply_to_training(X), slow_half_way(X, np.ones(60), "views"), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("standardize", [False, "quantile"])
def test_what_is_not_standardised_stays(X, standardize):
    scaling = Scaling.learn(X, center=True, standardize=standardize)
    assert_array_equal(scaling.apply_to_training(X), scaling.apply(X))


def test_two_rows_stay_as_they_are():
    X = np.array([[0.0], [1.0]])
    scaling = Scaling.learn(X, center=True, standardize="views")
    assert_array_equal(scaling.apply_to_training(X), scaling.apply(X))


def test_the_only_value_of_its_kind_moves_by_no_more_than_its_share():
    X = np.r_[np.zeros(19), 1.0][:, None]
    scaling = Scaling.learn(X, center=True, standardize="standard")
    # Without it the column is constant, and only its mean is taken off.
    without = scaling.apply(X)[-1, 0] * 20 / 19
    assert scaling.apply_to_training(X)[-1, 0] == pytest.approx((scaling.apply(X)[-1, 0] + without) / 2)
