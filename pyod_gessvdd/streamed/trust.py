"""Which rows of a source a description may learn from: the rule that the wide description of a sample gives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pyod_gessvdd.components.contracts import Kernel
from pyod_gessvdd.linalg import row_blocks
from pyod_gessvdd.preprocessing import Scaling
from pyod_gessvdd.sources.source import Chosen, Source, meeting
from pyod_gessvdd.streamed.order import OrderStatistics, draw
from pyod_gessvdd.streamed.scaling import learn_scaling
from pyod_gessvdd.streamed.sums import Moments
from pyod_gessvdd.trust import MAX_ROWS, Wide, concentrated, of_one_view, surely_below

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class TrustRule:
    """Whether a row is closer than the limit; rows that the wide description was learnt from count as if left out.

    Attributes
    ----------
    scaling : Scaling
        Applied to the rows first.
    wide : Wide
        The wide description.
    places, scores : ndarray of shape (n,)
        Its rows, ascending, and their scores as if left out.
    below : float
        The bound that a trusted row's score is below.
    history : list of dict
        The rounds in which the description was found.
    order : OrderStatistics or None
        All rows' scores; None where they are not kept, see there.
    """

    scaling: Scaling
    wide: Wide
    places: Array
    scores: Array
    below: float
    history: list[dict[str, Any]]
    order: OrderStatistics | None = None

    def rows(self, source: Source) -> Chosen:
        """The trusted rows of a source."""
        return source.where(self) if self.order is None else self.order.below(self.below)

    def __call__(self, block: Array, rows: Array) -> Array:
        """Whether each row is trusted."""
        return self.distances(block, rows) < self.below

    def distances(self, block: Array, rows: Array) -> Array:
        """The rows' scores by the wide description."""
        if not len(block):
            return np.empty(0)
        # The features of a whole block would be many times its own size.
        parts = row_blocks(len(block), max(self.wide.Phi.shape[1], block.shape[1]))
        scores = np.concatenate([self.wide.as_new(self.scaling.apply(block[part])) for part in parts])
        ours, here = meeting(self.places, rows)
        scores[here] = self.scores[ours]
        return scores


def trust_rule(
    rows: Source,
    known: Moments,
    kernel: Kernel,
    share: float,
    random_state: int,
    *,
    standardize: bool,
    center: bool,
) -> TrustRule:
    """The rule that trusts this share of the rows, see :func:`~pyod_gessvdd.trust.trusted_rows`.

    Parameters
    ----------
    rows : Source
        All rows, more than the wide description is learnt from.
    known : Moments
        Their columns' means and variances.
    kernel, share, random_state, standardize, center
        As for rows in memory.
    """
    kernel = of_one_view(kernel)
    scaling = learn_scaling(rows, known, kernel, center=True, standardize="signed_log" if standardize else False)
    scaled = rows.mapped(scaling.apply, rows.n_columns)
    places = draw(scaled, MAX_ROWS, check_random_state(random_state))
    sample = scaling.apply(rows.take(places))
    wide, kept, history = concentrated(kernel, scaling, sample, share, random_state, None, center)
    # New rows are measured by the metric of the last round, as in memory: scoring rows as if left out learns another.
    measured = wide.without_rows()
    rule = TrustRule(scaling, measured, places, wide.left_out_scores(kept), np.inf, history)
    order = OrderStatistics(rows, rule.distances)
    limit, median = (float(value) for value in order.quantiles([share, 0.5]))
    below = surely_below(limit)
    if not median < below:
        # Equal rows straddle the limit, and without them less than half would be left: they are trusted together.
        below = float(np.nextafter(2.0 * limit - below, np.inf))
    return replace(rule, below=below, order=None if rows.is_lazy else order)
