"""Scaling, and passing rows through in blocks."""

import numpy as np
import pytest
import scipy.stats
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from pyod_gessvdd import linalg
from pyod_gessvdd.linalg import TILE, map_blocks
from pyod_gessvdd.preprocessing import MAX_KNOTS, SCALINGS, NormalScores, Scaling


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 20.0, 0.01] + [0.0, 5.0, -3.0]


def test_standardized_columns_are_those_of_scikit_learn(X):
    scaled = Scaling.learn(X, center=True, standardize=True).apply(X)
    np.testing.assert_allclose(scaled, StandardScaler().fit_transform(X), atol=1e-10)


def test_new_rows_are_scaled_by_the_training_rows(X):
    scaling = Scaling.learn(X[:30], center=True, standardize=True)
    np.testing.assert_allclose(scaling.apply(X[30:]), StandardScaler().fit(X[:30]).transform(X[30:]), atol=1e-10)


def test_without_centering_columns_are_only_divided(X):
    scaling = Scaling.learn(X, center=False, standardize=True)
    assert scaling.mean is None
    np.testing.assert_allclose(scaling.apply(X), X / X.std(axis=0), rtol=1e-10)


@pytest.mark.parametrize("center", [True, False])
def test_without_standardizing_the_rows_pass_through(X, center):
    # Centring is done on the features, after the kernel map.
    assert Scaling.learn(X, center=center, standardize=False).apply(X) is X


@pytest.mark.parametrize("center", [True, False])
def test_scaling_leaves_the_given_rows_unchanged(X, center):
    before = X.copy()
    Scaling.learn(X, center=center, standardize=True).apply(X)
    np.testing.assert_array_equal(X, before)


def test_scaling_does_not_depend_on_the_block_size(X, monkeypatch):
    whole = Scaling.learn(X, center=True, standardize=True)
    monkeypatch.setattr(linalg, "BLOCK_ELEMENTS", 7 * 3)
    blocks = Scaling.learn(X, center=True, standardize=True)
    np.testing.assert_allclose(blocks.scale, whole.scale, rtol=1e-12)
    np.testing.assert_allclose(blocks.mean, whole.mean, rtol=1e-12, atol=1e-12)


def test_columns_far_from_the_origin_keep_their_digits(X):
    scaling = Scaling.learn(X + 1e8, center=True, standardize=True)
    np.testing.assert_allclose(scaling.scale[:2], X.std(axis=0)[:2], rtol=1e-6)


@pytest.mark.parametrize("value", [0.0, 0.1, -7.3, 1e9])
@pytest.mark.parametrize("n_rows", [2, 100, 100_000])
def test_a_constant_column_is_only_shifted(value, n_rows):
    # The mean of many equal values is not that value: what is left must not be taken for a deviation.
    scaling = Scaling.learn(np.full((n_rows, 2), value), center=True, standardize=True)
    assert (scaling.scale == 1.0).all()
    np.testing.assert_allclose(scaling.mean, value, rtol=1e-15)


def test_a_column_that_varies_little_is_no_constant_column():
    X = 1.0 + 1e-9 * np.random.default_rng(0).normal(size=(100, 1))
    scaled = Scaling.learn(X, center=True, standardize=True).apply(X)
    assert scaled.std() == pytest.approx(1.0, rel=1e-6)


# Blocks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [1, TILE - 1, TILE, TILE + 1, 5 * TILE + 3])
def test_blocks_give_what_the_whole_gives(n_rows):
    X = np.random.default_rng(0).normal(size=(n_rows, 3))
    found = map_blocks(lambda block: block[:, :2] * 2, X, row_cost=10_000_000)
    np.testing.assert_array_equal(found, X[:, :2] * 2)


def test_a_function_may_give_one_number_per_row():
    X = np.random.default_rng(0).normal(size=(TILE + 3, 3))
    np.testing.assert_array_equal(map_blocks(lambda block: block[:, 1], X, row_cost=1), X[:, 1])


def _heights(n_rows, row_cost):
    heights = []

    def record(block):
        heights.append(len(block))
        return block

    map_blocks(record, np.zeros((n_rows, 2)), row_cost)
    return heights


