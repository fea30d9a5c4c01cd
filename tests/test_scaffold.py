"""``gessvdd new-plugin``: what it writes and what it refuses; tests/installs installs what it writes for real."""

from __future__ import annotations

import ast
import os
from importlib.metadata import version
from pathlib import Path

import pytest
from click.testing import CliRunner

from pyod_gessvdd.cli import main
from pyod_gessvdd.components import registry as plugins
from pyod_gessvdd.scaffold import DETAILS, Package


@pytest.fixture
def new_plugin(tmp_path, monkeypatch):
    """Runs the command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(main, ["new-plugin", *map(str, arguments)])


def refused(result):
    """The sentence of a refusal."""
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("gessvdd: ")
    assert result.stderr.count("\n") == 1
    return result.stderr.removeprefix("gessvdd: ").strip()


def test_every_kind_of_component_has_its_template():
    assert list(DETAILS) == list(plugins.KINDS)


@pytest.mark.parametrize("kind", plugins.KINDS)
def test_it_writes_a_package_and_says_what_comes_next(new_plugin, kind):
    result = new_plugin(kind, "my-Own")
    assert (result.exit_code, result.stderr) == (0, "")
    root = Path("pyod-gessvdd-my-own")
    files = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert files == {".gitignore", "README.md", "pyod_gessvdd_my_own.py", "pyproject.toml", "tests/test_my_own.py"}
    assert result.stdout.splitlines() == [
        f"Wrote {root}:",
        *(f"  {name}" for name in sorted(files)),
        "Next:",
        f"  cd {root}",
        "  pip install --editable '.[test]'",
        "  pytest",
        f"  gessvdd plugins --kind {kind}",
        f"  gessvdd check my_own --kind {kind}",
    ]


@pytest.mark.parametrize("kind", plugins.KINDS)
def test_nothing_is_left_to_fill_in_and_the_entry_point_names_the_module(new_plugin, kind):
    new_plugin(kind, "my_own")
    root = Path("pyod-gessvdd-my-own")
    project = (root / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\nname = "{root.name}"\n' in project
    assert '\n[project.entry-points.pyod_gessvdd]\nmy_own = "pyod_gessvdd_my_own"\n' in project
    for path in root.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        ast.parse(text)
        assert "$" not in text
        assert max(map(len, text.splitlines())) <= 120
    assert f"register_{kind}s" in (root / "pyod_gessvdd_my_own.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", plugins.KINDS)
def test_the_module_uses_public_names_only(new_plugin, kind):
    import pyod_gessvdd

    new_plugin(kind, "mine")
    tree = ast.parse(Path("pyod-gessvdd-mine/pyod_gessvdd_mine.py").read_text(encoding="utf-8"))
    ours = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and "pyod_gessvdd" in node.module]
    assert [node.module for node in ours] == ["pyod_gessvdd"]
    assert {alias.name for node in ours for alias in node.names} <= set(pyod_gessvdd.__all__)


@pytest.mark.parametrize(
    ("kind", "name", "class_name"),
    [
        ("laplacian", "heat_2", "Heat2Laplacian"),
        ("laplacian", "my_laplacian", "MyLaplacian"),
        ("laplacian", "laplacian", "LaplacianLaplacian"),
        ("qp_backend", "smo", "SmoBackend"),
        ("kernel", "graph", "GraphKernel"),
        ("updater", "k_step", "KStepUpdater"),
    ],
)
def test_the_class_bears_the_name_and_the_kind(kind, name, class_name):
    assert Package(kind, name).class_name == class_name


def test_dir_is_made_where_it_is_missing(new_plugin, tmp_path):
    folder = tmp_path / "some where" / "else"
    result = new_plugin("kernel", "mine", "--dir", folder)
    assert (folder / "pyod-gessvdd-mine" / "pyproject.toml").is_file()
    assert f"  cd '{folder / 'pyod-gessvdd-mine'}'\n" in result.stdout


def test_an_existing_folder_is_left_alone_unless_forced(new_plugin):
    new_plugin("kernel", "mine")
    module, notes = Path("pyod-gessvdd-mine/pyod_gessvdd_mine.py"), Path("pyod-gessvdd-mine/notes.txt")
    written = module.read_text(encoding="utf-8")
    module.write_text("mine = 1\n")
    notes.write_text("keep me\n")
    assert refused(new_plugin("kernel", "mine")) == (
        "pyod-gessvdd-mine exists already; choose another name or folder, or overwrite it with --force"
    )
    assert module.read_text() == "mine = 1\n"
    assert new_plugin("kernel", "mine", "--force").exit_code == 0
    assert module.read_text(encoding="utf-8") == written
    assert notes.read_text() == "keep me\n"


@pytest.mark.parametrize("linked", ["pyod_gessvdd_mine.py", "tests"])
def test_force_does_not_write_through_a_link(new_plugin, tmp_path, linked):
    new_plugin("kernel", "mine")
    elsewhere, place = tmp_path / "elsewhere", tmp_path / "pyod-gessvdd-mine" / linked
    if place.is_dir():
        place.rename(elsewhere)
        (elsewhere / "test_kernel.py").write_text("keep me\n")
    else:
        place.unlink()
        elsewhere.write_text("keep me\n")
    place.symlink_to(elsewhere)
    before = {path: path.read_text() for path in (elsewhere.rglob("*.py") if elsewhere.is_dir() else [elsewhere])}
    assert refused(new_plugin("kernel", "mine", "--force")) == (
        f"{Path('pyod-gessvdd-mine', linked)} is a link to {elsewhere}; remove it first"
    )
    assert {path: path.read_text() for path in before} == before


@pytest.mark.parametrize(
    "name", ["", "7up", "my graph", "a--b", "-a", "a_", "ünder", "a.b", "../a", "lambda", "None\n"]
)
def test_a_name_that_cannot_be_one_is_refused(new_plugin, name):
    assert refused(new_plugin("laplacian", "--", name)) == (
        f"{name!r} cannot be a component's name; it begins with a letter, has letters, digits and single '-' or '_' "
        "between them, and is not a keyword of Python"
    )
    assert os.listdir() == []


def test_a_name_that_is_too_long_for_a_file_is_refused(new_plugin):
    assert refused(new_plugin("kernel", "a" * 300)) == "a component's name has at most 100 characters, got 300"


def test_an_unknown_kind_is_refused(new_plugin):
    assert "'graph' is not one of 'laplacian', 'updater', 'qp_backend', 'kernel'" in refused(
        new_plugin("graph", "mine")
    )


@pytest.mark.parametrize(("kind", "name"), [("laplacian", "kNN"), ("updater", "sr"), ("qp_backend", "frank-wolfe")])
def test_a_name_or_alias_of_an_installed_component_is_refused(new_plugin, kind, name):
    assert refused(new_plugin(kind, name)) == f"the {kind} {name!r} is taken by pyod-gessvdd; choose another name"
    assert (
        refused(new_plugin(kind, name, "--force"))
        == f"the {kind} {name!r} is taken by pyod-gessvdd; choose another name"
    )


def test_a_name_of_one_of_this_projects_plugins_is_refused(new_plugin):
    assert refused(new_plugin("laplacian", "mutual-knn")) == (
        "the laplacian 'mutual-knn' is taken by pyod-gessvdd-graphs; choose another name"
    )


def test_the_same_name_for_another_kind_is_free(new_plugin):
    assert new_plugin("updater", "knn").exit_code == 0


def test_a_name_whose_distribution_exists_is_refused(new_plugin):
    assert refused(new_plugin("laplacian", "graphs")) == (
        "'graphs' would be the distribution pyod-gessvdd-graphs, which exists already; choose another name"
    )


def test_a_name_whose_class_the_template_imports_is_refused(new_plugin):
    assert refused(new_plugin("kernel", "pairwise")) == (
        "'pairwise' would need a class PairwiseKernel, which pyod_gessvdd has itself; choose another name"
    )


def test_a_file_in_the_way_is_one_sentence(new_plugin, tmp_path):
    (tmp_path / "file").write_text("")
    assert refused(new_plugin("kernel", "mine", "--dir", tmp_path / "file")) == (
        f"cannot write {tmp_path / 'file' / 'pyod-gessvdd-mine'}: Not a directory"
    )


def test_a_folder_that_cannot_be_made_is_one_sentence(new_plugin):
    # Not a folder without write permission: whoever runs the tests as root may write there.
    assert refused(new_plugin("kernel", "mine", "--dir", "/dev/null/folder")) == (
        "cannot write /dev/null/folder/pyod-gessvdd-mine: Not a directory"
    )


# An installed copy ----------------------------------------------------------------------------------------------------


@pytest.fixture
def installed_mine(tmp_path, monkeypatch):
    """A distribution pyod-gessvdd-mine that brings the updater ``mine``."""
    info = tmp_path / "site" / "pyod_gessvdd_mine-0.3.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pyod-gessvdd-mine\nVersion: 0.3\n")
    (info / "entry_points.txt").write_text("[pyod_gessvdd]\nmine = pyod_gessvdd_mine\n")
    (info.parent / "pyod_gessvdd_mine.py").write_text(
        "from pyod_gessvdd import Updater, hookimpl\n"
        "class Mine(Updater):\n"
        "    def update(self, state):\n"
        "        return state.Q\n"
        "@hookimpl\n"
        "def register_updaters(register):\n"
        "    register(Mine)\n"
    )
    monkeypatch.syspath_prepend(info.parent)
    monkeypatch.delenv(plugins.PLUGINS_VARIABLE, raising=False)
    plugins.registry.cache_clear()
    assert version("pyod-gessvdd-mine") == "0.3"
    yield
    plugins.registry.cache_clear()


@pytest.mark.usefixtures("installed_mine")
def test_the_installed_copy_of_the_package_may_be_written_again_with_force_only(new_plugin):
    taken = "the updater 'mine' is taken by pyod-gessvdd-mine; choose another name"
    assert refused(new_plugin("updater", "mine")) == taken
    assert new_plugin("updater", "mine", "--force").exit_code == 0


@pytest.mark.usefixtures("installed_mine")
def test_an_installed_distribution_of_the_same_name_is_refused_without_force(new_plugin):
    assert refused(new_plugin("kernel", "mine")) == (
        "'mine' would be the distribution pyod-gessvdd-mine, which exists already; choose another name"
    )
    assert new_plugin("kernel", "mine", "--force").exit_code == 0
