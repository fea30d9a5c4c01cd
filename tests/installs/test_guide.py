"""The commands of docs/plugins.md, executed one after the other as a reader would, in the fresh environment."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("installs")

GUIDE = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text(encoding="utf-8")
COMMANDS = [
    line.removeprefix("$ ")
    for block in re.findall(r"^```console\n(.*?)^```$", GUIDE, flags=re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
]

#: Needs an account, and would publish something.
NOT_RUN = "twine upload dist/*"


def test_the_commands_of_the_guide_work_in_their_order(environment, tmp_path):
    assert NOT_RUN in COMMANDS
    script = "\n".join(command for command in COMMANDS if command != NOT_RUN)
    told = environment.run("bash", "-euxc", script, cwd=tmp_path)
    assert told.returncode == 0, f"{told.stdout}\n{told.stderr}"
    listed = told.stdout.split("kind, name")[1:]
    # All plugins; then none by PYOD_GESSVDD_PLUGINS=, and this one blocked.
    assert ["\n  my_graph " in table for table in listed] == [True, False, False]
