"""GESSVDD as a PyOD detector: its parameters and the paper's variants; :mod:`base` has ``fit`` and the scores."""

from __future__ import annotations

from typing import Any

from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.detectors.base import PAPER, SubspaceDetector
from pyod_gessvdd.detectors.variants import parse_variant, variant_name


class GESSVDD(SubspaceDetector):
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
    center_ : ndarray of shape (d,)
        The sphere's centre, in the subspace.
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

    def __init__(
        self,
        *,
        kernel: Any = "mixed",
        gamma: Any = None,
        sigma: float | None = None,
        laplacian: Any = "identity",
        updater: Any = "gradient",
        criterion: str = "max",
        n_components: int | str | None = "all",
        C: float | None = None,
        nu: float | None = None,
        step_size: float = 0.1,
        n_iter: int | None = None,
        tol: float = 0.0,
        keep: str = "last",
        init: Any = "pca",
        center: bool | None = None,
        standardize: bool | str = "auto",
        ridge: float | None = None,
        novelty: bool = False,
        trim: float | str | None = "auto",
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
        self.novelty = novelty
        self.trim = trim
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
        as_published = {name: PAPER[name] for name in cls._get_param_names()}
        return cls(**{**as_published, **parse_variant(name), **params})

    @property
    def variant(self) -> str | None:
        """The paper's name of the variant that this detector is, or None if the paper has none."""
        return variant_name(
            resolve("laplacian", self.laplacian).name, resolve("updater", self.updater).name, self.criterion
        )
