"""Discovery: which components are installed, who brought them, and what failed to load.

Discovery is lazy (the first component asked for by name triggers it) and guarded entry point by entry point, so that
one broken plugin breaks nobody else.
"""

from __future__ import annotations

import difflib
import os
import re
import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from importlib.metadata import version as installed_version
from inspect import Parameter, isabstract, isclass, signature
from typing import Any

import pluggy

from pyod_gessvdd.components import hookspecs
from pyod_gessvdd.components.contracts import (
    CONTRACT,
    Component,
    FeatureLaplacian,
    Kernel,
    Laplacian,
    QPBackend,
    Updater,
)
from pyod_gessvdd.components.known_plugins import distribution_that_brings
from pyod_gessvdd.errors import PluginError, UnknownComponentError, warn

#: Loads only the named distributions or entry points (comma-separated), or, with a minus before each name, all others;
#: the built-ins are always there.
PLUGINS_VARIABLE = "PYOD_GESSVDD_PLUGINS"
BUILTIN_DISTRIBUTION = "pyod-gessvdd"

#: The kinds are the detector's parameter names; each has its contract and its hook.
KINDS: dict[str, type[Component]] = {
    "laplacian": Laplacian,
    "updater": Updater,
    "qp_backend": QPBackend,
    "kernel": Kernel,
    "feature_laplacian": FeatureLaplacian,
}

#: What experiments take from plugins: records and classes with a ``name``, asked for by the first experiment.
EXTENSIONS = ("metric", "protocol")

#: What a name or alias may be; anything else in a component parameter is a spec string.
NAME = re.compile(r"[\w-]+")


@dataclass(frozen=True)
class Registration:
    """A component class and the distribution that brought it."""

    kind: str
    component: type[Component]
    distribution: str
    version: str

    @property
    def is_builtin(self) -> bool:
        """Whether this package brought it."""
        return _normalised(self.distribution) == BUILTIN_DISTRIBUTION

    @property
    def names(self) -> tuple[str, ...]:
        """The name and the aliases, as they are looked up: each spelling once, for an alias may repeat the name."""
        return tuple(dict.fromkeys(key(name) for name in (self.component.name, *self.component.aliases)))


@dataclass(frozen=True)
class Failure:
    """An entry point that could not be used, and why; distribution and version are empty if it is not installed."""

    entry_point: str
    distribution: str
    version: str
    reason: str

    def __str__(self) -> str:
        owner = f" of {self.distribution} {self.version}" if self.distribution else ""
        return f"plugin {self.entry_point!r}{owner} failed to load: {self.reason}"


