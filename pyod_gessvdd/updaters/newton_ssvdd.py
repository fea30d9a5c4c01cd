"""Updater ``newton_ssvdd``: the step of Newton method-based S-SVDD (Sohrab, Laakom and Gabbouj, 2023)."""

from __future__ import annotations

import numpy as np

from pyod_gessvdd.components.contracts import UpdateState
from pyod_gessvdd.linalg import RELATIVE_ZERO
from pyod_gessvdd.updaters.gradient import Gradient
from pyod_gessvdd.updaters.whitened import WhitenedProblem

Array = np.ndarray


class NewtonSSVDD(Gradient):
    """Q ← Q ∓ η (ΔL) H⁺ with ΔL = 2QS, the Hessian H = 2S of each row of Q, and S = S_α + β X M Xᵀ.

    The method takes the criterion Tr(QSQᵀ) as a function of Q without its constraint QQᵀ = I, whose only stationary
    point is Q = 0, and a Moore–Penrose inverse where S is singular. The step is therefore Q ∓ ηQP with P the projector
    onto the range of S: Q's part in that range is made smaller (min) or larger (max), and orthonormalised afterwards.
    **Where S has full rank, as with fewer features than support vectors, P is the identity and the subspace stays
    as it is.** :class:`~pyod_gessvdd.updaters.newton.Newton` takes the constraint into account: it is Newton's method
    on the Grassmann manifold, its step solves the second-order model exactly, and it goes to the optimum. The two
    have only the name in common.

    The paper has no graph. With one, the step is made in coordinates that S_x has whitened, which without a graph are
    the features themselves.

    Parameters
    ----------
    step_size : float, optional
        η; the detector's ``step_size`` if None.
    psi, beta, random_state
        The regulariser, as in :class:`~pyod_gessvdd.updaters.gradient.Gradient`: it is part of S.
    """

    name = "newton_ssvdd"
    aliases = ("NSSVDD",)
    improves_criterion = None
    by_scatter = True

    def update(self, state: UpdateState) -> Array:
        """One step down (min) or up (max)."""
        step_size = 0.1 if self.step_size is None else self.step_size
        problem = WhitenedProblem.of(state)
        S = self.regularised_dot(state, np.eye(state.Q.shape[1]))
        M = problem.lift.T @ S @ problem.lift
        values, vectors = np.linalg.eigh((M + M.T) / 2)
        inside = vectors[:, np.abs(values) > RELATIVE_ZERO * np.abs(values).max(initial=0.0)]
        return problem.projection(problem.U + state.sign * step_size * (inside @ (inside.T @ problem.U)))
