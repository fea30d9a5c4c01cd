"""The old commands with the old options give the old numbers, kept in ``tests/before``.

Those of the graph Sw are from after a change: the rows in which k-means starts do not depend on the columns' order.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner

from pyod_gessvdd.cli import main
from pyod_gessvdd.compare import ComparisonResult
from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.report.paper.trials import KEY, trials_of
from pyod_gessvdd.experiments.store import DATABASE
from tests.experiments.paper_data import write_heart

BEFORE = Path(__file__).parents[1] / "before"


def gessvdd(*arguments):
    done = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output


def before(name):
    """The rows of one of the old tables, as mappings."""
    table = json.loads((BEFORE / "results.json").read_text(encoding="utf-8"))[name]
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def same(ours, theirs):
    for name, value in theirs.items():
        assert ours[name] == (pytest.approx(value, abs=1e-9) if isinstance(value, float) else value), name


def test_a_comparison_in_two_settings(tmp_path):
    gessvdd(
        "compare", "wine", "iris", "-d", "knn,hbos,pca", "--setting", "both", "--seeds", 2, "--out", tmp_path / "run"
    )
    key = ["dataset", "detector", "setting", "seed"]
    found = {
        tuple(row[name] for name in key): row
        for row in ComparisonResult.load(tmp_path / "run").table.to_dict("records")
    }
    expected = before("compare")
    assert len(found) == len(expected) == 24
    for row in expected:
        same(found[tuple(row[name] for name in key)], row)


def test_the_papers_protocol(tmp_path):
    data = write_heart(tmp_path / "data", n=30)
    shared = ["bench", "paper", "--quick", "--no-plots", "--data-dir", data]
    gessvdd(*shared, "--methods", "0-S-max,ESVDD,kNN-GR-min", "--splits", 2, "--out", tmp_path / "linear")
    gessvdd(*shared, "--methods", "ESVDD,Sw-S-max,OCSVM", "--nonlinear", "--splits", 1, "--out", tmp_path / "wide")
    trials, sensitivity = [], []
    for folder in ("linear", "wide"):
        for found, more in zip((trials, sensitivity), trials_of(ComparisonResult.load(tmp_path / folder)), strict=True):
            found += more
    found = {tuple(trial[name] for name in KEY): trial for trial in trials}
    expected = before("paper")
    assert len(found) == len(expected) == 18
    for row in expected:
        # How many models are fitted is another matter: every point is tested now, not only those of the curves.
        same(
            found[tuple(row[name] for name in KEY)], {k: v for k, v in row.items() if k not in ("n_fits", "n_unsolved")}
        )
    by_point = {tuple(line[name] for name in (*KEY, "parameter", "value")): line["gmean"] for line in sensitivity}
    expected = before("sensitivity")
    assert len(by_point) == len(expected)
    for row in expected:
        gmean = by_point[tuple(row[name] for name in (*KEY, "parameter", "value"))]
        assert gmean == (None if row["gmean"] is None else pytest.approx(row["gmean"], abs=1e-9))


# Folders of the previous version --------------------------------------------------------------------------------------


def old_folder(tmp_path, name):
    folder = tmp_path / "old"
    folder.mkdir()
    with contextlib.closing(sqlite3.connect(folder / DATABASE)) as connection:
        connection.executescript((BEFORE / name).read_text(encoding="utf-8"))
    return folder


def test_the_run_folder_of_a_comparison_opens_and_its_report_is_drawn_again(tmp_path):
    folder = old_folder(tmp_path, "comparison.sql")
    result = ComparisonResult.load(folder)
    assert result.table["detector"].tolist() == ["KNN", "HBOS"]
    assert result.table["validation"].isna().all()
    gessvdd("report", folder)
    assert "KNN" in (folder / "report.html").read_text(encoding="utf-8")


def test_such_a_run_can_be_gone_on_with(tmp_path):
    folder = old_folder(tmp_path, "comparison.sql")
    gessvdd("compare", "iris", "-d", "knn,hbos,pca", "--seeds", 1, "--out", folder, "--resume")
    assert ComparisonResult.load(folder).table["detector"].tolist() == ["KNN", "HBOS", "PCA"]


def test_the_run_folder_of_the_papers_experiments_says_why_it_does_not_open(tmp_path):
    folder = old_folder(tmp_path, "paper.sql")
    sentence = "was made by gessvdd bench paper before it kept the points of its grid as jobs"
    with pytest.raises(ComparisonError, match=sentence):
        ComparisonResult.load(folder)
    done = CliRunner().invoke(main, ["bench", "paper", "--quick", "--data-dir", str(write_heart(tmp_path / "data")),
                                     "--out", str(folder), "--resume"])  # fmt: skip
    assert done.exit_code == 2
    assert sentence in done.stderr
