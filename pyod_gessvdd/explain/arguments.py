"""The arguments of explanations and pictures: what they stand for, or one sentence about what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray


def checked_index(ind: Any, n_rows: int) -> int:
    """The place of a training row, which may be counted from the end."""
    if not isinstance(ind, int | np.integer) or isinstance(ind, bool) or not -n_rows <= ind < n_rows:
        raise ValueError(f"ind must be the position of a training row, from 0 to {n_rows - 1}, got {ind!r}")
    return int(ind) % n_rows


def checked_indices(ind: Any, n_rows: int) -> Array:
    """The places of one training row or of several."""
    if np.ndim(ind) == 0:
        return np.array([checked_index(ind, n_rows)])
    if not len(ind):
        raise ValueError("ind must hold at least one training row, got none")
    return np.array([checked_index(i, n_rows) for i in ind])


def checked_columns(columns: Sequence[Any], names: list[str]) -> list[int]:
    """The places of the features that ``columns`` gives by place or by name."""
    if isinstance(columns, str) or not len(columns):
        raise ValueError(f"columns must be a list of features, by position or by name, got {columns!r}")
    places = []
    for column in columns:
        if isinstance(column, str):
            if column not in names:
                raise ValueError(f"columns names {column!r}, which is none of the features {', '.join(names[:10])}")
            places.append(names.index(column))
        elif isinstance(column, int | np.integer) and -len(names) <= column < len(names):
            places.append(int(column) % len(names))
        else:
            raise ValueError(f"columns must be features from 0 to {len(names) - 1} or their names, got {column!r}")
    return places


def checked_components(components: Any, n_coordinates: int) -> list[int]:
    """The two coordinates to draw, or the only one."""
    if n_coordinates == 1:
        return [0]
    pair = list(components) if isinstance(components, Sequence) else [components]
    good = [i for i in pair if isinstance(i, int | np.integer) and -n_coordinates <= i < n_coordinates]
    if len(pair) != 2 or len(good) != 2 or good[0] % n_coordinates == good[1] % n_coordinates:
        raise ValueError(
            f"components must be two different coordinates from 0 to {n_coordinates - 1}, got {components!r}"
        )
    return [int(i) % n_coordinates for i in good]
