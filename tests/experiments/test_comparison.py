"""The whole comparison from Python: running, going on, refusing."""

from __future__ import annotations

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest
from pyod.models.iforest import IForest
from pyod.models.knn import KNN

from pyod_gessvdd.compare import ComparisonResult, compare
from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.data.datasets import DATA_VARIABLE
from pyod_gessvdd.experiments.run.job import columns
from pyod_gessvdd.experiments.store import DATABASE
from tests.experiments.toy import BAD, arrays

GOOD, RAISES = f"{BAD}:Good", f"{BAD}:Raises"
OPTIONS = {"seeds": 2, "max_rows": 100}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished run of two detectors on one set with two seeds, and what it reported on the way."""
    folder = tmp_path_factory.mktemp("runs") / "finished"
    events = []
    compare({"toy": arrays()}, [GOOD, RAISES], out=folder, progress=events.append, **OPTIONS)
    return folder, events


@pytest.fixture
def run(finished, tmp_path):
    """A copy of the finished run."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / DATABASE).write_bytes((finished[0] / DATABASE).read_bytes())
    return folder


def test_the_table_has_a_row_for_each_job_and_the_documented_columns(finished):
    result = ComparisonResult.load(finished[0])
    assert tuple(result.table.columns) == columns()
    assert result.table[["detector", "seed", "status"]].to_numpy().tolist() == [
        ["Good", 0, "done"],
        ["Raises", 0, "failed"],
        ["Good", 1, "done"],
        ["Raises", 1, "failed"],
    ]
    assert result.table["roc_auc"].dtype == float
    assert result.table["roc_auc"].isna().tolist() == [False, True, False, True]
    assert result.table["warnings"].tolist() == [[], [], [], []]
    assert result.datasets.loc[0, ["name", "source", "n_rows", "n_outliers"]].tolist() == ["toy", "arrays", 120, 20]
    assert result.detectors["name"].tolist() == ["Good", "Raises"]
    assert result.meta["arguments"]["seeds"] == {"novelty": [0, 1]}


def test_the_result_shows_its_table(finished):
    result = ComparisonResult.load(finished[0])
    lines = repr(result).splitlines()
    assert lines[0] == "2 detectors, 1 data sets, 4 jobs, 2 of which failed"
    assert lines[1].split()[:3] == ["setting", "detector", "ROC-AUC"]
    assert lines[2].split()[:2] == ["novelty", "Good"]
    assert "±" in lines[2]
    page = result._repr_html_()
    assert page.startswith("<p>2 detectors, 1 data sets, 4 jobs")
    assert "<td>Good</td>" in page


def test_detectors_can_be_instances_and_data_a_pair_or_a_frame():
    X, y = arrays()
    result = compare((X, y), [KNN(n_neighbors=3), IForest(random_state=5), "knn"], seeds=1)
    assert result.detectors["name"].tolist() == ["KNN(n_neighbors=3)", "IForest(random_state=5)", "KNN"]
    assert result.datasets["name"].tolist() == ["data"]
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=np.where(y, "bad", "good"))
    again = compare(frame, KNN(n_neighbors=3), label="kind", normal="good", seeds=1)
    assert again.table["roc_auc"][0] == result.table["roc_auc"][0]
    named = compare({"mine": frame}, "knn", label="kind", normal="good", seeds=1)
    assert named.datasets.loc[0, ["name", "n_rows", "n_features", "n_outliers"]].tolist() == ["mine", 120, 3, 20]
    assert named.table["roc_auc"][0] == result.table["roc_auc"][2]


def test_settings_with_and_without_outliers_run_side_by_side():
    table = compare({"toy": arrays()}, "knn", seeds=1, setting="novelty,transductive").table
    assert table["setting"].tolist() == ["novelty", "transductive"]
    assert table["n_test"].tolist() == [36, 120]


def test_errors_name_the_parameters_and_not_the_options(monkeypatch):
    with pytest.raises(ComparisonError, match="name the normal one with normal"):
        compare({"toy": (np.zeros((4, 2)), ["a", "a", "b", "b"])}, GOOD)
    monkeypatch.delenv(DATA_VARIABLE, raising=False)
    with pytest.raises(ComparisonError, match="name the one that holds odds/ with data_dir or PYOD"):
        compare("odds", GOOD)


def test_scores_are_kept_for_the_report(finished):
    labels, scores = ComparisonResult.load(finished[0]).scores("toy", "Good", "novelty", 1)
    assert labels.shape == scores.shape == (30,)
    assert labels.sum() == 5


def test_progress_is_told_at_the_start_and_after_every_job(finished):
    _, events = finished
    assert [(event.done, event.total) for event in events] == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    ended = [event.result.row["detector"] for event in events if event.result]
    assert ended == ["Good", "Raises", "Good", "Raises"]


