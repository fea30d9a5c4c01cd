"""From a fitted detector to JSON and arrays.

Plain values stay; everything else is an object with one key that says what it is: ``{"array": 3}``, ``{"tuple": […]}``,
``{"record": "Sphere", "fields": {…}}`` for the package's own value objects, and for a component its kind, its name, its
parameters and what :meth:`~pyod_gessvdd.components.contracts.Component.saved_state` returns.
"""

from __future__ import annotations

import dataclasses
import math
from types import FunctionType
from typing import Any

import numpy as np
import scipy.sparse as sp

from pyod_gessvdd.components.contracts import Component
from pyod_gessvdd.components.registry import KINDS, registry
from pyod_gessvdd.errors import ModelFileError
from pyod_gessvdd.feature_laplacians.given import GivenFeatureLaplacian
from pyod_gessvdd.kernels.algebra import InnerProduct, KernelProduct, KernelSum
from pyod_gessvdd.laplacians.given import GivenLaplacian
from pyod_gessvdd.laplacians.weighted_sum import WeightedSum

Array = np.ndarray

#: Components that have no name in the registry, because they are made from what a user passes.
UNNAMED: dict[str, type[Component]] = {
    "given": GivenLaplacian,
    "weighted_sum": WeightedSum,
    "given_feature_laplacian": GivenFeatureLaplacian,
    "kernel_sum": KernelSum,
    "kernel_product": KernelProduct,
    "inner_product": InnerProduct,
}


class Encoder:
    """Turns values into JSON, and collects the arrays and the plugins' components on the way.

    Attributes
    ----------
    arrays : list of ndarray
        What ``{"array": i}`` stands for.
    plugins : list of dict
        The components that are not this package's own: kind, name, distribution and version.
    """

    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self.plugins: list[dict[str, str]] = []
        self._numbers: dict[int, int] = {}

    def encode(self, value: Any, where: str) -> Any:
        """The JSON of a value.

        Parameters
        ----------
        value : object
            Numbers, strings, arrays, sparse matrices, lists, tuples, dicts, components, or the package's own objects.
        where : str
            What it is, for the error if it cannot be saved.
        """
        if isinstance(value, np.generic):
            return {"scalar": self.encode(np.array(value), where)}
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, list):
            return [self.encode(item, where) for item in value]
        if isinstance(value, tuple):
            return {"tuple": [self.encode(item, where) for item in value]}
        if isinstance(value, dict):
            return {"dict": [[self.encode(key, where), self.encode(item, where)] for key, item in value.items()]}
        if isinstance(value, slice):
            return {"slice": [self.encode(end, where) for end in (value.start, value.stop, value.step)]}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if sp.issparse(value):
            matrix = sp.csr_array(value)
            parts = (matrix.data, matrix.indices, matrix.indptr)
            return {"sparse": [self._array(part, where) for part in parts], "shape": list(matrix.shape)}
        if isinstance(value, np.random.RandomState):
            return {"random_state": self.encode(value.get_state(legacy=False), where)}
        if isinstance(value, Component):
            return self._component(value, where)
        if type(value).__module__.startswith("pyod_gessvdd.") and dataclasses.is_dataclass(value):
            fields = {
                field.name: self.encode(getattr(value, field.name), f"{where}.{field.name}")
                for field in dataclasses.fields(value)
            }
            return {"record": type(value).__name__, "fields": fields}
        if isinstance(value, FunctionType) and value.__module__ == "pyod_gessvdd.preprocessing":
            return {"function": value.__name__}
        raise ModelFileError(
            f"{where} is {value!r} of type {type(value).__name__}, which only a pickle can hold; "
            "save the model with pyod.utils.persistence.save instead"
        )

    def _array(self, array: Array, where: str) -> dict[str, Any]:
        if array.dtype.kind == "O" and array.ndim == 1 and all(isinstance(item, str) for item in array):
            return {"strings": array.tolist()}
        if array.dtype.kind not in "biuf":
            raise ModelFileError(f"{where} is an array of {array.dtype}, which a model file does not hold; use numbers")
        if id(array) not in self._numbers:
            self._numbers[id(array)] = len(self.arrays)
            self.arrays.append(array)
        return {"array": self._numbers[id(array)]}

    def _component(self, component: Component, where: str) -> dict[str, Any]:
        kind, name = self._registered(component, where)
        params = component.get_params(deep=False)
        return {
            "component": [kind, name],
            "params": {key: self.encode(item, f"{where}.{key}") for key, item in params.items()},
            "state": {key: self.encode(item, f"{where}.{key}") for key, item in component.saved_state().items()},
        }

    def _registered(self, component: Component, where: str) -> tuple[str, str]:
        """Kind and name, by which a reader finds the class; a plugin is noted."""
        for name, unnamed in UNNAMED.items():
            if type(component) is unnamed:
                return next(kind for kind, contract in KINDS.items() if issubclass(unnamed, contract)), name
        for entry in registry().registrations:
            if entry.component is type(component):
                if not entry.is_builtin:
                    note = {
                        "kind": entry.kind,
                        "name": entry.component.name,
                        "distribution": entry.distribution,
                        "version": entry.version,
                    }
                    self.plugins += [] if note in self.plugins else [note]
                return entry.kind, entry.component.name
        raise ModelFileError(
            f"{where} is a {type(component).__name__}, which no installed plugin registers, and a model file names its "
            "components; register it, or save the model with pyod.utils.persistence.save"
        )
