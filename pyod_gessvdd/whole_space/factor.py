"""Cholesky factors of kernel matrices, and how much of a row can be left out."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.linalg

from pyod_gessvdd.linalg import gram

Array = np.ndarray

#: What is added to the diagonal of a kernel matrix to factor it, as a share of its mean.
JITTER, MOST_JITTER = 1e-12, 1e-5
NOT_POSITIVE_DEFINITE = (
    "the kernel is not positive definite, and its whole space cannot be described; use n_components=None, for a "
    "subspace without the directions of negative eigenvalues"
)
#: The smallest share of a row that remains when it is left out: below it, rounding decides.
LEAST_LEFT = 1e-12
#: A scatter that is a smaller share of the whole than this has lost too many digits in the subtraction of the rest.
LEAST_SHARE = 1e-3


def one_copy(weights: Array) -> Array:
    """The weight that leaves with a row: one copy of it, or all of it if it weighs less."""
    return np.minimum(weights, 1.0)


def one_share(weights: Array) -> Array:
    """The share of a row's weight that leaves with one copy."""
    return 1.0 / np.maximum(weights, 1.0)


def whitened(R: Array, Phi: Array) -> Array:
    """Z = ΦR⁻ᵀ for a lower triangular R, by its inverse: for many rows nearly twice as fast as substitution."""
    inverse, _ = scipy.linalg.lapack.dtrtri(R, lower=1)
    Z: Array = scipy.linalg.blas.dtrmm(1.0, inverse, Phi.T, lower=1).T
    return Z


class Scatters:
    """Φᵀ W Φ of most of some weighted rows: that of all, once, less that of the few others.

    Parameters
    ----------
    Phi : ndarray of shape (N, m)
        The rows' features.
    weights : ndarray of shape (N,)
        How often each row counts.
    """

    def __init__(self, Phi: Array, weights: Array) -> None:
        self.Phi, self.weights = Phi, weights

    @cached_property
    def total(self) -> Array:
        """The scatter of all rows."""
        return self._of(slice(None))

    def of(self, rows: Array) -> Array:
        """The scatter of some rows."""
        others = np.setdiff1d(np.arange(len(self.Phi)), rows, assume_unique=True)
        S = self.total - self._of(others)
        return S if np.trace(S) >= LEAST_SHARE * np.trace(self.total) else self._of(rows)

    def _of(self, rows: Array | slice) -> Array:
        weights = self.weights[rows]
        return gram(self.Phi[rows], np.zeros(self.Phi.shape[1]), None if (weights == 1.0).all() else weights)


def cholesky(K: Array, jitter: float = JITTER) -> Array:
    """The lower Cholesky factor of K, zero above, with as much added to the diagonal as rounding requires."""
    mean = float(np.trace(K)) / len(K)
    while mean > 0 and jitter <= MOST_JITTER:
        try:
            return np.asarray(scipy.linalg.cholesky(K + jitter * mean * np.eye(len(K)) if jitter else K, lower=True))
        except scipy.linalg.LinAlgError:
            jitter = max(100.0 * jitter, JITTER)
    raise ValueError(NOT_POSITIVE_DEFINITE)
