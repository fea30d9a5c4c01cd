"""``keep``: which iterate of the alternation becomes the model."""

import numpy as np
import pytest

from pyod_gessvdd import GESSVDD, Updater
from pyod_gessvdd.subspace import random_directions

both_directions = pytest.mark.parametrize("direction", ["min", "max"])


class Path(Updater):
    """Turns to the random subspace of the next seed, so that the criterion goes up and down."""

    def __init__(self, seeds=(4, 9, 2, 7, 1)):
        self.seeds = seeds

    def update(self, state):
        return random_directions(state.n_components, state.Q.shape[1], self.seeds[state.iteration - 1])


class Worsen(Updater):
    """A long gradient step in the wrong direction, on purpose."""

    def update(self, state):
        S_alpha_Q = state.S_alpha @ state.Q.T
        gradient = (S_alpha_Q - state.S_x @ state.Q.T @ state.S_inv @ (state.Q @ S_alpha_Q)) @ state.S_inv
        return state.Q - 0.5 * state.sign * gradient.T


class Shrink(Updater):
    """Loses a dimension in each update."""

    def update(self, state):
        return state.Q[:-1]


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(80, 5)) @ rng.normal(size=(5, 5))


def _fit(X, updater, **params):
    defaults = {
        "residual": False,
        "standardize": True,
        "ridge": 1e-6,
        "kernel": "linear",
        "laplacian": "pca",
        "n_components": 2,
        "random_state": 0,
    }
    return GESSVDD(updater=updater, **{**defaults, **params}).fit(X)


def _criteria(detector):
    return [record["criterion"] for record in detector.history_]


@both_directions
@pytest.mark.parametrize("seed", range(5))
def test_the_best_is_the_iterate_with_the_best_criterion_of_the_history(direction, seed, X):
    path = Path(tuple(np.random.default_rng(seed).permutation(20)[:5]))
    detector = _fit(X, path, criterion=direction, keep="best")
    criteria = _criteria(detector)
    assert len(criteria) == 6
    assert detector.best_iteration_ == (np.argmax(criteria) if direction == "max" else np.argmin(criteria))


@both_directions
def test_the_best_is_the_model_that_so_many_updates_give(direction, X):
    # keep must not change the way, only where on it the model is taken from.
    best = _fit(X, Path(), criterion=direction, keep="best")
    stopped = _fit(X, Path(), criterion=direction, n_iter=best.best_iteration_)
    assert 0 < best.best_iteration_ < 5
    np.testing.assert_array_equal(best.decision_scores_, stopped.decision_scores_)
    for name in ("components_", "projection_", "alpha_", "center_", "radius_", "support_"):
        np.testing.assert_array_equal(getattr(best, name), getattr(stopped, name))
    assert best.radius_ == best.history_[best.best_iteration_]["radius"]
    assert best.n_iter_ == 5
    assert best.stop_reason_ == "made the 5 updates asked for"


@both_directions
def test_updates_that_only_worsen_leave_the_start(direction, X):
    best = _fit(X, Worsen(), criterion=direction, keep="best", n_iter=2)
    last = _fit(X, Worsen(), criterion=direction, n_iter=2)
    sign = 1 if direction == "max" else -1
    assert (sign * np.diff(_criteria(best)) < 0).all()
    assert best.best_iteration_ == 0
    np.testing.assert_array_equal(best.decision_scores_, _fit(X, Worsen(), n_iter=0).decision_scores_)
    assert not np.allclose(best.decision_scores_, last.decision_scores_)


@both_directions
def test_the_last_is_the_default_and_the_papers(direction, X):
    default, last = _fit(X, Path(), criterion=direction), _fit(X, Path(), criterion=direction, keep="last")
    np.testing.assert_array_equal(default.decision_scores_, last.decision_scores_)
    assert last.best_iteration_ == last.n_iter_ == 5
    assert last.radius_ == last.history_[-1]["radius"]


def test_the_history_does_not_depend_on_what_is_kept(X):
    assert _fit(X, Path(), keep="best").history_ == _fit(X, Path(), keep="last").history_


@both_directions
def test_the_criterion_kept_is_that_of_the_sphere(direction, X):
    best = _fit(X, Path(), criterion=direction, keep="best", standardize=False)
    Z = best.transform(X)
    center = best.alpha_ @ Z
    criterion = best.alpha_ @ ((Z - center) ** 2).sum(axis=1)
    np.testing.assert_allclose(best.history_[best.best_iteration_]["criterion"], criterion, rtol=1e-7)


@both_directions
def test_a_tie_keeps_the_earliest(direction, X):
    detector = _fit(X, Path((3, 3, 3)), criterion=direction, n_iter=3, keep="best")
    assert detector.best_iteration_ in (0, 1)


@both_directions
def test_an_iterate_that_has_lost_dimensions_is_not_better(direction, X):
    detector = _fit(X, Shrink(), criterion=direction, n_components=3, n_iter=2, keep="best")  # and no warning
    assert _criteria(detector) == sorted(_criteria(detector), reverse=True)
    assert detector.best_iteration_ == 0
    assert detector.n_components_ == 3


def test_no_update_keeps_the_start(X):
    assert _fit(X, Path(), n_iter=0, keep="best").best_iteration_ == 0


def test_the_tolerance_and_the_best_work_together(X):
    detector = _fit(X, Path((4, 4, 4, 4, 4)), tol=1e-9, keep="best")
    assert detector.n_iter_ == 2
    assert detector.stop_reason_ == "the criterion changed by no more than tol=1e-09 of itself"
    criteria = _criteria(detector)
    assert detector.best_iteration_ == int(criteria[1] > criteria[0])


@both_directions
def test_the_tolerance_looks_at_changes_in_both_directions(direction, X):
    detector = _fit(X, Worsen(), criterion=direction, tol=1e-12, n_iter=3)
    assert detector.n_iter_ == 3


@pytest.mark.parametrize("keep", ["first", "BEST", None, 1, True, ["best"]])
def test_anything_else_is_refused(keep, X):
    with pytest.raises(ValueError, match=r"keep must be 'last' or 'best', got "):
        _fit(X, "gradient", keep=keep)
