"""Calibrated decisions: conformal p-values, selections with a bounded false discovery rate, thresholds that move.

A detector does not change after ``fit``: the score of a row depends on the row alone. So the rank of a new row's score
among the scores of calibration rows measures how unusual it is. Unless rows were held back (``calibration=0.2``), the
calibration rows are the training rows, each with the score that it has when left out.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import false_discovery_control
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pyod_gessvdd.linalg import drawn, not_below_one, rows_by_content

Array = np.ndarray


class Conformal:
    """How new rows compare with calibration rows; the host calls :meth:`_calibrate` in ``fit``.

    Attributes
    ----------
    calibration_scores_ : ndarray of shape (n_calibration,)
        The scores that new rows are compared with, in ascending order.
    """

    _calibration_scores: Array
    _calibration_counts: Array | None

    @property
    def calibration_scores_(self) -> Array:
        """The scores that new rows are compared with, in ascending order."""
        check_is_fitted(self, "decision_scores_")
        return self._in_order[0]

    @cached_property
    def _in_order(self) -> tuple[Array, Array | None]:
        """The calibration rows' scores in ascending order, and how often each counts; sorted on first use."""
        if self._calibration_counts is None:
            return np.sort(self._calibration_scores), None
        order = np.argsort(self._calibration_scores, kind="stable")
        return self._calibration_scores[order], self._calibration_counts[order]

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_in_order"}

    def decision_function(self, X: Any) -> Array:
        """The rows' scores: larger is more abnormal."""
        raise NotImplementedError

    def p_values(self, X: Any) -> Array:
        """The conformal p-value of each row: how likely a row like the calibration rows is to score at least as high.

        p(x) = (1 + #{i : s_i ≥ s(x)}) / (n + 1), in (0, 1]. For a new row that is exchangeable with the n calibration
        rows, P(p ≤ a) ≤ a for every a: exactly if rows were held back by ``calibration``, otherwise up to what leaving
        out one training row changes. With sample weights, a row counts according to its weight.

        Parameters
        ----------
        X : array of shape (n, D)
            The rows.

        Examples
        --------
        >>> import numpy as np
        >>> from pyod_gessvdd import GESSVDD
        >>> X = np.random.default_rng(0).normal(size=(99, 3))
        >>> detector = GESSVDD(calibration=0.2, random_state=0).fit(X)
        >>> detector.p_values([[0, 0, 0], [9, 9, 9]]).round(3).tolist()
        [0.952, 0.048]
        """
        check_is_fitted(self, "decision_scores_")
        return self._p_values(self.decision_function(X))

    def predict_fdr(self, X: Any, level: float = 0.1) -> Array:
        """1 for the rows that can be called outliers with a false discovery rate of at most ``level``, else 0.

        The Benjamini–Hochberg procedure on :meth:`p_values`; it allows the kind of dependence that conformal p-values
        have (Bates et al., 2023). The rows are judged together: a row's label depends on the others.

        Parameters
        ----------
        X : array of shape (n, D)
            The rows.
        level : float in (0, 1), default=0.1
            The expected share of normal rows among those that get a 1.
        """
        if not (isinstance(level, float | np.floating) and 0.0 < level < 1.0):
            raise ValueError(f"level must be a number in (0, 1), got {level!r}")
        return (false_discovery_control(self.p_values(X), method="bh") <= level).astype(int)

    def _p_values(self, scores: Array) -> Array:
        in_order, counts = self._in_order
        below = np.searchsorted(in_order, scores, side="left")
        if counts is None:
            return (1.0 + len(in_order) - below) / (1.0 + len(in_order))
        counted = np.concatenate([[0.0], np.cumsum(counts)])
        return (1.0 + counted[-1] - counted[below]) / (1.0 + counted[-1])

    def _calibrate(self, scores: Array, sample_weight: Array | None = None) -> None:
        """Store the calibration rows' scores, and the weights as how often each row counts."""
        self.__dict__.pop("_in_order", None)
        self._calibration_scores = scores
        self._calibration_counts = None if sample_weight is None else not_below_one(sample_weight)


def held_back(X: Array, calibration: float | None, random_state: Any) -> Array | None:
    """The rows to hold back for calibration, drawn at random, the same ones whatever their order; None for none.

    Parameters
    ----------
    X : ndarray of shape (N, D)
        The training rows.
    calibration : float or None
        The share to hold back.
    random_state : int, RandomState or None
        Seeds the draw.
    """
    if calibration is None:
        return None
    count = max(1, round(calibration * len(X)))
    if len(X) - count < 2:
        raise ValueError(
            f"calibration={calibration!r} of {len(X)} rows leaves {len(X) - count} to learn from, fewer than 2"
        )
    return np.sort(rows_by_content(X)[drawn(len(X), count, check_random_state(random_state))])