@pytest.mark.parametrize("row_cost", [1, 100, 1000, 10_000, 10_000_000])
def test_all_blocks_have_one_height_whatever_the_batch(row_cost):
    heights = {height for n_rows in (1, TILE, 1500) for height in _heights(n_rows, row_cost)}
    assert len(heights) == 1
    assert heights.pop() % TILE == 0


def test_blocks_are_lower_where_a_row_costs_more():
    assert _heights(1, row_cost=10_000) == [TILE]
    assert _heights(1, row_cost=700) < _heights(1, row_cost=300) < _heights(1, row_cost=100)


def test_a_rows_result_does_not_depend_on_its_batch():
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(200, 37)), rng.normal(size=(37, 11))

    def project(rows):
        return map_blocks(lambda block: block @ W, rows, row_cost=37)

    whole = project(X)
    for batch in (slice(0, 1), slice(5, 12), slice(100, 165), slice(199, 200)):
        np.testing.assert_array_equal(project(X[batch]), whole[batch])


def test_no_rows_are_an_error():
    with pytest.raises(ValueError, match="there are no rows"):
        map_blocks(lambda block: block, np.zeros((0, 3)), row_cost=3)


# Scalings by name -------------------------------------------------------------------------------------------------


def _columns():
    rng = np.random.default_rng(0)
    return np.column_stack([rng.normal(3.0, 2.0, 200), rng.lognormal(0.0, 2.0, 200), np.full(200, 7.0)])


def test_true_and_standard_are_the_same():
    X = _columns()
    by_name, by_flag = (Scaling.learn(X, center=True, standardize=value).apply(X) for value in ("standard", True))
    np.testing.assert_array_equal(by_name, by_flag)


def test_signed_log_is_the_logarithm_of_the_standardised_values_with_their_sign():
    X = _columns()
    standard = Scaling.learn(X, center=True, standardize=True).apply(X)
    scaling = Scaling.learn(X, center=True, standardize="signed_log")
    np.testing.assert_allclose(scaling.apply(X), np.sign(standard) * np.log(1 + np.abs(standard)), rtol=1e-12)
    assert not scaling.is_affine


@pytest.mark.parametrize("standardize", ["standard", "signed_log", "quantile"])
def test_no_rows_scaled_are_no_rows(X, standardize):
    scaling = Scaling.learn(X, center=True, standardize=standardize)
    assert scaling.apply(X[:0]).shape == (0, scaling.n_views * X.shape[1])


def test_robust_takes_median_and_quartiles_and_the_deviation_where_the_quartiles_agree():
    X = np.column_stack([_columns()[:, 0], np.r_[np.zeros(190), np.arange(10.0)]])
    scaled = Scaling.learn(X, center=True, standardize="robust").apply(X)
    low, middle, high = np.percentile(X[:, 0], (25, 50, 75))
    np.testing.assert_allclose(scaled[:, 0], (X[:, 0] - middle) / ((high - low) / 1.349))
    np.testing.assert_allclose(scaled[:, 1], X[:, 1] / X[:, 1].std())


def test_quantile_gives_each_column_a_normal_distribution():
    X = _columns()
    scaled = Scaling.learn(X, center=True, standardize="quantile").apply(X)
    for column in (0, 1):
        expected = scipy.stats.norm.ppf(np.arange(1, 201) / 201)
        np.testing.assert_allclose(np.sort(scaled[:, column]), expected, atol=1e-10)


# Sample weights -----------------------------------------------------------------------------------------------------

