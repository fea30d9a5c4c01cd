"""Files as tables: CSV, TSV, Parquet, NPZ and MAT, read into a DataFrame whose columns have names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pyod_gessvdd.errors import ComparisonError, TableError
from pyod_gessvdd.extras import need
from pyod_gessvdd.tabular.dialect import FALLBACK, OTHER_CHARACTERS, recognise
from pyod_gessvdd.tabular.wording import listed

if TYPE_CHECKING:
    from pandas import DataFrame

#: What the name of a text file says of its columns' separator, unless its lines say otherwise.
SEPARATORS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
SUFFIXES = (*SEPARATORS, ".parquet", ".npz", ".mat")
#: What people try first, and can save in another format.
SPREADSHEETS = (".xls", ".xlsx", ".ods")

#: UCI's files write a question mark where a value is missing; the empty field, NA and their like are pandas' own.
MISSING = ("?",)


@dataclass(frozen=True)
class RawTable:
    """What a file holds.

    Attributes
    ----------
    frame : DataFrame
        The rows; the names of its columns are text and differ.
    beside : tuple of str
        In files of arrays: the columns that are not part of the matrix X.
    is_matrix : bool
        Whether the columns come from a matrix, whose columns have no names of their own.
    notes : tuple of str
        What was recognised.
    """

    frame: DataFrame
    beside: tuple[str, ...] = ()
    is_matrix: bool = False
    notes: tuple[str, ...] = ()


def suffix(path: Path) -> str | None:
    """The ending by which the file is known, or None if it is not a table that can be read."""
    return next((ending for ending in SUFFIXES if path.name.lower().endswith(ending)), None)


def stem(path: Path) -> str:
    """The file's name without the ending."""
    return path.name[: -len(suffix(path) or path.suffix)] or path.name


def read_table(
    path: Path, *, sep: str | None = None, decimal: str | None = None, header: bool | None = None
) -> RawTable:
    """The rows of a CSV, TSV (also gzipped), Parquet, NPZ or MAT file.

    In an NPZ or MAT file the columns of the matrix X are called x0, x1, …, and arrays with one value per row keep their
    names.

    Parameters
    ----------
    path : Path
        The file.
    sep, decimal : str, optional
        What separates the columns of a text file, and the decimal mark of its numbers; recognised by default.
    header : bool, optional
        Whether the first line of a text file holds the names of the columns; recognised by default.
    """
    ending = suffix(path)
    if ending is None:
        hint = "; save it as CSV" if path.suffix.lower() in SPREADSHEETS else ""
        raise TableError(f"{path} is not a file that can be read; its name must end in {', '.join(SUFFIXES)}{hint}")
    if not path.is_file():
        raise TableError(f"there is no file {path}")
    try:
        if ending in (".npz", ".mat"):
            return _from_arrays(path, _arrays(path, ending))
        if ending == ".parquet":
            return as_table(_parquet(path), path)
        return _text(path, SEPARATORS[ending], sep, decimal, header)
    except ComparisonError:
        raise
    except Exception as error:  # each format's reader has its own exceptions
        reason = " ".join(str(error).split()) or type(error).__name__
        raise TableError(f"{path} cannot be read: {reason}") from error


def _arrays(path: Path, ending: str) -> dict[str, np.ndarray]:
    if ending == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            return dict(arrays)
    from scipy.io import loadmat

    return {name: array for name, array in loadmat(path).items() if not name.startswith("__")}


def _from_arrays(path: Path, arrays: dict[str, np.ndarray]) -> RawTable:
    pandas = need("pandas", "pandas", f"reading {path.name}")
    X = arrays.get("X")
    if X is None or X.ndim != 2:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in sorted(arrays.items()))
        raise TableError(f"{path} has no matrix 'X'; it has {shapes}")
    if X.dtype.kind not in "biuf":
        raise TableError(f"{path}: X must hold numbers, got the type {X.dtype}")
    others = {name: array for name, array in arrays.items() if name != "X"}
    if "y" in others and others["y"].size != len(X):
        raise TableError(f"{path}: X must have a row for each label, got {X.shape} and {others['y'].shape}")
    beside = {name: np.ravel(array) for name, array in others.items() if array.size == len(X)}
    matrix = pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame = pandas.concat([matrix, pandas.DataFrame(beside, index=matrix.index)], axis=1)
    return as_table(frame, path, beside=tuple(beside), is_matrix=True)


def _parquet(path: Path) -> Any:
    pandas = need("pandas", "pandas", f"reading {path.name}")
    need("pyarrow", "parquet", f"reading {path.name}")
    return pandas.read_parquet(path)


def _text(path: Path, usual: str, sep: str | None, decimal: str | None, header: bool | None) -> RawTable:
    pandas = need("pandas", "pandas", f"reading {path.name}")
    dialect = recognise(path, usual, sep=sep, decimal=decimal, header=header)

    def read(encoding: str) -> Any:
        return pandas.read_csv(
            path,
            sep=dialect.sep,
            decimal=dialect.decimal,
            thousands=dialect.thousands,
            encoding=encoding,
            names=dialect.names,
            header=None if dialect.names else 0,
            skiprows=dialect.skip,
            skipinitialspace=True,
            na_values=list(MISSING),
            # Without it a separator at the end of every row shifts all names by one column.
            index_col=False if dialect.trailing else None,
            # In parts, a column could be numbers in one and text in the next.
            low_memory=False,
        )

    try:
        frame, notes = read(dialect.encoding), dialect.notes
    except UnicodeDecodeError:  # further down than was looked at
        frame, notes = read(FALLBACK), (*dialect.notes, OTHER_CHARACTERS)
    if not isinstance(frame.index, pandas.RangeIndex):
        # Row names have no name of their own in R's files; pandas calls such a column so everywhere else.
        frame = frame.reset_index(names="Unnamed: 0")
    return as_table(frame, path, notes=notes)


def as_table(frame: DataFrame, path: Path, **about: Any) -> RawTable:
    """A DataFrame as a table whose columns have names that are text and differ; it must have rows.

    Parameters
    ----------
    frame : DataFrame
        The rows; it is not changed.
    path : Path
        Where it is from, for messages.
    **about
        The other attributes of :class:`RawTable`.
    """
    frame = frame.set_axis([str(column).strip() for column in frame.columns], axis=1)
    twice = sorted({column for column in frame.columns if (frame.columns == column).sum() > 1})
    if twice:
        raise TableError(f"{path} has more than one column called {listed(twice)}; rename them")
    if len(frame.columns) == 0:
        raise TableError(f"{path} has no columns")
    if len(frame) == 0:
        raise TableError(f"{path} has the columns {listed(frame.columns)} but no rows")
    return RawTable(frame, **about)
