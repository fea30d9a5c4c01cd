"""The non-linear projection trick against the kernel trick, with explicit centring matrices."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.gaussian_process.kernels import Matern
from sklearn.metrics import pairwise

from pyod_gessvdd import GESSVDD, PairwiseKernel, available
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.kernels import npt
from pyod_gessvdd.kernels.linear import Linear
from pyod_gessvdd.kernels.pairwise import RBF, Chi2, FunctionKernel, Precomputed, kernel_width
from tests.oracle import kernels as oracle

# Iris is positive, as the chi-squared kernels ask for; without equal distances the nearest neighbours are determined.
DATA = load_iris().data[50:] + 1e-3 * np.random.default_rng(0).uniform(size=(100, 4))
X, NEW = DATA[::2], DATA[1::2][:20]

GAMMA_SCALE = 1 / (4 * X.var())
#: What the rbf kernel takes unless told otherwise.
GAMMA_WIDE = 0.003 * GAMMA_SCALE


def cauchy(A, B):
    """A kernel of somebody else's: 1 / (1 + ‖x − y‖²)."""
    return 1 / (1 + pairwise.euclidean_distances(A, B, squared=True))


def _sigma_rbf(A, B):
    """Eq. ``RBFkernel``, pair by pair."""
    return np.array([[np.exp(-(np.linalg.norm(a - b) ** 2) / (2 * 0.8**2)) for b in B] for a in A])


#: Kernel → k(x, y) by scikit-learn or by hand.
KERNELS = {
    "rbf": lambda A, B: pairwise.rbf_kernel(A, B, gamma=GAMMA_WIDE),
    "rbf(gamma='scale')": lambda A, B: pairwise.rbf_kernel(A, B, gamma=GAMMA_SCALE),
    "rbf(sigma=0.8)": _sigma_rbf,
    "rbf(gamma=0.5)": lambda A, B: pairwise.rbf_kernel(A, B, gamma=0.5),
    "laplacian": lambda A, B: pairwise.laplacian_kernel(A, B, gamma=1 / A.shape[1]),
    "laplacian(gamma='scale')": lambda A, B: pairwise.laplacian_kernel(A, B, gamma=GAMMA_SCALE),
    "mixed": lambda A, B: (
        (pairwise.laplacian_kernel(A, B, gamma=0.5 / A.shape[1]) + pairwise.rbf_kernel(A, B, gamma=1 / A.shape[1])) / 2
    ),
    "exponential": lambda A, B: Matern(np.sqrt(1 / GAMMA_SCALE), nu=0.5)(A, B),
    "exponential(gamma=0.7)": lambda A, B: Matern(1 / 0.7, nu=0.5)(A, B),
    "matern": lambda A, B: Matern(np.sqrt(1 / GAMMA_SCALE), nu=1.5)(A, B),
    "polynomial": lambda A, B: pairwise.polynomial_kernel(A, B, gamma=GAMMA_SCALE, degree=3, coef0=1.0),
    "polynomial(degree=2, coef0=0.5, gamma=0.3)": lambda A, B: (0.3 * A @ B.T + 0.5) ** 2,
    "sigmoid(gamma=0.01, coef0=0.1)": lambda A, B: np.tanh(0.01 * A @ B.T + 0.1),
    "cosine": lambda A, B: pairwise.cosine_similarity(A, B),
    "chi2": lambda A, B: pairwise.chi2_kernel(A, B, gamma=1.0),
    "chi2(gamma=0.2)": lambda A, B: pairwise.chi2_kernel(A, B, gamma=0.2),
    "additive_chi2": lambda A, B: pairwise.additive_chi2_kernel(A, B),
}
CASES = {**{spec: (spec, gram) for spec, gram in KERNELS.items()}, "callable": (cauchy, cauchy)}
#: Centred, these have no negative eigenvalues. The sigmoid kernel has, and the paper leaves them out.
POSITIVE = {name: case for name, case in CASES.items() if not name.startswith("sigmoid")}

