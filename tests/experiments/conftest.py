"""One small real run for all tests that report on one, and a small data folder laid out as the paper's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.experiments.paper_data import write_heart
from tests.experiments.runs import real_run

VARIABLE = "PYOD_GESSVDD_DATA"


@pytest.fixture(scope="session")
def reported(tmp_path_factory):
    """A run with both settings, a failing detector, warnings, duplicates and a nasty name."""
    return real_run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory):
    """A folder with a small set in the place of Heart."""
    return write_heart(tmp_path_factory.mktemp("data"))


@pytest.fixture
def real_data():
    """The folder of the paper's own data sets."""
    folder = os.environ.get(VARIABLE)
    if not folder or not (Path(folder) / "paper").is_dir():
        pytest.skip(f"set {VARIABLE} to the folder that holds paper/ and mnist.npz")
    return Path(folder)
