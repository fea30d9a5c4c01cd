"""Conformance checks: whether a component keeps its contract, for its author's tests and for ``gessvdd check``.

Each function takes a component class (tried with its default parameters) or an instance (with its own) and returns
small named checks, callables without arguments::

    for check in check_laplacian(MyGraph):
        check()

or, one test per check::

    @pytest.mark.parametrize("check", check_laplacian(MyGraph), ids=lambda check: check.__name__)
    def test_my_graph_keeps_its_contract(check):
        check()

A check that fails raises :class:`CheckFailed`, an ``AssertionError`` whose message explains what is wrong and what to
change. One that does not apply to what the component declares returns the reason; one that passes, None.
"""

from __future__ import annotations

from typing import Any

from pyod_gessvdd.checks import experiments, feature_laplacians, kernels, laplacians, qp_backends, updaters
from pyod_gessvdd.checks.check import Check, CheckFailed, CheckFunction, describe
from pyod_gessvdd.components.registry import KINDS
from pyod_gessvdd.experiments.metrics import Metric
from pyod_gessvdd.experiments.protocols.protocol import Protocol

__all__ = [
    "CHECKS",
    "CONTRACTS",
    "Check",
    "CheckFailed",
    "check_component",
    "check_feature_laplacian",
    "check_kernel",
    "check_laplacian",
    "check_metric",
    "check_protocol",
    "check_qp_backend",
    "check_updater",
]

_FUNCTIONS: dict[str, tuple[CheckFunction, ...]] = {
    "laplacian": laplacians.CHECKS,
    "updater": updaters.CHECKS,
    "qp_backend": qp_backends.CHECKS,
    "kernel": kernels.CHECKS,
    "feature_laplacian": feature_laplacians.CHECKS,
    "metric": experiments.METRIC_CHECKS,
    "protocol": experiments.PROTOCOL_CHECKS,
}

#: What can be checked: components, and what plugins bring to experiments.
CONTRACTS: dict[str, type] = {**KINDS, "metric": Metric, "protocol": Protocol}

#: Of each kind, the names of its checks and what each demands, in one sentence.
CHECKS: dict[str, dict[str, str]] = {
    kind: {check.__name__: describe(check) for check in functions} for kind, functions in _FUNCTIONS.items()
}


def check_component(kind: str, component: Any) -> tuple[Check, ...]:
    """The checks of a component of the given kind.

    Parameters
    ----------
    kind : {"laplacian", "updater", "qp_backend", "kernel", "feature_laplacian", "metric", "protocol"}
        What the component is for.
    component : type or instance
        A subclass of the kind's contract, or an instance of one; a metric is a record, an instance.

    Returns
    -------
    tuple of Check
        See :mod:`pyod_gessvdd.checks`; nothing runs before a check is called.
    """
    if not is_of(kind, component):
        contract = CONTRACTS[kind].__name__
        what = (
            f"a pyod_gessvdd.compare.{contract}"
            if kind == "metric"
            else f"a subclass of {contract} or an instance of one"
        )
        raise TypeError(f"check_{kind} takes {what}, got {component!r}")
    return tuple(Check(function, component) for function in _FUNCTIONS[kind])


def is_of(kind: str, component: Any) -> bool:
    """Whether something is a component of a kind that can be checked."""
    contract = CONTRACTS[kind]
    if isinstance(component, type):
        return contract is not Metric and issubclass(component, contract)
    return isinstance(component, contract)


def check_laplacian(component: Any) -> tuple[Check, ...]:
    """The checks of a :class:`~pyod_gessvdd.Laplacian` class or instance."""
    return check_component("laplacian", component)


def check_updater(component: Any) -> tuple[Check, ...]:
    """The checks of an :class:`~pyod_gessvdd.Updater` class or instance."""
    return check_component("updater", component)


def check_qp_backend(component: Any) -> tuple[Check, ...]:
    """The checks of a :class:`~pyod_gessvdd.QPBackend` class or instance."""
    return check_component("qp_backend", component)


def check_kernel(component: Any) -> tuple[Check, ...]:
    """The checks of a :class:`~pyod_gessvdd.Kernel` class or instance."""
    return check_component("kernel", component)


def check_feature_laplacian(component: Any) -> tuple[Check, ...]:
    """The checks of a :class:`~pyod_gessvdd.FeatureLaplacian` class or instance."""
    return check_component("feature_laplacian", component)


def check_metric(metric: Any) -> tuple[Check, ...]:
    """The checks of a :class:`~pyod_gessvdd.compare.Metric`."""
    return check_component("metric", metric)


def check_protocol(protocol: Any) -> tuple[Check, ...]:
    """The checks of a :class:`~pyod_gessvdd.compare.Protocol` class, tried with its defaults, or instance."""
    return check_component("protocol", protocol)
