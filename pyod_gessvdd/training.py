"""The alternation of Algorithm 1: project and whiten, fit the boundary, update Q; and why it stopped.

``docs/method.md`` derives it (section 4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np

from pyod_gessvdd import progress
from pyod_gessvdd.boundaries.boundary import Boundary
from pyod_gessvdd.components.contracts import Updater, UpdateState
from pyod_gessvdd.components.validation import check_projection, names_the_writer
from pyod_gessvdd.description import Description
from pyod_gessvdd.dual import QPSolution
from pyod_gessvdd.errors import warn
from pyod_gessvdd.graph import Graph
from pyod_gessvdd.linalg import RELATIVE_ZERO, read_only, row_blocks
from pyod_gessvdd.residual import left_out_factor, leverage
from pyod_gessvdd.subspace import Subspace, orthonormalise, subspace_distance

Array = np.ndarray
Points = tuple[Array, Array | None]


@dataclass(frozen=True)
class TrainingData:
    """What stays fixed during the alternation: the features, the graph over them, and its scatter.

    ``missed``, of shape (N,), is what the features miss of each row, or None if the residual does not count;
    ``sample_weight`` is how often each row counts, or None if all count equally. The last ``n_outliers`` rows are
    labelled outliers, which are not in the graph. ``penalty`` is βL of a graph over the columns.
    """

    Phi: Array
    graph: Graph | None
    S_x: Array | None
    missed: Array | None = None
    sample_weight: Array | None = None
    n_outliers: int = 0
    penalty: Graph | None = None

    @property
    def counts_residual(self) -> bool:
        """Whether what lies outside the subspace counts."""
        return self.missed is not None

    def points(self, subspace: Subspace, last: Points | None) -> Points:
        """Z and r²/ρ of all rows, in the memory of the previous ones if they fit."""
        return subspace.training_points(self.Phi, self.missed, None if last is None else last[0])

    def state(self, solution: QPSolution, **known: Any) -> UpdateState:
        """What an updater sees: the rows, their α, and whatever else is known."""
        return UpdateState(
            Phi=read_only(self.Phi),
            alpha=read_only(solution.alpha),
            boundary=solution.boundary,
            sample_weight=self.sample_weight,
            n_outliers=self.n_outliers,
            penalty=self.penalty,
            **known,
        )


@dataclass
class TrainingResult:
    """The subspace and the boundary that the alternation ends with, and its history.

    ``best_iteration`` is the index in ``history`` of the iterate that they come from.
    """

    subspace: Subspace
    boundary: Boundary
    solution: QPSolution
    history: list[dict[str, Any]] = field(default_factory=list)
    stop_reason: str = ""
    best_iteration: int = 0

    @property
    def n_iter(self) -> int:
        """The number of updates made."""
        return len(self.history) - 1


def alternate(
    data: Any,
    Q: Array,
    *,
    updater: Updater,
    fit_boundary: Callable[[Any, QPSolution | None], tuple[Boundary, QPSolution]],
    criterion: str,
    ridge: float,
    n_iter: int,
    tol: float,
    keep: str = "last",
    warn_of_lost_dimensions: bool = True,
) -> TrainingResult:
    """Alternate between the boundary and the subspace (paper, Algorithm 1).

    Parameters
    ----------
    data : TrainingData
        Features, graph and scatter; or their stand-in where the rows come from a source.
    Q : ndarray of shape (d, F)
        The initial orthonormal rows; an updater may return fewer and, later, d again.
    updater : Updater
        The sub-algorithm.
    fit_boundary : callable
        Maps the points of the data, which it may overwrite, and the last solution or None to the boundary and its
        certified solution.
    criterion : {"min", "max"}
        The direction of the optimisation.
    ridge : float
        See :func:`~pyod_gessvdd.subspace.whiten`.
    n_iter, tol : int, float
        Stop after this many updates, or when the relative change of the criterion is at most ``tol``; with tol = 0
        only the number of updates counts, as in the paper.
    keep : {"last", "best"}
        The iterate to end with: the last, as in the paper, or the one with the best criterion.
    warn_of_lost_dimensions : bool, default=True
        Whether to warn when the subspace ends with fewer dimensions, or with directions that the graph does not see.
    """
    d = len(Q)
    history: list[dict[str, Any]] = []
    memo: dict[str, Any] = {}
    points: Any = None
    solution: QPSolution | None = None
    n_unseen = 0
    kept: TrainingResult | None = None
    progress.stage("updates", n_iter)
    while True:
        subspace = Subspace.at(Q, data.S_x, ridge, residual=data.counts_residual)
        points = data.points(subspace, points)
        boundary, solution = fit_boundary(points, solution)
        n_unseen = max(n_unseen, subspace.whitening.n_unseen)
        history.append(record(len(history), solution))
        progress.step(len(history) - 1, "criterion %.4g, gap %.1e", solution.objective, solution.gap)
        iterate = TrainingResult(subspace, boundary, solution, history, best_iteration=len(history) - 1)
        if kept is None or keep == "last" or _is_better(iterate, kept, criterion):
            kept = iterate
        stop_reason = _reason_to_stop(history, n_iter, tol)
        if not stop_reason:
            state = data.state(
                solution,
                Q=read_only(Q),
                S_x=None if data.S_x is None else read_only(data.S_x),
                S_inv=subspace.whitening.inverse,
                graph=data.graph,
                n_components=d,
                criterion=criterion,
                iteration=len(history),
                memo=memo,
            )
            with names_the_writer(f"updater {updater.name!r}"):
                returned = updater.update(state)
            updated = orthonormalise(check_projection(returned, d, Q.shape[1], updater))
            if updated.shape[0] == 0:
                stop_reason = f"the {updater.name} update found no direction with a positive eigenvalue"
            else:
                history[-1]["step"] = subspace_distance(Q, updated)
                Q = updated
        if stop_reason:
            kept.stop_reason = stop_reason
            if warn_of_lost_dimensions:
                _warn_about_lost_dimensions(len(kept.subspace.Q), d, n_unseen, updater)
            return kept


def record(iteration: int, solution: QPSolution) -> dict[str, Any]:
    """One entry of ``history_``; ``step`` is how far the next update moves the subspace (0 after the last)."""
    return {
        "iteration": iteration,
        # Tr(S_Q⁻¹ Q S_α Qᵀ) (paper eq. ``Ltrace``) is the dual's value: Σ α_i ‖z_i − u‖²
        "criterion": solution.objective,
        "radius": sqrt(solution.radius2),
        "n_support": solution.n_support,
        "gap": solution.gap,
        "step": 0.0,
    }


def _is_better(iterate: TrainingResult, kept: TrainingResult, criterion: str) -> bool:
    """Whether an iterate's criterion is better; one that has lost dimensions is worse, as its trace has fewer terms.

    A difference within the solver's duality gap is a tie, and the earlier iterate is kept.
    """
    if len(iterate.subspace.Q) != len(kept.subspace.Q):
        return len(iterate.subspace.Q) > len(kept.subspace.Q)
    change = iterate.solution.objective - kept.solution.objective
    unsure = max(iterate.solution.gap, kept.solution.gap, RELATIVE_ZERO) * abs(kept.solution.objective)
    return change > unsure if criterion == "max" else change < -unsure


def _reason_to_stop(history: list[dict[str, Any]], n_iter: int, tol: float) -> str:
    if len(history) > n_iter:
        return f"made the {n_iter} updates asked for"
    if tol > 0 and len(history) > 1:
        last, before = history[-1]["criterion"], history[-2]["criterion"]
        if abs(last - before) <= tol * abs(before):
            return f"the criterion changed by no more than tol={tol:g} of itself"
    return ""


def _warn_about_lost_dimensions(n_left: int, n_components: int, n_unseen: int, updater: Updater) -> None:
    if n_left < n_components:
        warn(
            f"the subspace has {n_left} of the n_components={n_components} dimensions asked for: the {updater.name} "
            "update found no more independent directions with a positive eigenvalue"
        )
    if n_unseen:
        warn(
            f"the graph sees no scatter in {n_unseen} of the {n_components} subspace directions, and the ridge alone "
            "scales them; a smaller n_components or another laplacian avoids this"
        )


def training_scores(description: Description, data: TrainingData, power: float) -> tuple[Array, Array]:
    """The training rows' scores, as they are and as if left out, from features already computed.

    Parameters
    ----------
    description : Description
        What scores the rows; its residual must count.
    data : TrainingData
        What it was learnt from.
    power : float
        See :func:`~pyod_gessvdd.residual.left_out_factor`.
    """
    Z, residual2 = description.subspace.training_points(data.Phi, data.missed, None)
    if residual2 is None:
        raise ValueError("the scores of rows as if left out need the residual")
    factor = left_out_factor(leverage(Z, residual2, data.sample_weight), power)
    scores = np.empty(len(Z))
    for rows in row_blocks(*Z.shape):
        scores[rows] = description.boundary.scores(Z[rows], residual2[rows])
    return scores, scores * factor
