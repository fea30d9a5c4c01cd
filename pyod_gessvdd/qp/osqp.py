"""QP backend: OSQP on the lifted form, so that P stays diagonal and nothing is N × N.

With y = Zᵀα the dual is  minimise ‖y‖² − kᵀα  subject to  Zᵀα − y = 0,  Σα = 1,  0 ≤ α ≤ u: N + d variables, a sparse
constraint matrix of N·d + 2N entries.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from pyod_gessvdd.components import QPBackend
from pyod_gessvdd.dual import QPSolution, SVDDDual

Array = np.ndarray


class OSQP(QPBackend):
    """The operator-splitting solver OSQP, with tight tolerances and polishing.

    Parameters
    ----------
    eps : float, default=1e-9
        Absolute and relative tolerance of OSQP.
    max_iter : int, default=200000
        The largest number of OSQP's iterations.
    """

    name = "osqp"
    exact = False
    supports_warm_start = True

    def __init__(self, eps: float = 1e-9, max_iter: int = 200_000) -> None:
        self.eps = eps
        self.max_iter = max_iter

    def solve(self, dual: SVDDDual, warm_start: Array | None = None) -> QPSolution:
        """Solve the lifted form; α is scaled by N so that its entries are of order one."""
        import osqp

        N, d = dual.Z.shape
        # β = α·N: OSQP's absolute tolerance would otherwise swallow α = 1/N.
        P = sp.block_diag([sp.csc_matrix((N, N)), 2.0 * sp.eye(d)], format="csc")
        q = np.concatenate([-dual.squared_norms / N, np.zeros(d)])
        A = sp.bmat(
            [
                [sp.csc_matrix(dual.Z.T / N), -sp.eye(d)],
                [np.full((1, N), 1.0 / N), None],
                [sp.eye(N), sp.csc_matrix((N, d))],
            ],
            format="csc",
        )
        lower = np.concatenate([np.zeros(d), [1.0], np.zeros(N)])
        upper = np.concatenate([np.zeros(d), [1.0], dual.upper * N])
        solver = osqp.OSQP()
        solver.setup(
            P,
            q,
            A,
            lower,
            upper,
            verbose=False,
            eps_abs=self.eps,
            eps_rel=self.eps,
            max_iter=self.max_iter,
            polishing=True,
        )
        if warm_start is not None:
            solver.warm_start(x=np.concatenate([warm_start * N, warm_start @ dual.Z]))
        result = solver.solve(raise_error=False)
        return QPSolution(
            np.asarray(result.x[:N]) / N,
            n_iter=int(result.info.iter),
            status=str(result.info.status),
            extras={"status_polish": int(result.info.status_polish)},
        )
