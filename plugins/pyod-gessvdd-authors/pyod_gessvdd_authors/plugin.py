"""What the entry point ``authors`` of the group ``pyod_gessvdd`` names: the registration of its components."""

from __future__ import annotations

from collections.abc import Callable

from pyod_gessvdd import hookimpl
from pyod_gessvdd_authors.graphs import AuthorsBetween, AuthorsKNN
from pyod_gessvdd_authors.kernel import AuthorsRBF
from pyod_gessvdd_authors.updaters import AuthorsSpectral, AuthorsSpectralRegression

contract = 3


@hookimpl
def register_laplacians(register: Callable[[type], None]) -> None:
    """The two graphs."""
    register(AuthorsKNN)
    register(AuthorsBetween)


@hookimpl
def register_updaters(register: Callable[[type], None]) -> None:
    """The two updaters."""
    register(AuthorsSpectral)
    register(AuthorsSpectralRegression)


@hookimpl
def register_kernels(register: Callable[[type], None]) -> None:
    """The kernel."""
    register(AuthorsRBF)
