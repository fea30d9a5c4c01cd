"""From a label column to 0 (normal) and 1 (outlier)."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyod_gessvdd.errors import TableError

#: So many labels are listed in a message at most.
LISTED = 12


def outlier_labels(raw: np.ndarray, normal: Any, where: str) -> np.ndarray:
    """0 for the normal rows and 1 for the others, from what a label column holds."""
    values = np.unique(raw)
    shown = ", ".join(str(value) for value in values[:LISTED]) + (" …" if len(values) > LISTED else "")
    if normal is None:
        if len(values) > 2 or not set(values.tolist()) <= {0, 1}:
            raise TableError(
                f"{where}: the labels are {shown}, not 0 (normal) and 1 (outlier); name the normal one with --normal"
            )
        return raw.astype(np.int8)
    is_normal = _equals(raw, normal)
    if not is_normal.any():
        raise TableError(f"{where}: no row has the label {str(normal)!r} to be normal; there are {shown}")
    return (~is_normal).astype(np.int8)


def _equals(raw: np.ndarray, value: Any) -> np.ndarray:
    """Where the labels equal the value, which may be written as text ("1" is 1.0)."""
    if raw.dtype.kind in "iuf":
        try:
            return raw == float(value)
        except (TypeError, ValueError):
            return np.zeros(len(raw), dtype=bool)
    return np.array([str(entry) == str(value) for entry in raw])
