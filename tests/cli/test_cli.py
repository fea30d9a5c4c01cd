"""The command line, in this process and in a real one."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from importlib.metadata import entry_points, version
from textwrap import dedent

import click
import pandas as pd
import pytest
from click.testing import CliRunner
from rich.console import Console

from pyod_gessvdd import available, cli
from pyod_gessvdd.cli import bench, demo, main
from pyod_gessvdd.cli import plugins as plugins_command
from pyod_gessvdd.compare import compare
from pyod_gessvdd.components import registry as plugins
from pyod_gessvdd.errors import PluginError


@pytest.fixture
def invoke():
    """Runs a command in 100 columns."""

    def invoke(*arguments, columns=100):
        return CliRunner().invoke(main, arguments, env={"COLUMNS": str(columns), "FORCE_COLOR": None})

    return invoke


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Installs a distribution of one module for one test."""
    monkeypatch.delenv(plugins.PLUGINS_VARIABLE, raising=False)
    installed = []

    def install(name, version, code):
        info = tmp_path / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[pyod_gessvdd]\n{name} = {name}\n")
        (tmp_path / f"{name}.py").write_text(dedent(code))
        monkeypatch.syspath_prepend(tmp_path)
        plugins.registry.cache_clear()
        installed.append(name)

    yield install
    plugins.registry.cache_clear()
    for name in installed:
        sys.modules.pop(name, None)


@pytest.fixture
def broken_plugin(install):
    install("brittle", "0.9", "raise RuntimeError('needs [bold] markup')")


@pytest.fixture
def rival_plugin(install):
    code = """
        from pyod_gessvdd import Updater, hookimpl

        class Gradient(Updater):
            def update(self, state):
                return state.Q

        @hookimpl
        def register_updaters(register):
            register(Gradient)
    """
    install("rival", "2.0", code)


@pytest.fixture
def only_builtins(monkeypatch):
    """No plugin beside the built-ins, whatever the environment holds."""
    monkeypatch.setenv(plugins.PLUGINS_VARIABLE, "")
    plugins.registry.cache_clear()
    yield
    plugins.registry.cache_clear()


# The group ------------------------------------------------------------------------------------------------------------


def test_the_console_script_is_the_group():
    (script,) = entry_points(group="console_scripts", name="gessvdd")
    assert script.load() is main


def test_help_names_every_command_with_a_line_about_it(invoke):
    result = invoke("--help")
    assert result.exit_code == 0
    for name in cli.COMMANDS:
        assert f"\n  {name}" in result.stdout
    assert "..." not in result.stdout.partition("Commands:")[2]


def test_every_module_of_the_command_line_is_a_command():
    folder = os.path.dirname(cli.__file__)
    modules = {name.removesuffix(".py") for name in os.listdir(folder) if name.endswith(".py") and name[0] != "_"}
    commands = {name.replace("-", "_") for name in cli.COMMANDS}
    shared = {"groups", "notes", "progress", "running", "tables"}
    assert modules == {*commands, *(f"bench_{name}" for name in bench.BENCHMARKS), *shared}
    context = click.Context(main)
    assert [main.get_command(context, name).name for name in cli.COMMANDS] == list(cli.COMMANDS)


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_the_help_of_every_command_has_examples(invoke, name):
    result = invoke(name, "--help")
    assert result.exit_code == 0
    assert f"Examples:\n    gessvdd {name}" in result.stdout


def test_without_a_command_the_help_is_shown(invoke):
    assert invoke().stdout == invoke("--help").stdout
    assert invoke().exit_code == 0


