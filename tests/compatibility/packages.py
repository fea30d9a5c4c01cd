"""The packages that users have beside this one, imported for real.

``make compatibility`` installs them all in one environment and sets the variable below there; in other environments a
test whose package is missing is skipped by name.
"""

from __future__ import annotations

import importlib
import os
from types import ModuleType

import pytest

#: Where it is set nothing may be missing, so that no test is skipped everywhere.
ALL_INSTALLED = "PYOD_GESSVDD_ALL_PACKAGES"


def real(module: str) -> ModuleType:
    """The module; a missing one skips the test, unless all packages are said to be installed."""
    if os.environ.get(ALL_INSTALLED):
        return importlib.import_module(module)
    return pytest.importorskip(
        module,
        reason=f"{module.partition('.')[0]} is not installed; make compatibility runs this",
        exc_type=ImportError,
    )
