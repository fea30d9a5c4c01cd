"""The checks of what plugins bring to experiments: a metric is a number that prefers the better answer, a protocol
gives the same splits for the same seed and leaves the data alone.
"""  # noqa: D205

from __future__ import annotations

import dataclasses
import math
import pickle
import random
from typing import Any

import numpy as np

from pyod_gessvdd.checks.check import CheckFunction, require
from pyod_gessvdd.checks.data import rows
from pyod_gessvdd.experiments.data.datasets import Dataset, resolve_datasets
from pyod_gessvdd.experiments.metrics import Metric
from pyod_gessvdd.experiments.protocols.protocol import Protocol, Split

LABELS = np.repeat([0, 1], [30, 10])

#: Why a check does not apply.
NEEDS_A_MODEL = "it needs a fitted detector, which these checks do not have"


def check_metric_record(metric: Metric) -> None:
    """The record is complete: a Python name, a label, what it needs, a finite floor and a number of decimals."""
    require(metric.name.isidentifier(), f"its name is {metric.name!r}; take letters, digits and '_'")
    require(bool(metric.label.strip()), "it has no label; give the text that readers see")
    require(
        metric.needs in ("scores", "predictions", "model"),
        f"it needs {metric.needs!r}; that must be 'scores', 'predictions' or 'model'",
    )
    require(
        math.isfinite(metric.floor), f"its floor is {metric.floor}; give what a detector that knows nothing reaches"
    )
    require(0 <= metric.decimals <= 12, f"it shows {metric.decimals} decimals; give a number from 0 to 12")


def check_metric_is_a_number(metric: Metric) -> str | None:
    """The figure is one finite number, also where all answers are the same."""
    if metric.needs == "model":
        return NEEDS_A_MODEL
    for answer in (_answer(metric, 0), _perfect(metric), np.zeros(len(LABELS))):
        value = metric.compute(LABELS.copy(), answer)
        require(
            np.ndim(value) == 0 and math.isfinite(float(value)),
            f"compute returned {value!r}; return one finite number, whatever the answers are",
        )
    return None


def check_metric_prefers_the_better_answer(metric: Metric) -> str | None:
    """An answer that is right everywhere is better than one that is wrong everywhere."""
    if metric.needs == "model":
        return NEEDS_A_MODEL
    right = metric.compute(LABELS.copy(), _perfect(metric))
    wrong = metric.compute(LABELS.copy(), 1 - _perfect(metric))
    better = right > wrong if metric.higher_is_better else right < wrong
    require(
        better,
        f"a right answer gives {right}, a wrong one {wrong}, with higher_is_better={metric.higher_is_better}; "
        "labels are 1 for outliers, and higher scores are more abnormal",
    )
    return None


def check_metric_does_not_depend_on_the_order_of_the_rows(metric: Metric) -> str | None:
    """Rows in another order give the same figure."""
    if metric.needs == "model":
        return NEEDS_A_MODEL
    order = np.random.default_rng(0).permutation(len(LABELS))
    answer = _answer(metric, 1)
    first, second = metric.compute(LABELS.copy(), answer.copy()), metric.compute(LABELS[order], answer[order])
    require(
        math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12),
        f"it gives {first}, and {second} for the same rows in another order; let labels and answers alone decide",
    )
    return None


def check_metric_leaves_its_input_alone(metric: Metric) -> str | None:
    """Neither the labels nor the answers are changed."""
    if metric.needs == "model":
        return NEEDS_A_MODEL
    labels, answer = LABELS.copy(), _answer(metric, 2)
    kept = answer.copy()
    metric.compute(labels, answer)
    require(
        np.array_equal(labels, LABELS) and np.array_equal(answer, kept),
        "compute changes the labels or the answers that it is given; work on copies",
    )
    return None


