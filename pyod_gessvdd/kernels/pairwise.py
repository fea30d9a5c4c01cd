"""The kernel functions: scikit-learn's pairwise kernels, ``precomputed`` and any function, through the NPT map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.spatial.distance
from sklearn.metrics import pairwise
from sklearn.utils import check_random_state

from pyod_gessvdd.kernels.npt import PairwiseKernel
from pyod_gessvdd.linalg import column_means, drawn, rows_by_content, weighted_quantiles

Array = np.ndarray

#: The width of ``rbf`` unless one is given, as a share of ``"scale"``: wide. The paper's score measures distance inside
#: the subspace only, and under a narrow kernel a far row has a kernel vector near zero and lands next to the centre
#: (mean ROC-AUC over 20 ADBench sets, 30 components: 0.16 with "scale", 0.75 with 0.01, 0.79 with 0.003 of it).
DEFAULT_SHARE_OF_SCALE = 0.003
#: Rows whose distances give ``gamma="median"``.
MEDIAN_ROWS = 1000


def kernel_width(gamma: Any, X: Array, random_state: Any, sample_weight: Array | None = None) -> float:
    """The number that ``gamma`` stands for on the rows of X.

    ``"scale"`` is 1 / (D · Var(X)), ``"auto"`` is 1 / D, ``"median"`` is one over the median squared distance of up
    to 1,000 rows. A row of weight w counts as w equal rows.
    """
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma == "scale":
        variance = _variance(X, sample_weight)
        return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    if gamma == "median":
        if len(X) > MEDIAN_ROWS:
            rows = rows_by_content(X)[drawn(len(X), MEDIAN_ROWS, check_random_state(random_state))]
            X, sample_weight = X[rows], None if sample_weight is None else sample_weight[rows]
        median = _median_squared_distance(X, sample_weight)
        return 1.0 / median if median > 0 else 1.0
    if not isinstance(gamma, Real) or not float(gamma) > 0:
        raise ValueError(f"gamma must be positive, 'scale', 'auto' or 'median', got {gamma!r}")
    return float(gamma)


def _variance(X: Array, sample_weight: Array | None) -> float:
    """The variance of all numbers in X."""
    if sample_weight is None:
        return float(X.var())
    differences = X - column_means(X, sample_weight).mean()
    return float(column_means(differences**2, sample_weight).mean())


def _median_squared_distance(X: Array, sample_weight: Array | None) -> float:
    """The median over all pairs of rows; 0 without a pair."""
    pairs = np.triu_indices(len(X), 1)
    distances = pairwise.euclidean_distances(X, squared=True)[pairs]
    if sample_weight is None:
        return float(np.median(distances)) if distances.size else 0.0
    # Two rows are w_i · w_j pairs, and the copies of one row w_i (w_i − 1)/2 pairs at distance zero.
    counts = np.append(sample_weight[pairs[0]] * sample_weight[pairs[1]], sample_weight @ (sample_weight - 1.0) / 2)
    return float(weighted_quantiles(np.append(distances, 0.0), [0.5], np.maximum(counts, 0.0))[0])


def summed_differences(X: Array, Y: Array, weights: Array) -> Array:
    """Σ_l weights_il (x_i − y_l) for each row."""
    return weights.sum(axis=1, keepdims=True) * X - weights @ Y


def summed_signs(X: Array, Y: Array, weights: Array) -> Array:
    """Σ_l weights_il sign(x_i − y_l) for each row, and 0 for the sign of 0."""
    # Column by column: all at once would be an array of n × m × D.
    columns = zip(X.T, Y.T, strict=True)
    return np.column_stack([np.einsum("il,il->i", weights, np.sign(np.subtract.outer(x, y))) for x, y in columns])


@dataclass(kw_only=True, eq=False, repr=False)
class WidthKernel(PairwiseKernel):
    """A kernel with a width ``gamma``.

    Parameters
    ----------
    gamma : float, "scale", "auto" or "median", optional
        The width, see :func:`kernel_width`; the detector's ``gamma`` if None, else "scale".
    energy, approximation, n_landmarks, landmarks, center, random_state
        See :class:`~pyod_gessvdd.kernels.npt.PairwiseKernel`.
    """

    inherits: ClassVar[tuple[str, ...]] = ("gamma",)

    gamma: Any = None

    @property
    def learns_by_moments(self) -> bool:  # type: ignore[override]
        """Unless the width is a median of distances."""
        return not (isinstance(self.gamma, str) and self.gamma == "median")

    def prepare(self, X: Array, sample_weight: Array | None = None) -> None:
        """Find the width."""
        self.gamma_ = kernel_width("scale" if self.gamma is None else self.gamma, X, self.random_state, sample_weight)


@dataclass(kw_only=True, eq=False, repr=False)
class RBF(WidthKernel):
    """exp(−gamma ‖x − y‖²), the paper's kernel (eq. ``RBFkernel``).

    Parameters
    ----------
    gamma : float, "scale", "auto" or "median", optional
        The width, see :func:`kernel_width`; the detector's ``gamma`` if None, else 0.003 times "scale".
    sigma : float, optional
        The paper's width instead, gamma = 1 / (2 sigma²); the detector's ``sigma`` if None.
    energy, approximation, n_landmarks, landmarks, center, random_state
        See :class:`~pyod_gessvdd.kernels.npt.PairwiseKernel`.
    """

    name = "rbf"
    inherits = ("sigma",)
    differentiable = True

    sigma: float | None = None

    def prepare(self, X: Array, sample_weight: Array | None = None) -> None:
        """Find the width."""
        if self.sigma is None and self.gamma is None:
            self.gamma_ = DEFAULT_SHARE_OF_SCALE * kernel_width("scale", X, self.random_state, sample_weight)
            return
        if self.sigma is None:
            super().prepare(X, sample_weight)
            return
        if self.gamma is not None:
            raise ValueError(f"give gamma or sigma, not both, got gamma={self.gamma!r} and sigma={self.sigma!r}")
        if not isinstance(self.sigma, Real) or not self.sigma > 0:
            raise ValueError(f"sigma must be positive, got {self.sigma!r}")
        self.gamma_ = 1.0 / (2.0 * float(self.sigma) ** 2)

    def gram(self, X: Array, Y: Array) -> Array:
        """exp(−gamma ‖x − y‖²)."""
        return pairwise.rbf_kernel(X, Y, gamma=self.gamma_)

    def gram_diagonal(self, X: Array) -> Array:
        """One for every row."""
        return np.ones(len(X))

    def gram_pullback(self, X: Array, Y: Array, K: Array, weights: Array) -> Array:
        """−2 gamma Σ_l weights_il k(x_i, y_l) (x_i − y_l)."""
        return -2.0 * self.gamma_ * summed_differences(X, Y, weights * K)


class LaplacianKernel(WidthKernel):
    """exp(−gamma ‖x − y‖₁); unless given, gamma is "auto", 1 / D, which makes the exponent a mean over the columns."""

    name = "laplacian"
    differentiable = True

    def prepare(self, X: Array, sample_weight: Array | None = None) -> None:
        """Find the width."""
        self.gamma_ = kernel_width("auto" if self.gamma is None else self.gamma, X, self.random_state, sample_weight)

    def gram(self, X: Array, Y: Array) -> Array:
        """exp(−gamma ‖x − y‖₁)."""
        return pairwise.laplacian_kernel(X, Y, gamma=self.gamma_)

    def gram_diagonal(self, X: Array) -> Array:
        """One for every row."""
        return np.ones(len(X))

    def gram_pullback(self, X: Array, Y: Array, K: Array, weights: Array) -> Array:
        """−gamma Σ_l weights_il k(x_i, y_l) sign(x_i − y_l), and 0 for the sign of 0."""
        return -self.gamma_ * summed_signs(X, Y, weights * K)


class Exponential(WidthKernel):
    """exp(−gamma ‖x − y‖), the Matérn kernel of smoothness 1/2; "scale" is the root of what it is for the RBF."""

    name = "exponential"
    aliases = ("matern12",)
    differentiable = True

    def prepare(self, X: Array, sample_weight: Array | None = None) -> None:
        """Find the width, which here divides a distance and not its square."""
        super().prepare(X, sample_weight)
        if not isinstance(self.gamma, Real):
            self.gamma_ = float(np.sqrt(self.gamma_))

    def gram(self, X: Array, Y: Array) -> Array:
        """exp(−gamma ‖x − y‖)."""
        distances = self._scaled_distances(X, Y)
        return np.exp(np.negative(distances, out=distances), out=distances)

    def gram_diagonal(self, X: Array) -> Array:
        """One for every row."""
        return np.ones(len(X))

    def gram_pullback(self, X: Array, Y: Array, K: Array, weights: Array) -> Array:
        """−gamma Σ_l weights_il k(x_i, y_l) (x_i − y_l) / ‖x_i − y_l‖, and 0 at the cusp."""
        distances = self._scaled_distances(X, Y)
        weighted = np.divide(weights * K, distances, out=np.zeros_like(K), where=distances > 0)
        return -(self.gamma_**2) * summed_differences(X, Y, weighted)

    def _scaled_distances(self, X: Array, Y: Array) -> Array:
        # Not through ‖x‖² + ‖y‖² − 2xᵀy: near zero its rounding would show, as the kernel has a cusp there.
        distances: Array = scipy.spatial.distance.cdist(X, Y)
        distances *= self.gamma_
        return distances


class Matern(Exponential):
    """(1 + √3 gamma ‖x − y‖) exp(−√3 gamma ‖x − y‖), the Matérn kernel of smoothness 3/2."""

    name = "matern"
    aliases = ("matern32",)

    def gram(self, X: Array, Y: Array) -> Array:
        """(1 + √3 gamma ‖x − y‖) exp(−√3 gamma ‖x − y‖)."""
        distances = self._scaled_distances(X, Y)
        distances *= np.sqrt(3.0)
        return (1.0 + distances) * np.exp(-distances)

    def gram_pullback(self, X: Array, Y: Array, K: Array, weights: Array) -> Array:
        """−3 gamma² Σ_l weights_il exp(−√3 gamma ‖x_i − y_l‖) (x_i − y_l)."""
        decay = np.exp(-np.sqrt(3.0) * self._scaled_distances(X, Y))
        return -3.0 * self.gamma_**2 * summed_differences(X, Y, weights * decay)


@dataclass(kw_only=True, eq=False, repr=False)
class Polynomial(WidthKernel):
    """(gamma xᵀy + coef0)^degree."""

    name = "polynomial"
    aliases = ("poly",)

    degree: float = 3
    coef0: float = 1.0

    def gram(self, X: Array, Y: Array) -> Array:
        """(gamma xᵀy + coef0)^degree."""
        return pairwise.polynomial_kernel(X, Y, gamma=self.gamma_, degree=self.degree, coef0=self.coef0)

    def gram_diagonal(self, X: Array) -> Array:
        """(gamma ‖x‖² + coef0)^degree."""
        return (self.gamma_ * np.einsum("ij,ij->i", X, X) + self.coef0) ** self.degree


@dataclass(kw_only=True, eq=False, repr=False)
class Sigmoid(WidthKernel):
    """tanh(gamma xᵀy + coef0); not positive definite: the negative eigenvalues are left out, as in the paper."""

    name = "sigmoid"
    positive_definite = False

    coef0: float = 0.0

    def gram(self, X: Array, Y: Array) -> Array:
        """tanh(gamma xᵀy + coef0)."""
        return pairwise.sigmoid_kernel(X, Y, gamma=self.gamma_, coef0=self.coef0)

    def gram_diagonal(self, X: Array) -> Array:
        """tanh(gamma ‖x‖² + coef0)."""
        return np.tanh(self.gamma_ * np.einsum("ij,ij->i", X, X) + self.coef0)


class Cosine(PairwiseKernel):
    """xᵀy / (‖x‖ ‖y‖)."""

    name = "cosine"

    def gram(self, X: Array, Y: Array) -> Array:
        """xᵀy / (‖x‖ ‖y‖)."""
        return pairwise.cosine_similarity(X, Y)

    def gram_diagonal(self, X: Array) -> Array:
        """One for every row, zero for a row of zeros."""
        return X.any(axis=1).astype(float)


def _not_negative(kernel: PairwiseKernel, X: Array) -> Array:
    """The rows as a writable array: scikit-learn's compiled code does not accept read-only ones."""
    if X.min() < 0:
        raise ValueError(
            f"kernel {kernel.name!r} needs data that are not negative, such as counts, got {X.min():.6g}; "
            "use standardize=False, which leaves counts as they are, or another kernel"
        )
    return np.require(X, requirements="W")


