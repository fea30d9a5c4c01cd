"""How the figures look: a quiet matplotlib style and colours that colour-blind readers tell apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec

if TYPE_CHECKING:
    from matplotlib.figure import Figure

P = ParamSpec("P")

INK = "#1d2329"
MUTED = "#6a737d"
RULE = "#d5dae0"
PAPER = "#ffffff"

#: Okabe and Ito's colours without the yellow, which is too pale for a line, and with a slate for their black.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7b5aa6", "#515b66")
NORMAL, OUTLIER = COLOURS[0], COLOURS[1]

#: On and off lengths in line widths; with the colours they tell 32 detectors apart.
DASHES: tuple[tuple[float, ...], ...] = ((), (4, 1.6), (1.2, 1.2), (5, 1.5, 1.2, 1.5))

RC: Any = {
    "font.size": 9,
    "font.family": "sans-serif",
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.7,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "lines.linewidth": 1.5,
    "legend.frameon": False,
    "figure.facecolor": PAPER,
    "axes.facecolor": "none",
    "mathtext.fontset": "dejavusans",
}


class Line(NamedTuple):
    """Colour and dashes of one detector, the same in all figures."""

    colour: str
    dashes: tuple[float, ...]


def lines(detectors: Iterable[str]) -> dict[str, Line]:
    """A line style per detector, by its place in the run."""
    n_colours = len(COLOURS)
    return {
        name: Line(COLOURS[i % n_colours], DASHES[i // n_colours % len(DASHES)]) for i, name in enumerate(detectors)
    }


def plain(name: str, longest: int = 36) -> str:
    """A name as matplotlib should show it: no formula in dollars, and not longer than a line."""
    shown = name if len(name) <= longest else f"{name[: longest - 1]}…"
    return shown.replace("$", r"\$")


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draw in this style, whatever the caller's matplotlib settings are, and leave those alone."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Figure:
        import matplotlib

        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(RC)
            return draw(*args, **kwargs)

    return drawn
