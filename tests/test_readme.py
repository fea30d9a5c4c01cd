"""Every snippet of the README is executed, in order and in one namespace, as a reader who follows it would."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def test_the_python_snippets_run(capsys):
    namespace: dict[str, object] = {"__name__": "readme"}
    snippets = [body for language, body in BLOCKS if language == "python"]
    assert len(snippets) >= 8
    for snippet in snippets:
        exec(compile(snippet, "README.md", "exec"), namespace)
    assert "ROC-AUC 0.9" in capsys.readouterr().out


def test_every_block_has_a_language_that_a_test_knows():
    assert {language for language, _ in BLOCKS} <= {"python", "console", "toml"}


@pytest.mark.parametrize(
    "command",
    [
        line.removeprefix("$ ").split("#")[0].strip()
        for language, body in BLOCKS
        if language == "console"
        for line in body.splitlines()
        if line.startswith("$ ")
    ],
)
def test_the_commands_exist(command):
    words = shlex.split(command)
    if words[0] == "make":
        # Asked what it would do: running it here would build an environment inside the tests.
        plan = subprocess.run(
            ["make", "--dry-run", "-B", *words[1:]], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert plan.stdout
    elif words[0].endswith("gessvdd"):
        subprocess.run([sys.executable, "-m", "pyod_gessvdd", words[1], "--help"], capture_output=True, check=True)
    else:
        assert words[1] in ("-m", "install"), f"no test knows {command!r}"
