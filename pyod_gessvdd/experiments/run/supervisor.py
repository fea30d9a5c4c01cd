"""Whoever runs jobs (this process, a joblib worker, a cluster's worker) does so through a child process of its own.

The child stays for the next job. One that passes the time limit is killed, whatever it is doing, and one that dies
takes only its job along: both become results like any other.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from dataclasses import replace
from typing import Any

import numpy as np

from pyod_gessvdd.experiments.data.datasets import ArraySource
from pyod_gessvdd.experiments.run.job import Job, JobResult, failure
from pyod_gessvdd.experiments.run.sandbox import BEGUN, MEMORY_VARIABLE, receive, send
from pyod_gessvdd.experiments.run.spool import spooled
from pyod_gessvdd.extras import need

#: One thread each: as many jobs as cores, and times that can be compared.
ONE_THREAD = {
    f"{library}_NUM_THREADS": "1"
    for library in ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR", "NUMBA")
}

#: How often a worker looks whether the process that it works for is still there (seconds).
LOOK_AROUND = 1.0

#: How long a child that has closed its end may take to be gone (seconds).
GRACE = 10.0

#: The environment's name for whose a process is.
MARK_VARIABLE = "PYOD_GESSVDD_CHILD"

#: How much of what a child wrote before it died is kept (bytes).
LAST_WORDS = 20_000

#: How many times a child that ended before it began the job is replaced.
ATTEMPTS = 3

_START = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from pyod_gessvdd.experiments.run.sandbox import serve; serve()"
)


class Child:
    """A process that runs jobs one after the other."""

    def __init__(self, memory: int | None = None) -> None:
        self.memory = memory
        self._mark = uuid.uuid4().hex
        # What it writes here before it dies is all that is known about why.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, json.dumps([os.path.abspath(entry) for entry in sys.path])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, **ONE_THREAD, MEMORY_VARIABLE: str(memory or ""), MARK_VARIABLE: self._mark},
            # Ctrl-C is for the process that started all this; it will close the child. What the child starts is in its
            # group, and ends with it.
            start_new_session=True,
        )
        self._answers: queue.Queue[Any] = queue.Queue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(Exception):
            while True:
                self._answers.put(receive(self._process.stdout))
        self._answers.put(None)

    def ask(self, job: Job) -> None:
        """Hand over a job; a child that is gone will show by its answer."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            send(self._process.stdin, job)

    def answer(self, timeout: float | None) -> Any:
        """The next message, None if the child is gone; queue.Empty when the time is over."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            wait = LOOK_AROUND if end is None else max(0.0, min(LOOK_AROUND, end - time.monotonic()))
            try:
                return self._answers.get(timeout=wait)
            except queue.Empty:
                if self._process.poll() is not None:
                    # Its end of the pipe may be held by what it has started: no end of file will come.
                    with contextlib.suppress(queue.Empty):
                        return self._answers.get(timeout=LOOK_AROUND)
                    return None
                if end is not None and time.monotonic() >= end:
                    raise

    def close(self, grace: float = 0.0) -> tuple[int, str]:
        """End it, whatever it is doing; its exit code and its last words.

        Parameters
        ----------
        grace : float
            Seconds for a child that is dying by itself, so that the exit code is its own.
        """
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=grace)
        _kill_all(self._process, self._mark)
        code = self._process.wait()
        # A listener that still reads holds its stream, and closing that would wait for it.
        self._listener.join(LOOK_AROUND)
        streams = [self._process.stdin, *([] if self._listener.is_alive() else [self._process.stdout])]
        for stream in streams:
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - LAST_WORDS))
        words = self._errors.read(LAST_WORDS).decode(errors="replace")
        self._errors.close()
        return code, words


def _kill_all(process: subprocess.Popen[bytes], mark: str) -> None:
    """The process and all that it has started: its group, and what has left the group and bears its mark.

    Parameters
    ----------
    process : Popen
        The child.
    mark : str
        What its environment, and that of all that it has started, holds.
    """
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    psutil = need("psutil", "compare", "a comparison")
    for one in psutil.process_iter():
        # Others' processes do not show their environment.
        with contextlib.suppress(psutil.Error, OSError):
            if one.environ().get(MARK_VARIABLE) == mark:
                one.kill()


class _Mine(threading.local):
    """Each thread that runs jobs has its own child: a cluster's worker may have several threads."""

    child: Child | None = None


_mine = _Mine()
_children: set[Child] = set()


def supervise(
    job: Job, timeout: float | None = None, parent: int | None = None, memory: int | None = None
) -> JobResult:
    """Run a job in this thread's child process.

    Parameters
    ----------
    job : Job
        The job.
    timeout : float, optional
        Seconds after which the child is killed and the job's status is "timeout".
    parent : int, optional
        The process without which nobody wants the result; when it is gone so is this one.
    memory : int, optional
        Bytes that the child may have.
    """
    if parent is not None:
        _follow(parent)
    for _ in range(ATTEMPTS):
        child = _child(memory)
        child.ask(job)
        if child.answer(None) == BEGUN:
            break
        code, words = close_child(grace=GRACE)
    else:
        return failure(job, "failed", f"the job's process could not be started (exit code {code})", words)
    try:
        result = child.answer(timeout)
    except queue.Empty:
        close_child()
        return failure(job, "timeout", f"stopped after {timeout:g} seconds")
    except BaseException:
        close_child()
        raise
    if result is None:
        code, words = close_child(grace=GRACE)
        return failure(job, "failed", f"the job's process died {_how(code)}", words)
    return result


def supervise_arrays(
    job: Job, X: np.ndarray, y: np.ndarray, timeout: float | None = None, memory: int | None = None
) -> JobResult:
    """The same for a job whose rows come along, because the worker that runs it may not see our files."""
    whole = spooled(replace(job, dataset=replace(job.dataset, source=ArraySource(X, y))))
    return supervise(whole, timeout, memory=memory)


def close_child(grace: float = 0.0) -> tuple[int, str]:
    """End this thread's child, if it has one; its exit code and its last words."""
    child, _mine.child = _mine.child, None
    if child is None:
        return 0, ""
    _children.discard(child)
    return child.close(grace)


def _child(memory: int | None = None) -> Child:
    if _mine.child is not None and _mine.child.memory != memory:
        close_child()
    if _mine.child is None:
        _mine.child = Child(memory)
        _children.add(_mine.child)
    return _mine.child


@atexit.register
def _close_all() -> None:
    while _children:
        _children.pop().close()


_watched: set[int] = set()


def _follow(parent: int) -> None:
    """End this process when its parent is gone: a killed parent cannot say so, and joblib's workers would linger."""
    if parent in _watched:
        return
    _watched.add(parent)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK_AROUND)
        # The children notice that nobody asks them any more, and end as well.
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _how(code: int) -> str:
    """In words: by which signal, or with which exit code."""
    with contextlib.suppress(ValueError):
        return f"by {signal.Signals(-code).name}" + (" (out of memory?)" if code == -9 else "")
    return f"with exit code {code}"
