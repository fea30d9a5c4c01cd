"""The pictures of the HTML report: inline drawings, and the cells of its heat map and of its matrix of tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyod_gessvdd.experiments.report import curves as points
from pyod_gessvdd.experiments.report import figures
from pyod_gessvdd.experiments.report import loss_figures as loss_pictures
from pyod_gessvdd.experiments.report.svg import inline_svg
from pyod_gessvdd.experiments.statistics.ranks import of_setting
from pyod_gessvdd.experiments.statistics.significance import Significance

if TYPE_CHECKING:
    import pandas as pd

    from pyod_gessvdd.experiments.result import ComparisonResult

Row = dict[str, Any]

#: From this place on a cell of the heat map is so dark (in the dark theme: so light) that its ink is the other one; at
#: this point both have a contrast of 4.5 to 1.
DEEP = 0.66


def metric_figures(result: ComparisonResult, setting: str, by_metric: Row) -> dict[str, str]:
    """The critical-difference diagram (unless there are too few data) and quality against time, as SVG."""
    metric, name = by_metric["key"], by_metric["name"]
    drawn = {}
    if not by_metric["significance"].reason:
        ranks = ", ".join(f"{who} {rank:.2f}" for who, rank in by_metric["significance"].mean_ranks.items())
        said = f"Critical-difference diagram of {name}. Mean ranks: {ranks}."
        found = by_metric["significance"]
        drawn["critical_difference"] = inline_svg(figures.rank_diagram(found), f"cd-{setting}-{metric}", said)
        drawn["critical_difference_narrow"] = inline_svg(figures.rank_list(found), f"cds-{setting}-{metric}", said)
    if any(row["finished"] for row in by_metric["board"]):
        said = f"Mean {name} against the time to fit and score; the leaderboard has the numbers."
        for suffix, size in (("", figures.WIDE), ("_narrow", figures.NARROW)):
            drawn[f"quality_against_time{suffix}"] = inline_svg(
                figures.quality_against_time(result, metric, setting, size), f"time{suffix}-{setting}-{metric}", said
            )
    return drawn


def dataset_panels(result: ComparisonResult, setting: str, datasets: list[str]) -> list[Row]:
    """What the page's script draws of each data set: curves and score distributions as whole numbers, to be small."""
    series = {name: i for i, name in enumerate(result.detectors["name"])}
    rows = of_setting(result.table, setting)
    done = rows[rows["status"] == "done"]
    quality = done.groupby(["dataset", "detector"])[["roc_auc", "average_precision"]].mean()
    panels = []
    for dataset in datasets:
        jobs = points.scored_jobs(result, dataset, setting)
        lines = [
            {"series": series[name], "name": name, **_quality(quality.loc[(dataset, name)]), **_shapes(jobs[name])}
            for name in jobs
        ]
        # What has no ROC-AUC goes last, as in the tables.
        lines.sort(key=lambda line: -np.inf if line["roc_auc"] is None else line["roc_auc"], reverse=True)
        labels = next(iter(jobs.values()))[0][0] if jobs else np.zeros(0)
        panels.append({"dataset": dataset, "n_test": len(labels), "n_outliers": int(labels.sum()), "detectors": lines})
    return panels


def _quality(row: pd.Series) -> Row:
    return {name: None if np.isnan(value) else round(float(value), 6) for name, value in row.items()}


def _shapes(jobs: list[points.Scored]) -> dict[str, list[int]]:
    """Curves in thousandths, densities in thousandths of the higher one's peak."""
    shape = points.distribution(jobs)
    peak = max(shape.normal.max(), shape.outliers.max(), 1e-300)
    numbers = {
        "roc": np.r_[0, points.mean_roc(jobs)],
        "pr": points.mean_precision(jobs),
        "normal": shape.normal / peak,
        "outliers": shape.outliers / peak,
    }
    return {name: np.rint(1000 * values).astype(int).tolist() for name, values in numbers.items()}


def axes_of_panels() -> Row:
    """What the numbers of the panels stand over."""
    return {
        "roc": [0, *points.GRID.round(4).tolist()],
        "pr": points.RECALL.round(4).tolist(),
        "scores": {"low": points.LOWEST, "high": points.HIGHEST, "bins": points.N_BINS},
    }


def heat(by_metric: Row) -> list[Row]:
    """Rows of the heat map: per detector the value, ± the seeds, its place between floor and 1, whether it is best."""
    record, spread = by_metric["record"], by_metric["deviations"]
    rows = []
    for dataset, row in by_metric["values"].iterrows():
        best = row.max() if record.higher_is_better else row.min()
        cells = [
            {
                "value": value,
                "deviation": deviation,
                "place": float(np.clip((value - record.floor) / (1 - record.floor), 0, 1)),
                "best": value == best,
                "deep": float(np.clip((value - record.floor) / (1 - record.floor), 0, 1)) > DEEP,
            }
            if np.isfinite(value)
            else None
            for value, deviation in zip(row, spread.loc[dataset], strict=True)
        ]
        rows.append({"dataset": dataset, "cells": cells})
    return rows


def bayes_matrix(found: Significance) -> list[Row]:
    """Rows of the matrix of beliefs: how likely the detector of the row is practically better than each other one.

    A detector that finished no data set that another did is compared with none, and has no row.
    """
    belief = {}
    for row in found.bayes.to_dict("records"):
        belief[row["a"], row["b"]] = row
        belief[row["b"], row["a"]] = row | {"better": row["worse"], "worse": row["better"]}
    compared = {name for pair, row in belief.items() if np.isfinite(row["better"]) for name in pair}
    names = [name for name in found.mean_ranks.index if name in compared]
    return [{"detector": a, "cells": [belief.get((a, b)) for b in names]} for a in names]


def loss_figures(result: ComparisonResult, setting: str, by_metric: Row) -> Row:
    """The scatter plot of all data sets, the losses by trait, and the table of the largest, if there are enough."""
    lost = by_metric["losses"]
    if lost is None:
        return {}
    metric, table, subject = by_metric["key"], lost["table"], lost["subject"]
    said = f"{by_metric['name']} of {subject} against the best other detector, {len(table)} data sets."
    return {
        "scatter": inline_svg(loss_pictures.scatter(table, subject, metric), f"scatter-{setting}-{metric}", said),
        "by_trait": inline_svg(
            loss_pictures.by_trait(table, subject, metric),
            f"traits-{setting}-{metric}",
            f"Difference to the best other detector by the traits of the data; {'; '.join(lost['common'])}.",
        ),
    }


def wilcoxon_matrix(found: Significance) -> list[Row]:
    """Rows of the matrix of tests: a detector against those that rank after it, and whether it is the worse one."""
    names = list(found.mean_ranks.index)
    pairs = {(row["a"], row["b"]): row for row in found.wilcoxon.to_dict("records")}
    return [
        {"detector": a, "cells": [_cell(pairs[a, b], found.alpha) if j > i else None for j, b in enumerate(names)]}
        for i, a in enumerate(names)
    ]


def _cell(pair: Row, alpha: float) -> Row:
    return {**pair, "worse": pair["better"] == pair["b"], "told_apart": pair["p_holm"] < alpha}
