"""The registry, with distributions as an installer would leave them: a module and its ``.dist-info`` on the path."""

from __future__ import annotations

import importlib.metadata
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

import pyod_gessvdd
from pyod_gessvdd import GESSVDD, available
from pyod_gessvdd.checks import check_metric, check_protocol
from pyod_gessvdd.compare import Metric, Protocol, compare
from pyod_gessvdd.components import builtins, hookspecs
from pyod_gessvdd.components import contracts as components
from pyod_gessvdd.components import registry as plugins
from pyod_gessvdd.errors import PluginError, UnknownComponentError
from pyod_gessvdd.qp import solve_svdd

RING = """
    import scipy.sparse as sp
    from pyod_gessvdd import Laplacian, hookimpl

    class Ring(Laplacian):
        aliases = ("circle", "RING")

        def __init__(self, weight=1.5):
            self.weight = weight

        def build(self, Phi, random_state):
            N = len(Phi)
            shift = sp.csr_array(([1.0] * N, (range(N), [(i + 1) % N for i in range(N)])), shape=(N, N))
            return self.weight * (2 * sp.eye_array(N) - shift - shift.T)

    @hookimpl
    def register_laplacians(register):
        register(Ring)
"""

STAY = """
    from pyod_gessvdd import Updater, hookimpl

    class Stay(Updater):
        aliases = "ST"

        def __init__(self, flips=0):
            self.flips = flips

        def update(self, state):
            return state.Q

    @hookimpl
    def register_updaters(register):
        register(Stay)
"""

BARE = """
    from pyod_gessvdd import QPBackend, hookimpl
    from pyod_gessvdd.qp.frank_wolfe import FrankWolfe

    class Bare(QPBackend):
        name = "bare-alpha"

        def __init__(self, max_iter=500):
            self.max_iter = max_iter

        def solve(self, dual, warm_start=None):
            return FrankWolfe(max_iter=self.max_iter).solve(dual).alpha

    @hookimpl
    def register_qp_backends(register):
        register(Bare)
"""

SQUARES = """
    import numpy as np
    from pyod_gessvdd import Kernel, hookimpl

    class Squares(Kernel):
        def __init__(self, factor=0.5):
            self.factor = factor

        def features(self, X):
            return np.hstack([X, self.factor * X**2])

    @hookimpl
    def register_kernels(register):
        register(Squares)
"""


