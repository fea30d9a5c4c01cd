"""One small real run for all tests that report on one."""

from __future__ import annotations

import pytest

from tests.compare.runs import real_run


@pytest.fixture(scope="session")
def reported(tmp_path_factory):
    """A run with both settings, a failing detector, warnings, duplicates and a nasty name."""
    return real_run(tmp_path_factory.mktemp("run"))
