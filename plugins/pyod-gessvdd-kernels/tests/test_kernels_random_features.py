"""Random Fourier features against the exact kernels."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from pyod_gessvdd import GESSVDD, available
from pyod_gessvdd.sources import ArraySource
from pyod_gessvdd_kernels import RFF, LaplacianRFF

X = np.random.default_rng(0).normal(size=(40, 6))

both = pytest.mark.parametrize("kernel", [RFF, LaplacianRFF])


def error(kernel):
    Phi = kernel.fit(X).features(X)
    return float(np.sqrt(np.mean((Phi @ Phi.T - kernel.gram(X, X)) ** 2)))


@both
def test_the_mean_over_many_draws_is_the_exact_kernel(kernel):
    exact = {RFF: rbf_kernel, LaplacianRFF: laplacian_kernel}[kernel](X, X, gamma=0.2)
    mean = np.zeros_like(exact)
    for seed in range(200):
        Phi = kernel(gamma=0.2, n_features=200, random_state=seed).fit(X).features(X)
        mean += Phi @ Phi.T / 200
    # 20,000 cosines: four standard deviations of their mean are 0.02.
    assert np.abs(mean - exact).max() < 0.03


@both
def test_four_times_the_features_halve_the_error(kernel):
    few, many = (
        np.mean([error(kernel(gamma=0.2, n_features=n, random_state=seed)) for seed in range(20)]) for n in (100, 400)
    )
    assert 1.6 < few / many < 2.6


def test_orthogonal_frequencies_have_the_smaller_error():
    plain, orthogonal = (
        np.mean([error(RFF(gamma=0.1, n_features=120, orthogonal=way, random_state=seed)) for seed in range(30)])
        for way in (False, True)
    )
    assert orthogonal < 0.9 * plain


def test_orthogonal_frequencies_are_orthogonal_in_blocks_of_the_columns():
    W = RFF(gamma=0.5, n_features=20, random_state=0).fit(X).frequencies_
    assert W.shape == (6, 10)
    for block in (W[:, :6], W[:, 6:]):
        products = block.T @ block
        np.testing.assert_allclose(products, np.diag(np.diag(products)), atol=1e-12)


@both
def test_every_row_has_length_one_and_so_the_features_miss_nothing(kernel):
    fitted = kernel(gamma=3.0, random_state=0).fit(X)
    far = 100.0 * X
    np.testing.assert_allclose((fitted.features(far) ** 2).sum(axis=1), fitted.gram_diagonal(far), rtol=1e-12)
    assert (fitted.residual(far) == 0).all()


@both
def test_the_same_seed_draws_the_same_features(kernel):
    first, again, other = (kernel(random_state=seed).fit(X).features(X) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


@pytest.mark.parametrize(
    ("parameters", "gamma"),
    [
        ({"gamma": 0.7}, 0.7),
        ({"sigma": 2.0}, 1 / 8),
        ({"gamma": "auto"}, 1 / 6),
        ({"gamma": "scale"}, 1 / (6 * X.var())),
        ({}, 0.003 / (6 * X.var())),
    ],
)
def test_widths_mean_what_they_mean_to_rbf(parameters, gamma):
    assert RFF(**parameters).fit(X).gamma_ == pytest.approx(gamma)


@both
@pytest.mark.parametrize("n_features", [0, 3, 10.0, "many"])
def test_a_bad_number_of_features_is_one_sentence(kernel, n_features):
    sentence = f"^n_features must be an even number of at least 2, got {n_features!r}$"
    with pytest.raises(ValueError, match=sentence):
        kernel(n_features=n_features).fit(X)


@both
def test_a_bad_width_is_one_sentence(kernel):
    with pytest.raises(ValueError, match=r"^gamma must be positive, 'scale', 'auto' or 'median', got -1$"):
        kernel(gamma=-1).fit(X)


@pytest.mark.parametrize(("features", "exact"), [("rff", "rbf"), ("rff_laplacian", "laplacian")])
def test_a_fit_by_name_scores_like_the_exact_kernel(features, exact):
    assert any(row["name"] == features and row["error"] is None for row in available("kernel"))
    rows = np.random.default_rng(1).normal(size=(150, 4)) * [3.0, 2.0, 1.0, 0.5]
    new = np.random.default_rng(2).normal(size=(60, 4)) * 3.0
    settings = {"laplacian": "pca", "residual": True, "n_components": 5, "gamma": 0.1, "random_state": 0}
    approximate, expected = (
        GESSVDD(kernel=kernel, **settings).fit(rows).decision_function(new)
        for kernel in (f"{features}(n_features=600)", exact)
    )
    assert np.corrcoef(approximate, expected)[0, 1] > 0.95


def test_random_features_of_rows_that_are_not_held_are_those_of_the_rows_in_memory():
    rows = np.random.default_rng(3).normal(size=(100_500, 3)) * [3.0, 1.0, 0.5]  # more than are read into memory
    settings = {"kernel": "rff(n_features=20)", "laplacian": "pca", "n_components": 3, "novelty": True}
    in_memory, streamed = (GESSVDD(random_state=0, **settings).fit(X) for X in (rows, ArraySource(rows)))
    np.testing.assert_allclose(streamed.decision_scores_, in_memory.decision_scores_, rtol=1e-8)
    assert not RFF(gamma="median").learns_by_moments
