"""The feature map: what is learnt from the training rows is what new rows get, whatever their batch."""

import numpy as np
import pytest

from pyod_gessvdd import Kernel
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.errors import ComponentError
from pyod_gessvdd.feature_map import FeatureMap
from pyod_gessvdd.linalg import TILE

NYSTROEM = "rbf(approximation='nystroem', n_landmarks=20)"
KERNELS = ("linear", "rbf(gamma=0.1)", "mixed(energy=0.9)", "polynomial", NYSTROEM)
SCALINGS = (False, True, "standard", "robust", "signed_log", "quantile")

every_kernel = pytest.mark.parametrize("kernel", KERNELS)
every_scaling = pytest.mark.parametrize("standardize", SCALINGS)
centred_or_not = pytest.mark.parametrize("center", [True, False])


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(50, 4)) * [1.0, 5.0, 0.1, 2.0] + [3.0, 0.0, 7.0, -1.0]


def _learn(X, kernel="linear", *, center=True, standardize=True, counts_missed=True, sample_weight=None):
    component = resolve("kernel", kernel)
    if "center" in component.get_params():
        component.set_params(center=center)
    return FeatureMap.learn(
        X,
        component,
        center=center,
        standardize=standardize,
        counts_missed=counts_missed,
        sample_weight=sample_weight,
    )


class Squares(Kernel):
    """A kernel of somebody else's: its features are not centred, and it misses a constant."""

    def features(self, X):
        return np.hstack([X, X**2])

    def residual(self, X):
        return np.abs(X[:, 0])


@every_kernel
@every_scaling
@centred_or_not
def test_the_training_rows_get_as_new_rows_what_they_got_in_fit(X, kernel, standardize, center):
    feature_map, Phi, missed = _learn(X, kernel, center=center, standardize=standardize)
    size = np.abs(Phi).max()
    np.testing.assert_allclose(feature_map.apply(lambda features, _: features, X), Phi, atol=1e-9 * size)
    np.testing.assert_allclose(feature_map.apply(lambda _, missed: missed, X), missed, atol=1e-8 * size**2)
    assert feature_map.n_features == Phi.shape[1]


@every_kernel
@every_scaling
def test_centred_features_have_mean_zero(X, kernel, standardize):
    _, Phi, _ = _learn(X, kernel, standardize=standardize)
    np.testing.assert_allclose(Phi.mean(axis=0), 0.0, atol=1e-9 * np.abs(Phi).max())


def test_a_mean_that_is_zero_already_is_not_taken_off_again(X):
    assert _learn(X, standardize=True)[0].mean is None
    assert _learn(X, "rbf")[0].mean is None
    assert _learn(X, Squares())[0].mean is not None
    np.testing.assert_allclose(_learn(X, standardize=False)[0].mean, X.mean(axis=0))
    assert _learn(X, Squares(), center=False)[0].mean is None


