"""Published figures from a file of the user's."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pyod_gessvdd.compare import compare
from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.report.published import Publication


@pytest.fixture
def result():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(90, 3)), rng.normal(size=(12, 3)) + 3])
    return compare(
        {"6_cardio": (X, np.repeat([0, 1], [90, 12]))}, ["knn", "ecod"], setting="unsupervised", seeds=1,
        metrics=["roc_auc"],
    )  # fmt: skip


def written(tmp_path, text):
    path = tmp_path / "figures.csv"
    path.write_text(text, encoding="utf-8")
    return Publication.read(path)


def test_a_table_of_sets_by_methods_is_enough(tmp_path, result):
    own = 100 * result.table.set_index("detector")["roc_auc"]
    publication = written(
        tmp_path, f"dataset,kNN,ECOD,Deep\ncardio,{own['KNN']:.2f},{own['ECOD']:.2f},50\nwine,1,2,3\n"
    )
    assert publication.calibrate(result, "unsupervised").holds
    text = publication.report(result)
    assert "those of figures.csv" in text
    assert re.search(r"\| Deep, published +\| +50\.0 ", text)
    assert "| kNN, published |" in text
    assert "wine" not in text


def test_shares_are_made_per_cent_and_others_too_far_off_are_no_ranking(tmp_path, result):
    publication = written(tmp_path, "dataset,metric,setting,KNN,ECOD\n6_cardio,roc_auc,unsupervised,0.25,0.5\n")
    assert publication.figures("unsupervised", "roc_auc").loc["cardio"].tolist() == [25.0, 50.0]
    assert not publication.calibrate(result, "unsupervised").holds
    assert "two tables in one, not a ranking" in publication.report(result)


def test_without_a_method_of_pyod_nothing_is_calibrated(tmp_path, result):
    calibration = written(tmp_path, "dataset,Deep\ncardio,90\n").calibrate(result, "unsupervised")
    assert not calibration.holds
    assert calibration.sentence == (
        "Not calibrated: none of KNN, IForest, OCSVM, ECOD was published, so nothing is ranked with the published "
        "figures."
    )


def test_a_setting_without_figures_is_left_out(tmp_path, result):
    assert written(tmp_path, "dataset,setting,KNN\ncardio,novelty,90\n").settings_of(result) == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("set,KNN\ncardio,90\n", "must have a column 'dataset' and a column for each method, got set, KNN"),
        ("dataset,metric\ncardio,roc_auc\n", "must have a column 'dataset' and a column for each method"),
        ("dataset,KNN\ncardio,high\n", "must hold numbers, but 'KNN' has 'high'"),
        ("", "could not be read as a CSV file of published figures: No columns to parse from file"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_in_a_sentence(tmp_path, text, sentence):
    with pytest.raises(ComparisonError, match=sentence):
        written(tmp_path, text)