every_kernel = pytest.mark.parametrize(("kernel", "gram"), CASES.values(), ids=CASES)
every_positive_kernel = pytest.mark.parametrize(("kernel", "gram"), POSITIVE.values(), ids=POSITIVE)


def _fitted(kernel, energy=1.0, **params):
    component = resolve("kernel", kernel).set_params(energy=energy, **params)
    return component, component.fit_features(X)[0]


def test_every_registered_kernel_is_in_this_file():
    registered = {row["name"] for row in available("kernel") if row["distribution"] == "pyod-gessvdd"}
    covered = {resolve("kernel", kernel).name for kernel, _ in CASES.values()}
    assert registered == (covered - {"function"}) | {"linear", "precomputed"}


# The exact map ----------------------------------------------------------------------------------------------------


@every_kernel
def test_gram_is_the_kernel_function(kernel, gram):
    component, _ = _fitted(kernel)
    np.testing.assert_allclose(component.gram(NEW, X), gram(NEW, X), rtol=1e-10)


@every_kernel
def test_gram_diagonal_is_the_diagonal_of_gram(kernel, gram):
    component, _ = _fitted(kernel)
    np.testing.assert_allclose(component.gram_diagonal(NEW), np.diag(gram(NEW, NEW)), rtol=1e-10, atol=1e-12)


@every_kernel
def test_the_features_are_those_of_the_nonlinear_projection_trick(kernel, gram):
    _, Phi = _fitted(kernel)
    expected = oracle.npt_features(oracle.centered_gram(gram(X, X)))
    np.testing.assert_allclose(Phi @ Phi.T, expected.T @ expected, atol=1e-8 * np.abs(expected).max() ** 2)


@every_positive_kernel
def test_inner_products_of_the_features_are_the_centered_kernel(kernel, gram):
    _, Phi = _fitted(kernel)
    K_hat = oracle.centered_gram(gram(X, X))
    np.testing.assert_allclose(Phi @ Phi.T, K_hat, atol=1e-9 * np.abs(K_hat).max())


@every_positive_kernel
def test_inner_products_with_test_points_are_the_centered_kernel_vectors(kernel, gram):
    component, Phi = _fitted(kernel)
    K = gram(X, X)
    expected = np.array([oracle.centered_kernel_vector(k, K) for k in gram(NEW, X)])
    np.testing.assert_allclose(component.features(NEW) @ Phi.T, expected, atol=1e-7 * np.abs(expected).max())


@every_kernel
def test_test_features_are_the_pseudo_inverse_of_the_training_features(kernel, gram):
    component, Phi = _fitted(kernel, energy=0.9999)
    K = gram(X, X)
    expected = [oracle.npt_test_features(Phi.T, oracle.centered_kernel_vector(k, K)) for k in gram(NEW, X)]
    np.testing.assert_allclose(component.features(NEW), expected, atol=1e-8 * np.abs(Phi).max())


@every_kernel
def test_the_features_of_the_training_rows_are_the_training_features(kernel, gram):
    component, Phi = _fitted(kernel, energy=0.9999)
    np.testing.assert_allclose(component.features(X), Phi, atol=1e-8 * np.abs(Phi).max())


@every_kernel
def test_the_features_are_centered_and_uncorrelated(kernel, gram):
    _, Phi = _fitted(kernel, energy=0.9999)
    np.testing.assert_allclose(Phi.mean(axis=0), 0.0, atol=1e-9 * np.abs(Phi).max())
    moments = Phi.T @ Phi
    np.testing.assert_allclose(moments, np.diag(np.diag(moments)), atol=1e-9 * moments.max())
    assert (np.diff(np.diag(moments)) <= 1e-9 * moments.max()).all()