class Registry:
    """All components that the installed entry points registered."""

    def __init__(self) -> None:
        self.failures: list[Failure] = []
        self.registrations: list[Registration] = []
        self.left_out: list[str] = []
        self._managers: list[tuple[pluggy.PluginManager, EntryPoint, str, str]] = []
        self._extensions: dict[str, dict[str, tuple[Any, str, str]]] = {}
        self._by_name: defaultdict[tuple[str, str], list[Registration]] = defaultdict(list)
        wanted, blocked = _chosen_plugins()
        missing = set(wanted or ())
        for entry_point in entry_points(group=hookspecs.PROJECT):
            distribution, version = _owner(entry_point)
            handles = {_normalised(distribution), _normalised(entry_point.name)}
            missing -= handles
            is_chosen = (wanted is None or handles & wanted) and not handles & blocked
            if is_chosen or _normalised(distribution) == BUILTIN_DISTRIBUTION:
                self._load(entry_point, distribution, version)
            else:
                self.left_out.append(distribution)
        for name in sorted(missing):
            self.failures.append(Failure(name, "", "", f"{PLUGINS_VARIABLE} names it, but it is not installed"))

    def _load(self, entry_point: EntryPoint, distribution: str, version: str) -> None:
        found: list[Registration] = []

        def register(kind: str, component: type[Component]) -> None:
            check_component(kind, component)
            _check_defaults(component)
            found.append(Registration(kind, component, distribution, version))

        try:
            # A manager per entry point: what it registers is known to be this distribution's.
            manager = pluggy.PluginManager(hookspecs.PROJECT)
            manager.add_hookspecs(hookspecs)
            plugin = entry_point.load()
            # Before its hooks are looked at: a newer contract may have hooks that are unknown here.
            check_contract(plugin)
            manager.register(plugin, name=entry_point.name)
            manager.check_pending()
            if not manager.get_hookcallers(plugin):
                hooks = ", ".join(f"register_{kind}s" for kind in (*KINDS, *EXTENSIONS))
                raise PluginError(f"it implements no hook; decorate one of {hooks} with pyod_gessvdd.hookimpl")
            for kind in KINDS:
                getattr(manager.hook, f"register_{kind}s")(register=partial(register, kind))
        except (Exception, SystemExit) as error:
            # Whatever a plugin raises while it loads is its own failure: reported, and nobody else's problem.
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            self.failures.append(Failure(entry_point.name, distribution, version, reason))
            return
        self._managers.append((manager, entry_point, distribution, version))
        self.registrations += found
        for registration in found:
            for name in registration.names:
                self._by_name[registration.kind, name].append(registration)

    def extensions(self, kind: str, contract: type) -> dict[str, Any]:
        """What plugins bring to experiments, by name.

        Parameters
        ----------
        kind : {"metric", "protocol"}
            What to ask for.
        contract : type
            What each must be an instance or a subclass of; a plugin that registers something else is a failure.
        """
        if kind not in self._extensions:
            found: dict[str, tuple[Any, str, str]] = {}
            for manager, entry_point, distribution, version in self._managers:
                registered: list[Any] = []
                try:
                    getattr(manager.hook, f"register_{kind}s")(register=registered.append)
                    for extension in registered:
                        check_extension(kind, extension, contract)
                except (Exception, SystemExit) as error:
                    reason = " ".join(f"{type(error).__name__}: {error}".split())
                    self.failures.append(Failure(entry_point.name, distribution, version, reason))
                    continue
                for extension in registered:
                    if extension.name in found:
                        _, owner, of_version = found[extension.name]
                        raise PluginError(
                            f"{kind} {extension.name!r} is registered by {owner} {of_version} and by {distribution} "
                            f"{version}; uninstall one of them or set {PLUGINS_VARIABLE} to the plugins to load"
                        )
                    found[extension.name] = (extension, distribution, version)
            self._extensions[kind] = found
        return {name: extension for name, (extension, _, _) in self._extensions[kind].items()}

    def names(self, kind: str) -> list[str]:
        """The names (not the aliases) of one kind, sorted."""
        return sorted({entry.component.name for entry in self.registrations if entry.kind == kind})

    def find(self, kind: str, name: str) -> Registration:
        """The registration of a name or alias; errors name the nearest match, both owners, or the broken plugins."""
        found = self._by_name.get((kind, key(name)), [])
        if len(found) > 1:
            # A plugin must not take what detectors use unasked: a built-in keeps its name.
            own = [entry for entry in found if entry.is_builtin]
            others = sorted({f"{entry.distribution} {entry.version}" for entry in found if not entry.is_builtin})
            if len(own) == 1 and others:
                warn(
                    f"{' and '.join(others)} registers the {kind} {name!r} too, a name of {BUILTIN_DISTRIBUTION}'s "
                    "own, which is used; it must give its component another name"
                )
                return own[0]
            owners = sorted({f"{entry.distribution} {entry.version}" for entry in found})
            remedy = f"uninstall one of them or set {PLUGINS_VARIABLE} to the plugins to load"
            raise PluginError(
                f"{kind} {name!r} is registered {len(found)} times, by {' and '.join(owners)}; "
                f"{remedy if len(owners) > 1 else 'it must give its components different names'}"
            )
        if not found:
            raise UnknownComponentError(self._unknown(kind, name))
        return found[0]

    def _unknown(self, kind: str, name: str) -> str:
        known = self.names(kind)
        spellings = [alias for (of_kind, alias) in self._by_name if of_kind == kind]
        near = difflib.get_close_matches(key(name), spellings, n=1)
        sentence = f"unknown {kind} {name!r}"
        sentence += f", did you mean {self._by_name[kind, near[0]][0].component.name!r}?" if near else "."
        sentence += f" Installed: {', '.join(known) or 'none (is pyod-gessvdd itself installed?)'}"
        hints = [*self._hints(kind, name), *map(str, self.failures)]
        return "; ".join([sentence, *hints])

    def _hints(self, kind: str, name: str) -> Iterator[str]:
        """What could bring the component: a package of this project, or a plugin that is installed and not loaded."""
        package = distribution_that_brings(kind, key(name))
        there = {_normalised(owner) for owner in (*self.left_out, *(failure.distribution for failure in self.failures))}
        if package and package not in there:
            yield f"{name!r} comes with {package}, which is not installed: pip install {package}"
        if self.left_out:
            yield f"{PLUGINS_VARIABLE} leaves out {', '.join(sorted(set(self.left_out)))}"


