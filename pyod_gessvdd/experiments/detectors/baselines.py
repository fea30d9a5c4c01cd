"""Detectors that the field compares with and PyOD does not have, in PyOD's API."""

from __future__ import annotations

from typing import Any

import numpy as np
from pyod.models.base import BaseDetector
from sklearn.neighbors import NearestNeighbors

from pyod_gessvdd.extras import need

Array = np.ndarray


class DTENP(BaseDetector):
    """DTE-NP, diffusion time estimation without a network, in its closed form: neighbours' mean squared distance.

    The posterior of the diffusion time given a row is an inverse gamma distribution whose scale is the mean squared
    distance to the nearest training rows; its mode grows with that distance, so that the distance itself ranks rows.
    The published figures rank by the mode rounded to one of 300 times, which makes ties.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many neighbours, K in the paper.
    contamination : float, default=0.1
        The share of outliers among the training rows, for the threshold.

    References
    ----------
    .. [1] V. Livernoche et al., "On diffusion modeling for anomaly detection", ICLR 2024.
    """

    def __init__(self, n_neighbors: int = 5, contamination: float = 0.1) -> None:
        super().__init__(contamination=contamination)
        self.n_neighbors = n_neighbors

    def fit(self, X: Array, y: Any = None) -> DTENP:
        """Keep the rows; a training row is not its own neighbour."""
        self._set_n_classes(y)
        self.neighbors_ = NearestNeighbors(n_neighbors=min(self.n_neighbors, len(X) - 1)).fit(X)
        self.decision_scores_ = (self.neighbors_.kneighbors()[0] ** 2).mean(axis=1)
        self._process_decision_scores()
        return self

    def decision_function(self, X: Array) -> Array:
        """Return the mean squared distance to the nearest training rows."""
        scores: Array = (self.neighbors_.kneighbors(X)[0] ** 2).mean(axis=1)
        return scores


class EIF(BaseDetector):
    """The extended isolation forest of the package isotree, with its defaults.

    Parameters
    ----------
    contamination : float, default=0.1
        The share of outliers among the training rows, for the threshold.
    random_state : int, default=1
        Seeds the trees.
    """

    def __init__(self, contamination: float = 0.1, random_state: int = 1) -> None:
        need("isotree", "bench", "EIF")
        super().__init__(contamination=contamination)
        self.random_state = random_state

    def fit(self, X: Array, y: Any = None) -> EIF:
        """Grow the trees; isotree splits along random combinations of columns unless told otherwise."""
        isotree = need("isotree", "bench", "EIF")
        self._set_n_classes(y)
        self.forest_ = isotree.IsolationForest(random_seed=self.random_state, nthreads=1).fit(X)
        self.decision_scores_ = self.decision_function(X)
        self._process_decision_scores()
        return self

    def decision_function(self, X: Array) -> Array:
        """Return the isolation scores."""
        scores: Array = self.forest_.predict(X)
        return scores
