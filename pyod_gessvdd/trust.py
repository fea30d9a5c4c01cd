"""Trust: which training rows a description may learn from.

The concentration step of the minimum covariance determinant, with our own description in place of the ellipsoid: a wide
description (its ridge is as large as the typical scatter, so that mass counts and a few rows cannot make a direction
short) scores all rows as if left out, the share with the smallest scores is trusted, and the step is repeated until the
set is stable (``docs/method.md``, section 5; ``docs/description.md``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pyod_gessvdd import progress
from pyod_gessvdd.components.contracts import Kernel
from pyod_gessvdd.feature_map import FeatureMap, fit_features, learn_scaling
from pyod_gessvdd.kernels.mixed import Mixed
from pyod_gessvdd.kernels.npt import PairwiseKernel
from pyod_gessvdd.linalg import ORDERED_ROWS, column_means, drawn, row_blocks, rows_by_content, weighted_quantiles
from pyod_gessvdd.preprocessing import Scaling
from pyod_gessvdd.whole_space.factor import LEAST_LEFT, Scatters, cholesky, one_copy, whitened
from pyod_gessvdd.whole_space.landmarks import LandmarkMap

Array = np.ndarray

#: λ of the wide description, as a share of Tr(S_x²)/Tr(S_x).
WIDE_RIDGE = 1.0
#: The maximum number of rounds; the set is stable after three to eight.
MAX_ROUNDS = 20
#: A kernel of several views has only one here, the signed logarithms, and its smooth part alone: it finds the same rows
#: in a third of the time.
ONE_VIEW = {"view_weights": (1.0,), "smooth": (1.0,), "decorrelated": (0.0,), "linear": (0.0,)}
#: Scores that agree to this relative precision are those of equal rows.
SAME = 1e-9
#: The rounds run on at most this many rows, with at most this many landmarks; then all rows are scored once.
MAX_ROWS, MAX_LANDMARKS = 5000, 300


@dataclass(frozen=True)
class Trust:
    """The trusted rows, and how they were found.

    Attributes
    ----------
    rows : ndarray of int or range
        Their indices; a range if all rows are trusted.
    history : list of dict
        For each round: how many rows were trusted, how many of them are new, and the largest score among them.
    """

    rows: Array | range
    history: list[dict[str, Any]]


def trusted_rows(
    X: Array,
    kernel: Kernel,
    share: float,
    random_state: int,
    sample_weight: Array | None = None,
    *,
    standardize: bool = True,
    center: bool = True,
) -> Trust:
    """The share of rows that a wide description finds most typical.

    Parameters
    ----------
    X : ndarray of shape (N, D)
        The training rows.
    kernel : Kernel
        The detector's kernel, not yet fitted.
    share : float
        The share to trust, between 0 and 1.
    random_state : int
        Seeds the draw of rows and landmarks where there are many.
    sample_weight : ndarray of shape (N,), optional
        How often each row counts.
    standardize : bool, default=True
        Whether the kernel sees the signed logarithms of the standardised columns, in which far groups stay far, or the
        rows as they are.
    center : bool, default=True
        Whether explicit features are centred; those of a kernel's whole space never are.
    """
    kernel = of_one_view(kernel)
    scaling = learn_scaling(
        X, kernel, center=True, standardize="signed_log" if standardize else False, sample_weight=sample_weight
    )
    scaled = scaling.apply(X)
    weights = np.ones(len(X)) if sample_weight is None else sample_weight
    sample = np.arange(len(X))
    if len(X) > MAX_ROWS:
        ranks = drawn(len(X), MAX_ROWS, check_random_state(random_state))
        sample = ranks if len(X) > ORDERED_ROWS else rows_by_content(scaled)[ranks]
    inside = None if sample_weight is None else sample_weight[sample]
    wide, kept, history = concentrated(kernel, scaling, scaled[sample], share, random_state, inside, center)
    if len(sample) == len(X):
        return Trust(kept, history)
    scores = np.empty(len(X))
    for rows in row_blocks(len(X), wide.Phi.shape[1]):
        scores[rows] = wide.as_new(scaled[rows])
    scores[sample] = wide.left_out_scores(kept)
    return Trust(_closest(scores, share, weights)[1], history)


def of_one_view(kernel: Kernel) -> Kernel:
    """The kernel, changed in place to that of a single view, whatever the description uses."""
    return kernel.set_params(**ONE_VIEW) if isinstance(kernel, Mixed) else kernel


def concentrated(
    kernel: Kernel,
    scaling: Scaling,
    scaled: Array,
    share: float,
    random_state: int,
    sample_weight: Array | None,
    center: bool,
) -> tuple[Wide, Array, list[dict[str, Any]]]:
    """A wide description of some scaled rows, the rows that it trusts in the end, and the rounds' history."""
    weights = np.ones(len(scaled)) if sample_weight is None else sample_weight
    features = _wide_features(kernel, scaling, scaled, random_state, sample_weight, center)
    Phi, missed = features(scaled)
    wide = Wide(features, Phi, missed, weights)
    return wide, *wide.concentrate(share)