@cache
def registry() -> Registry:
    """The registry of this process; ``registry.cache_clear()`` makes the next call look again."""
    return Registry()


def available(kind: str | None = None) -> list[dict[str, Any]]:
    """What is installed: one row per component, and one per plugin that failed to load.

    Parameters
    ----------
    kind : {"laplacian", "updater", "qp_backend", "kernel", "feature_laplacian", "metric", "protocol"}, optional
        Only the components of this kind, or the metrics or protocols of experiments.

    Returns
    -------
    list of dict
        With ``kind``, ``name``, ``aliases``, ``distribution``, ``version``, ``parameters`` (name → default) and
        ``error``. For a plugin that failed, ``kind`` is ``"plugin"`` and ``error`` is the reason, as it is for a
        component whose name is taken twice; otherwise it is None.

    Examples
    --------
    >>> import pyod_gessvdd
    >>> [row["name"] for row in pyod_gessvdd.available("updater") if row["distribution"] == "pyod-gessvdd"]
    ['gradient', 'newton', 'newton_ssvdd', 'riemannian', 'spectral', 'spectral_regression']
    """
    kinds = (*KINDS, *EXTENSIONS)
    if kind is not None and kind not in kinds:
        raise ValueError(f"kind must be one of {', '.join(kinds)}, got {kind!r}")
    rows = [_row(entry) for entry in registry().registrations if kind in (None, entry.kind)]
    rows += [row for of_kind in EXTENSIONS if kind in (None, of_kind) for row in _extension_rows(of_kind)]
    rows.sort(key=lambda row: (kinds.index(row["kind"]), row["name"], row["distribution"]))
    if kind is None:
        rows += [
            {
                "kind": "plugin",
                "name": failure.entry_point,
                "aliases": (),
                "distribution": failure.distribution,
                "version": failure.version,
                "parameters": {},
                "error": failure.reason,
            }
            for failure in registry().failures
        ]
    return rows


def _extension_rows(kind: str) -> list[dict[str, Any]]:
    """The metrics or protocols; they are imported by those who ask."""
    from pyod_gessvdd.experiments.metrics import Metric
    from pyod_gessvdd.experiments.protocols.protocol import Protocol

    contract: type = {"metric": Metric, "protocol": Protocol}[kind]
    registry().extensions(kind, contract)
    return [
        {
            "kind": kind,
            "name": name,
            "aliases": (),
            "distribution": distribution,
            "version": version,
            "parameters": parameters(extension) if isclass(extension) else {},
            "error": None,
        }
        for name, (extension, distribution, version) in registry()._extensions[kind].items()
    ]


def parameters(component: type) -> dict[str, Any]:
    """The constructor's parameters with their defaults."""
    return {
        name: parameter.default
        for name, parameter in signature(component).parameters.items()
        if parameter.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    }


def key(name: str) -> str:
    """How names are compared: case and the choice of ``-`` or ``_`` do not matter."""
    return name.casefold().replace("-", "_")


