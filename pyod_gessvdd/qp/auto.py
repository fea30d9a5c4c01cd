"""QP backend ``auto``: picks the solver for the problem at hand and names it in ``extras``."""

from __future__ import annotations

import numpy as np

from pyod_gessvdd.components.contracts import QPBackend
from pyod_gessvdd.dual import QPSolution, SVDDDual
from pyod_gessvdd.qp.frank_wolfe import FrankWolfe
from pyod_gessvdd.qp.interior_point import InteriorPoint
from pyod_gessvdd.qp.kernel_dual import KernelDual
from pyod_gessvdd.qp.libsvm import MAX_SAMPLES, LibSVM

Array = np.ndarray


#: Up to this many dimensions Frank–Wolfe is used whatever the points. Whitened rows at nearly equal distances, which
#: the default detector has in up to 301 dimensions, cost LIBSVM more: a fit of 125 digits took 3.3 s with it and 0.1 s
#: with Frank–Wolfe, one of 250 rows of breast cancer 0.8 s and 0.3 s.
MANY_DIMENSIONS = 320


class Auto(QPBackend):
    """Frank–Wolfe or, in very many dimensions, LIBSVM; and the interior point if that does not solve the problem.

    Frank–Wolfe was faster than the interior point wherever the two were timed side by side: Gaussian points, N from 200
    to 100,000, d from 30 to 300, C from 0.1 to 1/(0.5 N); ``benchmarks/speed.py`` compares it with other solvers at
    d = 5. Where the points have nearly as many dimensions as there are points, as in the whole space of a narrow
    kernel, its active set grows with d: a whole fit of ``SVDD`` at N = 1,000, d = 999 fell from 37 s to 6 s with LIBSVM
    (timed once, on a busy machine). A kernel's dual goes to LIBSVM too, which needs no coordinates; they are computed
    for Frank–Wolfe only if LIBSVM and the active set after it do not reach the tolerance.
    """

    name = "auto"
    supports_warm_start = True

    def solve(self, dual: SVDDDual, warm_start: Array | None = None) -> QPSolution:
        """Delegate to the chosen solver."""
        *attempts, last = _solvers(dual)
        for chosen in attempts:
            solution = chosen.solve(dual, warm_start)
            # Frank–Wolfe stops by this very gap; LIBSVM does not compute it.
            if solution.status == "solved" and (chosen.name != LibSVM.name or dual.gap(solution.alpha) <= dual.tol):
                break
        else:
            chosen = last
            solution = chosen.solve(dual)
        solution.extras["chosen"] = chosen.name
        return solution


def _solvers(dual: SVDDDual) -> tuple[QPBackend, ...]:
    """The solver for this problem, and the ones to try if it fails."""
    if isinstance(dual, KernelDual):
        return LibSVM(), FrankWolfe(), InteriorPoint()
    n_samples, d = dual.Z.shape
    if d > max(MANY_DIMENSIONS, n_samples / 3) and n_samples <= MAX_SAMPLES:
        return LibSVM(), InteriorPoint()
    return FrankWolfe(), InteriorPoint()
