"""The paper's nine data sets, each class in turn the target, and the three noisy versions of Heart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.data.datasets import Dataset, hash_rows
from pyod_gessvdd.tabular.loader import TableOptions, load_table

Array = np.ndarray


@dataclass(frozen=True)
class PaperSet:
    """A data set of the paper.

    Attributes
    ----------
    name : str
        What ``--datasets`` takes.
    targets : mapping of str to str
        From the class's label in the file to the paper's abbreviation.
    file : str
        Its place under the data folder.
    noisy : tuple of bool
        Whether noise is added to the training rows, and to the test rows.
    """

    name: str
    targets: Mapping[str, str]
    file: str
    noisy: tuple[bool, bool] = (False, False)

    @property
    def family(self) -> str:
        """The data set in the published tables that this one is a version of."""
        return "heart" if any(self.noisy) else self.name

    @property
    def has_own_split(self) -> bool:
        """Whether the data come as a training and a test part."""
        return self.file.endswith(".npz")


@dataclass(frozen=True)
class Rows:
    """The rows of a data set; from ``first_test_row`` on they are its own test part, if it has one."""

    X: Array
    labels: Array
    first_test_row: int | None = None


@dataclass(frozen=True)
class PaperSource:
    """The rows of a set under a data folder; the labels are numbers of the classes in their names' order."""

    name: str
    data_dir: str

    def load(self) -> tuple[Array, Array]:
        """The features and the classes."""
        rows = load(self.name, Path(self.data_dir))
        return rows.X, np.unique(rows.labels, return_inverse=True)[1].astype(np.int8)


@dataclass(frozen=True)
class PaperDataset(Dataset):
    """A set with one class as the target: the nested protocol takes its classes, its noise and its own split."""

    target: int = 0
    noisy: tuple[bool, bool] = (False, False)
    first_test_row: int | None = None


_HEART = {"disease_present": "DP", "disease_absent": "DA"}


def _csv(name: str, **targets: str) -> PaperSet:
    return PaperSet(name, targets, f"paper/{name}.csv.gz")


_ALL = (
    _csv("seeds", Kama="S-K", Rosa="S-R", Canadian="S-C"),
    PaperSet(
        "qualitative_bankruptcy",
        {"bankruptcy": "QB-B", "non-bankruptcy": "QB-N"},
        "paper/qualitative_bankruptcy.csv.gz",
    ),
    _csv("somerville_happiness", happy="SH-H", unhappy="SH-U"),
    _csv("liver", disorder_present="DP", disorder_absent="DA"),
    _csv("iris", Setosa="I-S", Versicolor="S-VC", Virginica="S-V"),
    _csv("ionosphere", bad="I-B", good="I-G"),
    _csv("sonar", rock="S-R", mines="S-M"),
    _csv("heart", **_HEART),
    PaperSet("mnist", {str(digit): str(digit) for digit in range(10)}, "mnist.npz"),
    PaperSet("heart-noisy-test", _HEART, "paper/heart.csv.gz", (False, True)),
    PaperSet("heart-noisy-train", _HEART, "paper/heart.csv.gz", (True, False)),
    PaperSet("heart-noisy-both", _HEART, "paper/heart.csv.gz", (True, True)),
)

#: By name: the nine sets, and Heart with noise.
DATASETS = {dataset.name: dataset for dataset in _ALL}
#: The nine sets over whose averages the paper tests its methods.
CLEAN = tuple(dataset.name for dataset in _ALL if not any(dataset.noisy))


def choose_datasets(names: tuple[str, ...]) -> list[PaperSet]:
    """The data sets of these names; "all" stands for every one, "clean" for the nine without noise."""
    chosen: dict[str, PaperSet] = {}
    for name in names:
        members = {"all": tuple(DATASETS), "clean": CLEAN}.get(name, (name,))
        for member in members:
            if member not in DATASETS:
                raise ComparisonError(f"unknown data set {name!r}; there are all, clean, {', '.join(DATASETS)}")
            chosen[member] = DATASETS[member]
    return list(chosen.values())


@lru_cache(maxsize=4)
def load(dataset_name: str, data_dir: Path) -> Rows:
    """The rows of a data set under ``data_dir``."""
    dataset = DATASETS[dataset_name]
    path = data_dir / dataset.file
    try:
        return _read_npz(path) if dataset.has_own_split else _read_table(path)
    except (OSError, EOFError, KeyError, ValueError) as error:
        what = "is not there" if isinstance(error, FileNotFoundError) else f"cannot be read ({error})"
        raise ComparisonError(
            f"the data set {dataset_name!r} {what}: expected {path}; point --data-dir or PYOD_GESSVDD_DATA at the "
            "folder that holds paper/ and mnist.npz"
        ) from error


def targets(dataset: PaperSet, data_dir: Path) -> list[PaperDataset]:
    """The data set once for each of its classes, called ``heart:disease_present`` and so on."""
    rows = load(dataset.name, data_dir)
    source = PaperSource(dataset.name, str(data_dir))
    X, classes = source.load()
    names = np.unique(rows.labels).tolist()
    return [
        PaperDataset(
            name=f"{dataset.name}:{label}",
            origin=f"{dataset.file}, target: {label}",
            source=source,
            sha256=hash_rows(X, classes),
            n_rows=len(X),
            n_features=X.shape[1],
            n_outliers=int((rows.labels != label).sum()),
            target=names.index(label),
            noisy=dataset.noisy,
            first_test_row=rows.first_test_row,
        )
        for label in dataset.targets
    ]


def _read_table(path: Path) -> Rows:
    if not path.exists():
        raise FileNotFoundError(path)
    table = load_table(path, TableOptions(label="label"))
    return Rows(np.ascontiguousarray(table.X.to_numpy()), np.asarray(table.labels).astype(str))


def _read_npz(path: Path) -> Rows:
    with np.load(path, allow_pickle=False) as parts:
        X = np.concatenate([parts["x_train"], parts["x_test"]])
        labels = np.concatenate([parts["y_train"], parts["y_test"]]).astype(str)
        first_test_row = len(parts["x_train"])
    return Rows(X.reshape(len(X), -1), labels, first_test_row)
