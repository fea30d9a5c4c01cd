"""Which columns are features, and the sentence about it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pyod_gessvdd.errors import TableError
from pyod_gessvdd.tabular.columns import choose_columns
from pyod_gessvdd.tabular.tables import RawTable

N = 40
FLOATS = np.random.default_rng(0).normal(size=N)
LABELS = (np.arange(N) % 8 == 0).astype(int)
PATH = Path("t.csv")


def table(**columns):
    """Two features and these columns, in this order."""
    return RawTable(pd.DataFrame({**columns, "heat": FLOATS, "noise": FLOATS[::-1]}))


def chosen(raw, **options):
    return choose_columns(raw, PATH, **options)


def test_all_columns_but_the_label_are_features():
    columns = chosen(table(label=LABELS, size=np.arange(N) % 3))
    assert columns.features == ["size", "heat", "noise"]
    assert columns.label == "label"
    assert columns.left_out == ["label"]
    assert columns.sentence() == "3 columns used, 'label' is the label"


def test_without_a_label_column_there_is_none():
    columns = chosen(table())
    assert (columns.label, columns.sentence()) == (None, "2 columns used")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("Unnamed: 0", np.arange(N)),
        ("Unnamed: 0", np.r_[np.arange(25), np.arange(15)]),
        ("step", np.arange(N) + 100),
        ("id", np.random.default_rng(1).permutation(N)),
        ("customerId", [f"C{i}" for i in range(N)]),
        ("order_id", np.arange(N) * 7),
        ("Row Number", np.arange(N)[::-1]),
        ("timestamp", 1_700_000_000 + 60 * np.arange(N)),
    ],
)
def test_a_column_that_numbers_or_names_the_rows_is_left_out_unless_it_is_kept(name, values):
    columns = chosen(table(**{name: values}))
    assert columns.features == ["heat", "noise"]
    assert columns.sentence() == f"2 columns used, {name!r} looks like an index and is left out: --keep to use it"
    assert chosen(table(**{name: values}), keep=[name]).features == [name, "heat", "noise"]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("grid", FLOATS),
        ("step", np.arange(N) * 2),
        ("id", np.arange(N) % 5),
        ("timestamp", np.arange(N)[::-1] * 2),
        ("humid", np.arange(N) * 3),
        ("id", np.where(np.arange(N) == 3, np.inf, FLOATS)),
    ],
)
def test_other_columns_are_features(name, values):
    assert chosen(table(**{name: values})).features == [name, "heat", "noise"]


def test_few_rows_that_count_may_be_a_feature():
    frame = pd.DataFrame({"x": [0, 1, 2], "z": [0.1, 0.5, 0.3]})
    assert chosen(RawTable(frame)).features == ["x", "z"]


@pytest.mark.parametrize("name", ["class", "target", "Outlier", "is_anomaly", "y"])
def test_a_second_label_is_left_out(name):
    columns = chosen(table(label=LABELS, **{name: 1 - LABELS}))
    assert columns.sentence() == (
        f"2 columns used, 'label' is the label, {name!r} looks like a second label and is left out: --keep to use it"
    )


def test_a_column_that_looks_like_a_label_is_left_out_where_no_label_is_named():
    columns = chosen(table(target=LABELS))
    assert columns.sentence() == "2 columns used, 'target' looks like a label and is left out: --keep to use it"


def test_a_column_that_repeats_the_label_is_left_out():
    columns = chosen(table(label=LABELS, state=np.where(LABELS, "bad", "good")))
    assert columns.sentence() == (
        "2 columns used, 'label' is the label, 'state' says the same as the label and is left out: --keep to use it"
    )
    assert chosen(table(label=LABELS, state=np.r_[1 - LABELS[:1], LABELS[1:]])).features == ["state", "heat", "noise"]


def test_coordinates_called_x_y_and_z_are_features():
    assert chosen(table(x=FLOATS, y=FLOATS**2)).features == ["x", "y", "heat", "noise"]
    assert chosen(table(x=FLOATS, y=FLOATS**2), needs_label=True).label == "y"


def test_columns_without_values_are_left_out():
    columns = chosen(table(a=[None] * N, b=[np.nan] * N))
    assert columns.sentence() == "2 columns used, 'a', 'b' have no values and are left out"


def test_the_sentence_has_all_reasons():
    raw = table(
        **{"Unnamed: 0": np.arange(N), "id": np.arange(N) * 3, "label": LABELS, "class": LABELS, "time": FLOATS}
    )
    assert chosen(raw, drop=["time"]).sentence() == (
        "2 columns used, 'label' is the label, 'time' left out as asked, 'Unnamed: 0', 'id' look like an index and are "
        "left out: --keep to use them; 'class' looks like a second label and is left out: --keep to use it"
    )


def test_the_label_can_be_named_and_the_usual_one_is_then_a_second_label():
    columns = chosen(table(label=LABELS, state=np.arange(N) % 3), label="state")
    assert (columns.label, list(columns.guessed)) == ("state", ["label"])


def test_columns_can_be_named_with_commas():
    assert chosen(table(**{"a": FLOATS, "b,c": FLOATS}), drop=["a, heat", "b,c"]).features == ["noise"]


def test_the_columns_of_a_matrix_are_features_and_what_is_beside_it_is_not():
    frame = pd.DataFrame({"x0": np.arange(N), "x1": FLOATS, "y": LABELS, "weight": FLOATS})
    columns = chosen(RawTable(frame, beside=("y", "weight"), is_matrix=True))
    assert columns.features == ["x0", "x1"]
    assert columns.sentence() == (
        "2 columns used, 'y' is the label, 'weight' is not part of X and is left out: --keep to use it"
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"drop": ["haet"]}, "t.csv has no column 'haet'; did you mean 'heat'?"),
        ({"keep": ["colour"]}, "t.csv has no column 'colour'; its columns are 'heat', 'noise'"),
        ({"label": "heat,noise"}, "t.csv has no column 'heat,noise'; did you mean"),
        ({"label": "state"}, "t.csv has no column 'state'; its columns are 'heat', 'noise'"),
        ({"drop": ["heat"], "keep": ["heat"]}, "'heat' cannot be dropped and kept at the same time"),
        ({"label": "heat", "drop": ["heat"]}, "'heat' is the label column, which is never a feature; it cannot be"),
        ({"drop": ["heat", "noise"]}, "t.csv has no column left to use: 0 columns used, 'heat', 'noise' left out as"),
        ({"needs_label": True}, "t.csv has no label column 'label' or 'y'; name one of 'heat', 'noise' with --label"),
    ],
)
def test_what_cannot_be_is_said(options, sentence):
    with pytest.raises(TableError) as caught:
        chosen(table(), **options)
    assert str(caught.value).startswith(sentence)


def test_a_label_that_is_needed_is_looked_for():
    with pytest.raises(TableError, match="no label column 'label' or 'y'; 'target' may be one: --label target"):
        chosen(table(target=LABELS), needs_label=True)
