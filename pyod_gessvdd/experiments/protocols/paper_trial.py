"""The trial: one method on one split of one target class, its hyperparameters found by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ParameterGrid

from pyod_gessvdd.errors import NotSolvedError
from pyod_gessvdd.experiments.data.paper import DATASETS, load
from pyod_gessvdd.experiments.detectors.paper.methods import LINEAR, METHODS, NONLINEAR, Method
from pyod_gessvdd.experiments.detectors.paper.shared_features import SharedFeatures
from pyod_gessvdd.experiments.protocols.paper_split import Split, draw_split
from pyod_gessvdd.model_selection import OneClassKFold

Array = np.ndarray

#: The number of folds within the training rows.
N_FOLDS = 5


class Trial(NamedTuple):
    """What identifies a trial; ``target`` is the class's label in the data."""

    dataset: str
    description: str
    method: str
    target: str
    split: int


@dataclass(frozen=True)
class Rates:
    """The shares of positives accepted (TPR) and of negatives refused (TNR), and what follows from them."""

    tpr: float
    tnr: float

    @classmethod
    def of(cls, positive: Array, accepted: Array) -> Rates:
        """From which rows are positive, and which were accepted."""
        return cls(float(accepted[positive].mean()), float(1.0 - accepted[~positive].mean()))

    @property
    def gmean(self) -> float:
        """√(TPR · TNR)."""
        return float(np.sqrt(self.tpr * self.tnr))


@dataclass(frozen=True)
class Outcome:
    """How a trial ended.

    Attributes
    ----------
    gmean, tpr, tnr, fpr, fnr : float
        On the test rows.
    cv_gmean : float
        The mean over the folds, of the best hyperparameters.
    parameters : dict
        The best hyperparameters; the first in the grid's order among equals.
    sensitivity : list of (parameter, value, Gmean)
        On the test rows, with one hyperparameter changed and the others at their best (paper S6).
    n_fits : int
        How many models were fitted.
    n_infeasible : int
        How many points of the grid could not be fitted in some fold: d above the number of features, C below 1/N.
    n_unsolved : int
        How many fits warned that a QP was not solved to its tolerance.
    n_train, n_test : int
        The numbers of training positives and of test rows.
    seconds : float
        How long it took.
    """

    gmean: float
    tpr: float
    tnr: float
    fpr: float
    fnr: float
    cv_gmean: float
    parameters: dict[str, Any]
    sensitivity: list[tuple[str, float, float]] = field(default_factory=list)
    n_fits: int = 0
    n_infeasible: int = 0
    n_unsolved: int = 0
    n_train: int = 0
    n_test: int = 0
    seconds: float = 0.0

    def columns(self) -> dict[str, Any]:
        """The fields as a mapping, without copies."""
        return asdict(self)


class _Fitter:
    """Fits a method to the same rows with many hyperparameters, and measures each model on the same other rows."""

    def __init__(self, method: Method, description: str, seed: int, train: Array, test: Array, positive: Array) -> None:
        self.method, self.description, self.seed = method, description, seed
        self.train, self.test, self.positive = train, test, positive
        self.shared = method.shared_graph()
        self.features = SharedFeatures(train, test)
        self.n_fits = 0

    def rates(self, parameters: dict[str, Any]) -> Rates | None:
        """What a model with these hyperparameters reaches, or None if there is no such model of these rows."""
        self.n_fits += 1
        try:
            return Rates.of(self.positive, self._accepted(parameters))
        except (ValueError, NotSolvedError):
            return None

    def _accepted(self, parameters: dict[str, Any]) -> Array:
        """Which of the other rows a model with these hyperparameters accepts."""
        description, train, test = self.description, self.train, self.test
        if self.method.is_variant and description == NONLINEAR:
            parameters = dict(parameters)
            train, test = self.features.of(parameters.pop("sigma"))
            description = LINEAR
        model = self.method.build(description, parameters, self.seed, self.shared).fit(train)
        return np.asarray(model.predict(test) == 0)