def write_distribution(path: Path, name: str, code: str, version: str = "1.2.3") -> Path:
    """A directory that holds an installed distribution whose entry point bears the module's name."""
    module = name.replace("-", "_")
    info = path / f"{module}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[pyod_gessvdd]\n{module} = {module}\n")
    (path / f"{module}.py").write_text(dedent(code))
    return path


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Installs distributions for one test."""
    monkeypatch.delenv(plugins.PLUGINS_VARIABLE, raising=False)
    plugins.registry.cache_clear()

    def install(name, code, version="1.2.3"):
        path = write_distribution(tmp_path / name, name, code, version)
        monkeypatch.syspath_prepend(path)
        plugins.registry.cache_clear()
        return path

    yield install
    plugins.registry.cache_clear()
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(60, 4))


def run(code, *, path=(), **environment):
    """The standard output of a fresh interpreter with these directories on its path."""
    variables = {name: value for name, value in os.environ.items() if name != plugins.PLUGINS_VARIABLE}
    variables |= {"PYTHONPATH": os.pathsep.join(map(str, path)), **environment}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", dedent(code)], capture_output=True, text=True, env=variables, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def row(name, kind=None):
    """The one row of ``available()`` with that name."""
    (found,) = [row for row in available(kind) if row["name"] == name]
    return found


def failure(name):
    """Why the plugin of that name failed."""
    found = row(name)
    assert found["kind"] == "plugin"
    return found["error"]


# Every hook has its test ----------------------------------------------------------------------------------------------

HOOKS = [name for name, value in vars(hookspecs).items() if hasattr(value, f"{hookspecs.PROJECT}_spec")]


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_has_a_test_here(hook):
    assert [name for name in globals() if name.startswith(f"test_{hook}_")], f"write test_{hook}_… in this file"


def test_every_hook_belongs_to_a_kind_of_component_or_to_experiments():
    assert {f"register_{kind}s" for kind in (*plugins.KINDS, *plugins.EXTENSIONS)} == set(HOOKS)


def test_register_laplacians_brings_a_graph_that_works_by_name(install, X):
    install("ring-graph", RING)
    assert row("ring") == {
        "kind": "laplacian",
        "name": "ring",
        "aliases": ("circle", "RING"),
        "distribution": "ring-graph",
        "version": "1.2.3",
        "parameters": {"weight": 1.5},
        "error": None,
    }
    # All rows are trusted: the ring of fewer rows is another graph than what is left of the ring of all.
    params = {"kernel": "linear", "n_components": None, "trim": None, "random_state": 0}
    by_name = GESSVDD(laplacian="ring", **params).fit(X)
    built = plugins.registry().find("laplacian", "ring").component().build(X, None)
    by_matrix = GESSVDD(laplacian=built, **params).fit(X)
    np.testing.assert_allclose(by_name.decision_scores_, by_matrix.decision_scores_)
    by_pca = GESSVDD(laplacian="pca", **params).fit(X)
    assert not np.allclose(by_name.decision_scores_, by_pca.decision_scores_)


def test_register_updaters_brings_an_updater_that_works_by_name(install, X):
    install("stay", STAY)
    found = row("stay", "updater")
    # A bare string is one alias, not one per letter.
    assert (found["aliases"], found["parameters"], found["distribution"]) == (("ST",), {"flips": 0}, "stay")
    stayed = GESSVDD(kernel="linear", updater="ST", n_iter=3, random_state=0).fit(X)
    never_moved = GESSVDD(kernel="linear", n_iter=0, random_state=0).fit(X)
    np.testing.assert_allclose(stayed.decision_scores_, never_moved.decision_scores_)
    assert stayed.n_iter_ == 3


def test_register_qp_backends_brings_a_solver_that_works_by_name(install, X):
    install("bare", BARE)
    found = row("bare-alpha", "qp_backend")
    assert (found["parameters"], found["version"]) == ({"max_iter": 500}, "1.2.3")
    assert solve_svdd(X, nu=0.2, backend="bare_alpha(max_iter=400)").backend == "bare-alpha"
    solved = GESSVDD(kernel="linear", qp_backend="bare-alpha", random_state=0).fit(X)
    usual = GESSVDD(kernel="linear", random_state=0).fit(X)
    np.testing.assert_allclose(solved.decision_scores_, usual.decision_scores_, rtol=1e-6)


def test_register_kernels_brings_a_kernel_that_works_by_name(install, X):
    install("squares", SQUARES)
    assert row("squares", "kernel")["parameters"] == {"factor": 0.5}
    settings = {"n_components": 8, "standardize": False, "random_state": 0}
    by_name = GESSVDD(kernel="squares(factor=2.0)", **settings).fit(X)
    by_hand = GESSVDD(kernel="linear", **settings).fit(np.hstack([X, 2.0 * X**2]))
    np.testing.assert_allclose(by_name.decision_scores_, by_hand.decision_scores_, rtol=1e-6)


def test_register_feature_laplacians_brings_a_graph_over_columns_that_works_by_name(install, X):
    install(
        "star-graph",
        """
        import numpy as np
        from pyod_gessvdd import FeatureLaplacian, Graph, hookimpl

        contract = 3


        class Star(FeatureLaplacian):
            def __init__(self, weight=1.0):
                self.weight = weight

            def build(self, X, random_state):
                A = np.zeros((X.shape[1],) * 2)
                A[0, 1:] = A[1:, 0] = self.weight
                return Graph.from_adjacency(A)


        @hookimpl
        def register_feature_laplacians(register):
            register(Star)
    """,
    )
    assert row("star", "feature_laplacian")["parameters"] == {"weight": 1.0}
    settings = {"kernel": "linear", "n_components": 2, "random_state": 0}
    by_name = GESSVDD(feature_laplacian="star(weight=2.0)", **settings).fit(X)
    L = np.eye(X.shape[1])
    L[0, 1:] = L[1:, 0] = -1.0
    L[0, 0] = X.shape[1] - 1
    by_hand = GESSVDD(feature_laplacian=2.0 * L, **settings).fit(X)
    np.testing.assert_allclose(by_name.decision_scores_, by_hand.decision_scores_, rtol=1e-8)


METRIC = """
    from pyod_gessvdd import hookimpl
    from pyod_gessvdd.compare import Metric

    def mean_score_of_outliers(labels, scores):
        return float(scores[labels == 1].mean())

    @hookimpl
    def register_metrics(register):
        register(Metric("mean_score", "Mean score", mean_score_of_outliers, decimals=2))
