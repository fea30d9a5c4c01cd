"""Gower's similarity against its definition, as a kernel, and in the detector."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyod_gessvdd import GESSVDD, available
from pyod_gessvdd_kernels import Gower


def mixed_rows(N, seed=0):
    """Two columns of numbers, and two of categories that depend on the first."""
    random = np.random.default_rng(seed)
    numbers = random.normal(size=(N, 2))
    return np.column_stack([numbers, numbers[:, 0] > 0, random.integers(0, 4, size=N)]).astype(float)


def gower_by_definition(X, Y, categorical, ranges, weights):
    """The formula, one pair and one column at a time."""
    K = np.zeros((len(X), len(Y)))
    for i, x in enumerate(X):
        for k, y in enumerate(Y):
            for j, weight in enumerate(weights):
                if j in categorical:
                    similarity = 1.0 if x[j] == y[j] else 0.0
                else:
                    similarity = max(0.0, 1.0 - abs(x[j] - y[j]) / ranges[j])
                K[i, k] += weight * similarity
    return K


def smallest_eigenvalue(K):
    return float(np.linalg.eigvalsh(K).min())


# The formula ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("feature_weights", [None, [1.0, 2.0, 0.0, 5.0]])
def test_gram_is_the_definition(feature_weights):
    X, Y = mixed_rows(30), 3.0 * mixed_rows(10, seed=1)
    kernel = Gower(categorical=[2, 3], feature_weights=feature_weights).fit(X)
    weights = np.full(4, 0.25) if feature_weights is None else np.array(feature_weights) / 8
    expected = gower_by_definition(X, Y, {2, 3}, np.ptp(X, axis=0), weights)
    np.testing.assert_allclose(kernel.gram(X, Y), expected, atol=1e-14)


def test_inside_the_training_range_it_is_gowers_own_coefficient():
    X = mixed_rows(40)
    numbers = np.abs(X[:, None, :2] - X[None, :, :2]) / np.ptp(X[:, :2], axis=0)
    equal = X[:, None, 2:] == X[None, :, 2:]
    own = ((1.0 - numbers).sum(axis=2) + equal.sum(axis=2)) / 4
    np.testing.assert_allclose(Gower(categorical=[2, 3]).fit(X).gram(X, X), own, atol=1e-14)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000), N=st.integers(2, 40), stretch=st.floats(0.1, 20.0), n_categories=st.integers(0, 4))
def test_it_is_positive_semi_definite_on_any_rows_far_ones_included(seed, N, stretch, n_categories):
    train = mixed_rows(10, seed)
    new = stretch * np.random.default_rng(seed).normal(size=(N, 4)).round(1)
    kernel = Gower(categorical=list(range(n_categories))).fit(train)
    K = kernel.gram(np.vstack([train, new]), np.vstack([train, new]))
    assert smallest_eigenvalue(K) >= -1e-12 * len(K)


def test_without_the_maximum_it_would_not_be():
    train, values = np.array([[0.0], [1.0]]), np.array([[0.0], [1.0], [3.0]])
    own = 1.0 - np.abs(values - values.T)
    assert smallest_eigenvalue(own) < -1.0
    assert smallest_eigenvalue(Gower(categorical=[]).fit(train).gram(values, values)) >= 0.0


def test_an_unseen_category_is_like_no_other():
    X = mixed_rows(30)
    kernel = Gower(categorical=[2, 3], feature_weights=[0, 0, 0, 1]).fit(X)
    new = X[:1].copy()
    new[0, 3] = 17.0
    assert (kernel.gram(new, X) == 0).all()
    assert kernel.gram(new, new) == 1.0


def test_in_a_column_that_was_constant_any_other_value_is_far():
    X = np.column_stack([np.arange(20.0), np.full(20, 5.0)])
    kernel = Gower(categorical=[]).fit(X)
    np.testing.assert_allclose(kernel.gram(np.array([[0.0, 5.1]]), X[:1]), [[0.5]])


# Codes and scales -------------------------------------------------------------------------------------------------


def test_codes_of_categories_can_be_any_numbers():
    X = mixed_rows(40)
    renamed = X.copy()
    renamed[:, 3] = np.array([7.0, -2.5, 0.1, 1e6])[X[:, 3].astype(int)]
    plain, other = (Gower(categorical=[2, 3]).fit(rows).gram(rows, rows) for rows in (X, renamed))
    np.testing.assert_allclose(plain, other, atol=1e-14)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(scale=st.floats(1e-3, 1e3), shift=st.floats(-1e3, 1e3))
def test_gram_does_not_change_when_a_column_is_shifted_and_scaled(scale, shift):
    X = mixed_rows(25)
    moved = (X - shift) / scale
    np.testing.assert_allclose(
        Gower(categorical=[2, 3]).fit(moved).gram(moved, moved),
        Gower(categorical=[2, 3]).fit(X).gram(X, X),
        atol=1e-9,
    )


def test_signed_logarithms_do_not_break_the_codes():
    X, renamed = mixed_rows(60), mixed_rows(60)
    renamed[:, 3] = np.array([70.0, -25.0, 0.1, 1e6])[X[:, 3].astype(int)]
    plain, other = (
        GESSVDD(kernel=Gower(categorical=[2, 3]), standardize="signed_log").fit(rows).decision_scores_
        for rows in (X, renamed)
    )
    np.testing.assert_allclose(plain, other, rtol=1e-6)


@pytest.mark.parametrize("center", [True, False])
def test_the_detectors_scaling_and_centring_do_not_break_the_codes(center):
    X, new = mixed_rows(60), mixed_rows(20, seed=1)
    new[:5, 3] = 9.0
    scores = [
        GESSVDD(kernel=Gower(categorical=[2, 3]), laplacian="pca", trim=None, standardize=standardize, center=center)
        .fit(X)
        .decision_function(new)
        for standardize in (True, False)
    ]
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-6)


# Columns ----------------------------------------------------------------------------------------------------------


def test_auto_takes_columns_with_few_different_values_scaled_or_not():
    X = mixed_rows(60)
    for rows in (X, (X - X.mean(axis=0)) / X.std(axis=0)):
        assert Gower().fit(rows).is_categorical_.tolist() == [False, False, True, True]
    assert Gower(max_categories=3).fit(X).is_categorical_.tolist() == [False, False, True, False]


@pytest.mark.parametrize("categorical", [[2, 3], (3, 2), [-1, -2], np.array([False, False, True, True])])
def test_columns_of_categories_are_positions_or_a_mask(categorical):
    fitted = Gower(categorical=categorical).fit(mixed_rows(20))
    assert fitted.is_categorical_.tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"categorical": "sex"}, "categorical must be 'auto' or positions of columns, got 'sex'"),
        (
            {"categorical": [4]},
            "categorical must hold positions from 0 to 3 or 4 booleans for 4 columns, got [4]",
        ),
        (
            {"categorical": ["sex"]},
            "categorical must hold positions from 0 to 3 or 4 booleans for 4 columns, got ['sex']",
        ),
        (
            {"categorical": [True, False]},
            "categorical must hold positions from 0 to 3 or 4 booleans for 4 columns, got [True, False]",
        ),
        (
            {"feature_weights": [1.0, 2.0]},
            "feature_weights must hold 4 numbers that are not negative and not all zero for 4 columns, got [1.0, 2.0]",
        ),
        (
            {"feature_weights": [1.0, -2.0, 0.0, 0.0]},
            "feature_weights must hold 4 numbers that are not negative and not all zero for 4 columns, "
            "got [1.0, -2.0, 0.0, 0.0]",
        ),
        (
            {"landmarks": "kmeans"},
            "kernel 'gower' needs rows as landmarks, which landmarks='uniform' draws, got 'kmeans'",
        ),
    ],
)
def test_bad_parameters_are_one_sentence(parameters, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Gower(**parameters).fit(mixed_rows(20))


# By name ----------------------------------------------------------------------------------------------------------


def test_a_fit_by_name_through_the_entry_point_finds_an_impossible_row():
    assert any(row["name"] == "gower" and row["error"] is None for row in available("kernel"))
    X = mixed_rows(200)
    detector = GESSVDD(kernel="gower(categorical=[2, 3])", laplacian="pca", residual=True, random_state=0).fit(X)
    possible, impossible = [1.0, 0.0, 1.0, 2.0], [1.0, 0.0, 0.0, 2.0]
    assert detector.predict([possible, impossible]).tolist() == [0, 1]


def test_landmarks_serve_large_tables():
    X = mixed_rows(300)
    exact, landmarks = (
        GESSVDD(kernel=Gower(approximation=approximation, n_landmarks=150), laplacian="pca", residual=True)
        .set_params(random_state=0)
        .fit(X)
        .decision_scores_
        for approximation in ("exact", "nystroem")
    )
    assert np.corrcoef(exact, landmarks)[0, 1] > 0.9
