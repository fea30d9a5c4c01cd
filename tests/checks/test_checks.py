"""The checks as a product: how they are called, named and described, and what they do with any component."""

from __future__ import annotations

import ast
import inspect
import random
import re
from pathlib import Path

import numpy as np
import pytest

from pyod_gessvdd import Laplacian, checks
from pyod_gessvdd.checks import (
    CHECKS,
    CheckFailed,
    check_feature_laplacian,
    check_kernel,
    check_laplacian,
    check_qp_backend,
    check_updater,
)
from pyod_gessvdd.components.registry import KINDS
from pyod_gessvdd.feature_laplacians.knn import FeatureKNN
from pyod_gessvdd.kernels.linear import Linear
from pyod_gessvdd.laplacians.knn import KNN
from pyod_gessvdd.qp.frank_wolfe import FrankWolfe
from pyod_gessvdd.updaters.gradient import Gradient
from tests.checks.mutants.laplacians import Chain, NumpyGlobal, WrongSign

GENERATORS = {
    "laplacian": check_laplacian,
    "updater": check_updater,
    "qp_backend": check_qp_backend,
    "kernel": check_kernel,
    "feature_laplacian": check_feature_laplacian,
}
SOUND = {
    "laplacian": KNN,
    "updater": Gradient,
    "qp_backend": FrankWolfe,
    "kernel": Linear,
    "feature_laplacian": FeatureKNN,
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_checks_with_names_and_one_sentence_each(kind):
    found = list(GENERATORS[kind](SOUND[kind]))
    assert [check.__name__ for check in found] == list(CHECKS[kind])
    for check in found:
        assert re.fullmatch(r"check_\w+", check.__name__)
        assert check.description == CHECKS[kind][check.__name__]
        assert check.description.endswith(".")
        assert "\n" not in check.description


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_runs_before_a_check_is_called(kind):
    class Counts(SOUND[kind]):
        """Counts how often one is made."""

        made = 0

        def __new__(cls, *args, **kwargs):
            cls.made += 1
            return super().__new__(cls)

    first, *_ = GENERATORS[kind](Counts)
    assert Counts.made == 0
    first()
    assert Counts.made == 1


@pytest.mark.parametrize("check", check_laplacian(Chain), ids=lambda check: check.__name__)
def test_the_checks_can_be_the_parameters_of_a_test(check):
    check()


def test_a_class_is_checked_with_its_defaults_and_an_instance_with_its_own_parameters():
    class Picky(Chain):
        """Works with one weight only."""

        def build(self, Phi, random_state):
            assert self.weight == 7.0
            return super().build(Phi, random_state)

    def shape(component):
        (check,) = [check for check in check_laplacian(component) if check.__name__ == "check_laplacian_shape"]
        return check

    assert shape(Picky(weight=7.0))() is None
    with pytest.raises(CheckFailed, match="raised AssertionError"):
        shape(Picky)()


def test_an_instance_is_not_changed_by_being_checked():
    graph = KNN(n_neighbors=3)
    before = dict(vars(graph))
    for check in check_laplacian(graph):
        check()
    assert vars(graph) == before


def test_a_failure_is_an_assertion_error_that_names_the_component():
    (check,) = [check for check in check_laplacian(WrongSign) if "positive" in check.__name__]
    with pytest.raises(AssertionError, match="WrongSign 'wrongsign': L is not positive semi-definite") as caught:
        check()
    assert type(caught.value) is CheckFailed


def test_what_a_component_raises_is_a_failure_with_its_cause():
    class Raises(Chain):
        """Does not work."""

        def build(self, Phi, random_state):
            raise KeyError("weights")

    (check,) = [check for check in check_laplacian(Raises) if check.__name__ == "check_laplacian_is_symmetric"]
    with pytest.raises(
        CheckFailed, match=r"raised KeyError \('weights'\) on the way to see whether this holds: L equals its transpose"
    ) as caught:
        check()
    assert isinstance(caught.value.__cause__, KeyError)


def test_the_checks_leave_the_global_random_numbers_as_they_were_even_if_a_component_does_not():
    (check,) = [check for check in check_laplacian(NumpyGlobal) if "global" in check.__name__]
    np.random.seed(5)  # noqa: NPY002
    random.seed(5)
    expected = np.random.random(), random.random()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    random.seed(5)
    with pytest.raises(CheckFailed):
        check()
    assert (np.random.random(), random.random()) == expected  # noqa: NPY002


@pytest.mark.parametrize("wrong", ["knn", 3, Gradient, Gradient(), object])
def test_what_is_no_component_of_the_kind_is_refused_at_once(wrong):
    with pytest.raises(TypeError, match="check_laplacian takes a subclass of Laplacian or an instance of one, got"):
        check_laplacian(wrong)


def test_an_abstract_component_fails_by_a_sentence():
    class Unfinished(Laplacian):
        """Has no build yet."""

    for check in check_laplacian(Unfinished):
        with pytest.raises(CheckFailed, match="implement every abstract method"):
            check()


def test_no_check_relies_on_assert_statements_which_python_can_leave_out():
    for path in Path(inspect.getfile(checks)).parent.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assert)], path.name


def test_every_check_function_is_listed():
    for path in Path(inspect.getfile(checks)).parent.glob("*s.py"):
        if path.stem == "experiments":
            tree = ast.parse(path.read_text(encoding="utf-8"))
            written = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            listed = {*CHECKS["metric"], *CHECKS["protocol"]}
            assert {name for name in written if name.startswith("check_")} == listed
        if path.stem in ("laplacians", "updaters", "qp_backends", "kernels", "feature_laplacians"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            written = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            kind = path.stem.removesuffix("s")
            assert {name for name in written if name.startswith("check_")} <= CHECKS[kind].keys()
