"""The methods that the paper compares GESSVDD with, and two rivals: each fixes some settings of Algorithm 1.

=========  ==========================================================  =======================
class      what it fixes                                               paper
=========  ==========================================================  =======================
`SVDD`     no graph, no subspace; the whole of the kernel's space      eq. ``erfuncSVDD2``
`GESVDD`   no subspace: whitening by S_x, then the sphere              eq. ``primalobj_gesvdd1``
`ESVDD`    the same with L_x = I                                       "Experiments"
`GESVM`    the same with a hyperplane in place of the sphere           "Experiments"
`SSVDD`    GESSVDD-0-GR-min, with the regulariser ψ                    eq. ``langSSVDD``
`ESSVDD`   GESSVDD-I-GR-min, with the regulariser ψ                    eq. ``primalobj_gesvdd``
`L2SVDD`   SVDD with squared slacks                                    Arashloo (2022)
`OCKSR`    whitening, then a regression in place of the sphere         Arashloo, Kittler (2018)
=========  ==========================================================  =======================
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from pyod_gessvdd.boundaries.half_space import HalfSpace
from pyod_gessvdd.boundaries.slab import Slab
from pyod_gessvdd.boundaries.soft_sphere import SoftSphere
from pyod_gessvdd.detectors.base import SubspaceDetector
from pyod_gessvdd.detectors.variants import variant_name


class _Member(SubspaceDetector):
    """Algorithm 1 with some settings fixed; ``__init__`` takes the others."""

    def _store(self, given: dict[str, Any]) -> None:
        """Store the constructor's arguments as they are."""
        for name in self._get_param_names():
            setattr(self, name, given[name])


class _WholeSpace(_Member):
    """No subspace, and therefore no updates: whiten if there is a graph, then fit a boundary around the rows."""

    # The whole space has nothing outside it, except what a kernel's own features miss: only SVDD has that.
    _fixed: ClassVar[dict[str, Any]] = {"n_components": "all", "n_iter": 0}


def _as_narrow_as_ocsvm(settings: dict[str, Any]) -> dict[str, Any]:
    """With neither gamma nor sigma, "scale": where no part of a row is lost, the kernel need not be wide."""
    return {**settings, "gamma": "scale"} if settings["gamma"] is settings["sigma"] is None else settings


class SVDD(_WholeSpace):
    """Support Vector Data Description: the smallest sphere in feature space that holds most rows (Tax and Duin, 2004).

    For every kernel this is the sphere in the kernel's own space: the part of a row outside the span of the training
    rows counts as well. So with an RBF kernel it ranks and decides like the one-class SVM with nu = 1/(C·N), which is
    PyOD's OCSVM. Two cases are approximate: above 2,000 rows the kernel rests on landmarks (unless
    ``approximation="exact"``), and with a precomputed kernel the part outside the span is unknown and taken as zero.

    Parameters
    ----------
    kernel, sigma, C, nu, standardize, qp_backend, qp_tol, threshold, contamination, calibration, use_labels, \
random_state, verbose
        As in :class:`~pyod_gessvdd.GESSVDD`.
    gamma : float, "scale", "auto" or "median", optional
        The kernel's width; "scale" if neither it nor ``sigma`` is given.
    energy : float, default=1.0
        The share of the kernel's eigenvalues whose directions are kept one by one; what the others hold of a row is
        summed. Less than 1 is faster and approximate.

    Attributes
    ----------
    center_ : ndarray of shape (F,)
        The sphere's centre.

    Notes
    -----
    The other attributes are GESSVDD's. The centre does not depend on the origin: the rows are always centred.

    Examples
    --------
    >>> import numpy as np
    >>> from pyod_gessvdd import SVDD
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> SVDD(C=0.05).fit(X).predict([[0, 0, 0, 0, 0], [9, 9, 9, 9, 9]]).tolist()
    [0, 1]
    """

    _fixed: ClassVar[dict[str, Any]] = {**_WholeSpace._fixed, "laplacian": "none", "residual": True, "center": None}

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: Any = None,
        sigma: float | None = None,
        energy: float = 1.0,
        C: float | None = None,
        nu: float | None = None,
        standardize: bool = True,
        qp_backend: Any = "auto",
        qp_tol: float = 1e-8,
        threshold: str = "contamination",
        contamination: Any = 0.1,
        calibration: float | None = None,
        use_labels: bool = False,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        self._store(locals())

    def _settings(self) -> dict[str, Any]:
        return _as_narrow_as_ocsvm(super()._settings())