def _row(entry: Registration) -> dict[str, Any]:
    error = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # told here, in the row of the component that has to give way
            hidden = [
                name for name in entry.names if registry().find(entry.kind, name).component is not entry.component
            ]
        if hidden:
            error = (
                f"{entry.kind} {hidden[0]!r} of {entry.distribution} {entry.version} has a name of "
                f"{BUILTIN_DISTRIBUTION}'s own, which is used instead; it needs another name"
            )
    except PluginError as taken_twice:
        error = str(taken_twice)
    return {
        "kind": entry.kind,
        "name": entry.component.name,
        "aliases": entry.component.aliases,
        "distribution": entry.distribution,
        "version": entry.version,
        "parameters": parameters(entry.component),
        "error": error,
    }


def _chosen_plugins() -> tuple[set[str] | None, set[str]]:
    """The plugins to load (None: all) and the plugins to block, as the environment specifies."""
    value = os.environ.get(PLUGINS_VARIABLE)
    if value is None:
        return None, set()
    names = [name.strip() for name in value.split(",") if name.strip()]
    wanted = {_normalised(name) for name in names if not name.startswith("-")}
    blocked = {_normalised(name[1:]) for name in names if name.startswith("-")}
    return (None if blocked and not wanted else wanted), blocked


def _owner(entry_point: EntryPoint) -> tuple[str, str]:
    """Distribution and version; the remains of a broken uninstall have an entry point but neither."""
    distribution: Any = entry_point.dist
    try:
        name, version = distribution.name, distribution.version
    except Exception:  # Python versions differ in what they raise for missing metadata, or return None
        name = version = None
    return name or "unknown distribution", version or "unknown version"


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def check_contract(declaring: Any) -> None:
    """A plugin's module or a component class must not need a newer contract than this package has."""
    needed = getattr(declaring, "contract", 1)
    if not isinstance(needed, int) or isinstance(needed, bool) or needed < 1:
        raise PluginError(f"contract must be a whole number of at least 1, got {needed!r}")
    if needed > CONTRACT:
        raise PluginError(
            f"{getattr(declaring, '__qualname__', 'it')} needs contract {needed}, this {BUILTIN_DISTRIBUTION} "
            f"{installed_version(BUILTIN_DISTRIBUTION)} has {CONTRACT}: upgrade {BUILTIN_DISTRIBUTION}"
        )


def check_component(kind: str, component: Any) -> None:
    """What is registered must be a class of its kind, complete, for a contract that is there, with usable names."""
    contract = KINDS[kind]
    if not (isclass(component) and issubclass(component, contract)):
        raise TypeError(f"register_{kind}s got {component!r}; expected a subclass of {contract.__name__}")
    if isabstract(component):
        missing = ", ".join(sorted(component.__abstractmethods__))
        raise TypeError(f"{component.__qualname__} does not implement {missing}")
    check_contract(component)
    names = (component.name, *component.aliases)
    if not all(isinstance(name, str) and NAME.fullmatch(name) for name in names):
        raise TypeError(f"{component.__qualname__} has the names {names!r}; a name is letters, digits, '_' and '-'")


def check_extension(kind: str, extension: Any, contract: type) -> None:
    """What is registered for experiments must be of its kind, complete, and have a usable name."""
    is_class = isclass(extension)
    if not (issubclass(extension, contract) if is_class else isinstance(extension, contract)):
        raise TypeError(f"register_{kind}s got {extension!r}; expected {contract.__name__}")
    if is_class and isabstract(extension):
        missing = ", ".join(sorted(extension.__abstractmethods__))
        raise TypeError(f"{extension.__qualname__} does not implement {missing}")
    if not (isinstance(extension.name, str) and extension.name.isidentifier()):
        raise TypeError(f"register_{kind}s got the name {extension.name!r}; it must be a Python name")


def _check_defaults(component: type[Component]) -> None:
    required = [name for name, default in parameters(component).items() if default is Parameter.empty]
    if required:
        raise TypeError(f"{component.__qualname__} needs a default for {', '.join(required)}")
