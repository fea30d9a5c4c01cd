"""What all tests share."""

from __future__ import annotations

import pytest

from pyod_gessvdd.qp import solve_svdd
from pyod_gessvdd.qp.frank_wolfe import FrankWolfe


@pytest.fixture(scope="session", autouse=True)
def one_solver_for_all_tests():
    """Compile the small solver first, not when a process has earned it.

    Its answers agree with NumPy's to rounding; two fits that a test compares bit by bit must not have one each.
    """
    solve_svdd([[0.0], [1.0], [3.0]], nu=0.5, backend=FrankWolfe(compiled=True))
