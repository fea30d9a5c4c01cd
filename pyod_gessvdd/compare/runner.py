"""Jobs handed out through joblib: to processes of this machine, or to an existing Dask or Ray cluster."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace
from typing import Any

import joblib
import numpy as np

from pyod_gessvdd.compare import spool
from pyod_gessvdd.compare.datasets import ArraySource
from pyod_gessvdd.compare.extras import need
from pyod_gessvdd.compare.job import Job, JobResult
from pyod_gessvdd.compare.supervisor import close_child, supervise, supervise_arrays
from pyod_gessvdd.errors import ComparisonError

BACKENDS = ("loky", "dask", "ray")

#: In place of rows that travel beside the job.
ABSENT = ArraySource(np.empty((0, 0)), np.empty(0))


def run_jobs(
    jobs: Iterable[Job],
    *,
    n_jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    timeout: float | None = None,
) -> Generator[JobResult, None, None]:
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
    """
    check_backend(backend, scheduler)
    settings = {"return_as": "generator_unordered", "batch_size": 1}
    with contextlib.ExitStack() as stack:
        stack.callback(spool.clear)
        stack.callback(close_child)
        if backend == "loky":
            # A worker that outlives this process would work for nobody; with one job this process is the worker.
            parent = os.getpid() if joblib.effective_n_jobs(n_jobs) > 1 else None
            parallel = joblib.Parallel(n_jobs, backend="loky", **settings)
            calls: Iterator[Any] = (joblib.delayed(supervise)(spool.spooled(job), timeout, parent) for job in jobs)
        else:
            n_workers = stack.enter_context(_dask(scheduler) if backend == "dask" else _ray(scheduler))
            parallel = joblib.Parallel(n_workers, **settings)
            calls = _with_arrays(jobs, timeout)
        results = parallel(calls)
        stack.callback(results.close)
        yield from results


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


def _with_arrays(jobs: Iterable[Job], timeout: float | None) -> Iterator[Any]:
    """Calls that bring the rows along: a cluster's workers need not see our files.

    Jobs come data set by data set, and all of a data set's refer to the same two arrays: Dask sends those once.
    """
    name, X, y = "", None, None
    for job in jobs:
        if job.dataset.sha256 != name:
            name, (X, y) = job.dataset.sha256, job.dataset.arrays()
        light = replace(job, dataset=replace(job.dataset, source=ABSENT))
        yield joblib.delayed(supervise_arrays)(light, X, y, timeout)


@contextlib.contextmanager
def _dask(scheduler: str | None) -> Iterator[int]:
    distributed = need("distributed", "dask", "the backend dask")
    try:
        client = distributed.Client(scheduler, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise ComparisonError(f"no Dask scheduler answers at {scheduler}: {error}") from error
    with client, client.as_current(), joblib.parallel_config("dask", client=client):
        yield max(len(client.scheduler_info()["workers"]), 1)


@contextlib.contextmanager
def _ray(scheduler: str | None) -> Iterator[Any]:
    ray = need("ray", "ray", "the backend ray")
    from ray.util.joblib import register_ray

    started_here = not ray.is_initialized()
    try:
        if started_here:
            ray.init(address=scheduler, log_to_driver=False)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ComparisonError(f"no Ray cluster answers at {scheduler}: {error}") from error
    register_ray()
    try:
        with joblib.parallel_config("ray"):
            yield int(ray.cluster_resources().get("CPU", 1))
    finally:
        if started_here:
            ray.shutdown()
