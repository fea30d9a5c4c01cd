"""The guide to comparisons: its Python runs, and its commands exist."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from click.testing import CliRunner

from pyod_gessvdd.cli import main

GUIDE = (Path(__file__).parents[2] / "docs" / "compare.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", GUIDE, flags=re.MULTILINE | re.DOTALL)


def test_the_python_of_the_guide_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), (np.arange(60) % 6 == 0).astype(int)
    namespace = {"X": X + 4.0 * y[:, None], "y": y}
    for language, code in BLOCKS:
        if language == "python":
            exec(compile(code, "compare.md", "exec"), namespace)
    assert (tmp_path / "report.html").exists()
    assert len(namespace["result"].table) == 6


def test_the_commands_of_the_guide_exist():
    lines = [line for language, code in BLOCKS if language == "sh" for line in code.splitlines()]
    commands = {tuple(line.split()[1:2]) for line in lines if line.startswith("gessvdd ")}
    assert commands
    for command in commands:
        done = CliRunner().invoke(main, [*command, "--help"])
        assert done.exit_code == 0, command