def _wide_features(
    kernel: Kernel, scaling: Scaling, scaled: Array, random_state: int, sample_weight: Array | None, center: bool
) -> Any:
    """A function from scaled rows to features and what they miss, cheap enough to call for every row."""
    if isinstance(kernel, PairwiseKernel) and kernel.has_whole_space:
        kernel.prepare_weighted(scaled, sample_weight)
        ranks = drawn(len(scaled), min(MAX_LANDMARKS, len(scaled)), check_random_state(random_state))
        return LandmarkMap.at(kernel, scaled[rows_by_content(scaled)[ranks]]).features
    Phi, _ = fit_features(kernel, scaled, sample_weight)
    mean = column_means(Phi, sample_weight) if center else None
    return FeatureMap(scaling, kernel, mean, Phi.shape[1], counts_missed=True).of_scaled


def _closest(scores: Array, share: float, weights: Array) -> tuple[float, Array]:
    """The score that this share of the rows does not exceed, and the rows below it.

    Equal rows are trusted together, whatever their order. A group of equal rows that straddles the limit is left out,
    as outliers of one kind may be many, unless that would leave less than half of all rows.
    """
    limit = float(weighted_quantiles(scores, [share], weights)[0])
    below = scores < surely_below(limit)
    if float(weights[below].sum()) < 0.5 * float(weights.sum()):
        below = scores <= limit * (1.0 + SAME)
    return limit, np.flatnonzero(below)


def surely_below(limit: float) -> float:
    """The bound below which a row is certainly closer than the rows at the limit."""
    return limit * (1.0 - SAME)


class Wide:
    """Rows in the features of a wide description."""

    def __init__(self, features: Any, Phi: Array, missed: Array, weights: Array) -> None:
        self.features, self.Phi, self.missed, self.weights = features, Phi, missed, weights
        self._scatters = Scatters(Phi, weights)

    def concentrate(self, share: float) -> tuple[Array, list[dict[str, Any]]]:
        """The trusted rows once they no longer change, and the rounds' history."""
        kept = np.arange(len(self.Phi))
        seen = {kept.tobytes()}
        history: list[dict[str, Any]] = []
        progress.stage("trust", MAX_ROUNDS)
        for _ in range(MAX_ROUNDS):
            scores = self.left_out_scores(kept)
            limit, closest = _closest(scores, share, self.weights)
            history.append(
                {
                    "round": len(history) + 1,
                    "n_trusted": len(closest),
                    "n_new": len(np.setdiff1d(closest, kept, assume_unique=True)),
                    "limit": limit,
                }
            )
            progress.step(len(history), f"{len(closest):,} of {len(self.Phi):,} rows trusted")
            # A set that has been seen before would recur for ever.
            kept, known = closest, closest.tobytes() in seen
            if known:
                break
            seen.add(closest.tobytes())
        return kept, history

    def _learn(self, kept: Array) -> tuple[Array, float]:
        weights, S = self.weights[kept], self._scatters.of(kept)
        missed = weights * self.missed[kept]
        squares = float(np.einsum("ij,ij->", S, S)) + float(missed @ missed)
        tiny = float(np.finfo(float).tiny)  # features that are all zero have no scatter to divide by
        lam = max(WIDE_RIDGE * squares / max(float(np.trace(S)) + float(missed.sum()), tiny), tiny)
        S[np.diag_indices_from(S)] += lam
        return cholesky(S, 0.0), lam

    def left_out_scores(self, kept: Array) -> Array:
        """The squared lengths of all rows; those of kept rows as if each had been left out."""
        self._R, self._lam = self._learn(kept)
        inside = self._inside(self.Phi)
        inside[kept] /= np.maximum(1.0 - one_copy(self.weights[kept]) * inside[kept], LEAST_LEFT)
        return inside + self.missed / self._lam

    def without_rows(self) -> Wide:
        """What measures new rows: the metric learnt last, without the rows that it was learnt from."""
        other = Wide(self.features, self.Phi[:0], self.missed[:0], self.weights[:0])
        other._R, other._lam = self._R, self._lam
        return other

    def as_new(self, scaled: Array) -> Array:
        """The same for other scaled rows, with the metric learnt last."""
        Phi, missed = self.features(scaled)
        return self._inside(Phi) + missed / self._lam

    def _inside(self, Phi: Array) -> Array:
        Z = whitened(self._R, Phi)
        return np.einsum("ij,ij->i", Z, Z)