class GESVDD(_WholeSpace):
    """Graph-Embedded SVDD (Mygdalis et al., 2016): whitening by S_x, then the sphere (paper ``primalobj_gesvdd1``).

    The same as ``GESSVDD(laplacian=…, n_components="all", n_iter=0)``.

    Parameters
    ----------
    laplacian : str, Laplacian or matrix, default="pca"
        The graph L_x.
    kernel, gamma, sigma, C, nu, center, standardize, ridge, qp_backend, qp_tol, threshold, \
contamination, calibration, random_state, verbose
        As in :class:`~pyod_gessvdd.GESSVDD`, with its attributes.

    Examples
    --------
    >>> import numpy as np
    >>> from pyod_gessvdd import GESVDD
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> GESVDD(laplacian="knn").fit(X).predict([[0, 0, 0, 0, 0], [9, 9, 9, 9, 9]]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        *,
        laplacian: Any = "pca",
        kernel: Any = "rbf",
        gamma: Any = None,
        sigma: float | None = None,
        C: float | None = None,
        nu: float | None = None,
        center: bool = True,
        standardize: bool = True,
        ridge: float = 1e-6,
        qp_backend: Any = "auto",
        qp_tol: float = 1e-8,
        threshold: str = "contamination",
        contamination: Any = 0.1,
        calibration: float | None = None,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        self._store(locals())


class ESVDD(GESVDD):
    """Ellipsoidal SVDD: the sphere after whitening by the scatter of the features, GESVDD with L_x = I.

    Parameters
    ----------
    kernel, gamma, sigma, C, nu, center, standardize, ridge, qp_backend, qp_tol, threshold, \
contamination, calibration, random_state, verbose
        As in :class:`~pyod_gessvdd.GESSVDD`, with its attributes.
    """

    _fixed: ClassVar[dict[str, Any]] = {**_WholeSpace._fixed, "laplacian": "identity"}

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: Any = None,
        sigma: float | None = None,
        C: float | None = None,
        nu: float | None = None,
        center: bool = True,
        standardize: bool = True,
        ridge: float = 1e-6,
        qp_backend: Any = "auto",
        qp_tol: float = 1e-8,
        threshold: str = "contamination",
        contamination: Any = 0.1,
        calibration: float | None = None,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        self._store(locals())


class GESVM(_WholeSpace):
    """Graph-Embedded one-class SVM (Mygdalis et al., 2016): whitening by S_x, then the one-class SVM's hyperplane.

    The hyperplane w·z = ρ has most rows on one side and the origin, as far away as possible, on the other; the score is
    1 + (ρ − w·z)/ρ: 1 on the hyperplane, less on the rows' side, 2 at the level of the origin. The features are not
    centred: their mean would be the origin, from which no hyperplane separates them. A linear kernel therefore needs
    data that lie on one side of the origin; an RBF kernel's features always do.

    Parameters
    ----------
    laplacian : str, Laplacian or matrix, default="pca"
        The graph L_x.
    gamma : float, "scale", "auto" or "median", optional
        The kernel's width; "scale" if neither it nor ``sigma`` is given.
    kernel, sigma, C, nu, standardize, ridge, threshold, contamination, calibration, random_state, verbose
        As in :class:`~pyod_gessvdd.GESSVDD`; ``threshold="radius"`` lets the hyperplane decide.

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
        w, in the whitened coordinates that ``transform`` returns.
    rho_ : float
        ρ.

    Notes
    -----
    The other attributes are GESSVDD's, except for the centre and the radius. Solved by LIBSVM, whose time grows with
    the square of the number of rows; ``history_`` holds the duality gap. Whitening makes every direction that a narrow
    kernel tells apart count equally: with few rows a wide one (a small ``gamma``) describes them better. The threshold
    is that of the fit, which training rows pass more easily than new rows do: ``docs/decisions.md`` has the remedy.

    Examples
    --------
    >>> import numpy as np
    >>> from pyod_gessvdd import GESVM
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> GESVM(gamma=0.01).fit(X).predict([[0, 0, 0, 0, 0], [9, 9, 9, 9, 9]]).tolist()
    [0, 1]
    """

    # The direction in which all rows agree is the one that separates them from the origin.
    _fixed: ClassVar[dict[str, Any]] = {**_WholeSpace._fixed, "center": False, "around_mean": False}
    _boundary = HalfSpace

    def __init__(
        self,
        *,
        laplacian: Any = "pca",
        kernel: Any = "rbf",
        gamma: Any = None,
        sigma: float | None = None,
        C: float | None = None,
        nu: float | None = None,
        standardize: bool = True,
        ridge: float = 1e-6,
        threshold: str = "contamination",
        contamination: Any = 0.1,
        calibration: float | None = None,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        self._store(locals())

    def _settings(self) -> dict[str, Any]:
        return _as_narrow_as_ocsvm(super()._settings())


class L2SVDD(SVDD):
    """SVDD whose slacks count by their squares, ℓp-slack SVDD with p = 2 (Arashloo, 2022).

    A row far outside costs much, and a row slightly outside hardly anything: more rows are support vectors, each is
    outside in proportion to its α, and none decides alone. With p = 1 this is :class:`SVDD`. Other p do not lead to
    quadratic programs, which the QP backends and their certificate are for.

    Parameters
    ----------
    C : float, optional
        The weight of Σ ξ², at least 1/N, in the unit of one over a squared distance; the larger, the fewer rows are
        outside.
    nu : float, optional
        Instead of C, C = 1/(nu · N). With neither, nu = 0.1.
    kernel, gamma, sigma, energy, standardize, qp_backend, qp_tol, threshold, contamination, calibration, \
