"""What MkDocs is told beyond its configuration: pages from outside docs/, links, executed snippets, llms.txt."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # MkDocs loads this file by its path alone.

from pyod_gessvdd.cli import main
from website.commands import reference
from website.error_messages import table
from website.pages import ROOT, adopted, first_sentence, relinked
from website.pictures import drawn, in_both_themes
from website.snippets import is_shown, with_output

#: What pages leave to the source.
GENERATED = {"<!-- messages -->": table, "<!-- commands -->": lambda: reference(main, "gessvdd")}


def on_files(files: Files, config: Any) -> Files:
    """Adopt the pages from outside docs/."""
    for source, page in adopted().items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    if config.extra["run"]:
        _redraw(files, config)
    return files


def _redraw(files: Files, config: Any) -> None:
    """Replace the pictures that the repository keeps for its readers by new ones, light and dark."""
    pictures = {f"images/{name}": content for name, content in drawn().items()}
    kept = [file for file in files if file.src_uri.startswith("images/")]
    undrawn = [file.src_uri for file in kept if file.src_uri not in pictures]
    assert not undrawn, f"no code draws {', '.join(undrawn)} of docs/"
    for file in kept:
        files.remove(file)
    for place, content in pictures.items():
        files.append(File.generated(config, place, content=content))


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Run the snippets, and set the links that hold in the repository for the site."""
    place = page.file.src_uri
    page.meta["description"] = first_sentence(markdown)
    source = {page: source for source, page in adopted().items()}.get(place, f"docs/{place}")
    if config.extra["run"] and is_shown(place):
        with tempfile.TemporaryDirectory() as folder:
            markdown = with_output(markdown, place, Path(folder))
    for mark, write in GENERATED.items():
        if mark in markdown:
            markdown = markdown.replace(mark, write())
    if place == "index.md":
        page.meta["hide"] = ["navigation"]
    markdown, copied = relinked(markdown, source, place)
    if config.extra["run"]:
        markdown = in_both_themes(markdown)
    for path, target in copied.items():
        if files.get_file_from_path(target) is None:
            files.append(File.generated(config, target, abs_src_path=str(ROOT / path)))
    return markdown


def on_nav(nav: Any, config: Any, files: Files) -> Any:
    """Remember the pages for ``llms.txt``."""
    config.extra["llms"] = nav
    return nav


def on_post_build(config: Any) -> None:
    """Write ``llms.txt``: what the project is, and a line for each page."""
    nav = config.extra["llms"]
    lines = ["# pyod-gessvdd", "", f"> {config.site_description}", ""]
    for page in nav.pages:
        lines.append(f"- [{page.title}]({page.file.dest_uri}): {page.meta['description']}")
    Path(config.site_dir, "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
