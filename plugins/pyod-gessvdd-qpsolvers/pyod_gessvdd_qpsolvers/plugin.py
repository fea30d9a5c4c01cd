"""The entry point: registers the backends whose solver is installed."""

from __future__ import annotations

from collections.abc import Callable

from pyod_gessvdd import hookimpl
from pyod_gessvdd_qpsolvers.solvers import installed

#: The first version of pyod-gessvdd's contract whose duals have a linear term.
contract = 2


@hookimpl
def register_qp_backends(register: Callable[[type], None]) -> None:
    """One backend per solver that is installed; nothing for the others."""
    for backend in installed():
        register(backend)
