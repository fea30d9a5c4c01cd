"""Jobs handed out: through joblib to processes of this machine or to a Dask cluster, or to a Ray cluster."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any

import joblib
import numpy as np

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.data.datasets import ArraySource
from pyod_gessvdd.experiments.run import spool
from pyod_gessvdd.experiments.run.job import Job, JobResult
from pyod_gessvdd.experiments.run.supervisor import close_child, supervise, supervise_arrays
from pyod_gessvdd.extras import need

BACKENDS = ("loky", "dask", "ray")

#: One job at a time, and its result as soon as it is there.
AS_THEY_COME = {"return_as": "generator_unordered", "batch_size": 1}

Results = Generator[JobResult, None, None]

#: In place of rows that travel with the job.
ABSENT = ArraySource(np.empty((0, 0)), np.empty(0))


def run_jobs(
    jobs: Iterable[Job],
    *,
    n_jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    timeout: float | None = None,
    memory: int | None = None,
) -> Results:
    """The results, in the order in which the jobs end.

    Parameters
    ----------
    jobs : iterable of Job
        It is asked for the next job when a worker is about to be free.
    n_jobs : int, default=1
        How many run at the same time on this machine; -1 is one per core. A cluster runs as many as it has workers.
    backend : {"loky", "dask", "ray"}
        Processes of this machine, or a cluster.
    scheduler : str, optional
        The cluster's address.
    timeout : float, optional
        Seconds after which a job is killed.
    memory : int, optional
        Bytes that a job's process may have.
    """
    check_backend(backend, scheduler)
    with contextlib.ExitStack() as stack:
        stack.callback(spool.clear)
        stack.callback(close_child)
        if backend == "loky":
            results = _on_this_machine(jobs, n_jobs, timeout, memory)
        elif backend == "dask":
            results = _on_dask(jobs, stack.enter_context(_dask(scheduler)), timeout, memory)
        else:
            results = _on_ray(jobs, stack.enter_context(_ray(scheduler)), timeout, memory)
        stack.callback(results.close)
        yield from results if backend == "loky" else _told(results, backend, scheduler)


def _told(results: Results, backend: str, scheduler: str | None) -> Results:
    """The results of a cluster; that it is gone, or its workers are, is one sentence."""
    try:
        yield from results
    except (GeneratorExit, ComparisonError):
        raise
    except Exception as error:  # a cluster's library has exceptions of its own for every way to be gone
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ComparisonError(
            f"the {backend} cluster at {scheduler} has failed ({reason[:300]}); finished jobs are kept; "
            "continue with --resume"
        ) from error


def check_backend(backend: str, scheduler: str | None) -> None:
    """See that the backend exists, is installed, and has an address if it needs one."""
    if backend not in BACKENDS:
        raise ComparisonError(f"backend must be {', '.join(BACKENDS)}, got {backend!r}")
    if backend == "loky" and scheduler is not None:
        raise ComparisonError(f"the scheduler {scheduler} is for the backends dask and ray, not for loky")
    if backend == "dask":
        need("distributed", "dask", "the backend dask")
    if backend == "ray":
        need("ray", "ray", "the backend ray")
    if backend != "loky" and scheduler is None:
        example = "tcp://127.0.0.1:8786" if backend == "dask" else "auto"
        raise ComparisonError(f"the backend {backend} needs the cluster's address; for instance --scheduler {example}")


def _on_this_machine(jobs: Iterable[Job], n_jobs: int, timeout: float | None, memory: int | None) -> Results:
    # A worker that outlives this process would work for nobody; with one job this process is the worker.
    parent = os.getpid() if joblib.effective_n_jobs(n_jobs) > 1 else None
    parallel = joblib.Parallel(n_jobs, backend="loky", **AS_THEY_COME)
    bundles = ([spool.spooled(job) for job in bundle] for bundle in _bundles(jobs))
    done: Generator[list[JobResult], None, None] = parallel(
        joblib.delayed(_supervise_all)(bundle, timeout, parent, memory) for bundle in bundles
    )
    with contextlib.closing(done):
        for results in done:
            yield from results


def _bundles(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    """Jobs that follow each other and share work, together; all others alone."""
    for key, shared in groupby(jobs, key=lambda job: (job.dataset.name, job.seed, job.detector.bundle)):
        if key[-1] is None:
            yield from ([job] for job in shared)
        else:
            yield list(shared)


def _supervise_all(jobs: list[Job], timeout: float | None, parent: int | None, memory: int | None) -> list[JobResult]:
    return [supervise(job, timeout, parent, memory) for job in jobs]


def _on_dask(jobs: Iterable[Job], n_workers: int, timeout: float | None, memory: int | None) -> Results:
    # Dask sends an array that it has seen only once.
    calls = (joblib.delayed(supervise_arrays)(job, X, y, timeout, memory) for job, X, y in _with_arrays(jobs))
    results: Results = joblib.Parallel(n_workers, **AS_THEY_COME)(calls)
    return results


def _on_ray(jobs: Iterable[Job], ray: Any, timeout: float | None, memory: int | None) -> Results:
    # Ray's backend for joblib gives all results at the end, so that a run that is killed would lose them: Ray is asked
    # directly, for as many jobs as keep its processors busy.
    run = ray.remote(supervise_arrays)
    at_once = 2 * max(int(ray.cluster_resources().get("CPU", 1)), 1)
    pending: list[Any] = []
    stored: tuple[Any, ...] = ()
    last = None
    for job, X, y in _with_arrays(jobs):
        if job.dataset.sha256 != last:
            last, stored = job.dataset.sha256, (ray.put(X), ray.put(y))
        pending.append(run.remote(job, *stored, timeout, memory))
        if len(pending) >= at_once:
            (ready,), pending = ray.wait(pending, num_returns=1)
            yield ray.get(ready)
    while pending:
        (ready,), pending = ray.wait(pending, num_returns=1)
        yield ray.get(ready)


def _with_arrays(jobs: Iterable[Job]) -> Iterator[tuple[Job, np.ndarray, np.ndarray]]:
    """Each job with its rows, which a cluster's workers need not find in a file.

    Jobs come data set by data set, and all of a data set's get the same two arrays.
    """
    last, rows = None, (ABSENT.X, ABSENT.y)
    for job in jobs:
        if job.dataset.sha256 != last:
            last, rows = job.dataset.sha256, job.dataset.arrays()
        yield replace(job, dataset=replace(job.dataset, source=ABSENT)), *rows


@contextlib.contextmanager
def _dask(scheduler: str | None) -> Iterator[int]:
    """A connection to the cluster, as joblib's backend; the number of workers."""
    distributed = need("distributed", "dask", "the backend dask")
    try:
        client = distributed.Client(scheduler, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise ComparisonError(f"no Dask scheduler answers at {scheduler}: {error}") from error
    with client, client.as_current(), joblib.parallel_config("dask", client=client):
        yield max(len(client.scheduler_info()["workers"]), 1)


@contextlib.contextmanager
def _ray(scheduler: str | None) -> Iterator[Any]:
    """The module, connected to the cluster; a connection that was there stays."""
    ray = need("ray", "ray", "the backend ray")
    if ray.is_initialized():
        yield ray
        return
    try:
        ray.init(address=scheduler, log_to_driver=False)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ComparisonError(f"no Ray cluster answers at {scheduler}: {error}") from error
    try:
        yield ray
    finally:
        ray.shutdown()
