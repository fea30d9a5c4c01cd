"""What a detector's answer is worth. A metric is one record; plugins bring others through ``register_metrics``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from pyod_gessvdd.components.registry import registry
from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.model_selection import gmean_score

Array = np.ndarray


@dataclass(frozen=True)
class Metric:
    """A figure of one job.

    Attributes
    ----------
    name : str
        What users write, and the column of the table: a Python name.
    label : str
        What readers see.
    compute : callable
        From the test rows' labels (1 is an outlier) and the detector's answer for them to a number.
    needs : {"scores", "predictions", "model"}
        What the answer is: ``decision_function``, higher is more abnormal; ``predict``, 0 or 1; or a :class:`Fitted`,
        for what the answers for the test rows do not show.
    floor : float
        What a detector that guesses reaches; the colours of a heat map begin there.
    decimals : int
        How many are shown.
    higher_is_better : bool
        Otherwise lower is.
    short : str
        What it is called where there is little room; the label unless given.
    """

    name: str
    label: str
    compute: Callable[[Array, Any], float] = field(repr=False)
    needs: str = "scores"
    floor: float = 0.0
    decimals: int = 4
    higher_is_better: bool = True
    short: str = ""

    @property
    def heading(self) -> str:
        """The short name, or the label."""
        return self.short or self.label


class Fitted(NamedTuple):
    """A detector after its fit, and the :class:`~pyod_gessvdd.compare.Split` that it was fitted to."""

    detector: Any
    split: Any


def precision_at_n(labels: Array, scores: Array) -> float:
    """The share of outliers among the n rows with the highest scores, n being the number of outliers; as PyOD's."""
    from pyod.utils.utility import precision_n_scores

    with warnings.catch_warnings():
        # With all scores equal no row is above the threshold; the precision is then 0, which scikit-learn remarks.
        warnings.simplefilter("ignore")
        return float(precision_n_scores(labels, scores))


def _share(kind: int) -> Callable[[Array, Array], float]:
    return lambda labels, predicted: float(np.mean(predicted[labels == kind] == kind))


#: The built-in metrics, those that a comparison takes unless told first.
BUILTIN = (
    Metric("roc_auc", "ROC-AUC", lambda labels, scores: float(roc_auc_score(labels, scores)), floor=0.5, short="AUC"),
    Metric(
        "average_precision",
        "Average precision",
        lambda labels, scores: float(average_precision_score(labels, scores)),
        short="AP",
    ),
    Metric("precision_at_n", "Precision@n", precision_at_n, short="P@n"),
    Metric("gmean", "Gmean", gmean_score, needs="predictions"),
    # A positive is a normal row, as in the paper.
    Metric("tpr", "TPR", _share(0), needs="predictions"),
    Metric("tnr", "TNR", _share(1), needs="predictions"),
)
METRICS = ("roc_auc", "average_precision", "precision_at_n", "gmean")


def known_metrics() -> dict[str, Metric]:
    """All metrics by name, the built-in ones first."""
    return registry().extensions("metric", Metric)


def check_metrics(metrics: Iterable[str]) -> tuple[str, ...]:
    """The metrics asked for, in the order given."""
    wanted = (metrics,) if isinstance(metrics, str) else tuple(dict.fromkeys(metrics))
    unknown = [name for name in wanted if name not in known_metrics()]
    if unknown or not wanted:
        known = ", ".join(known_metrics())
        raise ComparisonError(f"metrics must be some of {known}, got {', '.join(unknown) or 'none'}")
    return wanted


def metric(name: str) -> Metric:
    """The metric of this name."""
    return known_metrics()[check_metrics((name,))[0]]


def described(name: str) -> Metric:
    """The metric of this name; one whose plugin is gone is shown by its name."""
    return known_metrics().get(name) or Metric(name, name, lambda labels, answer: float("nan"))
