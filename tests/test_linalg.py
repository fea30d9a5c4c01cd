"""The public linear algebra over rows."""

import numpy as np
import pytest

from pyod_gessvdd import linalg


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
