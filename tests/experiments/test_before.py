"""The old commands with the old options give the old numbers, kept in ``tests/before``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pyod_gessvdd.cli import main
from pyod_gessvdd.compare import ComparisonResult

BEFORE = Path(__file__).parents[1] / "before"


def gessvdd(*arguments):
    done = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output


def before(name):
    """The rows of one of the old tables, as mappings."""
    table = json.loads((BEFORE / "results.json").read_text(encoding="utf-8"))[name]
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def same(ours, theirs):
    for name, value in theirs.items():
        assert ours[name] == (pytest.approx(value, abs=1e-9) if isinstance(value, float) else value), name


def test_a_comparison_in_two_settings(tmp_path):
    gessvdd(
        "compare", "wine", "iris", "-d", "knn,hbos,pca", "--setting", "both", "--seeds", 2, "--out", tmp_path / "run"
    )
    key = ["dataset", "detector", "setting", "seed"]
    found = {
        tuple(row[name] for name in key): row
        for row in ComparisonResult.load(tmp_path / "run").table.to_dict("records")
    }
    expected = before("compare")
    assert len(found) == len(expected) == 24
    for row in expected:
        same(found[tuple(row[name] for name in key)], row)
