"""Which columns of a table are features: one rule for every command, and one sentence that states what it did."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pyod_gessvdd.errors import TableError
from pyod_gessvdd.tabular.kinds import EMPTY, NUMBERS, TEXT, kind_of, numbers
from pyod_gessvdd.tabular.tables import RawTable
from pyod_gessvdd.tabular.wording import counted, listed

if TYPE_CHECKING:
    from pandas import DataFrame, Series

#: What a label column or array is called unless specified.
DEFAULT_LABELS = ("label", "y")
#: Columns of these names say what a row is, too.
LABEL_LIKE = {
    *("label", "labels", "y", "class", "target", "outlier", "anomaly", "fraud", "attack", "ground_truth"),
    *("is_outlier", "is_anomaly", "is_fraud", "is_attack", "outlier_label", "anomaly_label"),
}
#: A column with more different values than this is not a label.
MAX_LABELS = 50

#: Names of columns that number or name the rows, and of those that tell their time.
INDEX_LIKE = {"id", "index", "idx", "row", "rowid", "row_id", "row_number", "key", "uuid", "guid", "no", "nr", "#"}
TIME_LIKE = {"time", "timestamp", "date", "datetime", "epoch"}
#: Below this many rows 1, 2, 3, … may be a feature.
MIN_COUNTED = 10
#: So many rows per label make it a rule that two columns say the same.
MIN_REPEATED = 5

#: Why a column is left out unless it is kept, in the singular and in the plural.
AN_INDEX = ("looks like an index", "look like an index")
A_LABEL = ("looks like a label", "look like labels")
ANOTHER_LABEL = ("looks like a second label", "look like further labels")
THE_LABEL = ("says the same as the label", "say the same as the label")
NO_VALUES = ("has no values", "have no values")
NOT_IN_X = ("is not part of X", "are not part of X")


@dataclass(frozen=True)
class Columns:
    """The part that each column of a table plays.

    Attributes
    ----------
    features : list of str
        The columns that a detector sees, in the order of the table.
    label : str or None
        The label column.
    dropped : list of str
        The columns that the user left out.
    guessed : dict
        The columns that the rule left out, and why, in the singular and in the plural.
    """

    features: list[str]
    label: str | None = None
    dropped: list[str] = field(default_factory=list)
    guessed: dict[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def left_out(self) -> list[str]:
        """All columns that are not features."""
        return [*([self.label] if self.label is not None else []), *self.dropped, *self.guessed]

    def sentence(self) -> str:
        """What the rule did, for the user."""
        parts = [f"{counted(len(self.features), 'column')} used"]
        if self.label is not None:
            parts.append(f"{self.label!r} is the label")
        if self.dropped:
            parts.append(f"{listed(self.dropped)} left out as asked")
        reasons = "; ".join(self._left_out_for(reason) for reason in dict.fromkeys(self.guessed.values()))
        return ", ".join([*parts, reasons] if reasons else parts)

    def _left_out_for(self, reason: tuple[str, str]) -> str:
        names = [name for name, why in self.guessed.items() if why == reason]
        looks, are, them = (reason[0], "is", "it") if len(names) == 1 else (reason[1], "are", "them")
        text = f"{listed(names)} {looks} and {are} left out"
        return text if reason == NO_VALUES else f"{text}: --keep to use {them}"


def choose_columns(
    raw: RawTable,
    path: Path,
    *,
    label: str | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    needs_label: bool = False,
) -> Columns:
    """The features are all columns but the label, those to drop, and those that look like an index or another label.

    Parameters
    ----------
    raw : RawTable
        The table.
    path : Path
        Where it is from, for messages.
    label : str, optional
        The label column; by default "label" or "y", if it is there and can be one.
    drop, keep : sequence of str
        Columns that are not features, and columns that are whatever they look like.
    needs_label : bool
        Whether a table without a label column is an error.
    """
    frame = raw.frame
    drop, keep = find_columns(drop, frame.columns, path), find_columns(keep, frame.columns, path)
    both = [name for name in drop if name in keep]
    if both:
        raise TableError(f"{listed(both)} cannot be dropped and kept at the same time")
    label = _label(frame, path, label, needs_label, {*drop, *keep})
    if label is not None and label in (*drop, *keep):
        raise TableError(f"{label!r} is the label column, which is never a feature; it cannot be dropped or kept")
    features, guessed = [], {}
    for name in frame.columns:
        if name == label or name in drop:
            continue
        reason = None if name in keep else _reason(raw, name, label)
        if reason is None:
            features.append(name)
        else:
            guessed[name] = reason
    if not features:
        chosen = Columns(features, label, drop, guessed)
        raise TableError(f"{path} has no column left to use: {chosen.sentence()}")
    return Columns(features, label, drop, guessed)


def find_columns(wanted: Iterable[str], names: Iterable[str], path: Path) -> list[str]:
    """The columns that an option names, one by one or several with commas."""
    names, found = list(names), []
    for text in wanted:
        # A name may hold a comma itself.
        found += [text] if text in names else [part.strip() for part in text.split(",") if part.strip()]
    _check_known(found, names, path)
    return list(dict.fromkeys(found))


def _check_known(wanted: list[str], names: list[str], path: Path) -> None:
    unknown = [name for name in wanted if name not in names]
    if unknown:
        near = difflib.get_close_matches(unknown[0], names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; its columns are {listed(names)}"
        raise TableError(f"{path} has no column {listed(unknown)}{hint}")


def _label(frame: DataFrame, path: Path, label: str | None, needed: bool, taken: set[str]) -> str | None:
    if label is not None:
        _check_known([label], list(frame.columns), path)
        return label
    for name in DEFAULT_LABELS:
        # A table of x, y and z has a column y that is not a label.
        if name in frame.columns and name not in taken and (needed or _can_be_label(frame[name])):
            return name
    if not needed:
        return None
    like = [name for name in frame.columns if name.lower() in LABEL_LIKE]
    hint = (
        f"{listed(like)} may be one: --label {like[0]}" if like else f"name one of {listed(frame.columns)} with --label"
    )
    raise TableError(f"{path} has no label column {' or '.join(map(repr, DEFAULT_LABELS))}; {hint}")


def _can_be_label(column: Series) -> bool:
    values = column.dropna().unique()
    return len(values) <= MAX_LABELS and (kind_of(column) != NUMBERS or all(float(v).is_integer() for v in values))


def _reason(raw: RawTable, name: str, label: str | None) -> tuple[str, str] | None:
    """Why a column should not be a feature, if there is a reason."""
    if name in raw.beside:
        return NOT_IN_X
    if raw.is_matrix:
        return None
    column = raw.frame[name]
    kind = kind_of(column)
    if kind == EMPTY:
        return NO_VALUES
    if name.lower() in LABEL_LIKE and _can_be_label(column):
        return A_LABEL if label is None else ANOTHER_LABEL
    if kind in (NUMBERS, TEXT) and _is_index(name, column, kind):
        return AN_INDEX
    if label is not None and _repeats(column, raw.frame[label]):
        return THE_LABEL
    return None


def _is_index(name: str, column: Series, kind: str) -> bool:
    """Whether a column numbers or names the rows."""
    if column.isna().any():
        return False
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|[\s.-]+", "_", name).lower()
    named = words in INDEX_LIKE or words.endswith("_id") or words.startswith("unnamed:")
    if kind == TEXT:
        return named and column.is_unique
    values = numbers(column).to_numpy()
    if not np.isfinite(values).all() or (values % 1 != 0).any():
        return False
    steps = values[1:] - values[:-1]
    counts = len(values) >= MIN_COUNTED and bool((steps == 1).all())
    # The index of tables that were joined begins anew.
    joined = words == "unnamed:_0" and len(values) >= MIN_COUNTED and bool(((steps == 1) | (values[1:] == 0)).all())
    return (named and column.is_unique) or counts or joined or (words in TIME_LIKE and bool((steps > 0).all()))


def _repeats(column: Series, label: Series) -> bool:
    """Whether the column is the label under other names; with few rows for a label it may be so by chance."""
    n_values = label.nunique()
    if not 2 <= n_values <= len(column) // MIN_REPEATED or column.nunique() != n_values:
        return False
    pairs = set(zip(column.tolist(), label.tolist(), strict=True))
    return len(pairs) == n_values and not column.isna().any() and not label.isna().any()
