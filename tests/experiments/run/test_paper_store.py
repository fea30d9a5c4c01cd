"""The store: nothing is lost, nothing is mixed, nothing is overwritten unasked."""

from __future__ import annotations

import json

import pytest

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.protocols.paper_trial import Outcome, Trial
from pyod_gessvdd.experiments.run.paper_store import FILE_NAME, Store

TRIAL = Trial("heart", "linear", "ESVDD", "disease_absent", 0)
OUTCOME = Outcome(0.5, 0.5, 0.5, 0.5, 0.5, 0.6, {"C": 0.1}, [("C", 0.1, 0.5), ("C", 0.2, float("nan"))], n_fits=9)
PROTOCOL = {"quick": False, "seed": 0}


def test_what_is_added_comes_back(tmp_path):
    store = Store(tmp_path / "run", PROTOCOL)
    store.add(TRIAL, OUTCOME)
    (row,) = store.trials()
    assert (row["status"], row["gmean"], row["n_fits"], json.loads(row["parameters"])) == ("done", 0.5, 9, {"C": 0.1})
    assert {name: row[name] for name in Trial._fields} == TRIAL._asdict()
    assert [(point["value"], point["gmean"]) for point in store.sensitivity()] == [(0.1, 0.5), (0.2, None)]


def test_the_first_starts_facts_are_kept(tmp_path):
    Store(tmp_path, PROTOCOL, {"machine": "one"})
    meta = Store(tmp_path, PROTOCOL, {"machine": "two"}, resume=True).meta()
    assert {**meta, "created": ""} == {"schema": 1, **PROTOCOL, "machine": "one", "created": ""}
    assert meta["created"].startswith("20")


def test_finished_trials_are_known_after_opening_again(tmp_path):
    Store(tmp_path, PROTOCOL).add(TRIAL, OUTCOME)
    again = Store(tmp_path, PROTOCOL, resume=True)
    assert again.finished() == {TRIAL}


def test_a_failure_is_a_result_with_its_traceback(tmp_path):
    store = Store(tmp_path, PROTOCOL)
    store.add_failure(TRIAL, "ValueError: no", "Traceback …")
    (row,) = store.trials()
    assert (row["status"], row["error"], row["traceback"]) == ("failed", "ValueError: no", "Traceback …")
    assert row["gmean"] is None
    assert store.finished() == {TRIAL}


@pytest.mark.parametrize("name", [FILE_NAME, "report.md", "results.csv"])
def test_results_are_not_overwritten_unasked(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(ComparisonError, match="holds results already; --resume goes on with them, --force starts anew"):
        Store(tmp_path, PROTOCOL)


def test_force_starts_anew(tmp_path):
    Store(tmp_path, PROTOCOL).add(TRIAL, OUTCOME)
    store = Store(tmp_path, {**PROTOCOL, "seed": 1}, force=True)
    assert (store.finished(), store.sensitivity(), store.meta()["seed"]) == (set(), [], 1)


def test_results_of_another_protocol_are_not_mixed(tmp_path):
    Store(tmp_path, PROTOCOL)
    with pytest.raises(ComparisonError, match="holds results with quick False, and this run has True; choose another"):
        Store(tmp_path, {**PROTOCOL, "quick": True}, resume=True)


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ComparisonError, match=r"cannot keep results in the folder .*file"):
        Store(tmp_path / "file", PROTOCOL)


def test_a_file_that_is_no_database_is_an_error(tmp_path):
    (tmp_path / FILE_NAME).write_bytes(b"no database, but long enough to be taken for one " * 40)
    with pytest.raises(ComparisonError, match=r"cannot keep results in the folder .*: file is not a database"):
        Store(tmp_path, PROTOCOL, resume=True)


def test_two_processes_can_add_to_one_run(tmp_path):
    one, other = Store(tmp_path, PROTOCOL), Store(tmp_path, PROTOCOL, resume=True)
    one.add(TRIAL, OUTCOME)
    other.add(TRIAL._replace(split=1), OUTCOME)
    assert one.finished() == other.finished() == {TRIAL, TRIAL._replace(split=1)}
