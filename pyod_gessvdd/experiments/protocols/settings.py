"""How rows become training and test rows: the novelty protocol and ADBench's unsupervised one.

The split depends on the data, the setting and the seed alone, so all detectors see the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.data.datasets import Dataset

TEST_SHARE = 0.3

#: Sets with more rows are subsampled to so many, unless asked otherwise; as many as ADBench takes.
DEFAULT_MAX_ROWS = 10_000

#: ADBench bootstraps smaller sets up to the first and subsamples larger ones down to the second.
ADBENCH_ROWS = (1_000, 10_000)

#: The settings, and the first seed when a number of seeds is given: ADBench counts from 1.
SETTINGS = {"novelty": 0, "unsupervised": 1}


@dataclass(frozen=True)
class Split:
    """Scaled training and test rows, the test rows' labels, and how many test rows are training rows too."""

    train: np.ndarray
    test: np.ndarray
    labels: np.ndarray
    duplicates: int


def settings_of(setting: str) -> tuple[str, ...]:
    """The settings that "novelty", "unsupervised" or "both" stands for."""
    if setting == "both":
        return tuple(SETTINGS)
    if setting not in SETTINGS:
        raise ComparisonError(f"setting must be {', '.join(SETTINGS)} or both, got {setting!r}")
    return (setting,)


def seeds_of(seeds: Any, setting: str) -> tuple[int, ...]:
    """The seeds of a setting: ``n`` means 0..n-1 (novelty) or 1..n (unsupervised, as in ADBench); a list is taken."""
    if isinstance(seeds, int | np.integer) and not isinstance(seeds, bool) and seeds >= 1:
        first = SETTINGS[setting]
        return tuple(range(first, first + int(seeds)))
    if isinstance(seeds, Iterable) and not isinstance(seeds, str):
        listed = list(seeds)
        if listed and all(isinstance(seed, int | np.integer) and 0 <= seed < 2**32 for seed in listed):
            return tuple(dict.fromkeys(int(seed) for seed in listed))
    raise ComparisonError(f"seeds must be a positive number of seeds or a list of seeds in 0..2**32-1, got {seeds!r}")


@lru_cache(maxsize=2)
def split(dataset: Dataset, setting: str, seed: int, max_rows: int | None = DEFAULT_MAX_ROWS) -> Split:
    """The split of a data set; a process keeps the ones used last.

    Parameters
    ----------
    dataset : Dataset
        The data.
    setting : {"novelty", "unsupervised"}
        "novelty": a stratified 70/30 split; training on the normal rows of the 70 %, standardised by them; test on the
        30 %. "unsupervised": ADBench's protocol; fewer than 1,000 rows are bootstrapped to 1,000 before the split and
        more than 10,000 subsampled to 10,000, then a stratified 70/30 split; training on all of the 70 %, outliers
        included; both parts scaled to [0, 1] by the training part.
    seed : int
        Draws the rows and the split.
    max_rows : int or None
        Larger sets are subsampled to so many rows first (novelty: stratified; None takes all). The unsupervised
        setting never has more than ADBench's 10,000, and follows ADBench only with no smaller number here.
    """
    X, y = dataset.arrays()
    parts = _novelty(X, y, seed, max_rows) if setting == "novelty" else _unsupervised(X, y, seed, max_rows)
    train, test, labels = parts
    return Split(train, test, labels, _count_duplicates(train, test))


def _novelty(X: np.ndarray, y: np.ndarray, seed: int, max_rows: int | None) -> tuple[np.ndarray, ...]:
    rows = np.arange(len(y))
    if max_rows is not None and len(y) > max_rows:
        rows, _ = train_test_split(rows, train_size=max_rows, stratify=y, random_state=seed)
    train, test = train_test_split(rows, test_size=TEST_SHARE, stratify=y[rows], random_state=seed)
    normal = X[train[y[train] == 0]]
    # A constant column has no deviation to divide by; StandardScaler then divides by one.
    scaler = StandardScaler().fit(normal)
    return scaler.transform(normal), scaler.transform(X[test]), y[test]


def _unsupervised(X: np.ndarray, y: np.ndarray, seed: int, max_rows: int | None) -> tuple[np.ndarray, ...]:
    # ADBench seeds the global generator before it draws rows and splits with what follows: one stream does the same.
    random = np.random.RandomState(seed)
    few, many = ADBENCH_ROWS
    many = many if max_rows is None else min(many, max_rows)
    rows = np.arange(len(y))
    if len(y) < few:
        rows = random.choice(rows, few, replace=True)
    elif len(y) > many:
        rows = random.choice(rows, many, replace=False)
    train, test = train_test_split(rows, test_size=TEST_SHARE, stratify=y[rows], random_state=random)
    scaler = MinMaxScaler().fit(X[train])
    return scaler.transform(X[train]), scaler.transform(X[test]), y[test]


def _count_duplicates(train: np.ndarray, test: np.ndarray) -> int:
    # Adding 0.0 makes one of the two zeros.
    seen = {row.tobytes() for row in np.ascontiguousarray(train + 0.0)}
    return sum(row.tobytes() in seen for row in np.ascontiguousarray(test + 0.0))
