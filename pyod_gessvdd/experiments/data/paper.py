"""The paper's nine data sets, each class in turn the target, and the three noisy versions of Heart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.tabular.loader import TableOptions, load_table

Array = np.ndarray


@dataclass(frozen=True)
class Dataset:
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
    """The rows of a data set; ``is_test`` marks its own test part, or is None where the protocol draws one."""

    X: Array
    labels: Array
    is_test: Array | None = None


_HEART = {"disease_present": "DP", "disease_absent": "DA"}


def _csv(name: str, **targets: str) -> Dataset:
    return Dataset(name, targets, f"paper/{name}.csv.gz")


_ALL = (
    _csv("seeds", Kama="S-K", Rosa="S-R", Canadian="S-C"),
    Dataset(
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
    Dataset("mnist", {str(digit): str(digit) for digit in range(10)}, "mnist.npz"),
    Dataset("heart-noisy-test", _HEART, "paper/heart.csv.gz", (False, True)),
    Dataset("heart-noisy-train", _HEART, "paper/heart.csv.gz", (True, False)),
    Dataset("heart-noisy-both", _HEART, "paper/heart.csv.gz", (True, True)),
)

#: By name: the nine sets, and Heart with noise.
DATASETS = {dataset.name: dataset for dataset in _ALL}
#: The nine sets over whose averages the paper tests its methods.
CLEAN = tuple(dataset.name for dataset in _ALL if not any(dataset.noisy))


def choose_datasets(names: tuple[str, ...]) -> list[Dataset]:
    """The data sets of these names; "all" stands for every one, "clean" for the nine without noise."""
    chosen: dict[str, Dataset] = {}
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


def _read_table(path: Path) -> Rows:
    if not path.exists():
        raise FileNotFoundError(path)
    table = load_table(path, TableOptions(label="label"))
    return Rows(np.ascontiguousarray(table.X.to_numpy()), np.asarray(table.labels).astype(str))


def _read_npz(path: Path) -> Rows:
    with np.load(path, allow_pickle=False) as parts:
        X = np.concatenate([parts["x_train"], parts["x_test"]])
        labels = np.concatenate([parts["y_train"], parts["y_test"]]).astype(str)
        is_test = np.arange(len(X)) >= len(parts["x_train"])
    return Rows(X.reshape(len(X), -1), labels, is_test)
