"""The data of a comparison: bundled sets, files, folders, collections and arrays, each as rows with 0/1 labels."""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.tabular.labels import outlier_labels
from pyod_gessvdd.tabular.loader import Table, TableOptions, load_frame, load_table
from pyod_gessvdd.tabular.tables import stem, suffix

#: The folder that holds the collections, unless ``--data-dir`` says so.
DATA_VARIABLE = "PYOD_GESSVDD_DATA"

#: scikit-learn's sets: the loader, and the class taken as normal unless NAME:CLASS says so. Nothing is downloaded.
BUNDLED = {
    "breast-cancer": ("load_breast_cancer", "benign"),
    "wine": ("load_wine", "class_1"),
    "digits": ("load_digits", "0"),
    "iris": ("load_iris", "versicolor"),
}

#: Folders under the data folder: files with X and y (1 = anomaly), and files whose classes are normal in turn.
LABELLED_COLLECTIONS = ("adbench", "oddbench", "odds")
CLASS_COLLECTIONS = ("paper",)
COLLECTIONS = LABELLED_COLLECTIONS + CLASS_COLLECTIONS


class Source(Protocol):
    """Where rows come from; it is small, can be sent to another process, and loads them there."""

    def load(self) -> tuple[np.ndarray, np.ndarray]:
        """The features (float64) and labels (1 = outlier)."""

    def __hash__(self) -> int: ...


@dataclass(frozen=True)
class BundledSource:
    """One of scikit-learn's sets with one class as normal."""

    name: str
    normal: str

    def load(self) -> tuple[np.ndarray, np.ndarray]:
        """The features and labels."""
        from sklearn import datasets

        data = getattr(datasets, BUNDLED[self.name][0])()
        classes = [str(name) for name in data.target_names]
        if self.normal not in classes:
            raise ComparisonError(f"{self.name} has no class {self.normal!r}; its classes are {', '.join(classes)}")
        return data.data.astype(np.float64), (data.target != classes.index(self.normal)).astype(np.int8)


@dataclass(frozen=True)
class FileSource:
    """A table with a label column; with a normal label all others are outliers, without it they are 0 and 1."""

    path: str
    options: TableOptions

    def load(self) -> tuple[np.ndarray, np.ndarray]:
        """The features and labels."""
        return _arrays(load_table(Path(self.path), self.options, needs_label=True), self.options, self.path)


@dataclass(frozen=True, eq=False)
class ArraySource:
    """Rows and labels that are here already."""

    X: np.ndarray
    y: np.ndarray

    def load(self) -> tuple[np.ndarray, np.ndarray]:
        """The features and labels."""
        return self.X, self.y


@dataclass(frozen=True)
class SpooledSource:
    """Rows and labels in a pair of .npy files that other processes map into memory."""

    folder: str
    name: str

    @classmethod
    def write(cls, folder: str, name: str, X: np.ndarray, y: np.ndarray) -> SpooledSource:
        """Write the arrays under a name, and refer to them."""
        source = cls(folder, name)
        for part, array in (("X", X), ("y", y)):
            np.save(source._path(part), array)
        return source

    def load(self) -> tuple[np.ndarray, np.ndarray]:
        """The features and labels, read from the disk as they are used."""
        return np.load(self._path("X"), mmap_mode="r"), np.load(self._path("y"))

    def _path(self, part: str) -> str:
        return os.path.join(self.folder, f"{self.name}-{part}.npy")


@dataclass(frozen=True)
class Dataset:
    """A data set that has been looked at: what it is, and from where its rows are loaded."""

    name: str
    origin: str
    source: Source
    sha256: str
    n_rows: int
    n_features: int
    n_outliers: int

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """The features and labels; a process keeps those of the sets used last."""
        return self.source.load() if isinstance(self.source, ArraySource) else _load(self.source)


@lru_cache(maxsize=2)
def _load(source: Source) -> tuple[np.ndarray, np.ndarray]:
    return source.load()


def resolve_datasets(
    data: Any,
    *,
    label: str | None = None,
    normal: str | None = None,
    tables: Mapping[str, Any] | None = None,
    data_dir: str | os.PathLike[str] | None = None,
) -> list[Dataset]:
    """The data sets that the user means, each loaded once and checked.

    Parameters
    ----------
    data : str, path, sequence of them, (X, y), DataFrame, or mapping of name → (X, y) or DataFrame
        Bundled names (``"wine"``, ``"digits:3"``), files, folders, collections (``"adbench"``, ``"adbench/6_cardio"``).
        In arrays y is 0 or 1 (1 = outlier) unless ``normal`` is given.
    label, normal : str, optional
        The label column of files and DataFrames, and the label of the normal rows in them.
    tables : mapping, optional
        How they are read beyond that: drop, keep, encode, missing, and for text files sep, decimal, header, as in
        :class:`~pyod_gessvdd.tabular.loader.TableOptions`.
    data_dir : path-like, optional
        The folder with the collections; by default the environment variable ``PYOD_GESSVDD_DATA``.
    """
    if hasattr(data, "columns") or (isinstance(data, tuple) and len(data) == 2 and hasattr(data[0], "__array__")):
        data = {"data": data}
    options = TableOptions.of(label=label, normal=normal, **(tables or {}))
    if isinstance(data, Mapping):
        found = [_from_python(str(name), value, options) for name, value in data.items()]
    else:
        items = [data] if isinstance(data, str | os.PathLike) else list(data)
        texts = [os.fspath(item) for item in items]
        named = [entry for text in texts for entry in _sources(text, options, data_dir)]
        found = [inspect_source(name, source) for name, source in dict.fromkeys(named)]
    _check_names(found)
    return found


