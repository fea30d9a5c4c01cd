"""Pictures of where a detector loses: every data set against the best other, and the losses by the data's traits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pyod_gessvdd.experiments.metrics import described
from pyod_gessvdd.experiments.report.labels import place_labels
from pyod_gessvdd.experiments.report.style import INK, MUTED, NORMAL, OUTLIER, plain, styled
from pyod_gessvdd.experiments.statistics.bayes import ROPE
from pyod_gessvdd.experiments.statistics.losses import LABELS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

#: So many data sets are named in the scatter plot.
NAMED = 6
#: Traits that span decades.
LOGARITHMIC = ("n_rows", "n_features")


@styled
def scatter(table: pd.DataFrame, subject: str, metric: str, size: float = 5.2) -> Figure:
    """Each data set a point: the subject's figure against the best other's; above the line the subject is better.

    Parameters
    ----------
    table : DataFrame
        From :func:`~pyod_gessvdd.experiments.statistics.losses.against_the_best_other`.
    subject, metric : str
        What it is of.
    size : float
        Inches.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(size, size), layout="constrained")
    axes = figure.subplots()
    best, own = table["best"].to_numpy(), table["own"].to_numpy()
    low = min(best.min(), own.min()) - 0.03
    axes.plot([low, 1.02], [low, 1.02], color=MUTED, linewidth=0.9)
    axes.fill_between([low, 1.02], [low - ROPE, 1.02 - ROPE], [low + ROPE, 1.02 + ROPE], color=MUTED, alpha=0.15, lw=0)
    lost = table["difference"].to_numpy() < -ROPE
    axes.plot(best[~lost], own[~lost], "o", color=NORMAL, markersize=4.5, alpha=0.8)
    axes.plot(best[lost], own[lost], "o", color=OUTLIER, markersize=4.5, alpha=0.8)
    label = described(metric).label
    axes.set(xlim=(low, 1.02), ylim=(low, 1.02), aspect="equal")
    axes.set_xlabel(f"{label} of the best other detector")
    axes.set_ylabel(f"{label} of {plain(subject, 30)}")
    named = table.head(NAMED)
    named = named[named["difference"] < -ROPE]
    if len(named):
        names = [plain(str(name), 22) for name in named.index]
        place_labels(axes, named["best"].to_numpy(), named["own"].to_numpy(), names)
    return figure


@styled
def by_trait(table: pd.DataFrame, subject: str, metric: str) -> Figure:
    """The difference to the best other detector against each trait of the data, with the median of each third."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    names = [name for name in LABELS if name in table]
    n_columns = min(3, len(names))
    n_rows = -(-len(names) // n_columns)
    figure = Figure(figsize=(2.9 * n_columns, 2.3 * n_rows), layout="constrained")
    panels = figure.subplots(n_rows, n_columns, sharey=True, squeeze=False).ravel()
    for panel, name in zip(panels, names, strict=False):
        x, y = table[name].to_numpy(dtype=float), table["difference"].to_numpy()
        panel.axhline(0, color=MUTED, linewidth=0.9)
        lost = y < -ROPE
        panel.plot(x[~lost], y[~lost], "o", color=NORMAL, markersize=3.2, alpha=0.7)
        panel.plot(x[lost], y[lost], "o", color=OUTLIER, markersize=3.2, alpha=0.7)
        for third in np.array_split(np.argsort(x, kind="stable"), 3):
            if len(third) > 1:
                panel.plot([x[third].min(), x[third].max()], [np.median(y[third])] * 2, color=INK, linewidth=1.6)
        if name in LOGARITHMIC:
            panel.set_xscale("log")
            few_decades = x.max() < 30 * x.min()
            panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if few_decades else (1,)))
            panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
            panel.xaxis.set_minor_formatter(NullFormatter())
        panel.set_xlabel(LABELS[name])
    for panel in panels[len(names) :]:
        panel.set_visible(False)
    figure.supylabel(f"{described(metric).label}: {plain(subject, 24)} less the best other", fontsize=9)
    return figure
