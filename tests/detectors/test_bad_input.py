"""What bad input gets: one sentence with the value seen, and a detector that is as it was before."""

import copy
import functools
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from pyod_gessvdd import GESSVDD, Graph, Kernel, Laplacian, QPBackend, QPSolution, Updater
from pyod_gessvdd.errors import ComponentError, NotSolvedError, SpecError, UnknownComponentError
from pyod_gessvdd.kernels.linear import Linear
from pyod_gessvdd.laplacians.knn import KNN
from pyod_gessvdd.qp.frank_wolfe import FrankWolfe
from pyod_gessvdd.updaters.gradient import Gradient

N, D = 40, 4


def good_rows():
    return np.random.default_rng(0).normal(size=(N, D))


@functools.cache
def fitted_detector():
    return GESSVDD(kernel="linear", laplacian="pca", random_state=0).fit(good_rows())


def refuses(error, match, X=None, sample_weight=None, **params):
    """Fitting fails with this error, and leaves an unfitted detector unfitted and a fitted one fitted as it was.

    All rows are trusted unless the test says otherwise: what components see is the rows of X then.
    """
    params = {"kernel": "linear", "laplacian": "pca", "trim": None, "random_state": 0, **params}
    X = good_rows() if X is None else X
    unfitted = GESSVDD(**params)
    before = dict(vars(unfitted))
    with pytest.raises(error, match=match):
        unfitted.fit(X, sample_weight=sample_weight)
    assert dict(vars(unfitted)) == before
    with pytest.raises(NotFittedError, match="not fitted"):
        unfitted.decision_function(good_rows())

    fitted = copy.copy(fitted_detector())
    scores, labels = fitted.decision_function(good_rows()), fitted.predict(good_rows())
    fitted.set_params(**params)
    before = dict(vars(fitted))
    with pytest.raises(error, match=match):
        fitted.fit(X, sample_weight=sample_weight)
    assert all(vars(fitted)[name] is value for name, value in before.items())
    assert_array_equal(fitted.decision_function(good_rows()), scores)
    assert_array_equal(fitted.predict(good_rows()), labels)


# The data -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [1e154, 1e200, 1e300])
@pytest.mark.parametrize("standardize", [True, False])
def test_data_whose_squares_overflow_are_named_as_such(unit, standardize):
    refuses(
        ValueError,
        r"^X holds values up to \de\+\d+, whose squares are beyond the range of floating point; divide them by a",
        good_rows() * unit,
        standardize=standardize,
    )


@pytest.mark.parametrize("unit", [1e-160, 1e-200, 1e-300])
def test_data_whose_squares_vanish_are_named_as_such(unit):
    refuses(
        ValueError,
        r"^X holds no value above \de-\d+, whose square is below the range of floating point; multiply them by a",
        good_rows() * unit,
    )


def test_a_far_row_is_scored_all_the_same():
    far = good_rows()[:1] * 1e160
    assert GESSVDD(random_state=0).fit(good_rows()).predict(far).tolist() == [1]


def test_masked_values_are_not_taken_for_values():
    X = np.ma.array(good_rows(), mask=np.zeros((N, D), dtype=bool))
    GESSVDD(kernel="linear").fit(X)
    X.mask[3, 1] = True
    refuses(ValueError, r"^X must have all its values, but X\[3, 1\] is masked \(1 such values\); impute or drop", X)


@pytest.mark.parametrize(
    ("values", "seen"),
    [
        (["Oslo"] * N, r"of type (object|str), such as 'Oslo'"),
        (pd.Categorical(["Oslo"] * N), "of type category, such as 'Oslo'"),
        (pd.date_range("2020-01-01", periods=N), r"of type datetime64\[\w+\], such as '2020-01-01"),
    ],
    ids=["text", "category", "dates"],
)
def test_a_column_that_holds_no_numbers_is_named(values, seen):
    X = pd.DataFrame(good_rows(), columns=list("abcd")).assign(city=values)
    refuses(ValueError, rf"^X must be numeric, but column 'city' holds values {seen}.*; convert or drop it first$", X)


def test_a_column_of_numbers_kept_as_objects_is_read():
    X = pd.DataFrame(good_rows(), columns=list("abcd"))
    scores = GESSVDD(kernel="linear").fit(X.astype({"b": object})).decision_scores_
    assert_array_equal(scores, GESSVDD(kernel="linear").fit(X).decision_scores_)


