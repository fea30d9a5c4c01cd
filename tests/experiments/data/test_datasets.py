"""From what a user names to rows with 0/1 labels."""

from __future__ import annotations

import os
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.data.datasets import (
    BUNDLED,
    DATA_VARIABLE,
    Dataset,
    SpooledSource,
    outlier_labels,
    resolve_datasets,
)

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 0, 0, 0, 1, 1])


@pytest.fixture
def data_dir(tmp_path):
    """A data folder with one set in each collection."""
    for name in ("adbench", "odds", "paper"):
        (tmp_path / name).mkdir()
    np.savez(tmp_path / "adbench" / "6_cardio.npz", X=X, y=Y)
    np.savez(tmp_path / "odds" / "wbc.npz", X=X + 1, y=Y)
    rows = "".join(f"{i},{name}\n" for i, name in enumerate(["red", "red", "blue", "blue", "green", "green"]))
    (tmp_path / "paper" / "colours.csv").write_text("f0,label\n" + rows)
    (tmp_path / "paper" / "colours_missing.csv").write_text("f0,label\n1,a\n,b\n")
    return tmp_path


def only(found):
    (dataset,) = found
    return dataset


@pytest.mark.parametrize("name", BUNDLED)
def test_the_bundled_sets_have_both_kinds_of_rows(name):
    dataset = only(resolve_datasets(name))
    rows, labels = dataset.arrays()
    assert (len(rows), rows.shape[1], labels.sum()) == (dataset.n_rows, dataset.n_features, dataset.n_outliers)
    assert 0 < dataset.n_outliers < dataset.n_rows


def test_another_class_of_a_bundled_set_can_be_normal():
    dataset = only(resolve_datasets("iris:setosa"))
    assert dataset.name == "iris:setosa"
    assert np.array_equal(dataset.arrays()[1], load_iris().target != 0)
    assert np.array_equal(only(resolve_datasets("wine")).arrays()[1], load_wine().target != 1)


def test_a_class_that_a_bundled_set_lacks_is_refused_with_those_it_has():
    with pytest.raises(
        ComparisonError, match="iris has no class 'rose'; its classes are setosa, versicolor, virginica"
    ):
        resolve_datasets("iris:rose")


def test_arrays_are_taken_from_a_mapping():
    first, second = resolve_datasets({"a": (X.tolist(), Y), "b": (X, Y == 1)})
    assert (first.name, second.name) == ("a", "b")
    assert first.sha256 == second.sha256
    assert first.arrays()[1].tolist() == Y.tolist()


def test_a_frame_is_read_by_the_rule_for_files_and_not_changed():
    frame = pd.DataFrame(X, columns=[0, 1]).assign(y=Y, room=["red", "blue"] * 3, gap=[1.0, None, 3.0, 4.0, 5.0, 6.0])
    before = frame.copy()
    dataset = only(resolve_datasets({"t": frame}, tables={"encode": "room", "missing": "median"}))
    assert (dataset.n_rows, dataset.n_features) == (6, 5)
    assert dataset.arrays()[0][1].tolist() == [2.0, 3.0, 1.0, 0.0, 4.0]
    pd.testing.assert_frame_equal(frame, before)
    with pytest.raises(ComparisonError, match="t: 1 value missing or infinite in 'gap', the first in column 'gap' of"):
        resolve_datasets({"t": frame.drop(columns="room")})


def test_the_hash_is_that_of_the_rows_and_labels_wherever_they_come_from(tmp_path):
    np.savez(tmp_path / "t.npz", X=X, y=Y)
    from_file = only(resolve_datasets(tmp_path / "t.npz"))
    from_memory = only(resolve_datasets({"t": (X, Y)}))
    flipped = only(resolve_datasets({"t": (X, Y[::-1])}))
    moved = only(resolve_datasets({"t": (X + 1, Y)}))
    assert from_file.sha256 == from_memory.sha256
    assert len({from_memory.sha256, flipped.sha256, moved.sha256}) == 3


def test_a_folder_is_all_its_tables(tmp_path):
    for name in ("b", "a"):
        np.savez(tmp_path / f"{name}.npz", X=X, y=Y)
    (tmp_path / "readme.txt").write_text("no table")
    assert [dataset.name for dataset in resolve_datasets(tmp_path)] == ["a", "b"]


def test_a_folder_without_tables_is_refused(tmp_path):
    with pytest.raises(ComparisonError, match="holds no CSV, TSV, Parquet, NPZ or MAT file"):
        resolve_datasets(tmp_path)


def test_collections_are_found_under_the_data_folder(data_dir, monkeypatch):
    assert [dataset.name for dataset in resolve_datasets(["adbench", "odds"], data_dir=data_dir)] == ["6_cardio", "wbc"]
    (data_dir / "oddbench").mkdir()
    np.savez(data_dir / "oddbench" / "FloodRisk.npz", X=X + 2, y=Y)
    assert only(resolve_datasets("oddbench", data_dir=data_dir)).name == "FloodRisk"
    assert only(resolve_datasets("oddbench/floodrisk", data_dir=data_dir)).name == "FloodRisk"
    monkeypatch.setenv(DATA_VARIABLE, str(data_dir))
    assert (
        only(resolve_datasets("adbench/cardio")).name == only(resolve_datasets("adbench/6_cardio")).name == "6_cardio"
    )


def test_gaps_in_a_collection_are_treated_as_asked(data_dir):
    gaps = np.where(X == 3.0, np.nan, X)
    np.savez(data_dir / "adbench" / "6_cardio.npz", X=gaps, y=Y)
    with pytest.raises(ComparisonError, match=r"6_cardio\.npz: 1 value missing or infinite in 'x1', the first in "):
        resolve_datasets("adbench", data_dir=data_dir)
    assert only(resolve_datasets("adbench", data_dir=data_dir, tables={"missing": "drop"})).n_rows == 5


