"""The file itself: arrays and JSON with checksums; what is damaged or hostile is refused in a sentence."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pyod_gessvdd.errors import ModelFileError
from pyod_gessvdd.saving.archive import CHECKSUM, DOCUMENT, is_archive, read_archive, write_archive

ARRAYS = [
    np.arange(6.0).reshape(2, 3),
    np.asfortranarray(np.arange(6).reshape(2, 3)),
    np.array([True]),
    np.zeros((0, 3)),
]


@pytest.fixture
def path(tmp_path):
    write_archive(tmp_path / "model", {"detector": "X", "attributes": {"a": 1}}, ARRAYS)
    return tmp_path / "model"


def rewritten(path, change, compression=zipfile.ZIP_STORED):
    """The file with other members, and checksums that fit."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def with_sums(members):
    """Checksums that fit the members: what a hostile author would write."""
    from hashlib import sha256

    document = json.loads(members[DOCUMENT])
    document["arrays"] = [sha256(members[f"{i}.npy"]).hexdigest() for i in range(len(ARRAYS))]
    members[DOCUMENT] = json.dumps(document).encode()
    members[CHECKSUM] = sha256(members[DOCUMENT]).hexdigest().encode()


def test_arrays_come_back_to_the_last_bit_and_in_their_layout(path):
    document, arrays = read_archive(path)
    assert document["attributes"] == {"a": 1}
    for array, expected in zip(arrays, ARRAYS, strict=True):
        assert_array_equal(array, expected)
        assert array.dtype == expected.dtype
        assert array.flags.f_contiguous == expected.flags.f_contiguous
        assert array.flags.writeable


def test_equal_models_are_equal_files(path, tmp_path):
    write_archive(tmp_path / "other", {"detector": "X", "attributes": {"a": 1}}, ARRAYS)
    assert (tmp_path / "other").read_bytes() == path.read_bytes()


def test_numpy_reads_the_arrays_too(path):
    with np.load(path) as arrays:
        assert_array_equal(arrays["0"], ARRAYS[0])


def test_a_model_file_is_known_by_its_first_member(path, tmp_path):
    assert is_archive(path)
    (tmp_path / "other").write_bytes(b"PK\3\4 something else")
    assert not is_archive(tmp_path / "other")
    assert not is_archive(tmp_path / "none")


def test_every_changed_byte_of_the_content_is_noticed(path):
    whole = path.read_bytes()
    random = np.random.default_rng(0)
    expected = read_archive(path)
    for place in random.choice(len(whole), 300, replace=False):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << random.integers(8)
        path.write_bytes(damaged)
        try:
            document, arrays = read_archive(path)
        except ModelFileError:
            continue
        # A date or a flag of the archive is not part of the content.
        assert document == expected[0]
        assert all(np.array_equal(a, b) for a, b in zip(arrays, expected[1], strict=True))


@pytest.mark.parametrize("length", [0, 1, 30, 100, 500, -100, -1])
def test_a_truncated_file_is_refused(path, length):
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(ModelFileError, match="is not a model file, or a damaged one: "):
        read_archive(path)


def test_a_file_that_is_not_there_or_is_a_folder_is_one_sentence(tmp_path):
    with pytest.raises(ModelFileError, match=r"there is no file .*none$"):
        read_archive(tmp_path / "none")
    with pytest.raises(ModelFileError, match="cannot be read: Is a directory"):
        read_archive(tmp_path)
    with pytest.raises(ModelFileError, match="cannot be written: No such file or directory"):
        write_archive(tmp_path / "no" / "model", {}, [])


def test_a_compressed_member_is_not_unpacked(path):
    # A megabyte of zeros is a kilobyte, and a terabyte of them a gigabyte.
    rewritten(path, lambda members: None, zipfile.ZIP_DEFLATED)
    with pytest.raises(ModelFileError, match=r"its member 'model.json' is compressed or encrypted"):
        read_archive(path)


