"""The checks of metrics and protocols: ours pass, and every check catches the fault that it is about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from pyod_gessvdd.checks import CHECKS, CheckFailed, check_metric, check_protocol
from pyod_gessvdd.compare import Metric, Protocol, Split
from pyod_gessvdd.experiments import metrics, protocols


def share(labels, predicted):
    return float(np.mean(labels == predicted))


SOUND = Metric("accuracy", "Accuracy", share, needs="predictions")


def failures(checks):
    messages = {}
    for check in checks:
        try:
            check()
        except CheckFailed as failure:
            messages[check.__name__] = str(failure)
    return messages


@pytest.mark.parametrize("metric", [SOUND, *metrics.BUILTIN], ids=lambda metric: metric.name)
def test_a_sound_metric_passes(metric):
    assert failures(check_metric(metric)) == {}


@pytest.mark.parametrize("protocol", protocols.BUILTIN, ids=lambda protocol: protocol.name)
def test_a_sound_protocol_passes(protocol):
    assert failures(check_protocol(protocol)) == {}
    assert failures(check_protocol(protocol())) == {}


def test_what_needs_a_model_is_not_tried_on_made_up_answers():
    metric = Metric("agreement", "Agreement", lambda labels, fitted: 1.0, needs="model")
    assert [check() is None for check in check_metric(metric)] == [True, False, False, False, False]


def changes(labels, predicted):
    value = share(labels, predicted)
    labels[:] = 0
    return value


METRIC_MUTANTS = {
    "check_metric_record": (
        replace(SOUND, needs="both"),
        "it needs 'both'; that must be 'scores', 'predictions' or 'model'",
    ),
    "check_metric_is_a_number": (replace(SOUND, compute=lambda labels, predicted: np.nan), "one finite number"),
    "check_metric_prefers_the_better_answer": (
        replace(SOUND, higher_is_better=False),
        "a right answer gives 1.0, a wrong one 0.0, with higher_is_better=False",
    ),
    "check_metric_does_not_depend_on_the_order_of_the_rows": (
        replace(SOUND, compute=lambda labels, predicted: share(labels[:20], predicted[:20])),
        "for the same rows in another order",
    ),
    "check_metric_leaves_its_input_alone": (replace(SOUND, compute=changes), "work on copies"),
}


@pytest.mark.parametrize("check", CHECKS["metric"])
def test_a_metric_with_a_fault_is_caught(check):
    metric, says = METRIC_MUTANTS[check]
    messages = failures(check_metric(metric))
    assert says in messages[check]
    assert messages[check].startswith("Metric 'accuracy': ")


@dataclass(frozen=True)
class Halves(Protocol):
    name: ClassVar[str] = "halves"
    title: ClassVar[str] = "Halves"
    description: ClassVar[str] = "Each half once."

    def splits(self, dataset, seed):
        X, y = dataset.arrays()
        return [Split(X[::2], X[1::2], y[1::2])]


@dataclass(frozen=True)
class Untitled(Halves):
    title: ClassVar[str] = ""


@dataclass(frozen=True)
class OneKind(Halves):
    def splits(self, dataset, seed):
        X, y = dataset.arrays()
        return [Split(X, X[y == 0], y[y == 0])]


@dataclass(frozen=True)
class Global(Halves):
    def splits(self, dataset, seed):
        X, y = dataset.arrays()
        order = np.random.permutation(len(y))  # noqa: NPY002
        return [Split(X[order[:40]], X[order[40:]], y[order[40:]])]


@dataclass(frozen=True)
class Scales(Halves):
    def splits(self, dataset, seed):
        X, _ = dataset.arrays()
        X /= 2.0
        return super().splits(dataset, seed)


PROTOCOL_MUTANTS = {
    "check_protocol_declares_itself": (Untitled, "it has no title; give the text that readers see"),
    "check_protocol_splits": (OneKind, "with both kinds among them"),
    "check_protocol_same_seed_same_splits": (Global, "draw with numpy.random.default_rng(seed)"),
    "check_protocol_leaves_the_data_alone": (Scales, "splits changes the data set's own rows"),
}


@pytest.mark.parametrize("check", CHECKS["protocol"])
def test_a_protocol_with_a_fault_is_caught(check):
    protocol, says = PROTOCOL_MUTANTS[check]
    assert failures(check_protocol(Halves)) == {}
    messages = failures(check_protocol(protocol))
    assert says in messages[check]
    assert messages[check].startswith(f"{protocol.__name__} 'halves': ")


@pytest.mark.parametrize(
    ("check", "what"), [(check_metric, "a pyod_gessvdd.compare.Metric"), (check_protocol, "a sub")]
)
def test_something_else_is_refused(check, what):
    with pytest.raises(TypeError, match=f"takes {what}.*, got 3"):
        check(3)