"""

PROTOCOL = """
    from dataclasses import dataclass
    from typing import ClassVar

    from pyod_gessvdd import hookimpl
    from pyod_gessvdd.compare import Protocol, Split

    @dataclass(frozen=True)
    class Halves(Protocol):
        name: ClassVar[str] = "halves"
        title: ClassVar[str] = "Two halves"
        description: ClassVar[str] = "Each half is judged by the other."

        def splits(self, dataset, seed):
            X, y = dataset.arrays()
            return [Split(X[first::2], X[1 - first::2], y[1 - first::2]) for first in (0, 1)]

    @hookimpl
    def register_protocols(register):
        register(Halves)
"""


def experiment(install, **options):
    """A comparison on two blobs; what it runs in finds the plugin too."""
    rng = np.random.default_rng(0)
    data = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(20, 2)) + 4]), np.repeat([0, 1], [60, 20])
    return compare({"blobs": data}, "knn", seeds=1, **options)


def test_register_metrics_brings_a_metric_that_is_measured_and_reported(install):
    install("mean-score", METRIC)
    result = experiment(install, metrics=["mean_score", "roc_auc"])
    _, scores = result.scores("blobs", "KNN", "novelty", 0)
    labels, _ = result.scores("blobs", "KNN", "novelty", 0)
    assert result.table["mean_score"][0] == pytest.approx(scores[labels == 1].mean(), rel=1e-6)
    assert row("mean_score", "metric")["distribution"] == "mean-score"
    assert "Mean score" in result.to_markdown()
    assert "Mean score" in repr(result)
    for check in check_metric(plugins.registry().extensions("metric", Metric)["mean_score"]):
        check()


def test_register_protocols_brings_a_protocol_that_is_run_and_reported(install):
    install("halves", PROTOCOL)
    result = experiment(install, setting="halves")
    assert result.table.loc[0, ["setting", "status", "n_train", "n_test"]].tolist() == ["halves", "done", 80, 80]
    assert row("halves", "protocol")["parameters"] == {}
    assert row("novelty", "protocol")["parameters"] == {"max_rows": 10_000}
    assert "Each half is judged by the other." in result.to_markdown()
    for check in check_protocol(plugins.registry().extensions("protocol", Protocol)["halves"]):
        check()


@pytest.mark.parametrize(
    ("hook", "wrong", "reason"),
    [
        ("register_metrics", "3", "TypeError: register_metrics got 3; expected Metric"),
        ("register_protocols", "object", "TypeError: register_protocols got <class 'object'>; expected Protocol"),
        ("register_protocols", "compare.Protocol", "TypeError: Protocol does not implement splits"),
        (
            "register_metrics",
            "compare.Metric('a-b', 'x', max)",
            "TypeError: register_metrics got the name 'a-b'; it must be a Python name",
        ),
    ],
)
def test_a_plugin_that_brings_something_else_to_experiments_fails_alone(install, hook, wrong, reason):
    code = f"""
    from pyod_gessvdd import compare, hookimpl

    @hookimpl
    def {hook}(register):
        register({wrong})
    """
    install("wrong", code)
    kind, contract = ("metric", Metric) if hook == "register_metrics" else ("protocol", Protocol)
    assert "wrong" not in plugins.registry().extensions(kind, contract)
    assert failure("wrong") == reason


def test_a_metric_that_two_plugins_bring_is_an_error_that_names_both(install):
    install("mean-score", METRIC)
    install("another", METRIC)
    with pytest.raises(
        PluginError, match=r"metric 'mean_score' is registered by .* 1\.2\.3 and by .* 1\.2\.3; uninstall"
    ):
        plugins.registry().extensions("metric", Metric)


# Built-ins ------------------------------------------------------------------------------------------------------------


def test_builtins_come_through_the_entry_point_group_that_plugins_use():
    values = [point.value for point in importlib.metadata.entry_points(group="pyod_gessvdd")]
    assert builtins.__name__ in values


def test_builtins_are_what_their_hooks_register_and_nothing_else():
    registered = []
    for kind in plugins.KINDS:
        getattr(builtins, f"register_{kind}s")(registered.append)
    ours = [entry for entry in plugins.registry().registrations if entry.distribution == "pyod-gessvdd"]
    assert [entry.component for entry in ours] == registered
    assert {entry.version for entry in ours} == {importlib.metadata.version("pyod-gessvdd")}


def test_available_lists_one_kind_or_all_in_the_order_of_kind_and_name():
    rows = available()
    kinds = list(dict.fromkeys(row["kind"] for row in rows if row["kind"] != "plugin"))
    assert kinds == [*plugins.KINDS, *plugins.EXTENSIONS]
    for kind in kinds:
        of_kind = [row for row in rows if row["kind"] == kind]
        assert available(kind) == of_kind
        assert [row["name"] for row in of_kind] == sorted(row["name"] for row in of_kind)


def test_an_unknown_kind_is_refused():
    with pytest.raises(
        ValueError,
        match="kind must be one of laplacian, updater, qp_backend, kernel, feature_laplacian, metric, protocol, got ",
    ):
        available("graph")


# What fails -----------------------------------------------------------------------------------------------------------


def test_a_plugin_whose_import_fails_is_reported_and_breaks_nobody(install, X):
    install("ring-graph", RING)
    install("no-import", "import a_module_that_nobody_has")
    assert row("no_import") == {
        "kind": "plugin",
        "name": "no_import",
        "aliases": (),
        "distribution": "no-import",
        "version": "1.2.3",
        "parameters": {},
        "error": "ModuleNotFoundError: No module named 'a_module_that_nobody_has'",
    }
    GESSVDD(kernel="linear", laplacian="ring").fit(X)


def test_an_unknown_name_mentions_the_plugins_that_failed(install):
    install("no-import", "import a_module_that_nobody_has")
    with pytest.raises(
        UnknownComponentError,
        match=r"unknown laplacian 'far-knn'.*plugin 'no_import' of no-import 1\.2\.3 failed to load: ModuleNotFound",
    ):
        plugins.registry().find("laplacian", "far-knn")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise SystemExit('no licence')", "SystemExit: no licence"),
        ("def (:", "SyntaxError: "),
        ("raise ValueError('first line\\n   second line')", "ValueError: first line second line"),
    ],
    ids=["exit", "syntax", "two lines"],
)
def test_whatever_a_plugin_raises_while_it_loads_is_one_line_in_the_report(install, code, reason):
    install("faulty", code)
    assert failure("faulty").startswith(reason)
    assert "\n" not in failure("faulty")


def test_a_plugin_that_raises_half_way_registers_nothing(install):
    install("half-way", RING + "        raise RuntimeError('after the first')\n")
    assert failure("half_way") == "RuntimeError: after the first"
    assert "ring" not in plugins.registry().names("laplacian")


def test_a_plugin_with_one_bad_component_registers_none_of_its_kinds(install):
    install("two-kinds", dedent(RING) + dedent(STAY).replace("register(Stay)", "register(Ring)"))
    assert "register_updaters got <class 'two_kinds.Ring'>; expected a subclass of Updater" in failure("two_kinds")
    assert "ring" not in plugins.registry().names("laplacian")


def test_a_misspelled_hook_is_an_error(install):
    install("misspelled", RING.replace("def register_laplacians", "def register_laplacian"))
    assert "unknown hook 'register_laplacian'" in failure("misspelled")


def test_a_hook_with_a_wrong_argument_is_an_error(install):
    install("argument", RING.replace("register_laplacians(register)", "register_laplacians(add)"))
    assert "'add'" in failure("argument")


def test_a_plugin_without_any_hook_is_an_error(install):
    install("undecorated", RING.replace("@hookimpl", ""))
    assert "implements no hook; decorate one of register_laplacians, " in failure("undecorated")


def test_a_plugin_that_has_nothing_to_bring_today_is_no_error(install):
    install("nothing-today", RING.replace("register(Ring)", "pass"))
    assert "nothing_today" not in [row["name"] for row in available()]
    assert "ring" not in plugins.registry().names("laplacian")


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("Ring()", "register_laplacians got Ring(); expected a subclass of Laplacian"),
        ("dict", "register_laplacians got <class 'dict'>; expected a subclass of Laplacian"),
        ("'ring'", "register_laplacians got 'ring'; expected a subclass of Laplacian"),
        ("type('Open', (Laplacian,), {})", "Open does not implement build"),
        ("type('Named', (Ring,), {'name': 'my graph'})", "Named has the names ('my graph',); a name is letters"),
        ("type('Named', (Ring,), {'aliases': ['', 'a']})", "Named has the names ('named', '', 'a'); a name is letters"),
        ("type('Named', (Ring,), {'name': 7})", "Named has the names (7,); a name is letters"),
        ("type('Needy', (Ring,), {'__init__': lambda self, radius, /, *, where: None})", "a default for radius, where"),
    ],
)
def test_what_is_no_component_is_an_error(install, what, reason):
    install("wrong", RING.replace("register(Ring)", f"register({what})"))
    assert reason in failure("wrong")
    assert "pca" in plugins.registry().names("laplacian")


def test_the_remains_of_an_uninstalled_plugin_break_nobody(install):
    path = install("remains", RING)
    (path / "remains-1.2.3.dist-info" / "METADATA").unlink()
    (path / "remains.py").unlink()
    importlib.invalidate_caches()
    plugins.registry.cache_clear()
    assert row("remains")["distribution"] == "unknown distribution"
    assert failure("remains") == "ModuleNotFoundError: No module named 'remains'"


# Names ----------------------------------------------------------------------------------------------------------------


def test_a_name_taken_by_two_distributions_is_an_error_only_when_asked_for(install, X):
    install("ring-a", RING)
    install("ring-b", RING, version="0.4")
    with pytest.raises(
        PluginError,
        match=r"laplacian 'circle' is registered 2 times, by ring-a 1\.2\.3 and ring-b 0\.4; uninstall one of them or",
    ):
        GESSVDD(kernel="linear", laplacian="circle").fit(X)
    rings = [row for row in available("laplacian") if row["name"] == "ring"]
    assert [row["distribution"] for row in rings] == ["ring-a", "ring-b"]
    assert all("is registered 2 times, by ring-a 1.2.3 and ring-b 0.4" in row["error"] for row in rings)
    GESSVDD(kernel="linear", laplacian="pca").fit(X)


def test_a_plugin_may_not_take_a_name_of_the_builtins(install, X):
    install("my-knn", RING.replace('("circle", "RING")', '("kNN",)'))
    with pytest.warns(match=r"^my-knn 1\.2\.3 registers the laplacian 'knn' too, a name of pyod-gessvdd's own, which"):
        assert GESSVDD(kernel="linear", laplacian="knn", n_components=2).fit(X).variant == "kNN-GR-max"
    rows = {row["distribution"]: row["error"] for row in available("laplacian") if row["name"] in ("knn", "ring")}
    assert rows == {
        "pyod-gessvdd": None,
        "my-knn": (
            "laplacian 'knn' of my-knn 1.2.3 has a name of pyod-gessvdd's own, which is used instead; "
            "it needs another name"
        ),
    }
    # The plugin's own name is still its own, and the default detector does not notice.
    GESSVDD(kernel="linear", laplacian="ring").fit(X)
    GESSVDD().fit(X)


def test_a_name_taken_twice_by_one_distribution_blames_that_one(install):
    install("twice", RING + "        register(type('Other', (Ring,), {'name': 'ring'}))\n")
    with pytest.raises(PluginError, match=r"by twice 1\.2\.3; it must give its components different names"):
        plugins.registry().find("laplacian", "ring")


def test_the_same_name_of_two_kinds_is_no_clash(install):
    install("stay", STAY.replace('aliases = "ST"', 'name = "pca"'))
    assert plugins.registry().find("updater", "pca").distribution == "stay"
    assert plugins.registry().find("laplacian", "pca").distribution == "pyod-gessvdd"


@pytest.mark.parametrize(
    ("kind", "name", "near"),
    [
        ("laplacian", "withn", "within"),
        ("updater", "gradeint", "gradient"),
        ("qp_backend", "frankwolfe", "frank_wolfe"),
        ("kernel", "polynomal", "polynomial"),
    ],
)
def test_an_unknown_name_lists_what_is_there_and_the_nearest(kind, name, near):
    known = ", ".join(plugins.registry().names(kind))
    with pytest.raises(UnknownComponentError) as caught:
        plugins.registry().find(kind, name)
    assert str(caught.value).startswith(f"unknown {kind} {name!r}, did you mean {near!r}? Installed: {known}")


def test_an_unknown_name_near_to_nothing_gets_no_guess():
    with pytest.raises(UnknownComponentError, match=r"^unknown updater 'xyzzy'\. Installed: gradient, "):
        plugins.registry().find("updater", "xyzzy")


@pytest.mark.parametrize("name", ["spectral_regression", "Spectral-Regression", "sr", "SR"])
def test_case_and_the_kind_of_dash_do_not_matter(name):
    assert plugins.registry().find("updater", name).component.name == "spectral_regression"


# PYOD_GESSVDD_PLUGINS -------------------------------------------------------------------------------------------------


@pytest.fixture
def two_installed(install, monkeypatch):
    """Two plugins, and a way to set the variable."""
    install("ring-graph", RING)
    install("stay", STAY)

    def choose(value):
        monkeypatch.setenv(plugins.PLUGINS_VARIABLE, value)
        plugins.registry.cache_clear()
        return {row["distribution"] for row in available()} - {"pyod-gessvdd"}

    return choose


@pytest.mark.parametrize("value", ["ring-graph", "Ring.Graph", "ring_graph", " ring-graph , "])
def test_the_variable_loads_only_the_plugins_that_it_names(two_installed, value):
    assert two_installed(value) == {"ring-graph"}
    assert "stay" not in sys.modules


def test_the_variable_takes_several_names(two_installed):
    assert two_installed("stay,ring-graph") == {"ring-graph", "stay"}


def test_the_variable_takes_entry_point_names(install, two_installed):
    path = install("two-in-one", RING)
    (path / "two_in_one-1.2.3.dist-info" / "entry_points.txt").write_text("[pyod_gessvdd]\ngraphs = two_in_one\n")
    assert two_installed("graphs") == {"two-in-one"}


def test_the_variable_loads_every_entry_point_of_a_distribution(install, two_installed):
    path = install("two-in-one", RING)
    (path / "other_module.py").write_text(dedent(SQUARES))
    (path / "two_in_one-1.2.3.dist-info" / "entry_points.txt").write_text(
        "[pyod_gessvdd]\nfirst = two_in_one\nsecond = other_module\n"
    )
    assert two_installed("two-in-one") == {"two-in-one"}
    names = {row["name"] for row in available() if row["distribution"] == "two-in-one"}
    assert names == {"ring", "squares"}


def test_an_empty_variable_leaves_the_builtins(two_installed, X):
    assert two_installed("") == set()
    GESSVDD(kernel="linear").fit(X)
    with pytest.raises(UnknownComponentError, match="unknown laplacian 'ring'"):
        GESSVDD(laplacian="ring").fit(X)


def test_a_plugin_that_the_variable_names_but_is_missing_is_reported(two_installed):
    assert two_installed("stay,not-there") == {"stay", ""}
    assert failure("not-there") == "PYOD_GESSVDD_PLUGINS names it, but it is not installed"
    with pytest.raises(UnknownComponentError, match="plugin 'not-there' failed to load: PYOD_GESSVDD_PLUGINS names it"):
        plugins.registry().find("laplacian", "far-knn")


@pytest.mark.parametrize("value", ["-ring-graph", " - Ring.Graph", "-ring_graph,-not-there"])
def test_a_minus_blocks_a_plugin_and_loads_the_others(two_installed, value):
    assert two_installed(value) == {"stay"}
    assert "ring_graph" not in sys.modules


def test_a_blocked_plugin_is_not_loaded_even_if_it_is_named(two_installed):
    assert two_installed("stay,ring-graph,-stay") == {"ring-graph"}


def test_the_builtins_cannot_be_blocked(two_installed):
    assert two_installed("-pyod-gessvdd,-builtin,-stay") == {"ring-graph"}
    assert "pca" in plugins.registry().names("laplacian")


# Fresh processes ------------------------------------------------------------------------------------------------------


def test_no_plugin_is_imported_before_a_component_is_asked_for_by_name(tmp_path):
    code = """
        import sys
        import numpy as np
        import pyod_gessvdd
        detector = pyod_gessvdd.GESSVDD(laplacian="ring")
        print("ring_graph" in sys.modules)
        detector.fit(np.random.default_rng(0).normal(size=(40, 3)))
        print("ring_graph" in sys.modules)
    """
    path = write_distribution(tmp_path, "ring-graph", RING)
    assert run(code, path=[path]).split() == ["False", "True"]


@pytest.fixture
def saved_models(install, tmp_path, X):
    """One saved model per kind of component, each fitted with a plugin's by name, their scores, and the plugins."""
    installed = [
        install(*plugin) for plugin in [("ring-graph", RING), ("stay", STAY), ("bare", BARE), ("squares", SQUARES)]
    ]
    models = {
        "laplacian": GESSVDD(kernel="linear", laplacian="ring(weight=2.0)"),
        "updater": GESSVDD(kernel="linear", updater="stay"),
        "qp_backend": GESSVDD(kernel="linear", qp_backend="bare-alpha"),
        "kernel": GESSVDD(kernel="squares"),
        "sum": GESSVDD(kernel="linear", laplacian="0.5*ring + 0.5*pca"),
    }
    for name, model in models.items():
        (tmp_path / f"{name}.pickle").write_bytes(pickle.dumps(model.fit(X)))
    np.save(tmp_path / "X.npy", X)
    return installed, {name: model.decision_function(X).tolist() for name, model in models.items()}


