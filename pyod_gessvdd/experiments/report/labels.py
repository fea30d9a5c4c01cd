"""Names next to the points of a scatter plot, placed so that they do not cover each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from pyod_gessvdd.experiments.report.style import MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Bbox

#: Where a label may stand, in points from its point: (x, y, alignment); the first that is free is taken.
PLACES = [
    (distance * x, distance * y, "left" if x > 0 else "right" if x < 0 else "center")
    for distance in (7, 14, 24, 36, 50)
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1), (0.7, 0.8), (-0.7, 0.8), (0.7, -0.8), (-0.7, -0.8))
]


def place_labels(axes: Axes, x: np.ndarray, y: np.ndarray, names: Sequence[str], line: Sequence[int] = ()) -> None:
    """Write each name next to its point, where nothing else is if there is such a place; a thin line if it is far.

    Parameters
    ----------
    axes : Axes
        Of a figure whose limits are final.
    x, y : ndarray of shape (n,)
        The points, in data coordinates.
    names : sequence of str
        Their names.
    line : sequence of int
        The points that a line joins, which is not to be written over either.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure: Any = axes.figure
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = axes.transData.transform(np.column_stack([x, y]))
    taken = [_around(point, 4.5 * axes.figure.dpi / 72) for point in pixels]
    for start, end in pairwise(line):
        n_boxes = int(np.hypot(*(pixels[end] - pixels[start])) // 4) + 2
        taken += [_around(point, 0.5) for point in np.linspace(pixels[start], pixels[end], n_boxes)]
    for i, name in enumerate(names):
        others = taken[:i] + taken[i + 1 :]
        taken.append(_place(axes, canvas, (x[i], y[i]), name, others))


def _place(axes: Axes, canvas: Any, point: tuple[float, float], name: str, taken: list[Bbox]) -> Bbox:
    label = axes.annotate(name, point, xytext=(0, 0), textcoords="offset points", va="center", fontsize=8.5)
    renderer = canvas.get_renderer()
    frame = axes.get_window_extent(renderer)
    fewest = None
    for place in PLACES:
        _move(label, place)
        box = label.get_window_extent(renderer)
        covered = sum(box.overlaps(other) for other in taken) + (not _inside(box, frame))
        if fewest is None or covered < fewest[0]:
            fewest = (covered, place)
        if covered == 0:
            break
    assert fewest is not None
    _move(label, fewest[1])
    if np.hypot(*fewest[1][:2]) > 12:
        axes.annotate(
            "", point, xytext=fewest[1][:2], textcoords="offset points",
            arrowprops={"arrowstyle": "-", "color": MUTED, "linewidth": 0.5, "shrinkA": 1, "shrinkB": 4},
        )  # fmt: skip
    return label.get_window_extent(renderer)


def _move(label: Any, place: tuple[float, float, str]) -> None:
    label.set_position(place[:2])
    label.set_horizontalalignment(place[2])


def _around(point: np.ndarray, radius: float) -> Bbox:
    from matplotlib.transforms import Bbox

    return Bbox([point - radius, point + radius])


def _inside(box: Bbox, frame: Bbox) -> bool:
    return bool(frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1)
