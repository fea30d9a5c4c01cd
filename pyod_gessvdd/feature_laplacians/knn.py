"""Feature graph ``feature_knn``: each column is linked with those that it is most correlated with."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from pyod_gessvdd.components.contracts import FeatureLaplacian
from pyod_gessvdd.graph import Graph

Array = np.ndarray


class FeatureKNN(FeatureLaplacian):
    """Nearest neighbours among the columns, by the absolute value of their correlation, which is the edge's weight.

    A column that does not vary is correlated with none, and has no edge. With a negative correlation the columns are to
    be weighted with opposite signs: the graph is that of a signed Laplacian, L = diag(Σ_j |a_ij|) − A.

    Parameters
    ----------
    n_neighbors : int, default=3
        The number of columns that each is linked with, or all others if there are fewer.
    """

    name = "feature_knn"

    def __init__(self, n_neighbors: int = 3) -> None:
        self.n_neighbors = n_neighbors

    def build(self, X: Array, random_state: Any) -> Graph:
        """L = diag(Σ_j |a_ij|) − A with a_ij the correlation of two columns if either is among the other's nearest."""
        if not isinstance(self.n_neighbors, Integral) or self.n_neighbors < 1:
            raise ValueError(f"{self.name} needs a whole n_neighbors of at least 1, got {self.n_neighbors!r}")
        away = X - X.mean(axis=0)
        lengths = np.sqrt(np.einsum("ij,ij->j", away, away))
        varies = lengths > np.finfo(float).eps * np.sqrt(np.einsum("ij,ij->j", X, X))
        away = np.divide(away, lengths, out=np.zeros_like(away), where=varies)
        # Equal correlations must not be told apart by their last bit, or the order of the rows would matter.
        correlation = np.round(away.T @ away, 12)
        np.fill_diagonal(correlation, 0.0)
        size = np.abs(correlation)
        count = min(int(self.n_neighbors), len(size) - 1)
        if count == 0:
            return Graph.from_matrix(np.zeros((1, 1)))
        # Every column that is as near as the farthest of the neighbours is one.
        farthest = -np.partition(-size, count - 1, axis=1)[:, count - 1]
        near = size >= farthest[:, None]
        A = np.where(near | near.T, correlation, 0.0)
        return Graph.from_matrix(np.diag(np.abs(A).sum(axis=1)) - A)
