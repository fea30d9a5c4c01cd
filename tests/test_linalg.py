"""The public linear algebra over rows: weighted means, quantiles and products are those of repeated rows."""

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from pyod_gessvdd import linalg
from pyod_gessvdd.linalg import rows_by_content, weighted_quantiles

SHARES = [0.0, 0.1, 0.25, 0.5, 0.731, 0.9, 1.0]

values = st.floats(-1e3, 1e3).map(lambda value: round(value, 2))  # so that there are ties


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 12).flatmap(
        lambda n: st.tuples(hnp.arrays(float, n, elements=values), hnp.arrays(int, n, elements=st.integers(1, 5)))
    )
)
def test_weighted_quantiles_are_those_of_repeated_rows(case):
    X, weights = case
    expected = np.quantile(np.repeat(X, weights), SHARES)
    np.testing.assert_allclose(weighted_quantiles(X, SHARES, weights.astype(float)), expected, atol=1e-9)


def test_quantiles_of_a_matrix_are_those_of_its_columns():
    X, weights = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 4 + 1.0
    found = weighted_quantiles(X, SHARES, weights)
    assert found.shape == (len(SHARES), 3)
    for column, quantiles in zip(X.T, found.T, strict=True):
        np.testing.assert_array_equal(weighted_quantiles(column, SHARES, weights), quantiles)


def test_without_weights_quantiles_are_numpys():
    X = np.random.default_rng(0).normal(size=(30, 3))
    np.testing.assert_array_equal(weighted_quantiles(X, SHARES), np.quantile(X, SHARES, axis=0))


@settings(max_examples=100, deadline=None)
@given(hnp.arrays(float, st.integers(1, 30), elements=st.floats(-1e6, 1e6)), st.floats(0.0, 1.0))
def test_quantiles_of_a_vector_are_numpys_to_the_last_bit(x, share):
    np.testing.assert_array_equal(weighted_quantiles(x, [share, *SHARES]), np.quantile(x, [share, *SHARES]))


def test_the_quantiles_of_equal_rows_are_equal_to_the_last_bit():
    X = np.repeat(np.random.default_rng(0).normal(size=33), 3)
    found = weighted_quantiles(X, np.linspace(0.0, 1.0, len(X)), np.ones(len(X)))
    np.testing.assert_array_equal(found, np.sort(X))


@pytest.mark.parametrize("factor", [0.25, 0.5, 10.0])
def test_quantiles_lie_between_the_smallest_and_the_largest_value_whatever_the_weights(factor):
    X = np.random.default_rng(0).normal(size=20)
    weights = factor * np.random.default_rng(1).uniform(0.1, 1.0, size=20)
    found = weighted_quantiles(X, SHARES, weights)
    assert (np.diff(found) >= 0).all()
    assert X.min() <= found[0]
    assert found[-1] <= X.max()


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(50, 3)) + 2.0, rng.integers(1, 5, size=50)


@pytest.mark.parametrize("name", linalg.__all__)
def test_every_public_function_is_documented(name):
    public = getattr(linalg, name)
    assert not callable(public) or public.__doc__


def test_weighted_means_are_those_of_repeated_rows(rows):
    Phi, weights = rows
    repeated = np.repeat(Phi, weights, axis=0)
    np.testing.assert_allclose(linalg.column_means(Phi, weights), linalg.column_means(repeated), rtol=1e-13)


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("block_elements", [linalg.BLOCK_ELEMENTS, 12], ids=["one block", "blocks"])
def test_the_weighted_gram_matrix_is_that_of_repeated_rows(rows, centred, block_elements, monkeypatch):
    monkeypatch.setattr(linalg, "BLOCK_ELEMENTS", block_elements)
    Phi, weights = rows
    repeated = np.repeat(Phi, weights, axis=0)
    shift = linalg.column_means(repeated) if centred else np.zeros(3)
    np.testing.assert_allclose(linalg.gram(Phi, shift, weights), linalg.gram(repeated, shift), rtol=1e-12)


def test_k_means_of_many_weighted_rows_weighs_the_rows_that_it_draws(rows, monkeypatch):
    monkeypatch.setattr(linalg, "MAX_ROWS", 30)
    Phi, weights = rows
    for _ in range(2):
        found = linalg.k_means(Phi, 1, np.random.RandomState(0), weights.astype(float))
        drawn = linalg.rows_by_content(Phi)[np.sort(np.random.RandomState(0).choice(50, 30, replace=False))]
        np.testing.assert_allclose(found.cluster_centers_[0], linalg.column_means(Phi[drawn], weights[drawn]))


def test_the_order_by_content_sees_neither_the_order_of_columns_nor_their_signs(rows):
    Phi, _ = rows
    order = linalg.rows_by_content(Phi)
    np.testing.assert_array_equal(linalg.rows_by_content(Phi[:, [2, 0, 1]]), order)
    np.testing.assert_array_equal(linalg.rows_by_content(Phi * [-1.0, 1.0, -1.0]), order)
    np.testing.assert_array_equal(linalg.rows_by_content(Phi + 7.0), order)
    shuffled = np.random.default_rng(1).permutation(len(Phi))
    np.testing.assert_array_equal(shuffled[linalg.rows_by_content(Phi[shuffled])], order)


