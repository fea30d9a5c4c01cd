"""What GESSVDD and its family share: ``fit`` is the paper's Algorithm 1, step by step; then scores and labels."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pyod_gessvdd import whole_space
from pyod_gessvdd.boundaries.boundary import Boundary
from pyod_gessvdd.boundaries.sphere import Sphere
from pyod_gessvdd.components.contracts import Kernel, NoGraph
from pyod_gessvdd.components.nesting import NestedComponents
from pyod_gessvdd.components.validation import build_graph, graph_scatter
from pyod_gessvdd.description import Description
from pyod_gessvdd.detectors.conformal import held_back
from pyod_gessvdd.detectors.model import Model
from pyod_gessvdd.detectors.parameters import check_parameters
from pyod_gessvdd.detectors.pyod_contract import PyODContract, unchanged_on_error
from pyod_gessvdd.detectors.rows import (
    DistinctRows,
    bounds,
    counted,
    counting_rows,
    draw,
    rows_and_weights,
    spread,
    without,
)
from pyod_gessvdd.detectors.settings import PAPER, Components, for_rows, has_features, has_whole_space
from pyod_gessvdd.detectors.start import start
from pyod_gessvdd.dual import QPSolution, check_weights, upper_bounds
from pyod_gessvdd.explain.explained import Explained
from pyod_gessvdd.feature_map import FeatureMap, learn_scaling
from pyod_gessvdd.linalg import few_threads
from pyod_gessvdd.preprocessing import validated
from pyod_gessvdd.residual import LEFT_OUT_POWER
from pyod_gessvdd.training import TrainingData, alternate, record, training_scores
from pyod_gessvdd.trust import Trust, trusted_rows

Array = np.ndarray

#: With more columns than rows over this, training rows leave the scaling too when they are left out.
MANY_COLUMNS = 20


class SubspaceDetector(Explained, NestedComponents, TransformerMixin, PyODContract):
    """A PyOD detector that learns a subspace and a boundary in it; subclasses have the parameters.

    A subclass stores its constructor's arguments as they are. The settings of a fit are the paper's, then what
    the subclass fixes, then its parameters.
    """

    _component_parameters: ClassVar[tuple[str, ...]] = ("kernel", "laplacian", "updater", "qp_backend")
    #: The settings that a subclass fixes and does not have as parameters.
    _fixed: ClassVar[dict[str, Any]] = {}
    #: The boundary around the projected rows.
    _boundary: ClassVar[type[Boundary]] = Sphere

    @property
    def variant(self) -> str | None:
        """The paper's name of the variant that this detector is, or None if the paper has none."""
        return None

    @property
    def kernel_(self) -> Kernel:
        """The fitted kernel."""
        check_is_fitted(self, "description_")
        return self.description_.kernel

    # Fit ----------------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SubspaceDetector:
        """Learn the subspace and the boundary in it (paper, Algorithm 1).

        Parameters
        ----------
        X : array of shape (N, D)
            The training rows; with a precomputed kernel, the N × N kernel matrix.
        y : ignored
            There for scikit-learn's tools.
        sample_weight : array of shape (N,), optional
            How often each row counts, in the scaling, the features, the graph, the bounds of α (C · sample_weight[i])
            and the threshold: an integer weight is as good as repeating the row, and a row of weight zero is not
            trained on, only scored. Weights with a mean below one are relative, as if they had a mean of one.

        Returns
        -------
        SubspaceDetector
            The detector itself. If anything fails it stays as it was before.
        """
        with unchanged_on_error(self):
            self._check_contamination()
            settings = self._settings()
            check_parameters(settings)
            X = validated(self, X, reset=True)
            weights = None if sample_weight is None else check_weights(sample_weight, len(X))
            held = held_back(X, settings["calibration"], settings["random_state"])
            model = self._learn(X, without(weights, held, len(X)), settings)
            if held is not None:
                # As new rows, even where an equal row was trained on: this is what makes their ranks exact.
                model.scores[held] = model.left_out_scores[held] = model.description.scores(X[held])
            self._publish(model, X, weights)
            if held is not None:
                self._calibrate(model.left_out_scores[held], None if weights is None else weights[held])
        return self

    def _settings(self) -> dict[str, Any]:
        """Every setting of Algorithm 1 and its value in this detector."""
        return {**PAPER, **self._fixed, **self.get_params(deep=False)}

    def _learn(self, X: Array, weights: Array | None, settings: dict[str, Any]) -> Model:
        """Algorithm 1, from the rows to the description."""
        if (X[-1] == X[0]).all() and (X[0] == X).all():
            raise ValueError(f"all {len(X)} rows of X are equal: there is nothing to describe")
        upper_bounds(len(X), settings["C"], settings["nu"], weights)  # says what is wrong with them
        weights, settings = counting_rows(weights, settings)
        parts = self._components(settings)
        parts.check(settings)
        if settings["calibration"] is not None and not parts.kernel.input_is_rows:
            raise ValueError(
                "calibration holds rows of data back, and a kernel matrix has none; leave them out yourself, and hand "
                "their scores to update_threshold"
            )
        whole = self._boundary is Sphere and has_whole_space(parts, settings, len(X))
        n_rows = len(X) if weights is None else float(weights.sum())
        settings = for_rows(settings, n_rows, has_features=not whole and has_features(parts, settings))
        settings["random_state"] = check_random_state(settings["random_state"]).randint(np.iinfo(np.int32).max)
        parts = self._components(settings)
        learn = self._in_whole_space if whole else self._in_subspace
        with few_threads(len(X)) if whole else nullcontext():
            trust = self._trusted(X, weights, parts, settings)
            return replace(learn(X, weights, trust.rows, parts, settings), trust_history=trust.history)

    def _components(self, settings: dict[str, Any]) -> Components:
        return Components(**{kind: self._component(kind, settings) for kind in self._component_parameters})

    def _trusted(self, X: Array, weights: Array | None, parts: Components, settings: dict[str, Any]) -> Trust:
        """The rows to learn from: those that count and, unless all are, those that can be trusted."""
        rows = np.arange(len(X)) if weights is None else np.flatnonzero(weights)
        if len(rows) < 2:
            raise ValueError(f"sample_weight must leave at least 2 rows with a positive weight, got {len(rows)}")
        if weights is not None and len(rows) < len(X) and not parts.kernel.input_is_rows:
            raise ValueError(
                f"sample_weight must be positive with a kernel matrix, got 0 for row {int(np.argmin(weights))}; "
                "leave out its row and its column instead"
            )
        if settings["trim"] == 0.0 or not parts.kernel.input_is_rows:
            return Trust(rows, [])
        inside = None if weights is None else weights[rows]
        kernel = self._component("kernel", {**settings, "view_weights": None, "widening": None})
        if "view_weights" in kernel.get_params(deep=False):
            kernel.set_params(view_weights=None)  # trust looks at one view, whatever the description looks at
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

    def _in_whole_space(
        self, X: Array, weights: Array | None, trusted: Array, parts: Components, settings: dict[str, Any]
    ) -> Model:
        """No subspace and a kernel: the sphere in the whole of the kernel's space.

        Equal rows are one row with a weight: they are trusted together, and score alike to the last bit.
        """
        kernel = parts.kernel
        counting, counts = counted(X, weights)
        scaling = learn_scaling(
            counting, kernel, center=True, standardize=settings["standardize"], sample_weight=counts
        )
        drawn = draw(X, scaling, settings["random_state"])
        rows = DistinctRows.of(X[drawn], None if weights is None else weights[drawn])
        sphere = {"backend": parts.qp_backend, "tol": settings["qp_tol"]}

        def bounds_of(places: Array) -> Array:
            return bounds(places, rows.weights, settings)

        arguments = (scaling, kernel, scaling.apply(rows.X), rows.holding(np.isin(drawn, trusted)), bounds_of)
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
        scores, left_out = np.empty(len(X)), np.empty(len(X))
        scores[drawn], left_out[drawn] = rows.spread(learnt.scores), rows.spread(learnt.left_out_scores)
        others = np.arange(len(X))
        if not isinstance(parts.laplacian, NoGraph):  # without a metric no row has a part in what it is measured by
            others = np.setdiff1d(others, drawn[places], assume_unique=True)
        if others.size:
            # New rows to the description, to the last bit: a label must be what predict says of the same row.
            scores[others] = left_out[others] = learnt.description.scores(X[others])
        return Model(
            parts,
            learnt.description,
            drawn[places],
            solution,
            [record(0, solution)],
            "the whole space is described: there is no subspace to learn",
            0,
            scores,
            left_out,
        )

    def _in_subspace(
        self, X: Array, weights: Array | None, trusted: Array, parts: Components, settings: dict[str, Any]
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
        S_x = None if graph is None else graph_scatter(graph, Phi, parts.laplacian)
        Q = start(Phi, S_x, settings, settings["random_state"], weights)

        def fit_boundary(Z: Array, residual2: Array | None, last_alpha: Array | None) -> tuple[Boundary, QPSolution]:
            return self._boundary.fit(
                Z, residual2, upper, backend=parts.qp_backend, tol=settings["qp_tol"], last_alpha=last_alpha
            )

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

    def _publish(self, model: Model, X: Array, weights: Array | None) -> None:
        """Put what was learnt under its public names; rows that were not trained on come back as new rows."""
        description, solution, trusted = model.description, model.solution, model.trusted
        parts = model.components
        self._remember_plugins(parts.kernel, parts.laplacian, parts.updater, parts.qp_backend)
        self.laplacian_weights_ = parts.laplacian.weights_
        self.description_ = description
        if isinstance(description, Description):
            self.components_ = description.subspace.Q
            self.projection_ = description.subspace.projection
            self.n_components_ = len(self.components_)
            self.__dict__.update(description.boundary.published())
        else:
            self.n_components_ = len(description.landmarks)
            self.radius_ = float(np.sqrt(description.radius2))
        self.n_iter_ = len(model.history) - 1
        self.history_ = model.history
        self.best_iteration_ = model.best_iteration
        self.stop_reason_ = model.stop_reason
        self.trust_history_ = model.trust_history
        self.trusted_ = np.zeros(len(X), dtype=bool)
        self.trusted_[trusted] = True
        self.alpha_ = spread(solution.alpha, trusted, np.zeros(len(X)))
        self.support_ = trusted[solution.support]
        self.boundary_ = trusted[solution.boundary]
        self.outside_ = trusted[solution.outside]
        self._set_n_classes(None)
        self.decision_scores_ = model.left_out_scores
        self._process_decision_scores(boundary_score=model.boundary_score(weights), sample_weight=weights)
        self._keep_for_explanations(X, model.scores)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._settings()["kernel"] == "precomputed"
        return tags

    # Scores -------------------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Array:
        """dist²/R² of each row: 1 on the boundary, larger is more abnormal (paper eq. ``test1``)."""
        check_is_fitted(self, "decision_scores_")
        return self.description_.scores(validated(self, X, reset=False))

    def transform(self, X: Any) -> Array:
        """The subspace coordinates Z of each row, of shape (n, d) (paper eq. ``test``).

        With ``residual=True`` there is one more column, the last: how far the row is outside the subspace, r/√ρ.
        """
        check_is_fitted(self, "decision_scores_")
        return self.description_.transform(validated(self, X, reset=False))
