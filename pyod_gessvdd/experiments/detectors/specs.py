"""From what a user writes to a detector: ``knn``, ``iforest(n_estimators=200)``, ``gessvdd:kNN-GR-min``, a group.

The grammar is ``NAME``, ``gessvdd:VARIANT`` or ``package.module:Class``, each with ``(parameter=literal, …)`` behind it
if wanted, or the name of a group.
"""

from __future__ import annotations

import ast
import copy
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from inspect import Parameter, signature
from typing import Any

from sklearn.base import OutlierMixin

from pyod_gessvdd.components.registry import KINDS
from pyod_gessvdd.components.specs import keyword_values, parsed, resolve
from pyod_gessvdd.detectors.variants import VARIANTS, parse_variant
from pyod_gessvdd.errors import ComparisonError, ComponentError, PluginError, SpecError, UnknownComponentError
from pyod_gessvdd.experiments.detectors.catalogue import GROUPS, class_paths, find, group, import_class

#: What every detector of a comparison must be able to do, in PyOD's convention: a higher score is more abnormal.
METHODS = ("fit", "decision_function", "predict")


@dataclass(frozen=True)
class Detector:
    """A detector that can be built, in this process or another.

    Attributes
    ----------
    name : str
        The label that tables show.
    spec : str
        What the user wrote.
    path : str
        ``module:Class``.
    parameters : dict
        What is not left at its default.
    variant : str or None
        The paper's variant, for GESSVDD.
    """

    name: str
    spec: str
    path: str
    parameters: dict[str, Any] = field(default_factory=dict)
    variant: str | None = None

    @property
    def family(self) -> str:
        """What shares imports and compiled code: one of them is warmed up before the clock starts."""
        return self.name

    @property
    def bundle(self) -> str | None:
        """What shares work: jobs of one bundle that follow each other go to one process; None shares nothing."""
        return None

    def build(self, seed: int | None = None, **given: Any) -> Any:
        """A fresh detector; the seed, as ``random_state``, and what is given go to those that take it.

        A parameter that the user wrote stays.
        """
        make = import_class(self.path)
        known = signature(make).parameters
        given |= {} if seed is None else {"random_state": seed}
        parameters = {name: value for name, value in given.items() if name in known} | copy.deepcopy(self.parameters)
        return make.from_variant(self.variant, **parameters) if self.variant else make(**parameters)

    def written(self) -> dict[str, Any]:
        """The parameters as JSON can hold them, with the paper's variant if it is one."""
        variant = {"variant": self.variant} if self.variant else {}
        return {**variant, **{name: _plain(value) for name, value in self.parameters.items()}}


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | bool | int | float) else repr(value)


def split_specs(text: str) -> list[str]:
    """The specs in a list separated by commas; commas inside brackets and quotes belong to a spec."""
    parts, depth, quote = [""], 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        else:
            depth += (character in "([{") - (character in ")]}")
            if character == "," and depth == 0:
                parts.append("")
                continue
        parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def resolve_detectors(specs: Any) -> list[Detector]:
    """The detectors that the specs stand for, each built once to see that it can be.

    Parameters
    ----------
    specs : str, detector, or sequence of them
        A text may hold several specs separated by commas; a detector is an instance, which is not fitted itself.
    """
    given = list(specs) if isinstance(specs, Iterable) and not isinstance(specs, str) else [specs]
    found: list[Detector] = []
    for entry in given:
        if isinstance(entry, str):
            found += [_parse(one) for spec in split_specs(entry) for one in _members(spec)]
        else:
            found.append(_from_instance(entry))
    # The same detector may be written in two ways, or be in two groups.
    unique: dict[str, Detector] = {}
    for detector in found:
        unique.setdefault(repr((detector.path, detector.variant, sorted(detector.parameters.items()))), detector)
    detectors = list(unique.values())
    if not detectors:
        raise ComparisonError("no detector is given")
    for detector in detectors:
        _check(detector)
    return _told_apart(detectors)