@pytest.mark.parametrize("kernel", ["chi2", "additive_chi2"])
def test_a_kernel_for_counts_says_that_it_is_one(kernel):
    refuses(ValueError, rf"^kernel '{kernel}' needs data that are not negative, such as counts, got -", kernel=kernel)


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinite"), (-np.inf, "infinite")])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_values_that_are_not_finite_are_named_with_their_place(kernel, value, word):
    X = good_rows()
    X[3, 1] = X[5, 2] = value
    refuses(
        ValueError, rf"X must be finite, but X\[3, 1\] is {word} \(2 such values\); impute or drop", X, kernel=kernel
    )


def test_missing_values_of_a_dataframe_are_named_with_their_place():
    frame = pd.DataFrame({"a": pd.array([1, None] * 10, dtype="Int64"), "b": range(20)})
    refuses(ValueError, r"X must be finite, but row 1 of column 'a' is NaN \(10 such values\)", frame)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("method", ["decision_function", "predict", "predict_proba", "predict_confidence", "transform"])
def test_values_that_are_not_finite_are_named_at_predict_too(method, value):
    detector = GESSVDD(kernel="linear", laplacian="pca").fit(good_rows())
    X = good_rows()
    X[7, 0] = value
    with pytest.raises(ValueError, match=r"X must be finite, but X\[7, 0\] is (NaN|infinite) \(1 such"):
        getattr(detector, method)(X)


@pytest.mark.parametrize(
    "X",
    [[["1.5", "b"]] * N, np.full((N, 2), "1.5"), np.full((N, 2), b"1.5"), [[1.5, "b"]] * N],
    ids=["list", "array", "bytes", "mixed list"],
)
def test_strings_are_refused_even_if_they_spell_numbers(X):
    refuses(ValueError, r"X must be numeric, got strings such as .*1\.5", X)


@pytest.mark.parametrize(
    "X",
    [np.array([[1.0, "blue"]] * N, dtype=object), pd.DataFrame({"a": range(N), "b": ["blue"] * N})],
    ids=["objects", "DataFrame"],
)
def test_strings_among_numbers_are_named(X):
    refuses(ValueError, "could not convert string to float: 'blue'|column 'b' holds values of type .*'blue'", X)


def test_complex_numbers_are_refused():
    refuses(ValueError, "Complex data not supported", good_rows() + 1j)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix, sp.coo_array])
def test_sparse_data_are_refused_with_a_way_out(form):
    refuses(TypeError, r"Sparse data was passed for X, but dense data is required.*toarray", form(good_rows()))


def test_sparse_data_are_refused_at_predict():
    detector = GESSVDD(kernel="linear", laplacian="pca").fit(good_rows())
    with pytest.raises(TypeError, match="Sparse data was passed for X"):
        detector.predict(sp.csr_array(good_rows()))


def test_one_dimensional_data_are_refused_with_a_way_out():
    refuses(ValueError, r"(?s)Expected 2D array, got 1D array instead.*reshape\(-1, 1\)", good_rows()[:, 0])


def test_three_dimensional_data_are_refused():
    refuses(ValueError, "Found array with dim 3, while dim <= 2 is required", good_rows()[None])


def test_no_rows_are_refused():
    refuses(ValueError, r"0 sample\(s\) \(shape=\(0, 4\)\) while a minimum of 2 is required", good_rows()[:0])


def test_no_columns_are_refused():
    refuses(ValueError, r"0 feature\(s\) \(shape=\(40, 0\)\) while a minimum of 1 is required", good_rows()[:, :0])


def test_one_row_is_refused():
    refuses(ValueError, r"1 sample\(s\) \(shape=\(1, 4\)\) while a minimum of 2 is required", good_rows()[:1])


