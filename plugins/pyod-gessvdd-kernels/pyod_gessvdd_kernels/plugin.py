"""The entry point: registers the kernels."""

from __future__ import annotations

from collections.abc import Callable

from pyod_gessvdd import hookimpl
from pyod_gessvdd_kernels.gower import Gower
from pyod_gessvdd_kernels.random_features import RFF, LaplacianRFF


@hookimpl
def register_kernels(register: Callable[[type], None]) -> None:
    """Random Fourier features of two kernels, and Gower's similarity."""
    for kernel in (RFF, LaplacianRFF, Gower):
        register(kernel)
