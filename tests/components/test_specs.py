"""Names, spec strings, instances, matrices and functions as component parameters."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from pyod_gessvdd import GESSVDD, Kernel, Laplacian, QPBackend, Updater
from pyod_gessvdd.components.registry import KINDS, registry
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.errors import SpecError, UnknownComponentError
from pyod_gessvdd.kernels.linear import Linear
from pyod_gessvdd.kernels.pairwise import RBF, FunctionKernel, Polynomial
from pyod_gessvdd.laplacians.between import Between
from pyod_gessvdd.laplacians.given import GivenLaplacian
from pyod_gessvdd.laplacians.identity import Identity
from pyod_gessvdd.laplacians.knn import KNN
from pyod_gessvdd.laplacians.none import NoConstraint
from pyod_gessvdd.laplacians.pca import PCA
from pyod_gessvdd.laplacians.weighted_sum import WeightedSum
from pyod_gessvdd.laplacians.within import Within
from pyod_gessvdd.qp.frank_wolfe import FrankWolfe
from pyod_gessvdd.updaters.gradient import Gradient
from pyod_gessvdd.updaters.spectral import Spectral
from pyod_gessvdd.updaters.spectral_regression import SpectralRegression


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(40, 4))


def cycle(N):
    """The Laplacian of a ring of N nodes."""
    ring = sp.csr_array((np.ones(N), (np.arange(N), (np.arange(N) + 1) % N)), shape=(N, N))
    return sp.csr_array(2 * sp.eye_array(N) - ring - ring.T)


# Names ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spelling", [str, str.lower, str.upper], ids=["as printed", "lower", "upper"])
@pytest.mark.parametrize(
    ("kind", "label", "component"),
    [
        ("laplacian", "0", NoConstraint),
        ("laplacian", "I", Identity),
        ("laplacian", "PCA", PCA),
        ("laplacian", "Sw", Within),
        ("laplacian", "Sb", Between),
        ("laplacian", "kNN", KNN),
        ("updater", "GR", Gradient),
        ("updater", "S", Spectral),
        ("updater", "SR", SpectralRegression),
    ],
)
def test_the_papers_labels_are_names_in_any_case(kind, label, component, spelling):
    assert type(resolve(kind, spelling(label))) is component


@pytest.mark.parametrize("kind", KINDS)
def test_every_registered_name_gives_its_component_with_default_parameters(kind):
    for name in registry().names(kind):
        component = resolve(kind, name)
        assert component.name == name
        assert component.get_params() == type(component)().get_params()


def test_space_around_a_name_does_not_matter():
    assert type(resolve("laplacian", "  knn ")) is KNN


def test_each_resolve_of_a_name_gives_a_component_of_its_own():
    assert resolve("laplacian", "knn") is not resolve("laplacian", "knn")


@pytest.mark.parametrize("text", ["kmm", "far-knn", "7", "knn_", "given"])
def test_an_unknown_name_is_an_unknown_component_not_bad_syntax(text):
    with pytest.raises(UnknownComponentError, match=f"unknown laplacian '{text}'.* Installed: between, identity, knn"):
        resolve("laplacian", text)


def test_a_name_of_another_kind_is_unknown():
    with pytest.raises(UnknownComponentError, match="unknown updater 'knn'"):
        resolve("updater", "knn")


def test_the_detector_says_which_component_is_unknown_and_which_is_near(X):
    with pytest.raises(UnknownComponentError, match="unknown laplacian 'witin', did you mean 'within'"):
        GESSVDD(laplacian="witin").fit(X)


# Spec strings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "text", "component", "parameters"),
    [
        ("laplacian", "knn(n_neighbors=7)", KNN, {"n_neighbors": 7}),
        ("laplacian", "kNN( n_neighbors = 7 )", KNN, {"n_neighbors": 7}),
        ("laplacian", "knn()", KNN, {"n_neighbors": 5}),
        ("laplacian", "(knn)", KNN, {"n_neighbors": 5}),
        ("laplacian", "Sw(n_clusters=3)", Within, {"n_clusters": 3}),
        ("updater", "GR(step_size=1e-2)", Gradient, {"step_size": 0.01}),
        ("updater", "gradient(step_size=None)", Gradient, {"step_size": None}),
        ("qp_backend", "frank_wolfe(max_iter=50)", FrankWolfe, {"max_iter": 50}),
        ("kernel", "rbf(gamma='median', energy=0.9)", RBF, {"gamma": "median", "energy": 0.9}),
        ("kernel", "poly(coef0=-1.5, degree=2,)", Polynomial, {"coef0": -1.5, "degree": 2}),
    ],
)
def test_a_spec_string_sets_the_parameters_that_it_names(kind, text, component, parameters):
    found = resolve(kind, text)
    assert type(found) is component
    assert found.get_params() == {**component().get_params(), **parameters}


def test_a_spec_string_and_the_instance_that_it_stands_for_fit_alike(X):
    by_text = GESSVDD(kernel="linear", laplacian="knn(n_neighbors=7)").fit(X)
    by_instance = GESSVDD(kernel="linear", laplacian=KNN(n_neighbors=7)).fit(X)
    by_default = GESSVDD(kernel="linear", laplacian="knn").fit(X)
    np.testing.assert_array_equal(by_text.decision_scores_, by_instance.decision_scores_)
    assert not np.allclose(by_text.decision_scores_, by_default.decision_scores_)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "cannot read the laplacian ''; write a name"),
        ("knn(", r"cannot read the laplacian 'knn\('; write a name, 'name\(parameter=value\)' or, for graphs"),
        ("knn(n_neighbors=)", "cannot read the laplacian"),
        ("knn; pca", "cannot read the laplacian 'knn; pca'"),
        ("n = 3", "cannot read the laplacian 'n = 3'"),
        ("knn\0", "cannot read the laplacian"),
        ("9" * 400 + "*knn + pca", r"cannot read '9+ \* knn' in the laplacian"),
        ("knn + " * 334, r"a spec string must have at most 2000 characters, got 2003: 'knn \+"),
        ("knn + " * 200 + "knn", "a spec string must have at most 100 brackets, signs or sums inside each other, got"),
        ("not " * 300 + "knn", "a spec string must have at most 100 brackets, signs or sums inside each other, got"),
        ("knn(7)", r"cannot read 'knn\(7\)' in the laplacian 'knn\(7\)'; write 'name\(parameter=value\)'"),
        ("knn(*[7])", "cannot read 'knn"),
        ("knn(**{'n_neighbors': 7})", r"cannot read \"\*\*\{'n_neighbors': 7\}\""),
        ("[knn]", r"cannot read '\[knn\]'"),
        ("'knn'", "cannot read \"'knn'\""),
        ("knn.build", "cannot read 'knn.build'"),
        ("knn(n_neighbors=7)(1)", "cannot read 'knn"),
        ("lambda: knn", "cannot read 'lambda ?: knn'"),
        ("knn(n_neighbors=7, n_neighbors=8)", "n_neighbors is given twice in the laplacian"),
    ],
)
def test_what_is_no_spec_is_refused_with_the_text_seen(text, words):
    with pytest.raises(SpecError, match=words):
        resolve("laplacian", text)


def test_an_unknown_parameter_is_refused_with_the_ones_that_exist():
    with pytest.raises(
        SpecError, match=r"kernel 'rbf' has no parameter 'width'; it takes energy, approximation, .*gamma"
    ):
        resolve("kernel", "rbf(width=3)")


def test_a_component_without_parameters_says_so():
    with pytest.raises(SpecError, match="laplacian 'pca' has no parameter 'n'; it takes none"):
        resolve("laplacian", "pca(n=3)")


def test_an_unknown_name_with_parameters_is_an_unknown_component():
    with pytest.raises(UnknownComponentError, match="unknown laplacian 'knnn', did you mean 'knn'"):
        resolve("laplacian", "knnn(n_neighbors=3)")


@pytest.mark.parametrize(
    "value", ["five", "2 + 3", "int(5)", "[n for n in (5,)]", "f'{5}'", "{[]: 5}", "5 if 1 else 6"]
)
def test_a_value_that_is_no_literal_is_refused(value):
    with pytest.raises(SpecError, match=r"n_neighbors in .knn.*must be a number, a string or another literal, got "):
        resolve("laplacian", f"knn(n_neighbors={value})")


@pytest.mark.parametrize(
    "template",
    [
        "__import__('pathlib').Path({path!r}).touch()",
        "knn(n_neighbors=__import__('pathlib').Path({path!r}).touch())",
        "0.5*knn + __import__('pathlib').Path({path!r}).touch()",
        "__import__('pathlib').Path({path!r}).touch() * knn",
        "(lambda: __import__('pathlib').Path({path!r}).touch())()",
        "knn(n_neighbors=open({path!r}, 'w'))",
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_code_in_a_spec_string_is_not_run(kind, template, tmp_path):
    path = tmp_path / "touched"
    with pytest.raises((SpecError, UnknownComponentError)):
        resolve(kind, template.format(path=str(path)))
    assert not path.exists()


@settings(max_examples=200, deadline=None)
@given(text=st.text(alphabet="knpca0.5I(),=*+- '\"_{}[]:\n\\", max_size=20), kind=st.sampled_from(list(KINDS)))
def test_any_text_gives_a_component_or_an_error_of_ours(text, kind):
    try:
        component = resolve(kind, text)
    except (SpecError, UnknownComponentError):
        return
    assert isinstance(component, KINDS[kind])


# Sums -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "graphs", "weights"),
    [
        ("0.7*knn + 0.3*pca", [KNN, PCA], [0.7, 0.3]),
        ("knn*0.7 + pca", [KNN, PCA], [0.7, 1.0]),
        ("kNN + Sw + I", [KNN, Within, Identity], [1.0, 1.0, 1.0]),
        ("2*knn", [KNN], [2.0]),
        ("2*(knn) + (0.5*pca)", [KNN, PCA], [2.0, 0.5]),
    ],
)
def test_a_sum_of_graphs_keeps_their_weights_and_order(text, graphs, weights):
    found = resolve("laplacian", text)
    assert type(found) is WeightedSum
    assert [type(graph) for graph in found.laplacians] == graphs
    assert found.weights == weights


def test_the_graphs_of_a_sum_take_parameters():
    found = resolve("laplacian", "0.7*knn(n_neighbors=9) + 0.3*within(n_clusters=2)")
    knn, within = found.laplacians
    assert knn.n_neighbors == 9
    assert within.n_clusters == 2


def test_a_nested_sum_is_the_sum_of_products(X):
    nested = GESSVDD(kernel="linear", laplacian="2*(knn + 0.5*(pca + 4*I))", random_state=0).fit(X)
    flat = GESSVDD(kernel="linear", laplacian="2*knn + pca + 4*I", random_state=0).fit(X)
    np.testing.assert_allclose(nested.decision_scores_, flat.decision_scores_)


def test_a_sum_is_the_sum_of_its_matrices(X):
    found = resolve("laplacian", "0.7*knn + 0.3*pca").build(X, None).toarray()
    expected = 0.7 * KNN().build(X, None).toarray() + 0.3 * PCA().build(X, None).toarray()
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("knn - pca", "knn - pca"),
        ("0.7*0.3*knn", "0.7 \\* 0.3 \\* knn"),
        ("knn*pca", "knn \\* pca"),
        ("knn/2", "knn / 2"),
        ("True*knn", "True \\* knn"),
        ("2j*knn", "2j \\* knn"),
        ("'2'*knn", "'2' \\* knn"),
        ("knn + 3", "3"),
        ("+knn + pca", "\\+knn"),
    ],
)
def test_what_is_no_sum_of_graphs_is_refused(text, part):
    with pytest.raises(SpecError, match=f"cannot read .{part}. in the laplacian .*; a sum is written '0.7\\*knn"):
        resolve("laplacian", text)


def test_an_unknown_graph_in_a_sum_is_an_unknown_component():
    with pytest.raises(UnknownComponentError, match="unknown laplacian 'pac', did you mean 'pca'"):
        resolve("laplacian", "0.7*knn + 0.3*pac")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("laplacian", "kernel")])
def test_only_graphs_and_kernels_can_be_added(kind):
    name = registry().names(kind)[0]
    with pytest.raises(SpecError, match=f"in the {kind} '{name} \\+ {name}'; write 'name"):
        resolve(kind, f"{name} + {name}")


@pytest.mark.parametrize(("text", "weights"), [("-0.5*knn + pca", r"\[-0.5, 1.0\]"), ("0*knn", r"\[0.0\]")])
def test_weights_that_are_not_positive_are_refused_at_fit(text, weights, X):
    with pytest.raises(ValueError, match=f"weights of a sum of graphs must be positive, got {weights}"):
        GESSVDD(kernel="linear", laplacian=text).fit(X)


def test_no_graph_cannot_be_part_of_a_sum(X):
    with pytest.raises(ValueError, match="'none' has no graph and cannot be part of a sum"):
        GESSVDD(kernel="linear", laplacian="none + knn").fit(X)


# Instances, classes, matrices, functions ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "instance"),
    [("laplacian", KNN(3)), ("updater", Gradient()), ("qp_backend", FrankWolfe()), ("kernel", Linear())],
)
def test_an_instance_is_taken_as_it_is(kind, instance):
    assert resolve(kind, instance) is instance


@pytest.mark.parametrize(
    ("kind", "contract", "given"),
    [
        ("laplacian", Laplacian, KNN),
        ("updater", Updater, Gradient),
        ("qp_backend", QPBackend, FrankWolfe),
        ("kernel", Kernel, RBF),
    ],
)
def test_a_class_instead_of_an_instance_is_refused_with_what_to_write(kind, contract, given):
    name = given.__name__
    with pytest.raises(
        TypeError, match=rf"{kind} must be .* instance of {contract.__name__}, got .*, write {name}\(\)"
    ):
        resolve(kind, given)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [None, 3, ["knn"]])
def test_anything_else_is_refused_with_the_value(kind, value):
    with pytest.raises(TypeError, match=f"{kind} must be a name, a spec string or an instance of .* got ") as caught:
        resolve(kind, value)
    assert str(caught.value).endswith(repr(value))


def test_a_component_of_another_kind_is_refused():
    with pytest.raises(TypeError, match=r"laplacian must be .* an instance of Laplacian, got Gradient\(\)"):
        resolve("laplacian", Gradient())


@pytest.mark.parametrize("form", [sp.csr_array, sp.coo_matrix, sp.csr_array.toarray], ids=["csr", "coo", "dense"])
def test_a_matrix_is_a_laplacian_in_any_form(form, X):
    L = form(cycle(len(X)))
    assert type(resolve("laplacian", L)) is GivenLaplacian
    given = GESSVDD(kernel="linear", laplacian=L).fit(X)
    usual = GESSVDD(kernel="linear", laplacian=GivenLaplacian(cycle(len(X)))).fit(X)
    np.testing.assert_allclose(given.decision_scores_, usual.decision_scores_)
    assert given.variant is None


def test_a_matrix_is_no_other_component():
    with pytest.raises(TypeError, match="updater must be a name"):
        resolve("updater", np.eye(3))


@pytest.mark.parametrize("trim", ["auto", None])
@pytest.mark.parametrize("n_nodes", [39, 37, 41, 50])
def test_a_matrix_of_the_wrong_size_is_refused_with_both_sizes(n_nodes, trim, X):
    # Whether or not some rows are left out: a larger matrix has edges for the rows that are trusted, too.
    with pytest.raises(ValueError, match=f"laplacian 'given' returned a graph of {n_nodes} nodes; expected 40"):
        GESSVDD(kernel="linear", laplacian=cycle(n_nodes), trim=trim).fit(X)


def linear_kernel(A, B):
    return A @ B.T


def test_a_function_is_a_kernel(X):
    assert type(resolve("kernel", linear_kernel)) is FunctionKernel
    by_function = GESSVDD(kernel=linear_kernel, laplacian="pca", n_components=3).fit(X)
    by_name = GESSVDD(kernel="linear", laplacian="pca", n_components=3).fit(X)
    np.testing.assert_allclose(by_function.decision_scores_, by_name.decision_scores_, rtol=1e-6)


def test_a_function_is_no_other_component():
    with pytest.raises(TypeError, match="laplacian must be a name"):
        resolve("laplacian", linear_kernel)
