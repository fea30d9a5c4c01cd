"""Components as parameters, given by name or not: ``laplacian__n_neighbors``, and the values that they ask for."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.base import clone

from pyod_gessvdd.components.contracts import Component
from pyod_gessvdd.components.persistence import RemembersPlugins
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.errors import PluginError, SpecError, UnknownComponentError


class NestedComponents(RemembersPlugins):
    """A mixin for estimators some of whose parameters are components, given by name, spec string or instance."""

    _component_parameters: ClassVar[tuple[str, ...]] = ()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; with ``deep`` also those of the components, given by name or not."""
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep:
            for name in self._component_parameters:
                if isinstance(params.get(name), str):
                    params |= {f"{name}__{key}": value for key, value in self._params_of(name).items()}
        return params

    def set_params(self, **params: Any) -> NestedComponents:
        """Set parameters; a nested one turns a name into the component that it stands for."""
        super().set_params(**{name: value for name, value in params.items() if "__" not in name})
        nested = {name: value for name, value in params.items() if "__" in name}
        ours = set(self._component_parameters) & set(self._get_param_names())
        for name in {key.partition("__")[0] for key in nested} & ours:
            setattr(self, name, resolve(name, getattr(self, name)))
        super().set_params(**nested)
        return self

    def _params_of(self, name: str) -> dict[str, Any]:
        try:
            return resolve(name, getattr(self, name)).get_params(deep=True)
        except (UnknownComponentError, SpecError, PluginError):
            return {}  # fit will say what is wrong with the name; listing parameters is not the place

    def _component(self, kind: str, inherited: dict[str, Any]) -> Any:
        """A fresh component; what it asks for (:attr:`Component.inherits`) and has not been given comes from us."""
        component = self._fresh(kind, inherited[kind])
        component.inherit(inherited)
        return component

    @staticmethod
    def _fresh(kind: str, given: Any) -> Any:
        """A component that is nobody else's, as it was given."""
        component: Component = resolve(kind, given)
        return clone(component) if component is given else component
