"""The two protocols of DTE (Livernoche et al., ICLR 2024), under which 26 methods have published figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.preprocessing import StandardScaler

from pyod_gessvdd.experiments.data.datasets import Dataset
from pyod_gessvdd.experiments.protocols.protocol import Array, Protocol, Split

#: Smaller sets are drawn up to the first with replacement, larger ones down to the second.
DTE_ROWS = (1_000, 50_000)

_DRAWN = (
    f"sets with fewer than {DTE_ROWS[0]:,} rows are drawn up to so many with replacement, so that copies of the rows "
    f"that are judged are trained on, and larger ones down to {DTE_ROWS[1]:,}"
)


@dataclass(frozen=True)
class DTESemi(Protocol):
    """Trained on the first half of the normal rows, in the order of the file; nothing is shuffled."""

    name: ClassVar[str] = "dte_semi"
    title: ClassVar[str] = "DTE's semi-supervised protocol"
    description: ClassVar[str] = (
        f"DTE's semi-supervised protocol: {_DRAWN}; detectors are trained on the first half of the normal rows, in the "
        "order of the file, and judged on the second half and all outliers; z-scores by the training rows."
    )

    def splits(self, dataset: Dataset, seed: int) -> Sequence[Split]:
        """One split; for sets between the two sizes it is the same for every seed."""
        X, y = _drawn(dataset, np.random.RandomState(seed))
        normal = np.flatnonzero(y == 0)
        n_train = round(0.5 * len(normal))
        test = np.append(normal[n_train:], np.flatnonzero(y == 1))
        scaler = StandardScaler().fit(X[normal[:n_train]])
        return [Split(scaler.transform(X[normal[:n_train]]), scaler.transform(X[test]), y[test])]


@dataclass(frozen=True)
class DTEUnsupervised(Protocol):
    """Trained on a bootstrap of all rows, judged on all rows."""

    name: ClassVar[str] = "dte_unsupervised"
    title: ClassVar[str] = "DTE's unsupervised protocol"
    description: ClassVar[str] = (
        f"DTE's unsupervised protocol: {_DRAWN}; z-scores by all rows; detectors are trained on a bootstrap of all "
        "rows, outliers included and unlabelled, and judged on all rows."
    )

    def splits(self, dataset: Dataset, seed: int) -> Sequence[Split]:
        """One split."""
        random = np.random.RandomState(seed)
        X, y = _drawn(dataset, random)
        X = StandardScaler().fit_transform(X)
        return [Split(X[random.choice(len(X), len(X), replace=True)], X, y)]


def _drawn(dataset: Dataset, random: np.random.RandomState) -> tuple[Array, Array]:
    X, y = dataset.arrays()
    few, many = DTE_ROWS
    if len(y) < few:
        rows = random.choice(len(y), few, replace=True)
    elif len(y) > many:
        rows = random.choice(len(y), many, replace=False)
    else:
        return X, y
    return X[rows], y[rows]
