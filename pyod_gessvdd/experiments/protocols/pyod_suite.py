"""The protocol of PyOD's own benchmark (its ``notebooks/benchmark.py``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pyod.utils.utility import standardizer
from sklearn.model_selection import train_test_split

from pyod_gessvdd.experiments.data.datasets import Dataset
from pyod_gessvdd.experiments.protocols.protocol import Protocol, Split

TEST_SHARE = 0.4


@dataclass(frozen=True)
class PyODSuite(Protocol):
    """A random 60/40 split, outliers in both parts, and the true share of outliers as the detectors' contamination."""

    name: ClassVar[str] = "pyod"
    title: ClassVar[str] = "PyOD's benchmark"
    description: ClassVar[str] = (
        "The protocol of PyOD's benchmark: random 60/40 splits, not stratified; detectors are trained on all rows of "
        "the 60 %, outliers included and unlabelled, with the data set's share of outliers as their contamination; "
        "features are standardised by the training rows."
    )

    def splits(self, dataset: Dataset, seed: int) -> Sequence[Split]:
        """One split."""
        X, y = dataset.arrays()
        random = np.random.RandomState(seed)
        train, test, _, labels = train_test_split(X, y, test_size=TEST_SHARE, random_state=random)
        train, test = standardizer(train, test)
        # PyOD's detectors take at most one half.
        return [Split(train, test, labels, contamination=min(float(np.mean(y)), 0.5))]
