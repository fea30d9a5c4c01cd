"""Every snippet of the README is executed, in order and in one namespace, as a reader who follows it would."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest

from website.pages import DOCS, ROOT
from website.results import RESULTS, filled, quality

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def test_the_python_snippets_run(capsys):
    namespace: dict[str, object] = {"__name__": "readme"}
    snippets = [body for language, body in BLOCKS if language == "python"]
    assert len(snippets) >= 2
    for snippet in snippets:
        exec(compile(snippet, "README.md", "exec"), namespace)
    assert "ROC-AUC 0.9" in capsys.readouterr().out


def test_it_is_short_enough_to_be_read():
    assert len(README.encode()) <= 6 * 1024


def test_its_figures_are_those_of_the_results():
    # `python -m website.results` writes them.
    assert filled(README) == README
    assert README.count("| other, no.") == 5


def test_its_claim_holds_in_every_setting():
    ours = {"novelty": "GESSVDD(novelty=True)", "contaminated": "GESSVDD()", "transductive": "GESSVDD()"}
    for setting, detector in ours.items():
        found = quality(setting)
        assert found[0].detector == detector
        assert max(found, key=lambda figures: figures.average_precision).detector == detector
        assert len(found) == 19  # the seventeen others and our two


@pytest.mark.parametrize("page", ["choosing.md", "where-we-lose.md", "how-to/large-data.md"])
def test_the_figures_of_the_pages_are_those_of_the_results(page):
    known = set()
    for name in ("quality.md", "defaults.md", "labels.md", "speed.md"):
        for figure in re.findall(r"\d+\.\d+", (RESULTS / name).read_text(encoding="utf-8")):
            known |= {f"{float(figure):.{decimals}f}" for decimals in (1, 2, 3, 4)}
    text = (DOCS / page).read_text(encoding="utf-8")
    tables = "\n".join(line for line in text.splitlines() if line.startswith("|"))
    quoted = re.findall(r"(?<![\d.=])\d+\.\d{2,4}(?![\d.])", tables)
    assert quoted
    assert set(quoted) <= known


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