def test_features_are_those_of_the_kernel_for_the_scaled_rows_less_their_mean(X):
    feature_map, _, _ = _learn(X, Squares(), standardize="robust")
    scaled = feature_map.scaling.apply(X)
    expected = np.hstack([scaled, scaled**2])
    Phi, missed = feature_map.features(X[:7])
    np.testing.assert_allclose(Phi, expected[:7] - expected.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(missed, np.abs(scaled[:7, 0]))
    for found, same in zip(feature_map.of_scaled(scaled[:7]), (Phi, missed), strict=True):
        np.testing.assert_array_equal(found, same)


@every_kernel
def test_a_rows_features_do_not_depend_on_its_batch(X, kernel):
    feature_map, _, _ = _learn(X, kernel)

    def both(features, missed):
        return np.column_stack([features, missed])

    whole = feature_map.apply(both, X)
    for batch in (slice(0, 1), slice(3, 20), slice(49, 50)):
        np.testing.assert_array_equal(feature_map.apply(both, X[batch]), whole[batch])


def test_what_does_not_count_is_not_asked_for(X):
    class Silent(Squares):
        def residual(self, X):
            raise AssertionError("nobody asked")

    feature_map, _, missed = _learn(X, Silent(), counts_missed=False)
    assert missed is None
    assert feature_map.features(X)[1] is None
    assert (feature_map.apply(lambda _, missed: np.full(len(X), missed is None), X[:40]) == 1).all()


def test_a_kernel_that_does_not_find_the_missed_on_the_way_is_asked_in_blocks(X):
    heights = []

    class Costly(Squares):
        def row_cost(self, n_columns):
            return 10_000_000

        def residual(self, X):
            heights.append(len(X))
            return super().residual(X)

    feature_map, _, missed = _learn(X, Costly())
    np.testing.assert_allclose(missed, np.abs(feature_map.scaling.apply(X)[:, 0]))
    assert set(heights) == {TILE}


@pytest.mark.parametrize("standardize", [False, True, "robust"])
@centred_or_not
def test_an_affine_map_and_a_projection_fold_into_one_product(X, standardize, center):
    feature_map, _, _ = _learn(X, standardize=standardize, center=center)
    assert feature_map.is_affine
    projection = np.random.default_rng(1).normal(size=(2, 4))
    W, b = feature_map.folded(projection)
    new = 3 * X[:10] + 1.0
    np.testing.assert_allclose(new @ W.T - b, feature_map.features(new)[0] @ projection.T, atol=1e-10)


@pytest.mark.parametrize(("kernel", "standardize"), [("rbf", True), ("linear", "signed_log"), ("linear", "quantile")])
def test_a_kernel_or_a_warp_is_not_affine(X, kernel, standardize):
    assert not _learn(X, kernel, standardize=standardize)[0].is_affine


def test_a_kernel_matrix_is_not_scaled(X):
    K = X @ X.T
    feature_map, Phi, _ = _learn(K, "precomputed(energy=1.0)", standardize=True)
    assert feature_map.scaling.apply(K) is K
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(Phi @ Phi.T, centred @ centred.T, atol=1e-9 * np.abs(K).max())


@every_kernel
@every_scaling
def test_a_weight_is_as_good_as_repeating_the_row(X, kernel, standardize):
    weights = np.arange(50) % 3 + 1.0
    kernel = "rbf(approximation='nystroem')" if kernel == NYSTROEM else kernel  # all rows are landmarks
    repeated = np.repeat(X, weights.astype(int), axis=0)
    weighted, Phi, missed = _learn(X, kernel, standardize=standardize, sample_weight=weights)
    same, Psi, missed_of_same = _learn(repeated, kernel, standardize=standardize)
    first = np.r_[0, np.cumsum(weights.astype(int))[:-1]]
    scale = np.abs(Psi @ Psi.T).max()
    np.testing.assert_allclose(Phi @ Phi.T, (Psi @ Psi.T)[np.ix_(first, first)], atol=1e-8 * scale)
    np.testing.assert_allclose(missed, missed_of_same[first], atol=1e-8 * scale)
    new = X[:9] + 0.3
    found, expected = weighted.features(new)[0] @ Phi.T, same.features(new)[0] @ Psi[first].T
    np.testing.assert_allclose(found, expected, atol=1e-8 * scale)


def test_a_kernel_that_knows_no_weights_is_said_to(X):
    weights = np.arange(50) % 3 + 1.0
    with pytest.warns(UserWarning, match="kernel 'squares' ignores sample weights: its features are learnt from"):
        feature_map, Phi, _ = _learn(X, Squares(), sample_weight=weights)
    np.testing.assert_allclose(weights @ Phi, 0.0, atol=1e-9)  # their mean is weighted still
    assert feature_map.mean is not None


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda X: X[:3], r"kernel 'wrong' returned features of shape \(3, 4\); expected \(50, F\)"),
        (lambda X: X[:, :0], "kernel 'wrong' left no feature: all rows look the same to it"),
        (lambda X: X * np.nan, "kernel 'wrong' returned NaN or infinite features"),
        (lambda X: None, "kernel 'wrong' returned None; expected an array of real numbers"),
    ],
)
def test_features_that_break_the_contract_are_named(X, answer, message):
    class Wrong(Kernel):
        def features(self, X):
            return answer(X)

    with pytest.raises(ComponentError, match=message):
        _learn(X, Wrong())


def test_features_of_another_number_than_in_fit_are_named(X):
    class Growing(Kernel):
        width = 1

        def features(self, X):
            return np.tile(X[:, :1], self.width)

    kernel = Growing()
    feature_map, _, _ = _learn(X, kernel)
    kernel.width = 2
    with pytest.raises(
        ComponentError, match=r"kernel 'growing' returned features of shape \(50, 2\); expected \(50, 1\)"
    ):
        feature_map.features(X)
