"""From JSON and arrays back to objects: of types that are listed here or passed in, and of components by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from pyod_gessvdd.components.registry import KINDS, registry
from pyod_gessvdd.graph import check_indices
from pyod_gessvdd.preprocessing import as_it_is, signed_log
from pyod_gessvdd.saving.encoding import UNNAMED

Array = np.ndarray

#: The functions that a scaling may have.
FUNCTIONS: dict[str, Callable[[Array], Array]] = {"as_it_is": as_it_is, "signed_log": signed_log}


class Decoder:
    """Turns JSON back into values.

    Parameters
    ----------
    arrays : list of ndarray
        Those of the file.
    records : dict
        The value objects that may be made, by name.
    """

    def __init__(self, arrays: list[Array], records: dict[str, type]) -> None:
        self.arrays = arrays
        self.records = records

    def decode(self, value: Any) -> Any:
        """The value that a piece of JSON stands for; anything unknown is a ``ValueError``."""
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        tag = next(iter(value), None)
        read = getattr(self, f"_{tag}", None) if tag in TAGS else None
        if read is None:
            raise ValueError(f"unknown kind of value {tag!r}")
        return read(value)

    def _array(self, value: dict[str, Any]) -> Array:
        number = value["array"]
        if not isinstance(number, int) or not 0 <= number < len(self.arrays):
            raise ValueError(f"there is no array {number!r}")
        return self.arrays[number]

    def _scalar(self, value: dict[str, Any]) -> Any:
        return self.decode(value["scalar"])[()]

    def _strings(self, value: dict[str, Any]) -> Array:
        if not all(isinstance(item, str) for item in value["strings"]):
            raise ValueError("strings must be strings")
        return np.array(value["strings"], dtype=object)

    def _float(self, value: dict[str, Any]) -> float:
        return {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}[value["float"]]

    def _tuple(self, value: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(self.decode(item) for item in value["tuple"])

    def _dict(self, value: dict[str, Any]) -> dict[Any, Any]:
        return {self.decode(key): self.decode(item) for key, item in value["dict"]}

    def _slice(self, value: dict[str, Any]) -> slice:
        return slice(*(self.decode(end) for end in value["slice"]))

    def _sparse(self, value: dict[str, Any]) -> Any:
        rows, columns = value["shape"]
        data, indices, indptr = (self.decode(part) for part in value["sparse"])
        if len(indptr) != rows + 1:
            raise ValueError(f"a sparse matrix of {rows} rows with {len(indptr)} row pointers")
        matrix = sp.csr_array((data, indices, indptr), shape=(rows, columns))
        check_indices(matrix)
        return matrix

    def _random_state(self, value: dict[str, Any]) -> np.random.RandomState:
        random = np.random.RandomState()
        random.set_state(self.decode(value["random_state"]))
        return random

    def _function(self, value: dict[str, Any]) -> Callable[[Array], Array]:
        return FUNCTIONS[value["function"]]

    def _record(self, value: dict[str, Any]) -> Any:
        return self.records[value["record"]](**{name: self.decode(item) for name, item in value["fields"].items()})

    def _component(self, value: dict[str, Any]) -> Any:
        kind, name = value["component"]
        if kind not in KINDS:
            raise ValueError(f"unknown kind of component {kind!r}")
        cls = UNNAMED[name] if name in UNNAMED else registry().find(kind, name).component
        component = cls(**{key: self.decode(item) for key, item in value["params"].items()})
        state = {key: self.decode(item) for key, item in value["state"].items()}
        check_names(cls, state)
        component.restore_state(state)
        return component


#: What an object's first key may be.
TAGS = frozenset(
    ("array", "scalar", "strings", "float", "tuple", "dict", "slice", "sparse", "random_state", "function", "record")
) | {"component"}


def check_names(cls: type, attributes: dict[str, Any]) -> None:
    """Attributes that a file sets must be attributes: no method or property of the class is replaced."""
    for name in attributes:
        if not name.isidentifier() or name.startswith("__"):
            raise ValueError(f"{name!r} is not an attribute")
        there = getattr(cls, name, None)
        if callable(there) or isinstance(there, property):
            raise ValueError(f"{name!r} is a method of {cls.__name__}")
