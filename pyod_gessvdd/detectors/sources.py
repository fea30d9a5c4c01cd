"""What detectors do with sources: fit them block by block, and score rows where they are."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from pyod_gessvdd import progress
from pyod_gessvdd.detectors.streaming import NO_ROWS, StreamedModel
from pyod_gessvdd.preprocessing import validated
from pyod_gessvdd.sources.arrays import ArraySource
from pyod_gessvdd.sources.source import Source
from pyod_gessvdd.streamed.columns import HELD_ROWS, Column, discarded_on_error
from pyod_gessvdd.streamed.order import OrderStatistics, Values, first_column

Array = np.ndarray

#: For more rows than are held in memory, this many evenly spaced order statistics of the scores are kept, to compare
#: new rows with (p-values, confidences); :class:`~pyod_gessvdd.streamed.order.OrderStatistics` gives the ranks' error.
KEPT_SCORES = 100_000


def checked_columns(detector: Any, source: Source, *, reset: bool) -> None:
    """Let scikit-learn's checks see the number and the names of the columns."""
    head: Any = source.take(np.arange(min(2, source.n_rows)))
    if source.names is not None:
        import pandas

        head = pandas.DataFrame(head, columns=source.names)
    validated(detector, np.nan_to_num(head) if source.names is None else head.fillna(0.0), reset=reset)


def publish_rows(detector: Any, model: StreamedModel, source: Source) -> None:
    """Store what a fit finds for every row of a source under its public names, and learn the threshold from it."""
    progress.stage("training scores")
    detector.boundary_ = model.boundary
    boundary_score = _boundary_score(detector, model, source)
    if source.is_lazy:
        detector.decision_scores_, detector.alpha_, detector.trusted_, side = source.lazy(model.of_rows, NO_ROWS)
        detector.support_, detector.outside_ = (side > 0).nonzero()[0], (side == 2).nonzero()[0]
        _learn_threshold(detector, source, _ScoresOf(model.of_rows), boundary_score)
        detector.labels_ = detector._labels(detector.decision_scores_)
        return
    scores, alpha, trusted = (Column(kind, source.n_rows) for kind in (float, float, bool))
    support, outside = Column(int, source.n_rows), Column(int, source.n_rows)
    start = 0
    with discarded_on_error(scores, alpha, trusted, support, outside):
        for found in source.map(model.of_rows):
            scores.append(found.scores)
            alpha.append(found.alpha)
            trusted.append(found.trusted)
            support.append(start + np.flatnonzero(found.side))
            outside.append(start + np.flatnonzero(found.side == 2))
            start += len(found.scores)
    detector.alpha_, detector.trusted_ = alpha.finished(), trusted.finished()
    detector.support_, detector.outside_ = support.finished(), outside.finished()
    detector.decision_scores_ = scores.finished()
    if source.n_rows <= HELD_ROWS:
        detector._process_decision_scores(boundary_score=boundary_score)
        return
    column = ArraySource(detector.decision_scores_.reshape(-1, 1))
    _learn_threshold(detector, column, first_column, boundary_score)
    labels = Column(np.int8, source.n_rows)
    for block in column.map(first_column):
        labels.append(detector._labels(block))
    detector.labels_ = labels.finished()


def _boundary_score(detector: Any, model: StreamedModel, source: Source) -> float:
    """The score of a new row on the boundary, see :meth:`~pyod_gessvdd.detectors.model.Model.boundary_score`."""
    if detector.threshold != "radius" or not model.has_left_out:
        return 1.0
    trusted = source.where(_TrustedOf(model.of_rows))
    return float(OrderStatistics(trusted, _ScoresOf(model.of_rows)).quantiles([1.0 - model.nu])[0])


def _learn_threshold(detector: Any, source: Source, values: Values, boundary_score: float) -> None:
    """The threshold and what new rows are compared with, from one score per row; none of them is kept."""
    if not isinstance(detector.contamination, Real):
        raise ValueError(
            "a PyThresh object needs all scores in memory; give contamination as a number, or fit a source of at most "
            f"{HELD_ROWS:,} rows"
        )
    order = OrderStatistics(source, values)
    by_share = detector.threshold == "contamination"
    threshold = float(order.quantiles([1.0 - float(detector.contamination)])[0]) if by_share else boundary_score
    spread = order.spread
    deviation = float(np.sqrt(spread.moments.scatter[0, 0] / spread.moments.n_rows))
    detector._take_threshold(threshold, (spread.low, spread.high), float(spread.moments.mean[0]), deviation)
    # With a given share there is no need to count.
    above = 0 if by_share else source.total(_Above(values, threshold))
    detector._outlier_rate = detector._expected_outlier_rate(source.n_rows, above)
    detector._calibrate(order.sketch(KEPT_SCORES))


class _ScoresOf:
    """The scores among the results of rows."""

    def __init__(self, of_rows: Any) -> None:
        self.of_rows = of_rows

    def __call__(self, block: Array, rows: Array) -> Array:
        return self.of_rows(block, rows).scores


class _TrustedOf(_ScoresOf):
    """Whether rows are trusted, among their results."""

    def __call__(self, block: Array, rows: Array) -> Array:
        return self.of_rows(block, rows).trusted


class _Above:
    """How many scores of a block are above the threshold."""

    def __init__(self, values: Values, threshold: float) -> None:
        self.values, self.threshold = values, threshold

    def __call__(self, block: Array, rows: Array) -> int:
        return int(np.count_nonzero(self.values(block, rows) > self.threshold))
