"""What ``benchmarks/quality.py`` measures, and the rows it measures on: protocols and metrics of the experiment engine.

A module of its own, so that the processes that run jobs can import it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from pyod.utils.data import generate_data
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import train_test_split

from pyod_gessvdd.compare import Metric, Protocol, Split
from pyod_gessvdd.experiments.data.datasets import ArraySource, Dataset, hash_rows
from pyod_gessvdd.experiments.metrics import Fitted, precision_at_n

Array = np.ndarray

#: Training rows and new rows of a set of PyOD's suite at most (KPCA cannot do more in time); new rows elsewhere.
SUITE_ROWS, NEW_ROWS = 3000, 1500


# Protocols ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Clean(Protocol):
    """60/40 stratified splits, standardised by the training rows; trained on the normal ones.

    Parameters
    ----------
    rows : int
        Training rows at most.
    """

    name: ClassVar[str] = "clean"
    title: ClassVar[str] = "Clean training rows"
    description: ClassVar[str] = "60/40 stratified splits; trained on the normal rows of the 60 %."
    share: ClassVar[int] = 0

    rows: int = 1000

    def splits(self, dataset: Dataset, seed: int) -> Sequence[Split]:
        """One split."""
        X, y = dataset.arrays()
        train, new, labels, new_labels = train_test_split(X, y, test_size=0.4, stratify=y, random_state=seed)
        normal, outliers = train[labels == 0], train[labels == 1]
        outliers = outliers[: max(2, min(len(normal), self.rows) // 9) if self.share else 0]
        normal = normal[: self.rows - len(outliers)]
        train, labels = np.r_[normal, outliers], np.repeat([0, 1], [len(normal), len(outliers)])
        return [standardised(train, new[:NEW_ROWS], labels, new_labels[:NEW_ROWS])]


@dataclass(frozen=True)
class Contaminated(Clean):
    """The same with outliers among the training rows, at most a tenth of all."""

    name: ClassVar[str] = "contaminated"
    title: ClassVar[str] = "Contaminated training rows"
    description: ClassVar[str] = "60/40 stratified splits; trained on outliers too, at most a tenth of all rows."
    share: ClassVar[int] = 1


@dataclass(frozen=True)
class Suite(Protocol):
    """PyOD's benchmark on fewer rows: 60/40 stratified splits, and the true share of outliers as contamination."""

    name: ClassVar[str] = "suite"
    title: ClassVar[str] = "PyOD's suite"
    description: ClassVar[str] = "60/40 stratified splits; trained on all rows of the 60 %."

    def splits(self, dataset: Dataset, seed: int) -> Sequence[Split]:
        """One split."""
        X, y = dataset.arrays()
        parts = train_test_split(X, y, test_size=0.4, stratify=y, random_state=seed)
        train, new, labels, new_labels = (part[:SUITE_ROWS] for part in parts)
        return [standardised(train, new, labels, new_labels, float(np.r_[labels, new_labels].mean()))]


@dataclass(frozen=True)
class Drawn(Protocol):
    """Rows that are drawn by the seed, as the data set's name says."""

    name: ClassVar[str] = "drawn"
    title: ClassVar[str] = "Drawn rows"
    description: ClassVar[str] = "Groups of similar outliers; normal rows with many columns; PyOD's generate_data."

    def splits(self, dataset: Dataset, seed: int) -> Sequence[Split]:
        """One split; groups of outliers are judged among the rows that were fitted."""
        train, new, labels, new_labels = draw(dataset.name, seed)
        return [Split(train, new, new_labels, train_labels=labels, duplicates=0)]


def standardised(
    train: Array, new: Array, labels: Array, new_labels: Array, contamination: float | None = None
) -> Split:
    """A split whose columns have mean 0 and deviation 1 among the training rows; constant ones are only moved."""
    mean, deviation = train.mean(axis=0), train.std(axis=0)
    deviation[deviation <= 1e-12 * np.maximum(np.abs(mean), 1)] = 1
    train, new = (train - mean) / deviation, (new - mean) / deviation
    return Split(train, new, new_labels, contamination=contamination, train_labels=labels, duplicates=0)


