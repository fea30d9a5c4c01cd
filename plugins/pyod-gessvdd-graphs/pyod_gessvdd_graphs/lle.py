"""Graph ``lle``: each sample as the weighted mean of its neighbours, and what that misses."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from pyod_gessvdd import Graph, Laplacian
from pyod_gessvdd.linalg import row_blocks
from pyod_gessvdd_graphs.neighbours import check_positive, directed, nearest


class LLE(Laplacian):
    r"""The matrix of locally linear embedding, sparse.

    .. math:: L = (I - W)^\top (I - W), \qquad W = \arg\min \sum_i \|\phi_i - \sum_{j \in N_i} W_{ij} \phi_j\|^2,
              \quad \sum_j W_{ij} = 1

    so that S_x = Φᵀ L Φ is the scatter of what the neighbours do not explain of each sample. Row i of W solves
    (G_i + r I) w = 1 and is scaled to sum to one, with G_i the Gram matrix of the φ_j − φ_i, j ∈ N_i, and
    r = reg · Tr(G_i), or reg where the trace is zero: the regularisation of scikit-learn's
    ``LocallyLinearEmbedding``. L has entries of both signs and is no graph with edge weights, but positive
    semi-definite with zero row sums all the same.

    With more neighbours than features a sample is reconstructed all but exactly, and what is left is the work of
    ``reg``: take fewer neighbours, or a kernel.

    Parameters
    ----------
    n_neighbors : int, default=5
        The number of neighbours of each sample.
    reg : float, default=1e-3
        The regularisation, relative to the trace of the local Gram matrix.

    References
    ----------
    Roweis, Saul: Nonlinear Dimensionality Reduction by Locally Linear Embedding. Science 290, 2000.
    """

    name = "lle"
    kills_constants = True

    def __init__(self, n_neighbors: int = 5, reg: float = 1e-3) -> None:
        self.n_neighbors = n_neighbors
        self.reg = reg

    def build(self, Phi: np.ndarray, random_state: Any) -> Graph:
        """L = (I − W)ᵀ(I − W)."""
        check_positive(self.reg, "reg", self.name)
        neighbours, _ = nearest(Phi, self.n_neighbors, self.name)
        M = sp.eye_array(len(Phi), format="csr") - directed(neighbours, _reconstruction(Phi, neighbours, self.reg))
        return Graph.from_matrix(M.T @ M)


def _reconstruction(Phi: np.ndarray, neighbours: np.ndarray, reg: float) -> np.ndarray:
    """The weights with which the neighbours of each row reconstruct it, of shape (N, k), in blocks of rows."""
    N, k = neighbours.shape
    weights = np.empty((N, k))
    for rows in row_blocks(N, k * Phi.shape[1]):
        differences = Phi[neighbours[rows]] - Phi[rows, None]
        G = differences @ differences.transpose(0, 2, 1)
        trace = np.trace(G, axis1=1, axis2=2)
        G += (reg * np.where(trace > 0, trace, 1.0))[:, None, None] * np.eye(k)
        solved = np.linalg.solve(G, np.ones((len(G), k, 1)))[..., 0]
        weights[rows] = solved / solved.sum(axis=1, keepdims=True)
    return weights