@pytest.mark.parametrize("graph", ["within", "between"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_fewer_rows_than_clusters_are_refused(kernel, graph):
    message = f"{graph} needs at least n_clusters=5 samples, got 4"
    refuses(ValueError, message, good_rows()[:4], laplacian=graph, kernel=kernel)


def test_fewer_rows_than_neighbours_are_refused():
    refuses(ValueError, "knn needs.*n_neighbors=5 and 5 samples", good_rows()[:5], laplacian="knn")


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("laplacian", ["none", "identity", "pca", "within", "between", "knn"])
@pytest.mark.parametrize(("value", "standardize"), [(0.0, True), (7.3, False), (1e9, True)])
def test_constant_columns_give_finite_scores(value, standardize, laplacian, kernel):
    X = good_rows()
    X[:, 1] = value
    params = {"laplacian": laplacian, "kernel": kernel, "standardize": standardize, "n_components": 2}
    detector = GESSVDD(random_state=0, **params).fit(X)
    assert np.isfinite(detector.decision_scores_).all()
    assert np.ptp(detector.decision_scores_) > 0.1
    moved = X + np.array([0.0, 1.0, 0.0, 0.0])
    assert np.isfinite(detector.decision_function(moved)).all()


@pytest.mark.parametrize("laplacian", ["none", "identity", "pca", "within", "between", "knn"])
def test_constant_columns_change_nothing_on_the_linear_path(laplacian):
    X = good_rows()
    X[:, -1] = 1e6
    params = {"kernel": "linear", "laplacian": laplacian, "standardize": False, "n_components": 2, "random_state": 0}
    with_it, without = (GESSVDD(**params).fit(rows) for rows in (X, X[:, :-1]))
    assert_array_equal(with_it.trusted_, without.trusted_)
    assert_allclose(with_it.decision_scores_, without.decision_scores_, rtol=1e-6)


def test_constant_columns_do_not_count_among_the_directions():
    X = good_rows()
    X[:, 1] = 7.3
    with pytest.warns(UserWarning, match=r"n_components=4, but the features vary in only 3 of 4 directions.*using 3"):
        detector = GESSVDD(kernel="linear", laplacian="pca", n_components=4).fit(X)
    assert detector.n_components_ == 3


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("laplacian", ["none", "identity", "pca", "within", "between", "knn"])
@pytest.mark.parametrize("params", [{}, {"standardize": False}, {"standardize": False, "center": False}])
def test_equal_rows_are_refused(params, laplacian, kernel):
    if (kernel, laplacian) == ("rbf", "identity"):
        params = {**params, "n_components": 2}  # the whole space has a description of them, see below
    message = "all 20 rows of X are equal: there is nothing to describe"
    refuses(ValueError, message, np.full((20, 3), 1.7), laplacian=laplacian, kernel=kernel, **params)


@pytest.mark.parametrize("params", [{}, {"novelty": True}, {"threshold": "radius"}])
@pytest.mark.parametrize("n_rows", [2, 30, 3000])
def test_the_whole_space_describes_equal_rows(params, n_rows):
    X = np.full((n_rows, 3), 1.7)
    with pytest.warns(UserWarning, match=f"^all {n_rows} rows of X are equal: scores are distances from that one row$"):
        detector = GESSVDD(random_state=0, **params).fit(X)
    assert not detector.labels_.any()
    assert not detector.predict(X).any()
    assert np.ptp(detector.decision_scores_) == 0
    near, far, farthest = X[0] + np.array([[1.0], [10.0], [1000.0]])
    scores = detector.decision_function([X[0], near, far, farthest])
    assert (np.diff(scores) > 0).all()
    assert scores[-1] < 1e9
    assert detector.predict([far, farthest]).all()


@pytest.mark.parametrize("shape", [(5, 3), (5, 5), (1, 1)])
def test_wrong_width_at_predict_is_named(shape):
    detector = GESSVDD(kernel="linear", laplacian="pca").fit(good_rows())
    with pytest.raises(ValueError, match=f"X has {shape[1]} features, but GESSVDD is expecting 4 features"):
        detector.decision_function(np.zeros(shape))


def test_one_dimensional_row_at_predict_is_refused():
    detector = GESSVDD(kernel="linear", laplacian="pca").fit(good_rows())
    with pytest.raises(ValueError, match=r"(?s)Expected 2D array, got 1D array.*reshape\(1, -1\)"):
        detector.predict(good_rows()[0])


def test_no_rows_at_predict_are_refused():
    detector = GESSVDD(kernel="linear", laplacian="pca").fit(good_rows())
    with pytest.raises(ValueError, match=r"0 sample\(s\) \(shape=\(0, 4\)\) while a minimum of 1 is required"):
        detector.predict(good_rows()[:0])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("bacd", "(?s)feature names should match.*same order"),
        ("abc", "(?s)missing:\n- d"),
        ("abce", "(?s)unseen at fit time:\n- e.*missing:\n- d"),
        ("abcde", "(?s)unseen at fit time:\n- e"),
    ],
)
def test_other_columns_at_predict_are_named(columns, message):
    frame = pd.DataFrame(good_rows(), columns=list("abcd"))
    detector = GESSVDD(kernel="linear", laplacian="pca").fit(frame)
    scores = detector.decision_function(frame)
    with pytest.raises(ValueError, match=message):
        detector.decision_function(frame.assign(e=1.0)[list(columns)])
    assert_array_equal(detector.decision_function(frame), scores)