random_state, verbose
        As in :class:`SVDD`, with its attributes. ``outside_`` is empty: no α is at a bound.

    Examples
    --------
    >>> import numpy as np
    >>> from pyod_gessvdd import L2SVDD
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> L2SVDD().fit(X).predict([[0, 0, 0, 0, 0], [9, 9, 9, 9, 9]]).tolist()
    [0, 1]
    """

    _fixed: ClassVar[dict[str, Any]] = {**SVDD._fixed, "largest_bound": np.inf}
    _boundary = SoftSphere

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: Any = None,
        sigma: float | None = None,
        energy: float = 1.0,
        C: float | None = None,
        nu: float | None = None,
        standardize: bool = True,
        qp_backend: Any = "auto",
        qp_tol: float = 1e-8,
        threshold: str = "contamination",
        contamination: Any = 0.1,
        calibration: float | None = None,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        self._store(locals())


class OCKSR(_WholeSpace):
    """One-class kernel spectral regression (Arashloo and Kittler, 2018), the kernel null-space method as a regression.

    One direction of the kernel's space is sought in which the rows scatter as little as possible and are as far from
    the origin as possible. It is the ridge regression of the target 1 on the rows, f(x) = k_xᵀ(K + δI)⁻¹1, in closed
    form; the score is (f(x)/μ − 1)² with μ the mean of f over the rows, in units of what the share ``nu`` of the rows
    exceed. Far from all rows f is zero.

    Parameters
    ----------
    ridge : float, default=0.01
        δ as a share of the mean eigenvalue of K; the smaller, the more exactly the rows are fitted, and the more every
        other row stands out.
    gamma : float, "scale", "auto" or "median", optional
        The kernel's width; "scale" if neither it nor ``sigma`` is given.
    energy : float, default=1.0
        The share of the kernel's eigenvalues that is kept.
    kernel, sigma, C, nu, standardize, threshold, contamination, calibration, random_state, verbose
        As in :class:`~pyod_gessvdd.GESSVDD`; ``C`` and ``nu`` affect only the radius.

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
        w with f(x)/μ = w·z, in the whitened coordinates that ``transform`` returns.
    radius_ : float
        What the share nu of the rows' |f/μ − 1| exceeds.

    Notes
    -----
    The features are not centred: a constant is regressed on them. Training rows fit better than new rows do, and
    ``decision_scores_`` and the threshold are those of the fit: for a threshold that holds for new rows, hold rows back
    (``calibration=0.3``) and call ``update_threshold(detector.calibration_scores_)``. See ``docs/decisions.md``.

    Examples
    --------
    >>> import numpy as np
    >>> from pyod_gessvdd import OCKSR
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> scores = OCKSR().fit(X).decision_function([[0, 0, 0, 0, 0], [9, 9, 9, 9, 9]])
    >>> bool(scores[0] < scores[1])
    True
    """

    _fixed: ClassVar[dict[str, Any]] = {
        **_WholeSpace._fixed,
        "laplacian": "identity",
        "center": False,
        "around_mean": False,
        "largest_bound": np.inf,
    }
    _boundary = Slab

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: Any = None,
        sigma: float | None = None,
        energy: float = 1.0,
        C: float | None = None,
        nu: float | None = None,
        standardize: bool = True,
        ridge: float = 0.01,
        threshold: str = "contamination",
        contamination: Any = 0.1,
        calibration: float | None = None,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        self._store(locals())

    def _settings(self) -> dict[str, Any]:
        return _as_narrow_as_ocsvm(super()._settings())


class SSVDD(_Member):
    """Subspace SVDD (Sohrab et al., 2018): GESSVDD-0-GR-min, with the regulariser ψ (paper eq. ``langSSVDD``).

    Parameters
    ----------
    psi : {0, 1, 2, 3}, str, Laplacian or matrix, default=0
        ψ = Tr(Q X λ λᵀ Xᵀ Qᵀ): 0 none; 1 λ = 1, which vanishes on centred features; 2 λ = α; 3 λ = α for the samples on
        the sphere and 0 elsewhere. A graph, as for ``laplacian`` of GESSVDD, makes it Tr(Q X L Xᵀ Qᵀ): this is X-SSVDD.
        See :class:`~pyod_gessvdd.updaters.gradient.Gradient`.
    beta : float, default=0.01
        β, the weight of ψ.
    kernel, gamma, sigma, n_components, C, nu, step_size, n_iter, tol, init, center, standardize, qp_backend, qp_tol, \
