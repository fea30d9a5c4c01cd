"""PyOD's picture of all detectors (its ``compare_all_models``): the regions that each one accepts, in the plane."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pyod_gessvdd.experiments.detectors.specs import Detector
from pyod_gessvdd.experiments.report.style import INK, NORMAL, OUTLIER, PAPER, plain, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = np.ndarray

#: The rows of the picture, the share of outliers among them, and half the width of the square.
N_ROWS, SHARE, HALF = 200, 0.25, 7.0
#: Points of the grid on each side.
GRID = 80
#: What can be drawn: a name and what it is.
SHAPES = {
    "clusters": "two round clusters, PyOD's own",
    "moons": "two half moons",
    "ring": "a ring, normal rows around an empty middle",
    "stripe": "a narrow stripe, one direction without scatter",
}


def draw_rows(shape: str = "clusters", seed: int = 0) -> tuple[Array, Array]:
    """Rows in the plane, a quarter of them outliers spread evenly over the square; labels are 1 for these.

    Parameters
    ----------
    shape : {"clusters", "moons", "ring", "stripe"}
        Where the normal rows lie.
    seed : int
        Draws them.
    """
    random = np.random.default_rng(seed)
    n_outliers = int(SHARE * N_ROWS)
    n_normal = N_ROWS - n_outliers
    if shape == "clusters":
        centres = np.where(np.arange(n_normal)[:, None] % 2 == 1, 2.0, -2.0)
        normal = centres + 0.6 * random.normal(size=(n_normal, 2))
    elif shape == "moons":
        angle, side = random.uniform(0, np.pi, n_normal), np.where(np.arange(n_normal) % 2 == 0, 1.0, -1.0)
        arcs = np.c_[side * np.cos(angle) + (side < 0), side * np.sin(angle) + 0.5 * (side < 0)]
        normal = 3.0 * (arcs - [0.5, 0.25]) + 0.25 * random.normal(size=(n_normal, 2))
    elif shape == "ring":
        angle = random.uniform(0, 2 * np.pi, n_normal)
        normal = 4.0 * np.c_[np.cos(angle), np.sin(angle)] + 0.3 * random.normal(size=(n_normal, 2))
    else:
        along = random.uniform(-5, 5, n_normal)
        normal = np.c_[along, 0.6 * along] + 0.15 * random.normal(size=(n_normal, 2))
    outliers = random.uniform(-HALF + 1, HALF - 1, size=(n_outliers, 2))
    return np.vstack([normal, outliers]), np.repeat([0, 1], [n_normal, n_outliers])


@styled
def gallery(detectors: Sequence[Detector], shape: str = "clusters", seed: int = 0, columns: int = 5) -> Figure:
    """A panel per detector: what it accepts, its scores around, the rows, and how many of them it gets wrong.

    Every detector is fitted to all rows with the true share of outliers as its contamination. One that cannot be fitted
    has the reason in its panel.

    Parameters
    ----------
    detectors : sequence of Detector
        From :func:`~pyod_gessvdd.experiments.detectors.specs.resolve_detectors`.
    shape : str, default="clusters"
        See :func:`draw_rows`.
    seed : int, default=0
        Of the rows and of the detectors.
    columns : int, default=5
        Panels side by side.
    """
    from matplotlib.figure import Figure

    X, y = draw_rows(shape, seed)
    columns = min(columns, len(detectors))
    n_rows = -(-len(detectors) // columns)
    figure = Figure(figsize=(2.15 * columns, 2.45 * n_rows), layout="constrained")
    panels = figure.subplots(n_rows, columns, squeeze=False).ravel()
    for panel, detector in zip(panels, detectors, strict=False):
        panel.set(xlim=(-HALF, HALF), ylim=(-HALF, HALF), xticks=[], yticks=[], aspect="equal")
        panel.grid(visible=False)
        try:
            wrong = _draw(panel, detector, X, y, seed)
            panel.set_title(f"{plain(detector.name, 30)}\n{wrong} errors", fontsize=7.5, color=INK)
        except Exception as error:  # what a detector raises is its own affair
            panel.set_title(plain(detector.name, 30), fontsize=7.5, color=INK)
            panel.text(0, 0, plain(" ".join(str(error).split()), 60), ha="center", va="center", fontsize=6, wrap=True)
    for panel in panels[len(detectors) :]:
        panel.set_visible(False)
    return figure


def _draw(panel: Axes, detector: Detector, X: Array, y: Array, seed: int) -> int:
    """Fit, draw, and count the rows whose label is wrong."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a picture is no place for them
        model = detector.build(seed, contamination=SHARE).fit(X)
        axis = np.linspace(-HALF, HALF, GRID)
        grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
        scores = np.asarray(model.decision_function(grid)).reshape(GRID, GRID)
        predicted = np.asarray(model.predict(X))
    threshold = model.threshold_
    if scores.max() > threshold:
        levels = np.unique(np.quantile(scores[scores > threshold], np.linspace(0, 1, 8)))
        if len(levels) > 1:
            panel.contourf(axis, axis, scores, levels=levels, cmap="Blues", alpha=0.75)
    if scores.min() < threshold < scores.max():
        panel.contourf(axis, axis, scores, levels=[scores.min(), threshold], colors=["#f6c28b"])
        panel.contour(axis, axis, scores, levels=[threshold], colors=[OUTLIER], linewidths=1.3)
    panel.scatter(X[y == 0, 0], X[y == 0, 1], s=5, color=PAPER, edgecolors=NORMAL, linewidths=0.5)
    panel.scatter(X[y == 1, 0], X[y == 1, 1], s=5, color=INK, linewidths=0)
    return int((predicted != y).sum())
