"""Text that a spreadsheet would run is written with an apostrophe before it; everything else as it is."""

from __future__ import annotations

import pandas as pd
import pytest

from pyod_gessvdd.tabular.formulas import defused, defused_frame
from pyod_gessvdd.tabular.writing import write_frame


@pytest.mark.parametrize("text", ["=cmd|' /C calc'!A0", "@SUM(A1)", "+1+1", "-1-1", "\t=1", "\r=1", "-", "=1"])
def test_what_begins_like_a_formula_gets_an_apostrophe(text):
    assert defused(text) == "'" + text


@pytest.mark.parametrize("value", ["-3.5", "+1", "-1e5", "-inf", "a=b", "", " x", -3.5, None, True])
def test_numbers_and_plain_text_stay(value):
    assert defused(value) is value


def test_names_and_text_of_a_table_are_defused_and_its_numbers_are_not():
    frame = pd.DataFrame(
        {
            "=name": [-1.5, 2.0],
            "text": ["=1+1", "plain"],
            "kind": pd.Categorical(["@x", "y"]),
            "when": pd.to_datetime(["2020-01-01", "2020-01-02"]),
        }
    )
    safe = defused_frame(frame)
    assert list(safe.columns) == ["'=name", "text", "kind", "when"]
    assert safe["text"].tolist() == ["'=1+1", "plain"]
    assert safe["kind"].tolist() == ["'@x", "y"]
    assert safe["'=name"].tolist() == [-1.5, 2.0]
    assert frame["text"].tolist() == ["=1+1", "plain"]


def test_a_written_table_has_no_formula(tmp_path):
    write_frame(pd.DataFrame({"id": ["=cmd|x", "b"], "score": [-1.0, 2.0]}), tmp_path / "scored.csv")
    assert (tmp_path / "scored.csv").read_text().splitlines() == ["id,score", "'=cmd|x,-1.0", "b,2.0"]
