"""Curves and distributions of one data set's scores: a few dozen numbers per detector, the mean over the seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyod_gessvdd.experiments.statistics.ranks import of_setting

if TYPE_CHECKING:
    from pyod_gessvdd.experiments.result import ComparisonResult

#: The labels (1 is an outlier) and scores of the test rows of one job.
Scored = tuple[np.ndarray, np.ndarray]

#: Finer at the left, where the curves of good detectors bend.
GRID = np.linspace(0, 1, 81) ** 2
RECALL = np.linspace(0, 1, 81)

#: Bins of a distribution, and where it is cut, in units of ``asinh``.
N_BINS = 72
LOWEST, HIGHEST = -4.0, 8.0


class Distribution(NamedTuple):
    """Densities of the scores of the normal rows and of the outliers over the same bin centres."""

    centres: np.ndarray
    normal: np.ndarray
    outliers: np.ndarray


def scored_jobs(result: ComparisonResult, dataset: str, setting: str | None = None) -> dict[str, list[Scored]]:
    """Labels and scores of a data set by detector, a pair per seed; detectors without a finished job are left out."""
    rows = of_setting(result.table, setting)
    rows = rows[(rows["dataset"] == dataset) & (rows["status"] == "done")]
    found: dict[str, list[Scored]] = {}
    for row in rows.itertuples():
        labels, scores = result.scores(dataset, row.detector, row.setting, row.seed)
        found.setdefault(str(row.detector), []).append((np.asarray(labels), np.asarray(scores, dtype=float)))
    return found


def mean_roc(jobs: Sequence[Scored]) -> np.ndarray:
    """True-positive rate at the false-positive rates :data:`GRID`, the mean over the jobs."""
    from sklearn.metrics import roc_curve

    curves = []
    for labels, scores in jobs:
        false, true, _ = roc_curve(labels, scores)
        curves.append(np.interp(GRID, false, true))
    return np.mean(curves, axis=0)


def mean_precision(jobs: Sequence[Scored]) -> np.ndarray:
    """Precision where the recall first reaches :data:`RECALL`, the mean over the jobs; nothing is interpolated."""
    from sklearn.metrics import precision_recall_curve

    curves = []
    for labels, scores in jobs:
        precision, recall, _ = precision_recall_curve(labels, scores)
        # scikit-learn's curve ends in an invented point (recall 0, precision 1).
        precision, recall = precision[:-1][::-1], recall[:-1][::-1]
        first = np.searchsorted(recall, RECALL - 1e-12)
        curves.append(precision[np.minimum(first, len(precision) - 1)])
    return np.mean(curves, axis=0)


def distribution(jobs: Sequence[Scored]) -> Distribution:
    """Where the scores lie, in quartile ranges of the normal rows from their median, on an ``asinh`` axis.

    Detectors' scores have no common unit; this one says how far outliers are from what is normal. ``asinh`` keeps
    both the bulk and scores a thousand times further out in the picture; what is beyond the axis is in its last bin.
    """
    from scipy.ndimage import gaussian_filter1d

    edges = np.linspace(LOWEST, HIGHEST, N_BINS + 1)
    labels = np.concatenate([labels for labels, _ in jobs])
    placed = np.concatenate([_place(*job) for job in jobs]).clip(LOWEST, HIGHEST)
    densities: list[Any] = []
    for label in (0, 1):
        counts = np.histogram(placed[labels == label], edges)[0].astype(float)
        smooth = gaussian_filter1d(counts, 1.0, mode="constant")
        densities.append(smooth / max(smooth.sum(), 1e-300))
    return Distribution((edges[:-1] + edges[1:]) / 2, *densities)


def _place(labels: np.ndarray, scores: np.ndarray) -> np.ndarray:
    normal = scores[labels == 0]
    lower, middle, upper = np.quantile(normal, (0.25, 0.5, 0.75))
    width = upper - lower or normal.std() or 1.0
    return np.arcsinh((scores - middle) / width)