@pytest.mark.parametrize(
    "kernel", ["rbf", "laplacian", "polynomial", "chi2", cauchy], ids=lambda kernel: getattr(kernel, "__name__", kernel)
)
def test_without_centering_inner_products_are_the_kernel_itself(kernel):
    component, Phi = _fitted(kernel, center=False)
    K, k = component.gram(X, X), component.gram(NEW, X)
    np.testing.assert_allclose(Phi @ Phi.T, K, atol=1e-9 * K.max())
    np.testing.assert_allclose(component.features(NEW) @ Phi.T, k, atol=1e-7 * K.max())


def test_the_detectors_center_reaches_the_kernel():
    detector = GESSVDD(gamma="scale", center=False, n_components=3, n_iter=0, random_state=0).fit(X)
    assert detector.kernel_.center is False
    assert detector.kernel_.mean_norm2_ == 0.0


@pytest.mark.parametrize("gamma", [1e-4, 1e-6, 1e-8])
def test_a_wide_kernel_has_no_features_that_are_rounding(gamma):
    # Its entries are near one and their rounding is what the centring leaves of its small eigenvalues.
    Phi, _ = RBF(gamma=gamma, energy=1.0).fit_features(X)
    values = np.sum(Phi**2, axis=0)
    assert len(values) >= 4  # x itself is always there: k ≈ 1 − gamma ‖x − y‖²
    assert values.min() > 50 * np.finfo(float).eps
    np.testing.assert_allclose(
        Phi @ Phi.T, oracle.centered_gram(pairwise.rbf_kernel(X, gamma=gamma)), atol=10 * len(X) * np.finfo(float).eps
    )


# What the training features miss --------------------------------------------------------------------------------------


@pytest.mark.parametrize("approximation", ["exact", "nystroem"])
@every_kernel
def test_what_the_training_features_miss_is_their_residual(kernel, gram, approximation):
    component = resolve("kernel", kernel).set_params(energy=0.9, approximation=approximation, n_landmarks=30)
    _, missed = component.fit_features(X)
    np.testing.assert_allclose(missed, component.residual(X), atol=1e-9 * max(1.0, np.abs(gram(X, X)).max()))


def test_a_kernel_with_a_residual_of_its_own_is_asked_for_it():
    assert Precomputed(energy=0.5).fit_features(pairwise.rbf_kernel(X, gamma=0.5))[1] is None
    assert OwnResidual(energy=0.5).fit_features(X)[1] is None
    detector = GESSVDD(kernel=OwnResidual(gamma=0.5), n_components=2, laplacian="none", standardize=False).fit(X)
    Phi = detector.kernel_.features(NEW)
    outside = np.sum((Phi - Phi @ detector.components_.T @ detector.components_) ** 2, axis=1)
    np.testing.assert_allclose(detector.transform(NEW)[:, -1] ** 2, outside + 0.25, rtol=1e-9)


class OwnResidual(RBF):
    """Whatever the features miss, it says a quarter."""

    def residual(self, X):
        return np.full(len(X), 0.25)

    def features_and_residual(self, X):
        return self.features(X), self.residual(X)


# Sample weights -----------------------------------------------------------------------------------------------------

WEIGHTS = np.arange(len(X)) % 3 + 1.0
REPEATED = np.repeat(X, WEIGHTS.astype(int), axis=0)

both_maps = pytest.mark.parametrize("approximation", ["exact", "nystroem"])


