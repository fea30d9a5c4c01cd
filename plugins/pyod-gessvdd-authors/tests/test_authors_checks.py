"""Every component against the public conformance checks of its contract."""

import pytest

from pyod_gessvdd.checks import check_kernel, check_laplacian, check_updater
from pyod_gessvdd_authors import AuthorsBetween, AuthorsKNN, AuthorsRBF, AuthorsSpectral, AuthorsSpectralRegression

CHECKS = [
    pytest.param(check, id=f"{component.__name__}-{check.__name__}")
    for component, checks in (
        (AuthorsKNN, check_laplacian),
        (AuthorsBetween, check_laplacian),
        (AuthorsRBF, check_kernel),
        (AuthorsSpectral, check_updater),
        (AuthorsSpectralRegression, check_updater),
    )
    for check in checks(component)
]


@pytest.mark.parametrize("check", CHECKS)
def test_the_component_keeps_its_contract(check):
    check()
