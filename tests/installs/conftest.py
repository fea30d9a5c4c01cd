"""One fresh environment for all tests of this folder, with this project's wheel in it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.installs.environment import Environment

ROOT = Path(__file__).parents[2]

#: What a build or a run of the tests leaves in a source folder.
REMAINS = shutil.ignore_patterns("build", "dist", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis")


@pytest.fixture(scope="session")
def workshop(tmp_path_factory):
    """A folder for sources and wheels."""
    folder = tmp_path_factory.mktemp("installs")
    (folder / "wheels").mkdir()
    return folder


@pytest.fixture(scope="session")
def environment(workshop):
    """A fresh environment in which pyod-gessvdd is installed from its wheel."""
    source = workshop / "pyod-gessvdd"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "pyod_gessvdd", source / "pyod_gessvdd", ignore=REMAINS)
    environment = Environment(workshop / "environment")
    environment.install(*environment.wheels([source], workshop / "wheels"))
    return environment


@pytest.fixture(scope="session")
def copy_of(workshop):
    """A copy of a plugin's folder, which a build may leave its remains in."""

    def copy_of(folder):
        return Path(shutil.copytree(folder, workshop / folder.name, ignore=REMAINS))

    return copy_of