#: Uncentred, additive_chi2 has negative eigenvalues, which the landmarks' kernel drops: weights are not exact there.
WEIGHED = [
    pytest.param(kernel, approximation, id=f"{name}-{approximation}")
    for name, (kernel, _) in POSITIVE.items()
    for approximation in ("exact", "nystroem")
    if (name, approximation) != ("additive_chi2", "nystroem")
]


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize(("kernel", "approximation"), WEIGHED)
def test_weights_are_as_good_as_repeated_rows(kernel, approximation, center):
    def mapped(rows, weights):
        component = resolve("kernel", kernel).set_params(energy=0.999, approximation=approximation, center=center)
        component.set_params(n_landmarks=len(rows))
        return component, *component.fit_features(rows, weights)

    weighted, Phi, missed = mapped(X, WEIGHTS)
    repeated, Psi, missed_of_repeated = mapped(REPEATED, None)
    first = np.r_[0, np.cumsum(WEIGHTS.astype(int))[:-1]]
    scale = np.abs(Psi @ Psi.T).max()
    assert Phi.shape[1] == Psi.shape[1]
    np.testing.assert_allclose(Phi @ Phi.T, (Psi @ Psi.T)[np.ix_(first, first)], atol=1e-8 * scale)
    np.testing.assert_allclose(missed, missed_of_repeated[first], atol=1e-8 * scale)
    np.testing.assert_allclose(weighted.features(NEW) @ Phi.T, repeated.features(NEW) @ Psi[first].T, atol=1e-8 * scale)
    np.testing.assert_allclose(weighted.residual(NEW), repeated.residual(NEW), atol=1e-8 * scale)


@pytest.mark.parametrize("gamma", ["scale", "auto", "median"])
def test_a_width_counts_a_row_as_often_as_its_weight_says(gamma):
    expected = kernel_width(gamma, REPEATED, 0)
    assert kernel_width(gamma, X, 0, WEIGHTS) == pytest.approx(expected, rel=1e-12)
    if gamma != "auto":
        assert kernel_width(gamma, X, 0) != pytest.approx(expected, rel=1e-4)


def test_a_kernel_that_prepares_without_weights_keeps_its_weighted_map():
    Phi, _ = PreparesAlone(gamma=0.5).fit_features(X, WEIGHTS)
    np.testing.assert_array_equal(Phi, RBF(gamma=0.5).fit_features(X, WEIGHTS)[0])


class PreparesAlone(RBF):
    """A kernel of somebody else's, whose parameter does not depend on how often a row occurs."""

    def prepare(self, X):
        self.gamma_ = self.gamma


@both_maps
def test_weighted_features_have_a_weighted_mean_of_zero(approximation):
    Phi, _ = RBF(gamma=0.5, approximation=approximation, n_landmarks=20, random_state=0).fit_features(X, WEIGHTS)
    np.testing.assert_allclose(WEIGHTS @ Phi, 0.0, atol=1e-9)


# Precomputed and linear -------------------------------------------------------------------------------------------


def test_a_precomputed_kernel_gives_the_features_of_its_function():
    by_function = RBF(energy=1.0, gamma=0.5)
    by_matrix = Precomputed(energy=1.0)
    K, k = pairwise.rbf_kernel(X, gamma=0.5), pairwise.rbf_kernel(NEW, X, gamma=0.5)
    Phi, Psi = by_function.fit_features(X)[0], by_matrix.fit_features(K)[0]
    np.testing.assert_allclose(Psi @ Psi.T, Phi @ Phi.T, atol=1e-10)
    np.testing.assert_allclose(by_matrix.features(k) @ Psi.T, by_function.features(NEW) @ Phi.T, atol=1e-8)


def test_a_precomputed_kernel_leaves_the_matrix_unchanged():
    K = pairwise.rbf_kernel(X, gamma=0.5)
    before = K.copy()
    Precomputed().fit_features(K)
    np.testing.assert_array_equal(K, before)


def test_a_precomputed_kernel_must_be_square_at_fit():
    with pytest.raises(ValueError, match=r"must be a square matrix at fit, got shape \(5, 4\)"):
        Precomputed().fit(np.ones((5, 4)))


def test_a_precomputed_kernel_has_no_landmarks():
    with pytest.raises(ValueError, match="'precomputed' has no rows to take landmarks from; use approximation='exact'"):
        Precomputed(approximation="nystroem").fit(np.eye(5))


def test_a_precomputed_kernel_does_not_know_its_residual():
    K = pairwise.rbf_kernel(X, gamma=0.5)
    assert (Precomputed(energy=0.5).fit(K).residual(K) == 0).all()


