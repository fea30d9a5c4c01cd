"""Jobs in child processes, which may hang, die, print and be replaced."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace

import numpy as np
import psutil
import pytest

from pyod_gessvdd.experiments.detectors.specs import resolve_detectors
from pyod_gessvdd.experiments.run import supervisor
from pyod_gessvdd.experiments.run.job import LONGEST_TRACEBACK, run_job
from pyod_gessvdd.experiments.run.spool import clear, spooled
from tests.experiments.toy import job


@pytest.fixture(scope="module", autouse=True)
def end_child():
    yield
    supervisor.close_child()
    clear()


def supervise(spec, **options):
    return supervisor.supervise(spooled(job(spec)), **options)


def test_a_child_gives_the_same_answer_and_stays_for_the_next_job(capfd):
    here = run_job(job("iforest"))
    there = supervise("iforest")
    pid = supervisor._mine.child._process.pid
    assert np.array_equal(here.scores, there.scores)
    assert pid != os.getpid()
    supervise("Prints")
    assert supervisor._mine.child._process.pid == pid
    assert capfd.readouterr() == ("", "")


def test_a_child_has_one_thread_for_linear_algebra_and_does_not_hear_ctrl_c():
    supervise("Good")
    child = psutil.Process(supervisor._mine.child._process.pid)
    assert child.environ()["OPENBLAS_NUM_THREADS"] == child.environ()["OMP_NUM_THREADS"] == "1"
    assert os.getsid(child.pid) != os.getsid(os.getpid())


def test_a_job_that_hangs_in_compiled_code_is_stopped_and_the_next_one_runs():
    result = supervise("HangsInC", timeout=1.0)
    assert (result.row["status"], result.row["error"]) == ("timeout", "stopped after 1 seconds")
    assert result.row["roc_auc"] is None
    assert supervise("Good").row["status"] == "done"


def test_a_job_that_kills_its_process_is_a_failure_with_its_last_words():
    result = supervise("Dies")
    assert (result.row["status"], result.row["error"]) == ("failed", "the job's process died by SIGABRT")
    assert "in fit" in result.row["traceback"]


def test_a_child_that_ended_between_two_jobs_is_replaced():
    supervise("Good")
    psutil.Process(supervisor._mine.child._process.pid).kill()
    assert supervise("Good").row["status"] == "done"


def test_a_child_that_cannot_start_is_a_failure_that_says_why(monkeypatch):
    supervisor.close_child()
    monkeypatch.setattr(supervisor, "_START", "raise ImportError('no such thing')")
    result = supervise("Good")
    assert (result.row["status"], result.row["error"]) == (
        "failed",
        "the job's process could not be started (exit code 1)",
    )
    assert "ImportError: no such thing" in result.row["traceback"]


@pytest.mark.parametrize(
    ("code", "words"), [(-9, "by SIGKILL (out of memory?)"), (-11, "by SIGSEGV"), (3, "with exit code 3")]
)
def test_the_end_of_a_process_is_told_in_words(code, words):
    assert supervisor._how(code) == words


def test_the_last_words_are_the_last_ones():
    result = supervise("WritesAndDies")
    assert result.row["error"] == "the job's process died with exit code 5"
    assert result.row["traceback"].endswith("the end")
    assert len(result.row["traceback"]) <= LONGEST_TRACEBACK + 10


def ends(pid):
    """Whether a process is gone, or dead and not yet taken note of; a killed one may take a moment."""
    for _ in range(200):
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked, which only POSIX systems can")
@pytest.mark.parametrize("then", ["sleep", "exit"])
def test_what_a_job_has_started_ends_with_it_and_its_pipes_are_not_waited_for(then, tmp_path):
    mark = tmp_path / "pid"
    spec = f"tests.experiments.bad_detectors:LeavesChildren(then={then!r}, mark={str(mark)!r})"
    jobs = replace(job("Good"), detector=resolve_detectors(spec)[0])
    result = supervisor.supervise(spooled(jobs), timeout=60 if then == "exit" else 5)
    if then == "exit":
        assert result.row["error"] == "the job's process died with exit code 7"
    else:
        assert result.row["status"] == "timeout"
    for place in ("in its group", "in a group of its own"):
        pid = int((tmp_path / f"pid-{int(place != 'in its group')}").read_text())
        assert ends(pid), place
    assert supervise("Good").row["status"] == "done"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux limits a process's memory")
def test_a_job_that_asks_for_too_much_memory_fails_and_the_next_one_runs():
    result = supervise("AsksForTooMuch", memory=2 * 2**30)
    assert result.row["status"] == "failed"
    assert "MemoryError" in result.row["error"]
    assert supervise("Good", memory=2 * 2**30).row["status"] == "done"
    assert supervise("Good").row["status"] == "done"
