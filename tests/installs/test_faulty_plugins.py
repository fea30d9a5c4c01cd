"""Distributions that are installed and not as they should be: reported, and nobody else's problem."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest

from pyod_gessvdd import CONTRACT

pytestmark = pytest.mark.xdist_group("installs")

PROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "{version}"
dependencies = ["pyod-gessvdd"]

[project.entry-points.pyod_gessvdd]
{module} = "{module}"

[tool.setuptools]
py-modules = ["{module}"]
"""

TWIN = """\
from pyod_gessvdd import Graph, Laplacian, hookimpl


class Twin(Laplacian):
    \"\"\"The identity.\"\"\"

    def build(self, Phi, random_state):
        return Graph.identity(len(Phi))


@hookimpl
def register_laplacians(register):
    register(Twin)
"""

#: Distribution → version and code of its one module.
DISTRIBUTIONS = {
    "twin-one": ("1.0", TWIN),
    "twin-two": ("2.0", TWIN),
    "import-fails": ("0.1", "import a_module_that_nobody_has\n"),
    "misspelled-hook": ("0.2", TWIN.replace("register_laplacians", "register_laplacian")),
    "from-the-future": ("0.3", f"contract = {CONTRACT + 1}\n{TWIN.replace('Twin', 'Future')}"),
}


@pytest.fixture(scope="module")
def faulty(environment, workshop):
    """The environment with all of them installed."""
    sources = []
    for name, (version, code) in DISTRIBUTIONS.items():
        module = name.replace("-", "_")
        source = workshop / name
        source.mkdir()
        (source / "pyproject.toml").write_text(PROJECT.format(name=name, version=version, module=module))
        (source / f"{module}.py").write_text(code)
        sources.append(source)
    environment.install(*environment.wheels(sources, workshop / "wheels"))
    yield environment
    environment.uninstall(*DISTRIBUTIONS)


@pytest.fixture(scope="module")
def rows(faulty):
    """What ``gessvdd plugins --json`` tells, which says by its exit code that not all is well."""
    done = faulty.run("gessvdd", "plugins", "--json")
    assert (done.returncode, done.stderr) == (1, "")
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def said(faulty):
    """What a detector says that asks for each of the names."""
    code = """if True:
        import json
        import numpy as np
        from pyod_gessvdd import GESSVDD

        X, said = np.random.default_rng(0).normal(size=(40, 3)), {}
        for name in ("pca", "twin", "future"):
            try:
                GESSVDD(kernel="linear", laplacian=name, random_state=0).fit(X)
            except Exception as error:
                said[name] = f"{type(error).__name__}: {error}"
        print(json.dumps(said))
    """
    return json.loads(faulty.python(dedent(code)))


@pytest.mark.parametrize(
    ("distribution", "reason"),
    [
        ("import-fails", "ModuleNotFoundError: No module named 'a_module_that_nobody_has'"),
        ("misspelled-hook", "PluginValidationError: unknown hook 'register_laplacian'"),
        ("from-the-future", f"PluginError: it needs contract {CONTRACT + 1}, this pyod-gessvdd "),
    ],
)
def test_a_plugin_that_cannot_be_used_is_listed_with_the_reason(rows, distribution, reason):
    (row,) = [row for row in rows if row["distribution"] == distribution]
    assert (row["kind"], row["version"]) == ("plugin", DISTRIBUTIONS[distribution][0])
    assert row["error"].startswith(reason)


def test_a_plugin_of_a_newer_contract_says_what_to_upgrade(rows):
    (row,) = [row for row in rows if row["distribution"] == "from-the-future"]
    assert row["error"].endswith(f"has {CONTRACT}: upgrade pyod-gessvdd")


def test_the_builtins_do_not_suffer(said):
    assert "pca" not in said


def test_two_distributions_of_one_name_are_both_named(rows, said):
    both = "laplacian 'twin' is registered 2 times, by twin-one 1.0 and twin-two 2.0"
    assert said["twin"].startswith(f"PluginError: {both}; uninstall one of them or set PYOD_GESSVDD_PLUGINS")
    twins = [row for row in rows if row["name"] == "twin"]
    assert [row["distribution"] for row in twins] == ["twin-one", "twin-two"]
    assert all(row["error"].startswith(both) for row in twins)


def test_an_unknown_name_tells_of_every_plugin_that_failed(said):
    assert said["future"].startswith("UnknownComponentError: unknown laplacian 'future'")
    for name in ("import-fails 0.1", "misspelled-hook 0.2", "from-the-future 0.3"):
        assert f" of {name} failed to load: " in said["future"]


def test_the_faulty_ones_can_be_blocked_without_uninstalling_them(faulty):
    blocked = "-twin-two,-import-fails,-misspelled-hook,-from-the-future"
    rows = json.loads(faulty.output("gessvdd", "plugins", "--json", PYOD_GESSVDD_PLUGINS=blocked))
    (twin,) = [row for row in rows if row["name"] == "twin"]
    assert (twin["distribution"], twin["error"]) == ("twin-one", None)