def test_detectors_with_the_kernel_by_name_by_function_and_as_a_matrix_agree():
    # A precomputed kernel does not know its residual.
    params = {"n_components": 4, "standardize": False, "laplacian": "knn", "n_iter": 2, "residual": False}
    by_name = GESSVDD(kernel="polynomial(degree=2, gamma=0.1)", **params).fit(X)
    by_function = GESSVDD(kernel=lambda A, B: (0.1 * A @ B.T + 1.0) ** 2, **params).fit(X)
    by_matrix = GESSVDD(kernel="precomputed", **params).fit((0.1 * X @ X.T + 1.0) ** 2)
    expected = by_name.decision_function(NEW)
    np.testing.assert_allclose(by_function.decision_function(NEW), expected, rtol=1e-6)
    np.testing.assert_allclose(by_matrix.decision_function((0.1 * NEW @ X.T + 1.0) ** 2), expected, rtol=1e-6)


def test_the_linear_features_are_the_data():
    assert Linear().fit(X).features(NEW) is NEW
    assert (Linear().fit(X).residual(NEW) == 0).all()


@pytest.mark.parametrize("laplacian", ["none", "identity", "pca", "knn"])
def test_a_linear_function_through_the_projection_trick_scores_like_the_linear_kernel(laplacian):
    params = {"laplacian": laplacian, "standardize": False, "n_components": 2, "criterion": "min", "ridge": 0.0}
    params["trim"] = None  # which rows are trusted is told by a kernel as it is, and by features around their mean
    direct = GESSVDD(kernel="linear", **params).fit(X)
    tricked = GESSVDD(kernel=FunctionKernel(function=pairwise.linear_kernel, energy=1.0), **params).fit(X)
    np.testing.assert_allclose(tricked.decision_function(NEW), direct.decision_function(NEW), rtol=1e-6)


# The energy cut ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("approximation", ["exact", "nystroem"])
@pytest.mark.parametrize("energy", [0.5, 0.9, 0.99, 0.99999])
def test_the_fewest_eigenvalues_that_hold_the_energy_are_kept(energy, approximation):
    kernel = RBF(energy=energy, gamma=0.5, approximation=approximation, n_landmarks=len(X))
    n_features = kernel.fit_features(X)[0].shape[1]
    values = np.linalg.eigvalsh(oracle.centered_gram(pairwise.rbf_kernel(X, gamma=0.5)))[::-1]
    share = np.cumsum(values) / values.sum()
    assert share[n_features - 1] >= energy
    assert share[n_features - 2] < energy


def test_the_energy_counts_the_positive_eigenvalues_of_an_indefinite_kernel_only():
    kernel = resolve("kernel", "sigmoid(gamma=0.01, energy=0.9)")
    n_features = kernel.fit_features(X)[0].shape[1]
    values = np.linalg.eigvalsh(oracle.centered_gram(np.tanh(0.01 * X @ X.T)))[::-1]
    share = np.cumsum(values[values > 0]) / values[values > 0].sum()
    assert share[n_features - 1] >= 0.9
    assert n_features == 1 or share[n_features - 2] < 0.9


@pytest.mark.parametrize("energy", [0.0, -0.5, 1.01, float("nan")])
def test_the_energy_must_be_a_share(energy):
    with pytest.raises(ValueError, match=rf"energy must be in \(0, 1\], got {energy}"):
        RBF(energy=energy).fit(X)


# The Nyström map --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize(
    "kernel", ["rbf", "laplacian", "polynomial", "chi2", cauchy], ids=lambda kernel: getattr(kernel, "__name__", kernel)
)
def test_the_nystroem_map_on_all_rows_is_the_exact_map(kernel, center):
    exact, Phi = _fitted(kernel, center=center)
    nystroem, Psi = _fitted(kernel, center=center, approximation="nystroem", n_landmarks=len(X))
    scale = np.abs(Phi @ Phi.T).max()
    np.testing.assert_allclose(Psi @ Psi.T, Phi @ Phi.T, atol=1e-7 * scale)
    np.testing.assert_allclose(nystroem.features(NEW) @ Psi.T, exact.features(NEW) @ Phi.T, atol=1e-7 * scale)


