"""The process in which jobs run, one after the other: it may hang, crash or be killed without harm to the comparison.

It is started by :mod:`pyod_gessvdd.experiments.run.supervisor`, reads jobs from its standard input and writes results
to what was its standard output; what a detector prints goes nowhere.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import queue
import signal
import struct
import sys
import threading
from typing import IO, Any

#: Without a job for this many seconds it ends by itself, so that nothing stays behind on a cluster.
IDLE_SECONDS = 60

#: The environment's name for how many bytes a job may have; empty for as many as there are.
MEMORY_VARIABLE = "PYOD_GESSVDD_JOB_MEMORY"

#: Sent before a job is run: whoever reads it knows that the job was begun.
BEGUN = "begun"

_LENGTH = struct.Struct("<Q")


def send(stream: IO[bytes], message: Any) -> None:
    """Write one message."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(body)) + body)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read one message; EOFError when there will be none."""
    (length,) = _LENGTH.unpack(_exactly(stream, _LENGTH.size))
    return pickle.loads(_exactly(stream, length))


def _exactly(stream: IO[bytes], n_bytes: int) -> bytes:
    body = stream.read(n_bytes)
    if len(body) < n_bytes:
        raise EOFError
    return body


def serve() -> None:
    """Run jobs until there are no more."""
    faulthandler.enable()
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # From here on standard output is nobody's, so that print() cannot get between the messages.
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    from pyod_gessvdd.experiments.run.job import run_job

    _limit_memory(os.environ.get(MEMORY_VARIABLE))
    jobs: queue.Queue[Any] = queue.Queue()
    threading.Thread(target=_listen, args=(requests, jobs), daemon=True).start()
    while True:
        try:
            job = jobs.get(timeout=IDLE_SECONDS)
        except queue.Empty:
            _leave()
        send(answers, BEGUN)
        send(answers, run_job(job))


def _listen(requests: IO[bytes], jobs: queue.Queue[Any]) -> None:
    """Pass jobs on; when the supervisor is gone nobody waits for the result, so stop at once."""
    while True:
        try:
            jobs.put(receive(requests))
        except BaseException:
            _leave()


def _leave() -> None:
    """End, and with it everything that jobs have started and left behind in this process's own group."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(0)


def _limit_memory(n_bytes: str | None) -> None:
    """Let the system refuse more memory than this: a job that asks for it fails, and the machine stays usable."""
    if n_bytes:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (int(n_bytes), int(n_bytes)))