def draw(name: str, seed: int) -> tuple[Array, Array, Array, Array]:
    """Training rows and new rows and their labels, by a name such as "planted: 5 columns, 2 rows at 10 σ"."""
    kind, _, cell = name.partition(": ")
    random, numbers = np.random.default_rng(seed), [int(word) for word in cell.split() if word.isdigit()]
    if kind == "generate_data":
        train, new, labels, new_labels = generate_data(*numbers, contamination=0.1, random_state=seed)
        return train, new, labels, new_labels
    if kind == "planted":
        labels = np.repeat([1, 0], [numbers[1], 150 - numbers[1]])
        train = random.normal(size=(150, numbers[0])) + numbers[2] * labels[:, np.newaxis]
        return train, train, labels, labels
    train, new = random.normal(size=numbers), random.normal(size=(1000, numbers[1]))
    new[500:] += 10 * np.eye(numbers[1])[np.arange(500) % numbers[1]]
    return train, new, np.zeros(len(train)), np.repeat([0, 1], 500)


def drawn(kind: str, cell: str) -> Dataset:
    """The data set that :class:`Drawn` draws by its name; what it holds are the rows of seed 0."""
    name = f"{kind}: {cell}"
    _, new, _, labels = draw(name, 0)
    source = ArraySource(new, labels.astype(np.int8))
    return Dataset(name, "drawn", source, hash_rows(new, source.y), *new.shape, int(labels.sum()))


# Metrics --------------------------------------------------------------------------------------------------------------


def guarded(measure: Callable[[Array, Array], float], labels: Array, scores: Array) -> float:
    """The figure, or NaN where there are fewer than two rows of a kind."""
    return float(measure(labels, scores)) if 2 <= labels.sum() <= len(labels) - 2 else float("nan")


def own(measure: Callable[[Array, Array], float], labels: Array, fitted: Fitted) -> float:
    """The figure of the training rows' own scores."""
    return guarded(measure, fitted.split.train_labels, fitted.detector.decision_scores_)


def agreement(labels: Array, fitted: Fitted) -> float:
    """The share of training rows whose ``predict`` is their ``labels_``."""
    return float(np.mean(fitted.detector.predict(fitted.split.train) == fitted.detector.labels_))


def found(labels: Array, fitted: Fitted) -> float:
    """The share of the rows labelled as outliers that ``predict`` finds again."""
    labelled = fitted.detector.labels_ == 1
    return float(np.mean(fitted.detector.predict(fitted.split.train)[labelled])) if labelled.any() else float("nan")


def flagged(labels: Array, fitted: Fitted) -> float:
    """The share of new normal rows above the threshold."""
    # Of all rows: ECOD and COPOD score a row by the others that come with it.
    scores = fitted.detector.decision_function(fitted.split.test)[labels == 0]
    return float(np.mean(scores > fitted.detector.threshold_))


def far(labels: Array, fitted: Fitted, one_column: bool) -> float:
    """The share of rows flagged that are 100 σ off, in every column or in one."""
    rows = fitted.split.test[:100]
    columns: Any = np.eye(rows.shape[1])[np.arange(len(rows)) % rows.shape[1]] if one_column else 1.0
    return float(np.mean(fitted.detector.predict(rows + 100 * columns)))


MEASURES = {"roc_auc": roc_auc_score, "average_precision": average_precision_score, "precision_at_n": precision_at_n}
METRICS = (
    *(Metric(name, name, partial(guarded, measure)) for name, measure in MEASURES.items()),
    *(Metric(f"own_{name}", name, partial(own, measure), needs="model") for name, measure in MEASURES.items()),
    *(Metric(measure.__name__, measure.__name__, measure, needs="model") for measure in (agreement, found, flagged)),
)
FAR = (
    Metric("far", "far", partial(far, one_column=False), needs="model"),
    Metric("far_column", "far_column", partial(far, one_column=True), needs="model"),
)
