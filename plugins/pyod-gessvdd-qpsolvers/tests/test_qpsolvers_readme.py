"""The README's example runs, and its table names every backend."""

import re
from pathlib import Path

from pyod_gessvdd_qpsolvers import SOLVERS

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_example_runs():
    names = {}
    exec(compile(re.search(r"```python\n(.*?)```", README, re.DOTALL)[1], "README.md", "exec"), names)
    assert abs(names["by_name"].radius_ - names["by_class"].radius_) < 1e-4


def test_the_table_names_every_backend():
    named = set(re.findall(r"`(?:qpsolvers)?_(\w+)`", README))
    assert {backend.solver for backend in SOLVERS} <= named
