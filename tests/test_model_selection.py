"""OneClassKFold, Gmean and the paper's grid, alone and in scikit-learn's GridSearchCV."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyod.models.ocsvm import OCSVM
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, ParameterGrid, cross_val_score

from pyod_gessvdd import GESSVDD
from pyod_gessvdd.detectors.variants import UPDATERS
from pyod_gessvdd.model_selection import OneClassKFold, gmean_score, gmean_scorer, paper_grid


def two_kinds(n_normal=40, n_outliers=15, seed=0):
    """A Gaussian around 0 (label 0) and one around 3 (label 1)."""
    random = np.random.default_rng(seed)
    X = np.vstack([random.normal(size=(n_normal, 4)), random.normal(3.0, 1.0, size=(n_outliers, 4))])
    return X, np.repeat([0, 1], [n_normal, n_outliers])


# OneClassKFold --------------------------------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(
    n_splits=st.integers(2, 6),
    normal=st.integers(6, 40),
    outlying=st.integers(6, 40),
    shuffle=st.booleans(),
    seed=st.integers(0, 99),
)
def test_training_folds_are_normal_and_test_folds_deal_out_every_row_evenly(n_splits, normal, outlying, shuffle, seed):
    y = np.random.default_rng(seed).permutation(np.repeat([0, 1], [normal, outlying]))
    folds = list(OneClassKFold(n_splits, shuffle=shuffle, random_state=seed).split(np.zeros((len(y), 1)), y))
    assert len(folds) == n_splits
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(len(y)))
    for train, test in folds:
        assert (y[train] == 0).all()
        assert set(train) | set(test[y[test] == 0]) == set(np.flatnonzero(y == 0))
        assert not set(train) & set(test)
        for label, count in ((0, normal), (1, outlying)):
            assert abs((y[test] == label).sum() - count / n_splits) < 1


def test_the_folds_follow_the_random_state():
    X, y = two_kinds()

    def folds(seed):
        return [test.tolist() for _, test in OneClassKFold(5, random_state=seed).split(X, y)]

    assert folds(0) == folds(0)
    assert folds(0) != folds(1)


def test_without_shuffling_a_random_state_does_not_count():
    X, y = two_kinds()
    for one, other in zip(
        OneClassKFold(3, shuffle=False, random_state=1).split(X, y),
        OneClassKFold(3, shuffle=False).split(X, y),
        strict=True,
    ):
        assert (one[1] == other[1]).all()


def test_any_label_can_be_the_normal_one_and_all_others_are_outliers():
    y = np.array(["rock", "mines", "sand"] * 6)
    for train, test in OneClassKFold(3, random_state=0, normal="rock").split(y[:, None], y):
        assert set(y[train]) == {"rock"}
        assert (y[test] == "rock").sum() == 2
        assert len(test) == 6


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ([0, 0, 1, 1, 1, 1], r"3 folds need at least 3 normal rows \(normal=0\), got 2"),
        ([0, 0, 0, 0, 1, 1], r"3 folds need at least 3 outlying rows \(normal=0\), got 2"),
        ([0, 0, 0, 0, 0, 0], r"3 folds need at least 3 outlying rows \(normal=0\), got 0"),
    ],
)
def test_too_few_rows_of_a_kind_are_an_error(labels, sentence):
    with pytest.raises(ValueError, match=sentence):
        list(OneClassKFold(3).split(np.zeros((6, 1)), labels))


def test_the_splitter_shows_its_parameters():
    assert (
        repr(OneClassKFold(3, normal="a")) == "OneClassKFold(n_splits=3, shuffle=True, random_state=None, normal='a')"
    )
    assert OneClassKFold(4).get_n_splits() == 4


# Gmean ----------------------------------------------------------------------------------------------------------------


def test_gmean_is_the_root_of_tpr_times_tnr():
    y_true, y_pred = [0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 0, 0]
    assert gmean_score(y_true, y_pred) == pytest.approx(np.sqrt(3 / 4 * 1 / 3))
    assert gmean_score(["a", "b"], ["a", "b"], normal="a") == 1.0
    assert gmean_score([0, 1], [1, 1]) == 0.0


@pytest.mark.parametrize(
    ("y_true", "y_pred", "sentence"),
    [
        ([0, 1], [0, 1, 1], "y_true has 2 labels and y_pred 3; they must have the same length"),
        ([0, 0], [0, 1], r"Gmean needs rows of both kinds, and y_true holds no outlier \(normal=0\)"),
        ([1, 1], [0, 1], r"Gmean needs rows of both kinds, and y_true holds no normal row \(normal=0\)"),
    ],
)
def test_gmean_needs_both_kinds_and_as_many_predictions_as_labels(y_true, y_pred, sentence):
    with pytest.raises(ValueError, match=sentence):
        gmean_score(y_true, y_pred)


# The grid -------------------------------------------------------------------------------------------------------------


def test_the_paper_grid_is_the_papers():
    assert paper_grid(kernel="rbf", updater="gradient") == {
        "C": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
        "n_components": [1, 2, 3, 4, 5, 10, 20],
        "step_size": [0.1, 1.0, 10.0, 100.0, 1000.0],
        "sigma": [0.1, 1.0, 10.0, 100.0, 1000.0],
    }


@pytest.mark.parametrize("updater", ["spectral", "S", "spectral_regression", "SR"])
def test_updaters_without_a_step_size_search_none(updater):
    assert "step_size" not in paper_grid(updater=updater)


def test_a_linear_grid_has_no_width_and_no_subspace_larger_than_the_data():
    assert paper_grid(n_features=13)["n_components"] == [1, 2, 3, 4, 5, 10]
    assert "sigma" not in paper_grid()
    assert paper_grid(kernel="rbf", n_features=4)["n_components"][-1] == 20


@pytest.mark.filterwarnings("ignore:the subspace has")
@pytest.mark.parametrize("label", UPDATERS)
def test_every_point_of_a_linear_grid_can_be_fitted(label):
    X, y = two_kinds()
    grid = paper_grid(updater=UPDATERS[label], n_features=4)
    for point in ParameterGrid({**grid, "C": [0.1, 0.6]}):
        GESSVDD.from_variant(f"PCA-{label}-min", **point).fit(X[y == 0])


# In scikit-learn's tools ----------------------------------------------------------------------------------------------


def test_grid_search_trains_on_normal_rows_only_and_finds_the_best_point():
    X, y = two_kinds()
    search = GridSearchCV(
        GESSVDD.from_variant("I-GR-min"),
        {"C": [0.1, 0.5], "n_components": [1, 4]},
        cv=OneClassKFold(4, random_state=0),
        scoring=gmean_scorer,
        refit=False,
    ).fit(X, y)
    by_hand = []
    for point in search.cv_results_["params"]:
        model = clone(GESSVDD.from_variant("I-GR-min")).set_params(**point)
        by_hand.append(
            np.mean(
                [
                    gmean_score(y[test], model.fit(X[train]).predict(X[test]))
                    for train, test in OneClassKFold(4, random_state=0).split(X, y)
                ]
            )
        )
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], by_hand)
    assert search.best_params_ == search.cv_results_["params"][int(np.argmax(by_hand))]
    assert search.best_score_ > 0.8


def test_pyods_own_detectors_can_be_searched_too():
    X, y = two_kinds()
    with warnings.catch_warnings():
        # PyOD warns about every y that it is given.
        warnings.simplefilter("ignore", UserWarning)
        scores = cross_val_score(OCSVM(), X, y, cv=OneClassKFold(3, random_state=0), scoring=gmean_scorer)
    assert scores.shape == (3,)
    assert scores.min() > 0.7