def inspect_source(name: str, source: Source) -> Dataset:
    """Load once: check what is there, count and hash it."""
    X, y = source.load()
    _check_values(name, X, y)
    n_rows, n_features = X.shape
    return Dataset(name, _origin(source), source, hash_rows(X, y), n_rows, n_features, int(y.sum()))


def hash_rows(X: np.ndarray, y: np.ndarray) -> str:
    """What identifies the rows and their labels."""
    digest = hashlib.sha256(repr(X.shape).encode())
    digest.update(np.ascontiguousarray(X, dtype=np.float64).data)
    digest.update(np.ascontiguousarray(y, dtype=np.int8).data)
    return digest.hexdigest()


def _check_values(name: str, X: np.ndarray, y: np.ndarray) -> None:
    if not np.isfinite(X).all():
        column = int(np.flatnonzero(~np.isfinite(X).all(axis=0))[0])
        raise ComparisonError(
            f"{name} has missing or infinite values, the first in feature {column}; fill them or leave them out"
        )
    counts = np.bincount(y, minlength=2)
    if min(counts) == 0:
        raise ComparisonError(f"{name} has {counts[0]} normal rows and {counts[1]} outliers; both kinds are needed")
    if min(counts) < 2:
        raise ComparisonError(
            f"{name} has {counts[0]} normal rows and {counts[1]} outliers; two of each are needed for a split"
        )


def _check_names(found: list[Dataset]) -> None:
    if not found:
        raise ComparisonError("no data set is given")
    first: dict[str, Dataset] = {}
    for dataset in found:
        other = first.setdefault(dataset.name, dataset)
        if other is not dataset:
            raise ComparisonError(
                f"two data sets are called {dataset.name!r}, {other.origin} and {dataset.origin}; rename one of them"
            )


def _from_python(name: str, value: Any, options: TableOptions) -> Dataset:
    if hasattr(value, "columns"):
        table = load_frame(value, name, options, needs_label=True)
        return inspect_source(name, ArraySource(*_arrays(table, options, name)))
    try:
        X, y = value
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y).ravel()
    except (TypeError, ValueError) as error:
        raise ComparisonError(f"{name} must be a pair (X, y) of numbers and labels: {error}") from error
    if X.ndim != 2 or len(X) != len(y):
        raise ComparisonError(f"{name}: X must be a matrix with a row for each label, got {X.shape} and {y.shape}")
    return inspect_source(name, ArraySource(X, outlier_labels(y, options.normal, name)))


def _arrays(table: Table, options: TableOptions, where: str) -> tuple[np.ndarray, np.ndarray]:
    labels = outlier_labels(np.asarray(table.labels), options.normal, where)
    return np.ascontiguousarray(table.X.to_numpy()), labels


def _origin(source: Source) -> str:
    if isinstance(source, BundledSource):
        return f"scikit-learn {source.name}, normal: {source.normal}"
    if isinstance(source, FileSource):
        normal = source.options.normal
        return source.path + (f", normal: {normal}" if normal is not None else "")
    return "arrays"


def _sources(text: str, options: TableOptions, data_dir: Any) -> Iterable[tuple[str, Source]]:
    """What one argument stands for: names and sources, not loaded yet."""
    head, _, of_class = text.partition(":")
    collection, _, member = text.partition("/")
    if head in BUNDLED:
        return [(text, BundledSource(head, of_class or BUNDLED[head][1]))]
    if collection in COLLECTIONS:
        return _collection(collection, member, options.missing, data_dir)
    path = Path(text)
    if path.is_dir():
        files = _tables(path)
        if not files:
            raise ComparisonError(f"the folder {path} holds no CSV, TSV, Parquet, NPZ or MAT file")
        return [(stem(file), FileSource(str(file), options)) for file in files]
    if path.is_file():
        return [(stem(path), FileSource(str(path), options))]
    known = [*BUNDLED, *COLLECTIONS]
    near = difflib.get_close_matches(text, known, n=2)
    hint = f"did you mean {' or '.join(near)}?" if near else f"the names known are {', '.join(known)}"
    raise ComparisonError(f"there is no file, folder or data set {text!r}; {hint}")


def _tables(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.is_file() and suffix(file))


def _collection(name: str, member: str, missing: str, data_dir: Any) -> list[tuple[str, Source]]:
    root = data_dir or os.environ.get(DATA_VARIABLE)
    if not root:
        raise ComparisonError(
            f"{name!r} is read from a data folder; name the one that holds {name}/ with --data-dir or {DATA_VARIABLE}"
        )
    folder = Path(root) / name
    if not folder.is_dir():
        raise ComparisonError(f"the data folder {root} has no folder {name}")
    member, _, of_class = member.partition(":")
    # A set with gaps stands beside its filled copy; it is there for those who ask for it by its path.
    files = [file for file in _tables(folder) if not stem(file).endswith("_missing")]
    if member:
        # ADBench numbers its files: "cardio" is 6_cardio as well, and "wbc" is 42_WBC.
        names = {file: stem(file).casefold() for file in files}
        files = [file for file, name in names.items() if member.casefold() in (name, name.partition("_")[2])]
    if not files:
        raise ComparisonError(f"the folder {folder} holds no data set{f' {member!r}' if member else 's'}")
    if name in LABELLED_COLLECTIONS:
        return [(stem(file), FileSource(str(file), TableOptions(missing=missing))) for file in files]
    return [
        (f"{stem(file)}:{normal}", FileSource(str(file), TableOptions(normal=str(normal), missing=missing)))
        for file in files
        for normal in ([of_class] if of_class else _classes(file, missing))
    ]


def _classes(file: Path, missing: str) -> np.ndarray:
    return np.unique(np.asarray(load_table(file, TableOptions(missing=missing), needs_label=True).labels))
