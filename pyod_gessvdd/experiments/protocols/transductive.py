"""Transductive detection: fit on all rows and judge their own scores, which is how PyOD is mostly used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from pyod_gessvdd.experiments.data.datasets import Dataset
from pyod_gessvdd.experiments.protocols.novelty import DEFAULT_MAX_ROWS
from pyod_gessvdd.experiments.protocols.protocol import Protocol, Split, limit_outliers


@dataclass(frozen=True)
class Transductive(Protocol):
    """All rows, outliers included, are fitted and judged; there is no split.

    Parameters
    ----------
    max_rows : int or None
        Of larger sets this many rows are drawn, stratified; None takes all.
    contamination : float, optional
        Outliers are dropped until they are at most this share of the rows.
    """

    name: ClassVar[str] = "transductive"
    title: ClassVar[str] = "Transductive detection"
    description: ClassVar[str] = (
        "Detectors are fitted on all rows, outliers included and unlabelled, and judged by their decision_scores_ of "
        "the same rows; features are standardised."
    )

    max_rows: int | None = DEFAULT_MAX_ROWS
    contamination: float | None = None

    def splits(self, dataset: Dataset, seed: int) -> Sequence[Split]:
        """One split, whose two sides are the same rows."""
        X, y = dataset.arrays()
        random = np.random.RandomState(seed)
        rows = limit_outliers(y, np.arange(len(y)), self.contamination, random)
        if self.max_rows is not None and len(rows) > self.max_rows:
            rows, _ = train_test_split(rows, train_size=self.max_rows, stratify=y[rows], random_state=random)
        train = StandardScaler().fit_transform(X[rows])
        return [Split(train, train, y[rows], transductive=True)]