def test_the_csv_file_holds_the_table(finished, tmp_path):
    result = ComparisonResult.load(finished[0])
    result.to_csv(tmp_path / "t.csv")
    back = pd.read_csv(tmp_path / "t.csv")
    assert np.allclose(back["roc_auc"], result.table["roc_auc"], equal_nan=True)
    assert back["error"].tolist()[1] == "RuntimeError: no fit today"


def test_a_finished_run_that_is_resumed_runs_nothing_and_can_be_given_more(run):
    before = ComparisonResult.load(run).table
    events = []
    again = compare({"toy": arrays()}, [GOOD, RAISES], out=run, resume=True, progress=events.append, **OPTIONS)
    assert [(event.done, event.total) for event in events] == [(4, 4)]
    pd.testing.assert_frame_equal(again.table, before)
    more = compare({"toy": arrays()}, [GOOD, "knn"], out=run, resume=True, **OPTIONS)
    assert more.table["detector"].value_counts().to_dict() == {"Good": 2, "Raises": 2, "KNN": 2}
    kept = more.table[more.table["detector"] != "KNN"].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, before, check_dtype=False)


def test_a_run_is_not_replaced_without_force(run):
    before = (run / DATABASE).read_bytes()
    with pytest.raises(
        ComparisonError, match="already holds a run; continue it with resume=True or replace it with force=True"
    ):
        compare({"toy": arrays()}, GOOD, out=run)
    assert (run / DATABASE).read_bytes() == before


def test_a_folder_of_other_things_is_not_used_without_force(tmp_path):
    (tmp_path / "results.csv").write_text("mine")
    with pytest.raises(ComparisonError, match="is not empty and holds no run; choose another out, or use force=True"):
        compare({"toy": arrays()}, GOOD, out=tmp_path)
    assert (tmp_path / "results.csv").read_text() == "mine"


def test_a_run_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ComparisonError, match=r"the run folder .*file is a file; choose another out"):
        compare({"toy": arrays()}, GOOD, out=tmp_path / "file")


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"seeds": 3}, r"has seeds {'novelty': \[0, 1\]}, now it is {'novelty': \[0, 1, 2\]}; continue with the same"),
        ({"setting": "both"}, r"has setting \['novelty'\], now it is \['novelty', 'unsupervised'\]"),
        ({"max_rows": 50}, "has max_rows 100, now it is 50"),
        ({"metrics": ["gmean"]}, r"has metrics \['roc_auc', .*\], now it is \['gmean'\]"),
    ],
)
def test_a_run_goes_on_with_the_same_settings_only(run, changed, sentence):
    with pytest.raises(ComparisonError, match=sentence):
        compare({"toy": arrays()}, [GOOD], out=run, resume=True, **{**OPTIONS, **changed})


def test_a_run_goes_on_with_the_same_data_only(run):
    with pytest.raises(
        ComparisonError,
        match=r"the data set toy is the one whose sha256 begins with .*, in the run in .* it is the one whose",
    ):
        compare({"toy": arrays(seed=1)}, [GOOD], out=run, resume=True, **OPTIONS)


def test_a_run_goes_on_with_the_same_detectors_only(run, tmp_path, monkeypatch):
    (tmp_path / "their_detectors.py").write_text(f"from {BAD} import Good as Base\nclass Good(Base): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        ComparisonError, match=r"the detector Good is their_detectors:Good, in the run in .* it is tests"
    ):
        compare({"toy": arrays()}, ["their_detectors:Good"], out=run, resume=True, **OPTIONS)


def test_a_run_of_another_version_of_the_package_is_not_gone_on_with(run):
    with sqlite3.connect(run / DATABASE) as connection:
        connection.execute("UPDATE meta SET value = ? WHERE key = 'package_version'", [json.dumps("0.0.1")])
    connection.close()
    with pytest.raises(
        ComparisonError, match=r"was made by pyod-gessvdd 0\.0\.1, this is .*; use another out, or force=True"
    ):
        compare({"toy": arrays()}, [GOOD], out=run, resume=True, **OPTIONS)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_jobs": 0}, "the number of jobs must be positive, or -1 for one per core, got 0"),
        ({"timeout": 0}, "timeout must be a positive number of seconds, got 0"),
        ({"timeout": float("nan")}, "timeout must be a positive number of seconds, got nan"),
        ({"contamination": 1.5}, "contamination must be a share between 0 and 1, got 1.5"),
        ({"max_rows": 5}, "max_rows must be 10 or more, or None for all rows, got 5"),
        ({"backend": "threads"}, "backend must be loky, dask, ray, got 'threads'"),
        ({"scheduler": "tcp://a"}, "the scheduler tcp://a is for the backends dask and ray, not for loky"),
        ({"backend": "dask"}, "the backend dask needs the cluster's address; for instance scheduler tcp://127.0.0.1"),
        ({"out": "x", "resume": True, "force": True}, "resume and force exclude each other"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, sentence):
    with pytest.raises(ComparisonError, match=sentence):
        compare({"toy": arrays()}, GOOD, **options)
