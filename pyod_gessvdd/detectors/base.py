"""What GESSVDD and its family share: ``fit`` is the paper's Algorithm 1, step by step; then scores and labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pyod_gessvdd.boundaries.boundary import Boundary
from pyod_gessvdd.boundaries.sphere import Sphere
from pyod_gessvdd.components.contracts import Kernel, Laplacian, NoGraph, QPBackend, Updater
from pyod_gessvdd.components.nesting import NestedComponents
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.components.validation import build_graph, graph_scatter
from pyod_gessvdd.description import Description
from pyod_gessvdd.detectors.parameters import check_parameters
from pyod_gessvdd.detectors.pyod_contract import PyODContract, unchanged_on_error
from pyod_gessvdd.detectors.start import start
from pyod_gessvdd.dual import QPSolution, check_weights, upper_bounds
from pyod_gessvdd.explain.explained import Explained
from pyod_gessvdd.feature_map import FeatureMap
from pyod_gessvdd.linalg import row_blocks
from pyod_gessvdd.preprocessing import validated
from pyod_gessvdd.residual import left_out_factor, leverage
from pyod_gessvdd.training import TrainingData, TrainingResult, alternate

Array = np.ndarray

#: Algorithm 1 as the paper has it: the value of every setting that a detector neither fixes nor has as a parameter.
PAPER: dict[str, Any] = {
    "kernel": "linear",
    "gamma": None,
    "sigma": None,
    "laplacian": "none",
    "updater": "gradient",
    "criterion": "min",
    "n_components": None,
    "C": None,
    "nu": None,
    "step_size": 0.1,
    "n_iter": 5,
    "tol": 0.0,
    "keep": "last",
    "init": "pca",
    "around_mean": True,
    "center": True,
    "standardize": False,
    "ridge": 1e-6,
    "qp_backend": "auto",
    "qp_tol": 1e-8,
    "residual": False,
    "threshold": "radius",
    "contamination": 0.1,
    "random_state": None,
}


@dataclass(frozen=True)
class Components:
    """The four components of a fit, fresh, with the detector's values where they ask for them."""

    kernel: Kernel
    laplacian: Laplacian
    updater: Updater
    qp_backend: QPBackend