def test_array_without_names_after_a_dataframe_is_warned_about():
    detector = GESSVDD(kernel="linear", laplacian="pca").fit(pd.DataFrame(good_rows(), columns=list("abcd")))
    with pytest.warns(UserWarning, match="X does not have valid feature names, but GESSVDD was fitted with"):
        detector.predict(good_rows())


# Sample weights -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.r_[-0.5, np.ones(N - 1)], "sample_weight must not be negative, got -0.5"),
        (np.zeros(N), "sample_weight must not be all zero"),
        (np.r_[np.nan, np.ones(N - 1)], "sample_weight must be finite, got NaN or infinite"),
        (np.r_[np.inf, np.ones(N - 1)], "sample_weight must be finite, got NaN or infinite"),
        (np.ones(N - 1), r"sample_weight must hold one number per sample, shape \(40,\), got shape \(39,\)"),
        (np.ones((N, 1)), r"sample_weight must hold one number per sample, shape \(40,\), got shape \(40, 1\)"),
        (2.0, r"sample_weight must hold one number per sample, shape \(40,\), got shape \(\)"),
        (["heavy"] * N, "could not convert string to float: 'heavy'"),
    ],
)
def test_bad_sample_weights_are_refused(weights, message):
    refuses(ValueError, message, sample_weight=weights)


def test_C_below_one_over_the_sum_of_weights_is_refused():
    refuses(ValueError, r"C must be at least 1/N = 0\.25.*got 0\.1", sample_weight=np.full(N, 0.1), C=0.1)


# The parameters -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_components", [5, 100])
def test_more_components_than_features_are_refused(n_components):
    message = f"n_components must be at most the number of features, 4, got {n_components}"
    refuses(ValueError, message, n_components=n_components)


def test_more_components_than_features_of_the_kernel_are_refused():
    refuses(
        ValueError, r"n_components must be at most the number of features, \d+, got 400", kernel="rbf", n_components=400
    )


@pytest.mark.parametrize("C", [0.01, 0.0249, 0, -1, float("nan")])
def test_C_below_one_over_N_is_refused(C):
    refuses(ValueError, rf"C must be at least 1/N = 0\.025 for 40 samples.*got {re.escape(repr(C))}", C=C)


def test_C_of_exactly_one_over_N_and_above_one_are_fine():
    for C in (1 / N, 1.0, 7.0, float("inf")):
        assert np.isfinite(GESSVDD(kernel="linear", laplacian="pca", C=C).fit(good_rows()).decision_scores_).all()


def test_C_and_nu_together_are_refused():
    refuses(ValueError, r"give C or nu, not both, got C=0\.5 and nu=0\.1", C=0.5, nu=0.1)


@pytest.mark.parametrize("nu", [0, -0.1, 1.5, float("nan"), float("inf")])
def test_nu_outside_its_range_is_refused(nu):
    refuses(ValueError, rf"nu must be in \(0, 1\], got {re.escape(repr(nu))}", nu=nu)


WRONG = [
    ("C", ["0.5", True, [0.5]], "C must be a number or None"),
    ("nu", ["0.5", True, [0.5]], "nu must be a number or None"),
    ("criterion", ["maximum", "MAX", None, 1], "criterion must be 'min' or 'max'"),
    ("threshold", ["sphere", None, 0.5], "threshold must be 'contamination' or 'radius'"),
    ("keep", ["first", None, True], "keep must be 'last' or 'best'"),
    ("init", ["kmeans", "PCA"], r"init must be 'pca', 'random' or an array of shape \(d, F\)"),
    ("n_iter", [-1, 2.5, "3", True, float("inf")], "n_iter must be an integer of at least 0, or None"),
    ("tol", [-1, "a", None, float("nan"), float("inf"), True], "tol must be a number of at least 0"),
    ("ridge", [-1, "a", True, float("nan"), float("inf")], "ridge must be a number of at least 0, or None"),
    (
        "trim",
        [-0.1, 0.51, "some", True, [0.1], float("nan")],
        "trim must be 'auto', None or a share of the rows from 0 to 0\\.5",
    ),
    ("novelty", ["yes", None, 1], "novelty must be True or False"),
    ("step_size", [0, -1, "a", None, float("nan"), float("inf")], "step_size must be a positive number"),
    ("qp_tol", [0, -1, "a", None], "qp_tol must be a positive number"),
    (
        "n_components",
        [0, -2, 2.5, "3", True],
        "n_components must be a positive integer or None, or 'all'",
    ),
    ("contamination", [0.0, 0.6, "auto", None], r"contamination must be.*\(0, 0\.5\]"),
    ("center", ["yes", 1], "center must be True, False or None"),
    (
        "standardize",
        ["no", None, 1],
        "standardize must be True, False, 'standard', 'robust', 'signed_log', 'quantile', 'views' or 'auto'",
    ),
    ("residual", ["yes", None, 1], "residual must be True or False"),
]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [(name, value, message) for name, values, message in WRONG for value in values],
    ids=lambda part: repr(part)[:20],
)
def test_parameters_of_a_wrong_kind_or_value_are_refused(name, value, message):
    refuses(ValueError, rf"{message}.*got {re.escape(repr(value))}", **{name: value})


