"""ADBench's unsupervised protocol: train on contaminated rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

from pyod_gessvdd.experiments.data.datasets import Dataset
from pyod_gessvdd.experiments.protocols.novelty import DEFAULT_MAX_ROWS, TEST_SHARE
from pyod_gessvdd.experiments.protocols.protocol import Protocol, Split, limit_outliers

#: ADBench bootstraps smaller sets up to the first and subsamples larger ones down to the second.
ADBENCH_ROWS = (1_000, 10_000)


@dataclass(frozen=True)
class Unsupervised(Protocol):
    """Sets brought to 1,000 to 10,000 rows, and a stratified 70/30 split that keeps its outliers.

    Parameters
    ----------
    max_rows : int or None
        At most this many rows; never more than ADBench's 10,000, and ADBench's protocol only with no smaller number.
    contamination : float, optional
        Outliers are dropped before the split until they are at most this share; ADBench drops none.
    """

    name: ClassVar[str] = "unsupervised"
    title: ClassVar[str] = "Unsupervised detection"
    description: ClassVar[str] = (
        f"ADBench's protocol: sets with fewer than {ADBENCH_ROWS[0]:,} rows are drawn up to so many with replacement, "
        f"so that the same row is often on both sides, and larger ones down to {ADBENCH_ROWS[1]:,}; stratified 70/30 "
        "splits; detectors are trained on all rows of the 70 %, outliers included and unlabelled; features are scaled "
        "to [0, 1] by the training rows."
    )
    #: ADBench counts from 1.
    first_seed: ClassVar[int] = 1

    max_rows: int | None = DEFAULT_MAX_ROWS
    contamination: float | None = None

    def splits(self, dataset: Dataset, seed: int) -> Sequence[Split]:
        """One split."""
        X, y = dataset.arrays()
        # ADBench seeds the global generator before it draws rows and splits with what follows: one stream does so too.
        random = np.random.RandomState(seed)
        few, many = ADBENCH_ROWS
        many = many if self.max_rows is None else min(many, self.max_rows)
        rows = limit_outliers(y, np.arange(len(y)), self.contamination, random)
        if len(rows) < few:
            rows = random.choice(rows, few, replace=True)
        elif len(rows) > many:
            rows = random.choice(rows, many, replace=False)
        train, test = train_test_split(rows, test_size=TEST_SHARE, stratify=y[rows], random_state=random)
        scaler = MinMaxScaler().fit(X[train])
        return [Split(scaler.transform(X[train]), scaler.transform(X[test]), y[test])]
