"""docs/scale.md: its Python is executed, and the numbers that it states are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from pyod_gessvdd import GESSVDD, linalg, sources
from pyod_gessvdd.detectors.sources import KEPT_SCORES
from pyod_gessvdd.sources import ArraySource
from pyod_gessvdd.sources.source import SMALL_ROWS
from pyod_gessvdd.streamed import columns, order, scaling, sphere

GUIDE = (Path(__file__).parents[1] / "docs" / "scale.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", GUIDE, flags=re.MULTILINE | re.DOTALL)


def test_the_python_snippets_run_in_one_namespace():
    for package in ("dask.array", "pandas"):
        pytest.importorskip(package, reason=f"the page uses {package}")
    namespace: dict[str, object] = {"__name__": "scale_guide"}
    assert {language for language, _ in BLOCKS} == {"python"}
    assert len(BLOCKS) == 4
    for _, snippet in BLOCKS:
        exec(compile(snippet, "scale.md", "exec"), namespace)


class Counted(ArraySource):
    """Counts the passes over its rows."""

    n_passes = 0

    def map(self, function):
        self.n_passes += 1
        return super().map(function)


@pytest.mark.parametrize(("n_passes", "params"), [(5, {"trim": None, "standardize": True}), (8, {})])
def test_a_linear_fit_of_a_file_takes_the_passes_that_the_page_states(n_passes, params, monkeypatch):
    monkeypatch.setattr(order, "ORDERED_ROWS", 200_000)
    random = np.random.default_rng(0)
    rows = Counted(random.normal(size=(300_000, 6)) @ random.normal(size=(6, 6)))
    GESSVDD(kernel="linear", random_state=0, **params).fit(rows)
    assert rows.n_passes == n_passes
    assert re.search(r"without trust and updates takes 5 passes over a file .* one with trust 8,", GUIDE, re.DOTALL)


def test_the_page_states_the_limits_of_the_code():
    text = " ".join(GUIDE.split())
    assert sources.MAPPED_BYTES == 256 << 20
    assert "above 256 MB" in text
    assert f"up to {SMALL_ROWS:,} rows are read into memory" in text
    assert columns.HELD_ROWS == 1_000_000
    assert "of up to a million rows are arrays" in text
    assert "all training scores of up to a million rows" in text
    assert order.SORTED_VALUES // 1_000_000 == 4
    assert "exact up to 4 million rows" in text
    assert linalg.ORDERED_ROWS == 1_000_000
    assert "Up to a million rows the draw is by content" in text
    assert f"with {KEPT_SCORES:,} order statistics" in text
    assert scaling.RANKED_ROWS == 2_000_000
    assert "exact up to 2 million rows" in text
    assert f"a sample of one row in {sphere.SAMPLE_SHARE}" in text
    assert f"when they are one in {sphere.SHELL_SHARE}" in text
    assert f"each of {sphere.THRESHOLDS} thresholds" in text
