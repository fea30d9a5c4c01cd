"""The run folder's database."""

from __future__ import annotations

import json
import sqlite3

import numpy as np
import psutil
import pytest

from pyod_gessvdd import __version__
from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.run.job import JobResult, columns, failure
from pyod_gessvdd.experiments.store import DATABASE, Store
from tests.experiments.toy import job


@pytest.fixture
def store(tmp_path):
    opened = Store.create(tmp_path / "run", {"seeds": [1]})
    work = job("Good")
    opened.add([work.dataset], [work.detector])
    yield opened
    opened.close()


def done(work, scores=(0.25, 0.5, 4.0)):
    result = failure(work, "done", "")
    result.row |= {"error": None, "roc_auc": 1.0, "warnings": ["a: b"]}
    return JobResult(result.row, np.array([0, 0, 1]), np.array(scores))


def test_what_is_recorded_is_there_when_the_folder_is_opened_again(store):
    store.record(done(job("Good")))
    again = Store(store.folder)
    names, (row,) = again.table("jobs")
    assert tuple(names) == columns()
    assert row[names.index("roc_auc")] == 1.0
    assert json.loads(row[names.index("warnings")]) == ["a: b"]
    labels, scores = again.scores(job("Good").key)
    assert labels.tolist() == [0, 0, 1]
    assert scores.tolist() == [0.25, 0.5, 4.0]
    assert again.keys() == {job("Good").key}
    again.close()


def test_the_run_says_where_it_was_made(store):
    meta = store.meta()
    assert (meta["schema"], meta["package_version"], meta["arguments"]) == (1, __version__, {"seeds": [1]})
    assert meta["versions"]["pyod-gessvdd"]
    assert meta["machine"]["cores"] >= 1


def test_a_result_that_is_there_already_stays(store):
    store.record(done(job("Good")))
    store.record(done(job("Good"), scores=(9.0, 9.0, 9.0)))
    assert len(store.table("jobs")[1]) == 1
    assert store.scores(job("Good").key)[1].tolist() == [0.25, 0.5, 4.0]


def test_a_failure_has_no_scores(store):
    store.record(failure(job("Good"), "failed", "a\nb"))
    names, (row,) = store.table("jobs")
    assert row[names.index("error")] == "a b"
    with pytest.raises(ComparisonError, match="has no scores of toy, Good, novelty, 0"):
        store.scores(job("Good").key)


def test_a_job_is_claimed_once_until_its_owner_is_gone(store):
    other = Store(store.folder)
    other._me = ("elsewhere", 1, 0.0)
    assert store.claim(job("Good"))
    assert store.claim(job("Good"))  # its own claim is no obstacle: an earlier call in this process was interrupted
    other._me = (store._me[0], 1, psutil.Process(1).create_time())
    assert not other.claim(job("Good"))
    with sqlite3.connect(store.folder / DATABASE) as connection:
        connection.execute("UPDATE claims SET started = started - 1000")
    connection.close()
    assert other.claim(job("Good"))
    other.close()


def test_a_recorded_job_cannot_be_claimed(store):
    assert store.claim(job("Good"))
    store.record(done(job("Good")))
    assert not store.claim(job("Good"))


def test_jobs_come_in_the_order_of_data_sets_and_detectors_not_of_their_ends(store):
    second = job("Raises")
    store.add([second.dataset], [second.detector])
    for work in (job("Raises"), job("Good", seed=1), job("Good")):
        store.record(failure(work, "failed", ""))
    names, rows = store.table("jobs")
    order = [(row[names.index("seed")], row[names.index("detector")]) for row in rows]
    assert order == [(0, "Good"), (0, "Raises"), (1, "Good")]


def test_a_folder_without_a_database_is_no_run(tmp_path):
    with pytest.raises(ComparisonError, match=r"is no run folder: it has no results\.sqlite"):
        Store(tmp_path)


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / DATABASE).write_text("this is not a database at all, but long enough to be read")
    with pytest.raises(ComparisonError, match="is not the database of a run: file is not a database"):
        Store(tmp_path)


def test_a_run_of_another_format_is_refused(store):
    store._connection.execute("UPDATE meta SET value = '99' WHERE key = 'schema'")
    with pytest.raises(ComparisonError, match="has the format 99, this version of pyod-gessvdd reads 1; run it again"):
        Store(store.folder)


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ComparisonError, match=r"cannot write to the run folder .*file/run: "):
        Store.create(tmp_path / "file" / "run", {})
