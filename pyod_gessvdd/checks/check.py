"""What a check is: a named callable without arguments, about one component, that passes, fails or does not apply."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

Array = np.ndarray

#: A function of a fresh component; it returns None, or the reason why it does not apply to this component.
CheckFunction = Callable[[Any], "str | None"]


class CheckFailed(AssertionError):  # noqa: N818 (what a test's author reads)
    """A component does not keep its contract; the message says what is wrong and what to change."""


def require(condition: Any, message: str) -> None:
    """Fail with ``message`` unless the condition holds; unlike ``assert``, also under ``python -O``."""
    if not condition:
        raise CheckFailed(message)


@dataclass(frozen=True, repr=False)
class Check:
    """One check of one component: call it.

    It returns None when the component passes, and the reason when the check does not apply to what the component
    declares of itself (``exact = False``, ``supports_warm_start = False`` …). It raises :class:`CheckFailed` otherwise.

    Attributes
    ----------
    function : callable
        What is checked, on a fresh component.
    component : Component, Metric, Protocol or type
        A class, which is tried with its default parameters, or an instance, with its own; it is never changed.
    """

    function: CheckFunction
    component: Any

    @property
    def __name__(self) -> str:
        return self.function.__name__

    @property
    def description(self) -> str:
        """What must hold, in one sentence."""
        return describe(self.function)

    def __repr__(self) -> str:
        return f"{self.__name__}({_label(self.component)})"

    def __call__(self) -> str | None:
        """Run the check; whatever the component raises is a failure of the component."""
        who = _label(self.component)
        try:
            with warnings.catch_warnings():
                # A component may warn about hard data; the checks look at what it returns.
                warnings.simplefilter("ignore")
                return self.function(fresh(self.component))
        except CheckFailed as failure:
            raise CheckFailed(f"{who}: {failure}") from failure.__cause__
        except (Exception, SystemExit) as error:
            raise CheckFailed(
                f"{who}: raised {type(error).__name__} ({_first_line(error)}) on the way to see whether this holds: "
                f"{self.description}"
            ) from error


def describe(function: Callable[..., Any]) -> str:
    """The first sentence of a check's docstring."""
    return " ".join((function.__doc__ or function.__name__).split("\n\n")[0].split())


def fresh(component: Any) -> Any:
    """A new component with the same parameters; a ``random_state`` that was left open is 0."""
    if isinstance(component, type):
        try:
            made = component()
        except TypeError as error:
            raise CheckFailed(
                f"it cannot be made without arguments ({error}); implement every abstract method, and give every "
                "parameter of __init__ a default"
            ) from error
    else:
        made = clone(component) if hasattr(component, "get_params") else component
    if not hasattr(made, "get_params"):  # a metric or a protocol, which cannot be changed
        return made
    params = made.get_params(deep=False)
    return made.set_params(random_state=0) if params.get("random_state", 0) is None else made


def same(left: Array, right: Array, tolerance: float) -> bool:
    """Whether two arrays agree up to a share of their largest entry."""
    if left.shape != right.shape:
        return False
    size = max(float(np.abs(left).max(initial=0.0)), float(np.abs(right).max(initial=0.0)))
    return float(np.abs(left - right).max(initial=0.0)) <= tolerance * max(size, np.finfo(float).tiny)


def refuses_politely(call: Callable[[], Any], what: str) -> Any:
    """The result of ``call``, or None if it refuses such data by a ``ValueError`` with a sentence, as it may."""
    try:
        return call()
    except ValueError as error:
        require(
            len(_first_line(error).split()) >= 4,
            f"on {what} it raised ValueError({str(error)!r}); state in a sentence what is wrong, the value seen and "
            "what would be right",
        )
        return None
    except Exception as error:
        raise CheckFailed(
            f"on {what} it raised {type(error).__name__} ({_first_line(error)}); return a valid answer, or raise a "
            "ValueError whose sentence says what is wrong, the value seen and what would be right"
        ) from error


def _first_line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _label(component: Any) -> str:
    cls: Any = component if isinstance(component, type) else type(component)
    return f"{cls.__name__} {component.name!r}"