@dataclass(kw_only=True, eq=False, repr=False)
class Chi2(PairwiseKernel):
    """exp(−gamma Σ (x − y)² / (x + y)) for data that are not negative: use ``standardize=False``."""

    name = "chi2"
    inherits = ("gamma",)
    needs_nonnegative = True

    gamma: float | None = None

    def gram(self, X: Array, Y: Array) -> Array:
        """exp(−gamma Σ (x − y)² / (x + y)), gamma 1 unless given."""
        X, Y = _not_negative(self, X), _not_negative(self, Y)
        return pairwise.chi2_kernel(X, Y, gamma=1.0 if self.gamma is None else self.gamma)

    def gram_diagonal(self, X: Array) -> Array:
        """One for every row."""
        return np.ones(len(X))


class AdditiveChi2(PairwiseKernel):
    """−Σ (x − y)² / (x + y) for data that are not negative: use ``standardize=False``."""

    name = "additive_chi2"
    needs_nonnegative = True
    needs_centring = True

    def gram(self, X: Array, Y: Array) -> Array:
        """−Σ (x − y)² / (x + y)."""
        return pairwise.additive_chi2_kernel(_not_negative(self, X), _not_negative(self, Y))

    def gram_diagonal(self, X: Array) -> Array:
        """Zero for every row."""
        return np.zeros(len(X))