def test_numpy_numbers_are_numbers():
    params = {
        "C": np.float32(0.5),
        "n_components": np.int64(2),
        "n_iter": np.int32(1),
        "tol": np.float32(0.0),
        "step_size": np.float32(0.5),
        "center": np.True_,
    }
    plain = {"C": 0.5, "n_components": 2, "n_iter": 1, "tol": 0.0, "step_size": 0.5, "center": True}
    scores = [GESSVDD(kernel="linear", laplacian="pca", **p).fit(good_rows()).decision_scores_ for p in (params, plain)]
    assert_array_equal(*scores)


@pytest.mark.parametrize(
    ("init", "message"),
    [
        (np.eye(3), r"init must be 'pca', 'random' or an array of shape \(d, 4\), got shape \(3, 3\)"),
        (np.ones(4), r"init must be .* of shape \(d, 4\), got shape \(4,\)"),
        (np.zeros((0, 4)), r"init must be .* of shape \(d, 4\), got shape \(0, 4\)"),
        (np.ones((5, 4)), r"init must be .* of shape \(d, 4\), got shape \(5, 4\)"),
        (None, r"init must be .* of shape \(d, 4\), got shape \(\)"),
        (np.ones((2, 4)), "the 2 rows of init span only 1 dimensions"),
        (np.full((2, 4), np.nan), "init must be finite, got NaN or infinite values"),
    ],
)
def test_starts_of_a_wrong_shape_or_content_are_refused(init, message):
    refuses(ValueError, message, init=init, n_components=None)


@pytest.mark.parametrize("n_components", [3])
def test_start_and_number_of_components_must_agree(n_components):
    message = f"init has 2 rows but n_components={n_components}; they must agree"
    refuses(ValueError, message, init=np.eye(4)[:2], n_components=n_components)


def test_random_state_that_is_no_seed_is_refused():
    refuses(ValueError, "'today' cannot be used to seed", random_state="today")


# Components and variants ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "name", "nearest"),
    [
        ("laplacian", "kmn", "knn"),
        ("laplacian", "identiti", "identity"),
        ("updater", "spectrel", "spectral"),
        ("kernel", "linera", "linear"),
        ("qp_backend", "ospq", "osqp"),
    ],
)
def test_unknown_components_get_the_nearest_name(kind, name, nearest):
    refuses(UnknownComponentError, f"unknown {kind} '{name}', did you mean '{nearest}'.*Installed: ", **{kind: name})


def test_unknown_components_get_the_list_of_the_installed_ones():
    refuses(UnknownComponentError, "unknown laplacian 'zzz'.*Installed: .*between, identity, knn", laplacian="zzz")


@pytest.mark.parametrize("text", ["", "knn(", "0.7*knn +", "knn(3)", "knn + +"])
def test_specs_that_cannot_be_read_are_quoted(text):
    refuses(SpecError, rf"cannot read .*{re.escape(repr(text))}.*write", laplacian=text)


def test_unknown_parameters_in_a_spec_get_the_known_ones():
    refuses(SpecError, "laplacian 'knn' has no parameter 'k'; it takes n_neighbors", laplacian="knn(k=3)")


@pytest.mark.parametrize(
    ("kind", "component"),
    [("laplacian", KNN), ("updater", Gradient), ("kernel", Linear), ("qp_backend", FrankWolfe)],
)
def test_class_instead_of_an_instance_gets_a_hint(kind, component):
    refuses(
        TypeError,
        rf"{kind} must be a name, a spec string or an instance of .*write {component.__name__}\(\)",
        **{kind: component},
    )


@pytest.mark.parametrize("kind", ["updater", "kernel", "qp_backend"])
def test_component_of_another_kind_is_refused(kind):
    refuses(TypeError, rf"{kind} must be a name, a spec string or an instance of \w+, got KNN\(\)", **{kind: KNN()})


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (kind, value)
        for kind in ("laplacian", "updater", "kernel", "qp_backend")
        for value in (5, None, 0.5, {})
        if (kind, value) != ("laplacian", None)  # which leaves the graph open
    ],
)
def test_things_that_are_no_component_are_refused(kind, value):
    refuses(
        TypeError,
        rf"{kind} must be a name, a spec string or an instance.*got {re.escape(repr(value))}",
        **{kind: value},
    )


