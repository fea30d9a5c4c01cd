"""``gessvdd check``: what it checks, prints and returns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from textwrap import dedent

import pytest
from click.testing import CliRunner

from pyod_gessvdd.checks import CHECKS
from pyod_gessvdd.cli import main
from pyod_gessvdd.components import registry as plugins
from pyod_gessvdd.components.registry import KINDS

MINE = """
    import numpy as np
    from pyod_gessvdd import Laplacian

    class Mine(Laplacian):
        '''All samples linked to their mean.'''

        sparse = False

        def build(self, Phi, random_state):
            return np.eye(len(Phi)) - 1.0 / len(Phi)

    class Wrong(Mine):
        '''The wrong sign.'''

        sparse = False

        def build(self, Phi, random_state):
            return -super().build(Phi, random_state)

    NUMBER = 3

    from dataclasses import dataclass
    from pyod_gessvdd.compare import Metric, Protocol, Split

    def accuracy(labels, predicted):
        return float(np.mean(labels == predicted))

    ACCURACY = Metric("accuracy", "Accuracy", accuracy, needs="predictions")
    ERROR = Metric("error", "Error", lambda labels, predicted: 1.0 - accuracy(labels, predicted), needs="predictions")

    @dataclass(frozen=True)
    class Halves(Protocol):
        name = "halves"
        title = "Halves"
        description = "The first half is fitted, the second judged."

        def splits(self, dataset, seed):
            X, labels = dataset.arrays()
            half = len(X) // 2
            return [Split(X[:half], X[half:], labels[half:])]
"""


@pytest.fixture
def check():
    """Runs ``gessvdd check`` in 100 columns."""

    def check(*arguments, columns=100):
        return CliRunner().invoke(main, ["check", *arguments], env={"COLUMNS": str(columns), "FORCE_COLOR": None})

    return check


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A module in the current folder, which is not on the path."""
    (tmp_path / "my_graphs.py").write_text(dedent(MINE))
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("my_graphs", None)


def test_a_sound_component_is_told_to_keep_its_contract(check):
    result = check("knn")
    assert result.exit_code == 0
    n_checks = len(CHECKS["laplacian"])
    assert f"laplacian knn  keeps its contract  ({n_checks} of {n_checks} checks passed)" in result.stdout
    assert f"1 component, {n_checks} checks: {n_checks} passed, 0 failed, 0 do not apply" in result.stdout


def test_an_alias_and_a_spec_string_name_a_component_too(check):
    assert "laplacian identity  keeps" in check("I").stdout
    assert "laplacian knn  keeps" in check("knn(n_neighbors=3)").stdout


def test_metrics_and_protocols_are_checked_too(check, mine):
    n_checks = {kind: len(CHECKS[kind]) for kind in ("metric", "protocol")}
    for arguments, heading in (
        (["roc_auc"], "metric roc_auc"),
        (["novelty", "--kind", "protocol"], "protocol novelty"),
        (["my_graphs:ACCURACY"], "metric accuracy"),
        (["my_graphs:Halves"], "protocol halves"),
    ):
        result = check(*arguments)
        assert result.exit_code == 0, result.output
        n = n_checks[heading.split()[0]]
        assert f"{heading}  keeps its contract  ({n} of {n} checks passed)" in result.stdout
    wrong = check("my_graphs:ERROR")
    assert wrong.exit_code == 1
    assert "metric error  1 failed" in wrong.stdout
    assert "with higher_is_better=True" in " ".join(wrong.stdout.split())
    assert "did you mean the metric 'roc_auc'?" in check("roc_auk").stderr


def test_verbose_lists_every_check(check):
    result = check("linear", "--verbose")
    for name in CHECKS["kernel"]:
        assert name in result.stdout


def test_what_does_not_apply_is_told_with_the_reason_once(check):
    result = check("none")
    assert result.exit_code == 0
    assert result.stdout.count("it has no graph, so that build is never called") == 1
    assert "check_laplacian_is_symmetric" in result.stdout
    # All that are about the graph; those that every component has are left.
    n_common = len(set.intersection(*(set(CHECKS[kind]) for kind in KINDS)))
    n_graph = len(CHECKS["laplacian"]) - n_common
    assert f"{n_common} passed, 0 failed, {n_graph} do not apply" in result.stdout


