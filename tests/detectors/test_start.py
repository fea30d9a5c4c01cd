"""The start of Algorithm 1: how many dimensions, which directions, and what cannot be a start."""

import numpy as np
import pytest

from pyod_gessvdd.detectors.base import PAPER
from pyod_gessvdd.detectors.start import DEFAULT_COMPONENTS, DEFAULT_COMPONENTS_PAPER, start
from pyod_gessvdd.subspace import subspace_distance


@pytest.fixture
def Phi():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 4)) * [4.0, 3.0, 2.0, 1.0]
    return rows - rows.mean(axis=0)


def _start(Phi, S_x=None, **settings):
    return start(Phi, S_x, {**PAPER, **settings}, 0)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_the_start_is_the_principal_directions(Phi, d):
    Q = _start(Phi, n_components=d)
    expected = np.linalg.svd(Phi, full_matrices=False)[2][:d]
    np.testing.assert_allclose(Q @ Q.T, np.eye(d), atol=1e-12)
    assert subspace_distance(Q, expected) < 1e-7


def test_a_random_start_belongs_to_the_seed(Phi):
    settings = {**PAPER, "init": "random", "n_components": 2}
    first, again, other = (start(Phi, None, settings, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert subspace_distance(first, other) > 0.1


def test_a_given_start_is_orthonormalised(Phi):
    given = np.array([[2.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]])
    Q = _start(Phi, init=given)
    np.testing.assert_allclose(Q @ Q.T, np.eye(2), atol=1e-12)
    assert subspace_distance(Q, np.eye(4)[:2]) < 1e-12


@pytest.mark.parametrize(("residual", "default"), [(True, DEFAULT_COMPONENTS), (False, DEFAULT_COMPONENTS_PAPER)])
def test_unless_given_the_dimension_is_the_default_or_all_there_are(residual, default):
    Phi = np.random.default_rng(0).normal(size=(400, 310))
    assert len(_start(Phi - Phi.mean(axis=0), residual=residual)) == default
    assert len(_start(Phi[:, :3] - Phi[:, :3].mean(axis=0), residual=residual)) == 3


def test_unless_given_the_dimension_is_no_more_than_the_graph_sees(Phi):
    S_x = np.diag([5.0, 1.0, 0.0, 0.0])
    assert len(_start(Phi, S_x)) == 2
    assert len(_start(Phi, S_x, n_components=3)) == 3
    assert len(_start(Phi, S_x, n_components="all")) == 4


def test_around_zero_the_direction_in_which_all_rows_agree_counts(Phi):
    far = Phi * [1.0, 1.0, 1.0, 0.0] + [0.0, 0.0, 0.0, 9.0]
    assert len(_start(far, n_components="all")) == 3
    Q = _start(far, n_components="all", around_mean=False)
    assert len(Q) == 4
    assert abs(Q[0, 3]) > 0.99


def test_a_dimension_that_the_features_do_not_have_is_reduced_with_a_warning(Phi):
    dependent = np.column_stack([Phi, Phi[:, 0]])
    with pytest.warns(UserWarning, match="n_components=5, but the features vary in only 4 of 5 directions") as caught:
        assert len(_start(dependent, n_components=5)) == 4
    assert "(constant or dependent columns); using 4" in str(caught[0].message)


ERRORS = [
    ({"n_components": 5}, "n_components must be at most the number of features, 4, got 5"),
    ({"init": np.eye(3)}, r"init must be 'pca', 'random' or an array of shape \(d, 4\), got shape \(3, 3\)"),
    ({"init": np.ones(4)}, r"init must be 'pca', 'random' or an array of shape \(d, 4\), got shape \(4,\)"),
    ({"init": np.zeros((0, 4))}, r"init must be .* an array of shape \(d, 4\), got shape \(0, 4\)"),
    ({"init": np.ones((5, 4))}, r"init must be .* an array of shape \(d, 4\), got shape \(5, 4\)"),
    ({"init": np.full((2, 4), np.nan)}, "init must be finite, got NaN or infinite values"),
    ({"init": np.ones((2, 4))}, "the 2 rows of init span only 1 dimensions"),
    ({"init": np.eye(4)[:2], "n_components": 3}, "init has 2 rows but n_components=3; they must agree"),
]


@pytest.mark.parametrize(("settings", "message"), ERRORS, ids=[message[:40] for _, message in ERRORS])
def test_what_cannot_be_a_start_gets_a_sentence(Phi, settings, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        _start(Phi, **settings)


def test_features_that_do_not_vary_have_no_start():
    with pytest.raises(ValueError, match=r"^all 6 rows of X are equal: there is nothing to describe$"):
        _start(np.zeros((6, 4)))
