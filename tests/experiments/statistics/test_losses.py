"""Where a detector loses, and what the data sets of its losses share."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from pyod_gessvdd.experiments.report import loss_figures
from pyod_gessvdd.experiments.statistics.losses import against_the_best_other, common_traits, subject_of
from tests.experiments.runs import table_of

N_SETS = 14


@pytest.fixture
def result():
    """D0 is ours; it loses on the second half of the sets, which have more columns, once to D1 and else to D2."""
    lost = np.arange(N_SETS) >= N_SETS // 2
    own = np.where(lost, 0.6, 0.9)
    values = np.stack([own, np.full(N_SETS, 0.7), np.where(np.arange(N_SETS) == 13, 0.65, 0.8)], axis=1)[:, :, None]
    datasets = pd.DataFrame(
        {
            "name": [f"set {i}" for i in range(N_SETS)],
            "n_rows": 100,
            "n_features": np.where(lost, 50, 5) + np.arange(N_SETS),
            "n_outliers": 10,
            "repeated": np.nan,
        }
    )
    classes = ["pyod_gessvdd:GESSVDD", "pyod.models.knn:KNN", "pyod.models.lof:LOF"]
    detectors = pd.DataFrame({"name": ["D0", "D1", "D2"], "class": classes})
    return SimpleNamespace(table=table_of(values), datasets=datasets, detectors=detectors)


def test_our_own_detector_is_looked_at_even_if_another_ranks_first(result):
    assert subject_of(result, "roc_auc") == "D0"
    result.detectors["class"] = "other:Class"
    assert subject_of(result, "roc_auc") == "D2"


def test_every_data_set_is_set_against_the_best_other_one(result):
    table = against_the_best_other(result)
    assert len(table) == N_SETS
    assert table.index[0] == "set 7"
    assert table.loc["set 7", ["own", "other", "best", "difference"]].tolist() == [0.6, "D2", 0.8, pytest.approx(-0.2)]
    assert table.loc["set 13", "other"] == "D1"
    assert table.loc["set 0", "difference"] == pytest.approx(0.1)
    assert table["contamination"].unique().tolist() == [0.1]
    assert "repeated" not in table, "a trait that the run does not hold"


def test_what_the_losses_share_is_told_and_what_is_the_same_everywhere_is_not(result):
    (sentence,) = common_traits(against_the_best_other(result))
    assert sentence == "columns: median 60 where it loses, 8 elsewhere"


def test_few_losses_share_nothing(result):
    assert common_traits(against_the_best_other(result).tail(9)) == []


def test_the_pictures_show_every_data_set(result):
    table = against_the_best_other(result)
    axes = loss_figures.scatter(table, "D0", "roc_auc").axes[0]
    points = [line for line in axes.get_lines() if line.get_marker() == "o"]
    assert [len(line.get_xdata()) for line in points] == [7, 7]
    assert axes.get_ylabel() == "ROC-AUC of D0"
    panels = [panel for panel in loss_figures.by_trait(table, "D0", "roc_auc").axes if panel.get_visible()]
    assert [panel.get_xlabel() for panel in panels] == ["rows", "columns", "share of outliers"]
