"""Cholesky factors of kernel matrices, and what there is of a row to leave out."""

from __future__ import annotations

import numpy as np
import scipy.linalg

Array = np.ndarray

#: What is added to the diagonal of a kernel matrix to factor it, as a share of its mean.
JITTER, MOST_JITTER = 1e-12, 1e-5
NOT_POSITIVE_DEFINITE = (
    "the kernel is not positive definite, and its whole space cannot be described; use n_components=None, for a "
    "subspace without the directions of negative eigenvalues"
)
#: The least share of itself that a row leaves when it is left out: beyond, rounding decides.
LEAST_LEFT = 1e-12


def one_copy(weights: Array) -> Array:
    """The weight that leaves with a row: one copy of it, or what there is of one."""
    return np.minimum(weights, 1.0)


def cholesky(K: Array, jitter: float = JITTER) -> Array:
    """The lower Cholesky factor of K, zero above, with as much more on its diagonal as rounding takes."""
    mean = float(np.trace(K)) / len(K)
    while mean > 0 and jitter <= MOST_JITTER:
        try:
            return np.asarray(scipy.linalg.cholesky(K + jitter * mean * np.eye(len(K)) if jitter else K, lower=True))
        except scipy.linalg.LinAlgError:
            jitter = max(100.0 * jitter, JITTER)
    raise ValueError(NOT_POSITIVE_DEFINITE)
