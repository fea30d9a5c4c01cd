"""Several graphs at once: L_x = Σ_k w_k L_k, written ``"0.7*knn + 0.3*pca"`` (the paper's future work)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyod_gessvdd.components import Laplacian, NoGraph
from pyod_gessvdd.graph import Graph
from pyod_gessvdd.validation import as_graph


class WeightedSum(Laplacian):
    """A weighted sum of graphs.

    Parameters
    ----------
    laplacians : sequence of Laplacian
        The graphs.
    weights : sequence of float, optional
        Their weights, positive; all one if None.
    """

    name = "weighted_sum"

    def __init__(self, laplacians: Sequence[Laplacian], weights: Sequence[float] | None = None) -> None:
        self.laplacians = laplacians
        self.weights = weights

    def build(self, Phi: np.ndarray, random_state: Any) -> Graph:
        """L = Σ_k w_k L_k."""
        weights = [1.0] * len(self.laplacians) if self.weights is None else list(self.weights)
        if not self.laplacians or len(weights) != len(self.laplacians):
            raise ValueError(f"got {len(self.laplacians)} graphs and {len(weights)} weights; give one weight per graph")
        if min(weights) <= 0:
            raise ValueError(f"the weights of a sum of graphs must be positive, got {weights}")
        for laplacian in self.laplacians:
            if isinstance(laplacian, NoGraph):
                raise ValueError(f"{laplacian.name!r} has no graph and cannot be part of a sum of graphs")
        first, *rest = (
            weight * as_graph(laplacian.build(Phi, random_state), len(Phi), laplacian)
            for weight, laplacian in zip(weights, self.laplacians, strict=True)
        )
        return sum(rest, start=first)
