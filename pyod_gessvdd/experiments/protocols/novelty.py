"""Novelty detection: train on normal rows alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from pyod_gessvdd.experiments.data.datasets import Dataset
from pyod_gessvdd.experiments.protocols.protocol import Protocol, Split

TEST_SHARE = 0.3

#: Sets with more rows are subsampled to this many, unless asked otherwise; as many as ADBench takes.
DEFAULT_MAX_ROWS = 10_000


@dataclass(frozen=True)
class Novelty(Protocol):
    """A stratified 70/30 split, its 70 % without the outliers.

    Parameters
    ----------
    max_rows : int or None
        Larger sets are subsampled to this many rows first, stratified; None takes all.
    """

    name: ClassVar[str] = "novelty"
    title: ClassVar[str] = "Novelty detection"
    description: ClassVar[str] = (
        "Stratified 70/30 splits; detectors are trained on the normal rows of the 70 % alone, which are also what the "
        "data are standardised by, and tested on the other 30 %."
    )

    max_rows: int | None = DEFAULT_MAX_ROWS

    def splits(self, dataset: Dataset, seed: int) -> Sequence[Split]:
        """One split."""
        X, y = dataset.arrays()
        rows = np.arange(len(y))
        if self.max_rows is not None and len(y) > self.max_rows:
            rows, _ = train_test_split(rows, train_size=self.max_rows, stratify=y, random_state=seed)
        train, test = train_test_split(rows, test_size=TEST_SHARE, stratify=y[rows], random_state=seed)
        normal = X[train[y[train] == 0]]
        # A constant column has no deviation to divide by; StandardScaler then divides by one.
        scaler = StandardScaler().fit(normal)
        return [Split(scaler.transform(normal), scaler.transform(X[test]), y[test])]
