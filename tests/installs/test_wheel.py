"""The wheel: two builds are the same bytes, it has a bill of materials, and an index would take it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from importlib.metadata import version
from importlib.util import find_spec

import pytest

pytestmark = pytest.mark.xdist_group("installs")

#: 2026-01-01: what a release sets to the date of its commit.
DATE = "1767225600"


@pytest.fixture(scope="module")
def wheels(environment, source_of, workshop):
    """Two wheels of the same sources, from different folders and with files of different age."""
    built = []
    for number, age in enumerate((0, 86_400)):
        source = source_of(f"build-{number}")
        for path in source.rglob("*"):
            os.utime(path, (1.7e9 + age, 1.7e9 + age))
        (workshop / f"wheel-{number}").mkdir()
        built += environment.wheels([source], workshop / f"wheel-{number}", SOURCE_DATE_EPOCH=DATE)
    return built


def test_two_builds_are_the_same_bytes(wheels):
    first, second = (path.read_bytes() for path in wheels)
    assert first == second


def test_the_wheel_has_a_bill_of_materials(wheels):
    with zipfile.ZipFile(wheels[0]) as archive:
        (place,) = (name for name in archive.namelist() if "/sboms/" in name)
        bill = json.loads(archive.read(place))
        metadata = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(metadata).decode().splitlines()
    assert place == f"pyod_gessvdd-{version('pyod-gessvdd')}.dist-info/sboms/pyod-gessvdd.cdx.json"  # PEP 770
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    component = bill["metadata"]["component"]
    assert component["purl"] == f"pkg:pypi/pyod-gessvdd@{version('pyod-gessvdd')}"
    assert component["licenses"] == [{"license": {"id": "BSD-2-Clause"}}]
    required = {line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: ")}
    assert {f"{each['name']}{each['properties'][0]['value']}" for each in bill["components"]} == {
        line for line in required if "extra ==" not in line
    }
    assert bill["dependencies"][0]["dependsOn"] == [each["bom-ref"] for each in bill["components"]]


@pytest.mark.skipif(find_spec("twine") is None, reason="twine, of the extra dev, is not installed")
def test_an_index_would_take_the_wheel(wheels):
    checked = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", str(wheels[0])],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
