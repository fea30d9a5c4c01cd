"""The checks that every kind of component has: parameters, pickling, randomness, inputs, and a detector's fit."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, update_wrapper
from typing import Any

import numpy as np
from sklearn.base import clone

from pyod_gessvdd.checks.check import CheckFailed, CheckFunction, require, same
from pyod_gessvdd.components.contracts import Component
from pyod_gessvdd.components.registry import check_component
from pyod_gessvdd.detectors.gessvdd import GESSVDD
from pyod_gessvdd.errors import PluginError

Array = np.ndarray


@dataclass(frozen=True)
class Kind:
    """How the common checks use one kind of component.

    Attributes
    ----------
    name : str
        The detector's parameter.
    inputs : callable
        From a component and a seed to what the component is called with.
    arrays : callable
        From these inputs to the arrays in them, by name.
    answer : callable
        Calls the component; what it says, as arrays that do not depend on an arbitrary choice of signs or bases.
    tolerance : callable
        How far two answers to the same question may be apart, as a share of their size.
    detector : callable
        From a component to further parameters of a detector that uses it, and the training and new rows.
    """

    name: str
    inputs: Callable[[Any, int], Any]
    arrays: Callable[[Any], Mapping[str, Array]]
    answer: Callable[[Any, Any], Mapping[str, Array]]
    tolerance: Callable[[Any], float]
    detector: Callable[[Any], tuple[dict[str, Any], Array, Array]]


def common_checks(kind: Kind) -> tuple[CheckFunction, ...]:
    """The common checks, for one kind."""
    return tuple(update_wrapper(partial(check, kind=kind), check) for check in _COMMON)


# Contract and parameters ----------------------------------------------------------------------------------------------


def check_contract(component: Any, kind: Kind) -> None:
    """The class can be registered: complete, with usable names, and for a version of the contract that is there."""
    try:
        check_component(kind.name, type(component))
    except (TypeError, PluginError) as error:
        raise CheckFailed(f"it cannot be registered: {error}") from error


def check_docstring(component: Any, kind: Kind) -> None:
    """The class has a docstring of its own whose first paragraph is a sentence."""
    text = type(component).__dict__.get("__doc__") or ""
    # A dataclass without a docstring gets its signature for one.
    written = not text.startswith(f"{type(component).__name__}(")
    require(
        written and " ".join(text.split("\n\n")[0].split()).endswith((".", ":")),
        f"its docstring begins with {text.strip()[:40]!r}; begin it with a sentence that says what the component is, "
        "and end the sentence with a full stop",
    )


def check_parameters_are_only_stored(component: Any, kind: Kind) -> None:
    """The constructor stores each parameter as it is, under its own name, and does nothing else."""
    cls = type(component)
    values = {name: object() for name in cls._get_param_names()}
    try:
        made = cls(**values)
    except Exception as error:
        raise CheckFailed(
            f"__init__ raised {type(error).__name__} ({error}) for values that it does not know; only store them "
            "there, and check them where they are used"
        ) from error
    for name, value in values.items():
        require(
            getattr(made, name, None) is value,
            f"__init__ alters {name}; write self.{name} = {name} and convert or check it where it is used, because "
            "clone and GridSearchCV rely on it",
        )
    extra = sorted(set(vars(made)) - set(values))
    require(not extra, f"__init__ sets {', '.join(extra)}, which is not a parameter; set it where it is first needed")


def check_parameters_can_be_set(component: Any, kind: Kind) -> None:
    """What ``set_params`` sets, ``get_params`` gives back, and nothing else changes."""
    for name in component.get_params(deep=False):
        value = object()
        before = component.get_params(deep=False)
        component.set_params(**{name: value})
        after = component.get_params(deep=False)
        require(after[name] is value, f"set_params({name}=…) has no effect on get_params(); store it as self.{name}")
        others = [other for other in after if other != name and after[other] is not before[other]]
        require(not others, f"set_params({name}=…) changes {', '.join(others)} too; let each parameter be itself")
        component.set_params(**{name: before[name]})


def check_clone(component: Any, kind: Kind) -> None:
    """A clone has the same parameters and gives the same answer."""
    cloned = clone(component)
    _require_same_parameters(component.get_params(deep=False), cloned.get_params(deep=False), "its clone")
    _require_same_answer(kind, component, cloned, "its clone")


def check_pickle(component: Any, kind: Kind) -> None:
    """It can be pickled before and after use, and what is loaded gives the same answer."""
    for when in ("a new", "a used"):
        try:
            loaded = pickle.loads(pickle.dumps(component))
        except Exception as error:
            raise CheckFailed(
                f"{when} one cannot be pickled ({type(error).__name__}: {error}), and neither can a detector that "
                "holds it; define the class and its functions at the top of a module, and leave what cannot be pickled "
                "out of __getstate__"
            ) from error
        _require_same_parameters(component.get_params(deep=False), loaded.get_params(deep=False), "its pickle")
        _require_same_answer(kind, component, loaded, "its pickle")


# Use ------------------------------------------------------------------------------------------------------------------


def check_use_leaves_parameters_alone(component: Any, kind: Kind) -> None:
    """Using it does not change its parameters; what is learnt gets names of its own."""
    before = component.get_params(deep=False)
    kind.answer(component, kind.inputs(component, 0))
    after = component.get_params(deep=False)
    changed = [name for name in before if after[name] is not before[name]]
    require(
        not changed,
        f"using it changes its parameter {', '.join(changed)}; keep what is learnt under a name that ends in '_'",
    )


def check_inputs_are_not_changed(component: Any, kind: Kind) -> None:
    """The arrays that it is given are the same afterwards."""
    inputs = kind.inputs(component, 0)
    before = {name: array.copy() for name, array in kind.arrays(inputs).items()}
    kind.answer(component, inputs)
    for name, array in kind.arrays(inputs).items():
        require(
            np.array_equal(before[name], array),
            f"it changes {name}, which belongs to the host; work on a copy, for instance {name}.copy()",
        )


def check_same_seed_same_answer(component: Any, kind: Kind) -> None:
    """The same input and the same ``random_state`` give the same answer each time."""
    _require_same_answer(
        kind,
        component,
        clone(component),
        "a second one with the same random_state",
        "draw every random number from sklearn.utils.check_random_state(random_state)",
    )


def check_global_random_numbers_are_not_used(component: Any, kind: Kind) -> None:
    """It neither draws from nor seeds the random numbers of ``numpy.random`` and ``random``."""
    inputs = kind.inputs(component, 0)
    numpys, pythons = np.random.get_state(), random.getstate()  # noqa: NPY002
    try:
        _seed_global_numbers()
        before = _next_global_numbers()
        _seed_global_numbers()
        kind.answer(component, inputs)
        after = _next_global_numbers()
    finally:
        np.random.set_state(numpys)  # noqa: NPY002
        random.setstate(pythons)
    require(
        before == after,
        "it uses the random numbers that the whole process shares (numpy.random.… or random.…); draw them from "
        "sklearn.utils.check_random_state(random_state)",
    )


def _seed_global_numbers() -> None:
    # By a number that no component would take for its own seed.
    np.random.seed(987_654_321)  # noqa: NPY002
    random.seed(987_654_321)


def _next_global_numbers() -> tuple[float, float]:
    return np.random.random(), random.random()  # noqa: NPY002


def check_nothing_is_remembered(component: Any, kind: Kind) -> None:
    """What it was used on before has no influence on the answer."""
    used = clone(component)
    kind.answer(used, kind.inputs(used, 1))
    _require_same_answer(
        kind,
        component,
        used,
        "one that was used on other data of the same shape before",
        "do not keep anything from one call to the next on the component that is not learnt anew",
    )


def check_works_in_a_detector(component: Any, kind: Kind) -> None:
    """A detector fits with it, scores new rows by finite numbers, and still does after being saved and loaded."""
    settings, X, new = kind.detector(component)
    detector = GESSVDD(**{kind.name: component, "n_iter": 2, "random_state": 0, **settings})
    try:
        scores = detector.fit(X).decision_function(new)
    except Exception as error:
        raise CheckFailed(f"GESSVDD({kind.name}=…).fit raised {type(error).__name__}: {error}") from error
    require(np.isfinite(scores).all(), f"GESSVDD({kind.name}=…) scores rows by NaN or infinite numbers")
    loaded = pickle.loads(pickle.dumps(detector)).decision_function(new)
    require(same(scores, loaded, 1e-9), "a detector that was saved and loaded again scores differently")


_COMMON: tuple[Callable[..., str | None], ...] = (
    check_contract,
    check_docstring,
    check_parameters_are_only_stored,
    check_parameters_can_be_set,
    check_clone,
    check_pickle,
    check_use_leaves_parameters_alone,
    check_inputs_are_not_changed,
    check_same_seed_same_answer,
    check_global_random_numbers_are_not_used,
    check_nothing_is_remembered,
    check_works_in_a_detector,
)


def _require_same_parameters(left: dict[str, Any], right: dict[str, Any], what: str) -> None:
    different = [name for name in left if repr(left[name]) != repr(right.get(name))]
    require(not different, f"{what} has another {', '.join(different)}; let __init__ only store its parameters")


def _require_same_answer(kind: Kind, left: Component, right: Component, what: str, remedy: str = "") -> None:
    first, second = (kind.answer(each, kind.inputs(each, 0)) for each in (left, right))
    for name in first:
        require(
            same(first[name], second[name], kind.tolerance(left)),
            f"{what} gives another {name}; {remedy or 'let the parameters and the input alone decide the answer'}",
        )
