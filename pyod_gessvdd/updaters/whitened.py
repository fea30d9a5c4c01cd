"""The criterion for a fixed α in coordinates that S_x has whitened: Tr(UᵀMU) over orthonormal U.

With W of shape (F, r) and Wᵀ S_x W = I, a subspace Q = (WU)ᵀ has Q S_x Qᵀ = UᵀU. So for orthonormal U

    Tr((Q S_x Qᵀ)⁻¹ Q S_α Qᵀ) = Tr(UᵀMU),        M = Wᵀ S_α W,

a function on the Grassmann manifold whose curvature no longer depends on the units of the features. Without a graph W
is the identity, and this is the criterion of SSVDD.

Where S_x is singular, the part of a row of Q in its null space counts in the numerator but not in the denominator: the
maximum over all subspaces is infinite. As in the other updates, such a part is left as it is: it moves along with the
row's other part, W becomes W + E U₀ᵀ with E in the null space, and the identity above holds exactly from the start.
Rows of Q that the graph does not see at all (see :func:`~pyod_gessvdd.subspace.whiten`) stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyod_gessvdd.components.contracts import UpdateState
from pyod_gessvdd.updaters.spectral import whitening_basis

Array = np.ndarray


@dataclass(frozen=True)
class WhitenedProblem:
    """Minimise Tr(UᵀMU) over orthonormal U; M has the opposite sign where the criterion should rise.

    Attributes
    ----------
    M : ndarray of shape (r, r)
        ∓ Wᵀ S_α W.
    U : ndarray of shape (r, k)
        The start, orthonormal columns; k is d without the directions that the graph does not see.
    lift : ndarray of shape (F, r)
        W: back to the features.
    unseen : ndarray of shape (d − k, F)
        The directions of Q that the graph does not see.
    """

    M: Array
    U: Array
    lift: Array
    unseen: Array

    @classmethod
    def of(cls, state: UpdateState) -> WhitenedProblem:
        """The problem that an updater is given."""
        Q, W = state.Q, whitening_basis(state)
        scatter, basis = np.linalg.eigh(Q @ state.scatter_dot(Q.T))
        # The whitening decided what is seen: there S_inv is the inverse, up to the ridge, and elsewhere it is zero.
        seen = scatter * np.einsum("ij,ij->j", basis, state.S_inv @ basis) > 0.25
        rows = basis[:, seen].T @ Q
        U, triangle = np.linalg.qr(W.T @ state.scatter_dot(rows.T))
        lift = W
        if W.shape[1] < W.shape[0] and rows.size:
            beyond = np.linalg.solve(triangle.T, rows).T - W @ U
            lift = W + beyond @ U.T
        M = -state.sign * (lift.T @ state.S_alpha @ lift)
        return cls((M + M.T) / 2, U, lift, basis[:, ~seen].T @ Q)

    def value(self, U: Array) -> float:
        """Tr(UᵀMU)."""
        return float(np.einsum("ij,ij->", U, self.M @ U))

    def projection(self, U: Array) -> Array:
        """Q for these coordinates, of shape (d, F)."""
        return np.vstack([(self.lift @ U).T, self.unseen])


def retract(U: Array) -> Array:
    """Orthonormal columns with the same span, by QR."""
    return np.linalg.qr(U)[0]
