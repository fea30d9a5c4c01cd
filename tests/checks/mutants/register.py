from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    component: type
    check: str
    says: str


MUTANTS: list[Mutant] = []


def caught_by(check, says):
    """The decorated component must be caught by this check, whose message holds these words."""

    def register(component):
        MUTANTS.append(Mutant(component, check, says))
        return component

    return register