def test_few_landmarks_give_the_kernel_of_the_nystroem_approximation():
    kernel = RBF(energy=1.0, gamma=0.5, approximation="nystroem", n_landmarks=12, random_state=0)
    Phi, _ = kernel.fit_features(X)
    assert kernel.landmarks_.shape == (12, 4)
    C = pairwise.rbf_kernel(X, kernel.landmarks_, gamma=0.5)
    W = pairwise.rbf_kernel(kernel.landmarks_, gamma=0.5)
    expected = oracle.centered_gram(C @ np.linalg.pinv(W, rcond=1e-12, hermitian=True) @ C.T)
    np.testing.assert_allclose(Phi @ Phi.T, expected, atol=1e-8)
    np.testing.assert_allclose(kernel.features(X), Phi, atol=1e-8)


def test_landmarks_are_training_rows_and_belong_to_the_seed():
    first, again, other = (
        RBF(approximation="nystroem", n_landmarks=10, random_state=seed).fit(X).landmarks_ for seed in (0, 0, 1)
    )
    assert {tuple(row) for row in first} <= {tuple(row) for row in X}
    assert (first == again).all()
    assert (first != other).any()


def test_more_landmarks_than_rows_are_all_rows():
    assert len(RBF(approximation="nystroem", n_landmarks=10_000).fit(X).landmarks_) == len(X)


@pytest.mark.parametrize("n_landmarks", [0, -3])
def test_there_must_be_a_landmark(n_landmarks):
    with pytest.raises(ValueError, match=f"n_landmarks must be at least 1, got {n_landmarks}"):
        RBF(approximation="nystroem", n_landmarks=n_landmarks).fit(X)


def test_auto_takes_landmarks_above_its_limit_and_all_rows_below(monkeypatch):
    monkeypatch.setattr(npt, "AUTO_EXACT", len(X))
    assert len(RBF(n_landmarks=7).fit(X).landmarks_) == len(X)
    monkeypatch.setattr(npt, "AUTO_EXACT", len(X) - 1)
    assert len(RBF(n_landmarks=7).fit(X).landmarks_) == 7


@pytest.mark.parametrize("kernel", [RBF(approximation="exact"), Precomputed()], ids=["rbf", "precomputed"])
def test_the_exact_map_of_too_many_rows_is_refused_with_the_name_of_the_other(kernel, monkeypatch):
    monkeypatch.setattr(npt, "MAX_EXACT", 10)
    with pytest.raises(ValueError, match=r"limited to 10 rows, got 11; .*nystroem"):
        kernel.fit(np.eye(11))


def test_an_unknown_approximation_is_refused():
    with pytest.raises(ValueError, match="must be 'auto', 'exact' or 'nystroem', got 'nystrom'"):
        RBF(approximation="nystrom").fit(X)


def test_the_landmarks_do_not_follow_later_edits_of_the_data():
    mine = X.copy()
    kernel = RBF().fit(mine)
    before = kernel.features(NEW)
    mine[:] = 0.0
    np.testing.assert_array_equal(kernel.features(NEW), before)


# The residual -----------------------------------------------------------------------------------------------------


@every_positive_kernel
@pytest.mark.parametrize("energy", [0.9, 1.0])
def test_the_residual_is_what_the_features_miss_of_the_centered_kernel(kernel, gram, energy):
    component, _ = _fitted(kernel, energy=energy)
    K = gram(X, X)
    expected = [
        oracle.residual(kxx, k, K, phi)
        for kxx, k, phi in zip(np.diag(gram(NEW, NEW)), gram(NEW, X), component.features(NEW), strict=True)
    ]
    np.testing.assert_allclose(component.residual(NEW), expected, atol=1e-8 * np.abs(K).max())


