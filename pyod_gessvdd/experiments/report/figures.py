"""The figures of a comparison, each a matplotlib Figure that belongs to its caller (no pyplot, nothing shown)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.metrics import described
from pyod_gessvdd.experiments.report import curves as points
from pyod_gessvdd.experiments.report.formats import seconds as format_seconds
from pyod_gessvdd.experiments.report.labels import place_labels
from pyod_gessvdd.experiments.report.style import COLOURS, INK, MUTED, NORMAL, OUTLIER, PAPER, lines, plain, styled
from pyod_gessvdd.experiments.statistics.ranks import means, of_setting, rank
from pyod_gessvdd.experiments.statistics.significance import Significance, significance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pyod_gessvdd.experiments.result import ComparisonResult


#: Of a figure on a page and on a phone, in inches; the latter is 330 CSS pixels wide.
WIDE, NARROW = (8.6, 4.6), (3.45, 4.2)


@styled
def heatmap(result: ComparisonResult, metric: str = "roc_auc", setting: str | None = None) -> Figure:
    """Mean of the metric, data sets down and detectors across, the best mean rank first; a failure is a cross.

    Parameters
    ----------
    result : ComparisonResult
        The run.
    metric : str, default="roc_auc"
        What to show.
    setting : str, optional
        Needed if the run holds several.
    """
    from matplotlib.figure import Figure

    board = rank(of_setting(result.table, setting), metric)
    values = means(result.table, metric, setting)[board["detector"]]
    n_rows, n_columns = values.shape
    figure = Figure(figsize=(2.2 + 0.5 * n_columns, 1.4 + 0.28 * n_rows), layout="constrained")
    axes = figure.subplots()
    floor = described(metric).floor
    image = axes.imshow(values, cmap="Blues", aspect="auto", vmin=floor, vmax=1)
    for (i, j), value in np.ndenumerate(values.to_numpy()):
        deep = (value - floor) / (1 - floor) > 0.6
        ink = PAPER if deep else INK
        axes.text(j, i, "×" if np.isnan(value) else f"{value:.2f}", ha="center", va="center", fontsize=7.5, color=ink)
    axes.set_xticks(range(n_columns), [plain(name) for name in values.columns], rotation=45, ha="left")
    axes.set_yticks(range(n_rows), [plain(name) for name in values.index])
    axes.tick_params(length=0, top=False, bottom=False, labeltop=True, labelbottom=False)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    figure.colorbar(image, ax=axes, label=described(metric).label, pad=0.02, aspect=30).outline.set_visible(False)
    return figure


def critical_difference(result: ComparisonResult, metric: str = "roc_auc", setting: str | None = None) -> Figure:
    """Mean ranks on a line; a bar joins detectors that Nemenyi's test does not separate apart (Demšar, 2006).

    Raises
    ------
    ComparisonError
        If there are fewer than 3 detectors or 2 data sets.
    """
    return rank_diagram(significance(result.table, metric, setting))


@styled
def rank_diagram(found: Significance) -> Figure:
    """The critical-difference diagram of tests that are made already."""
    from matplotlib.figure import Figure
    from scikit_posthocs import critical_difference_diagram

    if found.critical_difference is None or found.nemenyi is None:
        raise ComparisonError(found.reason)
    n_detectors = len(found.mean_ranks)
    shown = {name: plain(name, 30) for name in found.mean_ranks.index}
    figure = Figure(figsize=(9.6, 1.25 + 0.17 * n_detectors), layout="constrained")
    axes = figure.subplots()
    axes.grid(visible=False)
    drawn = critical_difference_diagram(
        found.mean_ranks.rename(shown),
        found.nemenyi.rename(index=shown, columns=shown),
        alpha=found.alpha,
        ax=axes,
        label_fmt_left="{label}\u2003{rank:.2f}\u2002",
        label_fmt_right="\u2002{rank:.2f}\u2003{label}",
        text_h_margin=0.03 * n_detectors,
        elbow_props={"color": MUTED, "linewidth": 0.8},
        marker_props={"s": 14, "color": COLOURS[0]},
        label_props={"fontsize": 9},
        crossbar_props={"color": COLOURS[0], "linewidth": 2.6, "solid_capstyle": "round"},
    )
    for label in drawn["labels"]:
        label.set_color(INK)
    best = found.mean_ranks.min()
    axes.plot([best, best + found.critical_difference], [1.7, 1.7], color=INK, linewidth=1.2, marker="|", markersize=5)
    axes.text(
        best + found.critical_difference / 2, 1.95, f"critical difference {found.critical_difference:.2f}",
        ha="center", va="bottom", fontsize=8, color=INK,
    )  # fmt: skip
    axes.set_ylim(top=3.2)
    axes.tick_params(axis="x", labelsize=8, length=3)
    axes.spines["top"].set_visible(True)
    return figure


@styled
def rank_list(found: Significance) -> Figure:
    """The same for a narrow page: a row per detector, and a band over those as good as the best by Nemenyi's test."""
    from matplotlib.figure import Figure

    if found.critical_difference is None:
        raise ComparisonError(found.reason)
    figure = Figure(figsize=(NARROW[0], 0.7 + 0.22 * len(found.mean_ranks)), layout="constrained")
    axes = figure.subplots()
    best = found.mean_ranks.min()
    axes.axvspan(best, best + found.critical_difference, color=COLOURS[0], alpha=0.15, linewidth=0)
    axes.plot(found.mean_ranks, range(len(found.mean_ranks)), "o", color=COLOURS[0], markersize=5)
    axes.set_yticks(range(len(found.mean_ranks)), [plain(name, 22) for name in found.mean_ranks.index])
    axes.invert_yaxis()
    # From the right: beside long names the axis is shorter than its label.
    axes.set_xlabel(f"mean rank; critical difference {found.critical_difference:.2f}", loc="right")
    return figure


