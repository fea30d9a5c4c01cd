"""The loader as a whole: one file, one rule, one line about it."""

from __future__ import annotations

import logging

import numpy as np
import pandas as pd
import pytest

from pyod_gessvdd.errors import TableError
from pyod_gessvdd.tabular.loader import TableOptions, load_table

N = 30
FRAME = pd.DataFrame(
    {
        "heat": np.random.default_rng(0).normal(size=N),
        "on": np.arange(N) % 3 == 0,
        "room": ["red", "blue", "red"] * (N // 3),
        "label": (np.arange(N) >= 25).astype(int),
    }
)


@pytest.fixture
def load(tmp_path, caplog):
    """Writes a table, loads it, and returns it with what was logged."""
    caplog.set_level(logging.INFO, logger="pyod_gessvdd")

    def load(frame, needs_label=False, for_training=False, codes=False, writing=None, **options):
        path = tmp_path / "t.csv"
        frame.to_csv(path, **{"index": False, **(writing or {})})
        caplog.clear()
        given = {"needs_label": needs_label, "for_training": for_training, "codes": codes}
        table = load_table(path, TableOptions.of(**options), **given)
        return table, [record.getMessage().replace(f"{path}", "t.csv") for record in caplog.records]

    return load


def test_a_file_becomes_rows_labels_and_a_line(load):
    table, lines = load(FRAME, encode="room")
    assert table.X.columns.tolist() == ["heat", "on", "room=blue", "room=red"]
    assert table.labels.tolist() == FRAME["label"].tolist()
    assert lines == ["t.csv: 3 columns used, 'label' is the label; categories of 'room' (2) encoded; 'on' as 0 and 1"]


def test_what_was_recognised_is_part_of_the_line(load):
    _, lines = load(FRAME.drop(columns="room"), writing={"sep": ";", "decimal": ",", "index": True})
    assert lines == [
        "t.csv: 2 columns used, 'label' is the label, 'Unnamed: 0' looks like an index and is left out: --keep to use "
        "it; 'on' as 0 and 1; its columns are separated by semicolons; its numbers have decimal commas"
    ]


def test_only_rows_with_the_normal_label_are_trained_on(load):
    table, _ = load(FRAME, for_training=True, normal="0", drop="room")
    assert len(table.X) == 25
    assert set(table.labels) == {0}


def test_without_a_normal_label_all_rows_are_trained_on_and_that_is_said(load):
    table, lines = load(FRAME, for_training=True, drop="room")
    assert len(table.X) == N
    assert lines[0].endswith("; rows of every label are trained on: --normal to choose one")


def test_medians_are_those_of_the_rows_that_are_trained_on(load):
    frame = FRAME.drop(columns="room").assign(heat=[np.nan, *range(24), 999, 999, 999, 999, 999])
    table, _ = load(frame, for_training=True, normal="0", missing="median")
    assert table.preparation.fill["heat"] == 11.5


def test_rows_without_a_label_are_left_out_with_the_other_gaps(load):
    frame = FRAME.drop(columns="room").assign(label=[None, *FRAME["label"][1:]])
    frame.loc[4, "heat"] = np.nan
    with pytest.raises(TableError, match=r"the label column 'label' has 1 missing value; fill them, or leave such row"):
        load(frame, needs_label=True)
    table, lines = load(frame, needs_label=True, missing="drop")
    assert (len(table.X), len(table.labels)) == (N - 2, N - 2)
    assert "1 row without a label left out; 1 of 29 rows left out for missing or infinite values in 'heat'" in lines[0]


@pytest.mark.parametrize("value", ["", "much"])
def test_rows_are_counted_as_in_the_file(load, value):
    frame = FRAME.drop(columns="room").assign(label=1 - FRAME["label"], heat=FRAME["heat"].astype(object))
    frame.loc[27, "heat"] = value
    with pytest.raises(TableError, match="in data row 28" if value else "column 'heat' of data row 28"):
        load(frame, for_training=True, normal="0")


def test_labels_that_are_not_used_may_have_gaps(load):
    table, _ = load(FRAME.drop(columns="room").assign(label=[None, *FRAME["label"][1:]]), for_training=True)
    assert len(table.X) == N


def test_a_matrix_of_numbers_needs_no_line(tmp_path, caplog):
    caplog.set_level(logging.INFO, logger="pyod_gessvdd")
    np.savez(tmp_path / "t.npz", X=np.eye(3), y=[0, 1, 0])
    assert load_table(tmp_path / "t.npz", TableOptions()).labels.tolist() == [0, 1, 0]
    assert caplog.records == []
    np.savez(tmp_path / "t.npz", X=np.eye(3), y=[0, 1, 0], w=[1, 2, 3])
    load_table(tmp_path / "t.npz", TableOptions())
    assert "'w' is not part of X and is left out" in caplog.text


def test_options_take_lists_and_single_names():
    assert TableOptions.of(drop=["a", "b"], keep="c") == TableOptions(drop=("a", "b"), keep=("c",))


def test_an_unknown_option_is_refused_with_those_that_are_known():
    with pytest.raises(TableError, match="unknown option 'separator' for tables; there are label, normal, drop, "):
        TableOptions.of(separator=";")
