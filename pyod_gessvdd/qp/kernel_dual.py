"""The SVDD dual in a kernel's space, from the N × N matrix K_ij = ⟨φ_i, φ_j⟩ instead of coordinates."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dpstrf

from pyod_gessvdd.dual import Certificate, SVDDDual

Array = np.ndarray


class KernelDual(SVDDDual):
    """The SVDD dual of points known by their inner products: ‖Zᵀα‖² is αᵀKα.

    Any backend solves it: ``Z`` are coordinates with these inner products, computed on first use, in O(N³), and
    ``take`` returns a dual in the same coordinates. The certificate needs none, and ``auto`` and ``libsvm`` work with K
    itself.

    Attributes
    ----------
    K : ndarray of shape (N, N)
        Symmetric and positive semi-definite.
    upper, tol, linear
        As in :class:`~pyod_gessvdd.SVDDDual`; the linear term is the diagonal of K unless given.
    """

    K: Array

    def __init__(self, K: Array, upper: Array, tol: float = 1e-8, *, linear: Array | None = None) -> None:
        values = {"K": K, "upper": upper, "tol": tol, "linear": K.diagonal() if linear is None else linear}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        # The generated __repr__ would compute Z.
        return f"KernelDual(n_samples={self.n_samples}, tol={self.tol})"

    @cached_property
    def Z(self) -> Array:
        """Coordinates with Z Zᵀ = K, of shape (N, rank of K), from a pivoted Cholesky factor."""
        factor, pivots, rank, _ = dpstrf(self.K, lower=1)
        Z = np.zeros((self.n_samples, max(rank, 1)))
        Z[pivots - 1] = np.tril(factor)[:, : max(rank, 1)]
        return Z

    @property
    def n_samples(self) -> int:
        """N, the number of points."""
        return len(self.K)

    def objective(self, alpha: Array) -> float:
        """D(α) = Σ α_i k_i − αᵀKα."""
        return float(alpha @ self.linear - alpha @ (self.K @ alpha))

    def certify(self, alpha: Array, product: Array | None = None) -> Certificate:
        """The duality gap and the interval of R² that belong to a feasible α; the centre has no coordinates.

        ``product`` is Kα, if known.
        """
        product = self.K @ alpha if product is None else product
        distances = self.linear - 2.0 * product
        distances += alpha @ product
        return self._certificate(alpha, np.zeros(0), np.maximum(distances, 0.0, out=distances))
