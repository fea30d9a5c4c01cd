"""What the other tests of this folder rely on: the environment is a fresh one and has the wheel."""

from __future__ import annotations

import json
from importlib.metadata import version

import pytest

pytestmark = pytest.mark.xdist_group("installs")


def test_the_wheel_is_what_is_imported_and_what_the_metadata_tell_of(environment):
    code = """if True:
        import json, sys, pyod_gessvdd
        from importlib.metadata import distributions
        ours = [found for found in distributions() if found.name.startswith("pyod-gessvdd")]
        print(json.dumps([sys.prefix, pyod_gessvdd.__file__, [str(found.locate_file("")) for found in ours]]))
    """
    prefix, module, places = json.loads(environment.python(code))
    assert prefix == str(environment.home)
    assert module.startswith(f"{environment.home}/lib/")
    assert len(places) == 1
    assert places[0].startswith(f"{environment.home}/lib/")


def test_the_command_works_in_a_fresh_environment(environment):
    assert environment.output("gessvdd", "--version") == f"gessvdd, version {version('pyod-gessvdd')}\n"
    rows = json.loads(environment.output("gessvdd", "plugins", "--json"))
    assert {row["distribution"] for row in rows} == {"pyod-gessvdd"}


def test_nothing_that_is_installed_misses_what_it_needs(environment):
    done = environment.run("pip", "check")
    assert "pyod-gessvdd" not in done.stdout, done.stdout
