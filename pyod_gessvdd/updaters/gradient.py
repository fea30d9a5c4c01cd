"""Updater ``GR``: one gradient step on the criterion (paper, Sub-algorithm 1)."""

from __future__ import annotations

import numpy as np

from pyod_gessvdd.components import Updater, UpdateState


class Gradient(Updater):
    """Q ← Q ∓ η ΔL with ΔL = 2 S⁻¹ Q S_α − 2 S⁻¹ Q S_α Qᵀ S⁻¹ Q S_x.

    Without a graph the criterion is Tr(Q S_α Qᵀ) and the step 2 Q S_α, so that SSVDD is GESSVDD-0-GR-min exactly. With
    one the criterion does not change under Q → RQ: this is a step on the Grassmann manifold, and the host's QR
    decomposition is its retraction.

    Parameters
    ----------
    step_size : float, optional
        η; the detector's ``step_size`` if None.
    """

    name = "gradient"
    aliases = ("GR",)

    def __init__(self, step_size: float | None = None) -> None:
        self.step_size = step_size

    def update(self, state: UpdateState) -> np.ndarray:
        """One step down (min) or up (max)."""
        Q, S_inv = state.Q, state.S_inv
        S_alpha_Q = state.alpha_scatter_dot(Q.T).T
        gradient = 2.0 * S_inv @ S_alpha_Q
        if state.S_x is not None:
            gradient -= 2.0 * S_inv @ (S_alpha_Q @ Q.T) @ S_inv @ state.scatter_dot(Q.T).T
        step_size = 0.1 if self.step_size is None else self.step_size
        return Q + state.sign * step_size * gradient
