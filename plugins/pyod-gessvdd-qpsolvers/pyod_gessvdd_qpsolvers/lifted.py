"""The lifted form of the dual, for sparse solvers: P is diagonal and nothing is N × N.

With x_i = α_i / u_i and y = Zᵀα / s the dual is

    minimise s²‖y‖² − Σ u_i k_i x_i   subject to  (Z diag(u))ᵀx / s − y = 0,  uᵀx = 1,  0 ≤ x ≤ 1

with k_i = ‖z_i‖² + r_i², N + d variables and N (d + 1) + d entries in its constraints; s makes these entries about one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from pyod_gessvdd import SVDDDual
from pyod_gessvdd_qpsolvers.backend import TINY, QPSolversBackend

Array = np.ndarray


@dataclass(kw_only=True, eq=False, repr=False)
class LiftedBackend(QPSolversBackend):
    """A sparse solver, on the lifted form.

    Parameters
    ----------
    settings : mapping, optional
        See :class:`~pyod_gessvdd_qpsolvers.QPSolversBackend`.
    """

    #: Whether 0 ≤ x ≤ 1 is given as rows of an inequality: for solvers to which qpsolvers would pass on −∞ ≤ y ≤ ∞.
    bounds_as_rows: ClassVar[bool] = False

    def _problem(
        self, dual: SVDDDual, last_alpha: Array, warm_start: Array | None
    ) -> tuple[dict[str, Any], Array | None]:
        N, d = dual.Z.shape
        scaled = dual.Z * dual.upper[:, None]
        length = max(float(np.sqrt(np.einsum("ij,ij->", scaled, scaled) / d)), TINY)
        unit = float(np.linalg.norm(dual.upper))
        gain = dual.upper * (dual.linear + 2.0 * self.ridge * last_alpha)
        size = max(float(gain.max()), TINY)
        onto_y = sp.hstack([sp.csc_matrix(scaled.T / length), -sp.identity(d)])
        onto_sum = sp.hstack([sp.csc_matrix(dual.upper[None] / unit), sp.csc_matrix((1, d))])
        problem = {
            "P": sp.diags(np.concatenate([self.ridge * dual.upper**2, np.full(d, length**2)]) * (2.0 / size)).tocsc(),
            "q": np.concatenate([-gain / size, np.zeros(d)]),
            "A": sp.vstack([onto_y, onto_sum], format="csc"),
            "b": np.concatenate([np.zeros(d), [1.0 / unit]]),
            **self._bounds(N, d),
        }
        if warm_start is None:
            return problem, None
        return problem, np.concatenate([warm_start / dual.upper, warm_start @ dual.Z / length])

    def _bounds(self, N: int, d: int) -> dict[str, Any]:
        if self.bounds_as_rows:
            x_part = sp.hstack([sp.identity(N), sp.csc_matrix((N, d))])
            return {"G": sp.vstack([x_part, -x_part], format="csc"), "h": np.repeat([1.0, 0.0], N)}
        infinite = np.full(d, np.inf)
        return {"lb": np.concatenate([np.zeros(N), -infinite]), "ub": np.concatenate([np.ones(N), infinite])}
