"""Sensitivity plots (paper S6): Gmean on the test rows with one hyperparameter changed, the others at their best."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pyod_gessvdd.experiments.data.paper import DATASETS

#: The paper's symbol of each hyperparameter, in the order of its figures, and whether its values are powers of ten.
SYMBOLS = {"C": ("C", False), "n_components": ("d", False), "step_size": ("η", True), "sigma": ("σ", True)}


def sensitivity_figure(points: Sequence[dict[str, Any]]) -> Figure:
    """One method on one data set: a panel for each hyperparameter, a line for each target class.

    Parameters
    ----------
    points : sequence of dict
        Rows of the store's table ``sensitivity``, all of one data set, description and method.

    Returns
    -------
    matplotlib.figure.Figure
        Lines are means over the splits, bands ± one standard deviation.
    """
    names = [name for name in SYMBOLS if any(point["parameter"] == name for point in points)]
    figure = Figure(figsize=(3.1 * len(names) + 0.9, 3.2), layout="constrained")
    panels = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
    first = points[0]
    targets = DATASETS[first["dataset"]].targets
    for panel, name in zip(panels, names, strict=True):
        for label in targets:
            values, means, spreads = _curve(points, name, label)
            if len(values):
                (line,) = panel.plot(values, means, marker="o", markersize=4, label=targets[label])
                panel.fill_between(values, means - spreads, means + spreads, color=line.get_color(), alpha=0.15, lw=0)
        symbol, is_power = SYMBOLS[name]
        panel.set_xlabel(symbol)
        panel.set_xscale("log" if is_power else "linear")
        panel.set_ylim(0, 1)
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("Gmean")
    figure.suptitle(f"{first['method']} on {first['dataset']}, {first['description']}", fontsize="medium")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", title="target", frameon=False)
    return figure


def _curve(points: Sequence[dict[str, Any]], parameter: str, target: str) -> tuple[Any, Any, Any]:
    """The values of a hyperparameter, and the mean and standard deviation of Gmean over the splits at each."""
    by_value: dict[float, list[float]] = defaultdict(list)
    for point in points:
        if point["parameter"] == parameter and point["target"] == target and point["gmean"] is not None:
            by_value[point["value"]].append(point["gmean"])
    values = sorted(by_value)
    means = np.array([np.mean(by_value[value]) for value in values])
    spreads = np.array([np.std(by_value[value]) for value in values])
    return np.array(values), means, spreads
