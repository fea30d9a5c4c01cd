"""What ``gessvdd new-plugin`` writes installs, is found, and passes its own tests, as it is."""

from __future__ import annotations

import json

import pytest

from pyod_gessvdd.components.registry import KINDS

pytestmark = pytest.mark.xdist_group("installs")


@pytest.fixture(scope="module")
def packages(environment, workshop):
    """The folders of a package of each kind, written and installed in the fresh environment."""
    folders = {}
    for kind in KINDS:
        environment.output("gessvdd", "new-plugin", kind, f"first-{kind}", "--dir", workshop / "scaffolded")
        folders[kind] = workshop / "scaffolded" / f"pyod-gessvdd-first-{kind.replace('_', '-')}"
    environment.pip("install", "--quiet", "--no-build-isolation", *(f"{folder}[test]" for folder in folders.values()))
    yield folders
    environment.uninstall(*(folder.name for folder in folders.values()))


def test_the_components_are_found(environment, packages):
    rows = json.loads(environment.output("gessvdd", "plugins", "--json"))
    found = {row["kind"]: (row["name"], row["distribution"]) for row in rows if row["name"].startswith("first_")}
    assert found == {kind: (f"first_{kind}", folder.name) for kind, folder in packages.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_its_own_tests_pass(environment, packages, kind):
    told = environment.output("pytest", "-q", "-p", "no:cacheprovider", cwd=packages[kind])
    assert " passed" in told
    assert not [word for word in (" failed", " error", " skipped", " warning") if word in told], told
