"""How the modules of the package depend on each other, what importing it costs, and its public names."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import pyod_gessvdd

ROOT = Path(pyod_gessvdd.__file__).parent
PACKAGE = pyod_gessvdd.__name__


def module_name(path):
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in ROOT.rglob("*.py")}


def imports(tree):
    """The modules imported when the module is: not those inside functions or under ``if TYPE_CHECKING``."""
    if isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return
    if isinstance(tree, ast.If) and "TYPE_CHECKING" in ast.unparse(tree.test):
        return
    if isinstance(tree, ast.Import):
        yield from (alias.name for alias in tree.names)
    if isinstance(tree, ast.ImportFrom):
        assert tree.level == 0, "imports are absolute"
        for alias in tree.names:
            inner = f"{tree.module}.{alias.name}"
            yield inner if inner in MODULES else tree.module
    for child in ast.iter_child_nodes(tree):
        yield from imports(child)


def dependencies(name):
    """The package's modules that ``name`` imports, with the packages that Python runs on the way to them."""
    found = set()
    for target in imports(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
        parts = target.split(".")
        on_the_way = {".".join(parts[:n]) for n in range(1, len(parts))}
        # The packages that a module lies in have begun to run before it; only naming them is a dependency.
        found |= {target} | {package for package in on_the_way if not f"{name}.".startswith(f"{package}.")}
    return found & MODULES.keys()


def test_imports_form_a_directed_acyclic_graph():
    try:
        order = list(TopologicalSorter({name: dependencies(name) for name in MODULES}).static_order())
    except CycleError as error:
        pytest.fail("modules import each other: " + " → ".join(error.args[1]))
    assert set(order) == MODULES.keys()


def test_the_graph_of_imports_sees_the_real_ones():
    assert f"{PACKAGE}.components.contracts" in dependencies(f"{PACKAGE}.laplacians.knn")
    assert {f"{PACKAGE}.qp", f"{PACKAGE}.qp.auto", f"{PACKAGE}.laplacians.knn"} <= dependencies(
        f"{PACKAGE}.components.builtins"
    )
    assert f"{PACKAGE}.components.hookspecs" in dependencies(f"{PACKAGE}.components.registry")


def test_the_command_line_and_the_built_in_components_are_not_imported_by_the_core():
    outside = tuple(
        f"{PACKAGE}.{name}"
        for name in (
            *("cli", "__main__", "checks", "compare", "experiments", "extras", "scaffold", "tabular"),
            *("components.builtins", "detectors.pyod_bridge"),
        )
    )
    for name in MODULES:
        if not name.startswith(outside):
            assert not [module for module in dependencies(name) if module.startswith(outside)], name


def test_reading_tables_does_not_need_the_experiments():
    of_tables = [name for name in MODULES if name.startswith(f"{PACKAGE}.tabular")]
    assert len(of_tables) > 3
    for name in of_tables:
        text = MODULES[name].read_text(encoding="utf-8")
        assert f"{PACKAGE}.experiments" not in text, name
        assert f"{PACKAGE}.compare" not in text, name


#: Slow or optional: each is imported where it is used.
ON_DEMAND = (
    "osqp",
    "matplotlib",
    "matplotlib.pyplot",
    "rich",
    "click",
    "pandas",
    "sklearn.cluster",
    "sklearn.neighbors",
    "sklearn.decomposition",
    "pyod_gessvdd.components.builtins",
    "pyod_gessvdd.cli",
    "pyod_gessvdd.compare",
    "pyod_gessvdd.experiments",
)


def test_importing_the_package_imports_nothing_slow_beyond_what_pyods_base_class_does():
    code = (
        "import sys, pyod.models.base; before = set(sys.modules); import pyod_gessvdd; "
        f"print(*sorted(set({ON_DEMAND!r}) & (set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize(
    ("module", "names"),
    [
        (
            "pyod_gessvdd",
            (
                "GESSVDD",
                "MSSVDD",
                "Laplacian",
                "Updater",
                "QPBackend",
                "Kernel",
                "Graph",
                "hookimpl",
                "available",
                "__version__",
            ),
        ),
        ("pyod_gessvdd.qp", ("solve_svdd", "QPSolution", "SVDDDual")),
        ("pyod_gessvdd.checks", ("check_laplacian", "check_updater", "check_qp_backend", "check_kernel", "CHECKS")),
        ("pyod_gessvdd.compare", ("compare", "ComparisonResult", "Progress", "Metric", "Protocol", "Split")),
        ("pyod_gessvdd.cli", ("main",)),
    ],
)
def test_the_public_names_are_there(module, names):
    imported = importlib.import_module(module)
    assert [name for name in names if not hasattr(imported, name)] == []


def test_what_the_package_exports_is_what_it_lists():
    missing = [name for name in pyod_gessvdd.__all__ if not hasattr(pyod_gessvdd, name)]
    assert missing == []


def test_the_version_is_the_distributions():
    assert pyod_gessvdd.__version__ == importlib.metadata.version("pyod-gessvdd")


def test_the_page_that_says_where_things_are_names_files_that_exist():
    page = (ROOT.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`(pyod_gessvdd/[\w/.]+\.py)`", page)
    assert len(named) >= 15
    assert [name for name in named if not (ROOT.parent / name).exists()] == []


@pytest.mark.parametrize(
    "noun", ["graph", "updater", "kernel", "solver", "scaling", "threshold rule", "score", "boundary"]
)
def test_the_page_that_says_where_things_are_has_a_row_for_each_noun(noun):
    page = (ROOT.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert re.search(rf"^\| an? {noun} \| .*`pyod_gessvdd/", page, re.MULTILINE)
