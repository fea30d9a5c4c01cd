"""From rows to features: scaling, kernel, centring, and what the features miss; learnt once, applied in blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyod_gessvdd import progress
from pyod_gessvdd.components.contracts import Kernel
from pyod_gessvdd.components.validation import check_features, check_fit_features, check_residual, names_the_writer
from pyod_gessvdd.errors import warn
from pyod_gessvdd.linalg import RELATIVE_ZERO, column_means, map_blocks, means_and_square, read_only, shift_rows
from pyod_gessvdd.preprocessing import Scaling

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """x ↦ φ(x) − mean, and k̂(x, x) − ‖φ(x)‖², what the features miss of the row.

    Attributes
    ----------
    scaling : Scaling
        Applied to the columns first.
    kernel : Kernel
        The fitted kernel.
    mean : ndarray of shape (F,) or None
        The training mean of the features; None where it is already zero or not subtracted.
    n_features : int
        F.
    counts_missed : bool
        Whether to compute what the features miss; if not, no time is spent on it.
    """

    scaling: Scaling
    kernel: Kernel
    mean: Array | None
    n_features: int
    counts_missed: bool

    @classmethod
    def learn(
        cls,
        X: Array,
        kernel: Kernel,
        *,
        center: bool,
        standardize: bool | str,
        counts_missed: bool = False,
        sample_weight: Array | None = None,
    ) -> tuple[FeatureMap, Array, Array | None]:
        """The map, the training rows' centred features Φ of shape (N, F), and what they miss of each row, or None.

        Parameters
        ----------
        X : ndarray of shape (N, D)
            The training rows.
        kernel : Kernel
            Fitted here.
        center : bool
            Whether the features are centred by their training mean.
        standardize : bool or str
            See :class:`~pyod_gessvdd.preprocessing.Scaling`; a kernel matrix is left as it is.
        counts_missed : bool, default=False
            Whether what the features miss counts.
        sample_weight : ndarray of shape (N,), optional
            Positive weights of the rows.
        """
        progress.stage("scaling")
        scaling = learn_scaling(X, kernel, center=center, standardize=standardize, sample_weight=sample_weight)
        scaled = scaling.apply(X)
        if sample_weight is not None and not kernel.supports_sample_weight:
            warn(f"kernel {kernel.name!r} ignores sample weights: its features are learnt from every row equally")
        progress.stage("kernel map")
        Phi, missed = fit_features(kernel, scaled, sample_weight)
        mean = _mean_to_take_off(Phi, sample_weight) if center else None
        if mean is not None:
            Phi = Phi - mean
        learnt = cls(scaling, kernel, mean, Phi.shape[1], counts_missed)
        if not counts_missed:
            return learnt, Phi, None
        return learnt, Phi, learnt._missed(scaled) if missed is None else missed

    def _missed(self, scaled: Array) -> Array:
        kernel = self.kernel

        def of_block(block: Array) -> Array:
            return check_residual(kernel.residual(block), len(block), kernel)

        return map_blocks(of_block, scaled, row_cost=kernel.row_cost(scaled.shape[1]))

    @property
    def is_affine(self) -> bool:
        """Whether the features are the scaled rows, and the scaling only shifts and divides."""
        return self.kernel.is_identity and self.scaling.is_affine

    def folded(self, projection: Array) -> tuple[Array, Array]:
        """For an affine map, W and b with ``projection @ φ(x) = W @ x − b``: scaling and product in one.

        Parameters
        ----------
        projection : ndarray of shape (d, F)
            What is applied to the features.
        """
        W = projection if self.scaling.scale is None else projection / self.scaling.scale
        b = np.zeros(len(W)) if self.scaling.mean is None else W @ self.scaling.mean
        return W, b if self.mean is None else b + projection @ self.mean

    def apply(self, function: Callable[[Array, Array | None], Array], X: Array) -> Array:
        """``function`` of the rows' centred features and of what they miss, in blocks.

        Parameters
        ----------
        function : callable
            From Φ of shape (n, F) and the missed of shape (n,), or None if it does not count, to (n,) or (n, k).
        X : ndarray of shape (n, D)
            The rows, not yet scaled.
        """
        return map_blocks(lambda block: function(*self.features(block)), X, self.kernel.row_cost(X.shape[1]))

    def features(self, X: Array) -> tuple[Array, Array | None]:
        """The centred features of one block of rows, and what they miss; None if it does not count."""
        return self.of_scaled(self.scaling.apply(X))

    def of_scaled(self, scaled: Array) -> tuple[Array, Array | None]:
        """The same for rows that are already scaled."""
        scaled = read_only(scaled)
        if not self.counts_missed:
            return self._centred(self.kernel.features(scaled), len(scaled)), None
        Phi, missed = self.kernel.features_and_residual(scaled)
        return self._centred(Phi, len(scaled)), check_residual(missed, len(scaled), self.kernel)

    def _centred(self, Phi: Any, n_rows: int) -> Array:
        Phi = check_features(Phi, n_rows, self.kernel, self.n_features)
        return Phi if self.mean is None else shift_rows(Phi, self.mean)


def fit_features(kernel: Kernel, scaled: Array, sample_weight: Array | None) -> tuple[Array, Array | None]:
    """``Kernel.fit_features``, with the weights if the kernel takes them; the result is checked."""
    weighted = sample_weight is not None and kernel.supports_sample_weight
    scaled = read_only(scaled)
    with names_the_writer(f"kernel {kernel.name!r}"):
        returned = kernel.fit_features(scaled, sample_weight) if weighted else kernel.fit_features(scaled)
    return check_fit_features(returned, len(scaled), kernel)


def learn_scaling(
    X: Array, kernel: Kernel, *, center: bool, standardize: bool | str, sample_weight: Array | None = None
) -> Scaling:
    """The scaling of the rows for a kernel, which is told how many views of a row it gets.

    Parameters
    ----------
    X : ndarray of shape (N, D)
        The training rows.
    kernel : Kernel
        A kernel matrix is not scaled.
    center, standardize, sample_weight
        See :meth:`Scaling.learn`; "auto" is "views" for a kernel that averages over them, else "signed_log".
    """
    how = standardize_for(kernel, standardize)
    scaling = Scaling.learn(X, center=center, standardize=how, sample_weight=sample_weight)
    if kernel.averages_views:
        kernel.n_views_ = scaling.n_views
    return scaling


def standardize_for(kernel: Kernel, standardize: bool | str) -> bool | str:
    """What is done to the columns for a kernel; "auto" is "views" if it averages over them, else "signed_log"."""
    if not kernel.input_is_rows:
        return False
    if standardize == "auto":
        return "views" if kernel.averages_views else "signed_log"
    return standardize


def _mean_to_take_off(Phi: Array, sample_weight: Array | None) -> Array | None:
    """The features' mean, or None where it is rounding, as after scaling or the NPT map, which saves a copy of Φ."""
    mean, square = means_and_square(Phi)
    size = np.sqrt(square / Phi.shape[1])
    mean = mean if sample_weight is None else column_means(Phi, sample_weight)
    return mean if np.abs(mean).max() > RELATIVE_ZERO * size else None
