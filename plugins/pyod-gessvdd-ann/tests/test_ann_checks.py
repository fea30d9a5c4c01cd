"""The graph against the public conformance checks of its contract, searched exactly and by descent."""

import pytest

from pyod_gessvdd.checks import check_laplacian
from pyod_gessvdd_ann import ANN

CHECKS = [
    pytest.param(check, id=f"{how}-{check.__name__}")
    for how, component in (("exact", ANN), ("descent", ANN(max_exact=0)))
    for check in check_laplacian(component)
]


@pytest.mark.parametrize("check", CHECKS)
def test_the_graph_keeps_its_contract(check):
    check()
