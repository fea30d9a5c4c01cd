"""From the columns of a table to finite numbers, learnt on one table and applied to others in the same way.

Numbers stay as they are, truth values become 0 and 1, and a column of categories becomes one column of 0 and 1 for each
category, or one column of codes for kernels that compare categories themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pyod_gessvdd.errors import TableError
from pyod_gessvdd.tabular.columns import find_columns
from pyod_gessvdd.tabular.kinds import NUMBERS, TEXT, categories_of, kind_of, numbers
from pyod_gessvdd.tabular.suitability import check_kinds, check_still_numbers, row_number
from pyod_gessvdd.tabular.wording import counted, listed

if TYPE_CHECKING:
    from pandas import DataFrame, Series

#: What to do with rows that have missing or infinite values.
POLICIES = ("error", "drop", "median")
#: Encodes every column of text.
ALL = "all"
#: A column with more categories than this holds names.
MAX_CATEGORIES = 100


@dataclass(frozen=True)
class Prepared:
    """Rows that a detector can take.

    Attributes
    ----------
    X : DataFrame of float64
        The complete rows.
    complete : ndarray of bool
        Which rows of the table they are.
    notes : list of str
        What was done to values, as the ends of sentences that begin with the file's name.
    """

    X: DataFrame
    complete: np.ndarray
    notes: list[str]


@dataclass(frozen=True)
class Preparation:
    """What a table goes through; a model file keeps it.

    Attributes
    ----------
    columns : list of str
        The columns of the table that are features.
    categories : dict of str to list of str
        The categories of the columns that are encoded.
    fill : dict
        What stands for a missing value with ``missing="median"``: the median of numbers, the commonest category.
    missing : {"error", "drop", "median"}
        What happens to missing and infinite values.
    codes : bool
        Whether a category becomes one number instead of a column.
    """

    columns: list[str]
    categories: dict[str, list[str]] = field(default_factory=dict)
    fill: dict[str, Any] = field(default_factory=dict)
    missing: str = "error"
    codes: bool = False

    @classmethod
    def learn(
        cls,
        frame: DataFrame,
        columns: Sequence[str],
        path: Path,
        *,
        encode: Sequence[str] = (),
        missing: str = "error",
        codes: bool = False,
    ) -> Preparation:
        """From the training rows.

        Parameters
        ----------
        frame : DataFrame
            The rows.
        columns : sequence of str
            Those that are features.
        path : Path
            Where the rows are from, for messages.
        encode : sequence of str
            Columns of categories; "all" stands for every column of text.
        missing, codes
            See the class.
        """
        if missing not in POLICIES:
            raise TableError(f"--missing must be one of {', '.join(POLICIES)}, got {missing!r}")
        kinds = {name: kind_of(frame[name]) for name in columns}
        every = ALL in encode and ALL not in columns
        encoded = set(find_columns([name for name in encode if not (every and name == ALL)], columns, path))
        if every:
            encoded |= {name for name, kind in kinds.items() if kind == TEXT}
        check_kinds(frame, kinds, encoded, path)
        categories = {name: _categories(frame[name], path) for name in columns if name in encoded}
        fill = {name: _typical(frame[name], name in encoded) for name in columns}
        return cls(list(columns), categories, fill, missing, codes)

    @property
    def sources(self) -> list[str]:
        """The column of the table that each of the detector's features comes from."""
        return [name for name in self.columns for _ in self._features_of(name)]

    @property
    def positions(self) -> list[int]:
        """The detector's features that are codes of categories."""
        return [i for i, name in enumerate(self.sources) if self.codes and name in self.categories]

    def apply(self, frame: DataFrame, path: Path, missing: str | None = None) -> Prepared:
        """The rows of a table as finite numbers.

        Parameters
        ----------
        frame : DataFrame
            A table that has the columns, in any order; its index counts the rows of the file, for messages.
        path : Path
            Where it is from, for messages.
        missing : {"error", "drop", "median"}, optional
            Another rule than the one that was learnt.
        """
        import pandas

        absent = [name for name in self.columns if name not in frame.columns]
        if absent:
            raise TableError(f"{path} lacks {len(absent)} of the {len(self.columns)} features: {listed(absent)}")
        check_still_numbers(frame, [name for name in self.columns if name not in self.categories], path)
        values = {
            name: categories_of(frame[name]) if name in self.categories else numbers(frame[name])
            for name in self.columns
        }
        gaps: Any = np.column_stack([_gaps(column) for column in values.values()])
        notes = self._treat(values, gaps, missing or self.missing, path)
        complete = ~gaps.any(axis=1) if (missing or self.missing) == "drop" else np.ones(len(frame), dtype=bool)
        parts: dict[str, Any] = {}
        for name, column in values.items():
            column = column[complete]
            parts |= self._encoded(name, column, notes) if name in self.categories else {name: column.to_numpy()}
        return Prepared(pandas.DataFrame(parts, dtype=np.float64), complete, notes)

    def _features_of(self, name: str) -> list[str]:
        if name not in self.categories or self.codes:
            return [name]
        return [f"{name}={category}" for category in self.categories[name]]

    def _treat(self, values: dict[str, Any], gaps: Any, missing: str, path: Path) -> list[str]:
        """Fill the gaps if that is asked for, complain of them if nothing is."""
        if not gaps.any():
            return []
        names = [name for name, has in zip(self.columns, gaps.any(axis=0), strict=True) if has]
        if missing == "median":
            unknown = [name for name in names if name not in self.fill]
            if unknown:
                raise TableError(f"{path}: the model does not know the median of {listed(unknown)}; fit it again")
            for name in names:
                position = self.columns.index(name)
                values[name] = values[name].mask(gaps[:, position], self.fill[name])
            filled = [f"{name!r} by {_shown(self.fill[name])}" for name in names[:3]] + ["…"] * (len(names) > 3)
            return [f"{counted(int(gaps.sum()), 'missing or infinite value')} replaced: {', '.join(filled)}"]
        n_rows = int(gaps.any(axis=1).sum())
        if missing == "drop" and n_rows < len(gaps):
            return [
                f"{n_rows:,} of {counted(len(gaps), 'row')} left out for missing or infinite values in {listed(names)}"
            ]
        if missing == "drop":
            worst = self.columns[int(gaps.sum(axis=0).argmax())]
            raise TableError(
                f"{path}: every row has a missing or infinite value, most of them in {worst!r}; leave that column out "
                "with --drop, or fill them with --missing median"
            )
        row, position = np.argwhere(gaps)[0]
        first = self.columns[position]
        raise TableError(
            f"{path}: {counted(int(gaps.sum()), 'value')} missing or infinite in {listed(names)}, the first in column "
            f"{first!r} of data row {row_number(values[first], row)}; leave such rows out with --missing drop, or fill "
            "them with --missing median"
        )

    def _encoded(self, name: str, column: Series, notes: list[str]) -> dict[str, Any]:
        known = self.categories[name]
        new = column[~column.isin(known)]
        if len(new):
            notes.append(
                f"{counted(len(new), 'row')} with a value of {name!r} that the training rows do not have: "
                f"{listed(new.unique())}"
            )
        if self.codes:
            codes = {category: float(i) for i, category in enumerate(known)}
            return {name: [codes.get(value, -1.0) for value in column]}
        return {
            feature: (column == category).to_numpy(dtype=np.float64)
            for feature, category in zip(self._features_of(name), known, strict=True)
        }


def _gaps(column: Series) -> np.ndarray:
    if column.dtype == object:
        return column.isna().to_numpy()
    return ~np.isfinite(column.to_numpy())


def _categories(column: Series, path: Path) -> list[str]:
    if kind_of(column) == NUMBERS and (numbers(column).dropna() % 1 != 0).any():
        raise TableError(f"{path}: the column {column.name!r} holds numbers with decimals, which are not categories")
    found = sorted(categories_of(column).dropna().unique())
    if len(found) > MAX_CATEGORIES:
        raise TableError(
            f"{path}: the column {column.name!r} has {len(found):,} different values, more than the {MAX_CATEGORIES} "
            "that can be encoded; leave it out with --drop"
        )
    return found


def _typical(column: Series, is_encoded: bool) -> Any:
    """The median of the numbers, or the commonest category."""
    if is_encoded:
        return str(categories_of(column).mode().iloc[0])
    values = numbers(column).to_numpy()
    values = values[np.isfinite(values)]
    return float(np.median(values)) if len(values) else 0.0


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)
