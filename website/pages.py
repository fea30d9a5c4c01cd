"""Which files of the repository become which pages, so that one text serves the repository, the tests and the site."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"

#: A link or a picture of Markdown: what is before its address, the address without its anchor, the anchor.
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(?=\))")


def adopted() -> dict[str, str]:
    """The pages and pictures from outside ``docs/``: path in the repository → path in the site."""
    pages = {
        "README.md": "index.md",
        "CHANGELOG.md": "changelog.md",
        "benchmarks/README.md": "benchmarks/index.md",
        "plugins/README.md": "plugin-packages/index.md",
    }
    results = ROOT / "benchmarks/results"
    for path in sorted(path.relative_to(results) for path in results.rglob("*") if path.is_file()):
        pages[f"benchmarks/results/{path.as_posix()}"] = f"benchmarks/{path.as_posix()}"
    for path in sorted((ROOT / "plugins").glob("*/README.md")):
        pages[path.relative_to(ROOT).as_posix()] = f"plugin-packages/{path.parent.name}.md"
    return pages


def relinked(markdown: str, source: str, page: str) -> tuple[str, dict[str, str]]:
    """A text whose links hold in the repository, with links that hold in the site, and the plain files it links to.

    Parameters
    ----------
    markdown : str
        The text.
    source : str
        Its path in the repository, such as ``docs/labels.md``.
    page : str
        Its path in the site, such as ``labels.md``.

    Returns
    -------
    markdown, files : str, dict
        Files that are no pages, such as a script or the licence, are copied: path in the repository → path in the site.
    """
    pages, copied = adopted(), {}

    def replace(match: re.Match[str]) -> str:
        before, address, anchor = match.group(1), match.group(2), match.group(3) or ""
        if re.match(r"[a-z]+:", address):
            return match.group(0)
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), address))
        if (ROOT / target / "README.md").is_file():
            target = f"{target}/README.md"
        if target in pages:
            place = pages[target]
        elif target.startswith("docs/"):
            place = target.removeprefix("docs/")
        elif (ROOT / target).is_file():
            place = copied[target] = f"source/{target}"
        else:
            return match.group(0)  # Unknown in the site as well: the strict build names it.
        return before + posixpath.relpath(place, posixpath.dirname(page) or ".") + anchor

    return LINK.sub(replace, markdown), copied


def first_sentence(markdown: str) -> str:
    """What a page is about, for search engines and ``llms.txt``: its first sentence, as plain text."""
    prose = re.sub(r"^```.*?^```$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    for paragraph in re.split(r"\n\s*\n", prose):
        if paragraph.strip() and not paragraph.lstrip().startswith(("#", "|", "-", "!", "<", ":::")):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(paragraph.split()))
            return re.split(r"(?<=[.!])\s(?=[A-Z])", re.sub(r"[*`]", "", text))[0].removesuffix(":")
    return ""
