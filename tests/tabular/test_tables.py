"""Files of labelled rows."""

from __future__ import annotations

import gzip
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.tabular.tables import read_table, stem

FRAME = pd.DataFrame({"a": [1.5, 2.5, 3.5], "b": [1, 0, 1], "label": [0, 1, 0]})


def write(path, frame=FRAME):
    name = path.name.lower()
    if ".csv" in name or ".tsv" in name:
        frame.to_csv(path, index=False, sep="," if ".csv" in name else "\t")
    elif name.endswith(".parquet"):
        frame.to_parquet(path)
    else:
        arrays = {"X": frame.drop(columns="label").to_numpy(float), "y": frame["label"].to_numpy()}
        if name.endswith(".npz"):
            np.savez(path, **arrays)
        else:
            savemat(path, {"X": arrays["X"], "y": arrays["y"][:, None]})
    return path


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.tsv.gz", "t.parquet", "t.npz", "t.mat", "T.CSV"])
def test_every_format_gives_the_same_rows_and_labels(tmp_path, name):
    X, y = read_table(write(tmp_path / name))
    assert X.dtype == np.float64
    assert X.tolist() == [[1.5, 1.0], [2.5, 0.0], [3.5, 1.0]]
    assert y.tolist() == [0, 1, 0]


def test_the_name_of_a_table_is_the_files_without_its_endings(tmp_path):
    assert [stem(tmp_path / name) for name in ("a.csv.gz", "6_cardio.npz", "x.y.tsv")] == ["a", "6_cardio", "x.y"]


def test_the_label_column_can_be_named(tmp_path):
    _, y = read_table(write(tmp_path / "t.csv"), label="b")
    assert y.tolist() == [1, 0, 1]


def test_a_label_column_that_is_not_there_is_named_with_those_that_are(tmp_path):
    with pytest.raises(
        ComparisonError, match=r"t.csv has no label column 'c'; choose one with --label from a, b, label"
    ):
        read_table(write(tmp_path / "t.csv"), label="c")
    with pytest.raises(ComparisonError, match=r"no label column 'label' or 'y'; choose one with --label from a, b$"):
        read_table(write(tmp_path / "t.csv", FRAME[["a", "b"]]))


def test_columns_of_text_are_named(tmp_path):
    frame = FRAME.assign(colour=["red", "green", "red"])
    with pytest.raises(ComparisonError, match="the columns colour do not hold numbers; encode them or leave them out"):
        read_table(write(tmp_path / "t.csv", frame))


def test_missing_labels_are_counted(tmp_path):
    with pytest.raises(ComparisonError, match="the label column 'label' has 1 missing values"):
        read_table(write(tmp_path / "t.csv", FRAME.assign(label=[0, None, 1])))


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.npz", "t.mat"])
def test_a_file_that_is_not_what_its_name_says_cannot_be_read(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"\x00\xff\xfe" if name != "t.csv" else b"")
    with pytest.raises(ComparisonError, match=f"{name} cannot be read: "):
        read_table(path)


def test_an_object_array_is_not_unpickled(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.array([[object()]]), y=np.array([0]))
    with pytest.raises(ComparisonError, match=r"t\.npz cannot be read: Object arrays cannot be loaded"):
        read_table(tmp_path / "t.npz")


def test_another_ending_is_refused_with_those_that_are_known(tmp_path):
    with pytest.raises(ComparisonError, match=r"t\.xlsx is not a file that can be read; its name must end in \.csv, "):
        read_table(tmp_path / "t.xlsx")


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"y": [0, 1]}, "has no array 'X'; it has y"),
        ({"X": [[1.0]], "y": [0, 1]}, r"X must be a matrix with a row for each label, got \(1, 1\) and \(2,\)"),
        ({"X": [["a"]], "y": [0]}, "X must hold numbers, got the type <U1"),
        ({"X": np.empty((0, 3)), "y": []}, "has 0 rows and 3 features; at least one of each is needed"),
    ],
)
def test_arrays_that_do_not_fit_are_described(tmp_path, arrays, sentence):
    np.savez(tmp_path / "t.npz", **{name: np.asarray(value) for name, value in arrays.items()})
    with pytest.raises(ComparisonError, match=sentence):
        read_table(tmp_path / "t.npz")


def test_a_missing_package_is_asked_for_by_its_extra(tmp_path, monkeypatch):
    path = write(tmp_path / "t.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        ComparisonError, match=r"reading t\.parquet needs pyarrow, .*pip install 'pyod-gessvdd\[parquet\]'"
    ):
        read_table(path)


def test_a_gzipped_file_needs_no_other_treatment(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,y\n1,0\n2,1\n"))
    assert read_table(path)[1].tolist() == [0, 1]
