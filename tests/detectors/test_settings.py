"""What is left open takes its value from the rows and from ``novelty``."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pyod.models.knn import KNN
from sklearn.metrics import roc_auc_score

from pyod_gessvdd import GESSVDD
from pyod_gessvdd.detectors.settings import (
    DEFAULT_UPDATES,
    MOST_TRIMMED,
    PAPER,
    SUBSPACE_RIDGE,
    ViewWeights,
    for_rows,
)

OPEN = {**PAPER, **GESSVDD().get_params(deep=False)}


def filled(n_rows=1000, **params):
    return for_rows({**OPEN, **params}, n_rows)


# The numbers of rows --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_rows", "novelty", "ridge", "widening", "views"),
    [
        (30, False, 3e-5 / (0.09 * (30 / 700) ** 2), 1 / 0.09, (0.5 - 15 / 700, 0.05, 0.25 * (30 / 700) ** 2, 9 / 700)),
        (100, False, 3e-5 * 49, 1.0, (3 / 7, 0.05, 0.25 / 49, 0.3 / 7)),
        (700, False, 3e-5, 1.0, (0.0, 0.05, 0.25, 0.3)),
        (5000, False, 3e-5, 1.0, (0.0, 0.05, 0.25, 0.3)),
        (30, True, 1e-7 / 0.09**3, 8 / 0.09, (0.5 - 15 / 700, 0.02, 4.5 / 700, 6 / 700)),
        (100, True, 1e-7, 8.0, (3 / 7, 0.02, 0.15 / 7, 0.2 / 7)),
        (700, True, 1e-7, 8.0, (0.0, 0.02, 0.15, 0.2)),
        (5000, True, 1e-7, 8.0, (0.0, 0.02, 0.15, 0.2)),
    ],
)
def test_ridge_width_and_views_depend_on_the_rows(n_rows, novelty, ridge, widening, views):
    settings = filled(n_rows, novelty=novelty)
    assert settings["ridge"] == pytest.approx(ridge)
    assert settings["widening"] == pytest.approx(widening)
    found = settings["views"]
    assert_allclose((found.few_rows, found.plain, found.ranks, found.decorrelated), views, atol=1e-12)
    assert found.linear == (0.8 if novelty else 0.0)
    # Unless the columns are known, correlations do not count.
    plain = max(views[0], views[1])
    assert_allclose(settings["view_weights"], (plain, 1 - plain - views[2], views[2]))
    assert settings["decorrelated"] == settings["linear"] == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("novelty", [False, True])
@pytest.mark.parametrize("n_rows", [2, 10, 30, 100, 350, 700, 10_000])
@pytest.mark.parametrize("correlated", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("plain_only", [0.0, 0.4, 1.0])
def test_weights_of_views_are_shares(novelty, n_rows, correlated, plain_only):
    found = filled(n_rows, novelty=novelty)["views"].parameters(correlated, plain_only)
    assert sum(found["view_weights"]) + sum(found["decorrelated"]) == pytest.approx(1.0)
    assert min(*found["view_weights"], *found["decorrelated"], *found["linear"]) >= 0


@pytest.mark.parametrize("n_rows", [700, 50])
def test_rows_that_are_not_trusted_count_less_if_there_are_few(n_rows):
    assert filled(n_rows)["doubted"] == pytest.approx(0.4 * (n_rows / 700) ** 2)


LIGHT = SimpleNamespace(heavy_share=0.0)
VIEWS = ViewWeights(few_rows=0.0, plain=0.1, ranks=0.25, decorrelated=0.3, linear=0.05)


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "weight"),
    [
        (400, 100, 0.1),
        (100, 150, 0.55),
        (400, 150, 0.55),
        (400, 200, 1.0),
        (1000, 300, 0.28),
        (100, 2000, 1.0),
        (65, 400, 0.55),
        (40, 400, 0.1),
    ],
)
def test_of_many_columns_with_light_tails_the_plain_ones_have_more_weight(n_rows, n_columns, weight):
    weights = VIEWS.for_columns(LIGHT, n_rows, n_columns)["view_weights"]
    assert_allclose(weights, (weight, 0.65 / 0.9 * (1 - weight), 0.25 / 0.9 * (1 - weight)), atol=1e-12)


@pytest.mark.parametrize(("heavy", "weight"), [(0.0, 1.0), (0.05, 0.55), (0.1, 0.1), (1.0, 0.1)])
def test_of_columns_with_heavy_tails_logarithms_and_ranks_keep_their_weight(heavy, weight):
    weights = VIEWS.for_columns(SimpleNamespace(heavy_share=heavy), 400, 800)["view_weights"]
    assert weights[0] == pytest.approx(weight)


@pytest.mark.parametrize(
    ("n_rows", "counts"), [(100, 0.0), (500, 0.0), (600, 0.2), (750, 0.5), (1000, 1.0), (9000, 1.0)]
)
def test_correlations_count_from_five_rows_per_column_on(n_rows, counts):
    found = VIEWS.for_columns(LIGHT, n_rows, 100)
    assert_allclose(found["decorrelated"], (0.0, 0.3 * counts, 0.0), atol=1e-12)
    assert_allclose(found["linear"], (0.05 * counts, 0.0, 0.0), atol=1e-12)
    assert_allclose(found["view_weights"], (0.1 * (1 - counts), 0.65 - 0.2 * counts, 0.25), atol=1e-12)
    # Without inner products, which would take their place, the plain columns keep their weight.
    without = replace(VIEWS, linear=0.0).for_columns(LIGHT, n_rows, 100)
    assert_allclose(without["view_weights"], (0.1, 0.65 - 0.3 * counts, 0.25), atol=1e-12)


@pytest.mark.parametrize("novelty", [False, True])
def test_one_of_many_normal_columns_is_seen(novelty):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(200, 400)), rng.normal(size=(200, 400))
    new[100:] += 10 * np.eye(400)[:100]
    labels = np.repeat([0, 1], 100)
    scores, knn = (one.fit(X).decision_function(new) for one in (GESSVDD(novelty=novelty, random_state=0), KNN()))
    assert roc_auc_score(labels, scores) > roc_auc_score(labels, knn) - 0.02


@pytest.mark.parametrize("n_columns", [20, 100])
@pytest.mark.parametrize("novelty", [False, True])
def test_a_row_far_off_in_one_column_is_labelled(novelty, n_columns):
    rng = np.random.default_rng(0)
    detector = GESSVDD(novelty=novelty, random_state=0).fit(rng.normal(size=(1000, n_columns)))
    far = rng.normal(size=(200, n_columns)) + 100 * np.eye(n_columns)[np.arange(200) % n_columns]
    assert detector.predict(far).all()


def test_a_kernel_with_weights_of_its_own_keeps_them():
    X = np.random.default_rng(0).normal(size=(100, 250))
    detector = GESSVDD(kernel="mixed(view_weights=[0.2, 0.5, 0.3])", random_state=0).fit(X)
    assert_allclose(detector.kernel_.view_weights_, [0.2, 0.5, 0.3])


def test_only_where_they_help_views_have_a_kernel_with_a_cusp():
    assert filled()["smooth"] == (1.0, 1.0, 1.0)
    assert filled(novelty=True)["smooth"] == (1.0, 0.5, 0.5)


def test_with_very_few_rows_kernels_are_wide_but_no_wider_than_twenty_times():
    assert filled(2)["widening"] == filled(20)["widening"] == pytest.approx(20.0)


@pytest.mark.parametrize("standardize", [True, False, "robust", "views", "signed_log"])
def test_views_that_are_asked_for_count_alike(standardize):
    assert filled(standardize=standardize)["view_weights"] is None
    assert filled(standardize=standardize)["smooth"] is None


# What was given -------------------------------------------------------------------------------------------------------


def test_what_is_given_stays():
    settings = filled(ridge=0.5, n_iter=7, trim=0.3)
    assert (settings["ridge"], settings["n_iter"], settings["trim"]) == (0.5, 7, 0.3)


def test_the_settings_handed_over_are_left_unchanged():
    given = dict(OPEN)
    for_rows(given, 50)
    assert given == OPEN


@pytest.mark.parametrize(("n_components", "n_iter"), [("all", 0), (None, DEFAULT_UPDATES), (3, DEFAULT_UPDATES)])
def test_only_a_subspace_is_updated(n_components, n_iter):
    assert filled(n_components=n_components)["n_iter"] == n_iter


@pytest.mark.parametrize("novelty", [False, True])
@pytest.mark.parametrize("n_components", [None, 3])
def test_a_subspace_has_its_own_ridge_and_the_usual_width(n_components, novelty):
    settings = filled(n_components=n_components, novelty=novelty)
    assert settings["ridge"] == SUBSPACE_RIDGE
    assert settings["widening"] is None


def test_the_papers_score_has_the_usual_width():
    assert filled(residual=False)["widening"] is None


# Trimming -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("contamination", "trim"), [(0.02, 0.02), (0.1, 0.1), (0.3, MOST_TRIMMED)])
def test_auto_trims_what_is_expected_up_to_a_tenth(contamination, trim):
    settings = filled(contamination=contamination)
    assert settings["trim"] == trim
    assert settings["share_outside"] == contamination


def test_a_threshold_object_expects_a_tenth():
    settings = filled(contamination=object())
    assert settings["trim"] == settings["share_outside"] == MOST_TRIMMED == 0.1


@pytest.mark.parametrize("params", [{"novelty": True}, {"residual": False}, {"trim": None}, {"trim": 0.0}])
def test_clean_rows_the_papers_score_and_none_trim_nothing(params):
    assert filled(**params)["trim"] == 0.0


@pytest.mark.parametrize("params", [{}, {"novelty": True}, {"residual": False}, {"contamination": 0.02}])
def test_a_share_that_is_given_is_trimmed_whatever_else(params):
    assert filled(trim=0.4, **params)["trim"] == 0.4


@pytest.mark.parametrize("trim", [-0.1, 0.6, "half", True, np.nan])
def test_a_trim_that_is_no_share_is_refused(trim):
    message = f"^trim must be 'auto', None or a share of the rows from 0 to 0.5, got {trim!r}$"
    with pytest.raises(ValueError, match=message):
        GESSVDD(trim=trim).fit(np.random.default_rng(0).normal(size=(20, 2)))


@pytest.mark.parametrize("novelty", [None, 1, "yes"])
def test_a_novelty_that_is_not_a_truth_value_is_refused(novelty):
    with pytest.raises(ValueError, match=f"^novelty must be True or False, got {novelty!r}$"):
        GESSVDD(novelty=novelty).fit(np.random.default_rng(0).normal(size=(20, 2)))
