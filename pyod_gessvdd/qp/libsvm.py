"""QP backend: LIBSVM, through scikit-learn's one-class SVM on the kernel −½(‖z_i − z_j‖² + r_i² + r_j²).

With Σα = 1 the dual's value is −αᵀK'α for K'_ij = z_i·z_j − ½(k_i + k_j) = −½(‖z_i − z_j‖² + r_i² + r_j²), also on the
diagonal: a one-class SVM with nu = 1/(N·C). It needs the N × N matrix and is there to check the others by a well-known
solver.
"""

from __future__ import annotations

import warnings

import numpy as np

from pyod_gessvdd.components.contracts import QPBackend
from pyod_gessvdd.dual import QPSolution, SVDDDual
from pyod_gessvdd.qp.polish import polish

Array = np.ndarray

#: The largest N: the matrix takes 200 MB.
MAX_SAMPLES = 5000


class LibSVM(QPBackend):
    """LIBSVM's sequential minimal optimisation, polished, because LIBSVM keeps its kernel in single precision.

    Parameters
    ----------
    tol : float, default=1e-7
        LIBSVM's stopping tolerance on the gradient, absolute; the host's points have unit scale.
    max_iter : int, default=1000000
        The largest number of LIBSVM's steps.
    """

    name = "libsvm"

    def __init__(self, tol: float = 1e-7, max_iter: int = 1_000_000) -> None:
        self.tol = tol
        self.max_iter = max_iter

    def solve(self, dual: SVDDDual, warm_start: Array | None = None) -> QPSolution:
        """Solve the dual; refused above 5,000 points."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import OneClassSVM

        rows = np.flatnonzero(dual.upper)
        if len(rows) > MAX_SAMPLES:
            raise ValueError(
                f"qp_backend 'libsvm' needs an N × N matrix and is limited to {MAX_SAMPLES} points, got {len(rows)}; "
                "use 'auto'"
            )
        # LIBSVM bounds α_i by the weight and lets them sum to nu times the weights' sum; ours sum to one.
        largest = float(dual.upper.max())
        weights = dual.upper[rows] / largest
        Z, linear = dual.Z[rows], dual.linear[rows]
        K = Z @ Z.T
        K -= 0.5 * linear
        K -= 0.5 * linear[:, None]
        model = OneClassSVM(
            kernel="precomputed", nu=1.0 / (largest * float(weights.sum())), tol=self.tol, max_iter=self.max_iter
        )
        # LIBSVM needs no random numbers for this, but scikit-learn draws a seed from numpy's global ones unless given.
        model.random_state = 0
        with warnings.catch_warnings():
            # The host's certificate says whether the answer is good enough.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(K, sample_weight=weights)
        alpha = np.zeros(dual.n_samples)
        alpha[rows[model.support_]] = model.dual_coef_[0] * largest
        return QPSolution(polish(dual, alpha), n_iter=int(model.n_iter_))
