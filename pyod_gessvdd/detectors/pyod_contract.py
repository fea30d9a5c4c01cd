"""PyOD's contract, with the traps of its base class handled once for every detector of this package."""

from __future__ import annotations

import copy
import numbers
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from importlib.metadata import version
from math import sqrt
from typing import Any

import numpy as np
from pyod.models.base import BaseDetector
from scipy.special import erf
from scipy.stats import binom
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pyod_gessvdd.detectors.conformal import Conformal
from pyod_gessvdd.errors import ModelFileError, warn
from pyod_gessvdd.linalg import RELATIVE_ZERO, mean_of, weighted_quantiles
from pyod_gessvdd.saving.archive import write_archive
from pyod_gessvdd.saving.encoding import Encoder
from pyod_gessvdd.sources import is_dask

Array = np.ndarray

#: What a detector stores about single training rows.
PER_ROW = {
    *("decision_scores_", "labels_", "alpha_", "trusted_", "support_", "outside_", "boundary_"),
    *("_training_rows", "_training_scores"),
}
#: What ``predict_with_rejection`` returns for a row that it does not decide.
REJECTED = -2


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """If anything inside fails, the estimator is restored: nothing half-fitted stays behind."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        estimator.__dict__ = before
        raise


class PyODContract(Conformal, BaseDetector):
    """A PyOD detector whose score is 1 on its own boundary.

    Subclasses have ``contamination`` and ``threshold`` as parameters, set ``decision_scores_`` in ``fit`` and then call
    ``_process_decision_scores``.
    """

    threshold: str
    thresholder_: Any
    plugins_: list[dict[str, str]]

    def __init__(self, contamination: Any = 0.1) -> None:
        # PyOD checks floats here and nothing after ``set_params``; we check everything, in ``fit``.
        self.contamination = contamination

    # PyOD's own copies of these scan the warning filters, and ``_get_param_names`` is an instance method there.
    get_params = BaseEstimator.get_params
    set_params = BaseEstimator.set_params

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        return BaseEstimator._get_param_names.__func__(cls)

    def predict(self, X: Any, return_confidence: bool = False) -> Any:
        """0 for inliers and 1 for outliers; with ``return_confidence`` also PyOD's confidence in each."""
        check_is_fitted(self, "decision_scores_")
        if is_dask(X):
            lazy = self._lazily("predict", X, "label", int)
            return (lazy, self._lazily("predict_confidence", X, "confidence")) if return_confidence else lazy
        scores = self.decision_function(X)
        labels = self._labels(scores)
        return (labels, self._confidence(scores, labels)) if return_confidence else labels

    def predict_proba(self, X: Any, method: str = "linear", return_confidence: bool = False) -> Any:
        """The probabilities of inlier and outlier, of shape (n, 2).

        Parameters
        ----------
        X : array of shape (n, D)
            The rows, as an array, a list or a DataFrame.
        method : {"linear", "unify", "conformal"}, default="linear"
            Where the score lies between the training data's smallest and largest, the unifying scores of Kriegel
            et al. (2011), or one minus the row's :meth:`p_values`.
        return_confidence : bool, default=False
            Whether to return PyOD's confidence in each label too.
        """
        check_is_fitted(self, "decision_scores_")
        if method not in ("linear", "unify", "conformal"):
            raise ValueError(f"method must be 'linear', 'unify' or 'conformal', got {method!r}")
        if is_dask(X):
            lazy = self._lazily("predict_proba", X, ["inlier", "outlier"], method=method)
            return (lazy, self._lazily("predict_confidence", X, "confidence")) if return_confidence else lazy
        scores = self.decision_function(X)
        if method == "linear":
            low, high = self._score_range
            # Where all training rows are on the sphere, their scores differ only by rounding.
            outlier = (scores - low) / (high - low if high - low > RELATIVE_ZERO * abs(high) else 1.0)
        elif method == "conformal":
            outlier = 1.0 - self._p_values(scores)
        else:
            outlier = erf((scores - self._mu) / (self._sigma * np.sqrt(2)))
        outlier = np.clip(outlier, 0.0, 1.0)
        probabilities = np.column_stack([1.0 - outlier, outlier])
        if return_confidence:
            return probabilities, self._confidence(scores, self._labels(scores))
        return probabilities

    def predict_confidence(self, X: Any) -> Array:
        """How surely each row would get the same label from a slightly different training set (PyOD's definition).

        With less than one expected outlier in the training data, PyOD's own code gives every outlier the confidence 0;
        here at least one is expected.
        """
        check_is_fitted(self, "decision_scores_")
        if is_dask(X):
            return self._lazily("predict_confidence", X, "confidence")
        scores = self.decision_function(X)
        return self._confidence(scores, self._labels(scores))

    def predict_with_rejection(
        self,
        X: Any,
        T: float = 32,
        return_stats: bool = False,
        delta: float = 0.1,
        c_fp: float = 1,
        c_fn: float = 1,
        c_r: float = -1,
    ) -> Any:
        """0 for inliers, 1 for outliers and −2 where the confidence is too low to decide (Perini and Davis, 2023).

        Parameters
        ----------
        X : array of shape (n, D)
            The rows.
        T : float, default=32
            A row is rejected if either label has a probability of at least exp(−T).
        return_stats : bool, default=False
            Whether to return the result of :meth:`compute_rejection_stats` too.
        delta, c_fp, c_fn, c_r : float
            See :meth:`compute_rejection_stats`.
        """
        check_is_fitted(self, "decision_scores_")
        if not 0 < delta < 1:
            warn(f"delta must be in (0, 1), got {delta!r}; using 0.1")
            delta = 0.1
        scores = self.decision_function(X)
        labels = self._labels(scores)
        # The smaller tail itself, not one minus the larger: PyOD's form rejects everything from T = 38 on.
        labels[np.minimum(*self._label_probabilities(scores)) >= np.exp(-T)] = REJECTED
        if return_stats:
            return labels, list(self.compute_rejection_stats(T, delta, c_fp, c_fn, c_r))
        return labels

    def compute_rejection_stats(
        self,
        T: float = 32,
        delta: float = 0.1,
        c_fp: float = 1,
        c_fn: float = 1,
        c_r: float = -1,
        verbose: bool = False,
    ) -> tuple[float, float, float]:
        """PyOD's expected rejection rate, an upper bound on it and on the cost, for any contamination and threshold.

        Parameters
        ----------
        T : float, default=32
            See :meth:`predict_with_rejection`.
        delta : float, default=0.1
            The bound on the rejection rate holds with probability 1 − delta.
        c_fp, c_fn, c_r : float
            The costs of a false outlier, a missed one and a rejection; a negative ``c_r`` stands for the share of
            outliers expected in the training data.
        verbose : bool, default=False
            Whether PyOD's code prints the three numbers.
        """
        check_is_fitted(self, "decision_scores_")
        # PyOD's formulas read ``contamination``, which here may be an object or, with the radius, irrelevant.
        stand_in = object.__new__(type(self))
        stand_in.__dict__ = {**vars(self), "contamination": self._outlier_rate}
        with np.errstate(invalid="ignore"):  # below T = 4 the bound's root is imaginary, and PyOD takes 0 for it
            rate, rate_bound, cost_bound = super(PyODContract, stand_in).compute_rejection_stats(
                T, delta, c_fp, c_fn, c_r, verbose
            )
        return float(rate), min(float(rate_bound), 1.0), float(cost_bound)

    def _predict_rank(self, X: Any, normalized: bool = False) -> Array:
        """How many training rows score below each row; normalised by the largest of these ranks, as PyOD does."""
        check_is_fitted(self, "decision_scores_")
        ranks = np.searchsorted(np.sort(self.decision_scores_), self.decision_function(X))
        # All ranks are 0 where every row scores below the training data.
        return ranks / max(int(ranks.max()), 1) if normalized else ranks

    def _lazily(self, name: str, X: Any, names: str | list[str], dtype: Any = float, **params: Any) -> Any:
        """A method's result for the rows of a Dask collection, as a lazy one; the method runs where the rows are."""
        from pyod_gessvdd.sources.dask_rows import lazily

        return lazily(partial(getattr(self._without_rows(), name), **params), X, names, dtype)

    def settled(self) -> PyODContract:
        """A copy without what a fit to a source keeps elsewhere: in a mapped file, or in a lazy Dask array.

        This is what is saved, and sent to other machines: without the scores and labels of the training rows, but with
        what new rows are compared with.
        """
        light = copy.copy(self)
        for name in PER_ROW & vars(light).keys():
            value = getattr(light, name)
            if isinstance(value, np.memmap) or is_dask(value):
                setattr(light, name, np.empty(0, getattr(value, "dtype", float)))
        return light

    def _without_rows(self) -> PyODContract:
        """A copy that scores but holds nothing about single training rows: what is sent to other machines."""
        light = copy.copy(self)
        for name in PER_ROW & vars(light).keys():
            setattr(light, name, np.empty(0))
        return light

    # Files --------------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], metadata: dict[str, Any] | None = None) -> None:
        """Write the fitted detector to a file of arrays and JSON, for :func:`pyod_gessvdd.load`; nothing in it is code.

        Parameters
        ----------
        path : path-like
            The file; an existing one is replaced.
        metadata : dict, optional
            Anything that JSON can represent, stored with the model.
        """
        check_is_fitted(self, "decision_scores_")
        cls = type(self)
        if not cls.__module__.startswith("pyod_gessvdd."):
            raise ModelFileError(
                f"{cls.__name__} is not a detector of this package, and its file could not be read; "
                "save it with pyod.utils.persistence.save"
            )
        encoder = Encoder()
        kept: Any = self.__getstate__()  # without the training rows, as in a pickle
        settled = vars(self.settled())
        attributes = {name: encoder.encode(value, name) for name, value in settled.items() if name in kept}
        document = {
            "package": version("pyod-gessvdd"),
            "detector": cls.__name__,
            "plugins": [*encoder.plugins, *(item for item in self.plugins_ if item not in encoder.plugins)],
            "metadata": metadata or {},
            "attributes": attributes,
        }
        write_archive(path, document, encoder.arrays)

    # From scores to labels ----------------------------------------------------------------------------------------

    def _confidence(self, scores: Array, labels: Array) -> Array:
        inlier, outlier = self._label_probabilities(scores)
        return np.where(labels == 0, inlier, outlier)

    def _label_probabilities(self, scores: Array) -> tuple[Array, Array]:
        """The probability that a perturbed training set labels each row 0, and 1 (Perini et al., 2020)."""
        n = len(self.calibration_scores_)
        n_below = np.searchsorted(self.calibration_scores_, scores, side="right")
        posterior = (1 + n_below) / (2 + n)
        n_inliers = n - int(n * self._outlier_rate)
        return binom.cdf(n_inliers, n, posterior), binom.sf(n_inliers, n, posterior)

    def _labels(self, scores: Array) -> Array:
        if self.thresholder_ is None:
            return (scores > self.threshold_).astype(int)
        return np.array(self.thresholder_.predict(scores)).astype(int)

    def _check_contamination(self) -> None:
        value = self.contamination
        if isinstance(value, numbers.Real):
            if isinstance(value, bool) or not 0.0 < float(value) <= 0.5:
                raise ValueError(f"contamination must be in (0, 0.5], got {value!r}")
        elif isinstance(value, type) or not (hasattr(value, "fit") and hasattr(value, "predict")):
            hint = f", write {value.__name__}()" if isinstance(value, type) else ""
            raise ValueError(
                "contamination must be a number in (0, 0.5] or a PyThresh object with fit and predict, "
                f"got {value!r}{hint}"
            )

    def _set_n_classes(self, y: Any) -> PyODContract:
        """Two classes, whatever y holds: y is ignored, so it is neither counted nor warned about."""
        self._classes = 2
        return self

    def _process_decision_scores(self, boundary_score: float = 1.0, sample_weight: Array | None = None) -> PyODContract:
        """``threshold_``, ``labels_`` and what the methods above need, from ``decision_scores_``.

        All of it is stored here: parameters set after ``fit`` take effect at the next ``fit``.

        Parameters
        ----------
        boundary_score : float, default=1.0
            The score of a new row on the detector's own boundary.
        sample_weight : ndarray of shape (N,), optional
            How often each training row counts.
        """
        self.labels_ = self._learn_threshold(self.decision_scores_, boundary_score, sample_weight)
        self._calibrate(self.decision_scores_, sample_weight)
        return self

    def update_threshold(self, scores: Any) -> PyODContract:
        """Learn the threshold, and what new rows are compared with, from recent scores; the description stays.

        What is normal drifts, and with it the share of rows above a threshold that was learnt long ago. The scores of
        recent rows take the place of the training rows' in ``threshold_``, :meth:`p_values`, the probabilities and the
        confidences. ``labels_`` and ``decision_scores_`` remain those of the training rows.

        Parameters
        ----------
        scores : array of shape (n,)
            ``decision_function(X)`` of at least 2 recent rows, of which a share ``contamination`` is expected to be
            outliers.

        Returns
        -------
        PyODContract
            The detector itself.
        """
        check_is_fitted(self, "decision_scores_")
        if self.threshold == "radius":
            raise ValueError(
                "threshold='radius' lets the boundary decide, which does not move; fit with 'contamination'"
            )
        recent = np.array(scores, dtype=float)  # a copy: the caller may go on writing to theirs
        if recent.ndim != 1 or len(recent) < 2 or not np.isfinite(recent).all():
            raise ValueError(f"scores must be at least 2 finite numbers in a row, got an array of shape {recent.shape}")
        with unchanged_on_error(self):
            self._learn_threshold(recent)
            self._calibrate(recent)
        return self

    def _learn_threshold(self, scores: Array, boundary_score: float = 1.0, sample_weight: Array | None = None) -> Array:
        """``threshold_`` and what the methods above need; returns the labels of the rows that have these scores."""
        counting = scores if sample_weight is None else scores[sample_weight > 0]
        mu = mean_of(scores, sample_weight)
        deviation = sqrt(mean_of((scores - mu) ** 2, sample_weight))
        self._take_threshold(boundary_score, (float(counting.min()), float(counting.max())), mu, deviation)
        if self.threshold == "radius":
            labels = self._labels(scores)
        elif isinstance(self.contamination, numbers.Real):
            self.threshold_ = float(weighted_quantiles(scores, [1 - float(self.contamination)], sample_weight)[0])
            labels = self._labels(scores)
        else:
            # A copy: one object may serve several detectors, and a parameter stays as it was given.
            self.thresholder_ = copy.deepcopy(self.contamination)
            self.thresholder_.fit(scores)
            labels = np.array(self.thresholder_.labels_).astype(int)
            # An object's threshold of exactly 0 is a threshold; only a missing one is replaced.
            threshold = getattr(self.thresholder_, "thresh_", None)
            self.threshold_ = float(np.mean(labels)) if threshold is None else float(threshold)
        self._outlier_rate = self._expected_outlier_rate(len(labels), int(labels.sum()))
        return labels

    def _take_threshold(
        self, threshold: float, score_range: tuple[float, float], mean: float, deviation: float
    ) -> None:
        """``threshold_``, and what probabilities need: the smallest and largest score, their mean and deviation."""
        self.threshold_, self._score_range, self._mu = threshold, score_range, mean
        # Equal scores would make "unify" divide by zero.
        self._sigma = max(deviation, np.finfo(float).eps * max(1.0, abs(mean)))
        self.thresholder_ = None

    def _expected_outlier_rate(self, n: int, n_above: int) -> float:
        """The share of outliers that the threshold stands for, at least one of n rows; ``n_above`` are labelled."""
        by_contamination = self.threshold == "contamination" and self.thresholder_ is None
        count = n * float(self.contamination) if by_contamination else float(n_above)
        # PyOD's formulas round n · rate down: a whole number must not become the one below.
        return max(count, 1.0) * (1 + 1e-12) / n
