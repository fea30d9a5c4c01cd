"""Files of labelled rows: CSV, TSV, Parquet, NPZ and MAT, read into numbers and raw labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.extras import need

#: What a label column or array is called when nobody says.
DEFAULT_LABELS = ("label", "y")

SEPARATORS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
SUFFIXES = (*SEPARATORS, ".parquet", ".npz", ".mat")

#: So many names are listed in a message at most.
LISTED = 12


def suffix(path: Path) -> str | None:
    """The ending by which the file is known, or None if it is no table that can be read."""
    return next((ending for ending in SUFFIXES if path.name.lower().endswith(ending)), None)


def stem(path: Path) -> str:
    """The file's name without the ending."""
    return path.name[: -len(suffix(path) or path.suffix)] or path.name


def read_table(path: Path, label: str | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The features (float64) and the raw labels of a file.

    Parameters
    ----------
    path : Path
        A CSV, TSV (also gzipped), Parquet, NPZ or MAT file.
    label : str, optional
        The column, or in NPZ and MAT files the array, that holds the labels; otherwise "label" or "y".
    """
    content = read_content(path)
    X, y = (
        _from_arrays(path, content, label) if isinstance(content, dict) else features_and_labels(path, content, label)
    )
    if len(X) == 0 or X.shape[1] == 0:
        raise ComparisonError(f"{path} has {len(X)} rows and {X.shape[1]} features; at least one of each is needed")
    return X, y


def read_content(path: Path) -> Any:
    """What a file holds: a dict of the arrays of an NPZ or MAT file, a DataFrame of any other."""
    ending = suffix(path)
    if ending is None:
        raise ComparisonError(f"{path} is not a file that can be read; its name must end in {', '.join(SUFFIXES)}")
    try:
        return _read(path, ending)
    except ComparisonError:
        raise
    except Exception as error:  # each format's reader has its own exceptions
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ComparisonError(f"{path} cannot be read: {reason}") from error


def _read(path: Path, ending: str) -> Any:
    if ending == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            return dict(arrays)
    if ending == ".mat":
        from scipy.io import loadmat

        return {name: array for name, array in loadmat(path).items() if not name.startswith("__")}
    pandas = need("pandas", "compare", f"reading {path.name}")
    if ending == ".parquet":
        need("pyarrow", "parquet", f"reading {path.name}")
        return pandas.read_parquet(path)
    return pandas.read_csv(path, sep=SEPARATORS[ending])


def _label_name(path: Path, names: list[str], label: str | None) -> str:
    wanted = DEFAULT_LABELS if label is None else (label,)
    for name in wanted:
        if name in names:
            return name
    shown = ", ".join(names[:LISTED]) + (" …" if len(names) > LISTED else "")
    what = " or ".join(map(repr, wanted))
    raise ComparisonError(f"{path} has no label column {what}; choose one with --label from {shown}")


def _from_arrays(path: Path, arrays: dict[str, np.ndarray], label: str | None) -> tuple[np.ndarray, np.ndarray]:
    name = _label_name(path, sorted(arrays), label)
    if "X" not in arrays:
        raise ComparisonError(f"{path} has no array 'X'; it has {', '.join(sorted(arrays))}")
    X, y = arrays["X"], np.ravel(arrays[name])
    if X.ndim != 2 or len(X) != len(y):
        raise ComparisonError(f"{path}: X must be a matrix with a row for each label, got {X.shape} and {y.shape}")
    if not np.issubdtype(X.dtype, np.number) and X.dtype != bool:
        raise ComparisonError(f"{path}: X must hold numbers, got the type {X.dtype}")
    return X.astype(np.float64), y


def features_and_labels(path: Path, frame: Any, label: str | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The features (float64) and the raw labels of a DataFrame; the path is for messages."""
    frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
    name = _label_name(path, list(frame.columns), label)
    if frame[name].isna().any():
        raise ComparisonError(f"{path}: the label column {name!r} has {int(frame[name].isna().sum())} missing values")
    features = frame.drop(columns=name)
    text = [column for column in features if features[column].dtype.kind not in "biuf"]
    if text:
        shown = ", ".join(text[:LISTED]) + (" …" if len(text) > LISTED else "")
        raise ComparisonError(f"{path}: the columns {shown} do not hold numbers; encode them or leave them out")
    return features.to_numpy(dtype=np.float64), frame[name].to_numpy()
