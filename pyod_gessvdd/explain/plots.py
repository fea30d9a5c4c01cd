"""The pictures of a detector, from plain numbers. Each function returns a Figure that no window or notebook knows.

Lines and texts have matplotlib's text colour, so that ``matplotlib.style.use("dark_background")`` makes them dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

Array = np.ndarray

#: Colours that the colour-blind can tell apart (Okabe and Ito).
BLUE, ORANGE, GREEN, RED, GREY, SKY = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#8c8c8c", "#56b4e9"
#: How much of the bands of usual contributions is ink, from the innermost out; and of the lines of a grid.
BAND_SHADES, GRID_SHADE = (0.36, 0.2, 0.1), 0.1

#: How each kind of row is drawn in the subspace.
MARKERS: dict[str, dict[str, Any]] = {
    "training row": {"s": 14, "color": BLUE, "alpha": 0.55, "linewidths": 0},
    "outlier": {"s": 20, "color": RED, "alpha": 0.85, "linewidths": 0},
    "support vector": {"s": 44, "facecolors": "none", "linewidths": 0.7, "alpha": 0.6},
    "new row": {"s": 34, "color": GREEN, "marker": "x", "linewidths": 1.3},
}


def contributions(
    labels: Sequence[str],
    values: Array,
    bands: Array,
    cutoffs: Sequence[float],
    *,
    title: str,
    rest: tuple[int, float],
) -> Figure:
    """One row's contributions, a line per feature from top to bottom, over the bands that are usual.

    Parameters
    ----------
    labels : sequence of str
        A label for each of the k features.
    values : ndarray of shape (k,)
        The contributions.
    bands : ndarray of shape (len(cutoffs), k)
        The quantiles of the training rows' contributions.
    cutoffs : sequence of float
        Which quantiles these are, the smallest first.
    title : str
        The first line of the title.
    rest : tuple of int and float
        How many features are not drawn, and what they contribute together.
    """
    figure = Figure(figsize=(7.5, 1.9 + 0.3 * len(labels)), layout="constrained")
    axes = figure.subplots()
    places = np.arange(len(labels))
    inner = np.zeros(len(labels))
    for i, (cutoff, outer) in enumerate(zip(cutoffs, bands, strict=True)):
        shade = _tint(SKY, BAND_SHADES[min(i, len(BAND_SHADES) - 1)])
        axes.barh(places, outer - inner, left=inner, height=0.74, color=shade, label=f"up to the {cutoff:.4g} quantile")
        axes.vlines(outer, places - 0.37, places + 0.37, color=GREY, linewidth=1)
        inner = outer
    n_passed = (values > bands).sum(axis=0)
    colours = [BLUE if passed == 0 else RED if passed == len(bands) else ORANGE for passed in n_passed]
    axes.hlines(places, 0.0, values, color=colours, linewidth=2)
    axes.scatter(values, places, s=46, color=colours, zorder=3, label="this row")
    axes.axvline(0.0, color=_ink(), linewidth=0.8)
    axes.set_yticks(places, [_shortened(label) for label in labels])
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.margins(x=0.04)
    axes.set_xlabel("contribution to the score (bands: the training rows)")
    n_left, left = rest
    if n_left:
        features = "feature" if n_left == 1 else "features"
        title += f"\n{n_left} more {features}, not drawn: {_signed(left)} together"
    axes.set_title(title, loc="left", fontsize="medium")
    figure.legend(loc="outside lower center", ncols=len(cutoffs) + 1, fontsize="small", frameon=False)
    _plain(axes)
    axes.grid(axis="x", color=_tint(_ink(), GRID_SHADE), zorder=0)
    axes.set_axisbelow(True)
    return figure


def heat_map(rows: Sequence[str], columns: Sequence[str], values: Array, *, title: str) -> Figure:
    """Several rows' contributions: a line per row, a column per feature, red where it makes the row abnormal.

    Parameters
    ----------
    rows, columns : sequence of str
        Their labels.
    values : ndarray of shape (len(rows), len(columns))
        The contributions.
    title : str
        The title.
    """
    figure = Figure(figsize=(2.6 + 0.62 * len(columns), 1.7 + 0.34 * len(rows)), layout="constrained")
    axes = figure.subplots()
    reach = float(np.abs(values).max()) or 1.0
    image = axes.imshow(values, cmap="RdBu_r", vmin=-reach, vmax=reach, aspect="auto")
    decimals = max(0, 1 - int(np.floor(np.log10(reach / 3.0))))  # about two digits of the largest: less does not matter
    for (i, j), value in np.ndenumerate(np.round(values, decimals) + 0.0):
        shade = "white" if abs(value) > 0.6 * reach else "black"
        axes.text(j, i, f"{value:,.{decimals}f}", ha="center", va="center", fontsize="x-small", color=shade)
    axes.set_xticks(range(len(columns)), [_shortened(name, 24) for name in columns], rotation=40, ha="right")
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title(title, loc="left", fontsize="medium")
    figure.colorbar(image, ax=axes, label="contribution to the score", fraction=0.03, pad=0.01)
    return figure


def waterfall(labels: Sequence[str], values: Array, *, start: tuple[str, float], rest: float, title: str) -> Figure:
    """From where a row's contributions start to its score, step by step from top to bottom.

    Parameters
    ----------
    labels : sequence of str
        A label for each of the k features.
    values : ndarray of shape (k,)
        The contributions.
    start : tuple of str and float
        What they start from, and its score.
    rest : float
        What the features that are not drawn contribute together.
    title : str
        The title.
    """
    steps = [*zip(labels, values, strict=True), *([("all others", rest)] if rest else [])]
    figure = Figure(figsize=(7.5, 1.7 + 0.3 * (len(steps) + 2)), layout="constrained")
    axes = figure.subplots()
    ends = start[1] + np.cumsum([value for _, value in steps])
    starts = np.concatenate([[start[1]], ends[:-1]])
    axes.barh(0, start[1], color=GREY, height=0.66)
    for place, (low, high) in enumerate(zip(starts, ends, strict=True), start=1):
        axes.barh(place, high - low, left=low, height=0.66, color=RED if high >= low else BLUE)
        axes.plot([low, low], [place - 1.33, place + 0.33], color=_ink(), linewidth=0.6)
        axes.annotate(_signed(high - low), (max(low, high), place), (4, 0), textcoords="offset points", va="center",
                      fontsize="small")  # fmt: skip
    axes.barh(len(steps) + 1, ends[-1], color=_ink(), height=0.66)
    names = [start[0], *[_shortened(name) for name, _ in steps], "score"]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.axvline(1.0, color=GREY, linewidth=0.8, linestyle=":")
    axes.margins(x=0.08)
    axes.set_xlabel("score (1: on the boundary)")
    axes.set_title(title, loc="left", fontsize="medium")
    _plain(axes)
    return figure


#: Beyond this, in radii, distances are drawn on logarithmic axes, from this share of a radius on.
FAR, NEAREST = 8.0, 0.05


def outlier_map(
    points: dict[str, tuple[Array, Array]],
    *,
    threshold: float,
    cutoffs: tuple[float, float],
    named: Sequence[tuple[float, float, str]],
    labels: tuple[str, str],
    ax: Axes | None = None,
) -> Figure:
    """Rows by their distance from the centre inside the subspace and by their distance outside of it, in radii.

    Parameters
    ----------
    points : dict
        For each kind of row, a key of :data:`MARKERS`, the distances inside and outside.
    threshold : float
        The score above which a row is an outlier: a circle of radius √threshold, as the boundary is one of radius 1.
    cutoffs : tuple of two float
        The distances inside and outside that the usual training rows stay below.
    named : sequence of tuple
        Place and name of the rows to name.
    labels : tuple of two str
        What the axes measure.
    ax : Axes, optional
        Where to draw.
    """
    figure, axes = _figure_of(ax, (6.4, 5.6))
    widest, highest = (max(float(pair[i].max(initial=0.0)) for pair in points.values()) for i in (0, 1))
    highest = max(highest, 1.0, np.sqrt(max(threshold, 0.0)))
    logarithmic = max(widest, highest) > FAR
    floor = NEAREST if logarithmic else 0.0
    for kind, pair in points.items():
        inside, outside = (np.maximum(values, floor) for values in pair)
        axes.scatter(inside, outside, label=f"{kind} ({len(inside):,})", **_marker(kind))
    angles = np.linspace(0.0, np.pi / 2, 400)
    for radius, line, name in ((1.0, "-", "the sphere"), (np.sqrt(max(threshold, 0.0)), "--", "threshold of labels")):
        curve = np.maximum(radius * np.array([np.cos(angles), np.sin(angles)]), floor)
        axes.plot(*curve, color=_ink(), linestyle=line, linewidth=1.2, label=name)
    axes.axvline(max(cutoffs[0], floor), color=GREY, linewidth=0.9, linestyle=":", label="cut-offs of usual rows")
    axes.axhline(max(cutoffs[1], floor), color=GREY, linewidth=0.9, linestyle=":")
    if logarithmic:
        axes.set(xscale="log", yscale="log")
    axes.set(xlim=(floor, 1.08 * max(widest, 2 * floor, 0.1)), ylim=(floor, (1.5 if logarithmic else 1.08) * highest))
    _name(axes, [(max(x, floor), max(y, floor), name) for x, y, name in named])
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    axes.set_title("Outlier map: distances in radii of the sphere", loc="left", fontsize="medium")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, fontsize="small", frameon=False)
    _plain(axes)
    return figure


def subspace(
    points: dict[str, tuple[Array, Array]], labels: Sequence[str], outline: Array, ax: Axes | None = None
) -> Figure:
    """Rows and the boundary in one or two coordinates.

    Parameters
    ----------
    points : dict
        For each kind of row, a key of :data:`MARKERS`, the coordinates (n, 1 or 2) and the scores (n,).
    labels : sequence of str
        The names of the coordinates.
    outline : ndarray of shape (k, 1 or 2)
        The boundary's curve; in one dimension the values at which it is crossed.
    ax : Axes, optional
        Where to draw.
    """
    figure, axes = _figure_of(ax, (6.2, 5.6))
    flat = len(labels) == 1
    for kind, (Z, scores) in points.items():
        axes.scatter(Z[:, 0], scores if flat else Z[:, 1], label=f"{kind} ({len(Z):,})", **_marker(kind))
    axes.set_xlabel(labels[0])
    if flat:
        for value in outline[:, 0]:
            axes.axvline(value, color=_ink(), linewidth=1.2, label="boundary" if value == outline[0, 0] else None)
        axes.axhline(1.0, color=GREY, linewidth=0.8, linestyle=":")
        axes.set_ylabel("score")
        axes.set_title("The one coordinate of the subspace", loc="left", fontsize="medium")
    else:
        closed = len(outline) > 2
        name = "the sphere, projected" if closed else "the hyperplane's section"
        # A line without an end must not stretch the picture.
        limits = axes.get_xlim(), axes.get_ylim()
        axes.plot(outline[:, 0], outline[:, 1], color=_ink(), linewidth=1.2, label=name)
        if not closed:
            axes.set(xlim=limits[0], ylim=limits[1])
        axes.set_ylabel(labels[1])
        axes.set_aspect("equal", adjustable="datalim" if closed else "box")
        axes.set_title("Two coordinates of the subspace", loc="left", fontsize="medium")
    # Below the axes, where it hides no row.
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, fontsize="small", frameon=False)
    _plain(axes)
    return figure


def history(records: Sequence[dict[str, Any]], kept: int, ax: Any = None) -> Figure:
    """Criterion, radius and duality gap by iteration, each in its Axes; ``kept`` is the one that became the model."""
    if ax is not None and np.size(ax) not in (1, 3):
        raise ValueError(f"ax must be one Axes or three, for criterion, radius and gap, got {np.size(ax)}")
    if ax is None:
        figure = Figure(figsize=(6.4, 5.6), layout="constrained")
        panels = list(figure.subplots(3, 1, sharex=True))
    else:
        panels = list(np.ravel(ax))
        figure = panels[0].figure
    if len(panels) == 1:
        panels.append(panels[0].twinx())
    for axes, name, colour in zip(panels, ("criterion", "radius", "gap"), (BLUE, GREEN, GREY), strict=False):
        # Zero has no logarithm; below the rounding of a double a gap is none.
        floor = np.finfo(float).eps if name == "gap" else -np.inf
        values = [max(record[name], floor) for record in records]
        axes.plot(values, marker="o", markersize=4, color=colour)
        axes.plot(kept, values[kept], marker="o", markersize=9, markerfacecolor="none", color=_ink())
        axes.set_ylabel("duality gap" if name == "gap" else name, color=colour)
        if name == "gap":  # Rounding must not look like a development.
            axes.set(yscale="log", ylim=(1e-17, max(1e-11, 10.0 * max(values))))
        axes.spines["top"].set_visible(False)
        axes.xaxis.get_major_locator().set_params(integer=True)
    panels[0 if len(panels) == 2 else -1].set_xlabel("iteration")
    panels[0].set_title(f"Iteration {kept} is the model (circled)", loc="left", fontsize="medium")
    return figure


def _figure_of(ax: Any, size: tuple[float, float]) -> tuple[Figure, Axes]:
    if ax is not None:
        return ax.figure, ax
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots()


def _marker(kind: str) -> dict[str, Any]:
    style = MARKERS[kind]
    if "color" not in style:
        return {**style, "edgecolors": _ink()}
    is_dark = sum(to_rgb(rcParams["axes.facecolor"])) < 1.5
    return {**style, "color": SKY} if is_dark and style["color"] == BLUE else style


def _ink() -> Any:
    """The colour of lines and texts, black unless the style is another."""
    return rcParams["text.color"]


def _tint(colour: Any, share: float) -> tuple[float, ...]:
    """A colour mixed into the background, this share of it."""
    paper = to_rgb(rcParams["axes.facecolor"])
    return tuple(share * ink + (1.0 - share) * below for ink, below in zip(to_rgb(colour), paper, strict=True))


def _signed(value: float) -> str:
    return f"{value:+,.0f}" if abs(value) >= 1000 else f"{value:+.3g}"


def _name(axes: Axes, named: Sequence[tuple[float, float, str]]) -> None:
    """Write names next to points, each on the first side where no earlier name is."""
    size = 8.0  # of "small" letters, in points
    scale = axes.figure.dpi / 72.0
    taken: list[tuple[float, float, float, float]] = []
    for x, y, name in named:
        left, bottom = axes.transData.transform((x, y)) / scale
        width = 0.62 * size * len(name)
        sides = [(5.0, 4.0), (5.0, -10.0), (-5.0 - width, 4.0), (-5.0 - width, -10.0), (-width / 2, 9.0), (12.0, -3.0)]
        boxes = [(left + dx, bottom + dy, left + dx + width, bottom + dy + size) for dx, dy in sides]
        free = [i for i, box in enumerate(boxes) if not any(_overlap(box, other) for other in taken)]
        chosen = free[0] if free else 0
        taken.append(boxes[chosen])
        axes.annotate(name, (x, y), sides[chosen], textcoords="offset points", fontsize="small")


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _plain(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)


def _shortened(label: str, longest: int = 40) -> str:
    return label if len(label) <= longest else f"{label[: longest // 2 - 1]}…{label[-longest // 2 :]}"
