"""Saving and loading models: which plugins one was fitted with, and a sentence for the one that is missing."""

from __future__ import annotations

import dataclasses
import pickle
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from sklearn.base import BaseEstimator

from pyod_gessvdd.components.contracts import Component
from pyod_gessvdd.components.registry import registry
from pyod_gessvdd.errors import MissingPluginError, PluginError, UnknownComponentError

#: Packages that are there wherever this one is.
ALWAYS_THERE = (__name__.partition(".")[0], "numpy", "scipy", "sklearn", "pyod")
#: What the foreign object inside an attribute is, where the attribute's own name does not say it.
ROLES = {"description_": "kernel", "model_": "kernel"}


def check_plugins(plugins: Iterable[dict[str, str]]) -> None:
    """A sentence for the first plugin that a model needs and that is not installed here."""
    for plugin in plugins:
        try:
            registry().find(plugin["kind"], plugin["name"])
        except (UnknownComponentError, PluginError) as error:
            raise MissingPluginError(
                f"this model was fitted with the {plugin['kind']} {plugin['name']!r} of {plugin['distribution']} "
                f"{plugin['version']}, which is not installed here; install it to load the model"
            ) from error


class RemembersPlugins(BaseEstimator):
    """A mixin for estimators whose saved models name the plugin that they miss."""

    def _remember_plugins(self, *components: Component) -> None:
        """Note which foreign components, registered by a plugin, this model was fitted with."""
        used = {type(part) for component in components for part in _parts(component)}
        if all(map(_is_own, used)):
            self.plugins_: list[dict[str, str]] = []
            return
        self.plugins_ = [
            {
                "kind": entry.kind,
                "name": entry.component.name,
                "distribution": entry.distribution,
                "version": entry.version,
            }
            for entry in registry().registrations
            if entry.component in used and not _is_own(entry.component)
        ]

    def __getstate__(self) -> dict[str, Any]:
        return {name: _Packed.if_foreign(value, name) for name, value in super().__getstate__().items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        check_plugins(state.get("plugins_", ()))
        unpacked = {name: value.unpack() if isinstance(value, _Packed) else value for name, value in state.items()}
        super().__setstate__(unpacked)


@dataclass(frozen=True)
class _Packed:
    """A foreign object inside a saved model: unpickled late, so that a missing module gets a sentence."""

    parameter: str
    foreign: str
    payload: bytes

    @classmethod
    def if_foreign(cls, value: Any, parameter: str) -> Any:
        """The value itself, or packed if something in it comes from another package."""
        foreign = [source for source in map(_source, _parts(value)) if not _is_own(source)]
        # What lives in __main__ or in a function is left to the pickler: cloudpickle, which joblib's workers use, sends
        # it by value, and pickle has its own message.
        if not foreign or any(source.__module__ == "__main__" or "<" in source.__qualname__ for source in foreign):
            return value
        try:
            return cls(parameter, f"{foreign[0].__module__}.{foreign[0].__qualname__}", pickle.dumps(value))
        except (pickle.PicklingError, TypeError, AttributeError):
            return value

    def unpack(self) -> Any:
        try:
            return pickle.loads(self.payload)
        except (ImportError, AttributeError) as error:
            role = ROLES.get(self.parameter, self.parameter.rstrip("_"))
            raise MissingPluginError(
                f"this model uses {self.foreign} as its {role}, which cannot be imported here "
                f"({error}); install the package that provides it to load the model"
            ) from error


def _parts(value: Any) -> list[Any]:
    """What a value consists of: itself, the items of a list, the parameters of an estimator, the fields of a record."""
    if value is None or isinstance(value, float | int | str):
        return [value]
    if isinstance(value, list | tuple):
        return [part for item in value for part in _parts(item)]
    if isinstance(value, BaseEstimator):
        return [value, *(part for inner in value.get_params(deep=False).values() for part in _parts(inner))]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        inside = (getattr(value, field.name) for field in dataclasses.fields(value))
        return [value, *(part for inner in inside for part in _parts(inner))]
    return [value]


def _source(part: Any) -> Any:
    """The class or function that has to be imported to load ``part``."""
    return part if isinstance(part, FunctionType) else type(part)


def _is_own(source: Any) -> bool:
    """Whether a class or function comes from this package or from what this package needs anyway."""
    package = str(source.__module__).partition(".")[0]
    return package in ALWAYS_THERE or package in sys.stdlib_module_names
