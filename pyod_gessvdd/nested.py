"""Components as parameters: ``laplacian__n_neighbors`` for names too, and models that name a plugin they miss."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from pyod_gessvdd.components import Component
from pyod_gessvdd.errors import MissingPluginError, PluginError, SpecError, UnknownComponentError
from pyod_gessvdd.plugins import registry
from pyod_gessvdd.specs import resolve


class NestedComponents(BaseEstimator):
    """A mixin for estimators some of whose parameters are components, given by name, spec string or instance."""

    _component_parameters: ClassVar[tuple[str, ...]] = ()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; with ``deep`` also those of the components, given by name or not."""
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep:
            for name in self._component_parameters:
                if isinstance(params[name], str):
                    params |= {f"{name}__{key}": value for key, value in self._params_of(name).items()}
        return params

    def set_params(self, **params: Any) -> NestedComponents:
        """Set parameters; a nested one turns a name into the component that it stands for."""
        super().set_params(**{name: value for name, value in params.items() if "__" not in name})
        nested = {name: value for name, value in params.items() if "__" in name}
        for name in {key.partition("__")[0] for key in nested} & set(self._component_parameters):
            setattr(self, name, resolve(name, getattr(self, name)))
        super().set_params(**nested)
        return self

    def _params_of(self, name: str) -> dict[str, Any]:
        try:
            return resolve(name, getattr(self, name)).get_params(deep=True)
        except (UnknownComponentError, SpecError, PluginError):
            return {}  # fit will say what is wrong with the name; listing parameters is not the place

    # Saving and loading --------------------------------------------------------------------------------------------

    def _remember_plugins(self, *components: Component) -> None:
        """Note which foreign components, by name, this model was fitted with."""
        own = __package__ + "."
        self.plugins_ = [
            {
                "kind": entry.kind,
                "name": entry.component.name,
                "distribution": entry.distribution,
                "version": entry.version,
            }
            for entry in registry().registrations
            for component in components
            if type(component) is entry.component and not entry.component.__module__.startswith(own)
        ]

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: _Packed.of(value, name) if isinstance(value, Component) and _is_foreign(value) else value
            for name, value in super().__getstate__().items()
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        for plugin in state.get("plugins_", ()):
            try:
                registry().find(plugin["kind"], plugin["name"])
            except (UnknownComponentError, PluginError) as error:
                raise MissingPluginError(
                    f"this model was fitted with the {plugin['kind']} {plugin['name']!r} of "
                    f"{plugin['distribution']} {plugin['version']}, which is not installed here; "
                    "install it to load the model"
                ) from error
        unpacked = {name: value.unpack() if isinstance(value, _Packed) else value for name, value in state.items()}
        super().__setstate__(unpacked)


@dataclass(frozen=True)
class _Packed:
    """A foreign component inside a saved model: unpickled late, so that a missing module gets a sentence."""

    parameter: str
    component: str
    payload: bytes

    @classmethod
    def of(cls, component: Component, parameter: str) -> _Packed:
        kind = type(component)
        return cls(parameter, f"{kind.__module__}.{kind.__qualname__}", pickle.dumps(component))

    def unpack(self) -> Component:
        try:
            return pickle.loads(self.payload)
        except (ImportError, AttributeError) as error:
            raise MissingPluginError(
                f"this model uses {self.component} as its {self.parameter.rstrip('_')}, which cannot be imported here "
                f"({error}); install the package that brings it to load the model"
            ) from error


def _is_foreign(component: Component) -> bool:
    """Whether the component, or one inside it, comes from outside this package."""
    parts = [component, *component.get_params(deep=True).values()]
    flat = [item for part in parts for item in (part if isinstance(part, list | tuple) else [part])]
    own = __package__ + "."
    return any(isinstance(item, Component) and not type(item).__module__.startswith(own) for item in flat)
