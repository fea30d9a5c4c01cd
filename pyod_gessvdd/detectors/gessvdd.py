"""GESSVDD as a PyOD detector: its parameters and the paper's variants; :mod:`base` has ``fit`` and the scores."""

from __future__ import annotations

from typing import Any

from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.detectors.base import PAPER, SubspaceDetector
from pyod_gessvdd.detectors.variants import parse_variant, variant_name


class GESSVDD(SubspaceDetector):
    """Graph-Embedded Subspace Support Vector Data Description.

    Learns a metric from a graph over the training rows, a subspace if one is asked for, and the smallest sphere that
    holds most of the rows; only rows that look trustworthy take part. The score of a row is dist²/R², its squared
    distance from the centre over the squared radius: 1 is the sphere itself.

    By default the description lives in the whole of the kernel's space and nothing is discarded. ``n_components`` asks
    for a subspace and, with it, for the updates of the paper's Algorithm 1. :meth:`from_variant` returns the paper's 34
    variants as they are published.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="mixed"
        "linear", "mixed", "laplacian", "rbf", "exponential", "matern", "polynomial", "sigmoid", "cosine", "chi2",
        "additive_chi2", "precomputed", a plugin's, a sum or product such as "0.5*rbf + 0.5*laplacian" and "rbf*linear",
        or a function of two arrays.
    gamma : float, "scale", "auto" or "median", optional
        The kernel's width. With "mixed" and "laplacian" it is "auto" unless given, one over the number of columns. With
        ``kernel="rbf"`` the paper's ``sigma`` can be given instead, and with neither it is 0.003 times "scale", a wide
        kernel, which the paper's score needs; for the other kernels it is "scale".
    sigma : float, optional
        gamma = 1 / (2 sigma²).
    laplacian : str, Laplacian or matrix, optional
        The graph L_x: "none", "identity", "pca", "within", "between", "knn", a weighted sum such as "0.7*knn + 0.3*pca"
        or, with learnt weights, "auto*(knn + pca)", a plugin's, or an N × N matrix. The paper's names 0, I, PCA, Sw,
        Sb, kNN work too. Unless given, "identity" in the whole space and "pca" in a subspace; on centred features the
        two differ by the factor N, which affects the steps of an update but not the scores.
    updater : str or Updater, default="gradient"
        "gradient" (GR), "spectral" (S), "spectral_regression" (SR), "riemannian", "newton", "newton_ssvdd"
        or a plugin's.
    criterion : {"max", "min"}, default="max"
        Whether Tr((Q S_x Qᵀ)⁻¹ Q S_α Qᵀ) should rise or fall.
    n_components : int, "all" or None, default="all"
        d, the dimension of the subspace. "all" describes the whole space; with a kernel and a graph other than
        "identity", or with updates, by its first 300 directions and the rest. None takes 300 dimensions (30 with
        ``residual=False``), or as many as the features vary in and the graph sees; a number that turns out to be too
        large is reduced with a warning.
    C : float, optional
        The upper bound of α, in [1/N, 1]; values above 1 act as 1.
    nu : float, optional
        Instead of C, C = 1/(nu · N): at most this share of the trusted rows is outside the sphere, and at least this
        share is on it or outside. With neither, nu = 0.1.
    step_size : float, default=0.1
        η of the gradient update.
    n_iter : int, optional
        The number of updates; 0 keeps the initial Q. Unless given, 5 in a subspace, and none in the whole space, where
        there is nothing to learn.
    tol : float, default=0.0
        Stop when the relative change of the criterion is at most this; 0 makes all ``n_iter`` updates.
    keep : {"last", "best"}, default="last"
        Which iterate becomes the model: the last, as in the paper, or the one whose criterion in ``history_`` is the
        best: the largest for "max", the smallest for "min", among those that have lost the fewest dimensions.
    init : {"pca", "random"} or array of shape (d, F), default="pca"
        The initial Q; an array determines d, unless ``n_components`` is a number.
    center : bool, optional
        Whether the features are centred by their training mean. Unless given, they are, except in the whole of a
        kernel's space, where the mean is one direction among all.
    standardize : bool or {"auto", "standard", "robust", "signed_log", "quantile", "views"}, default="auto"
        What is done to the columns of X first; the paper does nothing (False). "standard" (or True) gives them mean
        zero and variance one, "robust" median zero and the interquartile range of a normal distribution; "signed_log"
        takes sign(x)·log(1 + |x|) of the former, which brings far values closer and keeps them distinct; "quantile"
        replaces values by the normal scores of their ranks; "views" passes the kernel three of these side by side.
        "auto" is "views" for the kernel "mixed", which averages over them, and "signed_log" for the others.
    ridge : float, optional
        Added to the scatter before it is inverted: in the whole space as a share of Tr(S_x²)/Tr(S_x), the typical
        scatter where rows vary; in a subspace as a share of the mean eigenvalue of S_Q, and also to ρ of the residual.
        It keeps directions in which the training rows hardly vary from deciding everything. Unless given, it depends on
        ``novelty`` and the number of rows (see ``docs/defaults.md``), and is 0.1 in a subspace; ``from_variant`` uses
        1e-6.
    novelty : bool, default=False
        Declares the training rows to be clean. Then all of them are trusted, and the description is narrow and hardly
        regularised. Otherwise outliers among them are expected, as many as ``contamination`` states.
    trim : float, "auto" or None, default="auto"
        The share of training rows that the description hardly learns from, those that a wide description finds most
        unusual. "auto" is ``contamination``, at most a tenth, and nothing with ``novelty=True`` or with
        ``residual=False``; None or 0 trusts all rows.
    qp_backend : str or QPBackend, default="auto"
        The solver of the SVDD dual.
    qp_tol : float, default=1e-8
        The relative duality gap that every solve must reach.
    residual : bool, default=True
        Whether what a projection discards counts: r², the part of a row outside the subspace and outside the span of
        the features, over ρ, the mean scatter that the graph leaves there. False is the paper's score.
    threshold : {"contamination", "radius"}, default="contamination"
        What decides the labels: PyOD's percentile of the training scores, or the sphere: a score above 1 with
        ``residual=False``, else above what the share nu of the trusted rows exceed when left out.
    contamination : float in (0, 0.5] or a PyThresh object, default=0.1
        The share of outliers expected in the training data.
    calibration : float in (0, 1), optional
        The share of the training rows, drawn at random, that is held back for :meth:`p_values`: nothing is learnt from
        them, and the p-values have an exact guarantee. Without it, they rest on the training rows as if left out.
    use_labels : bool, default=False
        Whether ``fit(X, y)`` uses y: 1 for known outliers, 0 for known inliers, −1 or NaN for unknown. A known outlier
        is left out of scaling, kernel, graph and trust, and a known inlier is trusted. In the whole space, rows that
        resemble known outliers score higher; in a subspace, and in SVDD, known outliers are negative examples of the
        sphere (Tax and Duin, 2004). See ``docs/labels.md``.
    feature_laplacian : str, FeatureLaplacian or matrix, optional
        A graph over the columns, for the linear kernel: "feature_knn" (correlated columns), "feature_chain"
        (neighbouring ones), a plugin's, or a D × D matrix. The updates give linked columns similar weights in the
        projection: Tr(QLQᵀ) is added to the criterion, or subtracted where it is maximised.
    feature_beta : float, default=0.1
        The weight of this penalty.
    random_state : int, RandomState or None
        Seeds clusters, landmarks, the rows drawn from large data and a random start.
    verbose : bool or int, default=False
        Whether ``fit`` shows its progress on stderr: the rounds of trust, the updates with criterion and gap, and the
        passes over rows that are not in memory. Scores do not depend on it.

    Attributes
    ----------
    decision_scores_, labels_, threshold_
        PyOD's: the training rows' scores and labels, and the score above which a row is an outlier. With the residual
        and a graph a trusted row's score is what it would be had the row been left out, as in PyOD's KNN and LOF, and
        the other rows are new rows to the description; otherwise it is ``decision_function(X)``.
    calibration_scores_ : ndarray of shape (n_calibration,)
        The scores that :meth:`p_values` compares new rows with, in ascending order.
    trusted_ : ndarray of bool of shape (N,)
        The rows that the description was learnt from.
    trust_history_ : list of dict
        How they were found, round by round: n_trusted, n_new, limit. Empty if all rows are trusted.
    alpha_ : ndarray of shape (N,)
        The dual variables; those of known outliers are negative where they are examples of the sphere.
    support_, boundary_, outside_ : ndarray of int
        Training rows with α > 0, with 0 < α < C (on the sphere), with α = C (outside).
    radius_ : float
        The sphere's radius.
    center_, components_, projection_ : ndarray of shape (d,), (d, F) and (d, F)
        In a subspace: the sphere's centre, Q, and S_Q^{-1/2} Q.
    n_components_, n_iter_ : int
        The dimension reached (in the whole space, the number of rows that span it) and the updates made.
    history_ : list of dict
        For the start and after each update: iteration, criterion, radius, n_support, gap, step.
    best_iteration_ : int
        The index in ``history_`` of the iterate that is the model; its last one unless ``keep="best"``.
    laplacian_weights_ : ndarray of shape (n_graphs,) or None
        The weights in a sum of graphs, given or learnt; None if the laplacian is not a sum.
    stop_reason_ : str
        Why the alternation ended.
    n_features_in_, feature_names_in_
        The number of columns at fit, and their names if X was a DataFrame.

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
        laplacian: Any = None,
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
        calibration: float | None = None,
        use_labels: bool = False,
        feature_laplacian: Any = None,
        feature_beta: float = 0.1,
        random_state: Any = None,
        verbose: bool | int = False,
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
        self.calibration = calibration
        self.use_labels = use_labels
        self.feature_laplacian = feature_laplacian
        self.feature_beta = feature_beta
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def from_variant(cls, name: str, **params: Any) -> GESSVDD:
        """The paper's variant of that name, as the paper defines it: linear, unscaled, its own score and decision.

        Parameters
        ----------
        name : str
            GRAPH-UPDATER-DIRECTION, for example "kNN-GR-min"; the prefix "GESSVDD-" is optional.
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
        """The paper's name for this detector's variant, or None if the paper has none."""
        laplacian = self._settings()["laplacian"]
        return variant_name(resolve("laplacian", laplacian).name, resolve("updater", self.updater).name, self.criterion)

    def _settings(self) -> dict[str, Any]:
        """The parameters; the default graph depends on whether there is a subspace."""
        settings = super()._settings()
        if settings["laplacian"] is None:
            settings["laplacian"] = "identity" if settings["n_components"] == "all" else "pca"
        return settings
