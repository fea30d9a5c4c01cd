"""The leaderboard in the terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from pyod_gessvdd.experiments.report.terminal import leaderboard
from tests.experiments.report.test_figures import toy
from tests.experiments.runs import run


def printed(result, width=80, **options):
    console = Console(file=io.StringIO(), width=width, highlight=False, **options)
    console.print(leaderboard(result))
    return console.file.getvalue()


@pytest.mark.parametrize("width", [80, 100])
def test_it_fits_the_width_and_shows_every_figure(reported, width):
    lines = printed(reported, width).splitlines()
    assert max(map(len, lines)) <= width
    board = reported.rank(setting="novelty").set_index("detector")
    (line,) = [line for line in lines[: lines.index("Unsupervised detection: ranked by ROC-AUC")] if line[:4] == "KNN "]
    knn = board.loc["KNN"]
    figures = [f"{knn[name]:.3f}" for name in ("roc_auc", "average_precision", "precision_at_n", "gmean")]
    figures.insert(1, f"{knn['roc_auc_sd']:.3f}")
    assert line.split()[1:8] == [*figures, f"{knn['mean_rank']:.2f}", str(knn["wins"])]


@pytest.mark.parametrize(("width", "n_figures"), [(60, 6), (40, 3), (24, 1)])
def test_a_narrow_terminal_shows_fewer_columns_with_their_numbers_whole(reported, width, n_figures):
    text = printed(reported, width)
    of_knn = [line.split()[1:] for line in text.splitlines() if line.startswith("KNN ")]
    in_full = [line.split()[1:] for line in printed(reported, 200).splitlines() if line.startswith("KNN ")]
    # A time is two words.
    assert of_knn == [line[: len(shown)] for line, shown in zip(in_full, of_knn, strict=True)]
    assert all(len(shown) >= n_figures for shown in of_knn)
    assert "No room for" in text
    assert "score: widen the terminal." in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= width


def test_each_setting_has_its_own_table(reported):
    text = printed(reported)
    assert text.index("Novelty detection: ranked by ROC-AUC") < text.index("Unsupervised detection: ranked by ROC-AUC")


def test_a_detector_with_failures_is_marked_and_it_is_said_what_its_means_are_over(reported):
    text = " ".join(printed(reported, 200).split())
    assert "DislikesFourFeatures †" in text
    assert (
        "† DislikesFourFeatures: 2 of 6 jobs failed or exceeded the time limit (iris); "
        "its means are over the 2 data sets that it finished"
    ) in text


def test_the_best_of_a_column_is_bold(reported):
    text = printed(reported, force_terminal=True, color_system="standard")
    best = reported.rank(setting="novelty").query("finished == tried")["roc_auc"].max()
    assert f"\x1b[1;32m{best:.3f}\x1b[0m" in text


def test_a_name_is_not_taken_for_markup_and_a_metric_that_was_not_measured_has_no_column(tmp_path):
    result = run(tmp_path, {"a": toy(0)}, ["hbos", "pca"], {"novelty": (0,)}, metrics=("gmean",))
    result.table["detector"] = result.table["detector"].replace("HBOS", "[bold]HBOS[/]")
    text = printed(result)
    assert "[bold]HBOS[/]" in text
    assert "ranked by Gmean" in text
    assert "AUC" not in text
    assert "Friedman's test needs at least 3 detectors" in text
