"""The dense form of the dual, for solvers that take dense, positive definite matrices only.

    minimise αᵀ(ZZᵀ + ρI)α − Σ (k_i + 2ρ α_i,last) α_i   subject to  Σα = 1,  0 ≤ α ≤ u        (k_i = ‖z_i‖² + r_i²)

in units of the bounds; see :mod:`pyod_gessvdd_qpsolvers.backend` for ρ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pyod_gessvdd import SVDDDual
from pyod_gessvdd_qpsolvers.backend import TINY, QPSolversBackend

Array = np.ndarray

#: The largest N: the time grows with its cube, and is seconds per step there.
MAX_SAMPLES = 1000


@dataclass(kw_only=True, eq=False, repr=False)
class DenseBackend(QPSolversBackend):
    """A dense solver, on the N × N form, in proximal steps; at most 1,000 points with a positive bound.

    Parameters
    ----------
    settings : mapping, optional
        See :class:`~pyod_gessvdd_qpsolvers.QPSolversBackend`.
    """

    ridge = 1e-4

    def _problem(
        self, dual: SVDDDual, last_alpha: Array, warm_start: Array | None
    ) -> tuple[dict[str, Any], Array | None]:
        N = dual.n_samples
        if N > MAX_SAMPLES:
            raise ValueError(
                f"qp_backend {self.name!r} needs a dense N × N matrix and is limited to {MAX_SAMPLES} points, "
                f"got {N}; use 'auto' or one of the sparse solvers"
            )
        scaled = dual.Z * dual.upper[:, None]
        unit = float(np.linalg.norm(dual.upper))
        gain = dual.upper * (dual.linear + 2.0 * self.ridge * last_alpha)
        size = max(float(gain.max()), TINY)
        P = scaled @ scaled.T
        P[np.diag_indices(N)] += self.ridge * dual.upper**2
        P *= 2.0 / size
        problem = {
            "P": P,
            "q": -gain / size,
            "A": dual.upper[None] / unit,
            "b": np.array([1.0 / unit]),
            "lb": np.zeros(N),
            "ub": np.ones(N),
        }
        return problem, None if warm_start is None else warm_start / dual.upper
