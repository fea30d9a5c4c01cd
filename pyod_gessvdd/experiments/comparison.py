"""``compare``: data sets × detectors × settings × seeds, run, stored and read back."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyod_gessvdd import __version__
from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.data.datasets import BUNDLED, Dataset, resolve_datasets
from pyod_gessvdd.experiments.detectors.catalogue import DEFAULT
from pyod_gessvdd.experiments.detectors.specs import Detector, resolve_detectors
from pyod_gessvdd.experiments.metrics import METRICS, check_metrics
from pyod_gessvdd.experiments.protocols.settings import DEFAULT_MAX_ROWS, seeds_of, settings_of
from pyod_gessvdd.experiments.result import ComparisonResult
from pyod_gessvdd.experiments.run.job import Job, JobResult
from pyod_gessvdd.experiments.run.runner import check_backend, run_jobs
from pyod_gessvdd.experiments.store import DATABASE, FILES, Store
from pyod_gessvdd.extras import need


@dataclass(frozen=True)
class Progress:
    """How far a comparison is: jobs done of all, and the job that has just ended (None at the start)."""

    done: int
    total: int
    result: JobResult | None = None


def compare(
    datasets: Any = tuple(BUNDLED),
    detectors: str | Iterable[str] = DEFAULT,
    *,
    setting: str = "novelty",
    seeds: int | Iterable[int] = 5,
    metrics: Iterable[str] = METRICS,
    jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    timeout: float | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    force: bool = False,
    max_rows: int | None = DEFAULT_MAX_ROWS,
    label: str | None = None,
    normal: str | None = None,
    tables: Mapping[str, Any] | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> ComparisonResult:
    """Compare detectors on data sets.

    Every (data set, detector, setting, seed) is a job; what a job finds, or how it failed, is written to the run folder
    as soon as it ends.

    Parameters
    ----------
    datasets : str, path, sequence of them, or mapping of name → (X, y)
        Names of bundled sets (``"wine"``, ``"digits:3"``), files, folders, ``"adbench"``, ``"odds"``, ``"paper"``; or
        arrays, with y 0 (normal) or 1 (outlier).
    detectors : str or sequence of str
        ``"knn"``, ``"iforest(n_estimators=200)"``, ``"gessvdd:kNN-GR-min"``, ``"package.module:Class(k=1)"``, or a
        group: ``"fast"``, ``"all-pyod"``, ``"family"``, ``"variants"``.
    setting : {"novelty", "unsupervised", "both"}, default="novelty"
        Train on normal rows alone, or on contaminated rows as ADBench does.
    seeds : int or list of int, default=5
        A number of seeds (novelty counts from 0, unsupervised from 1 as ADBench does), or the seeds.
    metrics : sequence of str
        Some of roc_auc, average_precision, precision_at_n, gmean; the others stay empty.
    jobs : int, default=1
        How many jobs run at the same time on this machine; -1 is one per core.
    backend : {"loky", "dask", "ray"}, default="loky"
        Processes of this machine, or the cluster at ``scheduler``.
    scheduler : str, optional
        The address of a Dask or Ray cluster.
    timeout : float, optional
        Seconds after which a job is killed and recorded as a timeout.
    out : path-like, optional
        The run folder; without it the run is kept as long as the result is.
    resume : bool, default=False
        Go on with the run in ``out``: what it holds is not run again. The data, the setting, the seeds, the metrics and
        ``max_rows`` must be the same; data sets and detectors may be added.
    force : bool, default=False
        Replace the run in ``out``.
    max_rows : int or None, default=10_000
        Larger sets are subsampled to so many rows; unsupervised runs never have more than ADBench's 10,000.
    label, normal : str, optional
        The label column of files, and the label of the normal rows in them.
    tables : mapping, optional
        How files are read beyond that: ``drop``, ``keep``, ``encode``, ``missing``, ``sep``, ``decimal``, ``header``.
    data_dir : path-like, optional
        The folder with ``adbench/``, ``odds/`` and ``paper/``; by default the environment's ``PYOD_GESSVDD_DATA``.
    progress : callable, optional
        Called with a :class:`Progress` at the start and after every job.

    Returns
    -------
    ComparisonResult
        The table of all jobs, and what can be made of it.

    Examples
    --------
    >>> from pyod_gessvdd.compare import compare
    >>> result = compare("wine", "knn, hbos", seeds=1)
    >>> result.table[["dataset", "detector", "status"]].values.tolist()
    [['wine', 'KNN', 'done'], ['wine', 'HBOS', 'done']]
    """
    need("pandas", "compare", "a comparison's table")
    _check_numbers(jobs, timeout, max_rows)
    check_backend(backend, scheduler)
    arguments = {
        "setting": settings_of(setting),
        "seeds": {name: seeds_of(seeds, name) for name in settings_of(setting)},
        "metrics": check_metrics(metrics),
        "max_rows": max_rows,
    }
    if out is not None:
        _check_folder(Path(out), resume, force)
    wanted = resolve_detectors(detectors)
    found = resolve_datasets(datasets, label=label, normal=normal, tables=tables, data_dir=data_dir)
    temporary = tempfile.TemporaryDirectory(prefix="gessvdd-") if out is None else None
    folder = Path(temporary.name if temporary else os.fspath(out or ""))
    with closing(_open(folder, arguments, found, wanted, resume, force)) as store:
        _run(store, _jobs(arguments, found, wanted), progress, jobs, backend, scheduler, timeout)
    result = ComparisonResult(folder)
    result._temporary = temporary
    return result


def _run(
    store: Store,
    jobs: list[Job],
    progress: Callable[[Progress], None] | None,
    n_jobs: int,
    backend: str,
    scheduler: str | None,
    timeout: float | None,
) -> None:
    recorded = store.keys()
    missing = [job for job in jobs if job.key not in recorded]
    done, report = len(jobs) - len(missing), progress or (lambda _: None)
    report(Progress(done, len(jobs)))
    # Another process may be at work in the same folder: a job is claimed when its turn comes.
    claimed = (job for job in missing if store.claim(job))
    results = run_jobs(claimed, n_jobs=n_jobs, backend=backend, scheduler=scheduler, timeout=timeout)
    with closing(results):
        for result in results:
            store.record(result)
            done += 1
            report(Progress(done, len(jobs), result))


def _jobs(arguments: Mapping[str, Any], datasets: list[Dataset], detectors: list[Detector]) -> list[Job]:
    """All jobs, those that share a split one after the other."""
    return [
        Job(dataset, detector, setting, seed, arguments["metrics"], arguments["max_rows"])
        for dataset in datasets
        for setting in arguments["setting"]
        for seed in arguments["seeds"][setting]
        for detector in detectors
    ]


def _check_numbers(jobs: int, timeout: float | None, max_rows: int | None) -> None:
    if not isinstance(jobs, int) or (jobs < 1 and jobs != -1):
        raise ComparisonError(f"jobs must be a positive number, or -1 for one per core, got {jobs!r}")
    if timeout is not None and not (timeout > 0 and math.isfinite(timeout)):
        raise ComparisonError(f"timeout must be a positive number of seconds, got {timeout!r}")
    if max_rows is not None and max_rows < 10:
        raise ComparisonError(f"max_rows must be 10 or more, or None for all rows, got {max_rows!r}")


def _check_folder(folder: Path, resume: bool, force: bool) -> None:
    """See, before anything is loaded, that the folder can be used as asked."""
    if resume and force:
        raise ComparisonError("resume and force exclude each other: one goes on with the run, the other replaces it")
    if folder.exists() and not folder.is_dir():
        raise ComparisonError(f"the run folder {folder} is a file; choose another --out")
    if (folder / DATABASE).exists():
        if not resume and not force:
            raise ComparisonError(f"{folder} holds a run already; go on with it by --resume or replace it by --force")
    elif folder.is_dir() and any(folder.iterdir()) and not force:
        raise ComparisonError(
            f"the folder {folder} is not empty and holds no run; choose another --out, or use --force"
        )


def _open(
    folder: Path,
    arguments: Mapping[str, Any],
    datasets: list[Dataset],
    detectors: list[Detector],
    resume: bool,
    force: bool,
) -> Store:
    if force:
        for name in FILES:
            (folder / name).unlink(missing_ok=True)
    store = Store.create(folder, arguments)
    try:
        if resume:
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
    for name, value in _as_stored(arguments).items():
        if meta["arguments"][name] != value:
            raise ComparisonError(
                f"the run in {store.folder} has {name} {meta['arguments'][name]}, now it is {value}; "
                "go on with the same, or use another --out"
            )
    columns, rows = store.table("datasets")
    hashes = {row[columns.index("name")]: row[columns.index("sha256")] for row in rows}
    for dataset in datasets:
        if hashes.get(dataset.name, dataset.sha256) != dataset.sha256:
            raise ComparisonError(
                f"the data set {dataset.name} is not the one of the run in {store.folder}: its sha256 begins with "
                f"{dataset.sha256[:12]}, not {hashes[dataset.name][:12]}"
            )
    columns, rows = store.table("detectors")
    classes = {row[columns.index("name")]: row[columns.index("class")] for row in rows}
    for detector in detectors:
        if classes.get(detector.name, detector.path) != detector.path:
            raise ComparisonError(
                f"the detector {detector.name} is {detector.path}, in the run in {store.folder} it is "
                f"{classes[detector.name]}"
            )


def _as_stored(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """As they come back from the database, where a tuple is a list."""
    return dict(json.loads(json.dumps(arguments)))
