"""What a detector's answer is worth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.metrics import METRICS, check_metrics, described, known_metrics, precision_at_n

gmean = known_metrics()["gmean"].compute

LABELS = np.array([0, 0, 0, 1, 1])


def test_a_perfect_ranking_is_worth_one():
    of_scores = [metric for metric in known_metrics().values() if metric.needs == "scores"]
    assert len(of_scores) >= 3
    for metric in of_scores:
        assert metric.compute(LABELS, np.arange(5.0)) == 1.0


def test_precision_at_n_is_the_share_of_outliers_among_the_n_highest():
    assert precision_at_n(LABELS, np.array([0.0, 1.0, 9.0, 8.0, 2.0])) == 0.5
    assert precision_at_n(LABELS, np.zeros(5)) == 0.0


def test_gmean_is_the_root_of_both_rates():
    assert gmean(LABELS, np.array([0, 0, 1, 1, 0])) == pytest.approx(math.sqrt(2 / 3 * 1 / 2))
    assert gmean(LABELS, np.zeros(5)) == 0.0


def test_the_rates_are_of_normal_rows_accepted_and_of_outliers_refused():
    rates = [known_metrics()[name].compute(LABELS, np.array([0, 0, 1, 1, 0])) for name in ("tpr", "tnr")]
    assert rates == [pytest.approx(2 / 3), 0.5]


def test_a_metric_whose_plugin_is_gone_is_shown_by_its_name():
    assert described("roc_auc").label == "ROC-AUC"
    assert (described("gone").label, described("gone").heading) == ("gone", "gone")


@given(st.lists(st.booleans(), min_size=5, max_size=5))
def test_gmean_does_not_change_when_both_classes_change_names(predicted):
    flags = np.array(predicted, dtype=int)
    assert gmean(LABELS, flags) == pytest.approx(gmean(1 - LABELS, 1 - flags))


def test_metrics_are_taken_in_the_order_given():
    assert check_metrics(["gmean", "roc_auc", "gmean"]) == ("gmean", "roc_auc")
    assert check_metrics("gmean") == ("gmean",)
    assert check_metrics(METRICS) == METRICS


@pytest.mark.parametrize(("metrics", "got"), [(["auc"], "auc"), ([], "none")])
def test_unknown_metrics_are_refused_with_those_there_are(metrics, got):
    with pytest.raises(ComparisonError, match=f"metrics must be some of roc_auc, .*, gmean, tpr, tnr.*, got {got}"):
        check_metrics(metrics)
