"""PyOD's contract, with the traps of its base class handled once for every detector of this package."""

from __future__ import annotations

import copy
import numbers
from typing import Any

import numpy as np
from pyod.models.base import BaseDetector
from scipy.stats import binom
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

Array = np.ndarray


class PyODContract(BaseDetector):
    """A PyOD detector whose score is 1 on its own boundary.

    Subclasses have ``contamination`` and ``threshold`` as parameters, set ``decision_scores_`` in ``fit`` and then call
    ``_process_decision_scores``.
    """

    threshold: str

    # PyOD's own copy of these is an instance method, scans the warnings' filters and is slow.
    _get_param_names: Any = classmethod(BaseEstimator._get_param_names.__func__)
    get_params = BaseEstimator.get_params
    set_params = BaseEstimator.set_params

    def predict(self, X: Any, return_confidence: bool = False) -> Any:
        """0 for inliers and 1 for outliers; with ``return_confidence`` also PyOD's confidence in each."""
        check_is_fitted(self, "decision_scores_")
        scores = self.decision_function(X)
        labels = self._labels(scores)
        return (labels, self._confidence(scores, labels)) if return_confidence else labels

    def predict_proba(self, X: Any, method: str = "linear", return_confidence: bool = False) -> Any:
        """The probabilities of inlier and outlier, of shape (n, 2); see PyOD's base class for the two methods."""
        check_is_fitted(self, "decision_scores_")
        # PyOD's code asks for X.shape, which a list does not have.
        X = X if hasattr(X, "shape") else np.asarray(X)
        return super().predict_proba(X, method=method, return_confidence=return_confidence)

    def predict_confidence(self, X: Any) -> Array:
        """How surely each row would get the same label from a slightly different training set (PyOD's definition).

        Below one expected outlier in the training data PyOD's own code gives every outlier the confidence 0; here at
        least one is expected.
        """
        check_is_fitted(self, "decision_scores_")
        scores = self.decision_function(X)
        return self._confidence(scores, self._labels(scores))

    def compute_rejection_stats(
        self,
        T: float = 32,
        delta: float = 0.1,
        c_fp: float = 1,
        c_fn: float = 1,
        c_r: Any = -1,
        verbose: bool = False,
    ) -> tuple[float, float, float]:
        """PyOD's expected rejection rate and its two bounds, for any contamination and threshold."""
        check_is_fitted(self, "decision_scores_")
        stand_in = copy.copy(self)
        stand_in.contamination = self._outlier_rate()
        if not isinstance(c_r, numbers.Real):
            c_r = -1  # predict_with_rejection passes a contamination object on as a cost
        return super(PyODContract, stand_in).compute_rejection_stats(T, delta, c_fp, c_fn, c_r, verbose)

    def _confidence(self, scores: Array, labels: Array) -> Array:
        n = len(self.decision_scores_)
        n_below = np.searchsorted(np.sort(self.decision_scores_), scores, side="right")
        posterior = (1 + n_below) / (2 + n)
        confidence = 1 - binom.cdf(n - int(n * self._outlier_rate()), n, posterior)
        return np.where(labels == 0, 1 - confidence, confidence)

    def _labels(self, scores: Array) -> Array:
        if self.threshold == "radius" or isinstance(self.contamination, numbers.Real):
            return (scores > self.threshold_).astype(int)
        return np.asarray(self.contamination.predict(scores)).astype(int)

    def _outlier_rate(self) -> float:
        """The share of outliers that the threshold stands for, at least one training row."""
        n = len(self.decision_scores_)
        by_contamination = self.threshold == "contamination" and isinstance(self.contamination, numbers.Real)
        rate = float(self.contamination) if by_contamination else float(np.mean(self.labels_))
        return max(rate, (1 + 1e-9) / n)

    def _check_contamination(self) -> None:
        value = self.contamination
        if isinstance(value, numbers.Real):
            if isinstance(value, bool) or not 0.0 < float(value) <= 0.5:
                raise ValueError(f"contamination must be in (0, 0.5], got {value!r}")
        elif not (hasattr(value, "fit") and hasattr(value, "predict")):
            raise ValueError(
                f"contamination must be a number in (0, 0.5] or a PyThresh object with fit and predict, got {value!r}"
            )

    def _set_n_classes(self, y: Any) -> PyODContract:
        """Two classes, whatever y holds: y is ignored, so it is neither counted nor warned about."""
        self._classes = 2
        return self

    def _process_decision_scores(self) -> PyODContract:
        """``threshold_``, ``labels_`` and what ``predict_proba`` needs, from ``decision_scores_``."""
        scores = self.decision_scores_
        self._mu = float(np.mean(scores))
        # Equal scores would make PyOD's "unify" divide by zero.
        self._sigma = max(float(np.std(scores)), np.finfo(float).eps * max(1.0, abs(self._mu)))
        if self.threshold == "radius":
            self.threshold_ = 1.0
            self.labels_ = self._labels(scores)
        elif isinstance(self.contamination, numbers.Real):
            self.threshold_ = float(np.percentile(scores, 100 * (1 - float(self.contamination))))
            self.labels_ = self._labels(scores)
        else:
            self.contamination.fit(scores)
            self.labels_ = np.asarray(self.contamination.labels_).astype(int)
            # An object's threshold of exactly 0 is a threshold; only a missing one is replaced.
            threshold = getattr(self.contamination, "thresh_", None)
            self.threshold_ = float(np.mean(self.labels_)) if threshold is None else float(threshold)
        return self
