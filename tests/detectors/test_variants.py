"""The paper's 34 variants, by name and back, each on a class of Iris, linear and with the RBF kernel."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from pyod_gessvdd import GESSVDD
from pyod_gessvdd.detectors.variants import VARIANTS, parse_variant, variant_name
from pyod_gessvdd.laplacians.knn import KNN

#: Graph by graph, with the updates that it has (paper, "Different variants"): without a graph there is no SR.
UPDATES = {
    "0": ("GR", "S"),
    "I": ("GR", "S", "SR"),
    "PCA": ("GR", "S", "SR"),
    "Sw": ("GR", "S", "SR"),
    "Sb": ("GR", "S", "SR"),
    "kNN": ("GR", "S", "SR"),
}
PAPER = [
    f"{graph}-{update}-{way}" for graph, updates in UPDATES.items() for update in updates for way in ("min", "max")
]


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_there_are_the_papers_34_variants():
    assert len(PAPER) == 34
    assert sorted(VARIANTS) == sorted(PAPER)


@pytest.mark.parametrize("name", PAPER)
def test_a_name_and_its_components_go_both_ways(name):
    assert variant_name(**parse_variant(name)) == name
    assert GESSVDD(**parse_variant(name)).variant == name
    assert GESSVDD.from_variant(name).variant == name


def test_no_two_names_are_the_same_variant():
    assert len({tuple(parse_variant(name).values()) for name in PAPER}) == 34


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("name", PAPER)
def test_every_variant_describes_each_iris_class(name, kernel, iris):
    X, y = iris
    for target in range(3):
        detector = GESSVDD.from_variant(name, kernel=kernel, n_components=2, C=0.1, random_state=0)
        scores = detector.fit(X[y == target]).decision_function(X)
        assert scores.shape == (150,)
        assert np.isfinite(scores).all()
        assert (scores >= 0).all()
        # The sphere holds most of the class that it describes: with C = 0.1 at most 10 of its 50 rows are outside.
        assert np.sum(scores[y == target] > 1 + 1e-9) <= 10
        assert detector.variant == name
        np.testing.assert_allclose(
            detector.components_ @ detector.components_.T, np.eye(detector.n_components_), atol=1e-9
        )


@pytest.mark.parametrize("name", ["GESSVDD-kNN-GR-min", "gessvdd-knn-gr-min", " kNN-GR-min ", "KNN-gr-MIN"])
def test_prefix_case_and_space_do_not_matter(name):
    assert parse_variant(name) == {"laplacian": "knn", "updater": "gradient", "criterion": "min"}


@pytest.mark.parametrize("name", ["0-SR-min", "0-SR-max", "GESSVDD-0-SR-max"])
def test_spectral_regression_without_a_graph_does_not_exist(name):
    with pytest.raises(
        ValueError, match=rf"'{name}' does not exist: spectral regression \(SR\) needs a graph, and 0 has none"
    ):
        GESSVDD.from_variant(name)


def test_spectral_regression_without_a_graph_is_refused_at_fit_too(iris):
    detector = GESSVDD(laplacian="none", updater="spectral_regression")
    assert detector.variant is None
    with pytest.raises(ValueError, match="updater 'spectral_regression' needs a graph, and laplacian 'none' has none"):
        detector.fit(iris[0])


@pytest.mark.parametrize(
    "name", ["", "kNN", "kNN-GR", "kNN-GR-min-max", "kMM-GR-min", "kNN-XY-min", "kNN-GR-up", "knn_gr_min"]
)
def test_an_unknown_variant_is_refused_with_the_parts_that_exist(name):
    with pytest.raises(
        ValueError,
        match=f"unknown variant '{name}'; .*0, I, PCA, Sw, Sb, kNN, UPDATER one of GR, S, SR and DIRECTION min or max",
    ):
        GESSVDD.from_variant(name)


def test_a_variant_that_is_no_text_is_refused_with_the_value():
    with pytest.raises(TypeError, match="a variant is a name such as 'kNN-GR-min', got 3"):
        GESSVDD.from_variant(3)


def test_from_variant_is_the_method_as_published():
    detector = GESSVDD.from_variant("Sw-S-max")
    assert (detector.laplacian, detector.updater, detector.criterion) == ("within", "spectral", "max")
    assert (detector.kernel, detector.standardize, detector.residual) == ("linear", False, False)
    assert detector.threshold == "radius"


@pytest.mark.parametrize(
    "params",
    [{"standardize": True}, {"kernel": "rbf", "sigma": 10.0}, {"C": 0.2, "n_iter": 7}, {"threshold": "contamination"}],
)
def test_parameters_given_to_from_variant_win(params):
    detector = GESSVDD.from_variant("Sw-S-max", **params)
    assert {name: getattr(detector, name) for name in params} == params


def test_from_variant_takes_a_component_in_place_of_the_papers():
    detector = GESSVDD.from_variant("kNN-GR-min", laplacian=KNN(n_neighbors=9))
    assert detector.laplacian.n_neighbors == 9
    assert detector.variant == "kNN-GR-min"


def test_an_unknown_parameter_of_from_variant_is_refused():
    with pytest.raises(TypeError, match="neighbours"):
        GESSVDD.from_variant("kNN-GR-min", neighbours=9)


def test_from_variant_of_a_subclass_gives_the_subclass():
    class Own(GESSVDD):
        pass

    assert type(Own.from_variant("kNN-GR-min")) is Own


@pytest.mark.parametrize(
    ("params", "variant"),
    [
        ({"laplacian": "kNN", "updater": "GR", "criterion": "min"}, "kNN-GR-min"),
        ({"laplacian": "knn(n_neighbors=7)", "updater": "S"}, "kNN-S-max"),
        ({"laplacian": "0", "updater": "SR"}, None),
        ({"laplacian": "0.7*knn + 0.3*pca"}, None),
        ({"criterion": "sideways"}, None),
    ],
)
def test_a_detector_knows_its_variant_or_that_the_paper_has_none(params, variant):
    assert GESSVDD(**params).variant == variant
