"""docs/plugins.md: its Python is executed here, its console in tests/installs, and nothing public is missing in it."""

from __future__ import annotations

import re
import sys
from inspect import get_annotations
from pathlib import Path
from types import ModuleType

import pytest

from pyod_gessvdd import checks
from pyod_gessvdd.components import hookspecs
from pyod_gessvdd.components.contracts import Component
from pyod_gessvdd.components.known_plugins import KNOWN_PLUGINS
from pyod_gessvdd.components.registry import KINDS, PLUGINS_VARIABLE

GUIDE = (Path(__file__).parents[1] / "docs" / "plugins.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", GUIDE, flags=re.MULTILINE | re.DOTALL)
HEADINGS = re.findall(r"^#+ (.*)$", GUIDE, flags=re.MULTILINE)
HOOKS = [name for name, value in vars(hookspecs).items() if hasattr(value, f"{hookspecs.PROJECT}_spec")]


def test_the_python_snippets_run_in_one_namespace(monkeypatch, capsys):
    # A real module: the components in it are pickled by their path.
    module = ModuleType("plugin_guide")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    snippets = [body for language, body in BLOCKS if language == "python"]
    assert len(snippets) >= 10
    for snippet in snippets:
        exec(compile(snippet, "plugins.md", "exec"), vars(module))
    assert "passed" in capsys.readouterr().out


def test_every_block_has_a_language_that_a_test_knows():
    assert {language for language, _ in BLOCKS} == {"python", "console", "toml"}


def test_the_entry_point_is_that_of_the_package_which_the_command_writes():
    from pyod_gessvdd.scaffold import Package

    (entry_point,) = [body for language, body in BLOCKS if language == "toml"]
    template = (Path(checks.__file__).parents[1] / "scaffold/templates/pyproject.toml.txt").read_text(encoding="utf-8")
    assert entry_point in Package("laplacian", "my_graph").fill(template)


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_has_a_section_with_an_example(hook):
    (heading,) = [heading for heading in HEADINGS if f"`{hook}`" in heading]
    section = GUIDE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    assert f"@hookimpl\ndef {hook}(register):" in section


@pytest.mark.parametrize(("kind", "check"), [(kind, name) for kind, names in checks.CHECKS.items() for name in names])
def test_every_check_has_a_line(kind, check):
    assert re.search(rf"^\| `{check}` \| .+ \|$", GUIDE, flags=re.MULTILINE), f"document {check} of {kind}"


def test_no_line_tells_of_a_check_that_is_gone():
    known = {name for names in checks.CHECKS.values() for name in names}
    assert set(re.findall(r"^\| `(check_\w+)` \|", GUIDE, flags=re.MULTILINE)) == known


@pytest.mark.parametrize(
    ("kind", "attribute"),
    [
        (kind, name)
        for kind, contract in {"component": Component, **KINDS}.items()
        for name in get_annotations(contract)
    ],
)
def test_every_class_attribute_of_a_contract_has_a_line(kind, attribute):
    assert re.search(rf"^\| `{attribute}` \| .+ \| .+ \|$", GUIDE, flags=re.MULTILINE), f"{attribute} of {kind}"


def test_the_links_inside_the_guide_lead_somewhere():
    def anchor(heading):
        return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")

    targets = re.findall(r"\]\(#([^)]+)\)", GUIDE)
    assert targets
    assert set(targets) <= {anchor(heading) for heading in HEADINGS}


def test_the_variable_is_explained():
    assert f"`{PLUGINS_VARIABLE}` decides" in " ".join(GUIDE.split())


def test_the_overview_of_this_projects_packages_names_each_of_them():
    overview = (Path(__file__).parents[1] / "plugins" / "README.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| \[([\w-]+)\]\(\1\) \| (.*)$", overview, flags=re.MULTILINE))
    assert rows.keys() == KNOWN_PLUGINS.keys()
    for distribution, kinds in KNOWN_PLUGINS.items():
        assert any(f"`{names[0].rstrip('*')}" in rows[distribution] for names in kinds.values())
