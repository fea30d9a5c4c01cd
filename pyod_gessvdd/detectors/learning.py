"""How a fit learns: the rows that it trusts, then the whole of a kernel's space or, as in the paper, a subspace."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pyod_gessvdd import whole_space
from pyod_gessvdd.boundaries.boundary import Boundary
from pyod_gessvdd.components.contracts import Kernel, NoGraph
from pyod_gessvdd.components.validation import build_graph, graph_scatter
from pyod_gessvdd.description import Description
from pyod_gessvdd.detectors.model import Model
from pyod_gessvdd.detectors.rows import DistinctRows, bounds, counted, draw, rows_and_weights, spread
from pyod_gessvdd.detectors.settings import Components
from pyod_gessvdd.detectors.start import start
from pyod_gessvdd.dual import QPSolution
from pyod_gessvdd.feature_map import FeatureMap, learn_scaling
from pyod_gessvdd.preprocessing import Scaling
from pyod_gessvdd.residual import LEFT_OUT_POWER
from pyod_gessvdd.subspace import total_scatter
from pyod_gessvdd.training import Points, TrainingData, alternate, record, training_scores
from pyod_gessvdd.trust import Trust, trusted_rows

Array = np.ndarray

#: With more columns than rows over this, training rows leave the scaling too when they are left out.
MANY_COLUMNS = 20


def rows_to_learn_from(X: Array, weights: Array | None, kernel: Kernel, settings: dict[str, Any]) -> Trust:
    """The rows that count and, unless all are, those of them that can be trusted.

    Parameters
    ----------
    X : ndarray of shape (N, D)
        The training rows.
    weights : ndarray of shape (N,) or None
        How often each counts.
    kernel : Kernel
        The detector's, not fitted yet, with the width that it has of itself.
    settings : dict
        Every setting has its value.
    """
    rows = np.arange(len(X)) if weights is None else np.flatnonzero(weights)
    if len(rows) < 2:
        raise ValueError(f"sample_weight must leave at least 2 rows with a positive weight, got {len(rows)}")
    if weights is not None and len(rows) < len(X) and not kernel.input_is_rows:
        raise ValueError(
            f"sample_weight must be positive with a kernel matrix, got 0 for row {int(np.argmin(weights))}; "
            "leave out its row and its column instead"
        )
    if settings["trim"] == 0.0 or not kernel.input_is_rows:
        return Trust(rows, [])
    inside = None if weights is None else weights[rows]
    for name in {"view_weights", "smooth"} & kernel.get_params(deep=False).keys():
        kernel.set_params(**{name: None})  # trust looks at one view, whatever the description looks at
    trust = trusted_rows(
        X[rows],
        kernel,
        1.0 - settings["trim"],
        settings["random_state"],
        inside,
        standardize=bool(settings["standardize"]),
        center=settings["center"] is not False,
    )
    return replace(trust, rows=rows[trust.rows]) if len(trust.rows) >= 2 else Trust(rows, trust.history)


def in_whole_space(
    X: Array, weights: Array | None, trusted: Array, parts: Components, settings: dict[str, Any]
) -> Model:
    """No subspace and a kernel: the sphere in the whole of the kernel's space.

    Equal rows are one row with a weight: they are trusted together, and score alike to the last bit.
    """
    kernel = parts.kernel
    # With more columns than rows, a row that had a part in the scaling is nearer than a new row to all others.
    wide = X.shape[1] > len(X)
    counting, counts = rows_and_weights(X, weights, trusted) if wide else counted(X, weights)
    scaling = learn_scaling(counting, kernel, center=True, standardize=settings["standardize"], sample_weight=counts)
    drawn = draw(X, scaling, settings["random_state"])
    learnt = learn_whole_space(
        X[drawn], None if weights is None else weights[drawn], np.isin(drawn, trusted), scaling, parts, settings
    )
    scores, left_out = np.empty(len(X)), np.empty(len(X))
    scores[drawn], left_out[drawn] = learnt.scores, learnt.left_out_scores
    others = np.arange(len(X))
    if not isinstance(parts.laplacian, NoGraph):  # without a metric no row has a part in what it is measured by
        others = np.setdiff1d(others, drawn[learnt.trusted], assume_unique=True)
    if others.size:
        # New rows to the description, to the last bit: a label must be what predict says of the same row.
        scores[others] = left_out[others] = learnt.description.scores(X[others])
    return replace(learnt, trusted=drawn[learnt.trusted], scores=scores, left_out_scores=left_out)


def learn_whole_space(
    X: Array,
    weights: Array | None,
    is_trusted: Array,
    scaling: Scaling,
    parts: Components,
    settings: dict[str, Any],
) -> Model:
    """The description of the whole space from the rows that were drawn, and what it says of them.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        The rows.
    weights : ndarray of shape (n,) or None
        How often each counts.
    is_trusted : ndarray of bool of shape (n,)
        Which may be learnt from.
    scaling, parts, settings
        What scales them, and the detector's.
    """
    kernel = parts.kernel
    rows = DistinctRows.of(X, weights)
    sphere = {"backend": parts.qp_backend, "tol": settings["qp_tol"]}

    def bounds_of(places: Array) -> Array:
        return bounds(places, rows.weights, settings)

    arguments = (scaling, kernel, scaling.apply(rows.X), rows.holding(is_trusted), bounds_of)
    if isinstance(parts.laplacian, NoGraph):
        learnt = whole_space.svdd(*arguments, sample_weight=rows.weights, **sphere)
    else:
        many_columns = MANY_COLUMNS * X.shape[1] > len(rows.X)
        learnt = whole_space.learn(
            *arguments,
            ridge=settings["ridge"],
            share_outside=None if settings["trim"] == 0.0 else settings["share_outside"],
            sample_weight=rows.weights,
            scaled_without_itself=scaling.apply_to_training(rows.X, rows.weights) if many_columns else None,
            **sphere,
        )
    places, solution = rows.solution(learnt.trusted, learnt.solution)
    return Model(
        parts,
        learnt.description,
        places,
        solution,
        [record(0, solution)],
        "the whole space is described: there is no subspace to learn",
        0,
        rows.spread(learnt.scores),
        rows.spread(learnt.left_out_scores),
    )


def in_subspace(
    X: Array,
    weights: Array | None,
    trusted: Array,
    parts: Components,
    settings: dict[str, Any],
    boundary: type[Boundary],
) -> Model:
    """The paper's Algorithm 1, on the trusted rows."""
    upper = bounds(trusted, weights, settings)
    rows, weights = rows_and_weights(X, weights, trusted)
    feature_map, Phi, missed = FeatureMap.learn(
        rows,
        parts.kernel,
        center=settings["center"] is not False,
        standardize=settings["standardize"],
        counts_missed=settings["residual"],
        sample_weight=weights,
    )
    if len(trusted) < len(X):
        chosen = np.isin(np.arange(len(X)), trusted)
        parts = replace(parts, laplacian=parts.laplacian.of_rows(chosen))
    graph = build_graph(parts.laplacian, Phi, settings["random_state"], weights)
    # What start and graph have in common, once; a graph of weighted rows has its own.
    total = total_scatter(Phi) if weights is None and settings["around_mean"] else None
    S_x = None if graph is None else graph_scatter(graph, Phi, parts.laplacian, total)
    Q = start(Phi, S_x, settings, settings["random_state"], weights, total)

    def fit_boundary(points: Points, last: QPSolution | None) -> tuple[Boundary, QPSolution]:
        last_alpha = None if last is None else last.alpha
        return boundary.fit(*points, upper, backend=parts.qp_backend, tol=settings["qp_tol"], last_alpha=last_alpha)

    data = TrainingData(Phi, graph, S_x, missed, weights)
    result = alternate(
        data,
        Q,
        updater=parts.updater,
        fit_boundary=fit_boundary,
        warn_of_lost_dimensions=isinstance(settings["n_components"], int) or not isinstance(settings["init"], str),
        **{name: settings[name] for name in ("criterion", "ridge", "n_iter", "tol", "keep")},
    )
    description = Description(feature_map, result.subspace, result.boundary)
    if missed is None or S_x is None:
        scores = left_out = description.scores(X)
    else:
        power = 1.0 if settings["n_components"] == "all" else LEFT_OUT_POWER
        scores, left_out = training_scores(description, data, power)
        if len(trusted) < len(X):
            as_new = description.scores(X)
            scores, left_out = spread(scores, trusted, as_new), spread(left_out, trusted, as_new)
    return Model(
        parts,
        description,
        trusted,
        result.solution,
        result.history,
        result.stop_reason,
        result.best_iteration,
        scores,
        left_out,
    )
