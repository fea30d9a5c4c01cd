"""The outcomes of a component's checks, one by one; those of foreign components from a process that they may crash."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from pyod_gessvdd.checks import CheckFailed, check_component

PASSED, FAILED, NOT_APPLICABLE = "passed", "failed", "not applicable"


class Outcome(NamedTuple):
    """What came of one check."""

    check: str
    result: str
    message: str


def outcomes(kind: str, component: Any) -> Iterator[Outcome]:
    """The outcome of every check of a component.

    A component that is not this package's own may have compiled code, which can end its process. So it has a process
    of its own, and the check in which that ends fails.

    Parameters
    ----------
    kind : str
        What the component is for.
    component : type or instance
        The component.
    """
    source = component if isinstance(component, type) else type(component)
    if kind == "metric":
        source = component.compute  # the record is ours, what it computes may not be
    if str(getattr(source, "__module__", "")).startswith("pyod_gessvdd."):
        return _outcomes(kind, component, 0)
    try:
        pickled = pickle.dumps((kind, component))
    except (pickle.PicklingError, TypeError, AttributeError):
        return _outcomes(kind, component, 0)  # what lives in a function cannot be sent to another process
    return _outcomes_in_child(pickled, [check.__name__ for check in check_component(kind, component)])


def _outcomes(kind: str, component: Any, first: int) -> Iterator[Outcome]:
    for check in check_component(kind, component)[first:]:
        try:
            reason = check()
        except CheckFailed as failure:
            yield Outcome(check.__name__, FAILED, str(failure))
        else:
            yield Outcome(check.__name__, NOT_APPLICABLE if reason else PASSED, reason or "")


def _outcomes_in_child(pickled: bytes, names: list[str]) -> Iterator[Outcome]:
    # A new interpreter: a forked one would inherit threads that do not run in it.
    context = multiprocessing.get_context("spawn")
    done = 0
    while done < len(names):
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=_send_outcomes, args=(sender, pickled, os.getcwd(), done), daemon=True)
        child.start()
        sender.close()
        try:
            while done < len(names):
                outcome = Outcome(*receiver.recv())
                done += 1
                yield outcome
        except EOFError:
            child.join()
            yield Outcome(names[done], FAILED, f"this check ended the process: {_ending(child.exitcode or 0)}")
            done += 1
        finally:
            receiver.close()
            child.join()


def _send_outcomes(sender: Any, pickled: bytes, folder: str, first: int) -> None:
    """What the child does."""
    sys.path.insert(0, folder)  # where an author's module may be
    kind, component = pickle.loads(pickled)
    for outcome in _outcomes(kind, component, first):
        sender.send(tuple(outcome))
    sender.close()


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    names = {number.value: number.name for number in signal.Signals}
    return f"signal {-code} ({names.get(-code, 'unknown')})"
