"""Files as tables."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from pyod_gessvdd.errors import ComparisonError, ModelFileError, TableError
from pyod_gessvdd.tabular.tables import read_table, stem

FRAME = pd.DataFrame({"a": [1.5, 2.5, 3.5], "b": [1, 0, 1], "y": [0, 1, 0]})


def write(path, frame=FRAME):
    name = path.name.lower()
    if ".csv" in name or ".tsv" in name:
        frame.to_csv(path, index=False, sep="," if ".csv" in name else "\t")
    elif name.endswith(".parquet"):
        frame.to_parquet(path)
    else:
        arrays = {"X": frame.drop(columns="y").to_numpy(float), "y": frame["y"].to_numpy()}
        if name.endswith(".npz"):
            np.savez(path, **arrays)
        else:
            savemat(path, {"X": arrays["X"], "y": arrays["y"][:, None]})
    return path


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.tsv.gz", "t.parquet", "t.npz", "t.mat", "T.CSV"])
def test_every_format_gives_the_same_rows(tmp_path, name):
    raw = read_table(write(tmp_path / name))
    assert raw.frame.to_numpy(float).tolist() == FRAME.to_numpy(float).tolist()
    arrays = name.endswith((".npz", ".mat"))
    assert raw.is_matrix == arrays
    assert raw.frame.columns.tolist() == (["x0", "x1", "y"] if arrays else ["a", "b", "y"])
    assert raw.beside == (("y",) if arrays else ())


def test_the_name_of_a_table_is_the_files_without_its_endings(tmp_path):
    assert [stem(tmp_path / name) for name in ("a.csv.gz", "6_cardio.npz", "x.y.tsv")] == ["a", "6_cardio", "x.y"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a;b\n1,5;2\n1.234,5;3\n", {"a": [1.5, 1234.5], "b": [2, 3]}),
        (b"sep=;\r\na;b\r\n1,5;2\r\n", {"a": [1.5], "b": [2]}),
        ("a\tb\n1\t2\n".encode("utf-16"), {"a": [1], "b": [2]}),
        ("\ufeffa,b\n1,2\n".encode(), {"a": [1], "b": [2]}),
        (b'"a", "b, c"\n1, "x, y"\n', {"a": [1], "b, c": ["x, y"]}),
        (b"a,b\n1,2,\n3,4,\n", {"a": [1, 3], "b": [2, 4]}),
        (b"a,b\nr1,1,2\nr2,3,4\n", {"Unnamed: 0": ["r1", "r2"], "a": [1, 3], "b": [2, 4]}),
        (b"5.5,1\n4.5,2\n", {"x0": [5.5, 4.5], "x1": [1, 2]}),
        (b'a,b\n"1,500",2\n', {"a": [1500], "b": [2]}),
        (b"a,b\n1,2\n", {"a": [1], "b": [2]}),
    ],
    ids=["semicolons", "sep=", "utf-16", "BOM", "quotes", "trailing", "row names", "no names", "thousands", "plain"],
)
def test_ordinary_files_are_understood(tmp_path, content, expected):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    assert read_table(path).frame.to_dict("list") == expected


def test_other_characters_further_down_are_read_too(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"1,plain\n" * 40_000 + "2,Köln\n".encode("cp1252"))
    raw = read_table(path)
    assert raw.frame["b"].iloc[-1] == "Köln"
    assert raw.notes == ("its characters are read as Windows-1252, as they are no UTF-8",)


def test_a_column_of_a_long_file_has_one_type(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 300_000 + "x,2\n")
    assert read_table(path).frame["a"].map(type).nunique() == 1


def test_question_marks_are_missing_values(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,?\n2,3\n")
    assert read_table(tmp_path / "t.csv").frame["b"].isna().tolist() == [True, False]


@pytest.mark.parametrize("name", ["t.csv.gz", "t.parquet", "t.npz", "t.mat"])
def test_a_file_that_is_not_what_its_name_says_cannot_be_read(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"\x00\xff\xfe")
    with pytest.raises(TableError, match=f"{name} cannot be read: "):
        read_table(path)


def test_an_object_array_is_not_unpickled(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.array([[object()]]), y=np.array([0]))
    with pytest.raises(TableError, match=r"t\.npz cannot be read: Object arrays cannot be loaded"):
        read_table(tmp_path / "t.npz")


def test_another_ending_is_refused_with_those_that_are_known(tmp_path):
    with pytest.raises(
        TableError, match=r"t\.xlsx is not a file that can be read; its name must end in \.csv, .*; save"
    ):
        read_table(tmp_path / "t.xlsx")
    with pytest.raises(TableError, match=r"its name must end in .*, \.mat$"):
        read_table(tmp_path / "t.json")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(TableError, match=r"there is no file .*none\.csv"):
        read_table(tmp_path / "none.csv")


def test_a_header_alone_is_no_table(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n")
    with pytest.raises(TableError, match=r"t\.csv has the columns 'a', 'b' but no rows"):
        read_table(tmp_path / "t.csv")


def test_a_table_without_columns_is_refused(tmp_path):
    pd.DataFrame(index=[0, 1]).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(TableError, match=r"t\.parquet has no columns"):
        read_table(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"y": [0, 1]}, r"has no matrix 'X'; it has y \(2,\)"),
        ({"X": [1.0], "y": [0]}, r"has no matrix 'X'; it has X \(1,\), y \(1,\)"),
        ({"X": [[1.0]], "y": [0, 1]}, r"X must have a row for each label, got \(1, 1\) and \(2,\)"),
        ({"X": [["a"]], "y": [0]}, "X must hold numbers, got the type <U1"),
        ({"X": np.empty((0, 3)), "y": []}, "has the columns 'x0', 'x1', 'x2', 'y' but no rows"),
        ({"X": np.eye(3), "x1": np.zeros(3)}, "has more than one column called 'x1'; rename them"),
    ],
)
def test_arrays_that_do_not_fit_are_described(tmp_path, arrays, sentence):
    np.savez(tmp_path / "t.npz", **{name: np.asarray(value) for name, value in arrays.items()})
    with pytest.raises(TableError, match=sentence):
        read_table(tmp_path / "t.npz")


def test_a_missing_package_is_asked_for_by_its_extra(tmp_path, monkeypatch):
    path = write(tmp_path / "t.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        ComparisonError, match=r"^reading t\.parquet needs pyarrow, .*pip install 'pyod-gessvdd\[parquet\]'"
    ):
        read_table(path)


@pytest.mark.parametrize("caught", [ComparisonError, ModelFileError])
def test_whoever_compares_or_fits_catches_it_with_the_other_errors(tmp_path, caught):
    with pytest.raises(caught):
        read_table(tmp_path / "none.csv")
