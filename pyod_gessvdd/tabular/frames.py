"""Tables as DataFrames: read, split into features and the rest, written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pyod_gessvdd.errors import ModelFileError
from pyod_gessvdd.extras import need
from pyod_gessvdd.formulas import defused_frame
from pyod_gessvdd.tabular.tables import SEPARATORS, read_content, suffix

if TYPE_CHECKING:
    from pandas import DataFrame

#: What a table can be written as.
WRITTEN = (*SEPARATORS, ".parquet")
#: So many names are listed in a message at most.
LISTED = 8


def read_frame(path: Path) -> DataFrame:
    """The rows of a CSV, TSV, Parquet, NPZ or MAT file, with names as text.

    In an NPZ or MAT file the columns of the matrix X are called x0, x1, …, and arrays with one value per row keep their
    names.
    """
    if not path.is_file():
        raise ModelFileError(f"there is no file {path}")
    content = read_content(path)
    frame = _from_arrays(path, content) if isinstance(content, dict) else content
    frame.columns = [str(column) for column in frame.columns]
    twice = sorted({column for column in frame.columns if (frame.columns == column).sum() > 1})
    if twice:
        raise ModelFileError(f"{path} has more than one column called {listed(twice)}; rename them")
    if len(frame) == 0 or len(frame.columns) == 0:
        raise ModelFileError(f"{path} has {len(frame)} rows and {len(frame.columns)} columns; one of each is needed")
    return frame


def _from_arrays(path: Path, arrays: dict[str, np.ndarray]) -> DataFrame:
    pandas = need("pandas", "compare", f"reading {path.name}")
    if "X" not in arrays or arrays["X"].ndim != 2:
        raise ModelFileError(f"{path} has no matrix 'X'; it has {listed(sorted(arrays))}")
    X = arrays["X"]
    matrix = pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    beside = {name: np.ravel(array) for name, array in arrays.items() if name != "X" and array.size == len(X)}
    return pandas.concat([matrix, pandas.DataFrame(beside, index=matrix.index)], axis=1)


def numeric_features(frame: DataFrame, names: Sequence[str], path: Path) -> DataFrame:
    """The columns of these names as float64, in this order; one sentence about what is no finite number."""
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise ModelFileError(f"{path} lacks {len(missing)} of the {len(names)} features: {listed(missing)}")
    features = frame[list(names)]
    text = [name for name in names if features[name].dtype.kind not in "biuf"]
    if text:
        raise ModelFileError(
            f"{path}: the columns {listed(text)} do not hold numbers; encode them, or leave them out with --drop"
        )
    features = features.astype(np.float64)
    finite = np.isfinite(features.to_numpy())
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise ModelFileError(
            f"{path}: {(~finite).sum()} values are missing or infinite, the first in column {names[column]!r} of data "
            f"row {row + 1}; fill them or leave them out"
        )
    return features


def write_frame(frame: DataFrame, path: Path) -> None:
    """Write a table, all of it or nothing, in the format that the name's ending says; text is never a formula."""
    ending = suffix(path)
    if ending not in WRITTEN:
        raise ModelFileError(f"{path} cannot be written; its name must end in {', '.join(WRITTEN)}")

    def write(unfinished: Path) -> None:
        if ending == ".parquet":
            need("pyarrow", "parquet", f"writing {path.name}")
            frame.to_parquet(unfinished)
        else:
            compression = "gzip" if ending.endswith(".gz") else None
            defused_frame(frame).to_csv(unfinished, sep=SEPARATORS[ending], index=False, compression=compression)

    write_whole(path, write)


def write_whole(path: Path, write: Any) -> None:
    """Let ``write`` fill a file beside ``path`` and put it in its place: what was there stays if anything fails."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        write(unfinished)
        os.replace(unfinished, path)
    except OSError as error:
        raise ModelFileError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def check_free(path: Path, force: bool) -> None:
    """See before the work that the result can be written where it is to go."""
    if path.exists() and not force:
        raise ModelFileError(f"{path} is there already; choose another name or replace it with --force")
    if path.is_dir():
        raise ModelFileError(f"{path} is a folder; name a file")
    if not path.parent.is_dir():
        raise ModelFileError(f"there is no folder {path.parent} to write {path.name} to")


def listed(names: Iterable[str]) -> str:
    """Some names, quoted."""
    names = list(names)
    return ", ".join(map(repr, names[:LISTED])) + (" …" if len(names) > LISTED else "")
