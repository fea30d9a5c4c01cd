"""The description in the whole of a kernel's space: its closed form against explicit features."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import OneClassSVM

from pyod_gessvdd import GESSVDD
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.dual import upper_bounds
from pyod_gessvdd.kernels.mixed import Mixed
from pyod_gessvdd.kernels.pairwise import RBF, FunctionKernel, LaplacianKernel
from pyod_gessvdd.linalg import weighted_quantiles
from pyod_gessvdd.preprocessing import Scaling
from pyod_gessvdd.qp import solve_svdd
from pyod_gessvdd.whole_space import learn, svdd
from pyod_gessvdd.whole_space.description import MAX_COORDINATES
from pyod_gessvdd.whole_space.factor import cholesky
from tests.oracle import whole_space as oracle

N, D = 50, 4
#: 1/(nu · N) is no whole number: the radius is determined.
NU, RIDGE = 0.23, 1e-2
UNSCALED = Scaling(None, None)
WEIGHTS = np.arange(N) % 3 + 1.0


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(N, D))


@pytest.fixture(scope="module")
def new():
    return 1.5 * np.random.default_rng(1).normal(size=(20, D))


def learnt(rows, kernel=None, trusted=None, weights=None, nu=NU, how=learn, **params):
    """What is learnt of rows that are not scaled."""

    def bounds(places):
        return upper_bounds(len(places), None, nu, None if weights is None else weights[places])

    trusted = np.arange(len(rows)) if trusted is None else trusted
    params = {"backend": resolve("qp_backend", "auto"), "tol": 1e-12, "sample_weight": weights, **params}
    if how is learn:
        params = {"ridge": RIDGE, **params}
    return how(UNSCALED, Mixed() if kernel is None else kernel, rows, trusted, bounds, **params)


def slow(X, new, kernel, trusted, weights, nu=NU):
    """The same by the oracle's formulas, with the prepared kernel's matrices."""
    inside, weights = X[trusted], weights[trusted]
    Phi = oracle.features(kernel.gram(inside, inside))
    S = oracle.scatter(Phi, weights)
    lam = RIDGE * oracle.usual_scatter(S)
    root = oracle.whitening(S, lam)
    solution = solve_svdd(Phi @ root, nu=nu, sample_weight=weights, tol=1e-12)

    def scores(rows):
        phi = oracle.new_features(Phi, kernel.gram(rows, inside))
        missed = oracle.outside_span(kernel.gram_diagonal(rows), phi)
        return (((phi @ root - solution.center) ** 2).sum(axis=1) + missed / lam) / solution.radius2

    lengths, distances = oracle.left_out(Phi, weights, solution.alpha, lam)
    return SimpleNamespace(
        solution=solution,
        new_scores=scores(new),
        training_scores=scores(X),
        left_out_lengths=lengths,
        left_out_scores=distances / solution.radius2,
    )


weighted_or_not = pytest.mark.parametrize(
    "weights", [np.ones(N), WEIGHTS, WEIGHTS / 2], ids=["ones", "whole", "halves"]
)
some_or_all = pytest.mark.parametrize(
    "trusted", [np.arange(N), np.arange(N)[np.arange(N) % 5 > 0]], ids=["all", "some"]
)


# The closed form ------------------------------------------------------------------------------------------------------


@weighted_or_not
@some_or_all
def test_scores_alpha_and_radius_are_those_of_explicit_features(X, new, trusted, weights):
    found = learnt(X, trusted=trusted, weights=weights)
    expected = slow(X, new, found.description.kernel, trusted, weights)
    assert_allclose(found.solution.alpha, expected.solution.alpha, atol=1e-8)
    assert found.solution.radius2 == pytest.approx(expected.solution.radius2, rel=1e-8)
    assert found.description.radius2 == found.solution.radius2
    assert_allclose(found.description.scores(new), expected.new_scores, rtol=1e-8)
    assert_allclose(found.description.scores(X), expected.training_scores, rtol=1e-8)
    assert_allclose(found.scores, expected.training_scores, rtol=1e-8)


@weighted_or_not
@some_or_all
def test_left_out_scores_are_those_of_a_metric_that_never_saw_the_row(X, new, trusted, weights):
    found = learnt(X, trusted=trusted, weights=weights)
    expected = slow(X, new, found.description.kernel, trusted, weights)
    assert_allclose(found.left_out_scores[trusted], expected.left_out_scores, rtol=1e-8)
    others = np.setdiff1d(np.arange(N), trusted)
    assert_array_equal(found.left_out_scores[others], found.scores[others])


def test_a_trusted_row_scores_higher_when_it_is_left_out(X):
    found = learnt(X)
    assert (found.left_out_scores > found.scores).all()


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_rows=st.integers(5, 25),
    n_columns=st.integers(1, 6),
    ridge=st.sampled_from([1e-4, 1e-2, 1.0]),
    nu=st.sampled_from([0.11, 0.5, 1.0]),
)
def test_scores_equal_the_slow_formula_for_any_rows(seed, n_rows, n_columns, ridge, nu):
    rows = np.random.default_rng(seed).normal(size=(n_rows, n_columns))
    found = learnt(rows, LaplacianKernel(), ridge=ridge, nu=nu)
    kernel = found.description.kernel
    Phi = oracle.features(kernel.gram(rows, rows))
    S = oracle.scatter(Phi, np.ones(n_rows))
    lam = ridge * oracle.usual_scatter(S)
    Z = Phi @ oracle.whitening(S, lam)
    distances = ((Z - found.solution.alpha @ Z) ** 2).sum(axis=1)
    assert_allclose(found.scores * found.description.unit, distances, rtol=1e-6, atol=1e-9)
    assert_allclose(found.description.scores(rows), found.scores, rtol=1e-6, atol=1e-9)
    lengths, left_out = oracle.left_out(Phi, np.ones(n_rows), found.solution.alpha, lam)
    assert_allclose(found.left_out_scores * found.description.unit, left_out, rtol=1e-6, atol=1e-9 * lengths.max())


def test_weights_are_as_good_as_repeated_rows(X, new):
    weighted = learnt(X, weights=WEIGHTS)
    times = WEIGHTS.astype(int)
    first = np.r_[0, np.cumsum(times)[:-1]]
    repeated = learnt(np.repeat(X, times, axis=0))
    assert_allclose(weighted.description.scores(new), repeated.description.scores(new), rtol=1e-8)
    assert_allclose(weighted.scores, repeated.scores[first], rtol=1e-7)
    assert_allclose(weighted.solution.alpha, np.add.reduceat(repeated.solution.alpha, first), atol=1e-7)


def test_left_out_scores_of_weighted_rows_are_those_of_one_copy_less(X):
    # With nu = 1 every copy has the same α, so that it is clear what one of them takes with it.
    times = WEIGHTS.astype(int)
    first = np.r_[0, np.cumsum(times)[:-1]]
    weighted, repeated = learnt(X, weights=WEIGHTS, nu=1.0), learnt(np.repeat(X, times, axis=0), nu=1.0)
    unit = repeated.description.unit / weighted.description.unit
    assert_allclose(weighted.left_out_scores, repeated.left_out_scores[first] * unit, rtol=1e-7)


@pytest.mark.parametrize("share", [0.5, 0.01, 3.0])
def test_equal_weights_give_the_scores_of_none(X, new, share):
    plain, weighted = learnt(X), learnt(X, weights=np.full(N, share))
    assert_allclose(weighted.description.scores(new), plain.description.scores(new), rtol=1e-8)
    if share < 1:
        assert_allclose(weighted.left_out_scores, plain.left_out_scores, rtol=1e-8)


def test_rows_that_have_left_the_scaling_are_measured_where_they_have_moved_to(X):
    moved = X + 0.1 * np.random.default_rng(3).normal(size=X.shape)
    trusted = np.arange(5, N)
    stayed, found = learnt(X, trusted=trusted), learnt(X, trusted=trusted, scaled_without_itself=moved)
    description = found.description
    lam = 1.0 / description.scale

    def length(row, others):
        """In the metric of the others."""
        k, K = description.kernel.gram(row, others)[0], description.kernel.gram(others, others)
        return (1.0 - k @ np.linalg.solve(K + lam * np.eye(len(K)), k)) / lam

    longer = np.zeros(N)
    for i in trusted:
        others = X[np.setdiff1d(trusted, [i])]
        longer[i] = length(moved[[i]], others) - length(X[[i]], others)
    assert_allclose((found.left_out_scores - stayed.left_out_scores) * description.unit, longer, rtol=1e-7, atol=1e-8)
    assert_array_equal(found.scores, stayed.scores)


# Landmarks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["ones", "whole"])
@some_or_all
def test_with_all_rows_as_landmarks_nothing_is_lost(X, new, trusted, weights):
    exact = learnt(X, trusted=trusted, weights=weights)
    kernel = Mixed(approximation="nystroem", n_landmarks=N, random_state=0)
    by_landmarks = learnt(X, kernel, trusted=trusted, weights=weights)
    assert len(by_landmarks.description.landmarks) == len(trusted)
    assert_allclose(by_landmarks.description.scores(new), exact.description.scores(new), rtol=1e-6)
    for name in ("scores", "left_out_scores"):
        assert_allclose(getattr(by_landmarks, name), getattr(exact, name), rtol=1e-6, err_msg=name)
    assert_allclose(by_landmarks.solution.alpha, exact.solution.alpha, atol=1e-6)


def test_what_landmarks_miss_is_a_direction_of_its_own(X, new):
    found = learnt(X, Mixed(approximation="nystroem", n_landmarks=10, random_state=0))
    kernel, landmarks = found.description.kernel, found.description.landmarks
    assert landmarks.shape == (10, D)
    basis = oracle.features(kernel.gram(landmarks, landmarks))

    def parts(rows):
        phi = oracle.new_features(basis, kernel.gram(rows, landmarks))
        return phi, oracle.outside_span(kernel.gram_diagonal(rows), phi)

    Phi, missed = parts(X)
    S = oracle.scatter(Phi, np.ones(N))
    lam = RIDGE * (np.trace(S @ S) + missed @ missed) / (np.trace(S) + missed.sum())
    root = oracle.whitening(S, lam)
    solution = solve_svdd(Phi @ root, nu=NU, residual2=missed / lam, tol=1e-12)
    assert found.solution.radius2 == pytest.approx(solution.radius2, rel=1e-8)
    for rows, scores in ((X, found.scores), (X, found.description.scores(X)), (new, found.description.scores(new))):
        phi, beyond = parts(rows)
        expected = (((phi @ root - solution.center) ** 2).sum(axis=1) + beyond / lam) / solution.radius2
        assert_allclose(scores, expected, rtol=1e-6)


# Without a graph ------------------------------------------------------------------------------------------------------


def test_without_a_graph_it_is_the_one_class_svm_of_scikit_learn(X, new):
    found = learnt(X, RBF(gamma=0.1), how=svdd)
    svm = OneClassSVM(kernel="rbf", gamma=0.1, nu=NU, tol=1e-10).fit(X)
    rows = np.vstack([X, new])
    # k(x, x) = 1, and LIBSVM's Σα is nu · N: dist² = 1 − 2 Σ α_j k(x_j, x) + ‖u‖².
    squares = 1.0 - 2.0 * svm.score_samples(rows) / (NU * N) + found.description.center_norm2
    assert_allclose(found.description.scores(rows) * found.description.radius2, squares, rtol=1e-7)
    assert_array_equal(found.left_out_scores, found.scores)
    assert_allclose(found.scores, found.description.scores(X), rtol=1e-9)


def test_without_a_graph_only_the_support_is_kept(X):
    trusted = np.arange(0, N, 2)
    found = learnt(X, RBF(gamma=0.1), trusted=trusted, how=svdd)
    assert_array_equal(found.description.landmarks, X[trusted[found.solution.support]])
    assert found.description.factor is None
    assert found.description.scale == 1.0


# Coordinates and gradients --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [learn, svdd])
@pytest.mark.parametrize("kernel", [Mixed, RBF])
def test_squared_distances_in_the_coordinates_are_the_scores(X, new, kernel, how):
    description = learnt(X, kernel(gamma=0.5), how=how).description
    Z = description.transform(new)
    assert Z.shape == (len(new), description.n_coordinates)
    squares = ((Z[:, :-1] - description.center) ** 2).sum(axis=1) + Z[:, -1] ** 2
    assert_allclose(squares / description.radius2, description.scores(new), rtol=1e-6)


def test_of_many_directions_those_of_largest_scatter_are_coordinates():
    rows = np.random.default_rng(0).normal(size=(MAX_COORDINATES + 20, 3))
    description = learnt(rows, LaplacianKernel()).description
    Z = description.transform(rows)
    assert Z.shape[1] == description.n_coordinates == MAX_COORDINATES + 1
    # ‖z‖² of a direction of scatter s sums to s/(s + λ) over the rows.
    sums = (Z[:, :-1] ** 2).sum(axis=0)
    assert (np.diff(sums) <= 1e-9).all()
    # Where the centre is no longer known in full, every row's distance from it is nearly the score.
    squares = ((Z[:, :-1] - description.center) ** 2).sum(axis=1) + Z[:, -1] ** 2
    assert_allclose(squares / description.radius2, description.scores(rows), rtol=1e-2)


def test_the_outline_is_a_circle_around_the_center(X):
    description = learnt(X).description
    outline = description.outline([0, 1], reach=10.0)
    distances = ((outline - description.center[:2]) ** 2).sum(axis=-1)
    assert_allclose(distances, description.radius2, rtol=1e-9)


@pytest.mark.parametrize("how", [learn, svdd])
@pytest.mark.parametrize("kernel", [Mixed, RBF, LaplacianKernel])
def test_gradient_agrees_with_finite_differences(X, new, kernel, how):
    description = learnt(X, kernel(gamma=0.5), how=how).description
    gradient, h = description.gradient_of_scaled(new), 1e-6
    for column in range(D):
        step = h * (np.arange(D) == column)
        numeric = (description.scores_of_scaled(new + step) - description.scores_of_scaled(new - step)) / (2 * h)
        assert_allclose(gradient[:, column], numeric, rtol=1e-5, atol=1e-6)


# Batches --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "found",
    [
        lambda X: learnt(X),
        lambda X: learnt(X, Mixed(approximation="nystroem", n_landmarks=10, random_state=0)),
        lambda X: learnt(X, RBF(gamma=0.1), how=svdd),
    ],
    ids=["exact", "landmarks", "no graph"],
)
def test_a_rows_score_and_coordinates_do_not_depend_on_its_batch(X, found):
    description = found(X).description
    rows = np.random.default_rng(2).normal(size=(1500, D))
    for method in (description.scores, description.transform):
        whole = method(rows)
        for batch in (slice(0, 1), slice(7, 40), slice(900, 1500)):
            assert_array_equal(method(rows[batch]), whole[batch])


@pytest.mark.parametrize("n_rows", [57, 131, 205, 300])
def test_a_rows_score_does_not_depend_on_its_place(n_rows):
    # BLAS kernels take rows by the dozen; the last ones of a block must not be rounded differently.
    description = learnt(np.random.default_rng(0).normal(size=(n_rows, D))).description
    rows = np.repeat(np.random.default_rng(1).normal(size=(1, D)), 1100, axis=0)
    assert len(np.unique(description.scores(rows))) == 1


# Taking out who is labelled -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.05, 0.1, 0.3])
def test_rows_that_are_going_to_be_labelled_are_taken_out(share):
    random = np.random.default_rng(0)
    rows = np.vstack([random.normal(size=(90, 3)), 5.0 + random.normal(size=(10, 3))])
    found = learnt(rows, share_outside=share)
    assert len(rows) / 2 <= len(found.trusted) <= (1.0 - share) * len(rows)
    limit = np.quantile(found.left_out_scores, 1.0 - share)
    assert (found.left_out_scores[found.trusted] <= limit).all()


def test_half_of_the_rows_stay(X):
    found = learnt(X, trusted=np.arange(N // 2), share_outside=0.5)
    assert_array_equal(found.trusted, np.arange(N // 2))


def test_without_a_share_nobody_is_taken_out(X):
    trusted = np.arange(0, N, 2)
    assert_array_equal(learnt(X, trusted=trusted).trusted, trusted)


# Errors ---------------------------------------------------------------------------------------------------------------

NOT_POSITIVE = (
    "the kernel is not positive definite, and its whole space cannot be described; use n_components=None, for a "
    "subspace without the directions of negative eigenvalues"
)


def negative_distances(X, Y):
    return -np.abs(X[:, :1] - Y[:, 0])


def indefinite(X, Y):
    return np.cos(np.subtract.outer(X[:, 0], Y[:, 0]) ** 2)


@pytest.mark.parametrize("function", [negative_distances, indefinite])
def test_a_function_that_is_not_positive_definite_is_refused_with_a_way_out(X, function):
    kernel = FunctionKernel(function=function)
    with pytest.raises(ValueError, match="not positive definite") as refused:
        learnt(X, kernel, ridge=1e-6)
    assert str(refused.value) == NOT_POSITIVE
    with pytest.raises(ValueError, match="not positive definite") as refused:
        GESSVDD(kernel=function, random_state=0).fit(X)
    assert str(refused.value) == NOT_POSITIVE


def test_the_way_out_is_one(X):
    detector = GESSVDD(kernel=indefinite, n_components=None, trim=None, random_state=0).fit(X)
    assert np.isfinite(detector.decision_scores_).all()


def test_rounding_is_not_taken_for_an_indefinite_kernel():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    K = rbf_kernel(rows, gamma=1e-4)  # nearly all ones
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(K)
    L = cholesky(K)
    assert_allclose(L @ L.T, K, atol=1e-5)


# Rows that are not trusted count a little -----------------------------------------------------------------------------


def slowly_concentrated(Phi, started, weights, share, doubted, rounds):
    """The trusted rows in the end, the weights of all rows in the metric, and λ, by explicit features."""
    lam = RIDGE * oracle.usual_scatter(oracle.scatter(Phi[started], weights[started]))

    def counting(doubts):
        trust = np.isin(np.arange(N), trusted)
        S = oracle.scatter(Phi, weights * trust)
        lengths = oracle.lengths(Phi, S, lam)
        far = np.flatnonzero(~trust & (lengths > limit))
        Z = Phi[far] @ oracle.whitening(S, lam)
        cosines = (Z @ Z.T) / np.sqrt(np.outer(lengths[far], lengths[far]))
        counts = weights * trust
        counts[far] = weights[far] * ((lengths[far] / limit) ** doubts - 1) / lengths[far] / (cosines**2 @ weights[far])
        return counts

    trusted, doubts, counts = started, 0.0, weights * np.isin(np.arange(N), started)
    for _ in range(rounds):
        lengths = oracle.lengths(Phi, oracle.scatter(Phi, counts), lam)
        members = np.flatnonzero(counts)
        without = oracle.left_out(Phi[members], counts[members], np.zeros(len(members)), lam)[0]
        lengths[trusted] = without[np.isin(members, trusted)]
        limit = weighted_quantiles(lengths, [1.0 - share], weights)[0]
        fewer = trusted[lengths[trusted] <= limit]
        if len(fewer) == len(trusted):
            if doubts == doubted:
                return trusted, counts, lam
            doubts = doubted
        trusted = fewer
        counts = counting(doubts)
    return trusted, counting(doubted), lam


@pytest.mark.parametrize("weights", [np.ones(N), WEIGHTS], ids=["ones", "whole"])
@pytest.mark.parametrize(("landmarks", "rounds"), [(None, 10), (N, 1)], ids=["exact", "landmarks"])
@pytest.mark.parametrize("doubted", [0.05, 0.5, 0.9])
def test_doubted_rows_have_the_weight_of_the_slow_formula(X, new, weights, landmarks, rounds, doubted):
    started = np.arange(N)[np.arange(N) % 5 > 0]
    kernel = Mixed(approximation="exact" if landmarks is None else "nystroem", n_landmarks=landmarks, random_state=0)
    if landmarks is not None:
        # Landmarks are drawn among the trusted rows: only those, and what they miss, are exact.
        started = np.arange(N)
    found = learnt(X, kernel, trusted=started, weights=weights, share_outside=0.2, doubted=doubted)
    Phi = oracle.features(kernel.gram(X, X))
    trusted, counts, lam = slowly_concentrated(Phi, started, weights, 0.2, doubted, rounds)
    assert_array_equal(found.trusted, trusted)
    others = np.setdiff1d(np.flatnonzero(counts), trusted)
    assert others.size

    S = oracle.scatter(Phi, counts)
    root = oracle.whitening(S, lam)
    solution = solve_svdd(Phi[trusted] @ root, nu=NU, sample_weight=weights[trusted], tol=1e-12)

    def scores(rows):
        phi = oracle.new_features(Phi, kernel.gram(rows, X))
        missed = oracle.outside_span(kernel.gram_diagonal(rows), phi)
        return (((phi @ root - solution.center) ** 2).sum(axis=1) + missed / lam) / solution.radius2

    assert_allclose(found.scores, scores(X), rtol=1e-6)
    assert_allclose(found.description.scores(new), scores(new), rtol=1e-6)
    # As if left out: without the weight of one copy.
    plain, along = oracle.lengths(Phi, S, lam)[others], Phi[others] @ root @ solution.center
    left = 1.0 - counts[others] / weights[others] * plain
    left_out = (plain / left - 2.0 * along / left + solution.center @ solution.center) / solution.radius2
    assert_allclose(found.left_out_scores[others], left_out, rtol=1e-6)
    assert (found.left_out_scores[others] > found.scores[others]).all()


def test_the_more_rows_are_doubted_the_lower_new_rows_like_them_score(X):
    started = np.arange(5, N)
    far = X[:5] + 6.0
    rows = np.vstack([far, X[5:]])
    scores = [
        learnt(rows, trusted=started, share_outside=0.1, doubted=doubted).description.scores(far + 0.01).max()
        for doubted in (0.0, 0.1, 0.3, 0.6)
    ]
    assert (np.diff(scores) < 0).all()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n_alike=st.integers(1, 8), doubted=st.sampled_from([0.2, 0.5]))
def test_alike_or_not_doubted_rows_stay_above_the_rows_that_are_trusted(seed, n_alike, doubted):
    random = np.random.default_rng(seed)
    rows = random.normal(size=(80, 3))
    rows[:n_alike] = 6.0 + 0.01 * random.normal(size=(n_alike, 3))
    found = learnt(rows, trusted=np.arange(n_alike, 80), share_outside=0.1, doubted=doubted)
    assert found.scores[:n_alike].min() > np.quantile(found.left_out_scores, 0.9)
