"""Updater ``GR``: one gradient step on the criterion (paper, Sub-algorithm 1), with SSVDD's regulariser ψ."""

from __future__ import annotations

import numpy as np

from pyod_gessvdd.components.contracts import Updater, UpdateState
from pyod_gessvdd.linalg import row_blocks
from pyod_gessvdd.updaters.parameters import check_regulariser

Array = np.ndarray

#: The weight of ψ unless one is given.
DEFAULT_BETA = 0.01


class Gradient(Updater):
    """Q ← Q ∓ η ΔL with ΔL = 2 S⁻¹ Q S − 2 S⁻¹ Q S Qᵀ S⁻¹ Q S_x, where S = S_α + β X λ λᵀ Xᵀ.

    Without a graph the criterion is Tr(Q S Qᵀ) and the step 2 Q S, so that SSVDD is GESSVDD-0-GR-min exactly. With
    one the criterion does not change under Q → RQ: this is a step on the Grassmann manifold, and the host's QR
    decomposition is its retraction.

    ψ = Tr(Q X λ λᵀ Xᵀ Qᵀ) (paper eq. ``generalconstraintpsi``) is written for SSVDD. With a graph, as in ESSVDD, it
    acts on S_Q^{-1/2} Q as the criterion does (paper eq. ``primalobj_gesvdd``): it measures the class's variance where
    the sphere lives, and the regularised criterion stays one on the Grassmann manifold.

    Parameters
    ----------
    step_size : float, optional
        η; the detector's ``step_size`` if None.
    psi : {0, 1, 2, 3}, optional
        Which λ: 0 none; 1 ones, which vanishes on centred features; 2 α; 3 α of the samples on the sphere (0 < α < C)
        and 0 elsewhere. The detector's ``psi`` if None and if it has one, else 0.
    beta : float, optional
        β, the weight of ψ (paper eq. ``langSSVDD``); the detector's ``beta`` if None and if it has one, else 0.01.
    """

    name = "gradient"
    supports_outliers = True
    aliases = ("GR",)
    inherits = ("step_size", "psi", "beta")

    def __init__(self, step_size: float | None = None, psi: int | None = None, beta: float | None = None) -> None:
        self.step_size = step_size
        self.psi = psi
        self.beta = beta

    def update(self, state: UpdateState) -> Array:
        """One step down (min) or up (max)."""
        step_size = 0.1 if self.step_size is None else self.step_size
        return state.Q + state.sign * step_size * self.gradient(state)

    def gradient(self, state: UpdateState) -> Array:
        """ΔL, of shape (d, F)."""
        psi = 0 if self.psi is None else self.psi
        beta = DEFAULT_BETA if self.beta is None else self.beta
        check_regulariser(psi, beta)
        Q, S_inv = state.Q, state.S_inv
        QS = state.alpha_scatter_dot(Q.T).T
        if psi and beta:
            spread = _weighted_sum(state, psi)
            QS += beta * np.outer(Q @ spread, spread)
        gradient = 2.0 * S_inv @ QS
        if state.S_x is not None:
            gradient -= 2.0 * S_inv @ (QS @ Q.T) @ S_inv @ state.scatter_dot(Q.T).T
        return gradient


def _weighted_sum(state: UpdateState, psi: int) -> Array:
    """X λ, of shape (F,); λλᵀ has rank one and is never formed."""
    if psi == 2:
        return state.alpha_mean
    rows = np.arange(len(state.Phi)) if psi == 1 else state.boundary
    once = np.ones(len(rows)) if state.sample_weight is None else state.sample_weight
    weights = once if psi == 1 else state.alpha[rows]
    total = np.zeros(state.Phi.shape[1])
    for block in row_blocks(len(rows), len(total)):
        total += weights[block] @ state.Phi[rows[block]]
    return total