@pytest.mark.parametrize("name", ["kNM-GR-min", "kNN-GR", "kNN-GR-mid", "kNN-GD-min", "", "kNN-GR-min-max"])
def test_unknown_variants_are_refused(name):
    with pytest.raises(
        ValueError, match=rf"unknown variant {re.escape(repr(name))}; a variant is GRAPH-UPDATER-DIRECTION"
    ):
        GESSVDD.from_variant(name)


@pytest.mark.parametrize("name", ["0-SR-min", "GESSVDD-0-SR-max"])
def test_variants_that_do_not_exist_say_why(name):
    with pytest.raises(ValueError, match=rf"variant '{name}' does not exist: spectral regression \(SR\) needs a graph"):
        GESSVDD.from_variant(name)


def test_variant_must_be_a_name():
    with pytest.raises(TypeError, match="a variant is a name such as 'kNN-GR-min', got 3"):
        GESSVDD.from_variant(3)


def test_spectral_regression_without_a_graph_is_refused():
    message = "updater 'spectral_regression' needs a graph, and laplacian 'none' has none"
    refuses(ValueError, message, laplacian="none", updater="spectral_regression")


# Components that break their contract ---------------------------------------------------------------------------------


class Faulty:
    """A component that returns what it was made with, or the result of it."""

    name = "faulty"

    def __init__(self, result=None):
        self.result = result

    def answer(self, given):
        return self.result(given) if callable(self.result) else self.result


class FaultyLaplacian(Faulty, Laplacian):
    name = "faulty"

    def build(self, Phi, random_state):
        return self.answer(Phi)


class FaultyUpdater(Faulty, Updater):
    name = "faulty"

    def update(self, state):
        return self.answer(state)


class FaultyBackend(Faulty, QPBackend):
    name = "faulty"

    def solve(self, dual, warm_start=None):
        return self.answer(dual)


class FaultyKernel(Faulty, Kernel):
    name = "faulty"

    def features(self, X):
        return self.answer(X)


def _zeros(X):
    return np.zeros((len(X), 3))


def test_a_kernel_to_which_all_rows_are_zero_leaves_nothing_to_describe():
    refuses(ValueError, "leaves no scatter in the features", kernel=FaultyKernel(_zeros), trim="auto")


def square(value):
    return lambda Phi: np.full((len(Phi), len(Phi)), value)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (None, "returned NoneType; expected a Graph, a sparse matrix or an array"),
        ([[1.0]], "returned list; expected a Graph, a sparse matrix or an array"),
        (np.eye(3), r"returned a matrix of shape \(3, 3\); expected \(40, 40\)"),
        (np.ones(N), r"returned a matrix of shape \(40,\); expected \(40, 40\)"),
        (sp.eye_array(3), r"returned a matrix of shape \(3, 3\); expected \(40, 40\)"),
        (Graph.identity(3), "returned a graph of 3 nodes; expected 40"),
        (square(np.nan), "returned NaN or infinite weights"),
        (sp.diags_array(np.full(N, np.inf)), "returned NaN or infinite weights"),
        (Graph.identity(N, np.nan), "returned NaN or infinite weights"),
        (np.triu(np.ones((N, N))), r"returned a matrix that is not symmetric: \|L − Lᵀ\| reaches 1"),
        (sp.csr_array(np.triu(np.ones((N, N)))), "returned a matrix that is not symmetric"),
        (np.full((N, N), "a"), "returned values of type <U1; expected an array of real numbers"),
        (np.eye(N) * 1j, "returned values of type complex128; expected an array of real numbers"),
    ],
)
def test_laplacian_that_breaks_its_contract_is_named(result, message):
    refuses(ComponentError, f"laplacian 'faulty' {message}", laplacian=FaultyLaplacian(result))


@pytest.mark.parametrize("result", [np.zeros((N, N)), -np.eye(N)])
def test_laplacian_without_scatter_is_named(result):
    refuses(ValueError, "laplacian 'faulty' leaves no scatter in the features", laplacian=FaultyLaplacian(result))


