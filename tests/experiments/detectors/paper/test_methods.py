"""The methods under the paper's names, and their grids."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import OneClassSVM

from pyod_gessvdd import ESVDD, GESSVDD, GESVDD, GESVM, SVDD
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.errors import ComparisonError, NoSuchModelError
from pyod_gessvdd.experiments.detectors.paper.grid import GridModel, grid_points
from pyod_gessvdd.experiments.detectors.paper.methods import GROUPS, LINEAR, METHODS, NONLINEAR, choose_methods
from pyod_gessvdd.experiments.detectors.paper.ocsvm import OCSVM
from pyod_gessvdd.experiments.detectors.paper.shared_graph import SharedGraph

X = np.random.default_rng(0).normal(size=(40, 3)) + 3.0


def test_there_are_the_papers_34_variants_and_9_other_methods():
    assert len(GROUPS["variants"]) == 34
    assert len(GROUPS["others"]) == 9
    assert len(GROUPS["all"]) == 43
    assert set(GROUPS["main"]) <= set(GROUPS["variants"])


@pytest.mark.parametrize("name", METHODS)
def test_every_method_says_0_or_1_of_rows_and_its_boundary_decides(name):
    method = METHODS[name]
    description = method.descriptions[-1]
    parameters = {key: values[len(values) // 2] for key, values in method.grid(description, 3).items()}
    if "n_components" in parameters:
        parameters["n_components"] = 2
    model = method.build(description, parameters, 0).fit(X)
    assert set(model.predict(np.vstack([X, 100 + X]))) <= {0, 1}
    if name != "OCSVM":
        assert (model.threshold, model.standardize) == ("radius", False)
        assert model.threshold_ == 1.0


@pytest.mark.parametrize(
    ("name", "expected"),
    [("SVDD", SVDD), ("ESVDD", ESVDD), ("GESVDD-Sw", GESVDD), ("GESVM-kNN", GESVM), ("GESSVDD-0-S-min", GESSVDD)],
)
def test_a_name_stands_for_its_detector(name, expected):
    assert type(METHODS[name].build(NONLINEAR, {"C": 0.1, "sigma": 1.0}, 0)) is expected


def test_graphs_of_the_other_methods_are_the_named_ones():
    assert METHODS["GESVDD-Sw"].build(NONLINEAR, {}, 0).laplacian == "within"
    assert METHODS["GESVM-kNN"].build(NONLINEAR, {}, 0).laplacian == "knn"


def test_a_linear_method_searches_no_width_and_a_method_without_subspace_only_c():
    assert list(METHODS["GESSVDD-I-GR-min"].grid(LINEAR, 13)) == ["C", "n_components", "step_size"]
    assert list(METHODS["GESSVDD-I-SR-min"].grid(NONLINEAR, 13)) == ["C", "n_components", "sigma"]
    assert list(METHODS["ESVDD"].grid(LINEAR, 13)) == ["C"]
    assert list(METHODS["GESVM-Sw"].grid(NONLINEAR, 13)) == ["C", "sigma"]


def test_the_quick_grid_is_a_part_of_the_full_one():
    for name in ("GESSVDD-I-GR-min", "ESVDD"):
        full, quick = METHODS[name].grid(NONLINEAR, 13), METHODS[name].grid(NONLINEAR, 13, quick=True)
        assert full.keys() == quick.keys()
        for key, values in quick.items():
            assert 0 < len(values) < len(full[key])
            assert set(values) < set(full[key])


def test_methods_are_chosen_by_name_in_any_case_and_by_group():
    chosen = choose_methods(["knn-gr-min", "GESSVDD-kNN-GR-min", "esvdd", "main"])
    assert [method.name for method in chosen[:2]] == ["GESSVDD-kNN-GR-min", "ESVDD"]
    assert {method.name for method in chosen} == {*GROUPS["main"], "ESVDD"}


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("kNN-GR-mim", r"unknown method 'kNN-GR-mim'; did you mean GESSVDD-kNN-GR-min"),
        ("xxxxxxxx", "unknown method 'xxxxxxxx'; groups are all, variants, others, main"),
    ],
)
def test_an_unknown_method_is_an_error_with_the_nearest_names(name, sentence):
    with pytest.raises(ComparisonError, match=sentence):
        choose_methods([name])


# The shared graph -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["GESSVDD-Sw-GR-min", "GESSVDD-Sb-S-max", "GESSVDD-kNN-SR-min", "GESSVDD-kNN-GR-max"])
def test_fits_that_share_a_graph_are_the_fits_that_do_not(name):
    method = METHODS[name]
    shared = method.shared_graph()
    for C in (0.1, 0.4):
        for d in (1, 2):
            parameters = {"C": C, "n_components": d}
            alone = method.build(LINEAR, parameters, 3).fit(X)
            together = method.build(LINEAR, parameters, 3, shared).fit(X)
            assert (together.decision_scores_ == alone.decision_scores_).all()


def test_a_shared_graph_is_built_once_for_the_same_rows_and_seed_and_anew_for_others():
    class Counting(type(resolve("laplacian", "knn"))):
        count = 0

        def build(self, Phi, random_state):
            Counting.count += 1
            return super().build(Phi, random_state)

    shared = SharedGraph(Counting())
    for rows, seed, expected in ((X, 0, 1), (X.copy(), 0, 1), (X, 1, 2), (X + 1, 1, 3), (X, 0, 3)):
        shared.build(rows, seed)
        assert Counting.count == expected


def test_cheap_graphs_are_not_shared():
    for name in ("GESSVDD-0-GR-min", "GESSVDD-I-GR-min", "GESSVDD-PCA-S-min", "SVDD", "OCSVM"):
        assert METHODS[name].shared_graph() is None


# The points of a grid -------------------------------------------------------------------------------------------------


def test_every_point_of_a_grid_is_a_detector_and_points_of_one_width_stand_together():
    points = grid_points(METHODS["GESSVDD-kNN-S-max"], NONLINEAR, 3, quick=True)
    assert len(points) == len({point.name for point in points}) == 3 * 4 * 4
    assert points[0].name == "GESSVDD-kNN-S-max, non-linear, C=0.1, n_components=1, sigma=1.0"
    assert points[0].written() == {"description": "non-linear", "C": 0.1, "n_components": 1, "sigma": 1.0}
    widths = [point.parameters["sigma"] for point in points]
    assert widths == sorted(widths)
    assert len({point.family for point in points}) == 1


def test_a_point_that_does_not_exist_for_the_rows_says_so():
    with pytest.raises(NoSuchModelError, match="n_components"):
        GridModel(METHODS["GESSVDD-0-S-max"], LINEAR, {"C": 0.2, "n_components": 50}, 0).fit(X)


# OCSVM ----------------------------------------------------------------------------------------------------------------


def test_ocsvm_is_scikit_learns_with_the_papers_c_and_width():
    test = np.random.default_rng(1).normal(size=(200, 3)) * 2 + 3.0
    ours = OCSVM(kernel="rbf", C=0.1, sigma=2.0).fit(X).predict(test)
    theirs = OneClassSVM(kernel="rbf", gamma=1 / 8, nu=1 / (0.1 * 40), tol=1e-6).fit(X).predict(test)
    assert (ours == (theirs == -1)).all()


def test_a_linear_ocsvm_decides_the_same_in_any_unit():
    test = np.random.default_rng(1).normal(size=(200, 3)) * 2 + 3.0
    reference = OCSVM(kernel="linear", C=0.1).fit(X).predict(test)
    assert 0 < reference.mean() < 1
    assert (OCSVM(kernel="linear", C=0.1).fit(1000 * X).predict(1000 * test) == reference).all()
