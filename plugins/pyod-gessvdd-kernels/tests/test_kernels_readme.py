"""The README's examples run, and its figures are what they give."""

import re
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
RANDOM_FEATURES, MIXED_TABLE = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def _run(code):
    names = {}
    exec(compile(code, "README.md", "exec"), names)
    return names


def test_the_example_of_random_features():
    assert _run(RANDOM_FEATURES)["labels"].tolist() == [0, 1]


def test_the_example_of_a_mixed_table_has_the_figures_of_its_results():
    results = _run(MIXED_TABLE)["results"]
    for name, auc in results.items():
        written = re.search(rf"^\| {re.escape(name)} \| ([\d.]+) \|$", README, re.MULTILINE)
        assert written is not None
        assert abs(auc - float(written[1])) < 0.02
    assert max(results, key=results.get) == "gower"
