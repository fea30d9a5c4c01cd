"""How a fit learns: the rows that it trusts, then the whole of a kernel's space or, as in the paper, a subspace."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pyod_gessvdd import progress, whole_space
from pyod_gessvdd.boundaries.boundary import Boundary
from pyod_gessvdd.boundaries.sphere import Sphere
from pyod_gessvdd.components.contracts import Kernel, NoGraph
from pyod_gessvdd.components.validation import build_feature_graph, build_graph, graph_scatter
from pyod_gessvdd.description import Description
from pyod_gessvdd.detectors.labels import Known
from pyod_gessvdd.detectors.model import Model
from pyod_gessvdd.detectors.rows import DistinctRows, bounds, counted, draw, rows_and_weights, spread
from pyod_gessvdd.detectors.settings import BY_SCATTER, Components
from pyod_gessvdd.detectors.start import start
from pyod_gessvdd.dual import QPSolution
from pyod_gessvdd.feature_map import FeatureMap, learn_scaling
from pyod_gessvdd.preprocessing import Scaling
from pyod_gessvdd.residual import LEFT_OUT_POWER
from pyod_gessvdd.subspace import total_scatter
from pyod_gessvdd.training import Points, TrainingData, alternate, record, training_scores
from pyod_gessvdd.trust import Trust, trusted_rows

Array = np.ndarray

#: With more columns than rows divided by this, training rows are left out of the scaling too.
MANY_COLUMNS = 20


def rows_to_learn_from(
    X: Array, weights: Array | None, kernel: Kernel, settings: dict[str, Any], known: Known | None = None
) -> Trust:
    """The rows that count or, unless all can be trusted, the trusted ones among them.

    Parameters
    ----------
    X : ndarray of shape (N, D)
        The training rows.
    weights : ndarray of shape (N,) or None
        How often each counts.
    kernel : Kernel
        The detector's kernel, not yet fitted and not widened.
    settings : dict
        Every setting, with its value.
    known : Known, optional
        Rows that are known to be inliers are trusted.
    """
    # A range takes no memory, which matters where all of many rows are learnt from.
    rows: Any = range(len(X)) if weights is None else np.flatnonzero(weights)
    if len(rows) < 2:
        raise ValueError(f"sample_weight must leave at least 2 rows with a positive weight, got {len(rows)}")
    if weights is not None and len(rows) < len(X) and not kernel.input_is_rows:
        raise ValueError(
            f"sample_weight must be positive with a kernel matrix, got 0 for row {int(np.argmin(weights))}; "
            "leave out its row and its column instead"
        )
    if settings["trim"] == 0.0 or not kernel.input_is_rows:
        return Trust(rows, [])
    rows, inside = (np.arange(len(X)), None) if weights is None else (rows, weights[rows])
    trust = trusted_rows(
        X[rows],
        kernel,
        1.0 - settings["trim"],
        settings["random_state"],
        inside,
        standardize=bool(settings["standardize"]),
        center=settings["center"] is not False,
    )
    trusted = rows[trust.rows] if len(trust.rows) >= 2 else rows
    if known is not None:
        trusted = np.union1d(trusted, rows[known.inliers[rows]])
    return replace(trust, rows=trusted)


def in_whole_space(
    X: Array,
    weights: Array | None,
    trusted: Array | range,
    parts: Components,
    settings: dict[str, Any],
    known: Known | None = None,
) -> Model:
    """No subspace and a kernel: the sphere in the whole of the kernel's space.

    Equal rows are one row with a weight: they are trusted together, and score alike to the last bit. Labelled outliers
    are negative examples of SVDD; with a graph rows that resemble them score higher.
    """
    kernel = parts.kernel
    # With more columns than rows, a row that took part in the scaling is nearer than a new row to all others.
    wide = X.shape[1] > len(X)
    progress.stage("scaling")
    counting, counts = rows_and_weights(X, weights, trusted) if wide else counted(X, weights)
    scaling = learn_scaling(counting, kernel, center=True, standardize=settings["standardize"], sample_weight=counts)
    drawn = draw(X, scaling, settings["random_state"])
    learnt = learn_whole_space(
        X[drawn],
        None if weights is None else weights[drawn],
        np.isin(drawn, trusted),
        scaling,
        parts,
        settings,
        None if known is None else replace(known, inliers=known.inliers[drawn]),
    )
    scores, left_out = np.empty(len(X)), np.empty(len(X))
    scores[drawn], left_out[drawn] = learnt.scores, learnt.left_out_scores
    others, growth = np.arange(len(X)), None
    if not isinstance(parts.laplacian, NoGraph):  # without a metric, no row takes part in what it is measured by
        others = np.setdiff1d(others, drawn[learnt.trusted], assume_unique=True)
    if others.size:
        progress.stage("training scores")
        growth = np.ones(len(X))
        growth[drawn] = learnt.left_out_scores / np.maximum(learnt.scores, np.finfo(float).tiny)
        growth[drawn[learnt.trusted]] = 1.0
        # Scored as new rows, to the last bit: a label must be what predict returns for the same row.
        scores[others] = left_out[others] = learnt.description.scores(X[others])
    solved = learnt.solved
    if solved is not None:
        # Labelled outliers come after all rows, not after the drawn ones.
        solved = np.concatenate([drawn, len(X) + np.arange(len(solved))])[solved]
    if growth is not None and (growth == 1.0).all():
        growth = None
    places = drawn[learnt.trusted]
    return replace(learnt, trusted=places, scores=scores, left_out_scores=left_out, solved=solved, growth=growth)


def learn_whole_space(
    X: Array,
    weights: Array | None,
    is_trusted: Array,
    scaling: Scaling,
    parts: Components,
    settings: dict[str, Any],
    known: Known | None = None,
) -> Model:
    """The description of the whole space, learnt from the drawn rows, and their results.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        The rows.
    weights : ndarray of shape (n,) or None
        How often each counts.
    is_trusted : ndarray of bool of shape (n,)
        Which may be learnt from.
    scaling, parts, settings
        The rows' scaling, and the detector's components and settings.
    known : Known, optional
        Their labels.
    """
    kernel = parts.kernel
    rows = DistinctRows.of(X, weights)
    views = settings["views"]
    if views is not None and kernel.get_params(deep=False).get("view_weights") == settings["view_weights"]:
        # Not those of a kernel that was given its own.
        kernel.set_params(**views.for_columns(scaling, len(rows.X), X.shape[1]))
    sphere = {"backend": parts.qp_backend, "tol": settings["qp_tol"]}

    def bounds_of(places: Array) -> Array:
        return bounds(places, rows.weights, settings)

    arguments = (scaling, kernel, scaling.apply(rows.X), rows.holding(is_trusted), bounds_of)
    outliers = scaling.apply(known.outliers) if known is not None and len(known.outliers) else None
    if isinstance(parts.laplacian, NoGraph):
        learnt = whole_space.svdd(*arguments, sample_weight=rows.weights, outliers=outliers, **sphere)
    else:
        many_columns = MANY_COLUMNS * X.shape[1] > len(rows.X)
        learnt = whole_space.learn(
            *arguments,
            ridge=settings["ridge"],
            share_outside=None if settings["trim"] == 0.0 else settings["share_outside"],
            doubted=settings["doubted"],
            sample_weight=rows.weights,
            scaled_without_itself=scaling.apply_to_training(rows.X, rows.weights) if many_columns else None,
            outliers=outliers,
            surely_trusted=None if known is None else rows.holding(known.inliers),
            **sphere,
        )
    places, solution = rows.solution(learnt.trusted, learnt.solution)
    n_outliers = len(solution.alpha) - len(places)
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
        solved=np.concatenate([places, len(X) + np.arange(n_outliers)]) if n_outliers else None,
    )


def in_subspace(
    X: Array,
    weights: Array | None,
    trusted: Array | range,
    parts: Components,
    settings: dict[str, Any],
    boundary: type[Boundary],
    known: Known | None = None,
) -> Model:
    """The paper's Algorithm 1, on the trusted rows; labelled outliers are negative examples of its sphere."""
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
    progress.stage("graph")
    graph = build_graph(parts.laplacian, Phi, settings["random_state"], weights)
    # Shared by the start and the graph, computed once; a graph of weighted rows has its own.
    total = total_scatter(Phi) if weights is None and settings["around_mean"] else None
    S_x = None if graph is None else graph_scatter(graph, Phi, parts.laplacian, total)
    Q = start(Phi, S_x, settings, settings["random_state"], weights, total)

    penalty = None
    if parts.feature_laplacian is not None:
        over_columns = build_feature_graph(parts.feature_laplacian, Phi, settings["random_state"])
        penalty = float(settings["feature_beta"]) * over_columns
    data = TrainingData(Phi, graph, S_x, missed, weights, penalty=penalty)
    n_outliers = 0 if known is None else len(known.outliers)
    solver = {"backend": parts.qp_backend, "tol": settings["qp_tol"]}

    def fit_boundary(points: Points, last: QPSolution | None) -> tuple[Boundary, QPSolution]:
        last_alpha = None if last is None else last.alpha
        if n_outliers:
            return Sphere.fit_with_outliers(*points, upper, n_outliers, last_alpha=last_alpha, **solver)
        return boundary.fit(*points, upper, last_alpha=last_alpha, **solver)

    result = alternate(
        data if known is None or not n_outliers else _with_outliers(data, feature_map, known, parts, settings),
        Q,
        updater=parts.updater,
        fit_boundary=fit_boundary,
        warn_of_lost_dimensions=isinstance(settings["n_components"], int) or not isinstance(settings["init"], str),
        **{name: settings[name] for name in ("criterion", "ridge", "n_iter", "tol", "keep")},
    )
    description = Description(feature_map, result.subspace, result.boundary)
    progress.stage("training scores")
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
        np.arange(len(X)) if isinstance(trusted, range) else trusted,
        result.solution,
        result.history,
        result.stop_reason,
        result.best_iteration,
        scores,
        left_out,
        solved=np.concatenate([trusted, len(X) + np.arange(n_outliers)]) if n_outliers else None,
    )


def _with_outliers(
    data: TrainingData, feature_map: FeatureMap, known: Known, parts: Components, settings: dict[str, Any]
) -> TrainingData:
    """The training data with the features of labelled outliers after the others, in no graph and without weight."""
    if settings["n_iter"] and not parts.updater.by_scatter:
        raise ValueError(f"updater {parts.updater.name!r} does not take labelled outliers; {BY_SCATTER}")
    Phi, missed = feature_map.features(known.outliers)
    weights = np.ones(len(data.Phi)) if data.sample_weight is None else data.sample_weight
    return replace(
        data,
        Phi=np.vstack([data.Phi, Phi]),
        missed=None if data.missed is None or missed is None else np.concatenate([data.missed, missed]),
        sample_weight=np.concatenate([weights, np.zeros(len(Phi))]),
        n_outliers=len(Phi),
    )
