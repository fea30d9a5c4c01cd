"""One job: one detector on one split of one data set, measured; whatever goes wrong becomes part of its result."""

from __future__ import annotations

import random
import time
import traceback
import warnings
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

import numpy as np

from pyod_gessvdd.experiments.data.datasets import Dataset
from pyod_gessvdd.experiments.detectors.specs import Detector
from pyod_gessvdd.experiments.metrics import METRICS, OF_SCORES, gmean
from pyod_gessvdd.experiments.protocols.settings import Split, split
from pyod_gessvdd.experiments.run.memory import peak_memory

#: What identifies a job.
Key = tuple[str, str, str, int]

TIMES = ("fit_seconds", "score_seconds", "cpu_seconds", "peak_memory_mib")
COUNTS = ("n_train", "n_test", "n_outliers", "n_features", "duplicates")

#: The columns of a job's row, in the order of the database and of the table.
COLUMNS = (
    *("dataset", "detector", "setting", "seed", "status"),
    *METRICS,
    *TIMES,
    *COUNTS,
    *("error", "traceback", "warnings", "finished_at"),
)

#: So many rows a detector is fitted on before the clock starts, and so many warnings of a job are kept.
WARM_UP_ROWS = 60
KEPT_WARNINGS = 20


@dataclass(frozen=True)
class Job:
    """What to run."""

    dataset: Dataset
    detector: Detector
    setting: str
    seed: int
    metrics: tuple[str, ...]
    max_rows: int | None

    @property
    def key(self) -> Key:
        """What identifies the job in a run."""
        return (self.dataset.name, self.detector.name, self.setting, self.seed)


@dataclass
class JobResult:
    """What came of it: the row of the table and, if all went well, the test rows' labels and scores."""

    row: dict[str, Any]
    labels: np.ndarray | None = field(default=None, repr=False)
    scores: np.ndarray | None = field(default=None, repr=False)


class BadAnswerError(ValueError):
    """A detector returned something else than one finite score, or one label 0 or 1, per row."""


def failure(job: Job, status: str, error: str, details: str | None = None, **values: Any) -> JobResult:
    """The result of a job that has no figures."""
    one_line = " ".join(error.split())
    return JobResult({**_row(job, status), "error": one_line, "traceback": details, **values})


def run_job(job: Job) -> JobResult:
    """Run a job in this process.

    Parameters
    ----------
    job : Job
        The job; its detector gets the seed if it takes one, and the global generators are seeded with it for those
        that do not.
    """
    counts: dict[str, Any] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            parts = split(job.dataset, job.setting, job.seed, job.max_rows)
            counts = _counts(parts)
            result = _measured(job, parts)
        except (Exception, SystemExit) as error:
            result = failure(job, "failed", f"{type(error).__name__}: {error}", traceback.format_exc())
    result.row |= {**counts, "warnings": _one_line_each(caught)}
    return result


def _row(job: Job, status: str) -> dict[str, Any]:
    names = ("dataset", "detector", "setting", "seed")
    finished = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return (
        dict.fromkeys(COLUMNS)
        | dict(zip(names, job.key, strict=True))
        | {
            "status": status,
            "warnings": [],
            "finished_at": finished,
        }
    )


def _counts(parts: Split) -> dict[str, int]:
    return {
        "n_train": len(parts.train),
        "n_test": len(parts.test),
        "n_outliers": int(parts.labels.sum()),
        "n_features": parts.train.shape[1],
        "duplicates": parts.duplicates,
    }


def _measured(job: Job, parts: Split) -> JobResult:
    _warm_up(job, parts)
    _seed_global_generators(job.seed)
    detector = job.detector.build(job.seed)
    # Copies: a detector that changes its input must not change the next one's.
    train, test = parts.train.copy(), parts.test.copy()
    with peak_memory() as peak:
        cpu, start = time.process_time(), time.perf_counter()
        detector.fit(train)
        fitted = time.perf_counter()
        scores = detector.decision_function(test)
        scored = time.perf_counter()
        cpu = time.process_time() - cpu
    scores = _checked_scores(scores, len(test))
    values = {name: OF_SCORES[name](parts.labels, scores) for name in job.metrics if name in OF_SCORES}
    if "gmean" in job.metrics:
        values["gmean"] = gmean(parts.labels, _checked_labels(detector.predict(parts.test.copy()), len(test)))
    times = dict(zip(TIMES, (fitted - start, scored - fitted, cpu, peak.mib), strict=True))
    return JobResult({**_row(job, "done"), **values, **times}, parts.labels, scores)


_warmed: set[str] = set()


def _warm_up(job: Job, parts: Split) -> None:
    """Let a detector do its imports and its compiling on a few rows, once per process, before the clock starts."""
    if job.detector.name in _warmed:
        return
    _warmed.add(job.detector.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            few = parts.train[:WARM_UP_ROWS].copy()
            job.detector.build(job.seed).fit(few).decision_function(few)
        except Exception:  # what is wrong with it, the job itself will tell
            return


def _seed_global_generators(seed: int) -> None:
    """For detectors that draw from them; it is the job's own process."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002


def _checked_scores(scores: Any, n_rows: int) -> np.ndarray:
    scores = np.asarray(scores)
    if scores.shape != (n_rows,):
        raise BadAnswerError(f"decision_function returned the shape {scores.shape} for {n_rows} rows")
    scores = scores.astype(np.float64)
    bad = int((~np.isfinite(scores)).sum())
    if bad:
        raise BadAnswerError(f"decision_function returned {bad} scores of {n_rows} that are NaN or infinite")
    return scores


def _checked_labels(labels: Any, n_rows: int) -> np.ndarray:
    labels = np.asarray(labels)
    if labels.shape != (n_rows,) or not np.isin(labels, (0, 1)).all():
        raise BadAnswerError(f"predict must return {n_rows} labels 0 or 1, got the shape {labels.shape}")
    return labels


def _one_line_each(caught: list[warnings.WarningMessage]) -> list[str]:
    lines = [f"{entry.category.__name__}: {' '.join(str(entry.message).split())}" for entry in caught]
    return list(dict.fromkeys(lines))[:KEPT_WARNINGS]
