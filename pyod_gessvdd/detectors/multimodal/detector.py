"""MSSVDD as a PyOD detector: parameters, fit, scores per modality and the rule that combines them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import TransformerMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pyod_gessvdd import progress
from pyod_gessvdd.boundaries.sphere import Sphere
from pyod_gessvdd.components.nesting import NestedComponents
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.components.validation import build_graph
from pyod_gessvdd.detectors.base import PAPER
from pyod_gessvdd.detectors.multimodal.columns import RULES, per_modality, resolve_decision, resolve_modalities
from pyod_gessvdd.detectors.multimodal.training import MultimodalResult, alternate_modalities
from pyod_gessvdd.detectors.parameters import check_multimodal_parameters, check_parameters
from pyod_gessvdd.detectors.pyod_contract import PyODContract, unchanged_on_error
from pyod_gessvdd.detectors.shown import Shown
from pyod_gessvdd.detectors.start import DEFAULT_COMPONENTS_PAPER
from pyod_gessvdd.dual import QPSolution, check_weights, upper_bounds
from pyod_gessvdd.errors import warn
from pyod_gessvdd.feature_map import FeatureMap
from pyod_gessvdd.linalg import map_blocks, orientation
from pyod_gessvdd.preprocessing import validated
from pyod_gessvdd.regularisers import OMEGA, CrossGraphPenalty, GraphPenalty, Multipliers, Regulariser
from pyod_gessvdd.subspace import principal_directions

Array = np.ndarray


class MSSVDD(Shown, NestedComponents, TransformerMixin, PyODContract):
    """Multimodal Subspace Support Vector Data Description.

    The columns of X form M groups, the modalities: different sensors, or different descriptions of the same sample.
    Each has its own projection Q_m into one joint subspace, and one sphere there encloses the N · M projected points
    z_mi = Q_m φ_mi of all of them. Every row has M squared distances from its centre, and a rule combines them into one
    score, dist²/R², so that 1 is the sphere itself. With one modality and no regulariser this is SSVDD,
    GESSVDD-0-GR-min.

    A distance depends on its own modality alone. A row whose modalities are each normal, and only their combination
    abnormal, is inside for every rule.

    Parameters
    ----------
    modalities : list or dict, optional
        The columns of each modality: a list of column indices, a slice, or a list of names if X is a DataFrame; a
        dict from name to columns gives the modalities names. They must not overlap. Columns in no
        modality are not used. None makes all columns one modality.
    kernel : str, Kernel or callable, default="linear"
        As in :class:`~pyod_gessvdd.GESSVDD`; each modality has its own copy. "precomputed" takes the M kernel matrices
        side by side, each modality being the N columns of one.
    gamma, sigma : optional
        The kernel's width, as in :class:`~pyod_gessvdd.GESSVDD`.
    n_components : int, optional
        d, the dimension of the joint subspace, at most the number of features of every modality; 30, or as many as the
        poorest modality has, unless given.
    criterion : {"min", "max"}, list or dict, default="min"
        Whether the updates minimise or maximise the Lagrangian; a list with one value per modality, or a dict by their
        names, lets it differ.
    C : float, optional
        The upper bound of α, in [1/(N · M), 1]; values above 1 act as 1.
    nu : float, optional
        Instead of C: about the share of the N · M points outside the sphere, C = 1/(nu · N · M). With neither, 0.1.
    step_size : float, default=0.1
        η of the gradient update.
    n_iter : int, default=5
        The number of updates; 0 keeps the initial projections, the principal directions of each modality.
    regularizer : int from 0 to 6, str, Laplacian, list or dict, default=0
        ω. 0 is none. Within each modality, Σ_m Tr(Q_m Φ_mᵀ λ_m λ_mᵀ Φ_m Q_mᵀ): 1 with λ_m = 1, 2 with λ_m = α_m, 3 with
        α_m of the points on the sphere only. Across modalities, Σ_m Σ_n Tr(Q_m Φ_mᵀ λ_m λ_nᵀ Φ_n Q_nᵀ): 4, 5 and 6 with
        the same three λ. Centred features sum to zero, so 1 and 4 need ``center=False``.
        A graph, as for ``laplacian`` of :class:`~pyod_gessvdd.GESSVDD`, or one for each modality in a list or a dict:
        Σ_m Tr(Q_m Φ_mᵀ L_m Φ_m Q_mᵀ), graph-regularised MS-SVDD.
    cross_modal : bool, default=False
        Whether graphs reach across modalities: Σ_m Σ_n Tr(Q_m Φ_mᵀ L Φ_n Q_nᵀ) with the mean L of the L_m.
    beta : float, default=0.0
        The weight of ω; 0 switches it off.
    decision : {"and", "or", "mean"}, int or str, default="and"
        Inside means inside in every modality (the score is the largest), in any (the smallest), on average (the mean of
        dist²/R²), or in the one modality with this position or name.
    center : bool, default=True
        Whether the features are centred by their training mean.
    standardize : bool, default=True
        Whether the columns of X are scaled to unit variance first; the paper does not.
    qp_backend : str or QPBackend, default="auto"
        The solver of the SVDD dual.
    qp_tol : float, default=1e-8
        The relative duality gap that every solve must reach.
    threshold : {"contamination", "radius"}, default="contamination"
        What decides the labels: PyOD's percentile of the training scores, or the sphere (score above 1).
    contamination : float in (0, 0.5] or a PyThresh object, default=0.1
        The share of outliers expected in the training data.
    random_state : int, RandomState or None
        Seeds the kernels' landmarks.
    verbose : bool or int, default=False
        Whether ``fit`` shows its progress on stderr.

    Attributes
    ----------
    modality_names_ : list
        The names of the modalities, or their positions if they have none.
    modality_columns_ : list of ndarray of int
        The columns of each.
    components_ : list of ndarray of shape (d, F_m)
        Q_m, orthonormal rows.
    alpha_ : ndarray of shape (M, N)
        The dual variables; all together sum to one.
    support_, boundary_, outside_ : list of ndarray of int
        For each modality, the training rows with α > 0, with 0 < α < C (on the sphere), with α = C (outside).
    center_ : ndarray of shape (d,)
        The sphere's centre.
    radius_ : float
        The sphere's radius.
    n_components_, n_iter_ : int
        The dimension reached and the updates made.
    history_ : list of dict
        For the start and after each update: iteration, criterion (the Lagrangian), radius, n_support, gap, step (the
        largest of the modalities').
    stop_reason_ : str
        Why the alternation ended.
    n_features_in_, feature_names_in_
        The number of columns at fit, and their names if X was a DataFrame.
    decision_scores_, labels_, threshold_
        PyOD's: the training rows' scores and labels, and the score above which a row is an outlier.

    References
    ----------
    F. Sohrab, J. Raitoharju, A. Iosifidis, M. Gabbouj: Multimodal Subspace Support Vector Data Description. Pattern
    Recognition 110, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from pyod_gessvdd import MSSVDD
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> detector = MSSVDD({"radar": [0, 1], "camera": slice(2, 5)}, n_components=2).fit(X)
    >>> detector.predict([[0, 0, 0, 0, 0], [0, 0, 9, 9, 9]]).tolist()
    [0, 1]
    """

    _component_parameters: ClassVar[tuple[str, ...]] = ("kernel", "qp_backend")

    def __init__(
        self,
        modalities: Any = None,
        *,
        kernel: Any = "linear",
        gamma: Any = None,
        sigma: float | None = None,
        n_components: int | None = None,
        criterion: Any = "min",
        C: float | None = None,
        nu: float | None = None,
        step_size: float = 0.1,
        n_iter: int = 5,
        regularizer: Any = 0,
        cross_modal: bool = False,
        beta: float = 0.0,
        decision: str | int = "and",
        center: bool = True,
        standardize: bool = True,
        qp_backend: Any = "auto",
        qp_tol: float = 1e-8,
        threshold: str = "contamination",
        contamination: Any = 0.1,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        super().__init__(contamination=contamination)
        self.modalities = modalities
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.n_components = n_components
        self.criterion = criterion
        self.C = C
        self.nu = nu
        self.step_size = step_size
        self.n_iter = n_iter
        self.regularizer = regularizer
        self.cross_modal = cross_modal
        self.beta = beta
        self.decision = decision
        self.center = center
        self.standardize = standardize
        self.qp_backend = qp_backend
        self.qp_tol = qp_tol
        self.threshold = threshold
        self.random_state = random_state
        self.verbose = verbose

    # Fit ----------------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MSSVDD:
        """Learn the projections and the sphere.

        Parameters
        ----------
        X : array or DataFrame of shape (N, D)
            The training rows, the columns of all modalities side by side.
        y : ignored
            Present for compatibility with scikit-learn.
        sample_weight : array of shape (N,), optional
            The bound on row i's α becomes C · sample_weight[i] in every modality.

        Returns
        -------
        MSSVDD
            The detector itself. If anything fails, it stays as it was.
        """
        with unchanged_on_error(self), progress.shown(self.verbose):
            self._check_contamination()
            settings = self.get_params(deep=False)
            # Shared parameters are checked by the same code; those that only GESSVDD has take the paper's values there.
            check_multimodal_parameters(settings)
            check_parameters({**PAPER, **settings, "criterion": "min"})
            X = validated(self, X, reset=True)
            self.modality_names_, self.modality_columns_ = resolve_modalities(
                self.modalities, X.shape[1], getattr(self, "feature_names_in_", None)
            )
            self.decision_ = resolve_decision(self.decision, self.modality_names_)
            self._publish(self._learn(X, self._upper_bounds(len(X), sample_weight), settings), X)
        return self

    def _upper_bounds(self, N: int, sample_weight: Any) -> Array:
        """The bounds of α for the N · M points, modality after modality."""
        M = len(self.modality_names_)
        weights = None if sample_weight is None else np.tile(check_weights(sample_weight, N), M)
        counted = f"the {N * M} points of {N} samples in {M} modalities" if M > 1 else ""
        return upper_bounds(N * M, self.C, self.nu, weights, counted)

    def _learn(self, X: Array, upper: Array, settings: dict[str, Any]) -> MultimodalModel:
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        inherited = {**settings, "random_state": seed}
        backend = self._component("qp_backend", inherited)
        feature_maps, Phi = [], []
        for name, columns in zip(self.modality_names_, self.modality_columns_, strict=True):
            rows = X.take(columns, axis=1)
            if (rows[0] == rows).all():
                raise _all_equal(len(X), name)
            # The same seed for all: the order of the modalities must not matter.
            kernel = self._component("kernel", inherited)
            learnt, features, _ = FeatureMap.learn(rows, kernel, center=self.center, standardize=self.standardize)
            feature_maps.append(learnt)
            Phi.append(features)
        self._remember_plugins(*(feature_map.kernel for feature_map in feature_maps), backend)
        regulariser = self._regulariser(Phi, seed)
        if self.center and self.beta > 0 and isinstance(regulariser, Multipliers) and regulariser.which == "all":
            warn(f"regularizer={self.regularizer} is zero for centred features, whose sum is zero; use center=False")

        def fit_sphere(Z: Array, last_alpha: Array | None) -> tuple[Sphere, QPSolution]:
            return Sphere.fit(Z, None, upper, backend=backend, tol=self.qp_tol, last_alpha=last_alpha)

        result = alternate_modalities(
            Phi,
            self._start(Phi),
            names=self.modality_names_,
            fit_sphere=fit_sphere,
            regulariser=regulariser,
            beta=self.beta,
            criteria=self._criteria(),
            step_size=self.step_size,
            n_iter=self.n_iter,
        )
        modalities = [Modality(*parts) for parts in zip(self.modality_columns_, feature_maps, result.Q, strict=True)]
        return MultimodalModel(JointDescription(modalities, result.sphere), result)

    def _criteria(self) -> list[str]:
        criteria = per_modality("criterion", self.criterion, self.modality_names_)
        for criterion in criteria:
            if not (isinstance(criterion, str) and criterion in ("min", "max")):
                raise ValueError(f"criterion must be 'min' or 'max', got {criterion!r}")
        return criteria

    def _regulariser(self, Phi: list[Array], seed: int) -> Regulariser | None:
        """ω: by its number, or that of the modalities' graphs."""
        if isinstance(self.regularizer, Integral):
            if self.cross_modal:
                raise ValueError(
                    f"cross_modal=True is for graphs, got regularizer={self.regularizer!r}; 4, 5 and 6 are crossed"
                )
            return OMEGA.get(int(self.regularizer))
        graphs = []
        for value, features in zip(
            per_modality("regularizer", self.regularizer, self.modality_names_), Phi, strict=True
        ):
            laplacian = clone(resolve("laplacian", value))
            graph = build_graph(laplacian, features, seed, None)
            if graph is None:
                raise ValueError(f"regularizer must be a graph, and laplacian {laplacian.name!r} has none")
            graphs.append(graph)
        if self.cross_modal:
            return CrossGraphPenalty(sum(graphs[1:], start=graphs[0]) * (1.0 / len(graphs)))
        return GraphPenalty([graph.scatter(features) for graph, features in zip(graphs, Phi, strict=True)])

    def _start(self, Phi: list[Array]) -> list[Array]:
        """The principal directions of each modality, as many as all have.

        Their signs decide how the modalities' points lie relative to each other: the largest entry of each is positive.
        """
        directions = [principal_directions(features) for features in Phi]
        d = DEFAULT_COMPONENTS_PAPER if self.n_components is None else self.n_components
        for name, features, found in zip(self.modality_names_, Phi, directions, strict=True):
            F, rank = features.shape[1], len(found)
            if rank == 0:
                raise _all_equal(len(features), name)
            if self.n_components is not None and self.n_components > F:
                raise ValueError(
                    f"n_components must be at most the number of features of every modality, and modality {name!r} "
                    f"has {F}, got {self.n_components}"
                )
            if self.n_components is not None and d > rank:
                warn(
                    f"n_components={self.n_components}, but the features of modality {name!r} vary in only {rank} of "
                    f"{F} directions (constant or dependent columns); the joint subspace has no more"
                )
            d = min(d, rank)
        return [found[:d] * orientation(found[:d].T)[:, None] for found in directions]

    def _publish(self, model: MultimodalModel, X: Array) -> None:
        """Store what was learnt under its public names."""
        result, solution = model.result, model.result.solution
        self.model_ = model.description
        self.components_ = result.Q
        self.alpha_ = solution.alpha.reshape(len(result.Q), -1)
        self.support_, self.boundary_, self.outside_ = (
            self._rows_by_modality(points) for points in (solution.support, solution.boundary, solution.outside)
        )
        self.__dict__.update(result.sphere.published())
        self.n_components_ = len(self.center_)
        self.n_iter_ = len(result.history) - 1
        self.history_ = result.history
        self.stop_reason_ = result.stop_reason
        self._set_n_classes(None)
        self.decision_scores_ = self._scores(X)
        self._process_decision_scores()

    def _rows_by_modality(self, points: Array) -> list[Array]:
        """From indices among all M · N points to the rows of each modality."""
        M, N = self.alpha_.shape
        return [points[points // N == m] - m * N for m in range(M)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Several kernel matrices side by side are not the square that scikit-learn means by pairwise.
        tags.input_tags.pairwise = self.kernel == "precomputed" and self.modalities is None
        return tags

    # Scores -------------------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Array:
        """The rows' dist²/R² of all modalities, combined by ``decision``: larger is more abnormal."""
        check_is_fitted(self, "decision_scores_")
        return self._scores(validated(self, X, reset=False))

    def modality_scores(self, X: Any) -> Array:
        """dist²/R² of each row in each modality, of shape (n, M): which of them makes a row abnormal."""
        check_is_fitted(self, "decision_scores_")
        return self.model_.scores(validated(self, X, reset=False))

    def transform(self, X: Any) -> Array:
        """The coordinates of each row in the joint subspace, once per modality, of shape (n, M, d)."""
        check_is_fitted(self, "decision_scores_")
        return self.model_.transform(validated(self, X, reset=False))

    def _scores(self, X: Array) -> Array:
        scores = self.model_.scores(X)
        if isinstance(self.decision_, int):
            return scores[:, self.decision_].copy()
        return RULES[self.decision_](scores, axis=1)


@dataclass(frozen=True, eq=False)
class Modality:
    """One group of columns: which, their feature map, and their projection into the joint subspace."""

    columns: Array
    feature_map: FeatureMap
    Q: Array

    @cached_property
    def _of_rows(self) -> tuple[Array, Array] | None:
        """W and b with z = Wx − b where rows are their own features: scaled and projected in one product."""
        return self.feature_map.folded(self.Q) if self.feature_map.is_affine else None

    def coordinates(self, X: Array) -> Array:
        """Q φ of one block of rows, of shape (n, d)."""
        rows = X.take(self.columns, axis=1)
        if self._of_rows is not None:
            W, b = self._of_rows
            return rows @ W.T - b
        return self.feature_map.features(rows)[0] @ self.Q.T


@dataclass(frozen=True, eq=False)
class JointDescription:
    """The modalities, and the sphere around the points of all of them."""

    modalities: list[Modality]
    sphere: Sphere

    def scores(self, X: Array) -> Array:
        """dist²/R² of each row in each modality, of shape (n, M)."""
        return self._map(lambda modality, block: self.sphere.scores(modality.coordinates(block)), X)

    def transform(self, X: Array) -> Array:
        """The coordinates of each row in each modality, of shape (n, M, d)."""
        return self._map(Modality.coordinates, X)

    def _map(self, function: Callable[[Modality, Array], Array], X: Array) -> Array:
        """``function`` of each modality and the rows, in blocks, of shape (n, M, …)."""
        row_cost = max(part.feature_map.kernel.row_cost(X.shape[1]) for part in self.modalities)
        return map_blocks(
            lambda block: np.stack([function(part, block) for part in self.modalities], axis=1), X, row_cost
        )


@dataclass(frozen=True)
class MultimodalModel:
    """What a fit learns: the description, and how the alternation went."""

    description: JointDescription
    result: MultimodalResult


def _all_equal(n_rows: int, name: Any) -> ValueError:
    return ValueError(f"all {n_rows} rows of modality {name!r} are equal: there is nothing to describe")