class Precomputed(PairwiseKernel):
    """The kernel matrix itself: fit takes k(train, train), everything else k(rows, train).

    The residual needs k(x, x), which such a matrix does not hold for new rows, and is taken as zero.
    """

    name = "precomputed"
    exact_only = True
    input_is_rows = False

    def gram(self, X: Array, Y: Array) -> Array:
        """The given matrix."""
        return np.array(X)

    def prepare(self, X: Array, sample_weight: Array | None = None) -> None:
        """Check that the matrix is square."""
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"a precomputed kernel must be a square matrix at fit, got shape {X.shape}")

    def features_and_residual(self, X: Array) -> tuple[Array, Array]:
        """The features and zero: k(x, x) of new rows is not known."""
        return self.features(X), np.zeros(len(X))


@dataclass(kw_only=True, eq=False, repr=False)
class FunctionKernel(PairwiseKernel):
    """Any function ``f(X, Y)`` that returns the matrix k(x, y).

    Parameters
    ----------
    function : callable
        Takes arrays of shape (n, D) and (m, D), returns (n, m). A module-level function, so that models can be saved.
    energy, approximation, n_landmarks, landmarks, center, random_state
        See :class:`~pyod_gessvdd.kernels.npt.PairwiseKernel`.
    """

    name = "function"

    function: Callable[[Array, Array], Array] = field(default=pairwise.linear_kernel)

    def gram(self, X: Array, Y: Array) -> Array:
        """f(X, Y)."""
        return self.function(X, Y)


#: What the hook registers; a function is passed as it is and needs no name.
KERNELS = (
    RBF,
    LaplacianKernel,
    Exponential,
    Matern,
    Polynomial,
    Sigmoid,
    Cosine,
    Chi2,
    AdditiveChi2,
    Precomputed,
)
