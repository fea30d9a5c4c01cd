"""The pictures of the pages, drawn by the pages' own code, light and dark.

``python -m website.pictures`` draws those in ``docs/images`` again, which the repository keeps for its readers; the
site's are drawn by its build.
"""

from __future__ import annotations

import base64
import io
import re
import tempfile
from pathlib import Path
from typing import Any

from matplotlib import rc_context

from website.pages import DOCS, ROOT

#: The page whose code draws pictures into docs/images.
DRAWN = "explanations.md"
#: Drawn by ``gessvdd gallery``, on white whatever the theme.
GALLERY = "gallery.png"

_INK, _PAPER = "#d5d8e2", "#1e2129"
#: Matplotlib's settings for the dark theme: its text and its background.
DARK: Any = {
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), _INK),
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), _PAPER),
}

#: A picture of Markdown that is drawn in both themes.
PICTURE = re.compile(r"!\[([^\]]*)\]\(((?:\S*/)?images/)(\w+)\.png\)")


def drawn() -> dict[str, bytes]:
    """All pictures of ``docs/images`` by name, and the dark ones as ``NAME-dark.png``."""
    pictures = _of_page()
    with rc_context(DARK):
        pictures |= {f"{Path(name).stem}-dark.png": content for name, content in _of_page().items()}
    return pictures | {GALLERY: _gallery()}


def in_both_themes(markdown: str) -> str:
    """The text with two pictures for each one that there are two of; the theme shows one."""

    def replace(match: re.Match[str]) -> str:
        words, folder, name = match.groups()
        if f"{name}.png" == GALLERY:
            return match.group(0)
        return f"![{words}]({folder}{name}.png#only-light)\n![{words}]({folder}{name}-dark.png#only-dark)"

    return PICTURE.sub(replace, markdown)


def inline(figure: Any, theme: str) -> str:
    """A figure as an image of HTML that only this theme shows, ``light`` or ``dark``."""
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=110, bbox_inches="tight")
    source = f"data:image/png;base64,{base64.b64encode(content.getvalue()).decode()}#only-{theme}"
    return f'<img alt="What the code above draws" src="{source}">'


def _of_page() -> dict[str, bytes]:
    from website.snippets import with_output

    with tempfile.TemporaryDirectory() as folder:
        pictures = Path(folder, "docs", "images")
        pictures.mkdir(parents=True)
        with_output((DOCS / DRAWN).read_text(encoding="utf-8"), DRAWN, Path(folder))
        return {picture.name: picture.read_bytes() for picture in sorted(pictures.iterdir())}


def _gallery() -> bytes:
    from pyod_gessvdd.cli.gallery import DETECTORS
    from pyod_gessvdd.experiments.detectors.specs import resolve_detectors
    from pyod_gessvdd.experiments.report.gallery import gallery

    content = io.BytesIO()
    gallery(resolve_detectors(DETECTORS)).savefig(content, format="png", dpi=130)
    return content.getvalue()


def main() -> None:
    """Write the light pictures to ``docs/images``."""
    for name, content in drawn().items():
        if not name.endswith("-dark.png"):
            (DOCS / "images" / name).write_bytes(content)
            print((DOCS / "images" / name).relative_to(ROOT))


if __name__ == "__main__":
    main()
