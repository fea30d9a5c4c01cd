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
def source_of(workshop):
    """A copy of what this project's wheel is made from, in a folder of that name."""

    def source_of(name):
        source = workshop / name
        source.mkdir()
        for file in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
            shutil.copy(ROOT / file, source)
        shutil.copytree(ROOT / "pyod_gessvdd", source / "pyod_gessvdd", ignore=REMAINS)
        return source

    return source_of


@pytest.fixture(scope="session")
def environment(workshop, source_of):
    """A fresh environment in which pyod-gessvdd is installed from its wheel."""
    source = source_of("pyod-gessvdd")
    environment = Environment(workshop / "environment")
    environment.install(*environment.wheels([source], workshop / "wheels"))
    return environment


@pytest.fixture(scope="session")
def copy_of(workshop):
    """A copy of a plugin's folder, which a build may leave its remains in."""

    def copy_of(folder):
        return Path(shutil.copytree(folder, workshop / folder.name, ignore=REMAINS))

    return copy_of
