"""An experiment: jobs run in a run folder, from which a run that was stopped continues."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyod_gessvdd import __version__
from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.data.datasets import Dataset
from pyod_gessvdd.experiments.detectors.specs import Detector
from pyod_gessvdd.experiments.run.job import Job, JobResult
from pyod_gessvdd.experiments.run.runner import check_backend, run_jobs
from pyod_gessvdd.experiments.store import DATABASE, FILES, Store

#: Less than the interpreter and NumPy need themselves.
LEAST_MEMORY = 100 * 2**20


@dataclass(frozen=True)
class Progress:
    """How far an experiment is: jobs done of all, and the job that has just ended (None at the start)."""

    done: int
    total: int
    result: JobResult | None = None


def parse_memory(value: int | str) -> int:
    """Bytes from a number of them, or from text such as "4G", "500 MB" or "2GiB"; at least 100 MB.

    Parameters
    ----------
    value : int or str
        What the user gave.
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", str(value), flags=re.IGNORECASE)
    n_bytes = int(float(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " ")) if found else 0
    if n_bytes < LEAST_MEMORY:
        raise ComparisonError(f"memory must be at least 100M, such as 500M or 4G, got {value!r}")
    return n_bytes


def _can_limit_memory() -> bool:
    try:
        import resource
    except ImportError:
        return False
    return hasattr(resource, "RLIMIT_AS")


@dataclass(frozen=True)
class How:
    """How jobs are run; see :func:`~pyod_gessvdd.compare.compare` for each."""

    jobs: int = 1
    backend: str = "loky"
    scheduler: str | None = None
    timeout: float | None = None
    resume: bool = False
    force: bool = False
    progress: Callable[[Progress], None] | None = None
    memory: int | str | None = None

    @property
    def memory_bytes(self) -> int | None:
        """What a job may have, in bytes."""
        return None if self.memory is None else parse_memory(self.memory)

    def check(self) -> None:
        """See, before anything is loaded, that this can be done."""
        if not isinstance(self.jobs, int) or (self.jobs < 1 and self.jobs != -1):
            raise ComparisonError(f"the number of jobs must be positive, or -1 for one per core, got {self.jobs!r}")
        if self.timeout is not None and not (self.timeout > 0 and math.isfinite(self.timeout)):
            raise ComparisonError(f"timeout must be a positive number of seconds, got {self.timeout!r}")
        if self.memory_bytes is not None and not _can_limit_memory():
            raise ComparisonError("memory can only be limited where the system has RLIMIT_AS, as Linux has")
        if self.resume and self.force:
            raise ComparisonError("resume and force exclude each other: one continues the run, the other replaces it")
        check_backend(self.backend, self.scheduler)

    def check_folder(self, folder: Path) -> None:
        """See, before anything is loaded, that the folder can be used as asked."""
        if folder.exists() and not folder.is_dir():
            raise ComparisonError(f"the run folder {folder} is a file; choose another --out")
        if (folder / DATABASE).exists():
            if not self.resume and not self.force:
                raise ComparisonError(
                    f"{folder} already holds a run; continue it with --resume or replace it with --force"
                )
        elif folder.is_dir() and any(folder.iterdir()) and not self.force:
            raise ComparisonError(
                f"the folder {folder} is not empty and holds no run; choose another --out, or use --force"
            )


def run_experiment(folder: Path, jobs: Sequence[Job], arguments: Mapping[str, Any], how: How) -> None:
    """Run the jobs that the folder does not hold yet; each is written when it ends.

    Parameters
    ----------
    folder : Path
        The run folder.
    jobs : sequence of Job
        All jobs, those that share a split one after the other.
    arguments : mapping
        What all jobs of the folder have in common; a run with others is not continued.
    how : How
        How they are run.
    """
    datasets = list({job.dataset.name: job.dataset for job in jobs}.values())
    detectors = list({job.detector.name: job.detector for job in jobs}.values())
    with closing(_open(folder, arguments, datasets, detectors, how)) as store:
        recorded = store.keys()
        missing = [job for job in jobs if job.key not in recorded]
        done, report = len(jobs) - len(missing), how.progress or (lambda _: None)
        report(Progress(done, len(jobs)))
        # Another process may be at work in the same folder: a job is claimed when its turn comes.
        claimed = (job for job in missing if store.claim(job))
        results = run_jobs(
            claimed,
            n_jobs=how.jobs,
            backend=how.backend,
            scheduler=how.scheduler,
            timeout=how.timeout,
            memory=how.memory_bytes,
        )
        with closing(results):
            for result in results:
                store.record(result)
                done += 1
                report(Progress(done, len(jobs), result))


def _open(
    folder: Path, arguments: Mapping[str, Any], datasets: list[Dataset], detectors: list[Detector], how: How
) -> Store:
    if how.force:
        for name in FILES:
            (folder / name).unlink(missing_ok=True)
    store = Store.create(folder, arguments)
    try:
        if how.resume:
            _check_same_run(store, arguments, datasets, detectors)
        store.add(datasets, detectors)
    except BaseException:
        store.close()
        raise
    return store


def _check_same_run(
    store: Store, arguments: Mapping[str, Any], datasets: list[Dataset], detectors: list[Detector]
) -> None:
    """Refuse to mix figures that cannot be compared."""
    meta = store.meta()
    if meta["package_version"] != __version__:
        raise ComparisonError(
            f"the run in {store.folder} was made by pyod-gessvdd {meta['package_version']}, this is {__version__}; "
            "use another --out, or --force to replace it"
        )
    for name, value in json.loads(json.dumps(dict(arguments))).items():
        # What an earlier version did not know was left at its default.
        if meta["arguments"].get(name) != value:
            raise ComparisonError(
                f"the run in {store.folder} has {name} {meta['arguments'].get(name)}, now it is {value}; "
                "continue with the same value, or use another --out"
            )
    for what, theirs, ours, shown in (
        ("data set", _column(store, "datasets", "sha256"), {each.name: each.sha256 for each in datasets}, _short),
        ("detector", _column(store, "detectors", "class"), {each.name: each.path for each in detectors}, str),
    ):
        for name, value in ours.items():
            if theirs.get(name, value) != value:
                raise ComparisonError(
                    f"the {what} {name} is {shown(value)}, in the run in {store.folder} it is {shown(theirs[name])}; "
                    "use another --out"
                )


def _column(store: Store, table: str, column: str) -> dict[str, Any]:
    columns, rows = store.table(table)
    return {row[columns.index("name")]: row[columns.index(column)] for row in rows}


def _short(sha256: str) -> str:
    return f"the one whose sha256 begins with {sha256[:12]}"
