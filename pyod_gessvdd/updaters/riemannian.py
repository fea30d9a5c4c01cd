"""Updater ``riemannian``: conjugate gradients on the Grassmann manifold, with a line search that only improves."""

from __future__ import annotations

import numpy as np

from pyod_gessvdd.components.contracts import Updater, UpdateState
from pyod_gessvdd.updaters.line_search import Armijo
from pyod_gessvdd.updaters.parameters import check_steps, check_tolerance
from pyod_gessvdd.updaters.whitened import WhitenedProblem, retract

Array = np.ndarray


class Riemannian(Updater):
    """Descent (min) or ascent (max) of Tr((Q S_x Qᵀ)⁻¹ Q S_α Qᵀ) (paper eq. ``Ltrace``) for a fixed α.

    Each step projects the gradient to the horizontal space of the Grassmann manifold, in coordinates that S_x has
    whitened, makes it conjugate to the last direction (Polak and Ribière's rule, with a restart when it points the
    wrong way), and takes the step length from the curvature; Armijo's rule shortens the step until the criterion
    improves, and QR is the retraction. So the criterion never worsens, and ``step_size`` does not matter. If no step
    improves it, Q is returned as it is, as it is from a stationary point that is not an optimum, an exactly invariant
    subspace.

    With enough steps it reaches the optimum over all subspaces: the d largest generalised eigenvalues of (S_α, S_x),
    or the d smallest, *zeros included*. ``spectral`` min leaves the zeros out, as in the paper; where S_α has full
    rank there are none, and the two agree. The parts of Q's rows in directions that the graph does not see stay as they
    are.

    Parameters
    ----------
    max_steps : int, default=500
        The most steps per update; few make a gentle update like that of ``gradient``, many a jump like that of
        ``spectral``.
    tol : float, default=1e-6
        Stop when the gradient's norm is below this share of the norm of S_α (both whitened).
    """

    name = "riemannian"
    by_scatter = True

    def __init__(self, max_steps: int = 500, tol: float = 1e-6) -> None:
        self.max_steps = max_steps
        self.tol = tol

    def update(self, state: UpdateState) -> Array:
        """Improve the criterion for the current α."""
        check_steps(self)
        check_tolerance(self)
        problem = WhitenedProblem.of(state)
        U = self._descend(problem)
        return state.Q if U is problem.U else problem.projection(U)

    def _descend(self, problem: WhitenedProblem) -> Array:
        M, U = problem.M, problem.U
        goal = self.tol * float(np.linalg.norm(M))
        line_search = Armijo()
        value = problem.value(U)
        direction = last = None
        for _ in range(self.max_steps):
            MU = M @ U
            small = U.T @ MU
            gradient = 2.0 * (MU - U @ small)
            if np.linalg.norm(gradient) <= goal:
                break
            direction = _conjugate(gradient, last, direction, U)
            found = line_search.search(
                problem.value,
                lambda step, U=U, D=direction: retract(U + step * D),  # type: ignore[misc]
                value,
                float(np.vdot(gradient, direction)),
                _first_step(M, small, gradient, direction),
            )
            if found is None:
                break
            last = gradient
            U, value = found
        return U


def _conjugate(gradient: Array, last: Array | None, direction: Array | None, U: Array) -> Array:
    """The next direction; the last ones are carried over by projecting them to the horizontal space at U."""
    if last is None or direction is None:
        return -gradient
    last, direction = last - U @ (U.T @ last), direction - U @ (U.T @ direction)
    beta = float(np.vdot(gradient, gradient - last)) / max(float(np.vdot(last, last)), np.finfo(float).tiny)
    conjugate = -gradient + max(beta, 0.0) * direction
    return conjugate if np.vdot(conjugate, gradient) < 0 else -gradient


def _first_step(M: Array, small: Array, gradient: Array, direction: Array) -> float:
    """To the minimum of the second-order model along the direction, and no farther than 45 degrees."""
    farthest = 1.0 / float(np.linalg.norm(direction, 2))
    curvature = 2.0 * float(np.vdot(direction, M @ direction - direction @ small))
    if curvature <= 0:
        return farthest
    return min(farthest, -float(np.vdot(gradient, direction)) / curvature)
