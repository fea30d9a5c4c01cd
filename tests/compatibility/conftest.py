"""A series with a planted event and a table, which the packages' own containers are made from."""

from __future__ import annotations

import numpy as np
import pytest

#: The steps of the planted event.
EVENT = range(300, 306)


@pytest.fixture
def series():
    random = np.random.default_rng(0)
    values = np.sin(np.arange(400) / 8) + 0.1 * random.normal(size=400)
    values[list(EVENT)] += 2.5
    return values


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(200, 4))
