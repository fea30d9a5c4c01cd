"""A feature graph that is given as a D × D matrix, as prior knowledge: a layout of sensors, a chart of an ontology."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyod_gessvdd.components.contracts import FeatureLaplacian


class GivenFeatureLaplacian(FeatureLaplacian):
    """A fixed matrix over the columns.

    Parameters
    ----------
    L : sparse matrix or ndarray of shape (D, D)
        The Laplacian of the columns, in their order.
    """

    name = "given"

    def __init__(self, L: Any) -> None:
        self.L = L

    def build(self, X: np.ndarray, random_state: Any) -> Any:
        """The matrix itself."""
        return self.L