def test_each_class_of_the_papers_sets_is_normal_in_turn(data_dir):
    found = resolve_datasets("paper", data_dir=data_dir)
    assert [dataset.name for dataset in found] == ["colours:blue", "colours:green", "colours:red"]
    assert found[0].arrays()[1].tolist() == [1, 1, 0, 0, 1, 1]
    assert only(resolve_datasets("paper/colours:red", data_dir=data_dir)).n_outliers == 4


def test_a_collection_needs_a_data_folder(monkeypatch, tmp_path):
    monkeypatch.delenv(DATA_VARIABLE, raising=False)
    with pytest.raises(
        ComparisonError, match=r"'adbench' is read from a data folder; name .* with --data-dir or PYOD_"
    ):
        resolve_datasets("adbench")
    with pytest.raises(ComparisonError, match=r"the data folder .* has no folder adbench"):
        resolve_datasets("adbench", data_dir=tmp_path)


def test_a_set_that_a_collection_lacks_is_named(data_dir):
    with pytest.raises(ComparisonError, match="holds no data set 'cardium'"):
        resolve_datasets("adbench/cardium", data_dir=data_dir)


def test_an_unknown_name_gets_the_nearest_ones():
    with pytest.raises(ComparisonError, match="there is no file, folder or data set 'wien'; did you mean wine"):
        resolve_datasets("wien")
    with pytest.raises(
        ComparisonError, match=r"no file, folder or data set 'x\.csv'; the names known are breast-cancer, "
    ):
        resolve_datasets("x.csv")


def test_two_sets_of_one_name_are_refused(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        np.savez(tmp_path / folder / "t.npz", X=X, y=Y)
    with pytest.raises(
        ComparisonError, match=r"two data sets are called 't', .*a/t\.npz and .*b/t\.npz; rename one of"
    ):
        resolve_datasets([tmp_path / "a", tmp_path / "b"])


def test_a_set_named_twice_is_taken_once():
    assert len(resolve_datasets(["wine", "wine"])) == 1


@pytest.mark.parametrize(
    ("pair", "sentence"),
    [
        ((X, np.zeros(6)), "t has 6 normal rows and 0 outliers; both kinds are needed"),
        ((X, np.ones(6)), "t has 0 normal rows and 6 outliers; both kinds are needed"),
        ((X, np.array([0, 0, 0, 0, 0, 1])), "t has 5 normal rows and 1 outliers; two of each are needed for a split"),
        ((np.where(X == 3, np.nan, X), Y), "t has missing or infinite values, the first in feature 1; fill them"),
        ((X, Y[:3]), r"t: X must be a matrix with a row for each label, got \(6, 2\) and \(3,\)"),
        (([["a"]], [0]), r"t must be a pair \(X, y\) of numbers and labels: could not convert"),
        ((X,), r"t must be a pair \(X, y\) of numbers and labels: not enough values"),
        (
            (X, np.arange(6)),
            r"t: the labels are 0, 1, 2, 3, 4, 5, not 0 \(normal\) and 1 \(outlier\); name the normal one",
        ),
    ],
)
def test_rows_that_cannot_be_used_are_described(pair, sentence):
    with pytest.raises(ComparisonError, match=sentence):
        resolve_datasets({"t": pair})


def test_no_data_set_at_all_is_refused():
    with pytest.raises(ComparisonError, match="no data set is given"):
        resolve_datasets([])


def test_two_labels_that_are_not_0_and_1_need_to_be_told_apart():
    with pytest.raises(ComparisonError, match="t: the labels are bad, good, not 0"):
        outlier_labels(np.array(["good", "bad"]), None, "t")
    assert outlier_labels(np.array(["good", "bad"]), "good", "t").tolist() == [0, 1]


@pytest.mark.parametrize(
    ("labels", "normal"), [([1.0, 2.0], "1"), ([1, 2], 1), (["1", "2"], 1), ([True, False], "True")]
)
def test_the_normal_label_may_be_written_as_text(labels, normal):
    assert outlier_labels(np.array(labels), normal, "t").tolist() == [0, 1]


def test_a_normal_label_that_no_row_has_is_refused_with_those_there_are():
    with pytest.raises(ComparisonError, match="t: no row has the label '7' to be normal; there are 1, 2"):
        outlier_labels(np.array([1, 2]), "7", "t")
    with pytest.raises(ComparisonError, match="no row has the label 'ok'"):
        outlier_labels(np.array([1, 2]), "ok", "t")


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1), st.sampled_from(["a", "b", "c"]))
def test_normal_rows_are_exactly_those_with_the_normal_label(labels, normal):
    if normal in labels:
        assert outlier_labels(np.array(labels), normal, "t").tolist() == [int(label != normal) for label in labels]


def test_a_data_set_of_a_file_travels_without_its_rows(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.zeros((10_000, 10)), y=np.arange(10_000) % 2)
    dataset = only(resolve_datasets(tmp_path / "t.npz"))
    assert len(pickle.dumps(dataset)) < 2_000
    copy: Dataset = pickle.loads(pickle.dumps(dataset))
    assert copy.arrays()[0].shape == (10_000, 10)


def test_spooled_rows_are_mapped_not_read(tmp_path):
    source = SpooledSource.write(os.fspath(tmp_path), "t", X, Y)
    rows, labels = source.load()
    assert isinstance(rows, np.memmap)
    assert np.array_equal(rows, X)
    assert np.array_equal(labels, Y)
