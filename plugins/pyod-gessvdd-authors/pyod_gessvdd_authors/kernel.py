"""The kernel ``authors_rbf``: the RBF whose width is in units of the training rows' root mean squared distance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from pyod_gessvdd import PairwiseKernel


@dataclass(kw_only=True, eq=False, repr=False)
class AuthorsRBF(PairwiseKernel):
    """exp(−‖x − y‖² / (2σ²m)), where m is the mean of all N² squared distances of the training rows.

    The paper's kernel has 2σ² alone (its eq. for K_ij), so that σ = 0.1 … 1000 means other widths there.

    Parameters
    ----------
    sigma : float, optional
        σ; the detector's ``sigma`` if None, else 1.
    energy, approximation, n_landmarks, landmarks, center, random_state
        See :class:`~pyod_gessvdd.PairwiseKernel`; the ``energy`` kept is 0.99 unless given, as in that implementation.
    """

    name = "authors_rbf"
    inherits = ("sigma",)

    sigma: float | None = None

    def prepare(self, X: np.ndarray, sample_weight: np.ndarray | None = None) -> None:
        """Learn m; a row of weight w counts as w equal rows."""
        sigma = 1.0 if self.sigma is None else self.sigma
        if not sigma > 0:
            raise ValueError(f"sigma must be positive, got {sigma!r}")
        # 2 (mean of ‖x‖² − ‖mean x‖²) is the mean over all pairs, and needs none of them.
        centred = X - np.average(X, axis=0, weights=sample_weight)
        mean = 2.0 * float(np.average(np.einsum("ij,ij->i", centred, centred), weights=sample_weight))
        self.width_ = 2.0 * sigma**2 * (mean or 1.0)

    def gram(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """The kernel of all pairs."""
        return np.asarray(np.exp(euclidean_distances(X, Y, squared=True) / -self.width_))

    def gram_diagonal(self, X: np.ndarray) -> np.ndarray:
        """One for every row."""
        return np.ones(len(X))