residual, threshold, contamination, calibration, use_labels, feature_laplacian, feature_beta, random_state, verbose
        As in :class:`~pyod_gessvdd.GESSVDD`, with its attributes.

    Examples
    --------
    >>> import numpy as np
    >>> from pyod_gessvdd import SSVDD
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> SSVDD(kernel="linear", psi=3).fit(X).predict([[0, 0, 0, 0, 0], [9, 9, 9, 9, 9]]).tolist()
    [0, 1]
    """

    _fixed: ClassVar[dict[str, Any]] = {"laplacian": "none", "updater": "gradient", "criterion": "min"}

    def __init__(
        self,
        *,
        psi: Any = 0,
        beta: float = 0.01,
        kernel: Any = "rbf",
        gamma: Any = None,
        sigma: float | None = None,
        n_components: int | str | None = None,
        C: float | None = None,
        nu: float | None = None,
        step_size: float = 0.1,
        n_iter: int = 5,
        tol: float = 0.0,
        init: Any = "pca",
        center: bool = True,
        standardize: bool = True,
        qp_backend: Any = "auto",
        qp_tol: float = 1e-8,
        residual: bool = False,
        threshold: str = "contamination",
        contamination: Any = 0.1,
        calibration: float | None = None,
        use_labels: bool = False,
        feature_laplacian: Any = None,
        feature_beta: float = 0.1,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        self._store(locals())

    @property
    def variant(self) -> str | None:
        """The paper's name of the variant, or None with a regulariser."""
        plain = not self.beta or (isinstance(self.psi, int) and self.psi == 0)
        return None if not plain else variant_name(self._fixed["laplacian"], "gradient", "min")


class ESSVDD(SSVDD):
    """Ellipsoidal Subspace SVDD (Sohrab et al., 2020): GESSVDD-I-GR-min, with the regulariser ψ.

    ψ acts on S_Q^{-1/2} Q as the criterion does (paper eq. ``primalobj_gesvdd``).

    Parameters
    ----------
    psi, beta
        As in :class:`SSVDD`.
    kernel, gamma, sigma, n_components, C, nu, step_size, n_iter, tol, init, center, standardize, qp_backend, qp_tol, \
residual, threshold, contamination, calibration, use_labels, feature_laplacian, feature_beta, random_state, verbose
        As in :class:`~pyod_gessvdd.GESSVDD`, with its attributes.
    """

    _fixed: ClassVar[dict[str, Any]] = {**SSVDD._fixed, "laplacian": "identity"}
