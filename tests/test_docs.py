"""Every Python snippet of these pages is executed, in order and in one namespace per page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("page", ["decisions.md", "files.md", "labels.md"])
def test_the_snippets_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / page).read_text(encoding="utf-8")
    snippets = re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    assert snippets
    namespace: dict[str, object] = {"__name__": page}
    for snippet in snippets:
        exec(compile(snippet, page, "exec"), namespace)
