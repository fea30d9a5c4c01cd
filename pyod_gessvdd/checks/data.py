"""The data that the checks use: small, with no two distances equal, and the same each time."""

from __future__ import annotations

import numpy as np


def rows(seed: int, n_rows: int = 60, n_columns: int = 4) -> np.ndarray:
    """Rows with mean zero around three centres, with columns of different spread."""
    random = np.random.default_rng(seed)
    centres = 2.0 * random.normal(size=(3, n_columns))
    X = random.normal(size=(n_rows, n_columns)) + centres[random.integers(3, size=n_rows)]
    X *= np.linspace(0.5, 1.5, n_columns)
    return X - X.mean(axis=0)