def test_version_is_the_distributions(invoke):
    assert invoke("--version").stdout == f"gessvdd, version {version('pyod-gessvdd')}\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["plugns"], "there is no command 'plugns'; did you mean plugins?"),
        (["comapre"], "there is no command 'comapre'; did you mean compare?"),
        (["xyz"], "there is no command 'xyz'; there are bench, check, compare, "),
        (["bench", "papr"], "there is no command 'papr'; did you mean paper?"),
        (["--colour"], "No such option '--colour'"),
        (["plugins", "--kind", "graph"], "'graph' is not one of 'laplacian', 'updater', 'qp_backend', 'kernel'"),
        (["plugins", "--jsn"], "No such option '--jsn'"),
        (["demo", "--seed", "one"], "'one' is not a valid integer"),
        (["demo", "--seed", "-1"], "-1 is not in the range"),
        (["demo", "wine"], "unexpected extra argument (wine)"),
    ],
)
def test_a_wrong_call_is_one_sentence_on_stderr_and_exit_code_2(invoke, arguments, words):
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("gessvdd: ")
    assert result.stderr.count("\n") == 1
    # click has quoted option names in some versions only.
    assert words.replace("'--", "--").replace("'", "") in result.stderr.replace("'--", "--").replace("'", "")


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (PluginError("two claim the same name"), 2, "gessvdd: two claim the same name\n"),
        (click.ClickException("no such file"), 2, "gessvdd: no such file\n"),
        (KeyboardInterrupt(), 130, "gessvdd: interrupted\n"),
    ],
    ids=["ours", "click's", "interrupt"],
)
def test_an_error_that_the_user_can_put_right_is_one_sentence(invoke, monkeypatch, error, code, sentence):
    def fail():
        raise error

    monkeypatch.setattr(plugins_command, "available", fail)
    result = invoke("plugins")
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.lstrip("\n") == sentence


def test_a_bug_is_not_hidden_behind_a_sentence(invoke, monkeypatch):
    monkeypatch.setattr(plugins_command, "available", lambda: 1 / 0)
    assert isinstance(invoke("plugins").exception, ZeroDivisionError)


# gessvdd plugins ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [60, 80, 100, 200])
@pytest.mark.usefixtures("only_builtins")
def test_plugins_shows_every_component_within_the_width(invoke, columns):
    result = invoke("plugins", columns=columns)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= columns
    for row in available():
        assert [line for line in lines if line.startswith(f"  {row['name']}")], row["name"]
    for kind in plugins.KINDS:
        assert kind in [line.strip() for line in lines]


@pytest.mark.usefixtures("only_builtins")
def test_plugins_shows_aliases_owner_and_parameters_with_defaults(invoke):
    lines = [" ".join(line.split()) for line in invoke("plugins", columns=200).stdout.splitlines()]
    assert f"within Sw pyod-gessvdd {version('pyod-gessvdd')} n_clusters=5" in lines
    assert any("approximation='auto'" in line for line in lines)


@pytest.mark.usefixtures("only_builtins")
def test_plugins_can_show_one_kind(invoke):
    text = invoke("plugins", "--kind", "updater").stdout
    assert "spectral_regression" in text
    assert "knn" not in text


@pytest.mark.usefixtures("broken_plugin")
@pytest.mark.parametrize("arguments", [[], ["--kind", "updater"]])
def test_plugins_says_what_failed_and_why_and_exits_with_1(invoke, arguments):
    result = invoke("plugins", *arguments)
    assert result.exit_code == 1
    table, _, problems = result.stdout.partition("Not usable")
    assert "spectral_regression" in table
    # The reason is shown as it is, not taken for rich's markup.
    assert "plugin 'brittle' of brittle 0.9: RuntimeError: needs [bold] markup" in problems


@pytest.mark.usefixtures("rival_plugin")
def test_plugins_says_once_that_a_name_is_taken_twice_and_exits_with_1(invoke):
    result = invoke("plugins", columns=200)
    assert result.exit_code == 1
    assert result.stdout.count("updater 'gradient' of rival 2.0 has a name of pyod-gessvdd's own, which is used") == 1
    assert invoke("plugins", "--kind", "kernel").exit_code == 0


@pytest.mark.usefixtures("broken_plugin")
def test_plugins_as_json_holds_the_same_rows(invoke):
    result = invoke("plugins", "--json")
    assert result.exit_code == 1
    rows = json.loads(result.stdout)
    assert rows == json.loads(json.dumps(available(), default=list))
    assert rows[-1] | {"error": ""} == {
        "kind": "plugin",
        "name": "brittle",
        "aliases": [],
        "distribution": "brittle",
        "version": "0.9",
        "parameters": {},
        "error": "",
    }


@pytest.mark.usefixtures("only_builtins")
def test_plugins_as_json_of_one_kind(invoke):
    result = invoke("plugins", "--kind", "laplacian", "--json")
    assert result.exit_code == 0
    assert {row["kind"] for row in json.loads(result.stdout)} == {"laplacian"}


