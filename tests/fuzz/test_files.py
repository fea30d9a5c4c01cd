"""Files: truncated, with other bytes, or not what they say they are; the answer is a table, a model or one sentence."""

from __future__ import annotations

import copy
import functools
import hashlib
import io
import json
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import savemat

import pyod_gessvdd
from pyod_gessvdd.errors import MissingPluginError, ModelFileError, TableError
from pyod_gessvdd.saving.archive import CHECKSUM, DOCUMENT
from pyod_gessvdd.tabular.loader import TableOptions, load_table
from tests.fuzz.profile import fuzzed
from tests.smoke import golden

ENDINGS = [".csv", ".tsv", ".csv.gz", ".npz", ".mat", ".parquet"]


@functools.cache
def sample(ending):
    """A file of this kind that can be read."""
    frame = pd.DataFrame({"a": [1.0, 2.5, 3.0, -4.0], "b": [1, 2, 3, 4], "label": [0, 0, 1, 0], "text": list("xyxz")})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"sample{ending}")
        X, y = frame[["a", "b"]].to_numpy(), frame["label"].to_numpy()
        if ending == ".npz":
            np.savez(path, X=X, y=y)
        elif ending == ".mat":
            savemat(path, {"X": X, "y": y})
        elif ending == ".parquet":
            frame.to_parquet(path)
        else:
            frame.to_csv(path, index=False, sep="\t" if ending == ".tsv" else ",")
        return path.read_bytes()


@st.composite
def damaged(draw, content):
    """Bytes with some changed, cut out, doubled or put in."""
    found = bytearray(content)
    for _ in range(draw(st.integers(1, 5))):
        place = draw(st.integers(0, max(len(found) - 1, 0)))
        kind = draw(st.sampled_from(["flip", "cut", "truncate", "insert", "zeros", "largest"]))
        if kind == "flip" and found:
            found[place] ^= 1 << draw(st.integers(0, 7))
        elif kind == "cut":
            del found[place : place + draw(st.integers(1, 20))]
        elif kind == "truncate":
            del found[place:]
        elif kind == "insert":
            found[place:place] = draw(st.binary(min_size=1, max_size=10))
        elif kind in ("zeros", "largest"):
            length = min(draw(st.sampled_from([1, 2, 4, 8])), len(found) - place)
            found[place : place + length] = (b"\0" if kind == "zeros" else b"\xff") * length
    return bytes(found)


@pytest.mark.parametrize("ending", ENDINGS)
@fuzzed(examples=40)
@given(data=st.data())
def test_a_damaged_table_is_a_table_or_one_sentence(ending, data):
    is_text = ending in (".csv", ".tsv")
    lines = st.text("0123456789.,;-+eE\t\"' \r\nabNaif?=@\xe9\u2028", max_size=120).map(str.encode)
    any_bytes = st.one_of(st.binary(max_size=200), *([lines] if is_text else []))
    content = data.draw(st.one_of(damaged(sample(ending)), any_bytes))
    options = TableOptions(missing=data.draw(st.sampled_from(["error", "drop", "median"])), encode=("all",))
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas and scipy tell of what they made of it
        path = Path(folder, f"table{ending}")
        path.write_bytes(content)
        try:
            table = load_table(path, options)
        except TableError as error:
            assert "\n" not in str(error)
            return
    assert np.isfinite(table.X.to_numpy()).all()


@fuzzed(examples=100)
@given(data=st.data())
def test_a_damaged_model_file_gives_the_same_model_or_one_sentence(data):
    name = data.draw(st.sampled_from(sorted(golden.MODELS)))
    whole = (golden.FOLDER / f"{name}.gessvdd").read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        path.write_bytes(data.draw(damaged(whole)))
        try:
            detector = pyod_gessvdd.load(path)
        except ModelFileError as error:
            assert "\n" not in str(error)
            return
    expected = pyod_gessvdd.load(golden.FOLDER / f"{name}.gessvdd").decision_function(golden.rows())
    np.testing.assert_array_equal(detector.decision_function(golden.rows()), expected)


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.sampled_from(
        [
            {"array": 0},
            {"array": -1},
            {"array": 10**9},
            {"tuple": []},
            {"dict": [[[], 1]]},
            {"slice": [None, None, 0]},
            {"record": "WholeSpace", "fields": {}},
            {"record": "os", "fields": {"system": "true"}},
            {"component": ["kernel", "rbf"], "params": {"gamma": "x"}, "state": {}},
            {"component": ["kernel", "function"], "params": {}, "state": {"fit": 1}},
            {"function": "eval"},
            {"scalar": {"array": 0}},
            {"float": "nan"},
            {"random_state": [1, 2]},
            {"sparse": [{"array": 0}, {"array": 0}, {"array": 0}], "shape": [10**9, 10**9]},
            {},
            [],
        ]
    ),
)


def places(value, at=()):
    """The paths of all parts of a document."""
    yield at
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*at, key))


@functools.cache
def members(name):
    with zipfile.ZipFile(golden.FOLDER / f"{name}.gessvdd") as archive:
        return {member: archive.read(member) for member in archive.namelist()}


@st.composite
def forged(draw):
    """A model file whose checksums fit and whose document or arrays were changed on purpose."""
    content = dict(members(draw(st.sampled_from(sorted(golden.MODELS)))))
    document = json.loads(content[DOCUMENT])
    for _ in range(draw(st.integers(1, 3))):
        *way, key = draw(
            st.sampled_from([at for at in places(document) if at and at[0] not in ("format", "version", "arrays")])
        )
        part = functools.reduce(lambda part, step: part[step], way, document)
        part[key] = copy.deepcopy(draw(values))
    number = draw(st.integers(0, len(document["arrays"]) - 1))
    if draw(st.booleans()):
        buffer = io.BytesIO()
        np.save(buffer, np.array(draw(st.sampled_from([0.0, [], [[1]], [True], [np.nan], [[1e300] * 3] * 3, [2**62]]))))
        content[f"{number}.npy"] = buffer.getvalue()
        document["arrays"][number] = hashlib.sha256(buffer.getvalue()).hexdigest()
    content[DOCUMENT] = json.dumps(document).encode()
    content[CHECKSUM] = hashlib.sha256(content[DOCUMENT]).hexdigest().encode()
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for member, held in content.items():
            archive.writestr(member, held)
    return written.getvalue()


@fuzzed(examples=100)
@given(content=forged())
def test_a_forged_model_file_gives_a_detector_or_one_sentence(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        path.write_bytes(content)
        try:
            detector = pyod_gessvdd.load(path)
        except (ModelFileError, MissingPluginError) as error:
            assert "\n" not in str(error)
            return
    assert type(detector).__module__.startswith("pyod_gessvdd.detectors")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Scores may be wrong or refused; neither is a crash, and nothing asks for memory without end.
        try:
            detector.decision_function(golden.rows())
        except Exception as error:
            assert not isinstance(error, MemoryError | RecursionError), error
