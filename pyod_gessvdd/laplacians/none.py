"""Graph ``0``: no constraint on the data, S_x = I and nothing is whitened (GESSVDD-0, and SSVDD)."""

from __future__ import annotations

from pyod_gessvdd.components.contracts import NoGraph


class NoConstraint(NoGraph):
    """No graph: the orthogonality constraint alone."""

    name = "none"
    aliases = ("0",)