def run_trial(trial: Trial, data_dir: Path, *, seed: int = 0, quick: bool = False, scale: str = "minmax") -> Outcome:
    """Split, search, fit all training positives with the best hyperparameters, and test.

    Parameters
    ----------
    trial : Trial
        Which one.
    data_dir : Path
        The folder of the data sets.
    seed : int, default=0
        Seeds split number 0; the others follow.
    quick : bool, default=False
        Whether to search fewer values.
    scale : {"minmax", "standard", "none"}
        See :func:`~pyod_gessvdd.experiments.protocols.paper_split.draw_split`.
    """
    start = perf_counter()
    method = METHODS[trial.method]
    rows = load(trial.dataset, data_dir)
    split = draw_split(DATASETS[trial.dataset], rows, trial.target, seed + trial.split, scale)
    grid = method.grid(trial.description, split.train.shape[1], quick=quick)
    with warnings.catch_warnings(record=True) as caught:
        # Lost dimensions are what some variants do; an unsolved QP is counted.
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", ConvergenceWarning)
        outcome = _search_and_test(method, trial.description, grid, split, seed + trial.split)
    return Outcome(**{**outcome, "n_unsolved": len(caught), "seconds": perf_counter() - start})


def _search_and_test(method: Method, description: str, grid: dict[str, Any], split: Split, seed: int) -> dict[str, Any]:
    points = list(ParameterGrid(grid))
    points.sort(key=lambda point: [grid[name].index(point[name]) for name in grid])
    folds = [
        _Fitter(method, description, seed, split.train[fit], split.train[held], split.train_positive[held])
        for fit, held in OneClassKFold(N_FOLDS, random_state=seed, normal=True).split(split.train, split.train_positive)
    ]
    scores = _mean_gmeans(points, folds)
    if np.isnan(scores).all():
        raise ValueError(f"none of the {len(points)} points of the grid could be fitted")
    best = points[int(np.nanargmax(scores))]
    positives = split.train[split.train_positive]
    final = _Fitter(method, description, seed, positives, split.test, split.test_positive)
    rates = final.rates(best)
    if rates is None:
        raise ValueError(f"the best hyperparameters {best} cannot be fitted to all {len(positives)} training positives")
    return {
        "gmean": rates.gmean,
        "tpr": rates.tpr,
        "tnr": rates.tnr,
        "fpr": 1.0 - rates.tnr,
        "fnr": 1.0 - rates.tpr,
        "cv_gmean": float(np.nanmax(scores)),
        "parameters": best,
        "sensitivity": _sensitivity(grid, best, final.rates),
        "n_fits": final.n_fits + sum(fold.n_fits for fold in folds),
        "n_infeasible": int(np.isnan(scores).sum()),
        "n_train": len(positives),
        "n_test": len(split.test),
    }


def _mean_gmeans(points: Sequence[dict[str, Any]], folds: Sequence[_Fitter]) -> Array:
    """The mean Gmean of each point over the folds, NaN if it cannot be fitted in one of them."""
    table = np.full((len(points), len(folds)), np.nan)
    # The kernel's width in the outer loop: it alone changes the features and the graph that a fold's fits share.
    by_width = sorted(range(len(points)), key=lambda row: points[row].get("sigma", 0.0))
    for column, fold in enumerate(folds):
        for row in by_width:
            # What could not be fitted in an earlier fold is out already.
            if column == 0 or not np.isnan(table[row, column - 1]):
                rates = fold.rates(points[row])
                table[row, column] = np.nan if rates is None else rates.gmean
    return table.mean(axis=1)


def _sensitivity(
    grid: dict[str, Any], best: dict[str, Any], rates: Callable[[dict[str, Any]], Rates | None]
) -> list[tuple[str, float, float]]:
    """Gmean on the test rows along each axis of the grid through the best point."""
    lines = []
    for name, values in grid.items():
        for value in values:
            reached = rates({**best, name: value})
            lines.append((name, float(value), float("nan") if reached is None else reached.gmean))
    return lines
