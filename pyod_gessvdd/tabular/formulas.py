"""Text that a spreadsheet would run: cells that begin like a formula are written with an apostrophe before them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame

#: What a formula begins with in the usual spreadsheets (OWASP, "CSV injection").
STARTS = ("=", "+", "-", "@", "\t", "\r")


def defused(value: Any) -> Any:
    """The value; text that a spreadsheet would take for a formula with an apostrophe before it. Numbers stay."""
    if not isinstance(value, str) or not value.startswith(STARTS):
        return value
    try:
        float(value)
    except ValueError:
        return "'" + value
    return value


def defused_frame(frame: DataFrame) -> DataFrame:
    """A table whose names and text cells no spreadsheet takes for formulas."""
    text = [place for place, dtype in enumerate(frame.dtypes) if dtype.kind not in "biufcmM"]
    frame = frame.rename(columns=defused)
    for place in text:
        column = frame.iloc[:, place]
        if any(isinstance(value, str) and value.startswith(STARTS) for value in column):
            frame = frame.assign(**{str(frame.columns[place]): column.astype(object).map(defused)})
    return frame
