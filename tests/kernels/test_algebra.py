"""Sums and products of kernels against the matrices that they stand for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.metrics import pairwise

from pyod_gessvdd import GESSVDD, SVDD, Kernel
from pyod_gessvdd.checks import check_kernel
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.errors import SpecError
from pyod_gessvdd.kernels.algebra import KernelProduct, KernelSum
from pyod_gessvdd.kernels.linear import Linear
from pyod_gessvdd.kernels.pairwise import RBF, AdditiveChi2, LaplacianKernel, Precomputed

RANDOM = np.random.default_rng(0)
X, NEW = RANDOM.normal(size=(40, 3)), RANDOM.normal(size=(9, 3))


def rbf(A, B):
    return pairwise.rbf_kernel(A, B, gamma=0.4)


def laplacian(A, B):
    return pairwise.laplacian_kernel(A, B, gamma=0.3)


def linear(A, B):
    return A @ B.T


#: Spec string → k(x, y) by scikit-learn.
SPECS = {
    "0.5*rbf(gamma=0.4) + 0.5*laplacian(gamma=0.3)": lambda A, B: (rbf(A, B) + laplacian(A, B)) / 2,
    "rbf(gamma=0.4)*linear": lambda A, B: rbf(A, B) * linear(A, B),
    "0.25*rbf(gamma=0.4)": lambda A, B: rbf(A, B) / 4,
    "rbf(gamma=0.4)*0.5*linear*2": lambda A, B: rbf(A, B) * linear(A, B),
    "0.3*(rbf(gamma=0.4) + 2*laplacian(gamma=0.3))*linear": lambda A, B: (
        0.3 * (rbf(A, B) + 2 * laplacian(A, B)) * linear(A, B)
    ),
    "linear + 0.1*linear*linear + rbf(gamma=0.4)": lambda A, B: linear(A, B) + 0.1 * linear(A, B) ** 2 + rbf(A, B),
    "exponential(gamma=0.5)*cosine + polynomial(gamma=0.2)": lambda A, B: (
        np.exp(-0.5 * pairwise.euclidean_distances(A, B)) * pairwise.cosine_similarity(A, B) + (0.2 * A @ B.T + 1) ** 3
    ),
}
SMOOTH = [spec for spec in SPECS if "cosine" not in spec]


@pytest.mark.parametrize("spec", SPECS)
def test_gram_is_that_of_the_formula(spec):
    kernel = resolve("kernel", spec).fit(X)
    assert_allclose(kernel.gram(NEW, X), SPECS[spec](NEW, X), rtol=1e-10, atol=1e-12)
    assert_allclose(kernel.gram_diagonal(X), np.diag(SPECS[spec](X, X)), rtol=1e-7)


@pytest.mark.parametrize("spec", SPECS)
def test_a_compound_keeps_the_contract(spec):
    for check in check_kernel(resolve("kernel", spec)):
        check()


@pytest.mark.parametrize("spec", SMOOTH)
def test_the_pullbacks_agree_with_finite_differences(spec):
    kernel, h = resolve("kernel", spec).fit(X), 1e-6
    weights, along = RANDOM.normal(size=(len(NEW), len(X))), RANDOM.normal(size=len(NEW))
    by_rows = kernel.gram_pullback(NEW, X, kernel.gram(NEW, X), weights)
    by_diagonal = kernel.gram_diagonal_pullback(NEW, along)
    for column in range(3):
        step = h * (np.arange(3) == column)
        difference = (kernel.gram(NEW + step, X) - kernel.gram(NEW - step, X)) / (2 * h)
        assert_allclose(by_rows[:, column], (weights * difference).sum(axis=1), rtol=1e-5, atol=1e-7)
        difference = (kernel.gram_diagonal(NEW + step) - kernel.gram_diagonal(NEW - step)) / (2 * h)
        assert_allclose(by_diagonal[:, column], along * difference, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("params", [{}, {"n_components": 3, "n_iter": 1}], ids=["whole space", "subspace"])
@pytest.mark.parametrize("spec", SMOOTH)
def test_the_gradient_of_a_score_agrees_with_finite_differences(spec, params):
    detector = GESSVDD(kernel=spec, standardize=False, random_state=0, **params).fit(X)
    description, h = detector.description_, 1e-6
    assert detector.kernel_.differentiable
    found = description.gradient_of_scaled(NEW)
    for column in range(3):
        step = h * (np.arange(3) == column)
        difference = (description.scores_of_scaled(NEW + step) - description.scores_of_scaled(NEW - step)) / (2 * h)
        assert_allclose(found[:, column], difference, rtol=1e-4, atol=1e-5 * np.abs(difference).max())


@pytest.mark.parametrize("spec", ["0.5*rbf(gamma=0.4) + 0.5*laplacian(gamma=0.3)", "rbf(gamma=0.4)*linear"])
def test_a_compound_scores_as_the_precomputed_matrix_does(spec):
    params = {"standardize": False, "n_components": 3, "n_iter": 2, "residual": False, "random_state": 0}
    by_spec = GESSVDD(kernel=spec, **params).fit(X)
    by_matrix = GESSVDD(kernel="precomputed", **params).fit(SPECS[spec](X, X))
    assert_allclose(by_spec.decision_function(NEW), by_matrix.decision_function(SPECS[spec](NEW, X)), rtol=1e-6)


def test_a_sum_of_kernels_describes_its_whole_space():
    by_spec = GESSVDD(kernel="0.5*rbf(gamma=0.4) + 0.5*laplacian(gamma=0.3)", standardize=False, random_state=0).fit(X)
    by_function = GESSVDD(
        kernel=SPECS["0.5*rbf(gamma=0.4) + 0.5*laplacian(gamma=0.3)"], standardize=False, random_state=0
    ).fit(X)
    assert not hasattr(by_spec, "components_")
    assert_allclose(by_spec.decision_function(NEW), by_function.decision_function(NEW), rtol=1e-9)


@pytest.mark.parametrize("novelty", [False, True])
def test_mixed_is_a_sum_for_one_view(novelty):
    # Without trust, for which mixed has a kernel of its own.
    params = {"standardize": "signed_log", "novelty": novelty, "trim": None, "random_state": 0}
    mixed = GESSVDD(kernel="mixed(gamma=0.4)", **params).fit(X)
    as_sum = GESSVDD(kernel="0.5*laplacian(gamma=0.2) + 0.5*rbf(gamma=0.4)", **params).fit(X)
    assert_allclose(mixed.decision_scores_, as_sum.decision_scores_, rtol=1e-8)
    assert_allclose(mixed.decision_function(NEW), as_sum.decision_function(NEW), rtol=1e-8)


def test_terms_and_factors_are_flat():
    found = resolve("kernel", "0.5*(rbf + 0.2*laplacian) + linear*cosine*rbf")
    assert isinstance(found, KernelSum)
    assert [type(kernel).__name__ for kernel in found.kernels] == ["RBF", "LaplacianKernel", "KernelProduct"]
    assert found.weights == [0.5, 0.1, 1.0]
    assert len(found.kernels[2].kernels) == 3


def test_the_kernels_ask_the_detector_for_what_they_ask_alone():
    detector = SVDD(kernel="rbf + laplacian*mixed", gamma=0.7, standardize=False).fit(X)
    first, product = detector.kernel_.parts_
    assert first.gamma_ == product.parts_[0].gamma_ == product.parts_[1].gamma_ == 0.7
    assert SVDD(kernel="rbf + linear", sigma=2.0).fit(X).kernel_.parts_[0].gamma_ == 1 / 8
    with pytest.raises(ValueError, match=r"sigma is the width of kernel 'rbf', got 2\.0; kernel 'sum' has none"):
        SVDD(kernel="laplacian + linear", sigma=2.0).fit(X)


def test_what_the_user_has_given_stays_as_it_is():
    kernel = KernelSum([RBF(), LaplacianKernel()])
    detector = GESSVDD(kernel=kernel, gamma=0.2, random_state=0).fit(X)
    assert kernel.kernels[0].gamma is None
    assert detector.kernel_.parts_[1].gamma_ == 0.2
    assert_allclose(clone(detector).fit(X).decision_scores_, detector.decision_scores_)


def test_weights_of_rows_are_as_good_as_repeated_rows():
    weights = np.arange(len(X)) % 3 + 1.0
    by_weight, by_rows = (resolve("kernel", "rbf(gamma='scale') + laplacian") for _ in range(2))
    by_weight.fit_features(X, weights)
    by_rows.fit_features(np.repeat(X, weights.astype(int), axis=0))
    inner = [kernel.features(NEW) @ kernel.features(NEW).T for kernel in (by_weight, by_rows)]
    assert_allclose(inner[0], inner[1], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("rbf - linear", "cannot read 'rbf - linear' in the kernel 'rbf - linear'; sums and products are written"),
        ("rbf + 'x'", "cannot read \"'x'\" in the kernel"),
        ("2 + rbf", "cannot read '2' in the kernel '2 \\+ rbf'"),
    ],
)
def test_what_is_no_sum_or_product_is_refused(spec, message):
    with pytest.raises(SpecError, match=message):
        resolve("kernel", spec)


class Fourier(Kernel):
    """Features without a function of two rows."""

    def features(self, X):
        return np.cos(X)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (KernelSum([RBF()], [-1.0]), r"the weights of a sum of kernels must be positive, got \[-1.0\]"),
        (KernelSum([RBF()], [1.0, 2.0]), "got 1 kernels and 2 weights; give one weight per kernel"),
        (KernelSum(), "a sum of kernels needs at least one kernel, got none"),
        (
            KernelProduct([RBF(), Precomputed()]),
            "kernel 'precomputed' is a matrix, not a function of rows; add up the matrices themselves",
        ),
        (
            KernelProduct([RBF(), Fourier()]),
            r"kernel 'fourier' has no gram\(X, Y\) and cannot be part of a product of kernels",
        ),
        (
            KernelProduct([AdditiveChi2(), Linear()]),
            "kernel 'additive_chi2' is positive definite after centring only and cannot be part of a product",
        ),
    ],
)
def test_kernels_that_cannot_be_combined_are_named(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernel.fit(np.abs(X))
