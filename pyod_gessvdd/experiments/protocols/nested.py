"""The paper's protocol: stratified 70/30 splits, and five folds within the training rows to choose by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import train_test_split

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.data.datasets import Dataset
from pyod_gessvdd.experiments.protocols.novelty import TEST_SHARE
from pyod_gessvdd.experiments.protocols.protocol import Array, Protocol, Split
from pyod_gessvdd.model_selection import OneClassKFold

#: The share of each class of MNIST's own training and test part that is used.
MNIST_SHARE = 0.1
#: The number of folds within the training rows.
N_FOLDS = 5

#: How features can be scaled by the training positives: what is taken off, and what the rest is divided by.
SCALES: dict[str, Callable[[Array], tuple[Any, Any]]] = {
    "minmax": lambda positives: (positives.min(axis=0), np.ptp(positives, axis=0)),
    "standard": lambda positives: (positives.mean(axis=0), positives.std(axis=0)),
    "none": lambda positives: (0.0, np.ones(positives.shape[1])),
}


@dataclass(frozen=True)
class Nested(Protocol):
    """Training on positives, the rows of the target class; the folds give a job its ``validation``.

    The paper says nothing of scaling, but its figures do: on unscaled Heart, where one feature has the range 438 and
    another 1, GESSVDD-0-GR-max, which whitens nothing, refuses hardly any row of the other class (TNR 0.10 and 0.05;
    the paper: 0.34 and 0.47). Of the scalings by the training positives, to [0, 1] came nearest to the paper's figures
    (root mean square difference of Gmean over five variants and two splits 0.06; standardised 0.10; unscaled 0.19).
    MNIST's features share one unit and stay as they are.

    Parameters
    ----------
    scale : {"minmax", "standard", "none"}
        How the features are scaled, by the training rows of the target class.
    """

    name: ClassVar[str] = "nested"
    title: ClassVar[str] = "Nested cross-validation"
    description: ClassVar[str] = (
        "The paper's protocol: stratified 70/30 splits; detectors are trained on the normal rows of the 70 %, scaled "
        "to [0, 1] by them, and tested on the 30 %. Five folds within the 70 % give the validation figure by which "
        "hyperparameters are chosen."
    )

    scale: str = "minmax"

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise ComparisonError(f"scale must be {', '.join(SCALES)}, got {self.scale!r}")

    def splits(self, dataset: Dataset, seed: int) -> Sequence[Split]:
        """One split with its folds: the same rows for every target and every method."""
        X, classes = dataset.arrays()
        target = getattr(dataset, "target", 0)
        noisy = getattr(dataset, "noisy", (False, False))
        first_test_row = getattr(dataset, "first_test_row", None)
        train, test = _draw_rows(classes, first_test_row, seed)
        rows = [X[train].astype(float), X[test].astype(float)]
        positive = classes[train] == target
        if any(noisy):
            random = np.random.default_rng(seed)
            low, high = rows[0][positive].min(axis=0), rows[0][positive].max(axis=0)
            noises = [bounded_noise(part.shape, low, high, random) for part in rows]
            rows = [
                part + noise if is_noisy else part for part, noise, is_noisy in zip(rows, noises, noisy, strict=True)
            ]
        if first_test_row is None:
            origin, unit = SCALES[self.scale](rows[0][positive])
            rows = [(part - origin) / np.where(unit > 0, unit, 1.0) for part in rows]
        inner = [
            Split(rows[0][fit], rows[0][held], (~positive[held]).astype(np.int8), duplicates=0)
            for fit, held in OneClassKFold(N_FOLDS, random_state=seed, normal=True).split(rows[0], positive)
        ]
        return [Split(rows[0][positive], rows[1], (classes[test] != target).astype(np.int8), inner=inner)]


def bounded_noise(shape: tuple[int, ...], low: Array, high: Array, random: np.random.Generator) -> Array:
    """Standard normal values, bounded to [low, high] of each feature.

    The paper: "adding pseudo-random values drawn from the standard normal distribution to the features. We bound the
    range of added noise for the corresponding attribute to the maximum and minimum value of each feature of the target
    class in the training set." Taken at its word, what is bounded is the value that is added: a feature that never
    falls below 94 gets at least 94 more. That moves the noisy rows away from the clean ones, and gives ESVDD and OCSVM
    the Gmean of 0.00 that the paper has where only one of the two parts is noisy; the same noise added after scaling to
    [0, 1] does not. SVDD's published 0.27 to 0.42 there is not reproduced.
    """
    return np.clip(random.standard_normal(shape), low, high)


def _draw_rows(classes: Array, first_test_row: int | None, seed: int) -> tuple[Array, Array]:
    rows = np.arange(len(classes))
    if first_test_row is None:
        train, test = train_test_split(rows, test_size=TEST_SHARE, stratify=classes, random_state=seed)
        return train, test
    parts = []
    for part in (rows[:first_test_row], rows[first_test_row:]):
        drawn, _ = train_test_split(part, train_size=MNIST_SHARE, stratify=classes[part], random_state=seed)
        parts.append(drawn)
    return parts[0], parts[1]
