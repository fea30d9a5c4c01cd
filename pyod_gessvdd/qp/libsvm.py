"""QP backend: LIBSVM, through scikit-learn's one-class SVM on the kernel −½(‖z_i − z_j‖² + r_i² + r_j²).

With Σα = 1 the dual's value is −αᵀK'α for K'_ij = z_i·z_j − ½(k_i + k_j) = −½(‖z_i − z_j‖² + r_i² + r_j²), also on the
diagonal: a one-class SVM with nu = 1/(N·C). Where all k_i are equal, as for an RBF kernel, the matrix K_ij = z_i·z_j
itself serves. LIBSVM keeps its kernel in single precision, so its role is to find roughly which points are at a bound;
:func:`~pyod_gessvdd.qp.active_set.settle` makes the answer exact.
"""

from __future__ import annotations

import warnings

import numpy as np

from pyod_gessvdd.components.contracts import QPBackend
from pyod_gessvdd.dual import QPSolution, SVDDDual
from pyod_gessvdd.qp.active_set import settle
from pyod_gessvdd.qp.kernel_dual import KernelDual

Array = np.ndarray

#: The largest N of a dual in coordinates: the matrix takes 200 MB.
MAX_SAMPLES = 5000
#: The tolerance of the second attempt, about what single precision allows.
SECOND_TOL = 1e-7
#: A linear term that varies less than this is constant to LIBSVM's precision.
CONSTANT = 1e-7
#: Bounds below this share of the largest are zero to LIBSVM, which divides by them; the active set sees them all.
LIGHT = 1e-12


class LibSVM(QPBackend):
    """LIBSVM's sequential minimal optimisation, made exact by an active set.

    Parameters
    ----------
    tol : float, default=1e-4
        LIBSVM's stopping tolerance on the gradient, absolute; the host's points have unit scale.
    max_iter : int, default=1000000
        The largest number of LIBSVM's steps.
    """

    name = "libsvm"

    def __init__(self, tol: float = 1e-4, max_iter: int = 1_000_000) -> None:
        self.tol = tol
        self.max_iter = max_iter

    def solve(self, dual: SVDDDual, warm_start: Array | None = None) -> QPSolution:
        """Solve the dual; refused above 5,000 points, unless they come as a kernel matrix."""
        rows = np.flatnonzero(dual.upper)
        if isinstance(dual, KernelDual):
            K = dual.K if len(rows) == dual.n_samples else dual.K[np.ix_(rows, rows)]
        elif len(rows) <= MAX_SAMPLES:
            K = dual.Z[rows] @ dual.Z[rows].T
        else:
            raise ValueError(
                f"qp_backend 'libsvm' needs an N × N matrix and is limited to {MAX_SAMPLES} points, got {len(rows)}; "
                "use 'auto'"
            )
        used = KernelDual(K, dual.upper[rows], dual.tol, linear=dual.linear[rows])
        n_iter = 0
        for tol in (self.tol, min(self.tol, SECOND_TOL)):
            found, n_steps = self._libsvm(used, tol)
            found, n_rounds = settle(used, found)
            n_iter += n_steps
            if used.gap(found) <= dual.tol:
                break
        alpha = np.zeros(dual.n_samples)
        alpha[rows] = found
        return QPSolution(alpha, n_iter=n_iter, extras={"active_set_rounds": n_rounds})

    def _libsvm(self, dual: KernelDual, tol: float) -> tuple[Array, int]:
        """LIBSVM's α and the number of its steps."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import OneClassSVM

        largest = float(dual.upper.max())
        heavy = np.flatnonzero(dual.upper > LIGHT * largest)
        K, linear = dual.K, dual.linear
        if len(heavy) < dual.n_samples:
            K, linear = K[np.ix_(heavy, heavy)], linear[heavy]
        if np.ptp(linear) > CONSTANT:
            K = K - 0.5 * linear
            K -= 0.5 * linear[:, None]
        # LIBSVM bounds α_i by the weight and lets them sum to nu times the weights' sum; ours sum to one.
        weights = dual.upper[heavy] / largest
        nu = min(1.0, 1.0 / (largest * float(weights.sum())))
        model = OneClassSVM(kernel="precomputed", nu=nu, tol=tol, max_iter=self.max_iter)
        # LIBSVM needs no random numbers for this, but scikit-learn draws a seed from numpy's global state unless given.
        model.random_state = 0
        with warnings.catch_warnings():
            # The host's certificate decides whether the answer is good enough.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(K, sample_weight=weights)
        alpha = np.zeros(dual.n_samples)
        alpha[heavy[model.support_]] = model.dual_coef_[0] * largest
        return alpha, int(model.n_iter_)