def test_a_saved_model_finds_its_plugin_or_says_which_is_missing(saved_models, tmp_path):
    code = f"""
        import json, pathlib, pickle
        import numpy as np
        from pyod_gessvdd.errors import MissingPluginError

        here = pathlib.Path({str(tmp_path)!r})
        X, found = np.load(here / "X.npy"), {{}}
        for path in here.glob("*.pickle"):
            try:
                found[path.stem] = pickle.loads(path.read_bytes()).decision_function(X).tolist()
            except MissingPluginError as error:
                found[path.stem] = str(error)
        print(json.dumps(found))
    """
    installed, scores = saved_models
    assert json.loads(run(code, path=installed)) == scores
    missing = json.loads(run(code))
    assert missing.keys() == scores.keys()
    expected = {
        "laplacian": "the laplacian 'ring' of ring-graph 1.2.3",
        "updater": "the updater 'stay' of stay 1.2.3",
        "qp_backend": "the qp_backend 'bare-alpha' of bare 1.2.3",
        "kernel": "the kernel 'squares' of squares 1.2.3",
        "sum": "the laplacian 'ring' of ring-graph 1.2.3",
    }
    for name, words in expected.items():
        assert words in missing[name]
        assert "install it" in missing[name]


# The version of the contract ------------------------------------------------------------------------------------------


