"""The same bits from the same seed, and a row's score from the row alone."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from pyod_gessvdd import GESSVDD, SVDD
from pyod_gessvdd.detectors.variants import VARIANTS
from pyod_gessvdd.kernels import pairwise
from pyod_gessvdd.linalg import TILE

GRAPHS = ("none", "identity", "pca", "within", "between", "knn", "0.7*knn + 0.3*within")
NYSTROEM = "rbf(approximation='nystroem', n_landmarks=50)"
MAPS = ("linear", "rbf", NYSTROEM)

FITTED_ARRAYS = (
    "components_",
    "projection_",
    "alpha_",
    "support_",
    "boundary_",
    "outside_",
    "center_",
    "decision_scores_",
    "labels_",
)


@pytest.fixture(scope="module")
def X():
    random = np.random.default_rng(0)
    return random.normal(size=(120, 6)) @ random.normal(size=(6, 6))


#: Compiled code, which a process earns by solving many problems, agrees with NumPy's to rounding, not to the last bit.
NOT_COMPILED = "frank_wolfe(compiled=False)"


def detector(**params):
    return GESSVDD(**{"n_components": 3, "random_state": 0, "qp_backend": NOT_COMPILED, **params})


def assert_same_bits(first, second):
    for name in FITTED_ARRAYS:
        assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)
    assert first.radius_ == second.radius_
    assert first.history_ == second.history_


# The seed -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", MAPS)
@pytest.mark.parametrize("laplacian", GRAPHS)
def test_same_seed_gives_the_same_bits(laplacian, kernel, X):
    # n_components=3 stays below the rank of the between graph.
    first = detector(laplacian=laplacian, kernel=kernel).fit(X)
    assert_same_bits(first, clone(first).fit(X))


@pytest.mark.parametrize("params", [{"init": "random"}, {"kernel": NYSTROEM}, {"kernel": "rbf", "gamma": "median"}])
def test_everything_random_takes_the_detectors_seed(params, X):
    params = {"kernel": "linear", "laplacian": "pca", **params}
    first = detector(**params).fit(X)
    assert_same_bits(first, detector(**params).fit(X))


@pytest.mark.parametrize("params", [{"kernel": "linear", "init": "random"}, {"kernel": NYSTROEM}])
def test_another_seed_gives_another_fit(params, X):
    params = {"laplacian": "pca", **params}
    first, second = (detector(**params, random_state=seed).fit(X) for seed in (0, 1))
    assert not np.array_equal(first.decision_scores_, second.decision_scores_)


def test_seed_of_a_component_comes_before_the_detectors(X):
    kernel = "rbf(approximation='nystroem', n_landmarks=50, random_state=5)"
    first, second = (detector(kernel=kernel, laplacian="pca", random_state=seed).fit(X) for seed in (0, 1))
    assert_same_bits(first, second)


def test_random_state_may_be_a_generator_of_numbers(X):
    by_generator = detector(kernel="linear", random_state=np.random.RandomState(3)).fit(X)
    again = detector(kernel="linear", random_state=np.random.RandomState(3)).fit(X)
    assert_same_bits(by_generator, again)


def test_fitting_twice_gives_the_same_bits(X):
    first = detector(kernel="linear").fit(X)
    scores = first.decision_scores_
    assert_array_equal(first.fit(X).decision_scores_, scores)


@pytest.mark.parametrize(("kernel", "laplacian"), [*((kernel, "within") for kernel in MAPS), ("linear", "knn")])
def test_global_random_numbers_are_neither_used_nor_moved(laplacian, kernel, X):
    results = []  # of two runs that differ in the global state only
    for seed in (1, 2):
        np.random.seed(seed)  # noqa: NPY002
        before = np.random.get_state()  # noqa: NPY002
        results.append(detector(kernel=kernel, laplacian=laplacian, init="random").fit(X))
        after = np.random.get_state()  # noqa: NPY002
        assert before[2] == after[2]
        assert_array_equal(before[1], after[1])
    assert_same_bits(*results)


def test_another_process_gives_the_same_bits(X):
    # Another hash seed orders sets and dictionaries of strings differently.
    script = """
        import sys, numpy as np
        from pyod_gessvdd import GESSVDD
        random = np.random.default_rng(0)
        X = random.normal(size=(120, 6)) @ random.normal(size=(6, 6))
        detector = GESSVDD(n_components=3, random_state=0, kernel="rbf", qp_backend="frank_wolfe(compiled=False)")
        print(detector.fit(X).decision_scores_.tobytes().hex())
    """
    lines = "\n".join(line.strip() for line in script.splitlines())
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == detector(kernel="rbf").fit(X).decision_scores_.tobytes().hex()


# A row's score is the row's own ---------------------------------------------------------------------------------------

BATCHES = (1, 2, 7, 31, 33, 100)


def fitted_in(n_features, kernel, n_components=None):
    random = np.random.default_rng(n_features)
    X = random.normal(size=(400, n_features))
    return detector(kernel=kernel, laplacian="pca", n_components=n_components, n_iter=1).fit(X[:120]), X


CASES = [
    *(("linear", D, None) for D in (1, 3, 20, 300)),
    ("linear", 20, 1),
    ("rbf", 3, None),
    *((kernel, 20, None) for kernel in ("rbf", NYSTROEM, "polynomial")),
]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: "-".join(map(str, case)))
def case(request):
    kernel, n_features, n_components = request.param
    model, X = fitted_in(n_features, kernel, n_components)
    return model, X, model.decision_function(X)


@pytest.mark.parametrize("size", BATCHES)
def test_score_does_not_depend_on_the_size_of_the_batch(size, case):
    model, X, together = case
    n_rows = min(12 * size, len(X) // size * size)
    in_batches = [model.decision_function(X[start : start + size]) for start in range(0, n_rows, size)]
    assert_array_equal(np.concatenate(in_batches), together[:n_rows])


def test_score_does_not_depend_on_the_order_of_the_rows(case):
    model, X, together = case
    order = np.random.default_rng(0).permutation(len(X))
    assert_array_equal(model.decision_function(X[order]), together[order])


def test_score_does_not_depend_on_the_other_rows(case):
    model, X, together = case
    with_outliers = np.vstack([X[:50], np.full((3, X.shape[1]), 1e12), X[50:]])
    assert_array_equal(np.delete(model.decision_function(with_outliers), [50, 51, 52]), together)


def test_score_does_not_depend_on_the_memory_layout(case):
    model, X, together = case
    assert_array_equal(model.decision_function(np.asfortranarray(X)), together)
    assert_array_equal(model.decision_function(np.repeat(X, 2, axis=0)[::2]), together)


def test_coordinates_do_not_depend_on_the_batch(case):
    model, X, _ = case
    assert_array_equal(np.vstack([model.transform(X[:7]), model.transform(X[7:])]), model.transform(X))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_score_does_not_depend_on_the_block_it_is_computed_in(kernel):
    # Enough rows for several blocks and for every thread of the BLAS.
    n_features = 300 if kernel == "linear" else 20
    model, X = fitted_in(n_features, kernel)
    rows = np.resize(X, (9000 + TILE // 2, n_features))
    scores = model.decision_function(rows)
    assert_array_equal(scores, np.resize(model.decision_function(X), len(rows)))


def test_one_row_is_scored_as_among_others():
    model, X = fitted_in(20, "linear")
    assert model.decision_function(X[5:6])[0] == model.decision_function(X)[5]


# The order of the training rows ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.filterwarnings("ignore:.*subspace:UserWarning")  # that Sb has few directions is not at issue here
def test_order_of_the_training_rows_does_not_matter(variant, X):
    model = GESSVDD.from_variant(variant, n_components=3, C=0.1, random_state=0)
    order = np.random.default_rng(1).permutation(len(X))
    scores = clone(model).fit(X).decision_function(X)
    assert_allclose(clone(model).fit(X[order]).decision_function(X), scores, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("updater", ["gradient", "spectral", "spectral_regression"])
@pytest.mark.parametrize("laplacian", GRAPHS[1:])
def test_order_of_the_training_rows_does_not_matter_with_a_kernel(laplacian, updater, X):
    X = X[:80]
    model = detector(kernel="rbf", laplacian=laplacian, updater=updater, n_iter=2)
    order = np.random.default_rng(1).permutation(len(X))
    scores = clone(model).fit(X).decision_function(X)
    assert_allclose(clone(model).fit(X[order]).decision_function(X), scores, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("gamma", ["scale", "median"])
def test_order_of_the_training_rows_does_not_matter_to_what_is_drawn_from_them(gamma, monkeypatch, X):
    monkeypatch.setattr(pairwise, "MEDIAN_ROWS", 100)
    model = detector(kernel=NYSTROEM, laplacian="pca", gamma=gamma)
    order = np.random.default_rng(1).permutation(len(X))
    first, second = clone(model).fit(X), clone(model).fit(X[order])
    assert_allclose(second.kernel_.landmarks_, first.kernel_.landmarks_, rtol=1e-12, atol=1e-12)
    assert second.kernel_.gamma_ == pytest.approx(first.kernel_.gamma_, rel=1e-12)
    assert_allclose(second.decision_function(X), first.decision_function(X), rtol=1e-7, atol=1e-12)


def test_order_of_the_training_rows_does_not_matter_to_alpha(X):
    model = detector(kernel="linear")
    order = np.random.default_rng(1).permutation(len(X))
    assert_allclose(clone(model).fit(X[order]).alpha_, clone(model).fit(X).alpha_[order], atol=1e-9)


@pytest.mark.parametrize("criterion", ["min", "max"])
@pytest.mark.parametrize("updater", ["riemannian(tol=1e-10)", "newton"])
def test_the_updaters_without_a_step_size_repeat_themselves_in_any_order_of_the_rows(updater, criterion):
    random = np.random.default_rng(0)
    rows = random.normal(size=(90, 5)) @ random.normal(size=(5, 5))
    order = random.permutation(len(rows))

    def scores(X):
        detector = GESSVDD(
            kernel="linear", laplacian="pca", updater=updater, criterion=criterion, n_components=2, random_state=0
        )
        return detector.fit(X).decision_function(rows)

    np.testing.assert_array_equal(scores(rows), scores(rows))
    np.testing.assert_allclose(scores(rows[order]), scores(rows), rtol=1e-5)


@pytest.mark.parametrize("detector", [GESSVDD(), SVDD()], ids=["GESSVDD", "SVDD"])
def test_the_order_the_sign_and_the_unit_of_columns_do_not_matter_where_landmarks_are_drawn(detector):
    # Landmarks were drawn by what depends on the first two, and scores changed by a tenth above 2,000 rows.
    kernel = "mixed(n_landmarks=100)" if isinstance(detector, GESSVDD) else "rbf(n_landmarks=100)"
    random = np.random.default_rng(0)
    X, new = (np.column_stack([random.normal(size=n), random.gamma(2.0, size=(n, 2))]) for n in (2100, 100))

    def scores(change):
        return clone(detector).set_params(kernel=kernel, random_state=0).fit(change(X)).decision_function(change(new))

    expected = scores(lambda A: A)
    assert_allclose(scores(lambda A: A[:, [2, 0, 1]]), expected, rtol=1e-9)
    assert_allclose(scores(lambda A: A * [-1.0, 1.0, -1.0]), expected, rtol=1e-9)
    assert_allclose(scores(lambda A: A * [1e-3, 7.0, 1e4]), expected, rtol=1e-9)
