"""Updater ``newton``: second-order steps on the criterion, exact in their model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyod_gessvdd.components.contracts import Updater, UpdateState
from pyod_gessvdd.updaters.line_search import Armijo
from pyod_gessvdd.updaters.parameters import check_steps, check_tolerance
from pyod_gessvdd.updaters.whitened import WhitenedProblem, retract

Array = np.ndarray

#: A curvature below this share of the largest is raised to it: a tie has no Newton step.
FLAT = 1e-10


class Newton(Updater):
    """Newton's method for Tr((Q S_x Qᵀ)⁻¹ Q S_α Qᵀ) (paper eq. ``Ltrace``) and a fixed α.

    In whitened coordinates the criterion is Tr(UᵀMU) with UᵀU = I. With A = UᵀMU as the constraint's multiplier and a
    step U + U⊥D, its Lagrangian Tr(XᵀMX) − Tr(A(XᵀX − I)) is exactly quadratic in D, and agrees with the criterion to
    second order:

        Tr A + 2⟨B, D⟩ + ⟨D, CD − DA⟩,        B = U⊥ᵀMU,  C = U⊥ᵀMU⊥.

    In the eigenvectors of A and C the Hessian is diagonal, with the curvatures c_i − a_j, and the step solves the
    model exactly. Near the optimum it converges at least quadratically.

    The fallback: in an entry whose curvature has the wrong sign for the direction wanted (the subspace would have to
    exchange that eigenvector), the model has no optimum, and the step follows the gradient instead, divided by the
    curvature's absolute value. A step is cut to 45 degrees, and halved until the criterion improves (Armijo's rule):
    the criterion never worsens; if no step improves it, Q is returned as it is. The optimum is that of
    :class:`~pyod_gessvdd.updaters.riemannian.Riemannian`, zeros included.

    A step costs the eigendecomposition of C, nearly that of ``spectral``, which jumps to the optimum: ``newton`` is for
    those who want to go there gradually, without a step size.

    Parameters
    ----------
    max_steps : int, default=1
        Second-order steps per update.
    tol : float, default=1e-10
        No step is made where the gradient's norm is below this share of the norm of S_α (both whitened).
    """

    name = "newton"
    by_scatter = True

    def __init__(self, max_steps: int = 1, tol: float = 1e-10) -> None:
        self.max_steps = max_steps
        self.tol = tol

    def update(self, state: UpdateState) -> Array:
        """Step towards the optimum for the current α."""
        check_steps(self)
        check_tolerance(self)
        problem = WhitenedProblem.of(state)
        U, value = problem.U, problem.value(problem.U)
        goal = self.tol * float(np.linalg.norm(problem.M))
        for _ in range(self.max_steps):
            model = QuadraticModel.at(problem.M, U)
            if model.B.size == 0 or 2.0 * np.linalg.norm(model.B) <= goal:
                break
            D = model.step()
            D /= max(1.0, float(np.linalg.norm(D, 2)))
            found = Armijo().search(
                problem.value,
                lambda step, model=model, D=D: retract(model.U + step * (model.U_perp @ D)),  # type: ignore[misc]
                value,
                float(np.vdot(model.gradient(np.zeros_like(D)), D)),
                1.0,
            )
            if found is None:
                break
            U, value = found
        return state.Q if U is problem.U else problem.projection(U)


@dataclass(frozen=True)
class QuadraticModel:
    """The criterion around U to second order, in the coordinates D of the step U + U⊥D.

    ``U`` and ``U_perp`` are rotated so that A and C are diagonal; a and c hold their diagonals.
    """

    U: Array
    U_perp: Array
    a: Array
    c: Array
    B: Array

    @classmethod
    def at(cls, M: Array, U: Array) -> QuadraticModel:
        """The model of Tr(UᵀMU) at orthonormal U."""
        U_perp = np.linalg.qr(U, mode="complete")[0][:, U.shape[1] :]
        a, inside = np.linalg.eigh(U.T @ M @ U)
        c, outside = np.linalg.eigh(U_perp.T @ M @ U_perp)
        U, U_perp = U @ inside, U_perp @ outside
        return cls(U, U_perp, a, c, U_perp.T @ M @ U)

    @property
    def curvature(self) -> Array:
        """c_i − a_j, half of the Hessian's diagonal; all positive where the model is convex."""
        return self.c[:, None] - self.a[None, :]

    def value(self, D: Array) -> float:
        """Tr A + 2⟨B, D⟩ + ⟨D, CD − DA⟩."""
        return float(self.a.sum() + 2.0 * np.vdot(self.B, D) + np.vdot(D, self.curvature * D))

    def gradient(self, D: Array) -> Array:
        """2 (B + CD − DA)."""
        return 2.0 * (self.B + self.curvature * D)

    def step(self) -> Array:
        """The model's minimum; down the gradient, over |curvature|, in the entries that have none."""
        size = np.abs(self.curvature)
        floor = max(FLAT * float(size.max()), np.finfo(float).tiny)
        return -self.B / np.maximum(size, floor)