def _from_instance(detector: Any) -> Detector:
    """The class of an instance with its parameters, as far as they are not the defaults."""
    make = type(detector)
    if isinstance(detector, type) or not callable(getattr(detector, "get_params", None)):
        raise ComparisonError(
            "a detector is an instance such as KNN(n_neighbors=7) or text such as 'knn(n_neighbors=7)', "
            f"got {detector!r}"
        )
    if make.__module__ == "__main__":
        raise ComparisonError(
            f"{make.__name__} is defined in the script or notebook itself, where the processes that run jobs do not "
            "find it; put it into a separate module and import it from there"
        )
    defaults = {name: parameter.default for name, parameter in signature(make).parameters.items()}
    values = {
        name: value
        for name, value in detector.get_params(deep=False).items()
        if repr(value) != repr(defaults.get(name, Parameter.empty))
    }
    shown = ", ".join(f"{key}={value!r}" for key, value in values.items())
    name = f"{make.__name__}({shown})" if shown else make.__name__
    return Detector(name, name, f"{make.__module__}:{make.__qualname__}", values)


def _members(spec: str) -> list[str]:
    return group(spec.casefold()) if spec.casefold() in GROUPS else [spec]


def _parse(spec: str) -> Detector:
    head, _, _ = spec.partition("(")
    head = head.strip()
    owner, colon, tail = head.partition(":")
    variant = None
    if not colon:
        name = find(head)
        path = class_paths()[name]
    elif owner.casefold() == "gessvdd":
        variant = _variant(tail)
        name, path = f"GESSVDD:{variant}", class_paths()["GESSVDD"]
    else:
        name, path = tail, head
    values = _parameters(spec, head, path)
    shown = ", ".join(f"{key}={value!r}" for key, value in values.items())
    return Detector(f"{name}({shown})" if shown else name, spec, path, values, variant)


def _variant(name: str) -> str:
    try:
        wanted = parse_variant(name)
    except ValueError as error:
        raise ComparisonError(str(error)) from error
    return next(variant for variant in VARIANTS if parse_variant(variant) == wanted)


def _parameters(spec: str, head: str, path: str) -> dict[str, Any]:
    make = import_class(path)
    arguments = spec[spec.index("(") :] if "(" in spec else "()"
    try:
        call = parsed(f"detector{arguments}")
    except SpecError as error:
        raise ComparisonError(str(error)) from error
    except SyntaxError as error:
        raise ComparisonError(f"cannot read the detector {spec!r}; write {head}(parameter=value, …)") from error
    if not isinstance(call, ast.Call) or call.args:
        raise ComparisonError(f"cannot read the detector {spec!r}; write {head}(parameter=value, …)")
    try:
        return keyword_values(f"detector {head!r}", call.keywords, _known_parameters(make), spec)
    except SpecError as error:
        raise ComparisonError(str(error)) from error


def _known_parameters(make: Any) -> list[str]:
    kinds = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return [name for name, parameter in signature(make).parameters.items() if parameter.kind not in kinds]


def _check(detector: Detector) -> None:
    """See that the detector can be built and has what a comparison asks of it."""
    make = import_class(detector.path)
    missing = [method for method in METHODS if not callable(getattr(make, method, None))]
    if missing:
        raise ComparisonError(f"{detector.spec} is not a detector: it has no {', '.join(missing)}")
    if issubclass(make, OutlierMixin) and not make.__module__.startswith(("pyod.", "pyod_gessvdd.")):
        from pyod.models.base import BaseDetector

        if not issubclass(make, BaseDetector):
            raise ComparisonError(
                f"{detector.spec} scores as scikit-learn's detectors do, high for normal rows; "
                "a comparison needs PyOD's convention, so wrap it in a pyod.models.base.BaseDetector"
            )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are recorded when the job runs
            built = detector.build(seed=0)
        for kind in KINDS:
            # GESSVDD looks its components up when it is fitted; a misspelled one shall not cost a whole run.
            if isinstance(getattr(built, kind, None), str) and detector.path.startswith("pyod_gessvdd:"):
                resolve(kind, getattr(built, kind))
    except (ComponentError, PluginError, SpecError, UnknownComponentError) as error:
        raise ComparisonError(f"cannot build {detector.spec}: {error}") from error
    except Exception as error:  # a constructor may raise anything
        reason = " ".join(str(error).split())
        raise ComparisonError(f"cannot build {detector.spec}: {type(error).__name__}: {reason}") from error


def _told_apart(detectors: list[Detector]) -> list[Detector]:
    """Two classes of the same name are shown with their modules."""
    names = [detector.name for detector in detectors]
    return [
        replace(detector, name=detector.spec) if names.count(detector.name) > 1 and ":" in detector.spec else detector
        for detector in detectors
    ]
