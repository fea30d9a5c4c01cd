"""The trials: of each method on each split of each target, the point of the grid that the folds choose."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from pyod_gessvdd.experiments.detectors.paper.grid import grid_points
from pyod_gessvdd.experiments.detectors.paper.methods import METHODS

if TYPE_CHECKING:
    from pyod_gessvdd.experiments.result import ComparisonResult

Row = dict[str, Any]

#: What identifies a trial.
KEY = ("dataset", "description", "method", "target", "split")


def trials_of(result: ComparisonResult) -> tuple[list[Row], list[Row]]:
    """The trials whose points were all run, and the points of their sensitivity curves (paper S6).

    A trial has the figures of the point with the best validation, the first in the grid's order among equals: its
    model is fitted to all training positives. Points that do not exist for the rows are counted as infeasible; a trial
    without a point that does has the status "failed". A curve goes through that point, one hyperparameter changed.
    """
    arguments = result.meta["arguments"]
    parameters = dict(zip(result.detectors["name"], result.detectors["parameters"], strict=True))
    methods = dict(zip(result.detectors["name"], result.detectors["spec"], strict=True))
    n_features = dict(zip(result.datasets["name"], result.datasets["n_features"], strict=True))
    grouped: dict[tuple[Any, ...], dict[tuple[Any, ...], Row]] = defaultdict(dict)
    for job in result.table.to_dict("records"):
        point = dict(parameters[job["detector"]])
        dataset, _, target = job["dataset"].partition(":")
        split = job["seed"] - arguments["seed"]
        values = (dataset, point.pop("description"), methods[job["detector"]], target, split)
        grouped[values][tuple(point.items())] = job
    trials, sensitivity = [], []
    for trial_key, jobs in grouped.items():
        key: Row = dict(zip(KEY, trial_key, strict=True))
        columns = n_features[f"{key['dataset']}:{key['target']}"]
        points = grid_points(METHODS[key["method"]], key["description"], columns, quick=arguments["quick"])
        # In the grid's own order, in which the first hyperparameter changes last; values rise.
        grid = sorted((tuple(point.parameters.items()) for point in points), key=lambda point: [v for _, v in point])
        if all(point in jobs for point in grid):
            trial = _trial(grid, jobs)
            trials.append(key | trial)
            if trial["status"] == "done":
                sensitivity += [key | line for line in _curves(grid, jobs, trial["parameters"])]
    return trials, sensitivity


def _trial(grid: list[tuple[Any, ...]], jobs: dict[tuple[Any, ...], Row]) -> Row:
    counts = {
        "n_points": len(grid),
        "n_infeasible": sum(_is_nan(jobs[point]["validation"]) for point in grid if jobs[point]["status"] == "done"),
        "n_unsolved": sum(any("ConvergenceWarning" in text for text in jobs[point]["warnings"]) for point in grid),
        "n_train": jobs[grid[0]]["n_train"],
        "n_test": jobs[grid[0]]["n_test"],
    }
    done = [point for point in grid if jobs[point]["status"] == "done" and not _is_nan(jobs[point]["validation"])]
    if not done:
        errors = [jobs[point]["error"] for point in grid if jobs[point]["status"] != "done"]
        error = errors[0] if errors else f"none of the {len(grid)} points of the grid could be fitted"
        return counts | {"status": "failed", "error": error}
    best = max(done, key=lambda point: jobs[point]["validation"])
    job = jobs[best]
    if _is_nan(job["gmean"]):
        error = f"the best hyperparameters {dict(best)} cannot be fitted to all {job['n_train']} training positives"
        return counts | {"status": "failed", "error": error}
    rates = {name: job[name] for name in ("gmean", "tpr", "tnr")}
    rates |= {"fpr": 1.0 - job["tnr"], "fnr": 1.0 - job["tpr"]}
    chosen = {"cv_gmean": job["validation"], "parameters": dict(best)}
    return counts | rates | chosen | {"status": "done", "error": None}


def _curves(grid: list[tuple[Any, ...]], jobs: dict[tuple[Any, ...], Row], best: Row) -> list[Row]:
    lines = []
    for point in grid:
        changed = [name for name, value in point if value != best[name]]
        # The best point is on the curve of every hyperparameter.
        for name in changed if len(changed) == 1 else [] if changed else best:
            gmean = jobs[point]["gmean"]
            lines.append(
                {"parameter": name, "value": float(dict(point)[name]), "gmean": None if _is_nan(gmean) else gmean}
            )
    return lines


def _is_nan(value: float | None) -> bool:
    return value is None or value != value