def check_protocol_declares_itself(protocol: Protocol) -> None:
    """The class says its name, its title and in sentences what it does, and can be sent to other processes."""
    require(protocol.name.isidentifier(), f"its name is {protocol.name!r}; take letters, digits and '_'")
    require(bool(protocol.title.strip()), "it has no title; give the text that readers see")
    require(protocol.description.strip().endswith("."), "its description is not a sentence; describe what it does")
    require(
        dataclasses.is_dataclass(protocol) and pickle.loads(pickle.dumps(protocol)) == protocol,
        "it is not equal to its pickled copy; decorate it with @dataclass(frozen=True)",
    )
    require(isinstance(hash(protocol), int), "it has no hash; decorate it with @dataclass(frozen=True)")


def check_protocol_splits(protocol: Protocol) -> None:
    """There is at least one split, of finite rows of one width, whose labels are 0 and 1, with both kinds."""
    splits = protocol.splits(_dataset(), 1)
    require(
        len(splits) > 0 and all(isinstance(split, Split) for split in splits),
        f"splits returned {splits!r}; return a list of pyod_gessvdd.compare.Split",
    )
    for split in splits:
        require(
            split.train.ndim == split.test.ndim == 2 and split.train.shape[1] == split.test.shape[1],
            f"the rows to fit have the shape {split.train.shape}, those to judge {split.test.shape}; give matrices "
            "with the same columns",
        )
        require(
            np.isfinite(split.train).all() and np.isfinite(split.test).all(),
            "some values are NaN or infinite; a constant column has no deviation to divide by",
        )
        require(
            split.labels.shape == (len(split.test),) and set(np.unique(split.labels)) == {0, 1},
            f"the labels have the shape {split.labels.shape} and the values {np.unique(split.labels)}; give 0 or 1 "
            "for each row to judge, with both kinds among them",
        )


def check_protocol_same_seed_same_splits(protocol: Protocol) -> None:
    """The same seed gives the same rows, and the global random numbers are neither used nor changed."""
    np_state, state = np.random.get_state(), random.getstate()  # noqa: NPY002
    try:
        first = protocol.splits(_dataset(), 1)
        np.random.seed(99)  # noqa: NPY002
        random.seed(99)
        after = np.random.get_state()[1].tobytes()  # type: ignore[index] # noqa: NPY002
        second = protocol.splits(_dataset(), 1)
        untouched = np.random.get_state()[1].tobytes() == after  # type: ignore[index] # noqa: NPY002
    finally:
        np.random.set_state(np_state)  # noqa: NPY002
        random.setstate(state)
    same = all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for one, other in zip(first, second, strict=True)
        for name in ("train", "test", "labels")
    )
    require(same, "the same seed gives other splits; draw with numpy.random.default_rng(seed)")
    require(untouched, "it uses numpy's global random numbers; draw with numpy.random.default_rng(seed)")


def check_protocol_leaves_the_data_alone(protocol: Protocol) -> None:
    """The data set's rows and labels are not changed."""
    dataset = _dataset()
    before = [array.copy() for array in dataset.arrays()]
    protocol.splits(dataset, 1)
    same = all(np.array_equal(*pair) for pair in zip(before, dataset.arrays(), strict=True))
    require(same, "splits changes the data set's own rows or labels; work on copies")


METRIC_CHECKS: tuple[CheckFunction, ...] = (
    check_metric_record,
    check_metric_is_a_number,
    check_metric_prefers_the_better_answer,
    check_metric_does_not_depend_on_the_order_of_the_rows,
    check_metric_leaves_its_input_alone,
)
PROTOCOL_CHECKS: tuple[CheckFunction, ...] = (
    check_protocol_declares_itself,
    check_protocol_splits,
    check_protocol_same_seed_same_splits,
    check_protocol_leaves_the_data_alone,
)


def _answer(metric: Metric, seed: int) -> np.ndarray:
    """Some answer: scores, or predictions."""
    scores = np.random.default_rng(seed).normal(size=len(LABELS)) + LABELS
    return scores if metric.needs == "scores" else (scores > 0.5).astype(int)


def _perfect(metric: Metric) -> np.ndarray:
    return LABELS.astype(float if metric.needs == "scores" else int)


def _dataset() -> Dataset:
    X = rows(0, 80, 3)
    labels: Any = np.arange(80) % 3 == 0
    (dataset,) = resolve_datasets({"rows": (X + 4.0 * labels[:, None], labels)})
    return dataset