def test_the_contract_has_a_version_that_is_public():
    assert pyod_gessvdd.CONTRACT == components.CONTRACT == 3


@pytest.mark.parametrize("declaration", ["", "contract = 1", "contract = 2", "contract = 3"])
def test_a_plugin_for_this_contract_or_an_older_one_or_without_a_word_about_it_is_loaded(install, declaration):
    install("ring-graph", RING + f"\n    {declaration}\n")
    assert row("ring")["error"] is None


def test_a_plugin_that_needs_a_newer_contract_is_not_loaded_and_says_what_to_upgrade(install):
    install("ring-graph", RING + "\n    contract = 4\n")
    version = importlib.metadata.version("pyod-gessvdd")
    needs = f"it needs contract 4, this pyod-gessvdd {version} has 3: upgrade pyod-gessvdd"
    assert failure("ring_graph") == f"PluginError: {needs}"
    with pytest.raises(
        UnknownComponentError, match=r"plugin 'ring_graph' of ring-graph 1\.2\.3 failed to load: "
    ) as error:
        GESSVDD(laplacian="ring").fit(np.eye(5))
    assert needs in str(error.value)


def test_hooks_of_a_newer_contract_do_not_hide_that_it_is_newer(install):
    code = """
        from pyod_gessvdd import hookimpl

        contract = 4

        @hookimpl
        def register_losses(register):
            pass
    """
    install("new-hooks", code)
    assert "it needs contract 4" in failure("new_hooks")