def test_matrix_that_is_no_laplacian_of_the_rows_is_refused():
    refuses(ComponentError, "laplacian 'given' returned a graph of 5 nodes; expected 40", laplacian=np.eye(5))


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (None, "returned None; expected an array of real numbers"),
        (lambda state: state.Q[:, :2], r"returned a projection of shape \(2, 2\); expected \(at most 2, 4\)"),
        (lambda state: state.Q[0], r"returned a projection of shape \(4,\); expected \(at most 2, 4\)"),
        (np.eye(4), r"returned a projection of shape \(4, 4\); expected \(at most 2, 4\)"),
        (lambda state: state.Q * np.nan, "returned NaN or infinite values"),
        (lambda state: state.Q * 1j, "returned values of type complex128"),
        (lambda state: (None, []), "returned tuple; expected an array of real numbers"),
    ],
)
@pytest.mark.parametrize("laplacian", ["pca", "none"])
def test_updater_that_breaks_its_contract_is_named(laplacian, result, message):
    updater = FaultyUpdater(result)
    refuses(ComponentError, f"updater 'faulty' {message}", updater=updater, n_components=2, laplacian=laplacian)


def test_updater_that_finds_nothing_ends_the_alternation_and_says_so():
    updater = FaultyUpdater(lambda state: 0 * state.Q)
    detector = GESSVDD(kernel="linear", laplacian="pca", n_components=2, updater=updater).fit(good_rows())
    assert detector.n_iter_ == 0
    assert detector.stop_reason_ == "the faulty update found no direction with a positive eigenvalue"


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda dual: dual.upper[:3], r"returned alpha of shape \(3,\); expected \(40,\)"),
        (lambda dual: dual.upper[:, None], r"returned alpha of shape \(40, 1\); expected \(40,\)"),
        (None, "returned None; expected an array of real numbers"),
        ("solved", "returned values of type .*; expected an array of real numbers"),
        (lambda dual: dual.upper * np.nan, "returned NaN or infinite values in alpha"),
        (lambda dual: QPSolution(dual.upper * np.inf), "returned NaN or infinite values in alpha"),
    ],
)
def test_backend_that_breaks_its_contract_is_named(result, message):
    refuses(ComponentError, f"QP backend 'faulty' {message}", qp_backend=FaultyBackend(result))


@pytest.mark.parametrize(
    "result",
    [
        lambda dual: np.full(dual.n_samples, 1 / dual.n_samples),
        lambda dual: 100 * dual.upper,
        lambda dual: -dual.upper,
        lambda dual: 0 * dual.upper,
        lambda dual: QPSolution(np.eye(dual.n_samples)[0], gap=0.0),
    ],
    ids=["uniform", "above its bounds", "negative", "zero", "one point"],
)
def test_answer_that_does_not_solve_the_problem_is_refused_with_its_gap(result):
    message = (
        r"QP backend 'faulty' did not solve the SVDD dual: relative duality gap \d\.\de[-+]\d\d.*qp_backend='auto'"
    )
    refuses(NotSolvedError, message, qp_backend=FaultyBackend(result))


def nearly_solved(dual):
    alpha = FrankWolfe().solve(dual).alpha
    return 0.999 * alpha + 0.001 / dual.n_samples


def test_answer_that_nearly_solves_the_problem_is_used_with_a_warning():
    detector = GESSVDD(kernel="linear", laplacian="pca", n_iter=0, qp_backend=FaultyBackend(nearly_solved))
    with pytest.warns(
        ConvergenceWarning, match=r"'faulty' stopped at a relative duality gap of \d\.\de-0\d, above .*1\.0e-08"
    ):
        detector.fit(good_rows())
    assert 1e-8 < detector.history_[-1]["gap"] < 0.1


def test_infeasible_answer_is_made_feasible():
    def shifted(dual):
        return FrankWolfe().solve(dual).alpha + 1e-9

    detector = GESSVDD(kernel="linear", laplacian="pca", qp_tol=1e-4, qp_backend=FaultyBackend(shifted))
    detector.fit(good_rows())
    assert detector.alpha_.sum() == pytest.approx(1, abs=1e-14)
    assert detector.alpha_.min() >= 0


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (None, "returned None; expected an array of real numbers"),
        (lambda X: X[:3], r"returned features of shape \(3, 4\); expected \(40, F\)"),
        (lambda X: X[:, 0], r"returned features of shape \(40,\); expected \(40, F\)"),
        (lambda X: X[:, :0], "left no feature: all rows look the same to it"),
        (lambda X: X * np.nan, "returned NaN or infinite features"),
        (lambda X: X.astype(str), "returned values of type <U32; expected an array of real numbers"),
        (lambda X: X * 1j, "returned values of type complex128; expected an array of real numbers"),
    ],
)
@pytest.mark.parametrize("trim", ["auto", None])
def test_kernel_that_breaks_its_contract_is_named(result, message, trim):
    # "auto" asks it for features already when it looks for the rows to trust.
    refuses(ComponentError, f"kernel 'faulty' {message}", kernel=FaultyKernel(result), trim=trim)


