"""``explain``: contributions that add up to the score, and find the feature that was moved."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

from pyod_gessvdd import ESSVDD, ESVDD, GESSVDD, GESVDD, GESVM, SSVDD, SVDD, Kernel
from tests.oracle.shapley import shapley_values

#: Narrow as OCSVM's default; the residual's coordinate makes it usable.
NARROW_RBF = "rbf(gamma='scale')"


class Doubled(Kernel):
    """A kernel that knows neither landmarks nor derivatives."""

    def features(self, X):
        return np.hstack([X, X**2])


def correlated(n_rows=300, seed=0):
    """Twelve features that three hidden ones explain, but for a little noise."""
    random = np.random.default_rng(seed)
    return random.normal(size=(n_rows, 3)) @ np.random.default_rng(1).normal(size=(3, 12)) + 0.2 * random.normal(
        size=(n_rows, 12)
    )


def oracle_rows(detector, X):
    """The training mean weighted by α."""
    return detector.alpha_ @ X


# Linear: exact -------------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    residual=st.booleans(),
    center=st.booleans(),
    standardize=st.sampled_from([False, True, "robust", "signed_log", "quantile"]),
    n_components=st.integers(1, 4),
    laplacian=st.sampled_from(["none", "pca", "knn", "within"]),
    far=st.sampled_from([1.0, 100.0]),
    offset=st.sampled_from([0.0, 50.0]),
)
def test_linear_contributions_add_up_to_the_score(
    seed, residual, center, standardize, n_components, laplacian, far, offset
):
    random = np.random.default_rng(seed)
    X = random.normal(size=(60, 4)) * [1, 2, 5, 0.1] + offset
    detector = GESSVDD(
        kernel="linear",
        residual=residual,
        center=center,
        standardize=standardize,
        n_components=n_components,
        laplacian=laplacian,
        random_state=0,
    ).fit(X)
    rows = offset + far * random.normal(size=(20, 4))
    contributions, base = detector.explain(rows, return_base=True)
    assert_array_equal(base, 0.0)
    assert_allclose(contributions.sum(axis=1), detector.decision_function(rows), rtol=1e-12)
    # The formula itself adds up, before its rounding is shared out.
    description = detector.description_
    features, training_features = (description.feature_map.features(block)[0] for block in (rows, X))
    plain = description.contributions(features, detector.alpha_ @ training_features)
    assert_allclose(plain.sum(axis=1), detector.decision_function(rows), rtol=1e-6, atol=1e-9)


def test_linear_contributions_are_the_shapley_values_from_the_spheres_centre():
    random = np.random.default_rng(3)
    X = random.normal(size=(80, 5)) @ random.normal(size=(5, 5))
    settings = {"residual": False, "standardize": True, "laplacian": "pca", "n_components": 3}
    detector = GESSVDD(kernel="linear", random_state=0, **settings).fit(X)
    rows = 3 * random.normal(size=(4, 5))
    reference = oracle_rows(detector, X)
    assert detector.decision_function(reference[None])[0] < 1e-20
    for row, contributions in zip(rows, detector.explain(rows), strict=True):
        expected = shapley_values(lambda x: detector.decision_function(x[None])[0], row, reference)
        assert_allclose(contributions, expected, rtol=1e-9, atol=1e-9)


def test_the_residuals_contributions_are_its_shapley_values_from_the_mean():
    X = correlated()[:, :5]
    detector = GESSVDD(kernel="linear", n_components=2, residual=True, random_state=0).fit(X)
    description = detector.description_
    without = replace(description, subspace=replace(description.subspace, residual_scale=None))
    rows, _ = description.feature_map.features(5 * np.random.default_rng(0).normal(size=(3, 5)))
    center = detector.alpha_ @ description.feature_map.features(X)[0]
    of_the_residual = description.contributions(rows, center) - without.contributions(rows, center)

    def squared(row):
        outside = row - detector.components_.T @ (detector.components_ @ row)
        return description.subspace.residual_scale * (outside @ outside) / detector.radius_**2

    for row, contributions in zip(rows, of_the_residual, strict=True):
        # Features are centred: their mean is zero.
        assert_allclose(contributions, shapley_values(squared, row, np.zeros(5)), rtol=1e-9, atol=1e-9)


# Kernels: a path from a normal row ------------------------------------------------------------------------------------


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize(
    "kernel",
    [
        "mixed",
        "rbf",
        NARROW_RBF,
        "laplacian",
        "exponential",
        "matern",
        "polynomial",
        "sigmoid",
        "cosine",
        rbf_kernel,
        Doubled(),
        "rbf(gamma='scale', approximation='nystroem', n_landmarks=40)",
        "laplacian(approximation='nystroem', n_landmarks=40, landmarks='kmeans')",
    ],
    ids=lambda kernel: kernel if isinstance(kernel, str) else getattr(kernel, "__name__", type(kernel).__name__),
)
def test_kernel_contributions_add_up_to_the_difference_from_a_normal_row(kernel, residual, center):
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 4)) @ random.normal(size=(4, 4))
    detector = GESSVDD(kernel=kernel, residual=residual, center=center, random_state=0).fit(X)
    rows = np.vstack([X[:5], 2 * X[5:10], 1000 * X[10:15]])
    contributions, base = detector.explain(rows, return_base=True)
    assert np.isfinite(contributions).all()
    assert_allclose(contributions.sum(axis=1) + base, detector.decision_function(rows), rtol=1e-9)
    normal = detector.decision_function(X[detector.labels_ == 0])
    assert np.isclose(base[:, None], normal, rtol=1e-12).any(axis=1).all()


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("kernel", ["mixed", "rbf", NARROW_RBF, "laplacian", "exponential", "matern"])
def test_the_gradient_is_the_scores_own(kernel, residual):
    random = np.random.default_rng(0)
    X = random.normal(size=(100, 4))
    detector = GESSVDD(kernel=kernel, residual=residual, n_components=3, standardize=False, random_state=0).fit(X)
    rows, width = 1.5 * random.normal(size=(10, 4)), 1e-6
    feature_map = detector.description_.feature_map
    _, _, pullback = feature_map.kernel.features_residual_and_pullback(rows)
    gradient = pullback(*detector.description_.gradient(feature_map.features(rows)[0]))
    for j in range(4):
        step = width * np.eye(4)[j]
        slope = (detector.decision_function(rows + step) - detector.decision_function(rows - step)) / (2 * width)
        assert_allclose(gradient[:, j], slope, rtol=1e-4, atol=1e-5)


def test_a_kernel_with_a_derivative_and_one_without_agree():
    X = correlated(60)
    rows = X[:10] + 4 * np.eye(12)[:10]
    settings = {"residual": True, "n_components": 10, "laplacian": "pca", "random_state": 0}
    with_derivative = GESSVDD(kernel="rbf(gamma=0.1)", **settings).fit(X)
    without = GESSVDD(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.1), **settings).fit(X)
    found, expected = with_derivative.explain(rows), without.explain(rows)
    assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())


def test_chi2_is_explained_within_its_domain():
    X = np.random.default_rng(0).poisson(1.0, size=(60, 5)).astype(float)
    detector = GESSVDD(kernel="chi2", standardize=False, n_components=2, random_state=0).fit(X)
    contributions, base = detector.explain(X, return_base=True)
    assert_allclose(contributions.sum(axis=1) + base, detector.decision_function(X), rtol=1e-9)


def test_a_feature_that_agrees_with_the_reference_contributes_nothing():
    X = correlated(100)
    detector = GESSVDD(kernel=NARROW_RBF, residual=True, random_state=0).fit(X)
    inlier = X[np.flatnonzero(detector.labels_ == 0)[:1]]
    moved = inlier + 1e-3 * np.eye(12)[4]
    contributions = detector.explain(moved)[0]
    assert contributions[4] != 0
    assert_array_equal(np.delete(contributions, 4), 0.0)


# Planted anomalies ----------------------------------------------------------------------------------------------------


def planted(X, size, seed):
    """Training rows, held-out rows with one feature moved by ``size`` standard deviations, and which feature."""
    random = np.random.default_rng(seed)
    order, n_rows = random.permutation(len(X)), min(64, len(X) // 3)
    test, train = X[order[:n_rows]].copy(), X[order[n_rows:]]
    feature = random.integers(X.shape[1], size=n_rows)
    test[np.arange(n_rows), feature] += random.choice([-size, size], n_rows) * train.std(axis=0)[feature]
    return train, test, feature


def independent():
    return np.random.default_rng(0).normal(size=(250, 10))


def equicorrelated():
    random = np.random.default_rng(0)
    return np.sqrt(0.9) * random.normal(size=(250, 1)) + np.sqrt(0.1) * random.normal(size=(250, 6))


def clusters():
    random = np.random.default_rng(0)
    return 4 * random.normal(size=(3, 8))[random.integers(0, 3, 250)] + random.normal(size=(250, 8))


def benign():
    X, y = load_breast_cancer(return_X_y=True)
    return X[y == 1]


def wine():
    X, y = load_wine(return_X_y=True)
    return X[y == 1]


SETS = (independent, correlated, equicorrelated, clusters, benign, wine)


@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "linear", "residual": False, "standardize": True},
        {"kernel": "linear", "residual": True, "n_components": 3},
        {"kernel": NARROW_RBF, "residual": True},
        {"kernel": "laplacian", "residual": True},
        {"kernel": "rbf", "residual": False, "standardize": True, "laplacian": "pca", "ridge": 1e-6},
        {},
    ],
    ids=["linear, the paper's score", "linear", "rbf", "laplacian", "wide rbf, the paper's score", "default"],
)
def test_the_feature_that_was_moved_comes_first(parameters):
    found = []
    for make in SETS:
        for size in (8, 20):
            train, rows, feature = planted(make(), size, seed=size)
            detector = GESSVDD(n_iter=1, random_state=0, **parameters).fit(train)
            found.append(np.mean(detector.explain(rows).argmax(axis=1) == feature))
    assert np.mean(found) >= 0.98
    assert min(found) >= 0.95


@pytest.mark.parametrize("kernel", ["linear", NARROW_RBF, "laplacian"])
def test_two_features_that_were_moved_come_first_and_second(kernel):
    train, rows, feature = planted(correlated(), 12, seed=0)
    other = (feature + 5) % 12
    rows[np.arange(len(rows)), other] += 12 * train.std(axis=0)[other]
    detector = GESSVDD(kernel=kernel, laplacian="pca", residual=True, n_components=3, random_state=0).fit(train)
    leading = np.sort(np.argsort(-detector.explain(rows), axis=1)[:, :2], axis=1)
    assert np.mean((leading == np.sort(np.column_stack([feature, other]), axis=1)).all(axis=1)) >= 0.95


# Whatever the detector ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", NARROW_RBF, "laplacian", "cosine"])
def test_a_row_is_explained_alike_in_any_batch_and_any_time(kernel):
    X = correlated(150)
    detector = GESSVDD(kernel=kernel, residual=True, n_components=4, random_state=0).fit(X)
    rows = 2 * correlated(35, seed=5)
    together = detector.explain(rows)
    assert_array_equal(detector.explain(rows), together)
    assert_array_equal(np.vstack([detector.explain(row[None]) for row in rows[:5]]), together[:5])
    assert_array_equal(detector.explain(rows[::-1])[::-1], together)


@pytest.mark.parametrize("kernel", ["linear", NARROW_RBF, Doubled()], ids=["linear", "rbf", "Doubled"])
def test_a_saved_model_explains_alike(kernel):
    X = correlated(100)
    detector = GESSVDD(kernel=kernel, n_components=3, random_state=0).fit(X)
    assert_array_equal(pickle.loads(pickle.dumps(detector)).explain(X[:5]), detector.explain(X[:5]))


@pytest.mark.parametrize("member", [SVDD, GESVDD, ESVDD, SSVDD, ESSVDD, GESVM])
@pytest.mark.parametrize("kernel", ["linear", NARROW_RBF])
def test_the_family_explains_too(member, kernel):
    X = correlated(120) + (60 if member is GESVM else 0)  # a half-space needs rows on one side of the origin
    detector = member(kernel=kernel, standardize=member is not GESVM, random_state=0).fit(X)
    rows = X[:6] + 3 * np.eye(12)[:6]
    contributions, base = detector.explain(rows, return_base=True)
    assert_allclose(contributions.sum(axis=1) + base, detector.decision_function(rows), rtol=1e-9)


def test_a_constant_feature_contributes_to_rows_that_differ_in_it():
    X = np.column_stack([np.random.default_rng(0).normal(size=(100, 2)), np.full(100, 7.0)])
    detector = GESSVDD(kernel=NARROW_RBF, residual=True, random_state=0).fit(X)
    assert detector.explain([[0.0, 0.0, 12.0]]).argmax() == 2
    assert_array_equal(detector.explain(X)[:, 2], 0.0)


def test_the_training_rows_are_kept_without_a_copy_and_not_saved():
    X = np.random.default_rng(0).normal(size=(100, 3))
    detector = GESSVDD(kernel="linear", random_state=0).fit(X)
    assert np.shares_memory(detector._training_rows, X)
    assert not hasattr(pickle.loads(pickle.dumps(detector)), "_training_rows")


# Bad input ------------------------------------------------------------------------------------------------------------


def test_an_unfitted_detector_explains_nothing():
    with pytest.raises(NotFittedError):
        GESSVDD().explain([[1.0, 2.0]])


def test_a_kernel_matrix_has_no_features_to_explain():
    X = np.random.default_rng(0).normal(size=(30, 3))
    detector = GESSVDD(kernel="precomputed", n_components=2, random_state=0).fit(rbf_kernel(X))
    with pytest.raises(ValueError, match=r"^kernel 'precomputed' takes kernel values, not features, so there is noth"):
        detector.explain(rbf_kernel(X))


def test_rows_of_another_width_are_refused():
    detector = GESSVDD(kernel="linear", random_state=0).fit(np.random.default_rng(0).normal(size=(30, 3)))
    with pytest.raises(ValueError, match="X has 2 features, but GESSVDD is expecting 3 features"):
        detector.explain([[1.0, 2.0]])
