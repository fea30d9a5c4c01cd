"""What a column holds: numbers, truth values, text or dates."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pandas import Series

NUMBERS, BOOLEANS, TEXT, DATES, EMPTY = "numbers", "booleans", "text", "dates", "empty"

#: So many values of a column of text are looked at.
SAMPLED = 200

_DATE = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}([ T].*)?"
    r"|\d{4}/\d{1,2}/\d{1,2}( .*)?"
    r"|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}( .*)?"
    r"|\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[AaPp][Mm])?"
    r"|\d{1,2}\.?[ -][A-Za-z]{3,9}[ -]\d{2,4}( .*)?"
    r"|[A-Z][a-z]{2,8} \d{1,2},? \d{4}( .*)?"
)


def kind_of(column: Series) -> str:
    """What the values of a column are, those that are missing left aside."""
    from pandas.api import types

    if column.isna().all():
        return EMPTY
    if types.is_bool_dtype(column.dtype):
        return BOOLEANS
    if types.is_datetime64_any_dtype(column.dtype) or types.is_timedelta64_dtype(column.dtype):
        return DATES
    if types.is_numeric_dtype(column.dtype) and not types.is_complex_dtype(column.dtype):
        return NUMBERS
    values = column.dropna().head(SAMPLED).tolist()
    if all(isinstance(value, bool | np.bool_) for value in values):
        return BOOLEANS
    if all(_DATE.fullmatch(str(value).strip()) or hasattr(value, "isoformat") for value in values):
        return DATES
    return NUMBERS if numbers(column).notna().sum() == column.notna().sum() else TEXT


def numbers(column: Series) -> Any:
    """The column as float64, NaN where there is no number."""
    import pandas

    if column.dtype.kind in "fiub":
        return column.astype(np.float64)
    return pandas.to_numeric(column, errors="coerce").astype("Float64").astype(np.float64)


def categories_of(column: Series) -> Any:
    """The column as text, None where a value is missing; whole numbers look alike whatever type they have."""
    return column.map(_name, na_action="ignore").astype(object).where(column.notna(), None)


def _name(value: Any) -> str:
    whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value)) if whole else str(value).strip()
