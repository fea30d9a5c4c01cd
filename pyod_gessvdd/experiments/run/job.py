"""One job: one detector on the splits of one seed of one data set, measured; what goes wrong is part of its result."""

from __future__ import annotations

import random
import time
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

import numpy as np

from pyod_gessvdd.errors import NoSuchModelError
from pyod_gessvdd.experiments.data.datasets import Dataset
from pyod_gessvdd.experiments.detectors.specs import Detector
from pyod_gessvdd.experiments.metrics import METRICS, Fitted, Metric, metric
from pyod_gessvdd.experiments.protocols.protocol import Protocol, Split, splits_of
from pyod_gessvdd.experiments.run.memory import peak_memory

#: What identifies a job.
Key = tuple[str, str, str, int]

TIMES = ("fit_seconds", "score_seconds", "cpu_seconds", "peak_memory_mib")
TEXT = ("dataset", "detector", "setting", "status", "error", "traceback", "warnings", "finished_at")
COUNTS = ("n_train", "n_test", "n_outliers", "n_features", "duplicates")

#: A detector is fitted on this many rows before the clock starts, and this many warnings of a job are kept.
WARM_UP_ROWS = 60
KEPT_WARNINGS = 20
#: The most characters that are kept of a message or a warning, and of a traceback.
LONGEST_MESSAGE, LONGEST_TRACEBACK = 2000, 20_000


def columns(metrics: Sequence[str] = ()) -> tuple[str, ...]:
    """The columns of a job's row, in the order of the database and of the table: the usual metrics, and these."""
    return (
        *("dataset", "detector", "setting", "seed", "status"),
        *dict.fromkeys((*METRICS, *metrics)),
        "validation",
        *TIMES,
        *COUNTS,
        *("error", "traceback", "warnings", "finished_at"),
    )


@dataclass(frozen=True)
class Job:
    """What to run."""

    dataset: Dataset
    detector: Detector
    protocol: Protocol
    seed: int
    metrics: tuple[str | Metric, ...]

    @property
    def figures(self) -> tuple[str, ...]:
        """The names of the metrics, which may be given as records that the job's process can import."""
        return tuple(one.name if isinstance(one, Metric) else one for one in self.metrics)

    @property
    def key(self) -> Key:
        """What identifies the job in a run."""
        return (self.dataset.name, self.detector.name, self.protocol.name, self.seed)


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
    one_line = storable(" ".join(error.split()), LONGEST_MESSAGE)
    details = None if details is None else storable(details, LONGEST_TRACEBACK)
    return JobResult({**_row(job, status), "error": one_line, "traceback": details, **values})


def storable(text: str, limit: int) -> str:
    """Text that a database takes, of at most this many characters: its beginning and its end.

    Parameters
    ----------
    text : str
        Whatever a detector said; half of a surrogate pair, which is not a character, is written out.
    limit : int
        The most characters.
    """
    if len(text) > limit:
        text = f"{text[: limit // 2]} … {text[-limit // 2 :]}"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _said(error: BaseException) -> str:
    """An exception's type and message; its own code may fail at that."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return f"{type(error).__name__}, whose message cannot be shown"


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
            splits = splits_of(job.protocol, job.dataset, job.seed)
            counts = _counts(splits)
            result = _measured(job, splits)
        except (Exception, SystemExit) as error:
            result = failure(job, "failed", _said(error), _traceback())
    result.row |= {**counts, "warnings": _one_line_each(caught)}
    return result


def _traceback() -> str:
    try:
        return traceback.format_exc()
    except Exception:
        return "the traceback cannot be shown"


def _row(job: Job, status: str) -> dict[str, Any]:
    names = ("dataset", "detector", "setting", "seed")
    finished = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return (
        dict.fromkeys(columns(job.figures))
        | dict(zip(names, job.key, strict=True))
        | {"status": status, "warnings": [], "finished_at": finished}
    )


def _counts(splits: Sequence[Split]) -> dict[str, int]:
    """Of all splits together; a plugin's protocol may have several per seed."""
    return {
        "n_train": sum(len(split.train) for split in splits),
        "n_test": sum(len(split.test) for split in splits),
        "n_outliers": int(sum(split.labels.sum() for split in splits)),
        "n_features": splits[0].train.shape[1],
        "duplicates": sum(split.duplicates for split in splits),
    }


