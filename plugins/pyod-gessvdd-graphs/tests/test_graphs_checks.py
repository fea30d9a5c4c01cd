"""Every graph against the public conformance checks of its contract."""

import pytest

import pyod_gessvdd_graphs
from pyod_gessvdd.checks import check_laplacian

CHECKS = [
    pytest.param(check, id=f"{name}-{check.__name__}")
    for name in pyod_gessvdd_graphs.__all__
    for check in check_laplacian(getattr(pyod_gessvdd_graphs, name))
]


@pytest.mark.parametrize("check", CHECKS)
def test_the_graph_keeps_its_contract(check):
    check()