@styled
def quality_against_time(
    result: ComparisonResult,
    metric: str = "roc_auc",
    setting: str | None = None,
    size: tuple[float, float] = WIDE,
) -> Figure:
    """Mean of the metric against the mean time to fit and score; the line joins what nothing beats in both.

    A hollow point has a mean over fewer data sets than others, because jobs of it failed.
    """
    from matplotlib.figure import Figure

    board = rank(of_setting(result.table, setting), metric)
    board = board[board[metric].notna()]
    if board.empty:
        raise ComparisonError(f"no detector finished a data set with a value of {metric}; there is nothing to draw")
    seconds = (board["fit_seconds"] + board["score_seconds"]).to_numpy()
    quality = board[metric].to_numpy()
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    axes.set_xscale("log")
    front = pareto_front(seconds, quality)
    axes.plot(seconds[front], quality[front], color=MUTED, linewidth=1, zorder=1)
    style = lines(result.detectors["name"])
    for x, y, name, failures in zip(seconds, quality, board["detector"], board["failures"], strict=True):
        colour = style[name].colour
        axes.plot(x, y, "o", markersize=6.5, color=colour, markerfacecolor=PAPER if failures else colour)
    _label_times(axes, seconds)
    axes.set_xlabel("mean time to fit and score (logarithmic)")
    axes.set_ylabel(f"mean {described(metric).label}")
    axes.margins(x=0.18, y=0.12)
    names = [plain(name, 28) for name in board["detector"]]
    place_labels(axes, seconds, quality, names, line=front)
    return figure


def _label_times(axes: Axes, times: np.ndarray) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    few_decades = times.max() < 30 * times.min()
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if few_decades else (1,)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: format_seconds(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())


def pareto_front(cost: np.ndarray, quality: np.ndarray) -> list[int]:
    """Indices, by rising cost, of the points that no other one beats in one respect without losing in the other."""
    front: list[int] = []
    for i in np.lexsort((-quality, cost)):
        if not front or quality[i] > quality[front[-1]]:
            front.append(int(i))
    return front


@styled
def curves(
    result: ComparisonResult,
    dataset: str,
    setting: str | None = None,
    which: Sequence[str] = ("roc", "pr"),
    legend: bool = True,
) -> Figure:
    """ROC and precision-recall curves of a data set, each the mean over the seeds.

    Parameters
    ----------
    result : ComparisonResult
        The run.
    dataset : str
        Its name.
    setting : str, optional
        Needed if the run holds several.
    which : sequence of {"roc", "pr"}, default=("roc", "pr")
        What to draw, side by side.
    legend : bool, default=True
        Name the detectors.
    """
    from matplotlib.figure import Figure

    jobs = _jobs(result, dataset, setting)
    figure = Figure(figsize=(3.7 * len(which) + (1.9 if legend else 0), 3.6), layout="constrained")
    draw = {"roc": _draw_roc, "pr": _draw_precision}
    style = lines(result.detectors["name"])
    for kind, axes in zip(which, figure.subplots(ncols=len(which), squeeze=False)[0], strict=True):
        x, ys = draw[kind](axes, jobs)
        for i, name in enumerate(style):
            if name in ys:
                colour, dashes = style[name]
                axes.plot(
                    x, ys[name], color=colour, dashes=dashes or (None, None), label=plain(name), gid=f"series-{i}"
                )
        axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.02), aspect="equal")
    if legend:
        handles, names = figure.axes[-1].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside right center", handlelength=2.4)
    return figure


