"""From trusted rows to the description of the whole space, and to the scores of all training rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pyod_gessvdd import progress
from pyod_gessvdd.components.contracts import QPBackend
from pyod_gessvdd.dual import QPSolution
from pyod_gessvdd.kernels.npt import PairwiseKernel
from pyod_gessvdd.linalg import weighted_quantiles
from pyod_gessvdd.preprocessing import Scaling
from pyod_gessvdd.qp import solve_kernel_svdd
from pyod_gessvdd.qp.signed import outlier_bounds, solve_signed_kernel
from pyod_gessvdd.whole_space.description import WholeSpace
from pyod_gessvdd.whole_space.exact import ExactRows
from pyod_gessvdd.whole_space.factor import one_copy
from pyod_gessvdd.whole_space.landmarks import LandmarkRows
from pyod_gessvdd.whole_space.metric import Metric, Rows

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
        All rows' scores, as they are and as if each had been left out; the same for rows that do not count.
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
    doubted: float = 0.0,
    sample_weight: Array | None = None,
    scaled_without_itself: Array | None = None,
    outliers: Array | None = None,
    surely_trusted: Array | None = None,
) -> Learnt:
    """The description of the trusted rows.

    Parameters
    ----------
    scaling : Scaling
        The scaling of the rows.
    kernel : PairwiseKernel
        Prepared here.
    scaled : ndarray of shape (N, D)
        The scaled training rows.
    trusted : ndarray of int
        The rows to learn from.
    bounds : callable
        Maps rows to the bounds of their α.
    ridge : float
        λ as a share of Tr(S_x²)/Tr(S_x).
    backend, tol
        The QP's.
    share_outside : float, optional
        If given, this share of the rows will be labelled outliers, and trusted rows among them are taken out: a row
        that is labelled must not have taken part in the description that measures a new row like it.
    doubted : float, default=0.0
        How far rows above the limit that are not trusted are brought towards it, from 0 to 1.
    sample_weight : ndarray of shape (N,), optional
        How often each row counts.
    scaled_without_itself : ndarray of shape (N, D), optional
        The rows as :meth:`Scaling.apply_to_training` returns them, for their scores as if left out.
    outliers : ndarray of shape (k, D), optional
        Labelled outliers, scaled: rows that resemble them score higher.
    surely_trusted : ndarray of int, optional
        The rows that are known to be inliers: they are not taken out.
    """
    weights = np.ones(len(scaled)) if sample_weight is None else sample_weight
    _prepare(kernel, scaled[trusted], None if sample_weight is None else sample_weight[trusted])
    rows: Rows
    progress.stage("kernel matrix")
    if kernel.is_exact(len(scaled)):
        moved, apart = None, scaled_without_itself
        if apart is not None:
            moved = kernel.gram(apart, scaled), kernel.gram_diagonal(apart)
        rows = ExactRows(kernel, scaled, kernel.checked_gram(scaled), weights, moved)
    else:
        rows = LandmarkRows.of(kernel, scaled, weights, trusted)
    progress.stage("metric")
    lam = ridge * rows.effective_scatter(trusted)
    metric: Metric = rows.metric(trusted, lam)
    if share_outside is not None:
        metric = _concentrated(metric, share_outside, doubted, rows.max_take_out, weights, surely_trusted)
        trusted = metric.trusted
    lengths = metric.lengths()
    progress.stage("sphere", 1)
    description, solution, along = metric.describe(scaling, bounds(trusted), backend, tol)
    progress.step(1, "gap %.1e", solution.gap)
    own = np.zeros(len(scaled))
    own[trusted] = solution.alpha * one_copy(weights[trusted]) / weights[trusted] * lengths.plain[trusted]
    rest, unit = description.center_norm2 + lengths.beyond, description.unit
    scores = np.maximum(lengths.plain - 2.0 * along + rest, 0.0) / unit
    left_out = lengths.left_out - 2.0 * (along - own) / lengths.left + description.center_norm2
    left_out = np.maximum(left_out, 0.0) / unit
    counts = lengths.left < 1.0
    counts[trusted] = True
    left_out = np.where(counts, left_out, scores)
    if outliers is not None:
        labels = description.regression(outliers)
        description = replace(description, known=labels.known())
        copies = np.zeros(len(scaled))
        copies[trusted] = one_copy(weights[trusted])
        plain_factors, left_out_factors = labels.training_factors(scaled, lengths.plain, copies)
        scores, left_out = scores * plain_factors, left_out * left_out_factors
    return Learnt(description, trusted, solution, scores, left_out)


def _concentrated(
    metric: Metric,
    share_outside: float,
    doubted: float,
    max_take_out: int,
    weights: Array,
    surely_trusted: Array | None,
) -> Metric:
    """The metric without the trusted rows that will be labelled, first as it is, then with doubted rows in it."""
    measured, doubts = metric, 0.0
    for _ in range(max_take_out):
        trusted, lengths = metric.trusted, measured.lengths()
        left_out = lengths.plain + lengths.beyond
        left_out[trusted] = lengths.left_out[trusted]
        limit = float(weighted_quantiles(left_out, [1.0 - share_outside], weights)[0])
        labelled = trusted[left_out[trusted] > limit]
        if surely_trusted is not None:
            labelled = np.setdiff1d(labelled, surely_trusted, assume_unique=True)
        if labelled.size and len(trusted) - len(labelled) >= len(weights) / 2:
            metric = metric.without(labelled)
        elif doubts < doubted:
            doubts = doubted
        else:
            return measured
        measured = _doubting(metric, limit, doubts, weights)
    return measured if doubts == doubted else _doubting(metric, limit, doubted, weights)


def _doubting(metric: Metric, limit: float, doubted: float, weights: Array) -> Metric:
    """The metric in which rows that are not trusted count a little.

    Of clean rows a tenth is not trusted all the same, and new rows like these are no outliers. A row of squared length
    q that counts w has the length q/(1 + wq). With w = [(q/t)^β − 1]/q, where t is the length above which rows are
    labelled, that is q^(1−β)·t^β: with β = ½ it would be the geometric mean of both. It stays above t, and the order of
    such rows remains. Rows that resemble each other share one such weight.

    Parameters
    ----------
    metric : Metric
        The metric of the trusted rows.
    limit, doubted : float
        t and β.
    weights : ndarray of shape (N,)
        How often each row counts.
    """
    if not (limit > 0.0 and doubted > 0.0):
        return metric
    others = np.setdiff1d(np.flatnonzero(weights), metric.trusted, assume_unique=True)
    squares = metric.squares(others)
    others, squares = others[squares > limit], squares[squares > limit]
    if not others.size:
        return metric
    company = metric.company(others, squares)
    return metric.doubting(others, weights[others] * ((squares / limit) ** doubted - 1.0) / (squares * company))


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
    outliers: Array | None = None,
) -> Learnt:
    """:func:`learn` without a graph: the sphere in the kernel's own space; only its support is kept.

    Labelled outliers are its negative examples, and come after the trusted rows in the solution.
    """
    _prepare(kernel, scaled[trusted], None if sample_weight is None else sample_weight[trusted])
    n_rows, solved = len(scaled), trusted
    if outliers is not None:
        scaled = np.vstack([scaled, outliers])
        solved = np.concatenate([trusted, np.arange(n_rows, len(scaled))])
    progress.stage("kernel matrix")
    K = kernel.checked_gram(scaled)
    inside = K if len(solved) == len(K) else K[np.ix_(solved, solved)]
    upper = bounds(trusted)
    progress.stage("sphere", 1)
    if outliers is None:
        solution = solve_kernel_svdd(inside, upper, backend, tol, None)
    else:
        upper = np.concatenate([upper, outlier_bounds(upper, len(outliers))])
        solution = solve_signed_kernel(inside, upper, solved >= n_rows, backend, tol)
    progress.step(1, "gap %.1e", solution.gap)
    support, alpha = solved[solution.support], solution.alpha[solution.support]
    norm2 = solution.extras["center_norm2"]
    description = WholeSpace(scaling, kernel, scaled[support], 1.0, None, alpha, norm2, solution.radius2)
    squares = K.diagonal()[:n_rows] - 2.0 * (K[:n_rows, support] @ alpha) + norm2
    scores = np.maximum(squares, 0.0) / description.unit
    return Learnt(description, trusted, solution, scores, scores)


def _prepare(kernel: PairwiseKernel, scaled: Array, sample_weight: Array | None) -> None:
    """Let the kernel find its width from the rows that count."""
    if sample_weight is None:
        kernel.prepare_weighted(scaled, None)
    else:
        counts = sample_weight > 0
        kernel.prepare_weighted(scaled[counts], sample_weight[counts])
