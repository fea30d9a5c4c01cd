"""The site builds strictly, which checks its links and anchors, and holds nothing that comes from the network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from website.pages import ROOT, adopted, first_sentence, relinked


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocs", reason="the extra docs is not installed", exc_type=ImportError)
    pytest.importorskip("mkdocstrings_handlers.python", reason="the extra docs is not installed", exc_type=ImportError)
    folder = tmp_path_factory.mktemp("site")
    # The snippets are run by test_docs; the text around them is what is built here.
    environment = {**os.environ, "DOCS_RUN": "false", "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return folder


def test_every_page_is_there(site):
    for page in ["index.html", "choosing.html", "tutorials/novelty.html", "benchmarks/quality.html", "changelog.html"]:
        assert (site / page).is_file(), page


def test_nothing_is_loaded_from_the_network(site):
    loads = re.compile(
        r"<(?:script|img|iframe|source)[^>]*\ssrc=[\"']?(?:https?:)?//|<link[^>]*rel=\"?stylesheet[^>]*https?:|url\(https?:"
    )
    for page in site.rglob("*.html"):
        assert not loads.search(page.read_text(encoding="utf-8")), page.relative_to(site)


def test_the_reference_has_parameters_commands_and_messages(site):
    detectors = (site / "reference/detectors.html").read_text(encoding="utf-8")
    assert 'id="pyod_gessvdd.GESSVDD"' in detectors
    assert 'id="pyod_gessvdd.GESSVDD.p_values"' in detectors
    assert "The share of outliers expected in the training data." in detectors
    cli = (site / "reference/cli.html").read_text(encoding="utf-8")
    assert "--resume" in cli
    assert "new-plugin" in cli
    assert "there is nothing to describe" in (site / "reference/errors.html").read_text(encoding="utf-8")


def test_llms_txt_lists_the_pages(site):
    text = (site / "llms.txt").read_text(encoding="utf-8")
    assert "- [Getting started](getting-started.html): Five minutes from installing to a labelled table" in text
    pages = re.findall(r"\]\((.*?)\)", text)
    assert len(pages) > 40
    assert all((site / page).is_file() for page in pages)


def test_links_of_the_repository_become_links_of_the_site():
    text = "[a](../benchmarks/results/speed.md#speed) [b](../LICENSE) [c](tables.md) [e](../plugins) [d](https://x.org)"
    relinked_text, copied = relinked(text, "docs/page.md", "page.md")
    assert relinked_text == "[a](benchmarks/speed.md#speed) [b](source/LICENSE) [c](tables.md) " + (
        "[e](plugin-packages/index.md) [d](https://x.org)"
    )
    assert copied == {"LICENSE": "source/LICENSE"}
    assert relinked("[a](docs/tables.md)", "README.md", "index.md")[0] == "[a](tables.md)"


def test_every_adopted_page_exists():
    assert all(Path(ROOT, source).is_file() for source in adopted())


def test_docstrings_are_read_as_markdown():
    pytest.importorskip("griffe", reason="the extra docs is not installed", exc_type=ImportError)
    from website.docstrings import as_markdown

    assert as_markdown("See :meth:`~GESSVDD.fit`, 0.7*knn + 0.3*pca and ``a*b``.") == (
        "See ``GESSVDD.fit``, 0.7\\*knn + 0.3\\*pca and ``a*b``."
    )


def test_the_search_works_in_pages_that_are_opened_as_files(site):
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no chromium is installed")
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--dump-dom"]
    address = (site / "reference/detectors.html").as_uri() + "?q=contamination"
    shown = subprocess.run([*command, address], capture_output=True, text=True, timeout=120).stdout
    assert re.search(r"\d+ matching documents", shown)


def test_a_page_is_described_by_its_first_sentence():
    page = "# Title\n\n```python\nX = 1.\n\nY = 2\n```\n\n`fit` and [`score`](a.md) do *this*: that. More.\n"
    assert first_sentence(page) == "fit and score do this: that."
    assert first_sentence("# Title\n\n| a | b |\n") == ""
