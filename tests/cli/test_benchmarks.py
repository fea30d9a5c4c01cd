"""``gessvdd bench pyod`` and ``gessvdd bench dte``."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from pyod_gessvdd.cli import bench_pyod, main
from pyod_gessvdd.compare import ComparisonResult


@pytest.fixture
def data_dir(tmp_path):
    """Two of PyOD's sets and one of ADBench's, made up."""
    rng = np.random.default_rng(0)
    for name in ("odds/glass", "adbench/6_cardio", "adbench/42_WBC"):
        path = tmp_path / "data" / f"{name}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        X = np.vstack([rng.normal(size=(90, 3)), rng.normal(size=(12, 3)) + 3])
        np.savez(path, X=X, y=np.repeat([0, 1], [90, 12]))
    return tmp_path / "data"


def bench(*arguments):
    return CliRunner().invoke(main, ["bench", *map(str, arguments)], env={"COLUMNS": "100"})


def test_pyods_benchmark_names_the_sets_that_are_missing_and_runs_the_others(data_dir, tmp_path):
    out = tmp_path / "run"
    done = bench("pyod", "--data-dir", data_dir, "-d", "gessvdd,knn", "--seeds", 2, "--out", out)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "Missing, and left out: arrhythmia, ionosphere, letter" in done.stdout
    assert "(2 of 17 sets are run)" in " ".join(done.stdout.split())
    table = ComparisonResult.load(out).table
    assert set(table["dataset"]) == {"6_cardio", "glass"}
    assert set(table["setting"]) == {"pyod"}
    assert table["precision_at_n"].notna().all()
    assert table["gmean"].isna().all()
    assert len(bench_pyod.SETS) == 17


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("pyod", "wine"), "PyOD's benchmark has no set 'wine'; its sets are arrhythmia, cardio"),
        (("pyod", "vowels"), "holds no data set 'vowels'"),
    ],
)
def test_what_cannot_be_run_is_said_in_one_sentence(data_dir, arguments, sentence):
    done = bench(*arguments, "--data-dir", data_dir)
    assert done.exit_code == 2
    assert sentence in done.stderr


def test_dtes_benchmark_writes_the_published_figures_beside_its_own(data_dir, tmp_path):
    out = tmp_path / "run"
    done = bench("dte", "cardio", "wbc", "--data-dir", data_dir, "-d", "hbos,ecod", "--seeds", 1, "--out", out)
    assert (done.exit_code, done.stderr) == (0, "")
    said = " ".join(done.stdout.split())
    assert "dte_semi: Calibration, mean in per cent and its difference from the published one: ECOD" in said
    assert "not put in one ranking" in said
    text = (out / "published.md").read_text(encoding="utf-8")
    assert "| HBOS, run here" in text
    assert "| DTE-C, published" in text
    assert "published.md" in said


def test_adbenchs_benchmark_takes_published_figures_from_a_file(data_dir, tmp_path):
    figures, out = tmp_path / "figures.csv", tmp_path / "run"
    figures.write_text("dataset,KNN,Deep\ncardio,80,90\n", encoding="utf-8")
    given = ("--data-dir", data_dir, "-d", "knn", "--seeds", 1, "--setting", "both", "--published", figures)
    done = bench("adbench", "cardio", *given, "--out", out)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "unsupervised: Calibration" in done.stdout
    assert "novelty:" not in done.stdout
    assert "| Deep, published" in (out / "published.md").read_text(encoding="utf-8")
