"""The non-linear projection trick: features whose inner products are the centred kernel (paper eqs. ``eigen`` ff.).

Exact, with every training row as a landmark, it is centred kernel PCA. With fewer landmarks it is the same map built
on the Nyström approximation of the kernel; the two agree when all rows are landmarks. Either way a row costs one
kernel vector against the landmarks and one matrix product:  φ(x) = k(x, landmarks) · map − offset.
"""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from inspect import signature
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
from sklearn.utils import check_random_state

from pyod_gessvdd.components.contracts import Kernel
from pyod_gessvdd.components.validation import real_array
from pyod_gessvdd.errors import ComponentError
from pyod_gessvdd.linalg import TILE, drawn, k_means, orientation, row_blocks, rows_by_content

Array = np.ndarray

#: The largest N whose exact map is computed: an N × N kernel of 800 MB and its eigendecomposition.
MAX_EXACT = 10_000
#: ``approximation="auto"`` uses the exact map up to this N (a few seconds), landmarks above.
AUTO_EXACT = 2000
#: Landmarks unless given, up to MAX_EXACT rows and above, where every one of them costs more.
LANDMARKS, FEWER_LANDMARKS = 1000, 500
#: The share of the eigenvalues that is kept when neither the kernel nor the detector specifies it.
DEFAULT_ENERGY = 0.99
#: Eigenvalues of the landmarks' kernel below this share of the largest are rounding.
RANK_TOLERANCE = 1e-12


