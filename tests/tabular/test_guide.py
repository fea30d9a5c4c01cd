"""The page about files: its commands and its Python are run, in order and in one folder."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from pyod_gessvdd.cli import main
from tests.tabular.test_scoring import kernels_plugin

GUIDE = (Path(__file__).parents[2] / "docs" / "tables.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", GUIDE, flags=re.MULTILINE | re.DOTALL)

__all__ = ["kernels_plugin"]


def write_files():
    """The files that the page speaks of."""
    random = np.random.default_rng(0)
    sensors = pd.DataFrame(random.normal(size=(60, 4)), columns=["heat", "noise", "load", "room_temperature"]).assign(
        label=(np.arange(60) >= 50).astype(int)
    )
    sensors.to_csv("sensors.csv")
    sensors.drop(columns="label").to_csv("new.csv", index=False)
    orders = pd.DataFrame(random.normal(size=(60, 2)), columns=["weight", "price"])
    orders["goods"] = random.choice(["letter", "bulk"], 60)
    orders["fraud"] = (np.arange(60) % 6 == 0).astype(int)
    orders.loc[3, "price"] = None
    orders.to_csv("orders.csv", index=False, sep=";", decimal=",")


@pytest.mark.usefixtures("kernels_plugin")
def test_the_page_does_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files()
    n_commands = 0
    for language, code in BLOCKS:
        if language == "python":
            namespace: dict[str, object] = {}
            exec(compile(code, "tables.md", "exec"), namespace)
            assert set(namespace["result"].table["status"]) == {"done"}
            continue
        for command, printed in re.findall(r"^\$ gessvdd (.*)\n((?:gessvdd: .*\n)*)", code, flags=re.MULTILINE):
            if command.startswith("compare"):
                # A run and its report take ten seconds: the same options run in Python below.
                command += " --help"
            done = CliRunner().invoke(main, shlex.split(command))
            assert done.exit_code == 0, done.stderr
            assert printed in done.stderr
            n_commands += 1
    assert n_commands == 6
    assert {language for language, _ in BLOCKS} == {"console", "python"}
