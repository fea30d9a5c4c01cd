"""Every package under ``plugins/``: built, installed, found, used, tested, uninstalled, and missed by name."""

from __future__ import annotations

import csv
import json
import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from pyod_gessvdd.components.known_plugins import KNOWN_PLUGINS, distribution_that_brings
from pyod_gessvdd.components.registry import key

pytestmark = pytest.mark.xdist_group("installs")

PACKAGES = {
    path.parent.name: path.parent for path in sorted((Path(__file__).parents[2] / "plugins").glob("*/pyproject.toml"))
}

#: Fits a detector with each component, given as [kind, name] pairs, and saves it.
FIT = """if True:
    import json, pathlib, pickle, sys
    import numpy as np
    from pyod_gessvdd import GESSVDD

    X = np.random.default_rng(0).normal(size=(80, 4))
    scores = {}
    for kind, name in json.loads(sys.argv[1]):
        parts = {"kernel": "linear", "n_components": 3, "random_state": 0, kind: name}
        detector = GESSVDD(**parts).fit(X)
        scores[name] = detector.decision_function(X[:5]).tolist()
        pathlib.Path(sys.argv[2], f"{kind}-{name}.pickle").write_bytes(pickle.dumps(detector))
    print(json.dumps(scores))
"""

#: Loads the saved detectors in another process, and fits new ones by name.
USE_AGAIN = """if True:
    import json, pathlib, pickle, sys
    import numpy as np
    from pyod_gessvdd import GESSVDD, available

    def said(action):
        try:
            return action()
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    X = np.random.default_rng(0).normal(size=(80, 4))
    answer = {"loaded": {}, "fitted": {}, "distributions": sorted({row["distribution"] for row in available()})}
    for kind, name in json.loads(sys.argv[1]):
        saved = pathlib.Path(sys.argv[2], f"{kind}-{name}.pickle").read_bytes()
        answer["loaded"][name] = said(lambda: pickle.loads(saved).decision_function(X[:5]).tolist())
        answer["fitted"][name] = said(lambda: GESSVDD(**{kind: name}).fit(X).decision_function(X[:5]).tolist())
    print(json.dumps(answer))
"""


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """The folder of the saved detectors."""
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def sources(copy_of):
    """A copy of each package's folder."""
    return {name: copy_of(folder) for name, folder in PACKAGES.items()}


@pytest.fixture(scope="module")
def installed(environment, workshop, sources):
    """All of them installed from their wheels; the rows of ``gessvdd plugins --json`` that are theirs, by package."""
    wheels = environment.wheels(list(sources.values()), workshop / "wheels")
    environment.install(*(f"{wheel}[test]" for wheel in wheels))
    rows = json.loads(environment.output("gessvdd", "plugins", "--json"))
    return {name: [row for row in rows if row["distribution"] == name] for name in PACKAGES}


@pytest.fixture(scope="module")
def components(installed):
    """What they bring, as JSON for a script."""
    return json.dumps([(row["kind"], row["name"]) for rows in installed.values() for row in rows])


@pytest.fixture(scope="module")
def scores(environment, components, models):
    """What a detector with each component gives its training rows."""
    return json.loads(environment.python(FIT, components, models))


@pytest.fixture(scope="module")
def with_them(environment, components, models, scores):
    """What another process says while they are installed."""
    return json.loads(environment.python(USE_AGAIN, components, models))


@pytest.fixture(scope="module")
def without_them(environment, components, models, scores):
    """What it says after they are uninstalled; the tests that use this are the last of the file."""
    environment.uninstall(*PACKAGES)
    return json.loads(environment.python(USE_AGAIN, components, models))


def test_there_are_packages_and_each_is_known_by_name():
    assert PACKAGES.keys() == KNOWN_PLUGINS.keys()


@pytest.mark.parametrize("name", PACKAGES)
def test_its_components_are_found(installed, name):
    assert installed[name]
    assert [row["error"] for row in installed[name]] == [None] * len(installed[name])


@pytest.mark.parametrize("name", PACKAGES)
def test_what_it_registers_is_what_an_error_knows_of_it(installed, name):
    names = [(row["kind"], key(spelling)) for row in installed[name] for spelling in (row["name"], *row["aliases"])]
    assert [pair for pair in names if distribution_that_brings(*pair) != name] == []
    for kind, patterns in KNOWN_PLUGINS[name].items():
        for pattern in patterns:
            assert [pair for pair in names if pair[0] == kind and fnmatchcase(pair[1], pattern)], pattern


@pytest.mark.parametrize("name", PACKAGES)
def test_a_detector_that_fits_with_each_of_them_is_saved_and_loads_elsewhere(installed, scores, with_them, name):
    for row in installed[name]:
        assert with_them["loaded"][row["name"]] == scores[row["name"]]


def test_a_comparison_puts_a_component_of_each_beside_ocsvm(environment, installed, tmp_path):
    first = {name: rows[0] for name, rows in installed.items()}
    detectors = ["ocsvm", *(f"gessvdd({row['kind']}={row['name']!r})" for row in first.values())]
    choice = [word for detector in detectors for word in ("--detectors", detector)]
    environment.output("gessvdd", "compare", "wine", *choice, "--seeds", "1", "--out", tmp_path / "run")
    with (tmp_path / "run" / "results.csv").open(encoding="utf-8", newline="") as file:
        results = list(csv.DictReader(file))
    assert len(results) == len(detectors)
    for row in results:
        assert row["status"] == "done", row
        # The largest class of wine is easy to tell from the others.
        assert float(row["roc_auc"]) > 0.8


@pytest.mark.parametrize("name", PACKAGES)
def test_its_own_tests_pass(environment, installed, sources, name):
    assert installed[name]
    told = environment.output("pytest", "-q", "-rs", "-p", "no:cacheprovider", cwd=sources[name])
    assert re.search(r"\d+ passed", told), told
    # Data that are not part of the project may be missing; nothing else is a reason to leave a test out.
    skipped = [line for line in told.splitlines() if line.startswith("SKIPPED")]
    assert [line for line in skipped if "set PYOD_GESSVDD_" not in line] == []


def test_nothing_of_them_is_left_after_they_are_uninstalled(without_them):
    assert without_them["distributions"] == ["pyod-gessvdd"]


@pytest.mark.parametrize("name", PACKAGES)
def test_a_saved_detector_names_the_package_that_is_missing(installed, without_them, name):
    for row in installed[name]:
        words = f"the {row['kind']} {row['name']!r} of {name} {row['version']}, which is not installed here; install it"
        assert words in without_them["loaded"][row["name"]]


@pytest.mark.parametrize("name", PACKAGES)
def test_a_component_asked_for_by_name_names_the_package_to_install(installed, without_them, name):
    for row in installed[name]:
        said = without_them["fitted"][row["name"]]
        assert said.startswith(f"UnknownComponentError: unknown {row['kind']} {row['name']!r}")
        assert f"comes with {name}, which is not installed: pip install {name}" in said
