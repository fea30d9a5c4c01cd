"""Own figures beside DTE's published ones."""

from __future__ import annotations

import os

import pytest

from pyod_gessvdd.compare import compare
from pyod_gessvdd.experiments.report.published import Publication, plain_name

DATA = os.environ.get("PYOD_GESSVDD_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="set PYOD_GESSVDD_DATA to a folder that holds adbench/")
METRICS = ["roc_auc", "precision_at_n"]
DTE = Publication.dte()


def test_the_published_means_are_those_of_the_publication():
    figures = DTE.figures("dte_semi", "roc_auc")
    assert figures.shape == (57, 26)
    assert figures["kNN"].mean() == pytest.approx(80.9, abs=0.1)
    assert figures["DTE-NP"].mean() == pytest.approx(81.5, abs=0.1)
    assert DTE.figures("dte_unsupervised", "roc_auc")["MCD"].mean() == pytest.approx(74.8, abs=0.1)
    assert DTE.figures("dte_unsupervised", "precision_at_n").empty
    assert set(DTE.calibration["dte_semi"].values()) <= set(figures.columns)


def test_adbenchs_numbers_and_capitals_are_not_in_the_published_names():
    assert [plain_name(name) for name in ("6_cardio", "42_WBC", "31_satimage-2", "mine_too")] == [
        "cardio",
        "wbc",
        "satimage-2",
        "mine_too",
    ]


@needs_data
def test_the_protocol_reproduces_the_published_figures_of_detectors_without_randomness():
    """Sets of 1,000 to 50,000 rows, of which nothing is drawn: kNN and OCSVM to the second decimal."""
    sets = ["adbench/6_cardio", "adbench/38_thyroid", "adbench/20_letter"]
    result = compare(sets, ["knn", "ocsvm", "ecod", "iforest"], setting="dte_semi", seeds=3, metrics=METRICS)
    published = DTE.figures("dte_semi", "roc_auc")
    for (dataset, detector), jobs in result.table.groupby(["dataset", "detector"]):
        theirs = published.loc[plain_name(dataset), DTE.calibration["dte_semi"][detector]]
        # Three forests against the mean of five.
        assert 100 * jobs["roc_auc"].mean() == pytest.approx(theirs, abs=2.0 if detector == "IForest" else 0.006)
    calibration = DTE.calibrate(result, "dte_semi")
    assert calibration.holds
    assert calibration.sentence.endswith("each within a point: published and own figures may be read as one ranking.")
    text = DTE.report(result)
    assert "### ROC-AUC, mean in per cent\n" in text
    assert "| kNN, published" in text
    assert "| KNN, run here" in text
    assert "| 3 of 1,000 rows or more |" in text


@needs_data
def test_without_the_calibration_own_and_published_figures_are_two_tables():
    result = compare("adbench/6_cardio", "hbos", setting="dte_semi", seeds=1, metrics=METRICS)
    calibration = DTE.calibrate(result, "dte_semi")
    assert not calibration.holds
    assert calibration.sentence.startswith("Not calibrated: none of KNN, IForest, OCSVM, ECOD was run")
    text = DTE.report(result)
    assert "two tables in one, not a ranking" in text
    rows = [line for line in text.splitlines() if ", run here" in line or ", published" in line]
    assert rows[0].startswith("| HBOS, run here")