@dataclass(kw_only=True, eq=False, repr=False)
class PairwiseKernel(Kernel):
    """A kernel given by its function k(x, y): implement :meth:`gram`, and the NPT map comes with it.

    Parameters
    ----------
    energy : float, optional
        The share of the sum of the kernel's eigenvalues to keep; if None, the detector's ``energy`` if it has one, else
        0.99.
    approximation : {"auto", "exact", "nystroem"}, default="auto"
        The exact map needs an N × N kernel matrix and is refused above 10,000 rows; "auto" uses it up to 2,000 rows
        and the Nyström map above.
    n_landmarks : int, optional
        The number of points that the Nyström map rests on; unless given, 1,000, or 500 above 10,000 rows.
    landmarks : {"uniform", "kmeans"}, default="uniform"
        Rows drawn at random, or the centres of k-means, which take longer and are more accurate.
    max_features : int or None, default=1000
        The largest number of features to keep, whatever the energy; what they miss of a row is in the residual.
    center : bool, optional
        Whether the kernel is centred by the training mean; the detector's ``center`` if None.
    random_state : int, RandomState or None
        Seeds the draw of the landmarks; the detector's if None.
    """

    #: Whether only the exact map exists, as for a precomputed kernel, which has no rows to draw landmarks from.
    exact_only: ClassVar[bool] = False
    #: Whether k is positive definite only after centring, as a negative squared distance is.
    needs_centring: ClassVar[bool] = False
    #: A kernel is differentiable if it has :meth:`gram_pullback` and, unless k(x, x) is the same for every x,
    #: :meth:`gram_diagonal_pullback` too.
    differentiable: ClassVar[bool] = False
    supports_sample_weight = True
    inherits: ClassVar[tuple[str, ...]] = ("energy", "center", "random_state")

    energy: float | None = None
    approximation: str = "auto"
    n_landmarks: int | None = None
    landmarks: str = "uniform"
    max_features: int | None = 1000
    center: bool | None = None
    random_state: Any = None

    @abstractmethod
    def gram(self, X: Array, Y: Array) -> Array:
        """k(x, y) for all pairs of rows, of shape (len(X), len(Y))."""

    def gram_diagonal(self, X: Array) -> Array:
        """k(x, x) for each row."""
        # In small blocks: a call per row would cost more than the unneeded pairs.
        blocks = (X[start : start + TILE] for start in range(0, len(X), TILE))
        return np.concatenate([np.diagonal(self.gram(block, block)) for block in blocks])

    def gram_pullback(self, X: Array, Y: Array, K: Array, weights: Array) -> Array:
        """Σ_l weights_il ∂k(x_i, y_l)/∂x_i for each row, of shape (len(X), D), with K = ``gram(X, Y)``."""
        raise NotImplementedError(f"kernel {self.name!r} has no derivative")

    def gram_diagonal_pullback(self, X: Array, weights: Array) -> Array:
        """weights_i ∂k(x_i, x_i)/∂x_i for each row, of shape (len(X), D); zero unless overridden."""
        return np.zeros_like(X)

    def prepare(self, X: Array, sample_weight: Array | None = None) -> None:
        """Learn what :meth:`gram` needs from the training rows, for instance a width; called before it.

        An override that ignores weights leaves them out of its signature.
        """

    def prepare_weighted(self, X: Array, sample_weight: Array | None) -> None:
        """``prepare``, with the sample weights if there are any and it takes them: what the host calls."""
        if sample_weight is not None and "sample_weight" in signature(self.prepare).parameters:
            self.prepare(X, sample_weight=sample_weight)
        else:
            self.prepare(X)

    def fit(self, X: Array) -> PairwiseKernel:
        """Learn the map from the training rows."""
        self.fit_features(X)
        return self

    def fit_features(self, X: Array, sample_weight: Array | None = None) -> tuple[Array, Array | None]:
        """Learn the map and return the training features, of shape (N, F), and what they miss, of shape (N,).

        The latter comes for free: another pass would compute all kernel vectors again. It is None where a subclass has
        a residual of its own.
        """
        self.check_limits()
        self.prepare_weighted(X, sample_weight)
        fit = self._fit_exact if self.is_exact(len(X)) else self._fit_nystroem
        features, missed = fit(X, sample_weight)
        return features, missed if self._keeps_own_residual() else None

    def check_limits(self) -> None:
        """Raise the errors about ``energy`` and ``max_features``."""
        if self.energy is not None and not (isinstance(self.energy, Real) and 0.0 < self.energy <= 1.0):
            raise ValueError(f"energy must be in (0, 1], got {self.energy!r}")
        limit = self.max_features
        if limit is not None and not (isinstance(limit, Integral) and limit >= 1):
            raise ValueError(f"max_features must be a positive integer or None, got {limit!r}")

    @property
    def learns_by_moments(self) -> bool:  # type: ignore[override]
        """Whether nothing is prepared; a kernel with a width overrides it."""
        return type(self).prepare is PairwiseKernel.prepare

    @property
    def has_whole_space(self) -> bool:
        """Whether the kernel's matrices can be factored as they are, and its rows are rows of data."""
        return self.input_is_rows and self.positive_definite and not self.needs_centring

    def row_cost(self, n_columns: int) -> int:
        """A row has one kernel value per landmark."""
        return max(n_columns, len(self.landmarks_))

    def features(self, X: Array) -> Array:
        """φ(x) of each row (paper eq. ``npttest``)."""
        return self.gram(X, self.landmarks_) @ self.map_ - self.offset_

    def residual(self, X: Array) -> Array:
        """k̂(x, x) − ‖φ(x)‖²: the part of each row outside the span of the features."""
        return self.features_and_residual(X)[1]

    def features_and_residual(self, X: Array) -> tuple[Array, Array]:
        """Both from one kernel vector per row; a subclass with its own residual overrides this."""
        return self._from_gram(self.gram(X, self.landmarks_), X)

    def features_residual_and_pullback(self, X: Array) -> tuple[Array, Array, Callable[[Array, Array], Array]]:
        """Features and residual, and a function that maps a gradient in them back to the gradient in the rows."""
        k = self.gram(X, self.landmarks_)
        phi, missed = self._from_gram(k, X)

        def pullback(by_features: Array, by_missed: Array) -> Array:
            by_diagonal = np.where(missed > 0, by_missed, 0.0)  # what is rounded to zero does not change
            by_missed = by_diagonal[:, None]
            weights = (by_features - 2.0 * by_missed * phi) @ self.map_.T - 2.0 * by_missed * self.mean_map_
            by_rows = self.gram_pullback(X, self.landmarks_, k, weights)
            return by_rows + self.gram_diagonal_pullback(X, by_diagonal)

        return phi, missed, pullback

    def _from_gram(self, k: Array, X: Array) -> tuple[Array, Array]:
        phi = k @ self.map_ - self.offset_
        centred = self.gram_diagonal(X) - 2.0 * (k @ self.mean_map_) + self.mean_norm2_
        return phi, self._missed(centred, phi)

    def _missed(self, centred: Array, phi: Array) -> Array:
        missed = centred - np.einsum("ij,ij->i", phi, phi)
        # Its square root is a coordinate, where rounding would be seven digits larger than anywhere else.
        return np.where(missed > self.rounding_, missed, 0.0)

    def _keeps_own_residual(self) -> bool:
        cls = type(self)
        return (
            cls.residual is PairwiseKernel.residual
            and cls.features_and_residual is PairwiseKernel.features_and_residual
        )

    def is_exact(self, N: int) -> bool:
        """Whether the map of this many rows is exact; errors about ``approximation`` are raised here."""
        if self.approximation not in ("auto", "exact", "nystroem"):
            raise ValueError(f"approximation must be 'auto', 'exact' or 'nystroem', got {self.approximation!r}")
        if self.approximation == "nystroem" and self.exact_only:
            raise ValueError(f"kernel {self.name!r} has no rows to take landmarks from; use approximation='exact'")
        exact = self.exact_only or (self.approximation == "exact" or (self.approximation == "auto" and N <= AUTO_EXACT))
        if exact and N > MAX_EXACT:
            raise ValueError(
                f"the exact NPT map needs an N × N kernel matrix and is limited to {MAX_EXACT} rows, got {N}; "
                "use approximation='nystroem'"
            )
        return exact

    def _fit_exact(self, X: Array, sample_weight: Array | None) -> tuple[Array, Array]:
        """Eigendecomposition of the centred kernel matrix (paper eqs. ``centerK``-``nptdata``).

        With weights w, that of diag(√w) K diag(√w), whose eigenvectors hold √w_i φ_i: as if row i occurred w_i times.
        """
        N = len(X)
        # A copy: the landmarks must not change when the caller edits the array later.
        self.landmarks_ = np.array(X)
        K = self._checked(self.gram(X, self.landmarks_), N, N)
        # Before the centring: what it leaves of a wide kernel is small compared with the rounding of its entries.
        rounding = 4 * N * np.finfo(float).eps * float(max(K.max(), -K.min()))
        share = np.full(N, 1.0 / N) if sample_weight is None else sample_weight / sample_weight.sum()
        if self._centers():
            self.mean_map_ = share
            column_means = share @ K
            self.mean_norm2_ = float(share @ column_means)
            K -= column_means
            K -= column_means[:, None]
            K += self.mean_norm2_
        else:
            self.mean_map_, column_means, self.mean_norm2_ = np.zeros(N), np.zeros(N), 0.0
        centred = np.diag(K).copy()
        root = None if sample_weight is None else np.sqrt(sample_weight)[:, None]
        if root is not None:
            K *= root
            K *= root.T
        eigenvalues, U = scipy.linalg.eigh(K, overwrite_a=True, driver="evd")
        # What the cut-off drops of a training row even with all the energy.
        self.rounding_ = max(RANK_TOLERANCE * float(eigenvalues[-1]), rounding)
        eigenvalues, U = self._leading(eigenvalues, U, rounding)
        # From here on U holds φ_i/√λ: the map uses that times the weight.
        weight: Any = 1.0
        if root is not None:
            U /= root
            weight = root**2
        if self._centers():
            # Orthogonal to 1 up to rounding, which the uncentred kernel vectors of new rows would amplify.
            U -= share @ U
        U *= orientation(U)
        self.map_ = weight * U / np.sqrt(eigenvalues)
        self.offset_ = column_means @ self.map_
        U *= np.sqrt(eigenvalues)
        return U, self._missed(centred, U)

    def _fit_nystroem(self, X: Array, sample_weight: Array | None) -> tuple[Array, Array]:
        """The same map on the Nyström approximation: landmarks' features, centred over all rows, rotated, truncated.

        Two passes over the rows, so that only N × F numbers are kept.
        """
        landmarks = self._draw_landmarks(X)

        def total(sums_of: Callable[[Array, Array], LandmarkSums]) -> LandmarkSums:
            blocks = row_blocks(len(X), len(landmarks))
            weights = np.ones(len(X)) if sample_weight is None else sample_weight
            return reduce(operator.add, (sums_of(X[rows], weights[rows]) for rows in blocks))

        self.learn_map(landmarks, total)
        blocks = [self.features_and_residual(X[rows]) for rows in row_blocks(len(X), len(landmarks))]
        features = np.vstack([phi for phi, _ in blocks])
        signs = orientation(features)
        features *= signs
        self.turn(signs)
        return features, np.concatenate([missed for _, missed in blocks])

    def learn_map(
        self,
        landmarks: Array,
        total: Callable[[Callable[[Array, Array], LandmarkSums]], LandmarkSums],
    ) -> None:
        """The Nyström map of some landmarks, from sums over all rows; the signs of its features are left open.

        Parameters
        ----------
        landmarks : ndarray of shape (m, D)
            The landmarks.
        total : callable
            Maps a function of a block of rows and their weights to the sum of its results over all blocks.
        """
        self.landmarks_ = landmarks
        m = len(landmarks)
        K = self._checked(self.gram(landmarks, landmarks), m, m)
        eigenvalues, U = scipy.linalg.eigh(K)
        self.rounding_ = RANK_TOLERANCE * float(eigenvalues.max())
        keep = eigenvalues > self.rounding_
        whiten = U[:, keep] / np.sqrt(eigenvalues[keep])
        # Around the landmarks' mean: under a wide kernel all rows look much like it, and their differences must keep
        # their digits.
        shift = K.mean(axis=0) @ whiten if self._centers() else np.zeros(whiten.shape[1])
        sums = total(_ByLandmarks(self, whiten, shift))
        moved = sums.total / sums.weight if self._centers() else np.zeros(len(shift))
        mean = shift + moved
        _, V = self._leading(*scipy.linalg.eigh(sums.scatter - sums.weight * np.outer(moved, moved)))
        self.map_ = whiten @ V
        self.offset_ = mean @ V
        self.mean_map_ = whiten @ mean
        self.mean_norm2_ = float(mean @ mean)

    def turn(self, signs: Array) -> None:
        """Change the signs of features; the caller, who has the rows, makes each one's largest entry positive."""
        self.map_ *= signs
        self.offset_ *= signs

    def checked_gram(self, X: Array) -> Array:
        """K of all pairs of rows of X, checked to be a symmetric matrix of finite numbers."""
        return self._checked(self.gram(X, X), len(X), len(X))

    def landmark_places(self, X: Array) -> Array:
        """The indices of ``n_landmarks`` rows drawn at random, ordered by content."""
        ranks = drawn(len(X), self.landmark_count(len(X)), check_random_state(self.random_state))
        return rows_by_content(X)[ranks]

    def landmark_count(self, n_rows: int) -> int:
        """The number of landmarks for so many rows; errors about ``n_landmarks`` and ``landmarks`` are raised here."""
        if self.landmarks not in ("uniform", "kmeans"):
            raise ValueError(f"landmarks must be 'uniform' or 'kmeans', got {self.landmarks!r}")
        count = (FEWER_LANDMARKS if n_rows > MAX_EXACT else LANDMARKS) if self.n_landmarks is None else self.n_landmarks
        if not isinstance(count, Integral) or count < 1:
            raise ValueError(f"n_landmarks must be at least 1, got {count!r}; give a whole number of rows")
        return min(int(count), n_rows)

    def _draw_landmarks(self, X: Array) -> Array:
        """Rows drawn at random, or the centres of k-means; ordered by content either way."""
        places = self.landmark_places(X)
        if self.landmarks == "kmeans" and len(places) < len(X):
            return k_means(X, len(places), check_random_state(self.random_state)).cluster_centers_
        return X[places]

    def _leading(self, eigenvalues: Array, vectors: Array, rounding: float = 0.0) -> tuple[Array, Array]:
        """The positive eigenvalues, largest first, up to ``energy`` of their sum and ``max_features`` of them."""
        order = np.argsort(-eigenvalues, kind="stable")
        order = order[eigenvalues[order] > max(RANK_TOLERANCE * eigenvalues[order[0]], rounding)]
        share = np.cumsum(eigenvalues[order])
        energy = DEFAULT_ENERGY if self.energy is None else self.energy
        count = int(np.searchsorted(share, energy * share[-1] * (1 - 1e-12))) + 1 if order.size else 0
        if self.max_features is not None:
            count = min(count, self.max_features)
        return eigenvalues[order[:count]], vectors[:, order[:count]]

    def _centers(self) -> bool:
        return True if self.center is None else self.center

    def _checked(self, K: Any, n_rows: int, n_columns: int) -> Array:
        who = f"kernel {self.name!r}"
        K = real_array(K, who)
        if K.shape != (n_rows, n_columns):
            raise ComponentError(f"{who} returned a matrix of shape {K.shape}; expected ({n_rows}, {n_columns})")
        if not np.isfinite(K).all():
            raise ComponentError(f"{who} returned NaN or infinite values")
        if n_rows == n_columns:
            # In blocks: the matrix may be as large as memory allows.
            difference = max(float(np.abs(K[rows] - K[:, rows].T).max()) for rows in row_blocks(n_rows, n_rows))
            if difference > 1e-8 * max(K.max(), -K.min()):
                raise ComponentError(
                    f"{who} returned a matrix that is not symmetric: |K − Kᵀ| reaches {difference:.3g}"
                )
        return K


@dataclass(frozen=True, eq=False)
class LandmarkSums:
    """What the Nyström map needs from all rows.

    Attributes
    ----------
    weight : float
        How many rows there are, or the sum of their weights.
    total, scatter : ndarray of shape (F,) and (F, F)
        The sums of their features, and of the features' products.
    """

    weight: float
    total: Array
    scatter: Array

    def __add__(self, other: LandmarkSums) -> LandmarkSums:
        return LandmarkSums(self.weight + other.weight, self.total + other.total, self.scatter + other.scatter)


class _ByLandmarks:
    """The sums of one block."""

    def __init__(self, kernel: PairwiseKernel, whiten: Array, shift: Array) -> None:
        self.kernel, self.whiten, self.shift = kernel, whiten, shift

    def __call__(self, X: Array, weights: Array) -> LandmarkSums:
        block = self.kernel.gram(X, self.kernel.landmarks_) @ self.whiten - self.shift
        weighted = block if (weights == 1.0).all() else weights[:, None] * block
        return LandmarkSums(float(weights.sum()), weights @ block, block.T @ weighted)
