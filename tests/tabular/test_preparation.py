"""From columns to finite numbers, alike for the table that was learnt on and for others."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyod_gessvdd.errors import TableError
from pyod_gessvdd.tabular.preparation import MAX_CATEGORIES, Preparation

PATH = Path("t.csv")


def learn(frame, columns=None, **options):
    return Preparation.learn(frame, list(frame.columns) if columns is None else columns, PATH, **options)


def both(frame, **options):
    """What a table becomes that is learnt on and applied to."""
    return learn(frame, **options).apply(frame, PATH)


GOODS = pd.DataFrame({"goods": ["letter", "bulk", "letter"], "weight": [1, 2, 3]})
GAPS = pd.DataFrame({"a": [1.0, np.nan, 3.0, 5.0], "b": [1.0, 2.0, np.inf, 4.0], "c": [1, 2, 3, 4]})


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, 0],
        [1.0, 2.0, 0.0],
        [True, False, False],
        pd.array([1, 2, 0], dtype="Int64"),
        ["1", "2", "0"],
        [Decimal(1), Decimal(2), Decimal(0)],
    ],
    ids=["ints", "floats", "booleans", "nullable", "digits", "decimals"],
)
def test_numbers_and_booleans_become_float64(values):
    X = both(pd.DataFrame({"a": values})).X
    assert X["a"].dtype == np.float64
    assert X["a"].tolist() == [float(value) for value in values]


def test_booleans_with_gaps_are_booleans():
    frame = pd.DataFrame({"on": [True, None, False, True]}, dtype=object)
    assert both(frame, missing="median").X["on"].tolist() == [1.0, 1.0, 0.0, 1.0]


def test_each_category_becomes_a_column():
    prepared = both(GOODS, encode=["goods"])
    assert prepared.X.to_dict("list") == {
        "goods=bulk": [0.0, 1.0, 0.0],
        "goods=letter": [1.0, 0.0, 1.0],
        "weight": [1.0, 2.0, 3.0],
    }
    assert prepared.notes == []
    assert learn(GOODS, encode=["goods"]).sources == ["goods", "goods", "weight"]


def test_all_encodes_every_column_of_text():
    frame = GOODS.assign(port=["Oslo", "Riga", "Oslo"])
    assert set(learn(frame, encode=["all"]).categories) == {"goods", "port"}


def test_numbers_can_be_categories_whatever_their_type():
    preparation = learn(pd.DataFrame({"cp": [1, 4, 4]}), encode=["cp"])
    assert preparation.categories == {"cp": ["1", "4"]}
    assert preparation.apply(pd.DataFrame({"cp": [4.0, 1.0]}), PATH).X.to_numpy().tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_a_category_that_is_new_is_in_no_column_and_is_named():
    prepared = learn(GOODS, encode=["goods"]).apply(GOODS.assign(goods=["letter", "rail", "rail"]), PATH)
    assert prepared.X[["goods=bulk", "goods=letter"]].to_numpy().tolist() == [[0.0, 1.0], [0.0, 0.0], [0.0, 0.0]]
    assert prepared.notes == ["2 rows with a value of 'goods' that the training rows do not have: 'rail'"]


def test_codes_are_one_number_per_category_and_one_for_all_that_are_new():
    preparation = learn(GOODS, encode=["goods"], codes=True)
    assert preparation.positions == [0]
    assert preparation.sources == ["goods", "weight"]
    other = preparation.apply(GOODS.assign(goods=["rail", "bulk", "letter"]), PATH)
    assert other.X["goods"].tolist() == [-1.0, 0.0, 1.0]


def test_columns_are_found_by_name_in_any_order():
    prepared = learn(GOODS, encode=["goods"]).apply(GOODS[["weight", "goods"]].assign(more="x"), PATH)
    assert prepared.X.equals(both(GOODS, encode=["goods"]).X)


def test_rows_with_gaps_are_left_out():
    prepared = both(GAPS, missing="drop")
    assert prepared.complete.tolist() == [True, False, False, True]
    assert prepared.X["c"].tolist() == [1.0, 4.0]
    assert prepared.notes == ["2 of 4 rows left out for missing or infinite values in 'a', 'b'"]


def test_gaps_are_filled_by_what_was_learnt():
    preparation = learn(GAPS.assign(d=["x", "y", "y", None]), encode=["d"], missing="median")
    assert preparation.fill == {"a": 3.0, "b": 2.0, "c": 2.5, "d": "y"}
    other = preparation.apply(pd.DataFrame({"a": [np.nan, 7.0], "b": 1.0, "c": 1.0, "d": [None, "x"]}), PATH)
    assert other.X.to_numpy().tolist() == [[3.0, 1.0, 1.0, 0.0, 1.0], [7.0, 1.0, 1.0, 1.0, 0.0]]
    assert other.complete.all()
    assert other.notes == ["2 missing or infinite values replaced: 'a' by 3, 'd' by 'y'"]


def test_a_model_of_an_earlier_version_knows_no_medians():
    with pytest.raises(TableError, match=r"t\.csv: the model does not know the median of 'a', 'b'; fit it again"):
        Preparation(["a", "b", "c"]).apply(GAPS, PATH, missing="median")


def test_another_rule_can_be_applied_than_the_one_that_was_learnt():
    assert learn(GAPS).apply(GAPS, PATH, missing="median").X["a"].tolist() == [1.0, 3.0, 3.0, 5.0]


@given(st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), min_size=1), st.sampled_from(["drop", "median"]))
def test_whatever_is_missing_the_rest_is_finite_and_unchanged(values, missing):
    frame = pd.DataFrame({"a": pd.Series(values, dtype=float), "b": 1.0})
    known = frame["a"].notna().to_numpy()
    if missing == "drop" and not known.any():
        with pytest.raises(TableError, match="every row has a missing or infinite value"):
            both(frame, missing=missing)
        return
    prepared = both(frame, missing=missing)
    assert np.isfinite(prepared.X.to_numpy()).all()
    assert len(prepared.X) == prepared.complete.sum()
    kept = prepared.X["a"] if missing == "drop" else prepared.X["a"][known]
    assert kept.tolist() == frame["a"][known].tolist()


@pytest.mark.parametrize(
    ("columns", "options", "sentence"),
    [
        (
            {"a": [1.0, np.nan], "b": [1.0, np.inf]},
            {},
            "t.csv: 2 values missing or infinite in 'a', 'b', the first in column 'a' of data row 2; leave such rows "
            "out with --missing drop, or fill them with --missing median",
        ),
        (
            {"a": [np.nan, np.nan], "b": [1.0, 2.0]},
            {"missing": "drop"},
            "t.csv: every row has a missing or infinite value, most of them in 'a'; leave that column out with --drop, "
            "or fill them with --missing median",
        ),
        ({"a": [1, 2]}, {"missing": "mean"}, "--missing must be one of error, drop, median, got 'mean'"),
        (
            {"room": ["red", "blue"], "b": [1, 2]},
            {},
            "t.csv: the column 'room' holds text such as 'red': take it as categories with --encode room, or leave it "
            "out with --drop room",
        ),
        (
            {"my room": ["red", "blue"], "town": ["a", "b"]},
            {},
            "t.csv: the columns 'my room', 'town' hold text such as 'red': take them as categories with --encode "
            "'my room,town', or leave them out with --drop 'my room,town'",
        ),
        (
            {"room, or": ["red", "blue"], "town": ["a", "b"]},
            {},
            "t.csv: the columns 'room, or', 'town' hold text such as 'red': take them as categories with --encode "
            "'room, or' --encode town, or leave them out with --drop 'room, or' --drop town",
        ),
        (
            {f"t{i}": ["red", "blue"] for i in range(20)},
            {},
            "t.csv: the columns 't0', 't1', 't2', 't3', 't4', 't5', 't6', 't7' … hold text such as 'red': take them as "
            "categories with --encode, or leave them out with --drop",
        ),
        (
            {"day": ["2024-01-31", "2024-02-01"], "room": ["red", "blue"]},
            {"encode": ["all"]},
            "t.csv: the column 'day' holds dates or times such as '2024-01-31': leave it out with --drop day, or "
            "replace it by numbers such as the hour or the days since a start",
        ),
        (
            {"a": ["1", "2", "n/k", "4", "none"]},
            {},
            "t.csv: the column 'a' holds numbers, except for 2 values, the first 'n/k' in data row 3; correct or empty "
            "them, or leave the column out with --drop",
        ),
        (
            {"name": [f"n{i}" for i in range(MAX_CATEGORIES + 1)]},
            {"encode": ["name"]},
            "t.csv: the column 'name' has 101 different values, more than the 100 that can be encoded; leave it out",
        ),
        ({"a": [1, 2]}, {"encode": ["b"]}, "t.csv has no column 'b'; its columns are 'a'"),
    ],
)
def test_what_cannot_become_numbers_is_named(columns, options, sentence):
    with pytest.raises(TableError) as caught:
        both(pd.DataFrame(columns), **options)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    "value",
    [
        *("2024-01-31", "2024-01-31T12:00:00Z", "2024/1/31", "31.01.2024", "1/31/24", "12:05", "12:05:59.5", "3:15 pm"),
        *("31 Jan 2024", "31-Jan-24", "January 31, 2024", "31.01.2024 12:05"),
        *(pd.Timestamp("2024-01-31"), datetime.date(2024, 1, 31), pd.Timedelta("1h")),
    ],
    ids=str,
)
def test_dates_are_refused_by_name(value):
    with pytest.raises(TableError, match="the column 'when' holds dates or times such as "):
        learn(pd.DataFrame({"when": [value, value]}))


def test_a_column_that_held_numbers_at_fit_must_hold_numbers_again():
    preparation = learn(pd.DataFrame({"a": [1.0, 2.0]}))
    with pytest.raises(TableError, match=r"new\.csv: the column 'a' holds text such as 'loud', and numbers are expect"):
        preparation.apply(pd.DataFrame({"a": ["loud", "low"]}), Path("new.csv"))
    with pytest.raises(TableError, match="the column 'a' holds numbers, except for 1 value, the first 'loud' in data"):
        preparation.apply(pd.DataFrame({"a": ["1", "loud", "3"]}), Path("new.csv"))


def test_features_that_a_table_lacks_are_named():
    with pytest.raises(TableError, match=r"t\.csv lacks 1 of the 2 features: 'weight'"):
        learn(GOODS, encode=["goods"]).apply(GOODS[["goods"]], PATH)
