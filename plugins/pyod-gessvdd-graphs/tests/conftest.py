"""The tests need the plugin installed: what they test is that its entry point is found."""

from importlib.metadata import PackageNotFoundError, distribution

import numpy as np
import pytest

DISTRIBUTION = "pyod-gessvdd-graphs"

try:
    distribution(DISTRIBUTION)
except PackageNotFoundError:
    raise pytest.UsageError(
        f"{DISTRIBUTION} is not installed: run pip install -e plugins/{DISTRIBUTION} before its tests"
    ) from None


@pytest.fixture
def Phi():
    """Three groups of different density, and one sample far off; no two distances are equal."""
    random = np.random.default_rng(7)
    groups = [
        random.normal(scale=scale, size=(20, 3)) + shift for scale, shift in ((0.3, 0.0), (1.0, 6.0), (2.0, -9.0))
    ]
    return np.vstack([*groups, [[30.0, -30.0, 5.0]]])