@pytest.fixture
def graph_called_rbf(tmp_path, monkeypatch):
    """An installed graph that bears a kernel's name."""
    info = tmp_path / "shared_name-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shared-name\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[pyod_gessvdd]\nshared_name = shared_name\n")
    code = """
        from pyod_gessvdd import Graph, Laplacian, hookimpl

        class Same(Laplacian):
            '''The identity by another name.'''

            name = "rbf"

            def build(self, Phi, random_state):
                return Graph.identity(len(Phi))

        @hookimpl
        def register_laplacians(register):
            register(Same)
    """
    (tmp_path / "shared_name.py").write_text(dedent(code))
    monkeypatch.delenv(plugins.PLUGINS_VARIABLE, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    plugins.registry.cache_clear()
    yield
    plugins.registry.cache_clear()
    sys.modules.pop("shared_name", None)


def test_a_name_that_two_kinds_share_is_checked_as_both_unless_the_kind_is_given(check, graph_called_rbf):
    as_both = check("rbf", "--json")
    assert as_both.exit_code == 0
    assert {row["kind"] for row in json.loads(as_both.stdout)} == {"laplacian", "kernel"}
    as_graph = check("rbf", "--kind", "laplacian", "--json")
    assert {row["kind"] for row in json.loads(as_graph.stdout)} == {"laplacian"}


def test_a_class_is_found_by_its_module_in_the_current_folder(check, mine):
    result = check("my_graphs:Mine")
    assert result.exit_code == 0
    assert "laplacian mine  keeps its contract" in result.stdout
    assert str(mine) not in sys.path


def test_a_broken_component_is_told_what_to_change_and_the_exit_code_is_1(check, mine):
    result = check("my_graphs:Wrong")
    assert result.exit_code == 1
    assert "laplacian wrong" in result.stdout
    words = " ".join(result.stdout.split())
    assert "failed check_laplacian_is_positive_semi_definite Wrong 'wrong': L is not positive semi-definite" in words
    assert "is D − A (Graph.from_adjacency)" in words
    assert "check_laplacian_shape" not in result.stdout, "what passes is not listed"


def test_json_holds_one_object_per_check(check, mine):
    result = check("my_graphs:Wrong", "--json")
    rows = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [row["check"] for row in rows] == list(CHECKS["laplacian"])
    assert {row["result"] for row in rows} == {"passed", "failed", "not applicable"}
    (row,) = [row for row in rows if row["check"] == "check_laplacian_is_sparse"]
    assert row == {
        "kind": "laplacian",
        "name": "wrong",
        "check": "check_laplacian_is_sparse",
        "result": "not applicable",
        "message": "it declares sparse = False",
    }


def test_without_a_name_all_components_of_a_kind_are_checked(check):
    result = check("--kind", "qp_backend", "--json")
    assert result.exit_code == 0
    names = dict.fromkeys(row["name"] for row in json.loads(result.stdout))
    assert list(names) == plugins.registry().names("qp_backend")


def test_without_a_name_and_a_kind_everything_is_checked(check, monkeypatch):
    from pyod_gessvdd.cli import check as module

    # The checks themselves are run for all in tests/checks.
    monkeypatch.setattr(
        module,
        "_run",
        lambda kind, component: [
            {"kind": kind, "name": component.name, "check": "x", "result": module.PASSED, "message": ""}
        ],
    )
    everything = check("--json")
    assert everything.exit_code == 0
    assert everything.stdout == check("--all", "--json").stdout
    found = [(row["kind"], row["name"]) for row in json.loads(everything.stdout)]
    assert found == [(row["kind"], row["name"]) for row in plugins.available() if row["kind"] != "plugin"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["knm"],
            "unknown component 'knm', did you mean the laplacian 'knn'? `gessvdd plugins` lists what is installed",
        ),
        (["zzzzzz"], "unknown component 'zzzzzz'. `gessvdd plugins` lists what is installed"),
        (["knm", "--kind", "laplacian"], "unknown laplacian 'knm', did you mean 'knn'? Installed: "),
        (["knn(k=3)"], "laplacian 'knn' has no parameter 'k'; it takes n_neighbors, max_exact, n_queries"),
        (["knn("], "cannot read the laplacian 'knn('; write a name, 'name(parameter=value)'"),
        (["knn", "--all"], "give a NAME or --all, not both, got 'knn' and --all"),
        (
            ["no_such.module:Class"],
            "cannot import 'no_such.module:Class' (ModuleNotFoundError: No module named 'no_such')",
        ),
        (["my_graphs:Nobody"], "cannot import 'my_graphs:Nobody' (AttributeError: module 'my_graphs' has no attribute"),
        ([":Mine"], "cannot import ':Mine' (ValueError: Empty module name); write package.module:Class"),
        (["my_graphs:NUMBER"], "'my_graphs:NUMBER' is a int; expected a class"),
        (["my_graphs:Mine", "--kind", "kernel"], "'my_graphs:Mine' is not a component; expected a subclass of Kernel"),
        (
            ["collections:OrderedDict"],
            "'collections:OrderedDict' is not a component; expected a subclass of Laplacian or Updater or QPBackend ",
        ),
        (["knn", "--kind", "graph"], "'graph' is not one of 'laplacian', 'updater', 'qp_backend', 'kernel'"),
    ],
)
def test_what_cannot_be_checked_gets_one_sentence_and_the_exit_code_2(check, mine, arguments, sentence):
    result = check(*arguments)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert result.stderr.startswith("gessvdd: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_a_module_that_fails_to_import_is_told_in_one_sentence(check, mine):
    (mine / "brittle.py").write_text("raise RuntimeError('no licence')")
    result = check("brittle:Anything")
    assert result.exit_code == 2
    assert "cannot import 'brittle:Anything' (RuntimeError: no licence)" in result.stderr


def test_the_console_command_exits_with_1_in_a_real_process(mine):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "pyod_gessvdd", "check", "my_graphs:Wrong"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "check_laplacian_is_positive_semi_definite" in done.stdout
    assert done.stderr == ""


CRASHING = """
    import os

    import numpy as np
    from pyod_gessvdd import Laplacian

    class Crashing(Laplacian):
        '''Ends its process on data with equal rows, and only there.'''

        sparse = False

        def build(self, Phi, random_state):
            if len(np.unique(Phi, axis=0)) < len(Phi):
                os.kill(os.getpid(), 11)
            return np.eye(len(Phi)) - 1.0 / len(Phi)
"""


def test_a_component_that_ends_its_process_fails_the_check_and_the_others_go_on(check, tmp_path, monkeypatch):
    (tmp_path / "crashing.py").write_text(dedent(CRASHING))
    monkeypatch.chdir(tmp_path)
    result = check("crashing:Crashing", "--json")
    sys.modules.pop("crashing", None)
    rows = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [row["check"] for row in rows] == list(CHECKS["laplacian"])
    ended = [row for row in rows if row["message"].startswith("this check ended the process: signal 11 (SIGSEGV)")]
    assert ended
    assert all(row["result"] == "failed" for row in ended)
    assert any(row["result"] == "passed" for row in rows[rows.index(ended[-1]) :])
