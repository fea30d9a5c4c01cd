"""The one-class SVM with the paper's C: its hyperplane decides, not a percentile of the training scores."""

from __future__ import annotations

import numpy as np
from sklearn.svm import OneClassSVM

Array = np.ndarray


class OCSVM:
    """scikit-learn's one-class SVM with nu = 1/(C·N), the bound C of α that the SVDD has, and PyOD's labels.

    Parameters
    ----------
    kernel : {"linear", "rbf"}
        The kernel.
    C : float
        The upper bound of α, where Σα = 1.
    sigma : float, default=1.0
        The width of the RBF kernel.
    """

    def __init__(self, *, kernel: str, C: float, sigma: float = 1.0) -> None:
        self.kernel = kernel
        self.C = C
        self.sigma = sigma

    def fit(self, X: Array) -> OCSVM:
        """Learn the hyperplane."""
        # A linear kernel's decision does not depend on the unit of the rows, but LIBSVM's tolerance does.
        self.unit_ = float(np.sqrt(np.einsum("ij,ij->", X, X) / len(X))) if self.kernel == "linear" else 1.0
        nu = min(1.0, 1.0 / (self.C * len(X)))
        self.svm_ = OneClassSVM(kernel=self.kernel, gamma=0.5 / self.sigma**2, nu=nu, tol=1e-6)
        self.svm_.fit(X / (self.unit_ or 1.0))
        return self

    def predict(self, X: Array) -> Array:
        """0 for the rows on the training rows' side of the hyperplane, 1 for the others."""
        return (self.svm_.predict(X / (self.unit_ or 1.0)) < 0).astype(int)
