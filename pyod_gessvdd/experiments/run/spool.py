"""Arrays that were passed, in files of this process's own, from where its children map them into memory."""

from __future__ import annotations

import os
import tempfile
import threading
from dataclasses import replace

from pyod_gessvdd.experiments.data.datasets import ArraySource, SpooledSource
from pyod_gessvdd.experiments.run.job import Job

_lock = threading.Lock()
_folder: tempfile.TemporaryDirectory[str] | None = None
_written: dict[str, SpooledSource] = {}


def spooled(job: Job) -> Job:
    """The job with its arrays in files, written once per process and data set; a job without arrays as it is."""
    global _folder
    source = job.dataset.source
    if not isinstance(source, ArraySource):
        return job
    name = job.dataset.sha256
    with _lock:
        if _folder is None or not os.path.isdir(_folder.name):
            _folder = tempfile.TemporaryDirectory(prefix="gessvdd-")
            _written.clear()
        if name not in _written:
            _written[name] = SpooledSource.write(_folder.name, name, source.X, source.y)
    return replace(job, dataset=replace(job.dataset, source=_written[name]))


def clear() -> None:
    """Remove the files."""
    global _folder
    with _lock:
        if _folder is not None:
            _folder.cleanup()
            _folder = None
        _written.clear()
