"""QP backend: OSQP on the lifted form, so that P stays diagonal and nothing is N × N.

In units of the bounds, x_i = α_i / u_i, and with y = Zᵀα / s the dual is

    minimise s²‖y‖² − Σ u_i k_i x_i   subject to  (Z diag(u))ᵀx / s − y = 0,  uᵀx = 1,  0 ≤ x ≤ 1

with N + d variables and N (d + 2) + d entries in its constraint matrix. OSQP finds which points are at a bound; the
polishing of the others is ours, because OSQP's own does not always succeed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from pyod_gessvdd.components.contracts import QPBackend
from pyod_gessvdd.dual import QPSolution, SVDDDual
from pyod_gessvdd.qp.polish import polish

Array = np.ndarray


class OSQP(QPBackend):
    """The operator-splitting solver OSQP.

    A solver is kept between solves of the same size, as in the iterations of one fit, and given the new numbers.

    Parameters
    ----------
    eps : float, default=1e-6
        OSQP's absolute and relative tolerance.
    max_iter : int, default=20000
        The largest number of OSQP's iterations.
    """

    name = "osqp"
    exact = False
    supports_warm_start = True

    def __init__(self, eps: float = 1e-6, max_iter: int = 20_000) -> None:
        self.eps = eps
        self.max_iter = max_iter

    def solve(self, dual: SVDDDual, warm_start: Array | None = None) -> QPSolution:
        """Solve the lifted form and polish the answer."""
        N = dual.n_samples
        u = np.maximum(dual.upper, np.finfo(float).tiny)
        solver, length = self._solver_of(dual, u)
        if warm_start is not None:
            solver.warm_start(x=np.concatenate([warm_start / u, warm_start @ dual.Z / length]))
        result = solver.solve(raise_error=False)
        x = np.asarray(result.x[:N])
        alpha = polish(dual, x * u) if np.isfinite(x).all() else x
        return QPSolution(
            alpha,
            n_iter=int(result.info.iter),
            status=str(result.info.status),
            extras={"status_polish": int(result.info.status_polish)},
        )

    def _solver_of(self, dual: SVDDDual, u: Array) -> tuple[Any, float]:
        """A solver that holds this problem, and the length s that y is measured in."""
        import osqp

        N, d = dual.Z.shape
        scaled = dual.Z * u[:, None]
        length = max(float(np.sqrt(np.einsum("ij,ij->", scaled, scaled) / d)), np.finfo(float).tiny)
        unit = float(np.linalg.norm(u))
        q = np.concatenate([-dual.linear * u, np.zeros(d)])
        size = max(float(np.abs(q).max()), np.finfo(float).tiny)
        P = sp.csc_array(sp.diags_array(np.concatenate([np.zeros(N), np.full(d, 2.0 * length**2 / size)])))
        A = _constraints(scaled / length, u / unit)
        lower = np.concatenate([np.zeros(d), [1.0 / unit], np.zeros(N)])
        upper = np.concatenate([np.zeros(d), [1.0 / unit], (dual.upper > 0).astype(float)])
        kept = getattr(self, "_kept", None)
        if kept is not None and kept[0] == (N, d):
            kept[1].update(q=q / size, l=lower, u=upper, Px=P.data, Ax=A.data)
        else:
            solver = osqp.OSQP()
            solver.setup(
                sp.csc_matrix(P),
                q / size,
                sp.csc_matrix(A),
                lower,
                upper,
                verbose=False,
                eps_abs=self.eps,
                eps_rel=self.eps,
                max_iter=self.max_iter,
                polishing=True,
            )
            self._kept = kept = ((N, d), solver)
        return kept[1], length

    def __getstate__(self) -> dict[str, Any]:
        # A solver cannot be pickled; it is rebuilt when needed.
        return {name: value for name, value in super().__getstate__().items() if name != "_kept"}


def _constraints(scaled: Array, share: Array) -> sp.csc_array:
    """Rows: y = …, Σα = 1, the bounds. Every entry is stored, zero or not: the pattern depends on the shape alone."""
    N, d = scaled.shape
    values = np.hstack([scaled, share[:, None], np.ones((N, 1))])
    rows = np.hstack([np.tile(np.arange(d + 1), (N, 1)), d + 1 + np.arange(N)[:, None]])
    data = np.concatenate([values.ravel(), np.full(d, -1.0)])
    indices = np.concatenate([rows.ravel(), np.arange(d)])
    pointers = np.concatenate([np.arange(N + 1) * (d + 2), N * (d + 2) + 1 + np.arange(d)])
    return sp.csc_array((data, indices, pointers), shape=(d + 1 + N, N + d))
