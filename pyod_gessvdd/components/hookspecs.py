"""The hooks of the pluggy entry-point group ``pyod_gessvdd``: five for components, two for experiments.

A plugin is a module (or object) with any of these functions, decorated with :data:`hookimpl`; each calls ``register``
once per component class, metric or protocol it provides. ``contract = 3`` in it declares the version of the contract
that it was written for (:data:`pyod_gessvdd.CONTRACT`); without it, that is 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pluggy

PROJECT = "pyod_gessvdd"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def register_laplacians(register: Callable[[type], None]) -> None:
    """Call ``register(cls)`` for each :class:`~pyod_gessvdd.Laplacian` subclass."""


@hookspec
def register_updaters(register: Callable[[type], None]) -> None:
    """Call ``register(cls)`` for each :class:`~pyod_gessvdd.Updater` subclass."""


@hookspec
def register_qp_backends(register: Callable[[type], None]) -> None:
    """Call ``register(cls)`` for each :class:`~pyod_gessvdd.QPBackend` subclass."""


@hookspec
def register_kernels(register: Callable[[type], None]) -> None:
    """Call ``register(cls)`` for each :class:`~pyod_gessvdd.Kernel` subclass."""


@hookspec
def register_feature_laplacians(register: Callable[[type], None]) -> None:
    """Call ``register(cls)`` for each :class:`~pyod_gessvdd.FeatureLaplacian` subclass."""


@hookspec
def register_metrics(register: Callable[[Any], None]) -> None:
    """Call ``register(metric)`` for each :class:`~pyod_gessvdd.compare.Metric`; called by the first experiment."""


@hookspec
def register_protocols(register: Callable[[Any], None]) -> None:
    """Call ``register(cls)`` for each :class:`~pyod_gessvdd.compare.Protocol`; called by the first experiment."""
