"""From trusted rows to the description of the whole space, and to the scores of all training rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pyod_gessvdd.components.contracts import QPBackend
from pyod_gessvdd.dual import QPSolution
from pyod_gessvdd.kernels.npt import PairwiseKernel
from pyod_gessvdd.linalg import weighted_quantiles
from pyod_gessvdd.preprocessing import Scaling
from pyod_gessvdd.qp import solve_kernel_svdd
from pyod_gessvdd.whole_space.description import WholeSpace
from pyod_gessvdd.whole_space.exact import ExactRows
from pyod_gessvdd.whole_space.factor import one_copy
from pyod_gessvdd.whole_space.landmarks import LandmarkRows
from pyod_gessvdd.whole_space.metric import Rows

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Learnt:
    """What is learnt from the trusted rows.

    Attributes
    ----------
    description : WholeSpace
        From rows to scores.
    trusted : ndarray of int
        The rows that it was learnt from.
    solution : QPSolution
        Their solved dual.
    scores, left_out_scores : ndarray of shape (N,)
        All rows' scores, as they are and as if each had been left out; the same for rows that are not trusted.
    """

    description: WholeSpace
    trusted: Array
    solution: QPSolution
    scores: Array
    left_out_scores: Array


def learn(
    scaling: Scaling,
    kernel: PairwiseKernel,
    scaled: Array,
    trusted: Array,
    bounds: Callable[[Array], Array],
    *,
    ridge: float,
    backend: QPBackend,
    tol: float,
    share_outside: float | None = None,
    sample_weight: Array | None = None,
    scaled_without_itself: Array | None = None,
) -> Learnt:
    """The description of the trusted rows.

    Parameters
    ----------
    scaling : Scaling
        What the rows were scaled by.
    kernel : PairwiseKernel
        Prepared here.
    scaled : ndarray of shape (N, D)
        The scaled training rows.
    trusted : ndarray of int
        The rows to learn from.
    bounds : callable
        From rows to the bounds of their α.
    ridge : float
        λ as a share of Tr(S_x²)/Tr(S_x).
    backend, tol
        The QP's.
    share_outside : float, optional
        If given, this share of the rows is going to be labelled as outliers, and trusted rows among them are taken out:
        who is labelled must not have had a part in the description that a new row like it is measured by.
    sample_weight : ndarray of shape (N,), optional
        How often each row counts.
    scaled_without_itself : ndarray of shape (N, D), optional
        The rows as :meth:`Scaling.apply_to_training` has them, for their scores as if left out.
    """
    weights = np.ones(len(scaled)) if sample_weight is None else sample_weight
    _prepare(kernel, scaled, sample_weight)
    rows: Rows
    if kernel.is_exact(len(scaled)):
        moved = None if scaled_without_itself is None else kernel.gram(scaled_without_itself, scaled)
        rows = ExactRows(kernel, scaled, kernel.checked_gram(scaled), weights, moved)
    else:
        rows = LandmarkRows.of(kernel, scaled, weights, trusted)
    lam = ridge * rows.effective_scatter(trusted)
    metric = rows.metric(trusted, lam)
    lengths = metric.lengths()
    rounds = 0 if share_outside is None else rows.max_take_out
    for _ in range(rounds):
        left_out = lengths.left_out
        limit = weighted_quantiles(left_out, [1.0 - float(share_outside or 0.0)], sample_weight)[0]
        fewer = trusted[left_out[trusted] <= limit]
        if len(fewer) == len(trusted) or len(fewer) < len(scaled) / 2:
            break
        metric = metric.without(np.setdiff1d(trusted, fewer, assume_unique=True))
        trusted = fewer
        lengths = metric.lengths()
    description, solution, along = metric.describe(scaling, bounds(trusted), backend, tol)
    own = np.zeros(len(scaled))
    own[trusted] = solution.alpha * one_copy(weights[trusted]) / weights[trusted] * lengths.plain[trusted]
    rest, unit = description.center_norm2 + lengths.beyond, description.unit
    scores = np.maximum(lengths.plain - 2.0 * along + rest, 0.0) / unit
    left_out = lengths.left_out - 2.0 * (along - own) / lengths.left + description.center_norm2
    left_out = np.maximum(left_out, 0.0) / unit
    return Learnt(description, trusted, solution, scores, left_out)


def svdd(
    scaling: Scaling,
    kernel: PairwiseKernel,
    scaled: Array,
    trusted: Array,
    bounds: Callable[[Array], Array],
    *,
    backend: QPBackend,
    tol: float,
    sample_weight: Array | None = None,
) -> Learnt:
    """:func:`learn` without a graph: the sphere in the kernel's own space, of which only the support is kept."""
    _prepare(kernel, scaled, sample_weight)
    K = kernel.checked_gram(scaled)
    inside = K if len(trusted) == len(K) else K[np.ix_(trusted, trusted)]
    solution = solve_kernel_svdd(inside, bounds(trusted), backend, tol, None)
    support, alpha = trusted[solution.support], solution.alpha[solution.support]
    norm2 = solution.extras["center_norm2"]
    description = WholeSpace(scaling, kernel, scaled[support], 1.0, None, alpha, norm2, solution.radius2)
    squares = K.diagonal() - 2.0 * (K[:, support] @ alpha) + norm2
    scores = np.maximum(squares, 0.0) / description.unit
    return Learnt(description, trusted, solution, scores, scores)


def _prepare(kernel: PairwiseKernel, scaled: Array, sample_weight: Array | None) -> None:
    """Let the kernel find its width from the rows that count."""
    if sample_weight is None:
        kernel.prepare_weighted(scaled, None)
    else:
        counts = sample_weight > 0
        kernel.prepare_weighted(scaled[counts], sample_weight[counts])
