"""A Laplacian that the user hands over as a ready N × N matrix, sparse or dense."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyod_gessvdd.components.contracts import Laplacian
from pyod_gessvdd.graph import Graph


class GivenLaplacian(Laplacian):
    """A fixed matrix over the training rows.

    Parameters
    ----------
    L : sparse matrix or ndarray of shape (N, N)
        The Laplacian of the rows that will be fitted, in their order.
    """

    name = "given"

    def __init__(self, L: Any) -> None:
        self.L = L

    def build(self, Phi: np.ndarray, random_state: Any) -> Graph:
        """The matrix itself."""
        return Graph.from_matrix(self.L)
