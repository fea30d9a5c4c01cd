"""Real processes that are killed, interrupted, and that share a run folder."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import psutil
import pytest

from pyod_gessvdd.compare import ComparisonResult
from pyod_gessvdd.experiments.store import DATABASE
from tests.experiments.toy import BAD

ROOT = Path(__file__).parents[3]
N_JOBS = 24

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are sent, which only POSIX systems have")


def start(folder, *arguments):
    """``gessvdd compare`` in a process of its own: two detectors, one that takes its time, and twelve seeds."""
    detectors = f"{BAD}:Good(pause=0.1),{BAD}:TellsItsSeed"
    command = [sys.executable, "-m", "pyod_gessvdd", "compare", "iris", "-d", detectors, "--seeds", "12", "-v"]
    return subprocess.Popen(
        [*command, "--out", str(folder), *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Tests that run in the background ignore interrupts, and what they start would, too.
        preexec_fn=_mind_interrupts,
    )


def _mind_interrupts():
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def recorded(folder):
    with contextlib.suppress(sqlite3.OperationalError), contextlib.closing(_connection(folder)) as connection:
        return connection.execute("SELECT COUNT(*) FROM jobs").fetchone()[0]
    return 0


def _connection(folder):
    return sqlite3.connect(f"file:{folder / DATABASE}?mode=ro", uri=True, timeout=30)


def wait_for(folder, n_jobs, process):
    while recorded(folder) < n_jobs:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


def test_a_run_that_is_killed_and_interrupted_goes_on_and_repeats_nothing(tmp_path):
    folder = tmp_path / "run"
    first = start(folder, "--jobs", "2")
    wait_for(folder, 3, first)
    helpers = psutil.Process(first.pid).children(recursive=True)
    assert len(helpers) >= 4  # two workers with a child each, and what joblib needs besides
    first.kill()
    # Whoever worked for it notices and ends, too.
    _, alive = psutil.wait_procs(helpers, timeout=100)
    assert alive == []
    first.communicate()
    after_kill = ComparisonResult.load(folder).table
    assert 3 <= len(after_kill) < N_JOBS

    second = start(folder, "--resume")
    wait_for(folder, len(after_kill) + 2, second)
    second.send_signal(signal.SIGINT)
    _, errors = second.communicate()
    assert second.returncode == 130
    assert f"finished jobs are kept; continue with --out {folder} --resume" in errors
    assert "Traceback" not in errors
    after_interrupt = ComparisonResult.load(folder).table

    third = start(folder, "--resume")
    output, errors = third.communicate()
    assert (third.returncode, errors) == (0, "")
    whole = ComparisonResult.load(folder).table
    assert len(whole) == N_JOBS
    assert output.count(f"/{N_JOBS} iris ") == N_JOBS - len(after_interrupt)
    keys = ["dataset", "detector", "setting", "seed"]
    for earlier in (after_kill, after_interrupt):
        same = earlier[keys].merge(whole, on=keys)
        # Times and all: what had been recorded was not run again.
        pd.testing.assert_frame_equal(same, earlier, check_dtype=False)


def test_two_processes_in_the_same_folder_share_the_work(tmp_path):
    folder = tmp_path / "run"
    both = [start(folder, "--resume") for _ in range(2)]
    outputs = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    jobs = [
        line.partition(" ")[2].partition(":")[0]
        for output, _ in outputs
        for line in output.splitlines()
        if f"/{N_JOBS} iris " in line
    ]
    assert len(jobs) == len(set(jobs)) == N_JOBS
    assert len(ComparisonResult.load(folder).table) == N_JOBS
    with contextlib.closing(_connection(folder)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("SELECT COUNT(*) FROM scores").fetchone() == (N_JOBS,)
        assert connection.execute("SELECT COUNT(*) FROM claims").fetchone() == (0,)
