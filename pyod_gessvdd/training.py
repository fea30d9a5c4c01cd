"""The alternation of Algorithm 1: project and whiten, solve the SVDD, update Q; and the reason why it stopped."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pyod_gessvdd.components.contracts import Updater, UpdateState
from pyod_gessvdd.components.validation import check_projection
from pyod_gessvdd.dual import QPSolution
from pyod_gessvdd.graph import Graph
from pyod_gessvdd.linalg import row_blocks
from pyod_gessvdd.residual import ResidualAxis, leverage
from pyod_gessvdd.subspace import orthonormalise, subspace_distance, whiten

Array = np.ndarray


@dataclass(frozen=True)
class TrainingData:
    """What stays the same during the alternation: the features, the graph over them, and its scatter.

    ``missed`` is what the features miss of each row, of shape (N,), if the residual is to be a coordinate; else None.
    """

    Phi: Array
    graph: Graph | None
    S_x: Array | None
    missed: Array | None = None


@dataclass
class TrainingResult:
    """The subspace and the sphere in it that the alternation ends with, and how it went.

    ``best_iteration`` is the index in ``history`` of the iterate that they are from. ``leverage`` is how much each row
    pulls the description towards itself, if there is a residual coordinate.
    """

    Q: Array
    projection: Array
    sphere: QPSolution
    history: list[dict[str, Any]] = field(default_factory=list)
    stop_reason: str = ""
    best_iteration: int = 0
    axis: ResidualAxis | None = None
    leverage: Array | None = None

    @property
    def n_iter(self) -> int:
        """The number of updates made."""
        return len(self.history) - 1


def alternate(
    data: TrainingData,
    Q: Array,
    *,
    n_components: int,
    updater: Updater,
    solve: Callable[[Array, Array | None], QPSolution],
    criterion: str,
    ridge: float,
    n_iter: int,
    tol: float,
    warn: bool = True,
    keep: str = "last",
) -> TrainingResult:
    """Alternate between the sphere and the subspace (paper, Algorithm 1).

    Parameters
    ----------
    data : TrainingData
        Features, graph and scatter.
    Q : ndarray of shape (d, F)
        The start, orthonormal rows.
    n_components : int
        The d asked for; an updater may return fewer rows and, later, d again.
    updater : Updater
        The sub-algorithm.
    solve : callable
        From (Z, the last α) to the certified sphere; Z holds every row twice if there is a residual coordinate.
    criterion : {"min", "max"}
        The direction.
    ridge : float
        See :func:`~pyod_gessvdd.subspace.whiten`.
    n_iter, tol : int, float
        Stop after this many updates, or when the criterion changes by no more than this share of itself; with tol = 0
        only the number counts, as in the paper.
    warn : bool, default=True
        Whether to warn when the subspace ends with fewer dimensions, or with directions that the graph does not see.
    keep : {"last", "best"}
        The iterate to end with: the last, as in the paper, or the one with the best criterion.
    """
    history: list[dict[str, Any]] = []
    memo: dict[str, Any] = {}
    buffer: Array | None = None
    alpha: Array | None = None
    n_unseen = 0
    kept: TrainingResult | None = None
    while True:
        whitening = whiten(Q, data.S_x, ridge)
        n_unseen = max(n_unseen, whitening.n_unseen)
        projection = whitening.root @ Q
        axis = None if data.missed is None else ResidualAxis.learn(Q, data.S_x, ridge)
        buffer = _project(data, projection, axis, buffer)
        sphere = solve(buffer, alpha)
        alpha = sphere.alpha
        history.append(record(len(history), sphere))
        iterate = TrainingResult(Q, projection, sphere, history, best_iteration=len(history) - 1, axis=axis)
        if kept is None or keep == "last" or _is_better(iterate, kept, criterion):
            kept = iterate
        stop_reason = _reason_to_stop(history, n_iter, tol)
        if not stop_reason:
            state = UpdateState(
                Q=Q,
                Phi=data.Phi,
                alpha=alpha,
                S_x=data.S_x,
                S_inv=whitening.inverse,
                graph=data.graph,
                n_components=n_components,
                criterion=criterion,
                iteration=len(history),
                memo=memo,
                boundary=sphere.boundary,
            )
            updated = orthonormalise(check_projection(updater.update(state), n_components, Q.shape[1], updater))
            if updated.shape[0] == 0:
                stop_reason = f"the {updater.name} update found no direction with a positive eigenvalue"
            else:
                history[-1]["step"] = subspace_distance(Q, updated)
                Q = updated
        if stop_reason:
            kept.stop_reason = stop_reason
            if kept.axis is not None and data.S_x is not None:
                kept.leverage = leverage(_project(data, kept.projection, kept.axis, buffer)[: len(data.Phi)])
            if warn:
                _warn_about_lost_dimensions(kept.Q.shape[0], n_components, n_unseen, updater)
            return kept


def _project(data: TrainingData, projection: Array, axis: ResidualAxis | None, buffer: Array | None) -> Array:
    """The projected rows, in ``buffer`` if it fits: fresh memory of that size costs as much as the product.

    With a residual axis the rows, and after them the rows mirrored at the subspace.
    """
    Phi, d = data.Phi, len(projection)
    N = Phi.shape[0]
    shape = (N, d) if axis is None else (2 * N, d + 1)
    Z = buffer if buffer is not None and buffer.shape == shape else np.empty(shape)
    for rows in row_blocks(*Phi.shape):
        Z[rows, :d] = Phi[rows] @ projection.T
        if axis is not None and data.missed is not None:
            Z[rows, d] = axis.coordinate(Phi[rows], data.missed[rows])
    if axis is not None:
        Z[N:] = Z[:N]
        Z[N:, d] *= -1.0
    return Z


def record(iteration: int, sphere: QPSolution) -> dict[str, Any]:
    """One line of ``history_``; ``step`` is how far the update that follows moves the subspace (0 after the last)."""
    return {
        "iteration": iteration,
        # Tr(S_Q⁻¹ Q S_α Qᵀ) (paper eq. ``Ltrace``) is the dual's value: Σ α_i ‖z_i − u‖²
        "criterion": sphere.objective,
        "radius": float(np.sqrt(sphere.radius2)),
        "n_support": len(sphere.support),
        "gap": sphere.gap,
        "step": 0.0,
    }


def _is_better(iterate: TrainingResult, kept: TrainingResult, criterion: str) -> bool:
    """Whether an iterate's criterion is better; one that has lost dimensions is worse, as its trace has fewer terms."""
    if iterate.Q.shape[0] != kept.Q.shape[0]:
        return iterate.Q.shape[0] > kept.Q.shape[0]
    change = iterate.sphere.objective - kept.sphere.objective
    return change > 0 if criterion == "max" else change < 0


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
        warnings.warn(
            f"the subspace has {n_left} of the n_components={n_components} dimensions asked for: the {updater.name} "
            "update found no more independent directions with a positive eigenvalue",
            UserWarning,
            stacklevel=4,
        )
    if n_unseen:
        warnings.warn(
            f"the graph sees no scatter in {n_unseen} of the {n_components} subspace directions, and the ridge alone "
            "scales them; a smaller n_components or another laplacian avoids this",
            UserWarning,
            stacklevel=4,
        )
