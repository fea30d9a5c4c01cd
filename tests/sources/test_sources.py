"""Sources of rows: blocks in order, with their places; what has changed between two passes is noticed."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from pyod_gessvdd import GESSVDD
from pyod_gessvdd.errors import SourceError
from pyod_gessvdd.sources import MAPPED_BYTES, ArraySource, ParquetSource, as_source
from pyod_gessvdd.sources.source import meeting

X = np.arange(60.0).reshape(20, 3)


def walked(source):
    blocks = list(source.map(lambda block, rows: (block, rows)))
    return np.concatenate([block for block, _ in blocks]), np.concatenate([rows for _, rows in blocks])


@pytest.fixture
def mapped(tmp_path):
    np.save(tmp_path / "rows.npy", X.astype(np.float32))
    return np.load(tmp_path / "rows.npy", mmap_mode="r")


@pytest.fixture
def frames():
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    return pytest.importorskip("pandas", reason="frames need pandas")


@pytest.mark.parametrize("block_rows", [1, 7, 20, 100])
def test_an_array_can_be_walked_again_and_again(block_rows):
    source = ArraySource(X, block_rows)
    for _ in range(2):
        rows, places = walked(source)
        np.testing.assert_array_equal(rows, X)
        np.testing.assert_array_equal(places, np.arange(20))


@pytest.mark.parametrize("view", [slice(None), slice(4, 15), slice(None, None, 2)])
def test_a_memory_map_and_its_views_are_read_from_the_file(mapped, view):
    rows, _ = walked(ArraySource(mapped[view], 3))
    np.testing.assert_array_equal(rows, X[view])
    assert rows.dtype == np.float64


def test_rows_are_taken_by_their_places(mapped, tmp_path, frames):
    frames.DataFrame(X, columns=list("abc")).to_parquet(tmp_path / "rows.parquet")
    places = np.array([0, 6, 7, 19])
    for source in (ArraySource(X, 3), ArraySource(mapped, 3), ParquetSource(tmp_path / "rows.parquet", block_rows=3)):
        np.testing.assert_array_equal(source.take(places), X[places])
        odd = source.where(lambda block, rows: rows % 2 == 1)
        assert odd.shape == (10, 3)
        np.testing.assert_array_equal(walked(odd)[1], np.arange(1, 20, 2))
        np.testing.assert_array_equal(walked(source.mapped(lambda block: block[:, :1] + 1, 1))[0], X[:, :1] + 1)


def test_a_folder_of_parquet_files_is_read_in_the_order_of_their_names(tmp_path, frames):
    frame = frames.DataFrame(X, columns=list("abc"))
    frame[12:].to_parquet(tmp_path / "b.parquet")
    frame[:0].to_parquet(tmp_path / "a.parquet")
    frame[:12].to_parquet(tmp_path / "aa.parquet")
    source = ParquetSource(tmp_path, columns=["c", "a"], block_rows=5)
    rows, places = walked(source)
    np.testing.assert_array_equal(rows, X[:, [2, 0]])
    np.testing.assert_array_equal(places, np.arange(20))
    assert source.names == ["c", "a"]


def test_what_is_in_memory_is_no_source(mapped):
    for rows in (X, X.tolist(), mapped):
        assert as_source(rows) is None


def test_a_large_memory_map_is_a_source(tmp_path):
    rows = np.memmap(tmp_path / "rows", "f8", "w+", shape=(MAPPED_BYTES // 8 + 1, 1))  # a sparse file
    assert isinstance(as_source(rows), ArraySource)


@pytest.mark.parametrize("write", [lambda f: f.write(b"0" * 24), lambda f: f.truncate(400)], ids=["grows", "shrinks"])
def test_a_file_that_changes_between_two_blocks_is_noticed(mapped, write):
    blocks = ArraySource(mapped, 5).map(lambda block, rows: block)
    next(blocks)
    with open(mapped.filename, "r+b") as file:
        file.seek(0, 2)
        write(file)
    with pytest.raises(SourceError, match=r"rows.npy changed while it was read: every pass must see the same rows"):
        list(blocks)


def test_a_parquet_file_that_changes_between_two_passes_is_noticed(tmp_path, frames):
    path = tmp_path / "rows.parquet"
    frames.DataFrame(X, columns=list("abc")).to_parquet(path)
    source = ParquetSource(path)
    walked(source)
    frames.DataFrame(X[:9], columns=list("abc")).to_parquet(path)
    with pytest.raises(SourceError, match=r"rows.parquet changed while it was read"):
        walked(source)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"a": [1.0]}, "b.parquet has no column 'b', which .*a.parquet has; all files of a folder need one schema"),
        ({"a": [1.0], "b": [2]}, "column 'b' is int64 in .*b.parquet and double in .*a.parquet; all files of a folder"),
        ({"a": [1.0], "b": ["x"]}, "column 'b' of .*b.parquet is of type .*string; drop it or convert it to numbers"),
    ],
)
def test_files_of_a_folder_need_one_schema(tmp_path, frames, second, message):
    frames.DataFrame({"a": [1.0], "b": [2.0]}).to_parquet(tmp_path / "a.parquet")
    frames.DataFrame(second).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(SourceError, match=message):
        ParquetSource(tmp_path)


def test_a_missing_file_and_a_missing_column_are_named(tmp_path, frames):
    with pytest.raises(SourceError, match=r"there is no Parquet file at .*nothing"):
        GESSVDD().fit(tmp_path / "nothing")
    frames.DataFrame({"a": [1.0]}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(SourceError, match=r"a.parquet has no column 'z'$"):
        ParquetSource(tmp_path / "a.parquet", columns=["z"])


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(3), r"a source of rows needs an array with two dimensions, got shape \(3,\)"),
        (np.array([["a"]]), "a source of rows needs an array of real numbers, got dtype <U1"),
    ],
)
def test_an_array_must_hold_rows_of_numbers(array, message):
    with pytest.raises(SourceError, match=message):
        ArraySource(array)


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (-np.inf, "infinite")])
def test_a_value_that_is_not_finite_is_named_with_its_block_and_row(value, word):
    rows = np.random.default_rng(0).normal(size=(110_000, 3))
    rows[50_123, 1] = value
    detector = GESSVDD(kernel="linear")
    with pytest.raises(
        ValueError,
        match=f"row 50123 of column 1 is {word}: row 123 of the block that starts at row 50000; impute or drop such",
    ):
        detector.fit(ArraySource(rows, 10_000))
    assert not hasattr(detector, "n_features_in_")


def test_values_whose_squares_overflow_are_refused():
    rows = np.full((110_000, 1), 1.0)
    rows[9] = 1e160
    with pytest.raises(ValueError, match="X holds values up to 1e\\+160, whose squares are beyond the range"):
        GESSVDD(kernel="linear").fit(ArraySource(rows))


def test_parquet_without_pyarrow_names_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"Parquet files need pyarrow, .* pip install 'pyod-gessvdd\[parquet\]'"):
        ParquetSource(tmp_path / "rows.parquet")


@pytest.mark.parametrize("rows", [np.arange(5, 40), np.array([3, 8, 9, 21, 30]), np.empty(0, dtype=int)], ids=len)
def test_places_meet_the_rows_that_have_them(rows):
    places = np.array([0, 8, 9, 10, 30, 39, 50])
    ours, here = meeting(places, rows)
    np.testing.assert_array_equal(places[ours], np.intersect1d(places, rows))
    np.testing.assert_array_equal(rows[here], np.intersect1d(places, rows))
