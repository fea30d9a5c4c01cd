"""QP backend ``auto``: picks the solver for the problem at hand and says in ``extras`` which one it took."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pyod_gessvdd.components import QPBackend
from pyod_gessvdd.dual import QPSolution, SVDDDual
from pyod_gessvdd.qp.frank_wolfe import FrankWolfe
from pyod_gessvdd.qp.interior_point import InteriorPoint

Array = np.ndarray


class Auto(QPBackend):
    """Frank–Wolfe, and the interior point should Frank–Wolfe ever run out of passes.

    Frank–Wolfe was the fastest at every N from 100 to 10⁶, d from 3 to 300 and C from 0.1 to 1/(0.5 N) that was
    measured (``benchmarks/speed.py``), by a factor of 1 to 40 over the interior point, which was second.
    """

    name = "auto"
    supports_warm_start = True

    def solve(self, dual: SVDDDual, warm_start: Array | None = None) -> QPSolution:
        """Delegate to the chosen solver."""
        chosen: QPBackend = FrankWolfe()
        solution = chosen.solve(dual, warm_start)
        if solution.status != "solved":
            chosen = InteriorPoint()
            solution = chosen.solve(dual)
        return replace(solution, extras={**solution.extras, "chosen": chosen.name})
