"""What GESSVDD and its family share: ``fit`` is the paper's Algorithm 1, step by step; then scores and labels."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from pyod_gessvdd import progress
from pyod_gessvdd.boundaries.boundary import Boundary
from pyod_gessvdd.boundaries.sphere import Sphere
from pyod_gessvdd.components.contracts import Kernel, NoGraph
from pyod_gessvdd.components.nesting import NestedComponents
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.description import Description
from pyod_gessvdd.detectors.conformal import held_back
from pyod_gessvdd.detectors.labels import Known, Labels
from pyod_gessvdd.detectors.learning import in_subspace, in_whole_space, rows_to_learn_from
from pyod_gessvdd.detectors.model import Model
from pyod_gessvdd.detectors.parameters import check_parameters
from pyod_gessvdd.detectors.pyod_contract import PyODContract, unchanged_on_error
from pyod_gessvdd.detectors.rows import counting_rows, spread, without
from pyod_gessvdd.detectors.settings import PAPER, Components, for_rows, has_features, has_whole_space
from pyod_gessvdd.detectors.shown import Shown
from pyod_gessvdd.detectors.sources import checked_columns, publish_rows
from pyod_gessvdd.detectors.streaming import StreamedModel, check_streamable, learn
from pyod_gessvdd.dual import check_weights, upper_bounds
from pyod_gessvdd.errors import warn
from pyod_gessvdd.explain.pictured import Pictured
from pyod_gessvdd.linalg import few_threads
from pyod_gessvdd.preprocessing import check_block, validated
from pyod_gessvdd.sources import as_source, in_memory, is_dask
from pyod_gessvdd.sources.source import Source
from pyod_gessvdd.sources.watched import watched
from pyod_gessvdd.streamed.columns import Column, discarded_on_error

Array = np.ndarray


class SubspaceDetector(Shown, Pictured, NestedComponents, TransformerMixin, PyODContract):
    """A PyOD detector that learns a subspace and a boundary in it; subclasses define the parameters.

    A subclass stores its constructor's arguments as they are. The settings of a fit are the paper's, overridden by what
    the subclass fixes and then by its parameters.
    """

    _component_parameters: ClassVar[tuple[str, ...]] = (
        "kernel",
        "laplacian",
        "updater",
        "qp_backend",
        "feature_laplacian",
    )
    #: The settings that a subclass fixes and does not expose as parameters.
    _fixed: ClassVar[dict[str, Any]] = {}
    #: The boundary around the projected rows.
    _boundary: ClassVar[type[Boundary]] = Sphere

    @property
    def variant(self) -> str | None:
        """The paper's name for this detector's variant, or None if the paper has none."""
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
        X : array of shape (N, D), memmap, path of Parquet, Dask array or DataFrame, or Source
            The training rows; with a precomputed kernel, the N × N kernel matrix. Data that need not fit in memory are
            read block by block, see :mod:`pyod_gessvdd.sources`.
        y : array of shape (N,), optional
            Ignored unless ``use_labels=True``: 1 for known outliers, 0 for known inliers, −1 or NaN for unknown. Known
            inliers are trusted; known outliers never are, and are left out of scaling, kernel and graph.
        sample_weight : array of shape (N,), optional
            How often each row counts, in the scaling, the features, the graph, the bounds of α (C · sample_weight[i])
            and the threshold: an integer weight has the same effect as repeating the row, and a row of weight zero is
            not trained on, only scored. Weights with a mean below one are relative, as if they had a mean of one.

        Returns
        -------
        SubspaceDetector
            The detector itself. If anything fails, it stays as it was.
        """
        settings = self._settings()
        with unchanged_on_error(self), progress.shown(settings["verbose"]):
            self._check_contamination()
            check_parameters(settings)
            source = as_source(X)
            if source is not None:
                X = in_memory(source)
                if isinstance(X, Source):
                    self._fit_source(watched(X), sample_weight, settings)
                    return self
            X = validated(self, X, reset=True)
            weights = None if sample_weight is None else check_weights(sample_weight, len(X))
            labels = Labels.read(y, len(X)) if settings["use_labels"] else None
            held = self._held_back(X, labels, settings)
            counting = without(weights, held, len(X))
            if labels is None:
                model = self._learn(X, counting, settings)
            else:
                model = self._learn_with(labels, X, counting, settings)
            if held is not None:
                # Scored as new rows, even where an equal row was trained on: this makes their ranks exact.
                model.scores[held] = model.left_out_scores[held] = model.description.scores(X[held])
            self._publish(model, X, weights)
            if held is not None:
                self._calibrate(model.left_out_scores[held], None if weights is None else weights[held])
            elif labels is not None:
                others = labels.others
                self._calibrate(model.calibration_scores[others], None if weights is None else weights[others])
            elif model.growth is not None:
                self._calibrate(model.calibration_scores, weights)
        return self

    @staticmethod
    def _held_back(X: Array, labels: Labels | None, settings: dict[str, Any]) -> Array | None:
        """The rows held back for calibration; known outliers are not among them."""
        if labels is None:
            return held_back(X, settings["calibration"], settings["random_state"])
        held = held_back(X[labels.others], settings["calibration"], settings["random_state"])
        return None if held is None else labels.others[held]

    def _settings(self) -> dict[str, Any]:
        """Every setting of Algorithm 1 and its value in this detector."""
        return {**PAPER, **self._fixed, **self.get_params(deep=False)}

    def _learn_with(self, labels: Labels, X: Array, weights: Array | None, settings: dict[str, Any]) -> Model:
        """Algorithm 1 on the rows not known to be outliers, given those that are."""
        others, outliers = labels.others, np.flatnonzero(labels.outliers)
        if not resolve("kernel", settings["kernel"]).input_is_rows:
            raise ValueError("use_labels=True needs rows of data, and a kernel matrix has none")
        laplacian = resolve("laplacian", settings["laplacian"]).of_rows(~labels.outliers)
        known = Known(X[outliers], labels.inliers[others])
        inside = None if weights is None else weights[others]
        model = self._learn(X[others], inside, {**settings, "laplacian": laplacian}, known)
        scores = model.description.scores(X[outliers]) if outliers.size else np.zeros(0)
        return model.among(others, outliers, scores)

    def _learn(self, X: Array, weights: Array | None, settings: dict[str, Any], known: Known | None = None) -> Model:
        """Algorithm 1, from the rows to the description."""
        upper_bounds(len(X), settings["C"], settings["nu"], weights)  # raises if they are wrong
        weights, settings = counting_rows(weights, settings)
        parts = self._components(settings)
        parts.check(settings)
        if settings["calibration"] is not None and not parts.kernel.input_is_rows:
            raise ValueError(
                "calibration holds rows of data back, and a kernel matrix has none; leave them out yourself, and pass "
                "their scores to update_threshold"
            )
        whole = self._boundary is Sphere and has_whole_space(parts, settings, len(X))
        if (X[-1] == X[0]).all() and (X[0] == X).all():
            if not whole or isinstance(parts.laplacian, NoGraph):
                raise ValueError(f"all {len(X)} rows of X are equal: there is nothing to describe")
            warn(f"all {len(X)} rows of X are equal: scores are distances from that one row")
        n_rows = len(X) if weights is None else float(weights.sum())
        settings = for_rows(settings, n_rows, has_features=not whole and has_features(parts, settings))
        settings["random_state"] = check_random_state(settings["random_state"]).randint(np.iinfo(np.int32).max)
        parts = parts.inheriting(settings)
        with few_threads(len(X)) if whole else nullcontext():
            # Trust has a kernel of its own, which is not widened.
            kernel = self._component("kernel", {**settings, "widening": None}) if settings["trim"] else parts.kernel
            trust = rows_to_learn_from(X, weights, kernel, settings, known)
            if whole:
                model = in_whole_space(X, weights, trust.rows, parts, settings, known)
            else:
                model = in_subspace(X, weights, trust.rows, parts, settings, self._boundary, known)
            return replace(model, trust_history=trust.history)

    def _fit_source(self, source: Source, sample_weight: Any, settings: dict[str, Any]) -> None:
        """:meth:`fit` for rows that are not in memory."""
        if sample_weight is not None:
            raise ValueError("sample_weight needs all rows in memory; repeat the rows of a source instead")
        checked_columns(self, source, reset=True)
        upper_bounds(len(source), settings["C"], settings["nu"])
        parts = self._components(settings)
        parts.check(settings)
        whole = self._boundary is Sphere and has_whole_space(parts, settings, len(source))
        settings = for_rows(settings, len(source), has_features=not whole and has_features(parts, settings))
        settings["random_state"] = check_random_state(settings["random_state"]).randint(np.iinfo(np.int32).max)
        parts = parts.inheriting(settings)  # an updater inherits psi, which decides whether it needs all rows
        check_streamable(parts, settings, self._boundary, whole, len(source))
        model = learn(source, parts, settings, self._component("kernel", {**settings, "widening": None}), whole)
        self._publish_description(model)
        publish_rows(self, model, source)
        self._keep_sampled_origins(source, model.alpha_mean)

    def _components(self, settings: dict[str, Any]) -> Components:
        given = [
            kind for kind in self._component_parameters if kind != "feature_laplacian" or settings[kind] is not None
        ]
        parts = Components(**{kind: self._fresh(kind, settings[kind]) for kind in given})
        # A kernel's space depends on its parameters; the seed is drawn later, for all components.
        parts.kernel.inherit({**settings, "random_state": None})
        return parts

    def _publish(self, model: Model, X: Array, weights: Array | None) -> None:
        """Store what was learnt under its public names; rows that were not trained on count as new rows."""
        solution, trusted = model.solution, model.trusted
        self._publish_description(model)
        self.trusted_ = np.zeros(len(X), dtype=bool)
        self.trusted_[trusted] = True
        solved = trusted if model.solved is None else model.solved
        self.alpha_ = spread(solution.alpha, solved, np.zeros(len(X)))
        self.support_ = np.sort(solved[solution.support])
        self.boundary_ = np.sort(solved[solution.boundary])
        self.outside_ = np.sort(solved[solution.outside])
        self.decision_scores_ = model.left_out_scores
        self._process_decision_scores(boundary_score=model.boundary_score(weights), sample_weight=weights)
        self._keep_for_explanations(X, model.scores)

    def _publish_description(self, model: Model | StreamedModel) -> None:
        """Store what was learnt, and how, under its public names; nothing about single rows."""
        description, parts = model.description, model.components
        feature_laplacian = [] if parts.feature_laplacian is None else [parts.feature_laplacian]
        self._remember_plugins(parts.kernel, parts.laplacian, parts.updater, parts.qp_backend, *feature_laplacian)
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
        self._set_n_classes(None)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._settings()["kernel"] == "precomputed"
        return tags

    # Scores -------------------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Array:
        """dist²/R² of each row: 1 on the boundary, larger is more abnormal (paper eq. ``test1``)."""
        check_is_fitted(self, "decision_scores_")
        if is_dask(X):
            return self._lazily("decision_function", X, "score")
        source = as_source(X)
        if source is not None:
            return self._score_source(source)
        return self.description_.scores(validated(self, X, reset=False))

    def _score_source(self, source: Source) -> Array:
        """The scores of all rows of a source: an array, or a mapped file if they are many."""
        checked_columns(self, source, reset=False)
        scores = Column(float, len(source))
        with discarded_on_error(scores):
            for block in source.map(self._scores_of_block):
                scores.append(block)
        return scores.finished()

    def _scores_of_block(self, block: Array, rows: Array) -> Array:
        check_block(block, rows, None)
        return self.description_.scores(block) if len(block) else np.empty(0)

    def transform(self, X: Any) -> Array:
        """The subspace coordinates Z of each row, of shape (n, d) (paper eq. ``test``).

        With ``residual=True`` there is one more column, the last: how far the row is outside the subspace, r/√ρ.
        """
        check_is_fitted(self, "decision_scores_")
        if is_dask(X):
            return self._lazily("transform", X, [f"z{i + 1}" for i in range(self.description_.n_coordinates)])
        return self.description_.transform(validated(self, X, reset=False))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns of :meth:`transform`: z1, z2, … and ``residual``.

        Parameters
        ----------
        input_features : array of str, optional
            The names of the input's columns, which are only checked.
        """
        check_is_fitted(self, "decision_scores_")
        _check_feature_names_in(self, input_features, generate_names=False)
        n_coordinates = self.description_.n_coordinates
        names = [f"z{i}" for i in range(1, n_coordinates + 1)]
        if self.description_.has_residual:
            names[-1] = "residual"
        return np.array(names, dtype=object)