def test_members_that_share_their_bytes_are_refused(path):
    # One megabyte that a thousand members point to would be a gigabyte.
    with zipfile.ZipFile(path, "a") as archive:
        archive.filelist += [archive.getinfo(DOCUMENT)] * 50
        archive._didModify = True
    with pytest.raises(ModelFileError, match="or a damaged one: its members are larger than the file"):
        read_archive(path)


def header(shape, dtype="<f8", order="False"):
    text = f"{{'descr': {dtype!r}, 'fortran_order': {order}, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    ("member", "sentence"),
    [
        (header("(1000000000000,)") + bytes(8), r"shape \(1000000000000,\) of float64 in 8 bytes"),
        (header("(-1,)"), r"a shape of \(-1,\)"),
        (header("(1,)", "|O") + bytes(8), "values of type object"),
        (header("(1,)", "<M8[s]") + bytes(8), "values of type datetime64"),
        (b"garbage", "magic string"),
        (b"\x93NUMPY\x07\x00", r"version \(7, 0\) of NumPy's format"),
        (header("__import__('os').system('true')"), "Cannot parse header|not a valid|malformed|Header"),
    ],
    ids=["huge", "negative", "objects", "dates", "garbage", "version", "code"],
)
def test_an_array_that_is_none_is_refused_before_memory_is_asked_for(path, member, sentence):
    def change(members):
        members["0.npy"] = member
        with_sums(members)

    rewritten(path, change)
    with pytest.raises(ModelFileError, match=f"holds something other than an array of numbers: .*({sentence})"):
        read_archive(path)


def test_a_pickled_array_is_refused(path):
    buffer = io.BytesIO()
    np.save(buffer, np.array([print], dtype=object), allow_pickle=True)

    def change(members):
        members["0.npy"] = buffer.getvalue()
        with_sums(members)

    rewritten(path, change)
    with pytest.raises(ModelFileError, match="values of type object"):
        read_archive(path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda members: members.pop(DOCUMENT), "is not a model file: it has no model.json"),
        (lambda members: members.pop("0.npy"), "is damaged: it must contain 4 arrays, got 3 members"),
        (lambda members: members.update(extra=b""), "is damaged: it must contain 4 arrays, got 5 members"),
        (lambda members: members.update({CHECKSUM: b"0"}), "is damaged: the checksum of model.json differs"),
        (lambda members: members.update({"1.npy": members["0.npy"]}), "is damaged: the checksum of array 1 differs"),
    ],
    ids=["no document", "no array", "extra member", "other sum", "other array"],
)
def test_members_must_be_those_of_the_document(path, change, sentence):
    rewritten(path, change)
    with pytest.raises(ModelFileError, match=sentence):
        read_archive(path)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", r"is damaged: model.json is not JSON \(JSONDecodeError\)"),
        ("[" * 100_000, r"is damaged: model.json is not JSON \(RecursionError\)"),
        ("[]", "is not a model file: its document does not say 'pyod-gessvdd model'"),
        ('{"format": "other"}', "is not a model file: its document does not say 'pyod-gessvdd model'"),
        ('{"format": "pyod-gessvdd model", "version": 2}', "has version 2 of the format, and this .* reads 1: upgrade"),
        ('{"format": "pyod-gessvdd model", "version": 1}', "is damaged: model.json lists no arrays"),
    ],
    ids=["no JSON", "deep", "no object", "other format", "newer", "no list"],
)
def test_a_document_that_is_none_is_refused(path, text, sentence):
    from hashlib import sha256

    def change(members):
        members[DOCUMENT] = text.encode()
        members[CHECKSUM] = sha256(text.encode()).hexdigest().encode()

    rewritten(path, change)
    with pytest.raises(ModelFileError, match=sentence):
        read_archive(path)


def test_what_was_there_stays_if_writing_fails(path):
    before = path.read_bytes()
    with pytest.raises(ValueError, match="Out of range float values"):
        write_archive(path, {"a": float("nan")}, [])
    assert path.read_bytes() == before
