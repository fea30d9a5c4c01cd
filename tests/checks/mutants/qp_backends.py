"""Broken QP backends. Each differs from ``Solver``, which keeps its contract, in one thing."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np

from pyod_gessvdd import QPBackend, QPSolution, SVDDDual
from pyod_gessvdd.qp.frank_wolfe import FrankWolfe
from tests.checks.mutants.register import caught_by


class Solver(QPBackend):
    """Lets Frank–Wolfe solve the dual."""

    def solve(self, dual, warm_start=None):
        return FrankWolfe(compiled=False).solve(dual)


def uniform(dual):
    return dual.upper / dual.upper.sum()


@caught_by("check_pickle", "leave what cannot be pickled out of __getstate__")
class KeepsALock(Solver):
    """Keeps a lock."""

    def solve(self, dual, warm_start=None):
        self.lock_ = threading.Lock()
        return super().solve(dual)


@caught_by("check_inputs_are_not_changed", "it changes dual.Z, which belongs to the host")
class ScalesInPlace(Solver):
    """Scales the host's points."""

    def solve(self, dual, warm_start=None):
        answer = super().solve(dual)
        Z = dual.Z
        Z *= 2.0
        return answer


@caught_by("check_nothing_is_remembered", "gives another centre of the sphere")
class Stale(Solver):
    """Returns its last answer to the next question of the same size."""

    def solve(self, dual, warm_start=None):
        if not hasattr(self, "answer_"):
            self.answer_ = super().solve(dual)
        return self.answer_


@caught_by("check_qp_backend_shape", "solve returned alpha of shape (80, 1) on 80 points")
class Column(Solver):
    """Returns a column."""

    def solve(self, dual, warm_start=None):
        return super().solve(dual).alpha[:, None]


@caught_by("check_qp_backend_shape", "alpha holds NaN or infinite values")
class NaN(Solver):
    """Returns NaN."""

    def solve(self, dual, warm_start=None):
        return np.full(dual.n_samples, np.nan)


@caught_by("check_qp_backend_is_feasible", "the constraint is Σα = 1")
class SumsToN(Solver):
    """Scales α as LIBSVM does."""

    def solve(self, dual, warm_start=None):
        return super().solve(dual).alpha * dual.n_samples


@caught_by("check_qp_backend_is_feasible", "the constraint is α ≥ 0")
class Negative(Solver):
    """Forgets that α is not negative."""

    def solve(self, dual, warm_start=None):
        alpha = super().solve(dual).alpha.copy()
        alpha[np.argmin(alpha)] -= 0.05
        alpha[np.argmin(dual.linear)] += 0.05
        return alpha


@caught_by("check_qp_backend_is_feasible", "above its bound")
class Unbounded(Solver):
    """Forgets C."""

    def solve(self, dual, warm_start=None):
        return super().solve(replace(dual, upper=np.ones(dual.n_samples)))


@caught_by("check_qp_backend_is_optimal", "maximise Σ α_i k_i − ‖Zᵀα‖² with k = dual.linear")
class Uniform(Solver):
    """Does not solve anything."""

    def solve(self, dual, warm_start=None):
        return uniform(dual)


@caught_by("check_qp_backend_is_optimal", "maximise Σ α_i k_i − ‖Zᵀα‖² with k = dual.linear")
class Minimises(Solver):
    """Minimises the dual's value: the points next to the centre get all weight."""

    def solve(self, dual, warm_start=None):
        indices, values = dual.best_vertex(-dual.linear)
        alpha = np.zeros(dual.n_samples)
        alpha[indices] = values
        return alpha


@caught_by("check_qp_backend_is_optimal", "solve more precisely, or declare exact = False")
class NearlyExact(Solver):
    """Stops a little early and claims to be exact."""

    def solve(self, dual, warm_start=None):
        return 0.9999999 * super().solve(dual).alpha + 0.0000001 * uniform(dual)


@caught_by("check_qp_backend_respects_each_bound", "point i's bound is dual.upper[i]")
class IgnoresWeights(Solver):
    """Gives every point the largest bound."""

    def solve(self, dual, warm_start=None):
        return super().solve(replace(dual, upper=np.full(dual.n_samples, dual.upper.max())))


@caught_by("check_qp_backend_is_optimal_with_weights", "on weighted points")
class ClipsWeights(Solver):
    """Solves without weights, and cuts the answer to the bounds."""

    def solve(self, dual, warm_start=None):
        C = 1.0 / (0.2 * dual.n_samples)
        alpha = super().solve(replace(dual, upper=np.full(dual.n_samples, max(C, dual.upper[0])))).alpha
        alpha = np.minimum(alpha, dual.upper)
        while alpha.sum() < 1 - 1e-9:
            free = np.where(alpha < dual.upper, dual.upper, 0.0)
            alpha = np.minimum(alpha + free * (1 - alpha.sum()) / free.sum(), dual.upper)
        return alpha


