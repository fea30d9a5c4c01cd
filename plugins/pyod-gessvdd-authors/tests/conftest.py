"""The tests need the plugin installed: they test that its entry point is found."""

from importlib.metadata import PackageNotFoundError, distribution

import pytest

DISTRIBUTION = "pyod-gessvdd-authors"

try:
    distribution(DISTRIBUTION)
except PackageNotFoundError:
    raise pytest.UsageError(
        f"{DISTRIBUTION} is not installed: run pip install -e plugins/{DISTRIBUTION} before its tests"
    ) from None