WEIGHTS = np.arange(200) % 4 + 1.0


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("standardize", [False, True, *SCALINGS])
def test_a_weight_is_as_good_as_repeating_the_row(standardize, center):
    X = _columns()
    weighted = Scaling.learn(X, center=center, standardize=standardize, sample_weight=WEIGHTS)
    repeated = Scaling.learn(np.repeat(X, WEIGHTS.astype(int), axis=0), center=center, standardize=standardize)
    rows = np.vstack([X, 1.1 * X + 0.3])
    np.testing.assert_allclose(weighted.apply(rows), repeated.apply(rows), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("standardize", SCALINGS)
def test_equal_weights_scale_as_none_do(standardize):
    X = _columns()
    with_weights = Scaling.learn(X, center=True, standardize=standardize, sample_weight=np.ones(200)).apply(X)
    without = Scaling.learn(X, center=True, standardize=standardize).apply(X)
    np.testing.assert_allclose(with_weights, without, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("value", [0.1, -7.3, 1e9])
def test_a_constant_column_is_only_shifted_with_weights_too(value):
    weights = np.random.default_rng(0).uniform(0.1, 3.0, size=1000)
    scaling = Scaling.learn(np.full((1000, 2), value), center=True, standardize=True, sample_weight=weights)
    assert (scaling.scale == 1.0).all()
    np.testing.assert_allclose(scaling.mean, value, rtol=1e-15)


# Normal scores ------------------------------------------------------------------------------------------------------


def slow_scores(column):
    """Φ⁻¹ of the middle rank of each value, counted from a half, over N + 1."""
    ranks = scipy.stats.rankdata(column, method="average")  # from 1 on
    return scipy.stats.norm.ppf(ranks / (len(column) + 1))


@pytest.mark.parametrize("n_rows", [50, 1000, 2000])
def test_normal_scores_are_those_of_the_ranks(n_rows):
    X = np.random.default_rng(0).lognormal(size=(n_rows, 3))
    expected = np.column_stack([slow_scores(column) for column in X.T])
    np.testing.assert_allclose(NormalScores.learn(X)(X), expected, atol=1e-10)


def test_equal_values_get_their_middle_rank():
    X = np.random.default_rng(0).integers(0, 7, size=(83, 2)).astype(float)
    expected = np.column_stack([slow_scores(column) for column in X.T])
    np.testing.assert_allclose(NormalScores.learn(X)(X), expected, atol=1e-10)


def test_of_many_values_enough_are_kept():
    X = np.random.default_rng(0).normal(size=(3 * MAX_KNOTS, 1))
    found = NormalScores.learn(X)
    assert len(found.values[0]) == MAX_KNOTS
    expected = slow_scores(X[:, 0])
    inside = np.abs(expected) < 2.5
    np.testing.assert_allclose(found(X)[inside, 0], expected[inside], atol=0.02)


def test_a_value_beyond_all_is_farther_out_than_the_last():
    X = np.arange(20.0)[:, None]
    ends = NormalScores.learn(X)(np.array([[-5.0], [0.0], [19.0], [99.0]]))[:, 0]
    assert ends[0] == -ends[3] < ends[1] == pytest.approx(-ends[2])
    np.testing.assert_allclose(ends[3], scipy.stats.norm.ppf(20.5 / 21))


def test_normal_scores_are_nearly_those_of_scikit_learns_quantile_transformer():
    X = np.random.default_rng(0).lognormal(size=(1000, 2))
    expected = QuantileTransformer(n_quantiles=1000, output_distribution="normal").fit_transform(X)
    inside = np.abs(expected) < 2.0
    np.testing.assert_allclose(NormalScores.learn(X)(X)[inside], expected[inside], atol=0.02)


def test_normal_scores_rise_with_the_values():
    X = np.random.default_rng(0).normal(size=(60, 1))
    rows = np.linspace(X.min() - 1, X.max() + 1, 500)[:, None]
    assert (np.diff(NormalScores.learn(X)(rows)[:, 0]) >= 0).all()


def test_normal_columns_have_light_tails_and_rare_or_far_values_heavy_ones():
    normal, other = np.random.default_rng(0).normal(size=(2, 500))
    X = np.column_stack([normal, np.sign(normal), normal**3, other > 2.2, np.exp(1.5 * other)])
    assert Scaling.learn(X, center=True, standardize="views").heavy_share == 0.6
    assert Scaling.learn(X[:, :2], center=True, standardize="views").heavy_share == 0.0


def test_without_ranks_all_tails_count_as_heavy():
    assert Scaling.learn(np.eye(4), center=True, standardize=True).heavy_share == 1.0
