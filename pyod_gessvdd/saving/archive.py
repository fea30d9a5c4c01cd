"""The file: a zip archive of NumPy arrays and one JSON document, with checksums; nothing in it is compressed or run.

``model.json`` is the document, ``0.npy`` … are the arrays, which ``numpy.load`` reads as well, and ``sha256`` holds the
checksum of the document; the document holds those of the arrays. Members are stored as they are, so that reading a file
never needs more memory than the file is large, a few times over.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from pyod_gessvdd.errors import ModelFileError

Array = np.ndarray

#: What the document says of itself; a reader that does not know the version refuses the file.
FORMAT, VERSION = "pyod-gessvdd model", 1
DOCUMENT, CHECKSUM = "model.json", "sha256"
#: Kinds of numbers that arrays may hold.
KINDS = "biuf"


def write_archive(path: str | os.PathLike[str], document: dict[str, Any], arrays: list[Array]) -> None:
    """Write a model file, all of it or nothing.

    Parameters
    ----------
    path : path-like
        The file; one that is there is replaced.
    document : dict
        What JSON can hold.
    arrays : list of ndarray
        Of numbers.
    """
    members = [_npy(array) for array in arrays]
    document = {
        "format": FORMAT,
        "version": VERSION,
        **document,
        "arrays": [hashlib.sha256(member).hexdigest() for member in members],
    }
    text = json.dumps(document, allow_nan=False, indent=1).encode()
    target = Path(path)
    unfinished = target.with_name(f".{target.name}.unfinished")
    try:
        with zipfile.ZipFile(unfinished, "w") as archive:
            _store(archive, DOCUMENT, text)
            _store(archive, CHECKSUM, hashlib.sha256(text).hexdigest().encode())
            for number, member in enumerate(members):
                _store(archive, f"{number}.npy", member)
        os.replace(unfinished, target)
    except OSError as error:
        raise ModelFileError(f"{target} cannot be written: {error.strerror or error}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def is_archive(path: str | os.PathLike[str]) -> bool:
    """Whether a file looks like a model file, by its first member."""
    try:
        with open(path, "rb") as file:
            return file.read(64)[30:].startswith(DOCUMENT.encode())
    except OSError:
        return False


def read_archive(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[Array]]:
    """The document and the arrays of a model file; whatever is wrong with it is a ``ModelFileError``."""
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(info.file_size for info in archive.infolist()) > os.path.getsize(path):
                raise ValueError("its members are larger than the file")
            members = {info.filename: _member(archive, info) for info in archive.infolist()}
    except FileNotFoundError as error:
        raise ModelFileError(f"there is no file {path}") from error
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}") from error
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, EOFError, UnicodeDecodeError) as error:
        raise ModelFileError(f"{path} is not a model file, or a damaged one: {error}") from error
    text = members.pop(DOCUMENT, None)
    if text is None:
        raise ModelFileError(f"{path} is not a model file: it has no {DOCUMENT}")
    if members.pop(CHECKSUM, b"") != hashlib.sha256(text).hexdigest().encode():
        raise ModelFileError(f"{path} is damaged: the checksum of {DOCUMENT} differs")
    document = _parsed(path, text)
    checksums = document["arrays"]
    if sorted(members) != sorted(f"{number}.npy" for number in range(len(checksums))):
        raise ModelFileError(f"{path} is damaged: it must contain {len(checksums)} arrays, got {len(members)} members")
    arrays = []
    for number, checksum in enumerate(checksums):
        member = members.pop(f"{number}.npy")
        if hashlib.sha256(member).hexdigest() != checksum:
            raise ModelFileError(f"{path} is damaged: the checksum of array {number} differs")
        try:
            arrays.append(_array(member))
        except (ValueError, TypeError, SyntaxError, OverflowError) as error:
            raise ModelFileError(f"{path} holds something other than an array of numbers: {error}") from error
    return document, arrays


def _parsed(path: str | os.PathLike[str], text: bytes) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{path} is damaged: {DOCUMENT} is not JSON ({type(error).__name__})") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError(f"{path} is not a model file: its document does not say {FORMAT!r}")
    if document.get("version") != VERSION:
        raise ModelFileError(
            f"{path} has version {document.get('version')!r} of the format, and this pyod-gessvdd reads {VERSION}: "
            "upgrade pyod-gessvdd"
        )
    if not (isinstance(document.get("arrays"), list) and all(isinstance(item, str) for item in document["arrays"])):
        raise ModelFileError(f"{path} is damaged: {DOCUMENT} lists no arrays")
    return document


def _store(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    # A fixed date: equal models are equal files.
    archive.writestr(zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_STORED)


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size or info.flag_bits & 1:
        raise ValueError(f"its member {info.filename!r} is compressed or encrypted")
    return archive.read(info)


def _npy(array: Array) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array), allow_pickle=False)
    return buffer.getvalue()


def _array(member: bytes) -> Array:
    """The array of an .npy file whose header says no more than there is."""
    buffer = io.BytesIO(member)
    version = np.lib.format.read_magic(buffer)
    read_header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in read_header:
        raise ValueError(f"version {version} of NumPy's format")
    shape, is_fortran, dtype = read_header[version](buffer)
    content = memoryview(member)[buffer.tell() :]
    if dtype.kind not in KINDS:
        raise ValueError(f"values of type {dtype}")
    if any(not isinstance(length, int) or length < 0 for length in shape):
        raise ValueError(f"a shape of {shape}")
    if math.prod(shape) * dtype.itemsize != len(content):
        raise ValueError(f"shape {shape} of {dtype} in {len(content)} bytes")
    flat = np.frombuffer(content, dtype=dtype).copy()
    return flat.reshape(shape, order="F" if is_fortran else "C")
