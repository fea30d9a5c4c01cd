"""Graph ``I``: L_x = I, so that S_x = ΦᵀΦ (GESSVDD-I, and ESSVDD)."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyod_gessvdd.components.contracts import Laplacian
from pyod_gessvdd.graph import Graph


class Identity(Laplacian):
    """The identity in place of a Laplacian."""

    name = "identity"
    aliases = ("I",)
    kills_constants = False
    supports_sample_weight = True

    def build(self, Phi: np.ndarray, random_state: Any, sample_weight: np.ndarray | None = None) -> Graph:
        """L = I; with sample weights L = diag(w)."""
        return Graph.identity(len(Phi)) if sample_weight is None else Graph(len(Phi), sample_weight.astype(float))