def test_a_component_that_needs_a_newer_contract_is_named(install):
    install("ring-graph", RING.replace('aliases = ("circle", "RING")', "contract = 4"))
    assert "PluginError: Ring needs contract 4, this pyod-gessvdd" in failure("ring_graph")


@pytest.mark.parametrize("declared", ["'2'", "0", "True", "1.5", "None"])
def test_a_contract_that_is_no_version_is_refused(install, declared):
    install("ring-graph", RING + f"\n    contract = {declared}\n")
    assert failure("ring_graph") == (f"PluginError: contract must be a whole number of at least 1, got {declared}")


# What an error can name -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mutual_knn", "Mutual-kNN", "mutual_knn(n_neighbors=7)", "0.5*mutual_knn + 0.5*pca"])
def test_an_unknown_name_of_one_of_our_plugins_says_which_to_install(name, X):
    with pytest.raises(UnknownComponentError) as caught:
        GESSVDD(laplacian=name).fit(X)
    assert " comes with pyod-gessvdd-graphs, which is not installed: pip install pyod-gessvdd-graphs" in str(
        caught.value
    )
    assert str(caught.value).casefold().replace("-", "_").count("'mutual_knn' comes with") == 1


def test_an_unknown_updater_is_not_blamed_on_a_package_of_graphs():
    with pytest.raises(UnknownComponentError) as caught:
        plugins.registry().find("updater", "mutual_knn")
    assert "pip install" not in str(caught.value)


def test_an_unknown_name_mentions_the_plugins_that_the_variable_leaves_out(two_installed):
    two_installed("stay")
    with pytest.raises(UnknownComponentError, match=r"; PYOD_GESSVDD_PLUGINS leaves out ring-graph$"):
        plugins.registry().find("laplacian", "ring")


def test_a_known_plugin_that_is_left_out_or_broken_is_not_to_be_installed(install, monkeypatch):
    install("pyod-gessvdd-graphs", "raise RuntimeError('broken')")
    for value, words in (("", "leaves out pyod-gessvdd-graphs"), ("pyod-gessvdd-graphs", "RuntimeError: broken")):
        monkeypatch.setenv(plugins.PLUGINS_VARIABLE, value)
        plugins.registry.cache_clear()
        with pytest.raises(UnknownComponentError, match=words) as caught:
            plugins.registry().find("laplacian", "heat")
        assert "pip install" not in str(caught.value)
