"""What the neighbour graphs share: the search, and the adjacency matrix of its edges."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from pyod_gessvdd.linalg import rows_by_content

Array = np.ndarray

#: Lighter edges than this share of the heaviest possible are left out: they pull on nothing, but make L so
#: ill-conditioned that its pseudo-inverse, which spectral regression needs, is rounding.
NEGLIGIBLE = 1e-8


def nearest(Phi: Array, n_neighbors: int, owner: str) -> tuple[Array, Array]:
    """The nearest neighbours of every row, itself left out.

    Parameters
    ----------
    Phi : ndarray of shape (N, F)
        The features.
    n_neighbors : int
        The number of neighbours k of each row.
    owner : str
        The graph that asks, for the error message.

    Returns
    -------
    neighbours : ndarray of int, of shape (N, k)
        Their indices, the nearest first.
    distances : ndarray of shape (N, k)
        How far they are.
    """
    from sklearn.neighbors import NearestNeighbors

    check_n_neighbors(n_neighbors, len(Phi), owner)
    # Among equally near points the search takes those it meets first: that must not be the order of the input.
    order = rows_by_content(Phi)
    found_distances, found = NearestNeighbors(n_neighbors=n_neighbors).fit(Phi[order]).kneighbors()
    neighbours, distances = np.empty_like(found), np.empty_like(found_distances)
    neighbours[order], distances[order] = order[found], found_distances
    return neighbours, distances


def directed(neighbours: Array, weights: Any = 1.0) -> sp.csr_array:
    """The N × N matrix whose row i holds the weights of i's neighbours, both of shape (N, k); zeros are no entries."""
    N, k = neighbours.shape
    data = np.broadcast_to(np.asarray(weights, dtype=float), (N, k))
    A = sp.csr_array((data.ravel(), neighbours.ravel(), np.arange(0, N * k + 1, k)), (N, N), copy=True)
    A.eliminate_zeros()
    return A


def without_negligible(weights: Array) -> Array:
    """Weights of at most one, those below :data:`NEGLIGIBLE` set to zero, which is no edge."""
    return np.where(weights < NEGLIGIBLE, 0.0, weights)


def either_way(A: sp.csr_array) -> sp.csr_array:
    """The symmetric matrix of the pairs that are linked in one direction at least."""
    return A.maximum(A.T)


def check_n_neighbors(n_neighbors: Any, n_samples: int, owner: str, name: str = "n_neighbors") -> None:
    """Raise a ``ValueError`` unless every sample can have that many neighbours; ``name`` is the parameter's."""
    if not (isinstance(n_neighbors, Integral) and 1 <= int(n_neighbors) < n_samples):
        raise ValueError(
            f"{owner} needs a whole {name} of at least 1 and more samples than neighbours, "
            f"got {name}={n_neighbors!r} and {n_samples} samples"
        )


def check_positive(value: Any, name: str, owner: str, otherwise: str = "") -> None:
    """Raise a ``ValueError`` unless the parameter is a positive, finite number."""
    if not (isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < np.inf):
        raise ValueError(f"{owner} needs a positive number as {name}{otherwise}, got {name}={value!r}")
