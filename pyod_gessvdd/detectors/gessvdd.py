"""GESSVDD as a PyOD detector: parameters, fit, scores. ``fit`` is the paper's Algorithm 1, step by step."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pyod_gessvdd.components.contracts import Kernel, Laplacian, NoGraph, QPBackend, Updater
from pyod_gessvdd.components.nesting import NestedComponents
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.components.validation import as_graph, check_features, check_residual
from pyod_gessvdd.description import ON_THE_SPHERE, Description
from pyod_gessvdd.detectors.parameters import check_parameters
from pyod_gessvdd.detectors.pyod_contract import PyODContract, unchanged_on_error
from pyod_gessvdd.detectors.variants import parse_variant, variant_name
from pyod_gessvdd.dual import QPSolution, upper_bounds
from pyod_gessvdd.explain.pictures import Pictured
from pyod_gessvdd.feature_map import training_features
from pyod_gessvdd.graph import Graph
from pyod_gessvdd.linalg import RELATIVE_ZERO, map_blocks
from pyod_gessvdd.preprocessing import Scaling, validated
from pyod_gessvdd.qp import solve_in_place
from pyod_gessvdd.residual import left_out_factor, solve_both_sides
from pyod_gessvdd.subspace import n_seen, orthonormalise, principal_directions, random_directions
from pyod_gessvdd.training import TrainingData, TrainingResult, alternate

Array = np.ndarray

#: The subspace's dimension when none is asked for, with the residual as a coordinate and without.
DEFAULT_COMPONENTS, DEFAULT_COMPONENTS_PAPER = 300, 30


class GESSVDD(Pictured, NestedComponents, TransformerMixin, PyODContract):
    """Graph-Embedded Subspace Support Vector Data Description.

    Learns a subspace together with the smallest sphere in it that holds most of the training data; a graph over the
    training data shapes the metric of the subspace. The score of a row is dist²/R²: its squared distance from the
    centre over the squared radius, so that 1 is the sphere itself.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="mixed"
        "linear", "mixed", "laplacian", "rbf", "exponential", "matern", "polynomial", "sigmoid", "cosine", "chi2",
        "additive_chi2", "precomputed", a plugin's, or a function of two arrays. All but "linear" go through the
        non-linear projection trick.
    gamma : float, "scale", "auto" or "median", optional
        The kernel's width. With "mixed" and "laplacian" it is "auto" unless given, one over the number of columns. With
        ``kernel="rbf"`` the paper's ``sigma`` can be given instead, and with neither it is 0.003 times "scale", a wide
        kernel, which the paper's score needs; for the other kernels it is "scale".
    sigma : float, optional
        gamma = 1 / (2 sigma²).
    laplacian : str, Laplacian or matrix, default="pca"
        The graph L_x: "none", "identity", "pca", "within", "between", "knn", a weighted sum such as
        "0.7*knn + 0.3*pca" or, with learnt weights, "auto*(knn + pca)", a plugin's, or an N × N matrix. The paper's
        names 0, I, PCA, Sw, Sb, kNN work too.
    updater : str or Updater, default="gradient"
        "gradient" (GR), "spectral" (S), "spectral_regression" (SR), "riemannian", "newton", or a plugin's.
    criterion : {"max", "min"}, default="max"
        Whether Tr((Q S_x Qᵀ)⁻¹ Q S_α Qᵀ) is to rise or to fall.
    n_components : int or "all", optional
        d, the dimension of the subspace. Unless given it is 300 (30 with ``residual=False``), or as many directions as
        the features vary in and the graph sees; a number that turns out to be too large is reduced with a warning.
        "all" is no subspace: as many as there are directions in which the features vary.
    C : float, optional
        The upper bound of α, in [1/N, 1]; above 1 equals 1.
    nu : float, optional
        Instead of C: about the share of training rows outside the sphere, C = 1/(nu · N). With neither, nu = 0.1.
    step_size : float, default=0.1
        η of the gradient update.
    n_iter : int, default=5
        The number of updates; 0 keeps the start.
    tol : float, default=0.0
        Stop when the criterion changes by no more than this share of itself; 0 makes all ``n_iter`` updates.
    keep : {"last", "best"}, default="last"
        Which iterate becomes the model: the last, as in the paper, or the one whose criterion in ``history_`` is the
        best: the largest for "max", the smallest for "min", among those that have lost the fewest dimensions.
    init : {"pca", "random"} or array of shape (d, F), default="pca"
        The start of Q.
    center : bool, default=True
        Whether the features are centred by their training mean.
    standardize : bool or {"standard", "robust", "signed_log", "quantile"}, default="signed_log"
        What is done to the columns of X first; the paper does nothing (False). "standard" (or True) makes them mean
        zero and variance one, "robust" median zero and the interquartile range that of a normal distribution with
        variance one; "signed_log" takes sign(x)·log(1 + |x|) of the former, which brings far values near and tells
        them apart still; "quantile" gives every column a normal distribution.
    ridge : float, default=0.1
        Added to S_Q = Q S_x Qᵀ before it is inverted, as a share of its mean eigenvalue, and to ρ of the residual. It
        keeps directions that hardly vary in the training rows, or outliers among them, from deciding everything; the
        paper has none, and ``from_variant`` takes 1e-6.
    qp_backend : str or QPBackend, default="auto"
        The solver of the SVDD dual.
    qp_tol : float, default=1e-8
        The relative duality gap that every solve must reach.
    residual : bool, default=True
        Whether what the projection discards counts: the sphere gets one more coordinate r/√ρ, with r² the part of a row
        outside the subspace and outside the span of the features, and ρ the mean scatter that the graph leaves there
        (1 without a graph). False is the paper's score.
    threshold : {"contamination", "radius"}, default="contamination"
        What decides the labels: PyOD's percentile of the training scores, or the sphere, which is what training on
        clean data asks for: a score above 1 or, with the residual and a graph, above what the training rows on the
        sphere would have on average without themselves.
    contamination : float in (0, 0.5] or a PyThresh object, default=0.1
        The share of outliers expected in the training data.
    random_state : int, RandomState or None
        Seeds clusters, landmarks and a random start.

    Attributes
    ----------
    components_ : ndarray of shape (d, F)
        Q, orthonormal rows.
    projection_ : ndarray of shape (d, F)
        S_Q^{-1/2} Q.
    alpha_ : ndarray of shape (N,)
        The dual variables.
    support_, boundary_, outside_ : ndarray of int
        Training rows with α > 0, with 0 < α < C (on the sphere), with α = C (outside).
    center_ : ndarray of shape (d,), or (d + 1,) with the residual
        The sphere's centre.
    radius_ : float
        The sphere's radius.
    n_components_, n_iter_ : int
        The dimension reached and the updates made.
    history_ : list of dict
        For the start and after each update: iteration, criterion, radius, n_support, gap, step.
    best_iteration_ : int
        The index in ``history_`` of the iterate that is the model; its last one unless ``keep="best"``.
    laplacian_weights_ : ndarray of shape (n_graphs,) or None
        The weights in a sum of graphs, given or learnt; None if the laplacian is no sum.
    stop_reason_ : str
        Why the alternation ended.
    n_features_in_, feature_names_in_
        The number of columns at fit, and their names if X was a DataFrame.
    leverage_ : ndarray of shape (N,) or None
        With the residual and a graph: how much each training row pulls the description towards itself, in [0, 1).
    decision_scores_, labels_, threshold_
        PyOD's: the training rows' scores and labels, and the score above which a row is an outlier. With the residual
        and a graph, a training row's score is about what it would be without itself among the training rows,
        ``decision_function(X) / (1 - leverage_) ** 0.75``; PyOD's KNN and LOF leave it out, too. Beside the scores of
        rows that took part, all new rows would look abnormal. Otherwise it is ``decision_function(X)``.

    References
    ----------
    F. Sohrab, A. Iosifidis, M. Gabbouj, J. Raitoharju: Graph-Embedded Subspace Support Vector Data Description.
    Pattern Recognition 133, 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from pyod_gessvdd import GESSVDD
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> detector = GESSVDD(kernel="linear", random_state=0).fit(X)
    >>> detector.predict([[0, 0, 0, 0, 0], [9, 9, 9, 9, 9]]).tolist()
    [0, 1]
    """

    _component_parameters: ClassVar[tuple[str, ...]] = ("kernel", "laplacian", "updater", "qp_backend")

    def __init__(
        self,
        *,
        kernel: Any = "mixed",
        gamma: Any = None,
        sigma: float | None = None,
        laplacian: Any = "pca",
        updater: Any = "gradient",
        criterion: str = "max",
        n_components: int | str | None = None,
        C: float | None = None,
        nu: float | None = None,
        step_size: float = 0.1,
        n_iter: int = 5,
        tol: float = 0.0,
        keep: str = "last",
        init: Any = "pca",
        center: bool = True,
        standardize: bool | str = "signed_log",
        ridge: float = 0.1,
        qp_backend: Any = "auto",
        qp_tol: float = 1e-8,
        residual: bool = True,
        threshold: str = "contamination",
        contamination: Any = 0.1,
        random_state: Any = None,
    ) -> None:
        super().__init__(contamination=contamination)
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.laplacian = laplacian
        self.updater = updater
        self.criterion = criterion
        self.n_components = n_components
        self.C = C
        self.nu = nu
        self.step_size = step_size
        self.n_iter = n_iter
        self.tol = tol
        self.keep = keep
        self.init = init
        self.center = center
        self.standardize = standardize
        self.ridge = ridge
        self.qp_backend = qp_backend
        self.qp_tol = qp_tol
        self.residual = residual
        self.threshold = threshold
        self.random_state = random_state

    @classmethod
    def from_variant(cls, name: str, **params: Any) -> GESSVDD:
        """The paper's variant of that name, as the paper defines it: linear, unscaled, its own score and decision.

        Parameters
        ----------
        name : str
            GRAPH-UPDATER-DIRECTION, for example "kNN-GR-min"; the prefix "GESSVDD-" may be there.
        **params
            Any other parameter, for example ``C=0.1``, ``kernel="rbf"`` or ``standardize=True``.

        Examples
        --------
        >>> from pyod_gessvdd import GESSVDD
        >>> GESSVDD.from_variant("Sb-SR-max", kernel="rbf", sigma=10.0).variant
        'Sb-SR-max'
        """
        as_published = {
            "kernel": "linear",
            "standardize": False,
            "residual": False,
            "ridge": 1e-6,
            "threshold": "radius",
        }
        return cls(**{**as_published, **parse_variant(name), **params})

    @property
    def variant(self) -> str | None:
        """The paper's name of the variant that this detector is, or None if the paper has none."""
        return variant_name(
            resolve("laplacian", self.laplacian).name, resolve("updater", self.updater).name, self.criterion
        )

    # Fit ----------------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> GESSVDD:
        """Learn the subspace and the sphere (paper, Algorithm 1).

        Parameters
        ----------
        X : array of shape (N, D)
            The training rows; with a precomputed kernel, the N × N kernel matrix.
        y : ignored
            There for scikit-learn's tools.
        sample_weight : array of shape (N,), optional
            Row i's bound on α becomes C · sample_weight[i], as in scikit-learn's OneClassSVM; mean, scaling and
            graph do not change.

        Returns
        -------
        GESSVDD
            The detector itself. If anything fails it stays as it was before.
        """
        with unchanged_on_error(self):
            return self._fit(X, sample_weight)

    def _fit(self, X: Any, sample_weight: Any) -> GESSVDD:
        self._check_contamination()
        check_parameters(self._settings())
        X = validated(self, X, reset=True)
        if (X[-1] == X[0]).all() and (X[0] == X).all():
            raise ValueError(f"all {len(X)} rows of X are equal: there is nothing to describe")
        result = self._learn(X, upper_bounds(len(X), self.C, self.nu, sample_weight))
        self._publish(result)
        self._set_n_classes(None)
        self.decision_scores_ = self._scores(X)
        if result.leverage is not None:
            # As new rows are scored: not by a description that they have taken part in.
            self.decision_scores_ *= left_out_factor(result.leverage)
        self._process_decision_scores()
        self._keep_for_explanations(X)
        return self

    def _learn(self, X: Array, upper: Array) -> TrainingResult:
        """Algorithm 1, from the rows and the bounds of α to the subspace and the sphere in it."""
        random_state = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        inherited = {**self._settings(), "random_state": random_state}
        kernel = self._component("kernel", inherited)
        laplacian: Laplacian = self._component("laplacian", inherited)
        updater: Updater = self._component("updater", inherited)
        backend = self._component("qp_backend", inherited)
        if self.sigma is not None and not hasattr(kernel, "sigma"):
            raise ValueError(f"sigma is the width of kernel 'rbf', got {self.sigma!r}; kernel {kernel.name!r} has none")
        if updater.needs_graph and isinstance(laplacian, NoGraph):
            raise ValueError(f"updater {updater.name!r} needs a graph, and laplacian {laplacian.name!r} has none")

        self.scaling_ = Scaling.learn(
            X, center=self.center, standardize=self.standardize if kernel.input_is_rows else False
        )
        scaled = self.scaling_.apply(X)
        Phi, self.feature_mean_ = training_features(kernel, scaled, self.center)
        missed = self._missed(kernel, scaled)
        graph = self._graph(laplacian, Phi, random_state)
        S_x = None if graph is None else _check_scatter(graph.scatter(Phi), Phi, laplacian)
        Q = self._start(Phi, S_x, random_state)
        self.kernel_ = kernel
        self.laplacian_weights_ = getattr(laplacian, "weights_", None)
        self._remember_plugins(kernel, laplacian, updater, backend)

        def solve(Z: Array, bounds: Array, last_alpha: Array | None) -> QPSolution:
            return self._solve(Z, bounds, backend, last_alpha)

        def sphere(Z: Array, last_alpha: Array | None) -> QPSolution:
            return solve_both_sides(solve, Z, upper, last_alpha) if self.residual else solve(Z, upper, last_alpha)

        return alternate(
            TrainingData(Phi, graph, S_x, missed),
            Q,
            n_components=Q.shape[0],
            updater=updater,
            solve=sphere,
            criterion=self.criterion,
            ridge=self.ridge,
            n_iter=self.n_iter,
            tol=self.tol,
            warn=isinstance(self.n_components, int) or not isinstance(self.init, str),
            keep=self.keep,
        )

    def _settings(self) -> dict[str, Any]:
        """Every parameter and its value, those included that a subclass fixes and does not expose."""
        return {name: getattr(self, name) for name in {*GESSVDD._get_param_names(), *self._get_param_names()}}

    def _solve(self, Z: Array, upper: Array, backend: QPBackend, last_alpha: Array | None) -> QPSolution:
        """The boundary around the projected rows, which may be overwritten."""
        return solve_in_place(Z, upper, backend, self.qp_tol, last_alpha)

    def _missed(self, kernel: Kernel, X: Array) -> Array | None:
        """What the features miss of each training row, if it counts; a kernel may have found it on the way."""
        found: Array | None = kernel.__dict__.pop("training_residual_", None)
        if not self.residual:
            return None
        if found is not None:
            return check_residual(found, len(X), kernel)

        def of_block(block: Array) -> Array:
            return check_residual(kernel.residual(block), len(block), kernel)

        return map_blocks(of_block, X, row_cost=_row_cost(kernel, X))

    def _graph(self, laplacian: Laplacian, Phi: Array, random_state: int) -> Graph | None:
        if isinstance(laplacian, NoGraph):
            return None
        return as_graph(laplacian.build(Phi, random_state), len(Phi), laplacian)

    def _start(self, Phi: Array, S_x: Array | None, random_state: int) -> Array:
        """The first Q: d principal directions, random ones, or the user's."""
        F = Phi.shape[1]
        if isinstance(self.init, str):
            directions = principal_directions(Phi)
            if len(directions) == 0:
                raise ValueError(f"all {len(Phi)} rows of X are equal: there is nothing to describe")
            d = self._dimension(F, len(directions), S_x)
            return directions[:d] if self.init == "pca" else random_directions(d, F, random_state)
        Q = np.asarray(self.init, dtype=float)
        if Q.ndim == 2 and not np.isfinite(Q).all():
            raise ValueError("init must be finite, got NaN or infinite values")
        if Q.ndim != 2 or Q.shape[1] != F or not 1 <= Q.shape[0] <= F:
            raise ValueError(f"init must be 'pca', 'random' or an array of shape (d, {F}), got shape {Q.shape}")
        if self.n_components not in (None, Q.shape[0]) and not (self.n_components == "all" and Q.shape[0] == F):
            raise ValueError(f"init has {Q.shape[0]} rows but n_components={self.n_components}; they must agree")
        orthonormal = orthonormalise(Q)
        if len(orthonormal) < len(Q):
            raise ValueError(f"the {len(Q)} rows of init span only {len(orthonormal)} dimensions")
        return orthonormal

    def _dimension(self, F: int, rank: int, S_x: Array | None) -> int:
        if self.n_components is None:
            # Nobody asked for directions that the graph does not see; the between graph sees K − 1 at most.
            default = DEFAULT_COMPONENTS if self.residual else DEFAULT_COMPONENTS_PAPER
            return min(default, rank, rank if S_x is None else n_seen(S_x, self.ridge))
        if isinstance(self.n_components, str):
            return rank
        if self.n_components > F:
            raise ValueError(f"n_components must be at most the number of features, {F}, got {self.n_components}")
        if self.n_components > rank:
            warnings.warn(
                f"n_components={self.n_components}, but the features vary in only {rank} of {F} directions "
                f"(constant or dependent columns); using {rank}",
                UserWarning,
                stacklevel=4,
            )
        return min(self.n_components, rank)

    def _publish(self, result: TrainingResult) -> None:
        """Put what was learnt under its public names."""
        sphere = result.sphere
        description = self._description(result)
        # Rows that are their own features are scaled and projected in one product.
        self._takes_rows = self.kernel_.is_identity and description.axis is None and self.scaling_.is_affine
        self.description_ = description.of_rows(self.scaling_) if self._takes_rows else description
        self.components_ = result.Q
        self.projection_ = result.projection
        self.alpha_ = sphere.alpha
        self.support_ = sphere.support
        self.boundary_ = sphere.boundary
        self.outside_ = sphere.outside
        self.leverage_ = result.leverage
        self._radius_threshold = 1.0
        if result.leverage is not None:
            on_the_sphere = sphere.boundary if len(sphere.boundary) else sphere.support
            self._radius_threshold = float(left_out_factor(result.leverage[on_the_sphere]).mean())
        self.n_components_ = result.Q.shape[0]
        self.n_iter_ = result.n_iter
        self.history_ = result.history
        self.best_iteration_ = result.best_iteration
        self.stop_reason_ = result.stop_reason
        self._publish_boundary(sphere)

    def _labels_by_sphere(self, scores: Array) -> Array:
        if self.leverage_ is None:
            return super()._labels_by_sphere(scores)
        # The sphere is that of the rows as they are, themselves included; the factor and back may cost the last bit.
        return (scores / left_out_factor(self.leverage_) > 1.0 + ON_THE_SPHERE).astype(int)

    def _publish_boundary(self, sphere: QPSolution) -> None:
        self.center_ = sphere.center
        self.radius_ = float(np.sqrt(sphere.radius2))

    def _description(self, result: TrainingResult) -> Description:
        return Description.from_sphere(result.projection, self.feature_mean_, result.sphere, result.axis)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    # Scores -------------------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Array:
        """dist²/R² of each row: 1 on the sphere, larger is more abnormal (paper eq. ``test1``)."""
        check_is_fitted(self, "decision_scores_")
        return self._scores(validated(self, X, reset=False))

    def transform(self, X: Any) -> Array:
        """The subspace coordinates Z of each row, of shape (n, d) (paper eq. ``test``).

        With ``residual=True`` there is one more column, the last: how far the row is outside the subspace, r/√ρ.
        """
        check_is_fitted(self, "decision_scores_")
        return self._map(self.description_.project, validated(self, X, reset=False))

    def _scores(self, X: Array) -> Array:
        return self._map(self.description_.scores, X)

    def _map(self, function: Callable[..., Array], X: Array) -> Array:
        """``function`` of the rows' features, in blocks."""
        kernel, n_features = self.kernel_, self.components_.shape[1]
        if self._takes_rows:
            return map_blocks(function, X, row_cost=n_features)

        def of_block(block: Array) -> Array:
            scaled = self.scaling_.apply(block)
            if self.description_.axis is None:
                return function(check_features(kernel.features(scaled), len(block), kernel, n_features))
            Phi, missed = kernel.features_and_residual(scaled)
            return function(
                check_features(Phi, len(block), kernel, n_features), check_residual(missed, len(block), kernel)
            )

        return map_blocks(of_block, X, row_cost=_row_cost(kernel, X))


def _row_cost(kernel: Kernel, X: Array) -> int:
    return max(X.shape[1], len(getattr(kernel, "landmarks_", ())))


def _check_scatter(S_x: Array, Phi: Array, laplacian: Laplacian) -> Array:
    # Relative to a weight of one per sample and edge, what is left of a scatter of zero is rounding.
    if not np.trace(S_x) > RELATIVE_ZERO * np.einsum("ij,ij->", Phi, Phi) / len(Phi):
        raise ValueError(
            f"laplacian {laplacian.name!r} leaves no scatter in the features (its trace is {np.trace(S_x):.3g}); "
            "choose another graph"
        )
    return S_x
