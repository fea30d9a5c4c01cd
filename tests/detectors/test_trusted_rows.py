"""The rows that a detector learns from: where the origin is does not decide it, and weights do what copies do."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pyod_gessvdd import GESSVDD


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(size=(72, 4)), 4.0 + 0.3 * rng.normal(size=(8, 4))])


@pytest.mark.parametrize("n_components", ["all", 2])
@pytest.mark.parametrize("standardize", [False, True, "auto"])
def test_a_shift_does_not_change_which_rows_a_linear_kernel_trusts(standardize, n_components, X):
    params = {"kernel": "linear", "standardize": standardize, "n_components": n_components, "random_state": 0}
    trusted = GESSVDD(**params).fit(X).trusted_
    assert not trusted[72:].any()
    shifted = GESSVDD(**params).fit(X + np.array([300.0, -20.0, 0.0, 7.5]))
    assert_array_equal(shifted.trusted_, trusted)


def test_without_centring_what_is_at_the_origin_is_usual(X):
    params = {"kernel": "linear", "standardize": False, "center": False, "random_state": 0}
    moved = X - X[72:].mean(axis=0)
    assert not GESSVDD(**params).fit(X).trusted_[72:].any()
    assert GESSVDD(**params).fit(moved).trusted_[72:].all()


@pytest.mark.parametrize("kernel", ["mixed", "rbf", "linear", "additive_chi2", "sigmoid"])
@pytest.mark.parametrize("n_components", ["all", 2])
def test_a_row_of_weight_three_is_trusted_as_three_rows_are(kernel, n_components, X):
    if kernel == "additive_chi2":
        X = np.abs(X)
    params = {"kernel": kernel, "n_components": n_components, "random_state": 0}
    params["standardize"] = kernel != "additive_chi2"
    weights = np.arange(len(X)) % 3 + 1
    by_weight = GESSVDD(**params).fit(X, sample_weight=weights).trusted_
    by_copies = GESSVDD(**params).fit(np.repeat(X, weights, axis=0)).trusted_
    assert_array_equal(np.repeat(by_weight, weights), by_copies)
