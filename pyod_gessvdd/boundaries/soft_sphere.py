"""The sphere whose slacks count by their squares: ℓp-slack SVDD with p = 2 (Arashloo, 2022)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pyod_gessvdd.boundaries.sphere import Sphere
from pyod_gessvdd.components.contracts import QPBackend
from pyod_gessvdd.dual import QPSolution
from pyod_gessvdd.qp import solve_kernel_svdd

Array = np.ndarray

#: The largest number of points: their matrix of inner products is formed.
MAX_POINTS = 10_000
#: The share of the tolerance that the problem actually solved must reach, as its values are larger by a constant.
STRICTER = 0.01


class SoftSphere(Sphere):
    """The sphere that minimises R² + Σ u_i ξ_i² where the squared distances are at most R² + ξ_i.

    Its dual is that of SVDD minus Σ α_i²/(4u_i), without upper bounds: exactly the smallest sphere around *all* points
    (z_i, e_i/√(4u_i)), where each has a direction of its own. So the SVDD dual of the matrix ZZᵀ + diag(1/(4u)), with
    α ≤ 1, solves it, by any backend and with its certificate. A support vector is outside by ξ_i = α_i/(2u_i), the
    farther the larger its α.
    """

    @classmethod
    def fit(
        cls,
        Z: Array,
        residual2: Array | None,
        upper: Array,
        *,
        backend: QPBackend,
        tol: float,
        last_alpha: Array | None = None,
    ) -> tuple[Sphere, QPSolution]:
        """Solve the dual of the points with one more direction for each."""
        if len(Z) > MAX_POINTS:
            raise ValueError(f"squared slacks need an N × N matrix and are limited to {MAX_POINTS} rows, got {len(Z)}")
        own = 1.0 / (4.0 * upper)
        K = Z @ Z.T
        K[np.diag_indices_from(K)] += own
        # The linear term should be k_i, up to a constant, not the longer diagonal.
        largest = float(own.max())
        outside = largest - own + (0.0 if residual2 is None else residual2)
        answer = solve_kernel_svdd(K, np.broadcast_to(1.0, len(Z)), backend, STRICTER * tol, last_alpha, outside)
        alpha = answer.alpha
        beyond = largest + float(own @ alpha**2)
        radius2 = answer.radius2 - beyond
        if not radius2 > 0:
            raise ValueError(
                f"C={float(upper.min()):.3g} is too small for squared slacks: no radius is left, and every row is "
                "outside; use a larger C or a smaller nu"
            )
        objective = answer.objective - largest
        solution = replace(
            answer,
            center=alpha @ Z,
            radius2=radius2,
            radius2_interval=(radius2, radius2),
            objective=objective,
            gap=answer.gap / (1.0 - answer.gap) * answer.objective / objective,
        )
        return cls(solution.center, radius2), solution
