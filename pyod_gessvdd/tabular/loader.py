"""The loader: from a file to rows and labels, by one rule for ``fit``, ``score``, ``compare`` and ``bench``."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pyod_gessvdd.errors import TableError
from pyod_gessvdd.tabular.columns import Columns, choose_columns
from pyod_gessvdd.tabular.kinds import BOOLEANS, kind_of
from pyod_gessvdd.tabular.labels import outlier_labels
from pyod_gessvdd.tabular.preparation import Preparation
from pyod_gessvdd.tabular.tables import RawTable, as_table, read_table
from pyod_gessvdd.tabular.wording import counted, listed

if TYPE_CHECKING:
    from pandas import DataFrame

#: What the rule did to each file, as information; the command line shows it.
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class TableOptions:
    """How files are read, and what their columns are; small, hashable, and the same for every command.

    Attributes
    ----------
    label : str, optional
        The label column; by default "label" or "y".
    normal : str, optional
        The label of the normal rows; by default labels are 0 (normal) and 1 (outlier).
    drop, keep : tuple of str
        Columns that are not features, and columns that are although they look like an index or a label.
    encode : tuple of str
        Columns of categories; "all" stands for every column of text.
    missing : {"error", "drop", "median"}
        What happens to missing and infinite values.
    sep, decimal : str, optional
        The separator and the decimal mark of text files; recognised by default.
    header : bool, optional
        Whether the first line of text files holds names; recognised by default.
    """

    label: str | None = None
    normal: str | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    encode: tuple[str, ...] = ()
    missing: str = "error"
    sep: str | None = None
    decimal: str | None = None
    header: bool | None = None

    @classmethod
    def of(cls, **given: Any) -> TableOptions:
        """From what a caller gives: lists for tuples, one name for several."""
        known = [each.name for each in fields(cls)]
        unknown = [name for name in given if name not in known]
        if unknown:
            raise TableError(f"unknown option {unknown[0]!r} for tables; there are {', '.join(known)}")
        for name in ("drop", "keep", "encode"):
            if name in given:
                given[name] = _names(given[name])
        return cls(**given)


def _names(value: str | Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


@dataclass(frozen=True)
class Table:
    """A file as a detector takes it.

    Attributes
    ----------
    X : DataFrame of float64
        The rows.
    labels : ndarray or None
        What the label column holds for these rows.
    columns : Columns
        The part that each column plays.
    preparation : Preparation
        What another file must go through.
    """

    X: DataFrame
    labels: np.ndarray | None
    columns: Columns
    preparation: Preparation


def load_table(path: Path, options: TableOptions, **how: bool) -> Table:
    """Read a file, choose its columns, encode them, and treat missing values.

    Parameters
    ----------
    path : Path
        A CSV, TSV, Parquet, NPZ or MAT file.
    options : TableOptions
        What the user specified.
    **how : bool
        See :func:`load_frame`.
    """
    raw = read_table(path, sep=options.sep, decimal=options.decimal, header=options.header)
    return _load(raw, path, options, **how)


def load_frame(frame: DataFrame, name: str, options: TableOptions, **how: bool) -> Table:
    """The same for a DataFrame.

    Parameters
    ----------
    frame : DataFrame
        The rows; it is not changed.
    name : str
        What messages call it.
    options : TableOptions
        What the user specified.
    **how : bool
        ``needs_label``: whether a table without labels is an error. ``for_training``: whether only the rows labelled
        ``options.normal`` are taken, if a normal label is given. ``codes``: whether a category becomes one number
        instead of a column.
    """
    return _load(as_table(frame, Path(name)), Path(name), options, **how)


def _load(
    raw: RawTable,
    path: Path,
    options: TableOptions,
    *,
    needs_label: bool = False,
    for_training: bool = False,
    codes: bool = False,
) -> Table:
    of_one_label = for_training and options.normal is not None
    columns = choose_columns(
        raw, path, label=options.label, drop=options.drop, keep=options.keep, needs_label=needs_label or of_one_label
    )
    # Labels that nobody asks for may have gaps.
    used = columns.label if needs_label or of_one_label else None
    # The index counts the rows of the file, whichever of them are left out.
    frame, notes = _labelled(raw.frame.reset_index(drop=True), used, options.missing, path)
    if of_one_label:
        frame = frame[outlier_labels(frame[columns.label].to_numpy(), options.normal, str(path)) == 0]
    elif for_training and columns.label is not None:
        notes.append("rows of every label are trained on: --normal to choose one")
    preparation = Preparation.learn(
        frame, columns.features, path, encode=options.encode, missing=options.missing, codes=codes
    )
    prepared = preparation.apply(frame, path)
    labels = None if columns.label is None else frame[columns.label].to_numpy()[prepared.complete]
    _tell(path, raw, columns, preparation, [*notes, *prepared.notes])
    return Table(prepared.X, labels, columns, preparation)


def _labelled(frame: DataFrame, label: str | None, missing: str, path: Path) -> tuple[DataFrame, list[str]]:
    """The rows that have a label, if there is a label column."""
    n_missing = 0 if label is None else int(frame[label].isna().sum())
    if n_missing == 0:
        return frame, []
    if missing != "drop":
        raise TableError(
            f"{path}: the label column {label!r} has {counted(n_missing, 'missing value')}; fill them, or leave such "
            "rows out with --missing drop"
        )
    return frame[frame[label].notna()], [f"{counted(n_missing, 'row')} without a label left out"]


def _tell(path: Path, raw: RawTable, columns: Columns, preparation: Preparation, notes: list[str]) -> None:
    """One line per file; a matrix whose columns have no names needs none unless something is left out."""
    categories = [f"{name!r} ({len(found)})" for name, found in preparation.categories.items()]
    booleans = [
        name for name in columns.features if name not in preparation.categories and kind_of(raw.frame[name]) == BOOLEANS
    ]
    parts = [
        *([f"categories of {', '.join(categories)} encoded"] if categories else []),
        *([f"{listed(booleans)} as 0 and 1"] if booleans else []),
        *raw.notes,
        *notes,
    ]
    if not raw.is_matrix or columns.guessed or columns.dropped or parts:
        logger.info("%s", "; ".join([f"{path}: {columns.sentence()}", *parts]))
