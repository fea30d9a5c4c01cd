"""DataFrames of every dtype: a detector fits and scores them, or names in one sentence what it cannot take."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from pyod_gessvdd import GESSVDD
from pyod_gessvdd.errors import TableError
from pyod_gessvdd.tabular.loader import TableOptions, load_frame
from tests.fuzz.profile import fuzzed

ROWS = 12
NUMBERS = st.one_of(st.integers(-5, 5).map(float), st.floats(-1e3, 1e3, width=32))
KINDS = {
    **{
        name: st.integers(0, 100)
        for name in ("int8", "uint8", "int16", "int32", "int64", "uint64", "Int8", "Int64", "UInt32", "Sparse[int64]")
    },
    **dict.fromkeys(
        ("float16", "float32", "float64", "longdouble", "complex128", "Float32", "Float64", "Sparse[float64]"), NUMBERS
    ),
    "bool": st.booleans(),
    "boolean": st.one_of(st.booleans(), st.none()),
    "string": st.text(max_size=3),
    "category": st.sampled_from(["a", "b", "c"]),
    "object": st.one_of(
        NUMBERS,
        st.text(max_size=3),
        st.none(),
        st.booleans(),
        st.binary(max_size=2),
        st.tuples(st.integers()),
        st.decimals(),
    ),
    "datetime64[ns]": st.integers(0, 10**18),
    "timedelta64[ns]": st.integers(0, 10**15),
    "double[pyarrow]": NUMBERS,
    "int64[pyarrow]": st.integers(0, 100),
    "bool[pyarrow]": st.booleans(),
    "string[pyarrow]": st.text(max_size=3),
    "float": st.floats(width=64),
}
NAMES = st.one_of(st.text(max_size=4), st.integers(-3, 3), st.none(), st.tuples(st.integers(0, 2), st.text(max_size=1)))


@st.composite
def frames(draw):
    columns = []
    for kind in draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=5)):
        held = draw(st.lists(KINDS[kind], min_size=ROWS, max_size=ROWS))
        columns.append(pd.Series(held, dtype="object" if kind == "object" else None).astype(kind))
    frame = pd.concat(columns, axis=1)
    frame.columns = pd.Index(draw(st.lists(NAMES, min_size=len(columns), max_size=len(columns))), tupleize_cols=False)
    if draw(st.booleans()):
        frame.index = pd.Index(draw(st.lists(st.integers(0, 3), min_size=ROWS, max_size=ROWS)))
    return frame


@fuzzed(examples=60)
@given(frame=frames())
def test_a_detector_takes_a_frame_or_refuses_it_in_one_sentence(frame):
    before = frame.copy(deep=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            detector = GESSVDD(kernel="linear", laplacian="pca", n_components=1, n_iter=2, random_state=0).fit(frame)
            scores = detector.decision_function(frame)
    except (ValueError, TypeError) as error:
        assert str(error).strip()
    else:
        assert np.isfinite(scores).all()
        assert scores.shape == (ROWS,)
    pd.testing.assert_frame_equal(frame, before)


@fuzzed(examples=60)
@given(frame=frames(), missing=st.sampled_from(["error", "drop", "median"]), encode=st.sampled_from([(), ("all",)]))
def test_the_loader_takes_a_frame_or_refuses_it_in_one_sentence(frame, missing, encode):
    before = frame.copy(deep=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = load_frame(frame, "frame", TableOptions(missing=missing, encode=encode))
    except TableError as error:
        assert str(error).strip()
    else:
        assert np.isfinite(table.X.to_numpy()).all()
        assert all(dtype == np.float64 for dtype in table.X.dtypes)
    pd.testing.assert_frame_equal(frame, before)