def _draw_roc(axes: Axes, jobs: dict[str, list[points.Scored]]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    axes.plot([0, 1], [0, 1], color=MUTED, linewidth=0.8, dashes=(2, 3))
    axes.set(title="ROC", xlabel="false-positive rate", ylabel="true-positive rate")
    # Without this the mean curve would seem to begin above the origin.
    return np.r_[0, points.GRID], {name: np.r_[0, points.mean_roc(of_one)] for name, of_one in jobs.items()}


def _draw_precision(axes: Axes, jobs: dict[str, list[points.Scored]]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    share = np.mean([labels.mean() for of_one in jobs.values() for labels, _ in of_one])
    axes.axhline(share, color=MUTED, linewidth=0.8, dashes=(2, 3))
    axes.set(title="Precision and recall", xlabel="recall", ylabel="precision")
    return points.RECALL, {name: points.mean_precision(of_one) for name, of_one in jobs.items()}


@styled
def score_distributions(
    result: ComparisonResult, dataset: str, setting: str | None = None, legend: bool = True
) -> Figure:
    """Scores of normal rows and of outliers per detector, the best ROC-AUC first, over all seeds.

    Parameters
    ----------
    result : ComparisonResult
        The run.
    dataset : str
        Its name.
    setting : str, optional
        Needed if the run holds several.
    legend : bool, default=True
        Name the two colours.
    """
    from matplotlib.figure import Figure
    from sklearn.metrics import roc_auc_score

    jobs = _jobs(result, dataset, setting)
    quality = {name: np.mean([roc_auc_score(*job) for job in of_one]) for name, of_one in jobs.items()}
    names = sorted(jobs, key=lambda name: -quality[name])
    figure = Figure(figsize=(7.4, 0.9 + 0.36 * len(names)), layout="constrained")
    axes = figure.subplots()
    for row, name in enumerate(names):
        _draw_ridge(axes, -row, points.distribution(jobs[name]))
        axes.text(1.01, -row + 0.15, f"{quality[name]:.3f}", transform=axes.get_yaxis_transform(), fontsize=8)
    axes.text(1.01, 1.0, "ROC-AUC", transform=axes.get_yaxis_transform(), fontsize=8, color=MUTED)
    axes.set_yticks([-row for row in range(len(names))], [plain(name, 28) for name in names], va="bottom")
    axes.tick_params(axis="y", length=0)
    at = np.array([-10, -1, 0, 1, 10, 100, 1000])
    axes.set_xticks(np.arcsinh(at), [f"{tick:,}".replace("-", "−") for tick in at])
    axes.set(xlim=(points.LOWEST, points.HIGHEST), ylim=(-len(names) + 0.8, 1.5))
    axes.set_xlabel("distance from the normal rows' median, in their quartile ranges (asinh axis)")
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False, axis="y")
    if legend:
        figure.legend(handles=_keys(), loc="outside upper right", ncols=2)
    return figure


def _draw_ridge(axes: Axes, base: float, shape: points.Distribution) -> None:
    highest = max(shape.normal.max(), shape.outliers.max(), 1e-300)
    for density, colour in ((shape.normal, NORMAL), (shape.outliers, OUTLIER)):
        seen = np.flatnonzero(density > 0.002 * highest)
        if len(seen):
            part = slice(max(seen[0] - 1, 0), seen[-1] + 2)
            x = shape.centres[part]
            outline = np.r_[base, base + 0.92 * density[part] / highest, base]
            axes.fill(np.r_[x[0], x, x[-1]], outline, facecolor=(colour, 0.3), edgecolor=colour, linewidth=0.9)


def _keys() -> list[Any]:
    from matplotlib.patches import Patch

    return [Patch(color=NORMAL, alpha=0.5, label="normal rows"), Patch(color=OUTLIER, alpha=0.5, label="outliers")]


def _jobs(result: ComparisonResult, dataset: str, setting: str | None) -> dict[str, list[points.Scored]]:
    if dataset not in set(result.datasets["name"]):
        known = ", ".join(map(repr, result.datasets["name"]))
        raise ComparisonError(f"unknown data set {dataset!r}; the run holds {known}")
    jobs = points.scored_jobs(result, dataset, setting)
    if not jobs:
        raise ComparisonError(f"no detector finished the data set {dataset!r}; there is nothing to draw")
    return jobs
