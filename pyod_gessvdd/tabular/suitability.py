"""Columns that cannot become numbers, and what to do about each, in a sentence."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pyod_gessvdd.errors import TableError
from pyod_gessvdd.tabular.kinds import DATES, TEXT, kind_of, numbers
from pyod_gessvdd.tabular.wording import LISTED, counted, listed

if TYPE_CHECKING:
    from pandas import DataFrame, Series


def check_kinds(frame: DataFrame, kinds: dict[str, str], encoded: set[str], path: Path) -> None:
    """Columns that cannot become numbers, each kind in its own sentence."""
    dates = [name for name, kind in kinds.items() if kind == DATES]
    text = [name for name, kind in kinds.items() if kind == TEXT and name not in encoded]
    for name in text:
        _check_almost_numbers(frame[name], path)
    found = []
    if dates:
        found.append(
            f"{_subject(dates)} dates or times such as {_example(frame, dates[0])}: leave {_them(dates)} out with "
            f"{_option('--drop', dates)}, or replace {_them(dates)} by numbers such as the hour or the days since a "
            "start"
        )
    if text:
        found.append(
            f"{_subject(text)} text such as {_example(frame, text[0])}: take {_them(text)} as categories with "
            f"{_option('--encode', text)}, or leave {_them(text)} out with {_option('--drop', text)}"
        )
    if found:
        raise TableError(f"{path}: {'; '.join(found)}")


def check_still_numbers(frame: DataFrame, names: Sequence[str], path: Path) -> None:
    """A table to score may hold something else than the one that the model was fitted on."""
    for name in names:
        kind = kind_of(frame[name])
        if kind in (TEXT, DATES):
            _check_almost_numbers(frame[name], path)
            raise TableError(
                f"{path}: the column {name!r} holds {kind} such as {_example(frame, name)}, and numbers are expected"
            )


def _check_almost_numbers(column: Series, path: Path) -> None:
    """A column of numbers with a few words in it is a mistake, not a category."""
    wrong = numbers(column).isna() & column.notna()
    if wrong.sum() * 2 < column.notna().sum():
        first = int(np.flatnonzero(wrong)[0])
        raise TableError(
            f"{path}: the column {column.name!r} holds numbers, except for {counted(int(wrong.sum()), 'value')}, the "
            f"first {str(column.iloc[first])!r} in data row {row_number(column, first)}; correct or empty them, or "
            "leave the column out with --drop"
        )


def _subject(names: Sequence[str]) -> str:
    return f"the column {listed(names)} holds" if len(names) == 1 else f"the columns {listed(names)} hold"


def _option(option: str, names: Sequence[str]) -> str:
    """What to write in a shell; of many names the user finds the way."""
    if len(names) > LISTED:
        return option
    if any("," in name for name in names):
        return " ".join(f"{option} {shlex.quote(name)}" for name in names)
    return f"{option} {shlex.quote(','.join(names))}"


def _them(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _example(frame: DataFrame, name: str) -> str:
    return repr(str(frame[name].dropna().iloc[0]))


def row_number(column: Series, position: int) -> int:
    """Which row of the file it is, counted from 1; rows before it may have been left out."""
    return int(column.index[position] if column.index.dtype.kind == "i" else position) + 1
