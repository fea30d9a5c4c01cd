"""A matplotlib figure as a small inline SVG whose colours and fonts are those of the page around it."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from pyod_gessvdd.experiments.report.style import COLOURS, INK, MUTED, PAPER, RULE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Colours of the figures and the CSS variables that stand for them, so that one drawing is right in light and dark.
VARIABLES = {
    INK: "--ink",
    MUTED: "--muted",
    RULE: "--rule",
    PAPER: "--paper",
    **{colour: f"--series-{i}" for i, colour in enumerate(COLOURS)},
}


def inline_svg(figure: Figure, identifier: str, description: str) -> str:
    """The figure as an ``<svg>`` element.

    Parameters
    ----------
    figure : Figure
        Drawn in the colours of :mod:`~pyod_gessvdd.experiments.report.style`.
    identifier : str
        Unique in the page; the ids inside the drawing are made from it.
    description : str
        What the drawing shows, for those who do not see it.

    Returns
    -------
    str
        Text stays text, numbers have two decimals, and a group with the gid ``series-3`` gets ``data-series="3"``.
    """
    import matplotlib
    from markupsafe import escape

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": identifier, "path.simplify_threshold": 0.3}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    drawing = text[text.index("<svg") :]
    drawing = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|<style.*?</style>", "", drawing, flags=re.DOTALL)
    width, height = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', drawing).groups()  # type: ignore[union-attr]
    body = drawing[drawing.index(">") + 1 :]
    # Matplotlib's points are drawn as large as CSS's, 4/3 of a pixel.
    opening = (
        f'<svg xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 {width} {height}" role="img" '
        f'width="{float(width) * 4 / 3:.0f}" height="{float(height) * 4 / 3:.0f}" aria-label="{escape(description)}">'
    )
    return opening + _themed(_small(body, identifier))


def _small(body: str, identifier: str) -> str:
    body = re.sub(r'<g id="series-(\d+)">', r'<g data-series="\1">', body)
    # Groups' ids repeat between figures and nothing refers to them; those of definitions are hashes.
    body = re.sub(r'<g id="[^"]*">', "<g>", body)
    for name in set(re.findall(r'id="([^"]*)"', body)):
        body = re.sub(rf'(id="|#){re.escape(name)}(?=["\)])', rf"\1{identifier}-{name}", body)
    # Only in coordinates: a number may also stand in the text.
    body = re.sub(
        r'(?<= )(d|x|y|transform|points|width|height)="[^"]*"',
        lambda found: re.sub(r"(\.\d{2})\d+", r"\1", found[0]),
        body,
    )
    body = re.sub(r' transform="rotate\(-0 [^"]*"|<defs>\s*</defs>', "", body)
    # After a move every pair is a line's end; there are no curves in a path that has none.
    body = re.sub(r'(?<= d=")[^"CQ]*(?=")', lambda found: found[0].replace("\nL ", " "), body)
    return re.sub(r"\s*\n\s*", "\n", body)


def _themed(body: str) -> str:
    # The page's font; matplotlib's is only what it measured with, and is wider.
    body = re.sub(r"font: ([\d.]+px)[^;\"]*", r"font-size: \1", body)
    body = re.sub(r"font-family: [^;\"]*; ?", "", body)
    body = re.sub(r'<text style="(?![^"]*fill:)', f'<text style="fill: {INK}; ', body)
    for colour, variable in VARIABLES.items():
        body = body.replace(colour, f"var({variable})")
    return body