def test_columns_without_skewness_are_ordered_in_the_same_way_whatever_the_order_of_the_rows():
    Phi = np.repeat([[1.1, -1.1], [-1.1, 1.1], [1.1, 1.1], [-1.1, -1.1]], 25, axis=0)
    shuffled = np.random.default_rng(1).permutation(len(Phi))
    first, second = Phi[linalg.rows_by_content(Phi)], Phi[shuffled]
    np.testing.assert_array_equal(second[linalg.rows_by_content(second)], first)


def test_a_read_only_view_leaves_the_array_itself_as_it_was():
    X = np.zeros(3)
    with pytest.raises(ValueError, match="read-only"):
        linalg.read_only(X)[0] = 1.0
    X[0] = 2.0
    assert linalg.read_only(X)[0] == 2.0


def test_columns_too_large_for_cubes_are_ordered_as_they_come():
    rows = np.random.default_rng(0).normal(size=(20, 3))
    rows[:, 1] *= 1e120
    assert sorted(rows_by_content(rows)) == list(range(20))


@pytest.mark.parametrize("block_elements", [7, 1 << 18])
def test_means_and_the_mean_square_come_from_one_pass(rows, block_elements, monkeypatch):
    monkeypatch.setattr(linalg, "BLOCK_ELEMENTS", block_elements)
    Phi = rows[0]
    mean, square = linalg.means_and_square(Phi)
    np.testing.assert_allclose(mean, Phi.mean(axis=0), atol=1e-14)
    assert square == pytest.approx((Phi**2).sum(axis=1).mean(), rel=1e-13)


@pytest.mark.parametrize(
    ("value", "expected"), [(1.0, True), (1e300, True), (np.nan, False), (np.inf, False), (-np.inf, False)]
)
def test_one_value_decides_whether_all_are_finite(value, expected):
    X = np.ones((4, 3))
    X[2, 1] = value
    assert linalg.all_finite(X) is expected


def test_eigenvalues_ascend_and_their_vectors_are_orthonormal():
    A = np.random.default_rng(0).normal(size=(6, 6))
    values, vectors = linalg.symmetric_eigen(A @ A.T)
    assert (np.diff(values) >= 0).all()
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(6), atol=1e-13)
    np.testing.assert_allclose((vectors * values) @ vectors.T, A @ A.T, atol=1e-12)


def test_eigenvalues_that_are_not_found_are_an_error():
    with pytest.raises(np.linalg.LinAlgError, match="eigenvalues of a symmetric matrix did not converge"):
        linalg.symmetric_eigen(np.full((3, 3), np.nan))


@pytest.mark.parametrize("weights", [None, np.arange(60) % 3 + 1.0])
def test_decorrelated_columns_are_uncorrelated_and_vary_alike(weights):
    X = np.random.default_rng(0).normal(size=(60, 4)) @ np.random.default_rng(1).normal(size=(4, 4)) + 3.0
    T = linalg.decorrelation(X, weights)
    covariance = np.cov(X.T, aweights=weights, bias=True)
    values, vectors = np.linalg.eigh(covariance)
    mean = values.mean()
    expected = sum(
        np.sqrt((mean + 0.01 * mean) / (value + 0.01 * mean)) * np.outer(vector, vector)
        for value, vector in zip(values, vectors.T, strict=True)
    )
    np.testing.assert_allclose(T, expected, rtol=1e-9, atol=1e-12)
    turned = np.cov((X @ T).T, aweights=weights, bias=True)
    np.testing.assert_allclose(turned / mean, np.eye(4), atol=0.1)
    if weights is not None:
        np.testing.assert_allclose(linalg.decorrelation(np.repeat(X, weights.astype(int), axis=0)), T, rtol=1e-9)


def test_a_direction_without_variance_is_stretched_by_ten_at_most():
    x = np.random.default_rng(0).normal(size=50)
    T = linalg.decorrelation(np.column_stack([x, x]))
    assert np.linalg.eigvalsh(T).max() == pytest.approx(np.sqrt(1.01 / 0.01))
    np.testing.assert_array_equal(linalg.decorrelation(np.ones((5, 3))), np.eye(3))


@pytest.mark.parametrize("shape", [(3, 2), (5000, 1), (4100, 7), (3, 20_000), (20_000, 3)])
@pytest.mark.parametrize("contiguous", [True, False])
def test_rows_are_shifted_and_divided_column_by_column(shape, contiguous):
    random = np.random.default_rng(0)
    X, shift, scale = random.normal(size=shape), random.normal(size=shape[1]), random.uniform(1, 2, shape[1])
    X = X if contiguous else np.asfortranarray(X)
    np.testing.assert_array_equal(linalg.shift_rows(X, shift), X - shift)
    np.testing.assert_array_equal(linalg.shift_rows(X, shift, scale=scale), (X - shift) / scale)
    out = np.empty(shape)
    assert linalg.shift_rows(X, shift, out=out) is out
    np.testing.assert_array_equal(out, X - shift)


@pytest.mark.parametrize("n_rows", [1000, 3_000_000])
def test_a_draw_is_of_different_rows_in_ascending_order(n_rows):
    drawn = linalg.drawn(n_rows, 500, np.random.RandomState(0))
    assert len(drawn) == 500
    assert (np.diff(drawn) > 0).all()
    assert drawn[0] >= 0
    assert drawn[-1] < n_rows
    # Spread evenly: the mean is within five standard errors.
    assert abs(drawn.mean() / n_rows - 0.5) < 5 / np.sqrt(12 * 500)
    np.testing.assert_array_equal(linalg.drawn(n_rows, 500, np.random.RandomState(0)), drawn)