@dataclass(frozen=True)
class Model:
    """What a fit learns: the description, how the alternation went, and the training rows' scores, kept once.

    Attributes
    ----------
    description : Description
        From rows to scores.
    training : TrainingResult
        The alternation.
    scores : ndarray of shape (N,)
        The training rows' scores, as ``decision_function`` gives them.
    leverage : ndarray of shape (N,) or None
        How much each row pulls the description towards itself; None where its score does not depend on that.
    """

    description: Description
    training: TrainingResult
    scores: Array
    leverage: Array | None

    @property
    def left_out_scores(self) -> Array:
        """The training rows' scores as if each had been left out: as those of new rows."""
        return self.scores if self.leverage is None else self.scores * left_out_factor(self.leverage)

    @property
    def boundary_score(self) -> float:
        """The score of a new row on the boundary: what the training rows on it would have without themselves."""
        if self.leverage is None:
            return 1.0
        solution = self.training.solution
        on_it = solution.boundary if len(solution.boundary) else solution.support
        return float(left_out_factor(self.leverage[on_it]).mean())


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
        return self.description_.feature_map.kernel

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
            trained on, only scored.

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
            model = self._learn(*_weighted_rows(X, weights, settings["kernel"]), settings)
            self._publish(model, X, weights)
        return self

    def _settings(self) -> dict[str, Any]:
        """Every setting of Algorithm 1 and its value in this detector."""
        return {**PAPER, **self._fixed, **self.get_params(deep=False)}

    def _learn(self, X: Array, weights: Array | None, settings: dict[str, Any]) -> Model:
        """Algorithm 1, from the rows to the description."""
        if (X[-1] == X[0]).all() and (X[0] == X).all():
            raise ValueError(f"all {len(X)} rows of X are equal: there is nothing to describe")
        upper = upper_bounds(len(X), settings["C"], settings["nu"], weights)
        if weights is not None and np.ptp(weights) == 0:
            weights = None  # all rows count alike
        seed = check_random_state(settings["random_state"]).randint(np.iinfo(np.int32).max)
        parts = self._fresh_components({**settings, "random_state": seed})

        feature_map, Phi, missed = FeatureMap.learn(
            X,
            parts.kernel,
            center=settings["center"],
            standardize=settings["standardize"],
            counts_missed=settings["residual"],
            sample_weight=weights,
        )
        graph = build_graph(parts.laplacian, Phi, seed, weights)
        S_x = None if graph is None else graph_scatter(graph, Phi, parts.laplacian)
        Q = start(Phi, S_x, settings, seed, weights)

        def fit_boundary(Z: Array, residual2: Array | None, last_alpha: Array | None) -> tuple[Boundary, QPSolution]:
            return self._boundary.fit(
                Z, residual2, upper, backend=parts.qp_backend, tol=settings["qp_tol"], last_alpha=last_alpha
            )

        data = TrainingData(Phi, graph, S_x, missed)
        training = alternate(
            data,
            Q,
            updater=parts.updater,
            fit_boundary=fit_boundary,
            warn_of_lost_dimensions=isinstance(settings["n_components"], int) or not isinstance(settings["init"], str),
            **{name: settings[name] for name in ("criterion", "ridge", "n_iter", "tol", "keep")},
        )
        self._remember_plugins(parts.kernel, parts.laplacian, parts.updater, parts.qp_backend)
        self.laplacian_weights_ = parts.laplacian.weights_
        description = Description(feature_map, training.subspace, training.boundary)
        if missed is None or S_x is None:
            return Model(description, training, description.scores(X), None)
        return Model(description, training, *_training_scores(description, data, weights))

    def _fresh_components(self, settings: dict[str, Any]) -> Components:
        parts = Components(**{kind: self._component(kind, settings) for kind in self._component_parameters})
        if settings["sigma"] is not None and "sigma" not in parts.kernel.inherits:
            raise ValueError(
                f"sigma is the width of kernel 'rbf', got {settings['sigma']!r}; kernel {parts.kernel.name!r} has none"
            )
        if parts.updater.needs_graph and isinstance(parts.laplacian, NoGraph):
            raise ValueError(
                f"updater {parts.updater.name!r} needs a graph, and laplacian {parts.laplacian.name!r} has none"
            )
        return parts

    def _publish(self, model: Model, X: Array, weights: Array | None) -> None:
        """Put what was learnt under its public names; rows of weight zero come back as rows that were not met."""
        description, training = model.description, model.training
        solution = training.solution
        self.description_ = description
        self.components_ = description.subspace.Q
        self.projection_ = description.subspace.projection
        self.n_components_ = len(self.components_)
        self.n_iter_ = training.n_iter
        self.history_ = training.history
        self.best_iteration_ = training.best_iteration
        self.stop_reason_ = training.stop_reason
        self.__dict__.update(training.boundary.published())

        trained = np.arange(len(X)) if weights is None else np.flatnonzero(weights)
        self.support_ = trained[solution.support]
        self.boundary_ = trained[solution.boundary]
        self.outside_ = trained[solution.outside]
        self.alpha_ = solution.alpha
        self.leverage_ = model.leverage
        scores, left_out = model.scores, model.left_out_scores
        if len(trained) < len(X):
            self.alpha_ = _spread(solution.alpha, trained, np.zeros(len(X)))
            self.leverage_ = None if model.leverage is None else _spread(model.leverage, trained, np.zeros(len(X)))
            as_new = description.scores(X)
            scores, left_out = _spread(scores, trained, as_new), _spread(left_out, trained, as_new)
        self._set_n_classes(None)
        self.decision_scores_ = left_out
        self._process_decision_scores(boundary_score=model.boundary_score, sample_weight=weights)
        self._keep_for_explanations(X, scores)

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


def _weighted_rows(X: Array, weights: Array | None, kernel: Any) -> tuple[Array, Array | None]:
    """The rows that count, and their weights."""
    if weights is None or weights.all():
        return X, weights
    if not resolve("kernel", kernel).input_is_rows:
        raise ValueError(
            f"sample_weight must be positive with a kernel matrix, got 0 for row {int(np.argmin(weights))}; "
            "leave out its row and its column instead"
        )
    if np.count_nonzero(weights) < 2:
        raise ValueError("sample_weight must leave at least 2 rows with a positive weight, got 1")
    return X[weights > 0], weights[weights > 0]


def _training_scores(description: Description, data: TrainingData, weights: Array | None) -> tuple[Array, Array]:
    """The training rows' scores and leverages, from the features that are there already."""
    Z, residual2 = description.subspace.training_points(data.Phi, data.missed, None)
    if residual2 is None:
        raise ValueError("a leverage needs the residual")
    pulls = leverage(Z, residual2, weights)
    scores = np.empty(len(Z))
    for rows in row_blocks(*Z.shape):
        scores[rows] = description.boundary.scores(Z[rows], residual2[rows])
    return scores, pulls


def _spread(values: Array, places: Array, out: Array) -> Array:
    out = out.copy()
    out[places] = values
    return out
