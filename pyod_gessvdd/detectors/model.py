"""What a fit learns, before it is published under the detector's public names."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pyod_gessvdd.description import Description
from pyod_gessvdd.detectors.settings import Components
from pyod_gessvdd.dual import QPSolution
from pyod_gessvdd.linalg import weighted_quantiles
from pyod_gessvdd.whole_space import WholeSpace

Array = np.ndarray


@dataclass(frozen=True)
class Model:
    """What a fit learns: the description, how it was found, and the training rows' scores, kept once.

    Attributes
    ----------
    components : Components
        What it was learnt with.
    description : Description or WholeSpace
        From rows to scores.
    trusted : ndarray of int
        The rows that it was learnt from.
    solution : QPSolution
        Their solved dual.
    history, stop_reason, best_iteration
        How the alternation went.
    scores, left_out_scores : ndarray of shape (N,)
        All training rows' scores, as ``decision_function`` returns them, and as if each had been left out, like new
        rows. Rows that are not trusted are new rows.
    trust_history : list of dict
        How the trusted rows were found.
    solved : ndarray of int, optional
        The rows that have an α in the solution, if not just the trusted ones: these and labelled outliers.
    growth : ndarray of shape (N,), optional
        By how much the scores of rows that are not trusted and count a little would grow if they did not; 1 for others.
    """

    components: Components
    description: Description | WholeSpace
    trusted: Array
    solution: QPSolution
    history: list[dict[str, Any]]
    stop_reason: str
    best_iteration: int
    scores: Array
    left_out_scores: Array
    trust_history: list[dict[str, Any]] = field(default_factory=list)
    solved: Array | None = None
    growth: Array | None = None

    @property
    def calibration_scores(self) -> Array:
        """What new rows are compared with: all rows' scores as if each had been left out, however little it counts."""
        return self.left_out_scores if self.growth is None else self.left_out_scores * self.growth

    def among(self, others: Array, outliers: Array, outlier_scores: Array) -> Model:
        """The model of some rows as a model of all: the rest are labelled outliers, scored as new rows.

        Parameters
        ----------
        others, outliers : ndarray of int
            The indices of the rows that this model knows, and of the labelled outliers.
        outlier_scores : ndarray
            The scores of the latter.
        """
        places = np.concatenate([others, outliers])

        def spread_out(scores: Array, theirs: Array | float = outlier_scores) -> Array:
            everywhere = np.empty(len(places))
            everywhere[others], everywhere[outliers] = scores, theirs
            return everywhere

        return replace(
            self,
            trusted=others[self.trusted],
            solved=None if self.solved is None else places[self.solved],
            scores=spread_out(self.scores),
            left_out_scores=spread_out(self.left_out_scores),
            growth=None if self.growth is None else spread_out(self.growth, 1.0),
        )

    def boundary_score(self, sample_weight: Array | None) -> float:
        """The score of a new row on the boundary.

        At most the share ν = 1/Σu of the trusted rows is outside the sphere. Where they are scored as if left out, R²
        is the score that this share of them exceeds: in the whole space nearly every row is on the sphere that it
        helped to find.
        """
        if self.scores is self.left_out_scores:
            return 1.0
        scores, left_out = self.scores[self.trusted], self.left_out_scores[self.trusted]
        if np.array_equal(scores, left_out):
            return 1.0
        nu = min(1.0, 1.0 / float(self.solution.upper[: len(self.trusted)].sum()))
        weights = None if sample_weight is None else sample_weight[self.trusted]
        return float(weighted_quantiles(left_out, [1.0 - nu], weights)[0])