@caught_by("check_qp_backend_uses_the_linear_term", "maximise Σ α_i k_i − ‖Zᵀα‖² with k = dual.linear")
class IgnoresTheResidual(Solver):
    """Takes ‖z_i‖² for the linear term."""

    def solve(self, dual, warm_start=None):
        return super().solve(SVDDDual(dual.Z, dual.upper, dual.tol))


@caught_by("check_qp_backend_warm_start", "go on until the gap is closed, or declare supports_warm_start = False")
class TrustsItsStart(Solver):
    """Returns the warm start."""

    supports_warm_start = True

    def solve(self, dual, warm_start=None):
        return super().solve(dual) if warm_start is None else warm_start


@caught_by("check_qp_backend_warm_start", "it changes warm_start, which belongs to the host")
class EatsItsStart(Solver):
    """Overwrites the warm start."""

    supports_warm_start = True

    def solve(self, dual, warm_start=None):
        if warm_start is not None:
            warm_start[:] = 0.0
        return super().solve(dual)


@caught_by("check_qp_backend_ignores_the_order_of_points", "the same points in another order")
class Halves(Solver):
    """Solves the first half of many points only."""

    exact = False

    def solve(self, dual, warm_start=None):
        half = dual.n_samples // 2
        first = dual.take(np.arange(half))
        solved = super().solve(replace(first, upper=2 * first.upper)).alpha
        return np.concatenate([solved, np.zeros(dual.n_samples - half)])


class Brittle(Solver):
    """Does not solve problems of one sort."""

    def breaks(self, dual):
        return False

    def solve(self, dual, warm_start=None):
        return QPSolution(uniform(dual)) if self.breaks(dual) else super().solve(dual)


@caught_by("check_qp_backend_on_one_dimension", "points on a line")
class TwoDimensions(Brittle):
    """Needs two dimensions."""

    def breaks(self, dual):
        return dual.Z.shape[1] == 1


@caught_by("check_qp_backend_on_many_dimensions", "30 points in 50 dimensions")
class FewDimensions(Brittle):
    """Needs fewer dimensions than points."""

    def breaks(self, dual):
        return dual.Z.shape[1] > dual.n_samples


@caught_by("check_qp_backend_on_duplicates", "on points that occur six times each")
class Merges(Solver):
    """Merges equal points and gives all their α to the first."""

    def solve(self, dual, warm_start=None):
        _, first, group = np.unique(dual.Z, axis=0, return_index=True, return_inverse=True)
        alpha = np.zeros(dual.n_samples)
        solved = super().solve(replace(dual.take(first), upper=np.bincount(group.ravel(), dual.upper)))
        alpha[first] = solved.alpha
        return alpha


@caught_by("check_qp_backend_on_a_constant_column", "solve raised LinAlgError (Singular matrix)")
class InvertsTheScatter(Solver):
    """Inverts the points' covariance."""

    def solve(self, dual, warm_start=None):
        np.linalg.inv(dual.Z.T @ dual.Z)
        return super().solve(dual)


@caught_by("check_qp_backend_on_few_points", "on 3 points")
class ManyPoints(Brittle):
    """Needs four points."""

    def breaks(self, dual):
        return dual.n_samples < 4


@caught_by("check_qp_backend_with_every_point_inside", "on 50 points with C = 1")
class SoftOnly(Brittle):
    """Needs points outside the sphere."""

    def breaks(self, dual):
        return dual.upper.max() == 1.0


@caught_by("check_qp_backend_with_hardly_any_freedom", "on 50 points with C = 1.001/N")
class NeedsRoom(Brittle):
    """Takes the only vertex that it sees where nearly every α is at its bound."""

    def breaks(self, dual):
        return dual.upper.sum() < 1.01


@caught_by("check_qp_backend_with_a_far_outlier", "on points with a far outlier")
class AbsoluteTolerance(Brittle):
    """Does not see differences that are small beside the largest distance."""

    def breaks(self, dual):
        return dual.linear.max() > 0.9 * dual.n_samples


@caught_by("check_works_in_a_detector", "GESSVDD(qp_backend=…).fit raised ComponentError")
class NoneReturned(Solver):
    """Returns nothing in a solution."""

    def solve(self, dual, warm_start=None):
        return replace(super().solve(dual), alpha=None)
