"""Every check catches a component with the fault that it is about, and says what to change."""

from __future__ import annotations

import pytest

from pyod_gessvdd.checks import CHECKS, CheckFailed, check_component
from pyod_gessvdd.components.registry import KINDS
from tests.checks.mutants import feature_laplacians, kernels, laplacians, qp_backends, updaters
from tests.checks.mutants.register import MUTANTS

SOUND = [
    laplacians.Chain,
    laplacians.Spread,
    updaters.Step,
    qp_backends.Solver,
    qp_backends.Brittle,
    kernels.Cubes,
    kernels.Gaussian,
    kernels.Cut,
    feature_laplacians.Links,
]


def kind_of(component):
    (kind,) = [kind for kind, contract in KINDS.items() if issubclass(component, contract)]
    return kind


def failures(component):
    """The messages of the checks that fail, by name; anything but ``CheckFailed`` is a fault of the check."""
    messages = {}
    for check in check_component(kind_of(component), component):
        try:
            check()
        except CheckFailed as failure:
            messages[check.__name__] = str(failure)
    return messages


@pytest.mark.parametrize("component", SOUND, ids=lambda component: component.__name__)
def test_what_the_mutants_are_made_from_passes_every_check(component):
    assert failures(component) == {}


@pytest.mark.parametrize(
    "mutant", MUTANTS, ids=lambda mutant: f"{kind_of(mutant.component)}-{mutant.component.__name__}"
)
def test_a_mutant_is_caught_by_the_check_that_names_its_fault(mutant):
    messages = failures(mutant.component)
    assert mutant.check in messages, f"not caught; these failed: {messages}"
    assert mutant.says in messages[mutant.check]
    assert messages[mutant.check].startswith(f"{mutant.component.__name__} {mutant.component.name!r}: ")


COMMON = set.intersection(*(set(CHECKS[kind]) for kind in KINDS))


@pytest.mark.parametrize("kind", KINDS)
def test_every_check_of_a_kind_has_a_mutant_that_it_catches(kind):
    caught = {mutant.check for mutant in MUTANTS if kind_of(mutant.component) == kind}
    assert set(CHECKS[kind]) - COMMON - caught == set()


def test_every_common_check_has_a_mutant_that_it_catches():
    assert COMMON - {mutant.check for mutant in MUTANTS} == set()
