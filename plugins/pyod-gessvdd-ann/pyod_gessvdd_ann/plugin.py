"""What the entry point ``ann`` of the group ``pyod_gessvdd`` names: the registration of this package's graph."""

from __future__ import annotations

from collections.abc import Callable

from pyod_gessvdd import hookimpl
from pyod_gessvdd_ann import ANN


@hookimpl
def register_laplacians(register: Callable[[type], None]) -> None:
    """Register the approximate kNN graph."""
    register(ANN)
