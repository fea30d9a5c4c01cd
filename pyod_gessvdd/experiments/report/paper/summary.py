"""The summary: means and standard deviations over the splits, by class and on average, as the paper prints them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from pyod_gessvdd.experiments.data.paper import DATASETS
from pyod_gessvdd.experiments.report.paper.published import AVERAGE, Block

METRICS = ("Gmean", "TPR", "TNR", "FPR", "FNR")
SPREAD = "Gmean-sd"


@dataclass(frozen=True)
class Line:
    """One method's row in one table: its figures by (metric, target), the average over the targets included.

    ``n_splits`` is the smallest number of splits behind a figure. As in the paper, the average's standard deviation is
    the mean of the classes'.
    """

    dataset: str
    description: str
    method: str
    figures: dict[tuple[str, str], float]
    n_splits: int

    @property
    def block(self) -> Block:
        """The published table that this row belongs to."""
        dataset = DATASETS[self.dataset]
        if dataset.family != "heart":
            return Block(self.description, dataset.family, "", "")
        train, test = ("corrupted" if noisy else "clean" for noisy in dataset.noisy)
        return Block(self.description, "heart", train, test)

    @property
    def targets(self) -> list[str]:
        """The classes' abbreviations, and then the average."""
        return list(dict.fromkeys(target for _, target in self.figures))


def summarise(trials: Iterable[dict[str, Any]]) -> list[Line]:
    """A line for each method of each data set that has at least one finished trial of every class."""
    grouped: dict[tuple[str, str, str], dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for trial in trials:
        if trial["status"] == "done":
            grouped[trial["dataset"], trial["description"], trial["method"]][trial["target"]].append(trial)
    lines = []
    for key, by_target in grouped.items():
        targets = DATASETS[key[0]].targets
        if all(label in by_target for label in targets):
            figures = _figures({short: by_target[label] for label, short in targets.items()})
            lines.append(Line(*key, figures, min(len(done) for done in by_target.values())))
    return lines


def _figures(by_target: dict[str, list[dict[str, Any]]]) -> dict[tuple[str, str], float]:
    figures = {}
    for target, trials in by_target.items():
        for metric in METRICS:
            figures[metric, target] = fmean(trial[metric.casefold()] for trial in trials)
        gmeans = [trial["gmean"] for trial in trials]
        figures[SPREAD, target] = stdev(gmeans) if len(gmeans) > 1 else float("nan")
    for metric in (*METRICS, SPREAD):
        figures[metric, AVERAGE] = fmean(figures[metric, target] for target in by_target)
    return figures