def test_kernel_that_changes_its_width_after_fit_is_named():
    def widening(X):
        return X if np.abs(X).max() < 100 else np.hstack([X, X])

    detector = GESSVDD(kernel=FaultyKernel(widening), residual=False, standardize=False).fit(good_rows())
    with pytest.raises(
        ComponentError, match=r"kernel 'faulty' returned features of shape \(\d+, 8\); expected \(\d+, 4\)"
    ):
        detector.decision_function(good_rows() + 1000)
    assert_array_equal(detector.decision_function(good_rows()), detector.decision_scores_)


def test_function_as_kernel_that_returns_the_wrong_shape_is_named():
    refuses(
        ValueError, r"kernel 'function' returned a matrix of shape \(40, 4\); expected \(40, 40\)", kernel=only_rows
    )


def only_rows(X, Y):
    return X


def test_precomputed_kernel_must_be_symmetric():
    K = np.eye(N)
    K[0, 1] = 0.5
    refuses(
        ComponentError,
        r"'precomputed' returned a matrix that is not symmetric: \|K − Kᵀ\| reaches 0\.5",
        K,
        kernel="precomputed",
    )


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"gamma": "wide"}, "gamma must be positive, 'scale', 'auto' or 'median', got 'wide'"),
        ({"gamma": -1}, "gamma must be positive, 'scale', 'auto' or 'median', got -1"),
        ({"gamma": [1]}, r"gamma must be positive, 'scale', 'auto' or 'median', got \[1\]"),
        ({"gamma": float("nan")}, "gamma must be positive, 'scale', 'auto' or 'median', got nan"),
        ({"sigma": -1}, "sigma must be positive, got -1"),
        ({"sigma": "10"}, "sigma must be positive, got '10'"),
        ({"sigma": 10, "gamma": 1}, "give gamma or sigma, not both, got gamma=1 and sigma=10"),
        ({"kernel": "rbf(energy=2)"}, r"energy must be in \(0, 1\], got 2"),
        ({"kernel": "rbf(energy='all')"}, r"energy must be in \(0, 1\], got 'all'"),
        ({"kernel": "rbf(approximation='magic')"}, "approximation must be 'auto', 'exact' or 'nystroem', got 'magic'"),
        (
            {"kernel": "rbf(approximation='nystroem', n_landmarks=2.5)"},
            "n_landmarks must be at least 1, got 2.5; give a whole number of rows",
        ),
    ],
)
def test_parameters_of_the_kernel_of_a_wrong_kind_or_value_are_refused(params, message):
    refuses(ValueError, message, **{"kernel": "rbf", **params})


@pytest.mark.parametrize("spec", ["knn(n_neighbors=0)", "knn(n_neighbors=2.5)", "knn(n_neighbors='a')"])
def test_numbers_of_neighbours_that_are_none_are_refused(spec):
    refuses(ValueError, rf"knn needs a whole n_neighbors.*got {re.escape(spec[4:-1])} and 40", laplacian=spec)


@pytest.mark.parametrize("spec", ["within(n_clusters=0)", "between(n_clusters=2.5)", "within(n_clusters='a')"])
def test_numbers_of_clusters_that_are_none_are_refused(spec):
    value = re.escape(spec.partition("=")[2][:-1])
    refuses(ValueError, f"n_clusters must be a whole number of at least 1, got {value}", laplacian=spec)


def test_precomputed_kernel_must_be_square():
    message = r"a precomputed kernel must be a square matrix at fit, got shape \(40, 4\)"
    refuses(ValueError, message, kernel="precomputed")


def test_what_a_component_raises_itself_comes_through():
    def broken(Phi):
        raise KeyError("my own mistake")

    refuses(KeyError, "my own mistake", laplacian=FaultyLaplacian(broken))


def test_a_laplacian_that_is_not_positive_semi_definite_is_an_error():
    X = np.zeros((30, 2))
    X[:15, 0] = X[15:, 1] = np.linspace(-1, 1, 15)
    L = np.diag(np.r_[np.full(15, -1.0), np.full(15, 5.0)])
    with pytest.raises(ComponentError, match=r"not positive semi-definite: .* eigenvalue -\d"):
        GESSVDD(kernel="linear", laplacian=L, n_components=2, nu=0.5).fit(X)
