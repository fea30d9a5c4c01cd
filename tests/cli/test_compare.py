"""``gessvdd compare`` and ``gessvdd bench adbench`` from the command line."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from pyod_gessvdd.cli import main
from pyod_gessvdd.compare import ComparisonResult
from pyod_gessvdd.experiments.store import DATABASE, Store
from tests.experiments.toy import BAD, arrays


@pytest.fixture
def invoke():
    """Runs a command in 100 columns."""

    def invoke(*arguments):
        return CliRunner().invoke(main, [str(argument) for argument in arguments], env={"COLUMNS": "100"})

    return invoke


@pytest.fixture
def table(tmp_path):
    """A file as a spreadsheet writes it, with the labels ok, worn and broken."""
    X, outlier = arrays()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["state"] = np.where(outlier, np.where(np.arange(len(X)) % 2, "worn", "broken"), "ok")
    frame["room"] = np.where(np.arange(len(X)) % 3, "blue", "red")
    frame["time"] = "12:05"
    frame.loc[0, "a"] = None
    path = tmp_path / "machines.csv"
    frame.to_csv(path, sep=";", decimal=",")
    return path


def test_a_comparison_prints_the_leaderboard_writes_its_files_and_exits_with_1_if_a_job_failed(invoke, table, tmp_path):
    out = tmp_path / "run"
    options = ("--label", "state", "--normal", "ok", "--seeds", "3,4", "--metrics", "gmean,roc_auc", "--out", out, "-v")
    options += ("--drop", "time", "--encode", "room", "--missing", "drop")
    done = invoke("compare", table, "-d", f"knn(n_neighbors=3),{BAD}:Raises", "-d", "hbos", *options)
    assert done.exit_code == 1
    assert done.stderr == (
        f"gessvdd: note: {table}: 4 columns used, 'state' is the label, 'time' left out as asked, 'Unnamed: 0' looks "
        "like an index and is left out: --keep to use it; categories of 'room' (2) encoded; its columns are separated "
        "by semicolons; its numbers have decimal commas; 1 of 120 rows left out for missing or infinite values in 'a'\n"
    )
    assert "1/6 machines KNN(n_neighbors=3) novelty seed 3: roc_auc 1.0000 gmean " in done.stdout
    assert "2/6 machines Raises novelty seed 3: failed, RuntimeError: no fit today" in done.stdout
    assert "2 of 6 jobs failed:\n  Raises on machines: RuntimeError: no fit today\n" in done.stdout
    assert "Written to" in done.stdout
    assert {path.name for path in out.iterdir()} >= {DATABASE, "results.csv", "report.md", "report.html"}
    stored = ComparisonResult.load(out).table
    assert stored["seed"].unique().tolist() == [3, 4]
    assert stored["n_features"].dropna().unique().tolist() == [5]
    assert pd.read_csv(out / "results.csv")["roc_auc"].tolist() == pytest.approx(stored["roc_auc"], nan_ok=True)

    # Going on without the detector that fails runs nothing, and says the same of what is there.
    again = invoke("compare", table, "-d", "hbos", *options, "--resume")
    assert again.exit_code == 1
    assert "/6 machines" not in again.stdout


def test_adbench_is_run_with_both_protocols_and_its_seeds(invoke, tmp_path):
    (tmp_path / "adbench").mkdir()
    X, outlier = arrays()
    for name in ("6_toy", "7_other"):
        np.savez(tmp_path / "adbench" / f"{name}.npz", X=X, y=outlier.astype(int))
    out = tmp_path / "run"
    done = invoke("bench", "adbench", "toy", "--data-dir", tmp_path, "-d", f"{BAD}:Good", "--out", out)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "seed" not in done.stdout  # a line for each job only with -v
    jobs = ComparisonResult.load(out).table[["dataset", "setting", "seed"]].to_numpy().tolist()
    assert jobs == [["6_toy", "novelty", seed] for seed in (0, 1, 2)] + [
        ["6_toy", "unsupervised", seed] for seed in (1, 2, 3)
    ]


@pytest.mark.parametrize("command", ["compare", "bench adbench"])
def test_the_help_has_examples(invoke, command):
    done = invoke(*command.split(), "--help")
    assert done.exit_code == 0
    assert "Examples:" in done.stdout
    assert f"gessvdd {command}" in done.stdout


def test_a_missing_file_is_named(invoke):
    refused(invoke("compare", "no/such.csv"), "there is no file, folder or data set 'no/such.csv'; the names known are")


def test_an_unreadable_file_is_named(invoke, tmp_path):
    (tmp_path / "t.npz").write_bytes(b"nothing")
    refused(invoke("compare", tmp_path / "t.npz"), "t.npz cannot be read: ")


def test_a_file_without_label_column_is_named_with_its_columns(invoke, table):
    refused(invoke("compare", table), "has no label column 'label' or 'y'; name one of 'Unnamed: 0', 'a', 'b', 'c', ")


def test_more_than_two_labels_need_the_normal_one(invoke, table):
    refused(
        invoke("compare", table, "--label", "state", "--drop", "time,room", "--missing", "median"),
        "the labels are broken, ok, worn, not 0 (normal) and 1 (outlier); name the normal one with --normal",
    )


def test_what_a_file_holds_that_cannot_be_compared_is_named(invoke, table, tmp_path):
    options = ("--label", "state", "--normal", "ok")
    refused(invoke("compare", table, *options), "the column 'time' holds dates or times such as '12:05': leave it out")
    options = (*options, "--drop", "time")
    refused(invoke("compare", table, *options), "the column 'room' holds text such as 'red': take it as categories")
    options = (*options, "--encode", "all")
    refused(invoke("compare", table, *options), "in 'a', the first in column 'a' of data row 1; leave such rows out")


def test_one_class_only_is_refused(invoke, tmp_path):
    np.savez(tmp_path / "t.npz", X=arrays()[0], y=np.zeros(120))
    refused(invoke("compare", tmp_path / "t.npz"), "t has 120 normal rows and 0 outliers; both kinds are needed")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("-d", "iforst"), "unknown detector 'iforst'; did you mean IForest"),
        (("-d", "knn(contamination=7)"), "cannot build knn(contamination=7): ValueError: contamination must be in"),
        (("-d", "knn(neighbours=7)"), "detector 'knn' has no parameter 'neighbours'; it takes contamination"),
        (("--seeds", "many"), "'many' is neither a number of seeds nor a list of seeds such as 3,14,15"),
        (("--seeds", "0"), "seeds must be a positive number of seeds"),
        (("--metrics", "auc"), "metrics must be some of roc_auc"),
        (
            ("--setting", "semi"),
            "setting must be novelty, unsupervised, transductive, nested, pyod, dte_semi, dte_unsupervised or both, "
            "got 'semi'",
        ),
        (("--jobs", "0"), "the number of jobs must be positive, or -1 for one per core, got 0"),
        (("--timeout", "-1"), "timeout must be a positive number of seconds, got -1.0"),
        (("--backend", "dask"), "the backend dask needs the cluster's address"),
        (("--resume",), "--resume needs the run folder to continue; name it with --out"),
    ],
)
def test_options_that_cannot_be_used_are_told_in_one_sentence(invoke, arguments, sentence):
    refused(invoke("compare", "wine", *arguments), sentence)


def test_a_folder_that_cannot_be_written_is_named(invoke, tmp_path):
    (tmp_path / "file").write_text("")
    refused(
        invoke("compare", "wine", "-d", "knn", "--out", tmp_path / "file" / "run"), "cannot write to the run folder"
    )


def test_a_run_is_not_overwritten_and_one_of_another_format_not_gone_on_with(invoke, tmp_path):
    store = Store.create(tmp_path / "run", {})
    store._connection.execute("UPDATE meta SET value = '99' WHERE key = 'schema'")
    store.close()
    before = (tmp_path / "run" / DATABASE).read_bytes()
    refused(invoke("compare", "wine", "-d", "knn", "--out", tmp_path / "run"), "already holds a run; continue it with")
    refused(
        invoke("compare", "wine", "-d", "knn", "--out", tmp_path / "run", "--resume"),
        "has the format 99, this version of pyod-gessvdd reads 1; run it again in another folder",
    )
    assert (tmp_path / "run" / DATABASE).read_bytes() == before


def refused(done, sentence):
    """One sentence on stderr, nothing on stdout, exit code 2."""
    assert done.exit_code == 2
    assert done.stdout == ""
    *notes, last = done.stderr.splitlines()
    assert all(note.startswith("gessvdd: note: ") for note in notes)
    assert last.startswith("gessvdd: ")
    assert sentence in last
