"""Every installed solver keeps the host's contract of a QP backend."""

import pytest

from pyod_gessvdd.checks import check_qp_backend
from pyod_gessvdd_qpsolvers import installed

CHECKS = [
    pytest.param(check, id=f"{backend.solver}-{check.__name__}")
    for backend in installed()
    for check in check_qp_backend(backend)
]


@pytest.mark.parametrize("check", CHECKS)
def test_solver_keeps_the_contract_of_a_qp_backend(check):
    check()
