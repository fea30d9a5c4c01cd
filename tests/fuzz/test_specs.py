"""Spec strings: whatever is written, the answer is a component or one sentence."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pyod_gessvdd.components.registry import KINDS, available
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.errors import PluginError, SpecError, UnknownComponentError
from tests.fuzz.profile import fuzzed

NAMES = sorted({row["name"] for row in available() if row["kind"] in KINDS})
literals = st.one_of(
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.booleans(),
    st.none(),
    st.binary(max_size=3),
    st.complex_numbers(),
).map(repr)
words = st.one_of(
    st.sampled_from(NAMES), st.sampled_from(["auto", "lambda: 0", "__import__('os')", "x", "1e400", "9" * 400])
)
calls = st.builds(
    lambda name, parameters: f"{name}({', '.join(f'{key}={value}' for key, value in parameters)})",
    words,
    st.lists(
        st.tuples(st.sampled_from(["n_neighbors", "gamma", "weights", "max_iter", "**k", "self"]), literals), max_size=2
    ),
)
specs = st.recursive(
    st.one_of(words, calls, literals),
    lambda inner: st.one_of(
        st.builds("{}{}{}".format, inner, st.sampled_from(["+", "*", " + ", "-", "**", "/", " if ", ","]), inner),
        st.builds("({})".format, inner),
        st.builds("-{}".format, inner),
    ),
    max_leaves=8,
)


@pytest.mark.parametrize("kind", sorted(KINDS))
@fuzzed(examples=60)
@given(text=st.one_of(specs, st.text(), specs.flatmap(lambda text: st.integers(0, len(text)).map(lambda n: text[:n]))))
@example(text="(" * 150 + "knn" + ")" * 150)
@example(text="-" * 5000 + "knn")
@example(text="knn(n_neighbors=" + "[" * 5000 + ")")
@example(text="knn + " * 5000 + "knn")
@example(text="knn(n_neighbors=" + "-" * 3000 + "1)")
@example(text="9" * 400 + "*knn + pca")
@example(text="9" * 400 + "*rbf")
@example(text="9" * 5000 + "*rbf")
@example(text="knn\0")
@example(text="'\ud800'")
def test_the_answer_is_a_component_or_one_sentence(kind, text):
    try:
        component = resolve(kind, text)
    except (SpecError, UnknownComponentError, PluginError) as error:
        assert str(error).strip()
        assert "\n" not in str(error).replace(text, "")
        return
    assert isinstance(component, KINDS[kind])
