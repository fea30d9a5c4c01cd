"""The subspace: the start of Q, its orthonormal form, the whitening z = S_Q^{-1/2} Q φ, and what lies outside.

``docs/method.md`` derives it (section 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import dpotrf, dsyevd, dtrtrs
from sklearn.utils import check_random_state

from pyod_gessvdd.errors import ComponentError
from pyod_gessvdd.linalg import RELATIVE_ZERO, column_means, gram, orientation, row_blocks, symmetric_eigen
from pyod_gessvdd.residual import discarded, residual_scale

Array = np.ndarray

EPS = float(np.finfo(float).eps)
#: A negative eigenvalue beyond this share of the largest is not rounding.
INDEFINITE = 1e-8
#: A direction whose scatter is below the ridge, or below this share of the mean if the ridge is larger, is not seen.
UNSEEN = 1e-3
#: Rows are orthonormalised by their Cholesky factor, to rounding, if this share of each is orthogonal to those before.
NEARLY_ORTHOGONAL = 0.3
#: A plain QR decomposition whose smallest pivot is above this share of the largest has found independent rows.
SURELY_INDEPENDENT = 1e-6


def total_scatter(Phi: Array, weights: Array | None = None, *, around_mean: bool = True) -> Array | None:
    """Φᵀ Φ of the features around their mean, or None where there are more features than rows: it is larger than Φ.

    Without ``around_mean``, around zero. A row of weight 2 counts as two rows.
    """
    if Phi.shape[0] < Phi.shape[1]:
        return None
    return gram(Phi, column_means(Phi, weights) if around_mean else np.zeros(Phi.shape[1]), weights)


def principal_directions(
    Phi: Array, weights: Array | None = None, *, around_mean: bool = True, total: Array | None = None
) -> Array:
    """All directions in which the features vary, largest variance first, as rows: of shape (rank, F).

    Without ``around_mean``, all directions in which they differ from zero. ``total`` is their :func:`total_scatter`, if
    known.
    """
    scatter = total_scatter(Phi, weights, around_mean=around_mean) if total is None else total
    if scatter is None:
        centred = Phi - column_means(Phi, weights) if around_mean else Phi
        centred = centred if weights is None else np.sqrt(weights)[:, None] * centred
        _, singular, Vt = scipy.linalg.svd(centred, full_matrices=False)
        return _oriented(Vt[singular > np.sqrt(RELATIVE_ZERO) * singular[0]]) if singular[0] > 0 else Vt[:0]
    variances = np.diag(scatter)
    if np.abs(scatter - np.diag(variances)).max() <= RELATIVE_ZERO * variances.max():
        # The features of a kernel map are already principal components: their directions are the axes.
        order = np.argsort(-variances, kind="stable")
        return np.eye(len(variances))[order[variances[order] > RELATIVE_ZERO * variances.max()]]
    values, vectors = symmetric_eigen(scatter)
    return _oriented(vectors[:, values > RELATIVE_ZERO * max(values[-1], 0.0)][:, ::-1].T)


def _oriented(directions: Array) -> Array:
    return directions * orientation(directions.T)[:, None]


def random_directions(n_components: int, n_features: int, random_state: Any) -> Array:
    """Random orthonormal rows, of shape (d, F)."""
    return orthonormalise(check_random_state(random_state).standard_normal((n_components, n_features)))


def orthonormalise(Q: Array) -> Array:
    """Orthonormal rows with the same span, by QR; rows that depend on others are dropped."""
    if Q.shape[0] == 0:
        return Q
    # Rows that are nearly orthogonal, as after a small step, need no QR: a Cholesky factor is several times faster.
    # LAPACK is called directly here and below: NumPy's overhead takes longer than so small a problem.
    inner = Q @ Q.T
    L, info = dpotrf(inner, lower=1, clean=0)
    if info == 0 and (L.diagonal() > NEARLY_ORTHOGONAL * np.sqrt(inner.diagonal())).all():
        return np.ascontiguousarray(dtrtrs(L, Q, lower=1)[0])
    lengths = np.linalg.norm(Q, axis=1, keepdims=True)
    scaled = Q / np.where(lengths > 0, lengths, 1.0)
    basis, R = np.linalg.qr(scaled.T)
    diagonal = np.abs(np.diag(R))
    if len(Q) <= Q.shape[1] and diagonal.min() > SURELY_INDEPENDENT * diagonal.max():
        return basis.T
    # Only pivoting tells how many rows are independent.
    basis, R, _ = scipy.linalg.qr(scaled.T, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(R))
    return basis[:, diagonal > RELATIVE_ZERO * diagonal[0]].T if diagonal[0] > 0 else Q[:0]


def subspace_distance(Q: Array, P: Array) -> float:
    """How far two subspaces are apart: the sine of their largest principal angle, 1 if their dimensions differ."""
    if Q.shape[0] != P.shape[0]:
        return 1.0
    outside = P - (P @ Q.T) @ Q
    return min(1.0, sqrt(max(float(dsyevd(outside @ outside.T, compute_v=0, lower=1)[0][-1]), 0.0)))


@dataclass(frozen=True)
class Whitening:
    """S_Q = Q S_x Qᵀ, inverted.

    Attributes
    ----------
    root : ndarray of shape (d, d)
        S_Q^{-1/2}, symmetric.
    inverse : ndarray of shape (d, d)
        S_Q^{-1}, for the update of Q.
    n_unseen : int
        How many directions the graph does not see: their scatter is below the ridge.
    """

    root: Array
    inverse: Array
    n_unseen: int


def n_seen(S_x: Array, ridge: float) -> int:
    """The number of directions that a graph with this scatter sees, by the criterion of :func:`whiten`."""
    values = np.linalg.eigvalsh(S_x)
    return max(1, int(np.count_nonzero(values > _seen_above(ridge) * values.mean())))


def _seen_above(ridge: float) -> float:
    # A large ridge is there to shrink small scatters, not to hide them.
    return max(min(ridge, UNSEEN), RELATIVE_ZERO)


def whiten(Q: Array, S_x: Array | None, ridge: float) -> Whitening:
    """Invert S_Q + ridge · (Tr S_Q / d) · I by its eigendecomposition (paper eq. ``Einv``).

    A direction whose scatter is below a small ridge is one that the graph does not see (the between graph has rank
    K − 1 at most). The ridge alone scales it in the distance, far up; that measured better than dropping it or giving
    it the mean scale (mean ROC-AUC of Sb-GR over 20 ADBench sets: 0.79, 0.72, 0.77), and the caller warns.
    The update of Q leaves such a direction alone: a step along 1/ridge would throw away what Q has learnt.
    """
    d = Q.shape[0]
    if S_x is None:
        return Whitening(np.eye(d), np.eye(d), 0)
    values, vectors = symmetric_eigen(Q @ S_x @ Q.T)
    # If the graph sees nothing of the subspace, the values are rounding of either sign, and so is their mean.
    rounding = EPS * S_x.shape[0] * float(S_x.trace())
    smallest, mean = float(values[0]), float(values.sum()) / d
    if smallest > max(rounding, _seen_above(ridge) * mean):
        # All directions are seen, as is nearly always the case.
        root = (vectors / np.sqrt(values + ridge * mean)) @ vectors.T
        return Whitening(root, root @ root, 0)
    if smallest < -max(rounding, INDEFINITE * float(values[-1])):
        raise ComponentError(
            "the laplacian is not positive semi-definite: "
            f"the scatter in the subspace has the eigenvalue {smallest:.3g}"
        )
    values = np.where(values > rounding, values, 0.0)
    mean = max(float(values.sum()) / d, rounding)
    seen = values > _seen_above(ridge) * mean
    n_unseen = d - int(np.count_nonzero(seen))
    if ridge > 0 or not n_unseen:
        inverse = 1.0 / (values + ridge * mean)
    else:
        inverse = np.divide(1.0, values, out=np.zeros(d), where=seen)
    root = (vectors * np.sqrt(inverse)) @ vectors.T
    return Whitening(root, root @ root if not n_unseen else (vectors * (seen * inverse)) @ vectors.T, n_unseen)


@dataclass(frozen=True, eq=False)
class Subspace:
    """Q with its metric: from centred features to whitened coordinates and, if it counts, the squared residual.

    Attributes
    ----------
    Q : ndarray of shape (d, F)
        Orthonormal rows.
    whitening : Whitening
        S_Q, inverted.
    residual_scale : float or None
        1/ρ, the unit of what lies outside; None if only what is inside counts, as in the paper.
    """

    Q: Array
    whitening: Whitening
    residual_scale: float | None

    @classmethod
    def at(cls, Q: Array, S_x: Array | None, ridge: float, *, residual: bool) -> Subspace:
        """The subspace of Q with the metric that the graph's scatter gives it."""
        return cls(Q, whiten(Q, S_x, ridge), residual_scale(Q, S_x, ridge) if residual else None)

    @cached_property
    def projection(self) -> Array:
        """S_Q^{-1/2} Q, of shape (d, F)."""
        return self.whitening.root @ self.Q

    def coordinates(self, Phi: Array) -> Array:
        """Z = S_Q^{-1/2} Q φ of each row (paper eq. ``test``), of shape (n, d)."""
        return Phi @ self.projection.T

    def points(self, Phi: Array, missed: Array | None = None) -> tuple[Array, Array | None]:
        """Z of each row, and r²/ρ, or None if it does not count.

        Parameters
        ----------
        Phi : ndarray of shape (n, F)
            Centred features.
        missed : ndarray of shape (n,), optional
            What the features miss of each row; needed if the residual counts.
        """
        if self.residual_scale is None or missed is None:
            return self.coordinates(Phi), None
        inside = Phi @ self.Q.T
        residual2 = discarded(Phi, inside, self.Q)
        residual2 += missed
        residual2 *= self.residual_scale
        return inside @ self.whitening.root, residual2

    def training_points(self, Phi: Array, missed: Array | None, buffer: Array | None) -> tuple[Array, Array | None]:
        """:meth:`points` of all training rows, in blocks, Z in ``buffer`` if it fits.

        Fresh memory of that size costs as much as the product.
        """
        shape = (len(Phi), len(self.Q))
        Z = buffer if buffer is not None and buffer.shape == shape else np.empty(shape)
        residual2 = None if self.residual_scale is None or missed is None else np.empty(len(Phi))
        for rows in row_blocks(*Phi.shape):
            if residual2 is None or missed is None:
                np.matmul(Phi[rows], self.projection.T, out=Z[rows])
            else:
                Z[rows], residual2[rows] = self.points(Phi[rows], missed[rows])
        return Z, residual2

    def pullback(self, Phi: Array, by_coordinates: Array, by_residual2: float) -> tuple[Array, Array]:
        """From a function's gradient in Z and in r²/ρ to its gradient in Φ, (n, F), and in what Φ misses, (n,).

        Parameters
        ----------
        Phi : ndarray of shape (n, F)
            Where to evaluate it.
        by_coordinates : ndarray of shape (n, d)
            How the function changes with Z.
        by_residual2 : float
            How it changes with r²/ρ, the same for every row.
        """
        by_features = by_coordinates @ self.projection
        if self.residual_scale is None:
            return by_features, np.zeros(len(Phi))
        by_missed = by_residual2 * self.residual_scale
        return by_features + 2.0 * by_missed * self.outside(Phi), np.full(len(Phi), by_missed)

    def outside(self, Phi: Array) -> Array:
        """φ − QᵀQφ of each row, the part that the projection discards, of shape (n, F)."""
        return Phi - (Phi @ self.Q.T) @ self.Q
