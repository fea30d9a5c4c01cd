"""Random Fourier features: a kernel of x − y as the inner product of cosines and sines, without a single landmark.

By Bochner's theorem k(x − y) = E cos wᵀ(x − y) over frequencies w whose density is the kernel's Fourier transform
(Rahimi and Recht, 2007). With m of them and

    φ(x) = [cos w_1ᵀx … cos w_mᵀx, sin w_1ᵀx … sin w_mᵀx] / √m

φ(x)ᵀφ(y) is the mean of m such cosines, off by about 1/√m. ‖φ(x)‖² = 1 = k(x, x) for every row, so the features miss
nothing of a row's length and the residual is zero. Fit and scores cost one N × D × m product; nothing is N × N.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pyod_gessvdd import Kernel
from pyod_gessvdd.kernels.pairwise import RBF, LaplacianKernel, WidthKernel

Array = np.ndarray


@dataclass(kw_only=True, eq=False, repr=False)
class RandomFeatures(Kernel):
    """Random features of a kernel; a subclass says of which, and how its frequencies are drawn.

    Parameters
    ----------
    n_features : int, default=500
        The number of features, half of them cosines and half sines.
    gamma : float, "scale", "auto" or "median", optional
        The width of the kernel; the detector's ``gamma`` if None.
    random_state : int, RandomState or None
        Draws the frequencies; the detector's if None.
    """

    n_features: int = 500
    inherits = ("gamma", "random_state")

    gamma: Any = None
    random_state: Any = None

    @property
    def inner_product_error(self) -> float:  # type: ignore[override]
        """Four standard deviations of a mean of m cosines."""
        return 4.0 / np.sqrt(self.n_features)

    @property
    def learns_by_moments(self) -> bool:  # type: ignore[override]
        """As its kernel's width does: so random features can be fitted to rows that do not fit in memory."""
        return self.exact_kernel().learns_by_moments

    @abstractmethod
    def exact_kernel(self) -> WidthKernel:
        """The kernel that the features approximate."""

    @abstractmethod
    def draw_frequencies(self, D: int, m: int, random: np.random.RandomState) -> Array:
        """Frequencies for a width of ``self.gamma_``, of shape (D, m)."""

    def fit(self, X: Array) -> RandomFeatures:
        """Find the width and draw the frequencies; of the rows only their spread matters."""
        if not isinstance(self.n_features, Integral) or self.n_features < 2 or self.n_features % 2:
            raise ValueError(f"n_features must be an even number of at least 2, got {self.n_features!r}")
        self.exact_ = self.exact_kernel()
        self.exact_.prepare(X)
        self.gamma_ = float(self.exact_.gamma_)
        random = check_random_state(self.random_state)
        self.frequencies_ = self.draw_frequencies(X.shape[1], int(self.n_features) // 2, random)
        return self

    def features(self, X: Array) -> Array:
        """The cosines and sines of each row, of shape (n, n_features)."""
        angles = X @ self.frequencies_
        m = angles.shape[1]
        Phi = np.empty((len(X), 2 * m))
        np.cos(angles, out=Phi[:, :m])
        np.sin(angles, out=Phi[:, m:])
        Phi /= np.sqrt(m)
        return Phi

    def gram(self, X: Array, Y: Array) -> Array:
        """The exact kernel, to compare the features with; nothing else needs it."""
        return self.exact_.gram(X, Y)

    def gram_diagonal(self, X: Array) -> Array:
        """One for every row."""
        return np.ones(len(X))


@dataclass(kw_only=True, eq=False, repr=False)
class RFF(RandomFeatures):
    """Random Fourier features of the built-in ``rbf``, exp(−gamma ‖x − y‖²).

    Parameters
    ----------
    n_features : int, default=500
        The number of features, half of them cosines and half sines.
    gamma : float, "scale", "auto" or "median", optional
        The width; the detector's ``gamma`` if None, else what ``rbf`` takes, 0.003 times "scale".
    sigma : float, optional
        The paper's width instead, gamma = 1 / (2 sigma²); the detector's ``sigma`` if None.
    orthogonal : bool, default=True
        Whether frequencies are drawn orthogonal to each other, D at a time, which makes the error smaller.
    random_state : int, RandomState or None
        Draws the frequencies; the detector's if None.

    References
    ----------
    A. Rahimi, B. Recht: Random Features for Large-Scale Kernel Machines. NeurIPS 2007.
    F. X. Yu et al.: Orthogonal Random Features. NeurIPS 2016.
    """

    name = "rff"
    inherits = ("sigma",)

    sigma: float | None = None
    orthogonal: bool = True

    def exact_kernel(self) -> WidthKernel:
        """``rbf`` of the same width."""
        return RBF(gamma=self.gamma, sigma=self.sigma, random_state=self.random_state)

    def draw_frequencies(self, D: int, m: int, random: np.random.RandomState) -> Array:
        """Normal, with variance 2 gamma; or directions orthogonal in blocks of D, with the lengths of normal ones."""
        spread = np.sqrt(2.0 * self.gamma_)
        if not self.orthogonal:
            return spread * random.normal(size=(D, m))
        blocks = [np.linalg.qr(random.normal(size=(D, D))) for _ in range(-(-m // D))]
        # Columns with the signs of R's diagonal: uniform among all orthogonal matrices.
        directions = np.hstack([Q * np.sign(np.diag(R)) for Q, R in blocks])[:, :m]
        return spread * directions * np.sqrt(random.chisquare(D, size=m))


@dataclass(kw_only=True, eq=False, repr=False)
class LaplacianRFF(RandomFeatures):
    """Random Fourier features of the built-in ``laplacian``, exp(−gamma ‖x − y‖₁).

    Parameters
    ----------
    n_features : int, default=500
        The number of features, half of them cosines and half sines.
    gamma : float, "scale", "auto" or "median", optional
        The width; the detector's ``gamma`` if None, else what ``laplacian`` takes, "auto".
    random_state : int, RandomState or None
        Draws the frequencies; the detector's if None.
    """

    name = "rff_laplacian"

    def exact_kernel(self) -> WidthKernel:
        """``laplacian`` of the same width."""
        return LaplacianKernel(gamma=self.gamma, random_state=self.random_state)

    def draw_frequencies(self, D: int, m: int, random: np.random.RandomState) -> Array:
        """Cauchy in each column of X: the Fourier transform of exp(−gamma |t|)."""
        return self.gamma_ * random.standard_cauchy(size=(D, m))
