"""Reading the paper's data sets."""

from __future__ import annotations

import gzip
import re

import numpy as np
import pytest

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.data.paper import CLEAN, DATASETS, choose_datasets, load, targets
from tests.experiments.paper_data import write_csv, write_mnist

#: "Datasets and experimental setup".
COUNTS = {
    "seeds": (7, {"Kama": 70, "Rosa": 70, "Canadian": 70}),
    "qualitative_bankruptcy": (6, {"bankruptcy": 107, "non-bankruptcy": 143}),
    "somerville_happiness": (6, {"happy": 77, "unhappy": 66}),
    "liver": (6, {"disorder_present": 145, "disorder_absent": 200}),
    "iris": (4, {"Setosa": 50, "Versicolor": 50, "Virginica": 50}),
    "ionosphere": (34, {"bad": 126, "good": 225}),
    "sonar": (60, {"rock": 97, "mines": 111}),
    "heart": (13, {"disease_present": 139, "disease_absent": 164}),
}


@pytest.mark.parametrize("name", COUNTS)
def test_the_real_sets_have_the_papers_dimensions_and_class_counts(name, real_data):
    rows = load(name, real_data)
    n_features, counts = COUNTS[name]
    labels, found = np.unique(rows.labels, return_counts=True)
    assert rows.X.shape[1] == n_features
    assert np.isfinite(rows.X).all()
    assert dict(zip(labels.tolist(), found.tolist(), strict=True)) == counts
    assert set(labels) == set(DATASETS[name].targets)


def test_a_set_is_read_as_rows_and_labels(tmp_path):
    X = np.array([[1.0, 2.5], [3.0, -4.0]])
    write_csv(tmp_path / "paper" / "iris.csv.gz", X, ["Setosa", "Virginica"])
    rows = load("iris", tmp_path)
    assert (rows.X == X).all()
    assert rows.labels.tolist() == ["Setosa", "Virginica"]
    assert rows.first_test_row is None


def test_mnist_keeps_its_own_split(tmp_path):
    rows = load("mnist", write_mnist(tmp_path))
    assert rows.X.shape == (200, 4)
    assert rows.first_test_row == 100
    assert set(rows.labels) == set(DATASETS["mnist"].targets)


def test_each_class_is_a_data_set_with_numbers_for_the_classes(data_dir):
    present, absent = targets(DATASETS["heart-noisy-test"], data_dir)
    assert (present.name, absent.name) == ("heart-noisy-test:disease_present", "heart-noisy-test:disease_absent")
    assert (present.target, absent.target, present.noisy) == (1, 0, (False, True))
    assert (present.n_rows, present.n_outliers, present.sha256) == (120, 60, absent.sha256)
    _, classes = present.arrays()
    assert np.bincount(classes).tolist() == [60, 60]


def test_the_nine_sets_and_the_noisy_versions_can_be_chosen_by_group_and_by_name():
    assert len(CLEAN) == 9
    assert [dataset.name for dataset in choose_datasets(("clean",))] == list(CLEAN)
    assert len(choose_datasets(("all",))) == 12
    assert [dataset.name for dataset in choose_datasets(("iris", "heart-noisy-both", "iris"))] == [
        "iris",
        "heart-noisy-both",
    ]


def test_an_unknown_set_is_an_error_that_lists_what_there_is():
    with pytest.raises(
        ComparisonError, match=r"unknown data set 'hart'; there are all, clean, seeds, .*heart-noisy-both"
    ):
        choose_datasets(("hart",))


def test_a_missing_file_is_named_with_the_way_to_say_where_it_is(tmp_path):
    expected = f"the data set 'iris' is not there: expected {tmp_path / 'paper' / 'iris.csv.gz'}; point --data-dir"
    with pytest.raises(ComparisonError, match=re.escape(expected)):
        load("iris", tmp_path)


@pytest.mark.parametrize(
    "content",
    [b"not gzip", gzip.compress(b"f0,label\nx,Setosa\n"), gzip.compress(b"f0,f1\n1,2\n")],
    ids=["not gzip", "not a number", "no label"],  # a compressed file holds the time, and so would the test's name
)
def test_a_file_that_cannot_be_read_is_an_error(tmp_path, content):
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "iris.csv.gz").write_bytes(content)
    with pytest.raises(ComparisonError, match=r"the data set 'iris' cannot be read \(.+\): expected"):
        load("iris", tmp_path)


def test_a_broken_npz_file_is_an_error(tmp_path):
    np.savez(tmp_path / "mnist.npz", x_train=np.zeros((2, 2)))
    with pytest.raises(ComparisonError, match="the data set 'mnist' cannot be read"):
        load("mnist", tmp_path)
