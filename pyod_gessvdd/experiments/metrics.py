"""What a detector's answer is worth: three metrics of the scores' ranking and one of the labels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from pyod_gessvdd.errors import ComparisonError

Array = np.ndarray


def precision_at_n(labels: Array, scores: Array) -> float:
    """The share of outliers among the n rows with the highest scores, n being the number of outliers; as PyOD's."""
    from pyod.utils.utility import precision_n_scores

    with warnings.catch_warnings():
        # With all scores equal no row is above the threshold; the precision is then 0, which scikit-learn remarks.
        warnings.simplefilter("ignore")
        return float(precision_n_scores(labels, scores))


def gmean(labels: Array, predicted: Array) -> float:
    """√(TPR · TNR), the paper's Gmean, of predicted labels."""
    return math.sqrt(np.mean(predicted[labels == 1] == 1) * np.mean(predicted[labels == 0] == 0))


#: Those that need the scores; ``gmean`` needs the labels that the detector predicts.
OF_SCORES: dict[str, Callable[[Array, Array], float]] = {
    "roc_auc": lambda labels, scores: float(roc_auc_score(labels, scores)),
    "average_precision": lambda labels, scores: float(average_precision_score(labels, scores)),
    "precision_at_n": precision_at_n,
}
METRICS = (*OF_SCORES, "gmean")


def check_metrics(metrics: Iterable[str]) -> tuple[str, ...]:
    """The metrics asked for, in the order given."""
    wanted = (metrics,) if isinstance(metrics, str) else tuple(dict.fromkeys(metrics))
    unknown = [name for name in wanted if name not in METRICS]
    if unknown or not wanted:
        raise ComparisonError(f"metrics must be some of {', '.join(METRICS)}, got {', '.join(unknown) or 'none'}")
    return wanted
