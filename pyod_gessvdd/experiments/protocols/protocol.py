"""The contract of a protocol: from a data set and a seed to the rows to fit and the rows to judge."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from pyod_gessvdd.experiments.data.datasets import Dataset

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to fit, rows to judge, and the labels of the latter.

    Attributes
    ----------
    train, test : ndarray
        The rows, scaled as the protocol has it.
    labels : ndarray
        Of the test rows; 1 is an outlier.
    transductive : bool
        Whether the training rows are judged, by ``decision_scores_`` and ``labels_``; ``test`` is ``train`` then.
    contamination : float or None
        Given to detectors that take a ``contamination``.
    inner : sequence of Split
        Splits of the training rows; the mean of the first metric over them is the job's ``validation``.
    duplicates : int
        How many test rows are training rows too, counted unless given.
    train_labels : ndarray or None
        Of the training rows; for metrics that need the model, never for detectors.
    """

    train: Array
    test: Array
    labels: Array
    transductive: bool = False
    contamination: float | None = None
    inner: Sequence[Split] = ()
    duplicates: int = -1
    train_labels: Array | None = None

    def __post_init__(self) -> None:
        if self.duplicates < 0:
            object.__setattr__(self, "duplicates", 0 if self.transductive else _count_shared(self.train, self.test))


@dataclass(frozen=True)
class Protocol(ABC):
    """How a data set is split; a frozen dataclass whose fields are its options.

    A split depends on the protocol, the data and the seed alone, so that all detectors see the same rows. Options that
    a user gives (``max_rows``, ``contamination``) reach the protocols that have a field of that name.

    Attributes
    ----------
    name : str
        What users write in ``--setting``.
    title : str
        What readers see.
    description : str
        What it does, in sentences, for the report.
    first_seed : int
        The first one where a number of seeds is given.
    """

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    description: ClassVar[str] = ""
    first_seed: ClassVar[int] = 0

    @abstractmethod
    def splits(self, dataset: Dataset, seed: int) -> Sequence[Split]:
        """The splits of one seed: most protocols have one, and a job's figures are the means over several.

        Parameters
        ----------
        dataset : Dataset
            ``dataset.arrays()`` are its rows and labels (1 is an outlier).
        seed : int
            Decides everything that is drawn.
        """


@lru_cache(maxsize=2)
def splits_of(protocol: Protocol, dataset: Dataset, seed: int) -> Sequence[Split]:
    """The splits; a process keeps the ones used last."""
    return tuple(protocol.splits(dataset, seed))


def limit_outliers(y: Array, rows: Array, share: float | None, random: Any) -> Array:
    """The rows without some of the outliers, drawn, so that these are at most this share of what stays."""
    if share is None:
        return rows
    outliers = rows[y[rows] == 1]
    n_kept = max(1, round(share / (1 - share) * (len(rows) - len(outliers))))
    if n_kept >= len(outliers):
        return rows
    dropped = random.permutation(len(outliers))[n_kept:]
    return rows[~np.isin(np.arange(len(rows)), np.flatnonzero(y[rows] == 1)[dropped])]


def _count_shared(train: Array, test: Array) -> int:
    # Adding 0.0 makes one of the two zeros.
    seen = {row.tobytes() for row in np.ascontiguousarray(train + 0.0)}
    return sum(row.tobytes() in seen for row in np.ascontiguousarray(test + 0.0))
