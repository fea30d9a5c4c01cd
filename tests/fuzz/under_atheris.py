"""The same fuzzers under atheris, which steers by coverage.

``python -m tests.fuzz.under_atheris test_specs:test_the_answer_is_a_component_or_one_sentence,kind=kernel`` and then
any arguments of libFuzzer. A fuzzer that pytest parametrises takes its values after the name. atheris is not among the
project's requirements: ``pip install atheris`` (Linux and macOS).
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable

from hypothesis import given


def target(name: str) -> Callable[[bytes], object]:
    """What atheris calls with its bytes, by ``module:test`` and the values of the test's parameters."""
    path, *pairs = name.split(",")
    module, _, test = path.partition(":")
    function = getattr(importlib.import_module(f"tests.fuzz.{module}"), test)
    values = dict(pair.split("=", 1) for pair in pairs)
    missing = sorted(set(inspect.signature(function).parameters) - set(values))
    if missing:
        raise SystemExit(f"{test} needs a value for {missing[0]}: write {name},{missing[0]}=…")
    inner = function.hypothesis.inner_test

    @functools.wraps(inner)
    def bound(**drawn: object) -> object:
        return inner(**values, **drawn)

    strategies = function.hypothesis._given_kwargs
    bound.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in strategies]
    )
    return given(**strategies)(bound).hypothesis.fuzz_one_input


def main() -> None:
    """Instrument the package, and hand over to atheris."""
    import atheris

    name = sys.argv.pop(1)
    with atheris.instrument_imports(include=["pyod_gessvdd"]):
        run = target(name)
    atheris.Setup(sys.argv, run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