@dataclass
class _Measured:
    """One split: the figures, the scores if a metric needs them, and the times."""

    figures: dict[str, float]
    scores: np.ndarray | None
    times: np.ndarray


def _measured(job: Job, splits: Sequence[Split]) -> JobResult:
    _warm_up(job, splits[0])
    _seed_global_generators(job.seed)
    wanted = [one if isinstance(one, Metric) else metric(one) for one in job.metrics]
    done = [_of_split(job, split, wanted, for_pictures=True) for split in splits]
    # Folds are there to choose by: they take no part in the times.
    folds = [_of_split(job, fold, wanted[:1]).figures[wanted[0].name] for split in splits for fold in split.inner]
    values = {name: _mean([one.figures[name] for one in done]) for name in job.figures}
    times = dict(zip(TIMES, np.array([one.times for one in done]).sum(axis=0).tolist(), strict=True))
    row = {**_row(job, "done"), **values, **times, "validation": _mean(folds)}
    if any(one.scores is None for one in done):
        return JobResult(row)
    labels = np.concatenate([split.labels for split in splits])
    return JobResult(row, labels, np.concatenate([one.scores for one in done]))


def _mean(values: Sequence[float]) -> float | None:
    """The mean, or None if there is nothing or not all of it."""
    mean = float(np.mean(values)) if values else float("nan")
    return None if np.isnan(mean) else mean


def _of_split(job: Job, split: Split, metrics: Sequence[Metric], for_pictures: bool = False) -> _Measured:
    """Fit and measure; scores are also kept for the report's pictures, if the detector gives any."""
    given = {} if split.contamination is None else {"contamination": split.contamination}
    detector = job.detector.build(job.seed, **given)
    # Copies: a detector that changes its input must not change the next one's.
    train, test = split.train.copy(), split.test.copy()
    needs_scores = any(one.needs == "scores" for one in metrics)
    needs_scores |= for_pictures and hasattr(detector, "decision_function")
    scores = None
    with peak_memory() as peak:
        cpu, start = time.process_time(), time.perf_counter()
        try:
            detector.fit(train)
        except NoSuchModelError:
            return _Measured(dict.fromkeys((one.name for one in metrics), float("nan")), None, np.zeros(len(TIMES)))
        fitted = time.perf_counter()
        if needs_scores:
            scores = detector.decision_scores_ if split.transductive else detector.decision_function(test)
        scored = time.perf_counter()
        cpu = time.process_time() - cpu
    answers: dict[str, Any] = {"model": Fitted(detector, split)}
    if scores is not None:
        scores = answers["scores"] = _checked_scores(scores, len(test))
    if any(one.needs == "predictions" for one in metrics):
        labels = detector.labels_ if split.transductive else detector.predict(split.test.copy())
        answers["predictions"] = _checked_labels(labels, len(test))
    figures = {one.name: one.compute(split.labels, answers[one.needs]) for one in metrics}
    return _Measured(figures, scores, np.array([fitted - start, scored - fitted, cpu, peak.mib]))


_warmed: set[str] = set()


def _warm_up(job: Job, split: Split) -> None:
    """Let a detector do its imports and its compiling on a few rows, once per process, before the clock starts."""
    if job.detector.family in _warmed:
        return
    _warmed.add(job.detector.family)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            few = split.train[:WARM_UP_ROWS].copy()
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
    if scores.dtype.kind not in "biuf":
        raise BadAnswerError(f"decision_function returned scores of type {scores.dtype}, which are not real numbers")
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
    lines = [
        storable(f"{entry.category.__name__}: {' '.join(str(entry.message).split())}", LONGEST_MESSAGE)
        for entry in caught
    ]
    return list(dict.fromkeys(lines))[:KEPT_WARNINGS]
