"""``compare``: data sets × detectors × protocols × seeds, run, stored and read back."""

from __future__ import annotations

import os
import re
import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.data.datasets import BUNDLED, resolve_datasets
from pyod_gessvdd.experiments.detectors.catalogue import DEFAULT
from pyod_gessvdd.experiments.detectors.specs import resolve_detectors
from pyod_gessvdd.experiments.experiment import How, Progress, run_experiment
from pyod_gessvdd.experiments.metrics import METRICS, check_metrics
from pyod_gessvdd.experiments.protocols import protocols_of, seeds_of
from pyod_gessvdd.experiments.protocols.novelty import DEFAULT_MAX_ROWS
from pyod_gessvdd.experiments.result import ComparisonResult
from pyod_gessvdd.experiments.run.job import Job
from pyod_gessvdd.extras import need

#: The command line's options that take no value.
FLAGS = ("resume", "force")


def compare(
    datasets: Any = tuple(BUNDLED),
    detectors: Any = DEFAULT,
    *,
    setting: str = "novelty",
    seeds: int | Iterable[int] = 5,
    metrics: Iterable[str] = METRICS,
    n_jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    timeout: float | None = None,
    memory: int | str | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    force: bool = False,
    max_rows: int | None = DEFAULT_MAX_ROWS,
    contamination: float | None = None,
    label: str | None = None,
    normal: str | None = None,
    tables: Mapping[str, Any] | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> ComparisonResult:
    """Compare detectors on data sets.

    Every (data set, detector, setting, seed) is a job; its results, or the reason why it failed, are written to the run
    folder as soon as it ends.

    Parameters
    ----------
    datasets : str, path, (X, y), DataFrame, sequence of strings, or mapping of name → (X, y) or DataFrame
        Names of bundled sets (``"wine"``, ``"digits:3"``), files, folders, ``"adbench"``, ``"oddbench"``, ``"odds"``,
        ``"paper"``; or rows, with y 0 (normal) or 1 (outlier), in a DataFrame its column ``label``.
    detectors : str, detector, or sequence of them
        ``"knn"``, ``"iforest(n_estimators=200)"``, ``"gessvdd:kNN-GR-min"``, ``"package.module:Class(k=1)"``, a
        group: ``"fast"``, ``"all-pyod"``, ``"family"``, ``"variants"``; or an instance such as ``KNN(n_neighbors=7)``.
    setting : str, default="novelty"
        "novelty": train on normal rows alone; "unsupervised": on contaminated rows as ADBench does; "transductive":
        judge the training rows themselves; "nested"; a plugin's; several, separated by commas; "both" is the first two.
    seeds : int or list of int, default=5
        A number of seeds (novelty counts from 0, unsupervised from 1 as ADBench does), or the seeds.
    metrics : sequence of str
        Some of roc_auc, average_precision, precision_at_n, gmean, tpr, tnr and those of plugins.
    n_jobs : int, default=1
        How many jobs run in parallel on this machine; -1 means one per core.
    backend : {"loky", "dask", "ray"}, default="loky"
        Processes of this machine, or the cluster at ``scheduler``.
    scheduler : str, optional
        The address of a Dask or Ray cluster.
    timeout : float, optional
        Seconds after which a job is killed and recorded as a timeout, with everything that it has started.
    memory : int or str, optional
        The memory limit of a job's process, in bytes or as "4G"; a job that needs more fails. Not on Windows.
    out : path-like, optional
        The run folder; without it the run is kept for as long as the result exists.
    resume : bool, default=False
        Continue the run in ``out``: finished jobs are not run again. The data, the setting, the seeds, the metrics,
        ``max_rows`` and ``contamination`` must be the same; data sets and detectors may be added.
    force : bool, default=False
        Replace the run in ``out``.
    max_rows : int or None, default=10_000
        Larger sets are subsampled to this many rows; unsupervised runs never have more than ADBench's 10,000.
    contamination : float, optional
        Outliers are dropped until they are at most this share of the rows, in the settings that train on some.
    label, normal : str, optional
        The label column of files, and the label of the normal rows in them.
    tables : mapping, optional
        How files are read beyond that: ``drop``, ``keep``, ``encode``, ``missing``, ``sep``, ``decimal``, ``header``.
    data_dir : path-like, optional
        The folder with ``adbench/``, ``oddbench/``, ``odds/`` and ``paper/``; by default the environment's
        ``PYOD_GESSVDD_DATA``.
    progress : callable, optional
        Called with a :class:`Progress` at the start and after every job.

    Returns
    -------
    ComparisonResult
        The table of all jobs, with rankings, statistics and reports.

    Examples
    --------
    >>> from pyod_gessvdd.compare import compare
    >>> result = compare("wine", "knn, hbos", seeds=1)
    >>> result.table[["dataset", "detector", "status"]].values.tolist()
    [['wine', 'KNN', 'done'], ['wine', 'HBOS', 'done']]
    """
    how = How(n_jobs, backend, scheduler, timeout, resume, force, progress, memory)
    try:
        return run_comparison(
            datasets,
            detectors,
            how,
            setting=setting,
            seeds=seeds,
            metrics=metrics,
            max_rows=max_rows,
            contamination=contamination,
            out=out,
            label=label,
            normal=normal,
            tables=tables,
            data_dir=data_dir,
        )
    except ComparisonError as error:
        raise ComparisonError(_in_python(str(error))) from error


def run_comparison(
    datasets: Any,
    detectors: Any,
    how: How,
    *,
    setting: str = "novelty",
    seeds: Any = 5,
    metrics: Iterable[str] = METRICS,
    max_rows: int | None = DEFAULT_MAX_ROWS,
    contamination: float | None = None,
    out: str | os.PathLike[str] | None = None,
    label: str | None = None,
    normal: str | None = None,
    tables: Mapping[str, Any] | None = None,
    data_dir: str | os.PathLike[str] | None = None,
) -> ComparisonResult:
    """The same as :func:`compare`, with errors that name the command line's options."""
    need("pandas", "compare", "a comparison's table")
    how.check()
    if max_rows is not None and max_rows < 10:
        raise ComparisonError(f"max_rows must be 10 or more, or None for all rows, got {max_rows!r}")
    if contamination is not None and not 0 < contamination < 1:
        raise ComparisonError(f"contamination must be a share between 0 and 1, got {contamination!r}")
    protocols = protocols_of(setting, max_rows=max_rows, contamination=contamination)
    of_seeds = {protocol.name: seeds_of(seeds, protocol.first_seed) for protocol in protocols}
    names = check_metrics(metrics)
    arguments = {
        "setting": list(of_seeds),
        "seeds": of_seeds,
        "metrics": names,
        "max_rows": max_rows,
        "contamination": contamination,
    }
    if out is not None:
        how.check_folder(Path(out))
    wanted = resolve_detectors(detectors)
    found = resolve_datasets(datasets, label=label, normal=normal, tables=tables, data_dir=data_dir)
    temporary = tempfile.TemporaryDirectory(prefix="gessvdd-") if out is None else None
    folder = Path(temporary.name if temporary else os.fspath(out or ""))
    jobs = [
        Job(dataset, detector, protocol, seed, names)
        for dataset in found
        for protocol in protocols
        for seed in of_seeds[protocol.name]
        for detector in wanted
    ]
    run_experiment(folder, jobs, arguments, how)
    result = ComparisonResult(folder)
    if temporary is not None:
        weakref.finalize(result, temporary.cleanup)
    return result


def _in_python(sentence: str) -> str:
    """The options of the command line as a caller from Python knows them: ``--resume`` is ``resume=True``."""

    def parameter(found: re.Match[str]) -> str:
        name = found[1].replace("-", "_")
        return f"{name}=True" if name in FLAGS else name

    return re.sub(r"(?<!\S)--([a-z][a-z-]*)", parameter, sentence)