def test_defaults_that_json_cannot_hold_are_written_as_python_writes_them():
    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    defaults = {"a": float("inf"), "b": float("nan"), "c": max, "d": (1, None), "e": {"f": 2.5, "g": True}}
    text = json.dumps(plugins_command._plain(defaults))
    assert json.loads(text, parse_constant=refuse) == {
        "a": "inf",
        "b": "nan",
        "c": "<built-in function max>",
        "d": [1, None],
        "e": {"f": 2.5, "g": True},
    }


def test_python_dash_m_is_the_same_command(tmp_path):
    environment = {**os.environ, plugins.PLUGINS_VARIABLE: "not-there", "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "pyod_gessvdd", "plugins"],
        capture_output=True,
        encoding="utf-8",
        env=environment,
        cwd=tmp_path,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert "spectral_regression" in done.stdout
    assert "plugin 'not-there': PYOD_GESSVDD_PLUGINS names it, but it is not installed" in done.stdout


# gessvdd demo ---------------------------------------------------------------------------------------------------------


#: The detectors as the table calls them.
SHOWN = ("GESSVDD(novelty)", "GESSVDD", "OCSVM", "KNN", "IForest", "KPCA")


@pytest.fixture(scope="module")
def quick_demo():
    """One run for all tests: it fits eighteen detectors twice."""
    arguments = ["demo", "--quick", "--seed", "3", "--seeds", "2"]
    return CliRunner().invoke(main, arguments, env={"COLUMNS": "80", "FORCE_COLOR": None})


def test_demo_prints_one_table_of_all_detectors_and_data_sets_within_80_columns(quick_demo):
    assert (quick_demo.exit_code, quick_demo.stderr) == (0, "")
    lines = quick_demo.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["data", "set", "detector", "ROC-AUC", "avg.", "prec.", "fit", "(ms)", "score"]
    table = lines[: lines.index("")]
    for detector in SHOWN:
        assert len([line for line in table if detector in line.split()]) == 4, "three data sets and the mean"
    firsts = [line.split()[0] for line in table if SHOWN[0] in line.split()]
    assert firsts == ["breast-cancer", "wine", "digits", "mean"]
    assert not [line for line in lines if "…" in line]


def test_demo_marks_the_best_auc_of_each_data_set_and_shows_the_deviation_over_the_seeds(quick_demo):
    blocks = []
    for line in quick_demo.stdout.splitlines():
        row = re.search(r"(GESSVDD\(novelty\)|GESSVDD|OCSVM|KNN|IForest|KPCA) +([01]\.\d{4}) ± 0\.\d{3}( \*)? ", line)
        if row and row[1] == SHOWN[0]:
            blocks.append([])
        if row:
            blocks[-1].append((float(row[2]), bool(row[3])))
    assert [len(block) for block in blocks] == [6, 6, 6, 6]
    for block in blocks:
        best = max(auc for auc, _ in block)
        assert all(marked == (auc == best) for auc, marked in block)


def test_demo_says_how_it_was_done(quick_demo):
    text = " ".join(quick_demo.stdout.split())
    assert "Normal class: breast-cancer: benign, wine: class_1 (the largest), digits: 0." in text
    assert "70 % (stratified, 2 seeds from 3)" in text


def test_the_demo_is_a_comparison(quick_demo):
    table = compare("wine", "KNN", seeds=[3, 4]).table
    (line,) = [
        line for line in quick_demo.stdout.splitlines() if " KNN " in line and "wine" in _block(quick_demo, line)
    ]
    assert f"{table['roc_auc'].mean():.4f} ± {table['roc_auc'].std():.3f}" in line


def _block(done, line):
    """The data set whose rows a line of the table is among."""
    name = ""
    for other in done.stdout.splitlines():
        name = other.split()[0] if re.match(r"[a-z]", other) else name
        if other is line or other == line:
            return name
    return name


def test_several_normal_classes_are_one_data_set_of_the_table():
    rows = [("digits:0", 0.8), ("digits:1", 0.6), ("wine", 0.9)]
    columns = {"average_precision": 0.5, "fit_seconds": 0.001, "score_seconds": 0.001}
    jobs = pd.DataFrame(rows, columns=["dataset", "roc_auc"]).assign(detector="KNN", seed=0, **columns)
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(demo._table(jobs))
    text = console.export_text()
    assert [line.split()[2] for line in text.splitlines() if "KNN" in line] == ["0.7000", "0.9000", "0.8000"]
