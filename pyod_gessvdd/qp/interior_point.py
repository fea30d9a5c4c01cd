"""QP backend: a primal-dual interior-point method whose linear algebra is d × d, with a working set for large N.

An implementation independent of Frank–Wolfe, so that the two can check each other. The problem

    minimise ‖p₀ + Zᵀα‖² − Σ α_i k_i   subject to  Σα = b,  0 ≤ α ≤ u

has the Hessian 2ZZᵀ of rank d: with the barrier's diagonal D every Newton system is solved through the d × d matrix
½I + ZᵀD⁻¹Z (Woodbury). Mehrotra's predictor and corrector set the barrier.

Large N: the sphere of a sample tells roughly which points are near the surface. Only those form the problem; the others
keep α = 0 or u. A pass over all points then certifies the answer or widens the shell.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from pyod_gessvdd.components.contracts import QPBackend
from pyod_gessvdd.dual import QPSolution, SVDDDual
from pyod_gessvdd.linalg import RELATIVE_ZERO
from pyod_gessvdd.qp.polish import polish

Array = np.ndarray

#: The working set's size at the start; up to twice this many points the problem is solved whole.
WORKING_SET = 4000
#: Complementarity, dual and primal residual at which the method stops, relative to the problem's scale …
CONVERGED = 1e-14
#: … and the number of steps without a new best after which it gives up.
PATIENCE = 5
#: The share of the way to the nearest bound that a step takes …
SHORT_OF_THE_BOUND = 0.9995
#: … and, in the second attempt, this smaller share, towards this share of the complementarity.
CAUTIOUS, CAUTIOUS_TARGET = 0.9, 0.2


class InteriorPoint(QPBackend):
    """Primal-dual interior point with Woodbury's formula.

    Parameters
    ----------
    max_iter : int, default=200
        The largest number of Newton steps of one barrier problem.
    """

    name = "interior_point"
    aliases = ("ipm",)

    def __init__(self, max_iter: int = 200) -> None:
        self.max_iter = max_iter

    def solve(self, dual: SVDDDual, warm_start: Array | None = None) -> QPSolution:
        """Solve the dual; a warm start would only be moved away from its bounds and is not used."""
        used = np.flatnonzero(dual.upper > 0)
        if len(used) < dual.n_samples:
            inner = self.solve(dual.take(used))
            alpha = np.zeros(dual.n_samples)
            alpha[used] = inner.alpha
            return QPSolution(alpha, n_iter=inner.n_iter, status=inner.status)
        if dual.n_samples <= 2 * WORKING_SET:
            alpha, steps = self._solve_whole(dual, 1.0, np.zeros(dual.Z.shape[1]))
            return self._finished(dual, alpha, steps)
        return self._solve_on_working_sets(dual)

    def _solve_on_working_sets(self, dual: SVDDDual) -> QPSolution:
        N = dual.n_samples
        center = dual.Z.mean(axis=0)
        size, steps = WORKING_SET, 0
        while True:
            distances = dual.squared_distances(center)
            indices, best = dual.best_vertex(distances)
            alpha = np.zeros(N)
            alpha[indices] = best
            # The points nearest to the sphere, by distance from its surface, are the ones whose α is in doubt.
            depth = np.abs(np.sqrt(distances) - np.sqrt(distances[indices[-1]]))
            rows = np.argpartition(depth, size - 1)[:size] if size < N else np.arange(N)
            inside = alpha[rows].sum()
            alpha[rows] = 0.0
            solved, n_steps = self._solve_whole(dual.take(rows), float(inside), alpha @ dual.Z)
            alpha[rows] = solved
            steps += n_steps
            if size >= N or dual.gap(alpha) <= 0.1 * dual.tol:
                return self._finished(dual, alpha, steps, working_set=len(rows))
            center = alpha @ dual.Z
            # The next shell lies around a better centre and is twice as thick, in case the points crowd there.
            size = min(N, 2 * size)

    def _solve_whole(self, dual: SVDDDual, budget: float, p0: Array) -> tuple[Array, int]:
        """α and the number of Newton steps; where the corrector goes in circles, a second attempt does without it."""
        upper = dual.upper
        if upper.sum() <= budget * (1 + RELATIVE_ZERO):
            return upper * (budget / upper.sum()), 0
        # Bounds of very different size take the barrier out of floating-point range; its merit then ends it.
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            alpha, merit, steps = _barrier(dual, budget, p0, self.max_iter)
        if merit > dual.tol:
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                second, second_merit, more = _barrier(dual, budget, p0, self.max_iter, cautious=True)
            steps += more
            if second_merit < merit:
                alpha = second
        return alpha, steps

    def _finished(self, dual: SVDDDual, alpha: Array, steps: int, **extras: Any) -> QPSolution:
        """The solution, polished if the barrier stopped early, with a status that tells whether that helped."""
        gap = dual.gap(alpha)
        if gap > dual.tol:
            alpha = polish(dual, alpha)
            gap = dual.gap(alpha)
        status = "solved" if gap <= dual.tol else f"stopped after {steps} Newton steps"
        return QPSolution(alpha, n_iter=steps, status=status, extras=extras)


def _barrier(
    dual: SVDDDual, budget: float, p0: Array, max_iter: int, *, cautious: bool = False
) -> tuple[Array, float, int]:
    """Mehrotra's method for one problem; returns α, its merit (0 at the optimum) and the number of Newton steps.

    With ``cautious`` there is no second order, and steps are shorter, which keeps them near the central path.
    """
    N, upper = dual.n_samples, dual.upper
    # In units of the bounds: x in (0, 1), and its distance from 1 as a variable of its own, to keep its digits there.
    x = np.full(N, budget / float(upper.sum()))
    slack = 1.0 - x
    A = dual.Z * upper[:, None]
    linear = upper * (2.0 * (dual.Z @ p0) - dual.linear)
    scale = max(float(np.abs(linear).max()), np.finfo(float).tiny)
    low, high, y = np.full(N, scale), np.full(N, scale), 0.0
    best, best_x, since_best = np.inf, x, 0
    n_steps = 0
    while n_steps < max_iter:
        r_dual = linear + 2.0 * (A @ (x @ A)) - y * upper - low + high
        r_primal = float(upper @ x) - budget
        mu = float(low @ x + high @ slack) / (2 * N)
        merit = max(2 * N * mu, float(np.abs(r_dual).max())) / scale + abs(r_primal)
        if merit < best:
            best, best_x, since_best = merit, x, 0
        # Rounding stops the progress before it stops the steps.
        if merit <= CONVERGED or since_best == PATIENCE or not np.isfinite(merit) or mu <= 0.0:
            break
        since_best += 1
        if x.min() <= 0.0 or slack.min() <= 0.0:
            break
        try:
            newton = _Newton(A, low / x + high / slack, upper)
        except scipy.linalg.LinAlgError:
            break  # the barrier's diagonal has left the floating-point range: this is as far as it goes
        point = (r_dual, r_primal, low, high, x, slack)
        # Predictor: straight for the optimum. Corrector: its second order, and back towards the central path.
        dx, _, dl, dh = newton.step(*point, np.zeros(N), np.zeros(N), 0.0)
        to_bound = min(_reach(x, dx), _reach(slack, -dx), _reach(low, dl), _reach(high, dh))
        after = (low + to_bound * dl) @ (x + to_bound * dx) + (high + to_bound * dh) @ (slack - to_bound * dx)
        if cautious:
            dx, dy, dl, dh = newton.step(*point, np.zeros(N), np.zeros(N), CAUTIOUS_TARGET * mu)
        else:
            target = mu * (float(after) / (2 * N * mu)) ** 3
            dx, dy, dl, dh = newton.step(*point, dx * dl, -dx * dh, target)
        length = (CAUTIOUS if cautious else SHORT_OF_THE_BOUND) * min(
            _reach(x, dx), _reach(slack, -dx), _reach(low, dl), _reach(high, dh)
        )
        x, slack = x + length * dx, slack - length * dx
        low, high, y = low + length * dl, high + length * dh, y + length * dy
        n_steps += 1
    return best_x * upper, best, n_steps


class _Newton:
    """Newton systems (2AAᵀ + D) Δx − u Δy = r, uᵀΔx = s, solved through a d × d Cholesky factor."""

    def __init__(self, A: Array, D: Array, upper: Array) -> None:
        self.A, self.D, self.upper = A, D, upper
        self.AD = A / D[:, None]
        self.factor = scipy.linalg.cho_factor(0.5 * np.eye(A.shape[1]) + A.T @ self.AD)
        self.u_solved = self._solve(upper)
        self.curvature = float(upper @ self.u_solved)
        if not self.curvature > 0.0:
            raise scipy.linalg.LinAlgError("the bounds' curvature has vanished")

    def _solve(self, r: Array) -> Array:
        first = r / self.D - self.AD @ scipy.linalg.cho_solve(self.factor, self.AD.T @ r)
        # One refinement: near the optimum D spans many orders of magnitude.
        rest = r - self.D * first - 2.0 * (self.A @ (self.A.T @ first))
        return first + rest / self.D - self.AD @ scipy.linalg.cho_solve(self.factor, self.AD.T @ rest)

    def step(
        self,
        r_dual: Array,
        r_primal: float,
        low: Array,
        high: Array,
        x: Array,
        slack: Array,
        second_low: Array,
        second_high: Array,
        target: float,
    ) -> tuple[Array, float, Array, Array]:
        """The direction that makes low·x and high·slack equal ``target`` up to the given second-order terms."""
        c_low = (target - second_low) / x - low
        c_high = (target - second_high) / slack - high
        r = -r_dual + c_low - c_high
        solved = self._solve(r)
        dy = (-r_primal - float(self.upper @ solved)) / self.curvature
        dx = solved + dy * self.u_solved
        return dx, dy, c_low - (low / x) * dx, c_high + (high / slack) * dx


def _reach(values: Array, change: Array) -> float:
    """How far along ``change`` the values stay positive, at most 1."""
    shrinking = change < 0
    if not shrinking.any():
        return 1.0
    return min(1.0, float((values[shrinking] / -change[shrinking]).min()))
