"""The run folder's database."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing

import numpy as np
import psutil
import pytest

from pyod_gessvdd import __version__
from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.result import ComparisonResult
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
    with pytest.raises(ComparisonError, match=r"is not a run folder: it has no results\.sqlite"):
        Store(tmp_path)


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / DATABASE).write_text("this is not a database at all, but long enough to be read")
    with pytest.raises(ComparisonError, match="is damaged or not that of a run: file is not a database; use another"):
        Store(tmp_path)


def test_a_run_of_another_format_is_refused(store):
    store._connection.execute("UPDATE meta SET value = '99' WHERE key = 'schema'")
    with pytest.raises(ComparisonError, match="has the format 99, this version of pyod-gessvdd reads 1; run it again"):
        Store(store.folder)


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ComparisonError, match=r"cannot write to the run folder .*file/run: "):
        Store.create(tmp_path / "file" / "run", {})


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole[:100],
        lambda whole: b"garbage " * 1000,
        lambda whole: whole[:4096] + bytes(len(whole) - 4096),
        lambda whole: bytes(len(whole)),
        lambda whole: whole[:100] + bytes(2000) + whole[2100:],
    ],
    ids=["half", "header only", "garbage", "zeroed pages", "zeroed", "zeroed schema"],
)
def test_a_damaged_database_is_one_sentence_wherever_it_shows(store, damage):
    store.record(done(job("Good")))
    store.close()
    path = store.folder / DATABASE
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    path.write_bytes(damage(path.read_bytes()))

    def read():
        ComparisonResult(store.folder).scores(*job("Good").key)

    def resume():
        with closing(Store.create(store.folder, {"seeds": [1]})) as again:
            again.add([job("Good").dataset], [job("Good").detector])
            again.record(done(job("Good", seed=1)))
            again.table("jobs")

    for use in (read, resume):
        with pytest.raises(ComparisonError) as caught:
            use()
        error = caught.value
        assert "\n" not in str(error)
        assert str(store.folder) in str(error)


def test_damaged_json_and_scores_are_one_sentence(store):
    store.record(done(job("Good")))
    store._connection.execute("UPDATE scores SET scores = x'00'")
    with pytest.raises(ComparisonError, match="is damaged or not that of a run: Error -5 while decompressing"):
        store.scores(job("Good").key)
    store._connection.execute("UPDATE jobs SET warnings = '['")
    with pytest.raises(ComparisonError, match=r"the database in .* is damaged: Expecting value"):
        ComparisonResult(store.folder)


def test_a_full_disk_is_one_sentence_and_what_was_recorded_stays(store):
    store.record(done(job("Good")))
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    long = done(job("Good", seed=1))
    long.row["traceback"] = "x" * 100_000
    with pytest.raises(ComparisonError, match="cannot be read or written: database or disk is full"):
        store.record(long)
    assert store.keys() == {job("Good").key}


def test_messages_of_any_characters_can_be_recorded(store):
    store.record(failure(job("Good"), "failed", "half \ud800 of it", "trace \udfff"))
    names, (row,) = store.table("jobs")
    assert row[names.index("error")] == "half \\ud800 of it"


def test_a_run_in_a_folder_that_cannot_be_written_can_be_read(store, monkeypatch):
    store.record(done(job("Good")))
    store.close()
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    reading = Store(store.folder)
    assert reading.keys() == {job("Good").key}
    with pytest.raises(ComparisonError, match="cannot be read or written: attempt to write a readonly database"):
        reading.record(done(job("Good", seed=1)))
    reading.close()


def test_no_cell_of_the_table_is_a_formula(store, tmp_path):
    work = job("Good")
    store.record(failure(work, "failed", "=cmd|' /C calc'!A0"))
    ComparisonResult(store.folder).to_csv(tmp_path / "results.csv")
    assert ",'=cmd|" in (tmp_path / "results.csv").read_text()