def test_the_residual_of_training_rows_is_zero_with_all_the_energy():
    kernel = RBF(energy=1.0, gamma=0.5).fit(X)
    np.testing.assert_allclose(kernel.residual(X), 0.0, atol=1e-9)


def test_without_centering_the_residual_is_that_of_the_kernel_itself():
    kernel = RBF(energy=0.9, gamma=0.5, center=False).fit(X)
    phi = kernel.features(NEW)
    np.testing.assert_allclose(kernel.residual(NEW), 1.0 - np.sum(phi**2, axis=1), atol=1e-12)


def test_the_residual_is_never_negative():
    rows = np.vstack([X, NEW, 100 * NEW])
    for approximation in ("exact", "nystroem"):
        kernel = RBF(approximation=approximation, n_landmarks=20, energy=1.0, random_state=0).fit(X)
        assert (kernel.residual(rows) >= 0).all()


def test_a_far_point_is_all_residual():
    kernel = RBF(energy=1.0, gamma=0.5, center=False).fit(X)
    np.testing.assert_allclose(kernel.residual(NEW + 1e3), 1.0, atol=1e-12)


# Widths -----------------------------------------------------------------------------------------------------------


def test_the_named_widths_are_as_documented():
    assert kernel_width("auto", X, None) == 1 / 4
    assert kernel_width("scale", X, None) == pytest.approx(1 / (4 * X.var()), rel=1e-12)
    squared = [np.sum((a - b) ** 2) for i, a in enumerate(X) for b in X[:i]]
    assert kernel_width("median", X, None) == pytest.approx(1 / np.median(squared), rel=1e-9)
    assert kernel_width(0.3, X, None) == 0.3


def test_the_median_of_many_rows_is_that_of_a_seeded_sample():
    rows = np.random.default_rng(0).normal(size=(3000, 2))
    width = kernel_width("median", rows, 0)
    assert width == kernel_width("median", rows, 0)
    assert width == pytest.approx(1 / (2 * 2 * np.log(2)), rel=0.1)  # ‖x − y‖² is 2 times chi-squared with 2 degrees


@pytest.mark.parametrize("gamma", ["scale", "median"])
def test_equal_rows_have_the_width_one(gamma):
    assert kernel_width(gamma, np.ones((5, 2)), None) == 1.0


@pytest.mark.parametrize("gamma", [0, -1.0, "wide", float("nan")])
def test_a_width_must_be_positive_or_one_of_the_names(gamma):
    with pytest.raises(ValueError, match=f"must be positive, 'scale', 'auto' or 'median', got {gamma!r}"):
        RBF(gamma=gamma).fit(X)


def test_sigma_is_the_papers_width():
    assert RBF(sigma=2.0).fit(X).gamma_ == 1 / 8


@pytest.mark.parametrize("sigma", [0.0, -2.0])
def test_sigma_must_be_positive(sigma):
    with pytest.raises(ValueError, match=f"sigma must be positive, got {sigma}"):
        RBF(sigma=sigma).fit(X)


def test_gamma_and_sigma_together_are_an_error():
    with pytest.raises(ValueError, match=r"give gamma or sigma, not both, got gamma=0\.5 and sigma=2\.0"):
        RBF(gamma=0.5, sigma=2.0).fit(X)


@pytest.mark.parametrize("width", [{"gamma": 0.05}, {"sigma": 3.0}, {"gamma": "median"}], ids=str)
def test_the_detectors_width_is_the_kernels(width):
    by_detector = GESSVDD(kernel="rbf", n_components=3, n_iter=0, random_state=0, **width).fit(X)
    by_kernel = GESSVDD(kernel=RBF(**width), n_components=3, n_iter=0, random_state=0).fit(X)
    assert by_detector.kernel_.gamma_ == by_kernel.kernel_.gamma_
    np.testing.assert_array_equal(by_detector.decision_scores_, by_kernel.decision_scores_)


