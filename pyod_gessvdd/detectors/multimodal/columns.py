"""From the user's ``modalities`` and ``decision`` to column indices and a rule; all errors about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

Array = np.ndarray

#: How the scores of the modalities become one: inside in all, in any, on average.
RULES: dict[str, Callable[..., Array]] = {"and": np.max, "or": np.min, "mean": np.mean}
#: Column names listed in an error.
MAX_LISTED = 10


def resolve_modalities(
    modalities: Any, n_columns: int, column_names: Iterable[str] | None
) -> tuple[list[Any], list[Array]]:
    """The names of the modalities (their positions if they have none) and the column indices of each.

    Parameters
    ----------
    modalities : None, list or dict
        See :class:`~pyod_gessvdd.MSSVDD`.
    n_columns : int
        D, the number of columns of X.
    column_names : iterable of str or None
        Their names, if X is a DataFrame.
    """
    labelled = _labelled(modalities)
    names = None if column_names is None else list(column_names)
    columns = [_indices(label, group, n_columns, names) for label, group in labelled]
    owner: dict[int, Any] = {}
    for (label, _), group in zip(labelled, columns, strict=True):
        for column in map(int, group):
            if column in owner:
                raise ValueError(
                    f"modalities must not overlap, got column {column if names is None else names[column]!r} "
                    f"in modality {owner[column]!r} and again in modality {label!r}"
                )
            owner[column] = label
    return [label for label, _ in labelled], columns


def resolve_decision(decision: Any, names: list[Any]) -> str | int:
    """One of :data:`RULES`, or the position of the modality that decides alone."""
    if isinstance(decision, str):
        if decision in RULES:
            return decision
        if decision in names:
            return names.index(decision)
    elif isinstance(decision, Integral) and not isinstance(decision, bool) and 0 <= int(decision) < len(names):
        return int(decision)
    named = [name for name in names if isinstance(name, str)]
    raise ValueError(
        f"decision must be {', '.join(map(repr, RULES))}, the position of a modality from 0 to {len(names) - 1}"
        f"{' or its name (' + ', '.join(map(repr, named)) + ')' if named else ''}, got {decision!r}"
    )


def per_modality(name: str, value: Any, modalities: list[Any]) -> list[Any]:
    """A parameter's value for each modality: from a list, a dict by the modalities' names, or the same for all.

    Parameters
    ----------
    name : str
        The parameter, for messages.
    value : Any
        What the user gave.
    modalities : list
        Their names.
    """
    if isinstance(value, Mapping):
        if set(value) != set(modalities):
            raise ValueError(
                f"{name} must have a value for each of the modalities {', '.join(map(repr, modalities))}, got "
                f"{', '.join(map(repr, value)) or 'none'}"
            )
        return [value[modality] for modality in modalities]
    if isinstance(value, list | tuple):
        if len(value) != len(modalities):
            raise ValueError(f"{name} must have a value for each of the {len(modalities)} modalities, got {len(value)}")
        return list(value)
    return [value] * len(modalities)


def _labelled(modalities: Any) -> list[tuple[Any, Any]]:
    if modalities is None:
        return [(0, slice(None))]
    if isinstance(modalities, Mapping):
        labelled = list(modalities.items())
        for name, _ in labelled:
            if not isinstance(name, str):
                raise ValueError(f"the name of a modality must be a string, got {name!r}")
            if name in RULES:
                raise ValueError(f"a modality must not be named like a decision rule, got {name!r}")
    elif isinstance(modalities, list | tuple):
        labelled = list(enumerate(modalities))
    else:
        raise ValueError(f"modalities must be None, a list of columns per modality or a dict, got {modalities!r}")
    if not labelled:
        raise ValueError(f"modalities must hold at least one modality, got {modalities!r}")
    return labelled


def _indices(label: Any, group: Any, n_columns: int, names: list[str] | None) -> Array:
    if isinstance(group, slice):
        indices = _of_slice(label, group, n_columns)
    elif isinstance(group, str | Mapping) or not isinstance(group, Iterable):
        raise ValueError(f"modality {label!r} must be a list of column indices or names, or a slice, got {group!r}")
    else:
        indices = [_index(label, column, n_columns, names) for column in group]
    if not indices:
        raise ValueError(f"modality {label!r} must hold at least one column, got {group!r}")
    return np.array(indices)


def _of_slice(label: Any, group: slice, n_columns: int) -> list[int]:
    for end in (group.start, group.stop):
        if isinstance(end, str):
            raise ValueError(f"modality {label!r} must be a slice of indices, got {group!r}; list the names instead")
        # Python truncates a slice that reaches too far; here it means that the columns are not what the user thinks.
        if end is not None and not -n_columns <= end <= n_columns:
            raise ValueError(f"modality {label!r} must stay within the {n_columns} columns of X, got {group!r}")
    return list(range(*group.indices(n_columns)))


def _index(label: Any, column: Any, n_columns: int, names: list[str] | None) -> int:
    if isinstance(column, str):
        if names is None:
            raise ValueError(
                f"modality {label!r} names the column {column!r}, but X is not a DataFrame with names; give its index"
            )
        if names.count(column) != 1:
            listed = ", ".join(map(repr, names[:MAX_LISTED])) + (", …" if len(names) > MAX_LISTED else "")
            how_often = "does not have" if column not in names else "has more than once"
            raise ValueError(
                f"modality {label!r} names the column {column!r}, which X {how_often}; its columns are {listed}"
            )
        return names.index(column)
    if not isinstance(column, Integral) or isinstance(column, bool | np.bool_):
        raise ValueError(f"modality {label!r} must list column indices or names, got {column!r}")
    if not -n_columns <= int(column) < n_columns:
        raise ValueError(f"modality {label!r} must stay within the {n_columns} columns of X, got column {column}")
    return int(column) % n_columns
