"""What the entry point ``graphs`` of the group ``pyod_gessvdd`` names: the registration of this package's graphs."""

from __future__ import annotations

from collections.abc import Callable

import pyod_gessvdd_graphs
from pyod_gessvdd import hookimpl


@hookimpl
def register_laplacians(register: Callable[[type], None]) -> None:
    """Register every graph of the package."""
    for name in pyod_gessvdd_graphs.__all__:
        register(getattr(pyod_gessvdd_graphs, name))