@pytest.mark.parametrize("kernel", ["mixed", "linear"])
def test_a_sigma_that_the_kernel_does_not_have_is_refused(kernel):
    sentence = f"sigma is the width of kernel 'rbf', got 3.0; kernel '{kernel}' has none"
    with pytest.raises(ValueError, match=sentence):
        GESSVDD(kernel=kernel, sigma=3.0).fit(X)


def test_chi2_takes_the_detectors_gamma_or_one():
    assert resolve("kernel", "chi2").fit(X).gram(X[:1], X[1:2]) == pairwise.chi2_kernel(X[:1], X[1:2], gamma=1.0)
    detector = GESSVDD(kernel="chi2", gamma=0.3, standardize=False, n_components=3, n_iter=0).fit(X)
    assert detector.kernel_.gamma == 0.3
    assert Chi2(gamma=0.3).fit(X).gram(X[:1], X[1:2]) == detector.kernel_.gram(X[:1], X[1:2])


# Other people's kernels -------------------------------------------------------------------------------------------


class Broken(PairwiseKernel):
    """A kernel whose matrix is what the test says."""

    answer = np.ones((1, 1))

    def gram(self, X, Y):
        return self.answer


@pytest.mark.parametrize("approximation", ["exact", "nystroem"])
def test_a_kernel_matrix_of_the_wrong_shape_is_named(approximation, monkeypatch):
    monkeypatch.setattr(Broken, "answer", np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"kernel 'broken' returned a matrix of shape \(3, 2\); expected \(4, 4\)"):
        Broken(approximation=approximation).fit(np.eye(4))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_kernel_matrix_that_is_not_finite_is_named(value, monkeypatch):
    monkeypatch.setattr(Broken, "answer", np.full((4, 4), value))
    with pytest.raises(ValueError, match="kernel 'broken' returned NaN or infinite values"):
        Broken().fit(np.eye(4))


def test_landmarks_of_k_means_approximate_a_clustered_kernel_better_than_drawn_rows():
    random = np.random.default_rng(0)
    X = np.vstack([random.normal(size=(60, 3)) * 0.05 + center for center in random.normal(size=(12, 3)) * 5])
    exact = resolve("kernel", "rbf(gamma=0.5, approximation='exact', energy=1.0)")
    K = exact.fit_features(X)[0] @ exact.features(X).T

    def error(landmarks):
        kernel = resolve("kernel", f"rbf(gamma=0.5, approximation='nystroem', n_landmarks=12, landmarks={landmarks!r})")
        kernel.set_params(random_state=0, energy=1.0)
        Phi, _ = kernel.fit_features(X)
        assert len(kernel.landmarks_) == 12
        return np.abs(Phi @ Phi.T - K).max()

    assert error("kmeans") < error("uniform")


def test_an_unknown_kind_of_landmarks_is_an_error():
    kernel = resolve("kernel", "rbf(approximation='nystroem', landmarks='grid')")
    with pytest.raises(ValueError, match="landmarks must be 'uniform' or 'kmeans', got 'grid'"):
        kernel.fit(np.random.default_rng(0).normal(size=(20, 2)))


def test_no_more_than_max_features_are_kept_and_the_residual_holds_the_rest():
    kernel = resolve("kernel", "rbf(gamma=0.5, energy=1.0, max_features=3)")
    Phi, _ = kernel.fit_features(X)
    every, _ = _fitted("rbf(gamma=0.5)")
    assert Phi.shape[1] == 3
    np.testing.assert_allclose(Phi, every.features(X)[:, :3], atol=1e-10)
    missed = np.sum(every.features(NEW)[:, 3:] ** 2, axis=1) + every.residual(NEW)
    np.testing.assert_allclose(kernel.residual(NEW), missed, atol=1e-10)


@pytest.mark.parametrize("limit", [0, -1, 2.5, "many"])
def test_a_number_of_features_that_is_none_is_refused(limit):
    kernel = resolve("kernel", "rbf").set_params(max_features=limit)
    with pytest.raises(ValueError, match=f"max_features must be a positive integer or None, got {limit!r}"):
        kernel.fit(X)
