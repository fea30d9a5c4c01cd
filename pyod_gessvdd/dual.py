"""The SVDD dual as data, and the certificate that the host computes for every backend's answer.

With Z of shape (N, d) the dual (paper eq. ``LL``) is

    maximise  D(α) = Σ α_i k_i − ‖Zᵀα‖²   subject to  Σ α_i = 1,  0 ≤ α_i ≤ u_i        (u_i = C, or C·w_i)

In the paper k_i = ‖z_i‖². A point may also have a part r_i outside the space of Z that the centre has no share in:
then k_i = ‖z_i‖² + r_i², the linear term, and its squared distance from a centre c is ‖z_i − c‖² + r_i² = k_i − 2 z_i·c
+ ‖c‖². This is exactly the dual of the 2N points (z_i, ±r_i) with the bounds u_i/2, whose centre has a zero there.

The primal value at c is the CVaR  P(c) = max over feasible α of Σ α_i (‖z_i − c‖² + r_i²): one partial sort.
``docs/method.md`` derives both (sections 3 and 6).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, sqrt
from typing import Any

import numpy as np

from pyod_gessvdd.linalg import RELATIVE_ZERO, read_only

Array = np.ndarray

#: α within this share of its bound counts as being at the bound (0 or u_i).
BOUND_TOLERANCE = 1e-7
#: Σα this close to one is one.
SUMS_TO_ONE = 1e-13
#: From this many values on, the largest are looked for with a sample; and the sample's size.
MANY_VALUES, SAMPLED_VALUES = 1 << 16, 1 << 12


@dataclass(frozen=True)
class SVDDDual:
    """The SVDD dual of the points Z under the bounds ``upper``.

    Attributes
    ----------
    Z : ndarray of shape (N, d)
        The points. The host gives backends points with mean zero.
    upper : ndarray of shape (N,)
        The upper bounds u_i of α; their sum is at least one.
    tol : float
        The relative duality gap that the host asks for.
    linear : ndarray of shape (N,)
        The linear term k_i = ‖z_i‖² + r_i²; ‖z_i‖² unless given. The host gives backends one with mean one.
    """

    Z: Array
    upper: Array
    tol: float = 1e-8
    linear: Array = field(default=None, kw_only=True)  # type: ignore[arg-type]  # never None after __post_init__

    def __post_init__(self) -> None:
        if self.linear is None:
            object.__setattr__(self, "linear", np.einsum("ij,ij->i", self.Z, self.Z))

    @property
    def n_samples(self) -> int:
        """N, the number of points."""
        return int(self.Z.shape[0])

    @cached_property
    def uniform_upper(self) -> float | None:
        """C if all bounds are equal, else None."""
        # One repeated number need not be scanned.
        return float(self.upper[0]) if self.upper.strides == (0,) or np.ptp(self.upper) == 0 else None

    def objective(self, alpha: Array) -> float:
        """D(α) (paper eq. ``LL``)."""
        center = alpha @ self.Z
        return float(alpha @ self.linear - center @ center)

    def take(self, rows: Array) -> SVDDDual:
        """The dual of some of the points."""
        return SVDDDual(self.Z.take(rows, axis=0), self.upper[rows], self.tol, linear=self.linear[rows])

    def squared_distances(self, center: Array) -> Array:
        """‖z_i − c‖² + r_i², of shape (N,), never negative."""
        distances = self.Z @ (-2.0 * center)
        distances += self.linear
        distances += center @ center
        return np.maximum(distances, 0.0, out=distances)

    def best_vertex(self, values: Array, budget: float = 1.0) -> tuple[Array, Array]:
        """The α ≤ u with Σα = ``budget`` that maximises Σ α_i values_i, as ``(indices, α there)``.

        A fractional knapsack: the farthest points take their bounds, the last one takes what is left. Its α is the
        only one that may be below its bound.
        """
        if self.uniform_upper is None:
            order = np.argsort(-values, kind="stable")
            filled = np.cumsum(self.upper[order])
            # The bounds may sum to the budget only up to rounding: then every point is taken in full.
            last = min(int(np.searchsorted(filled, budget * (1 - RELATIVE_ZERO))), len(order) - 1)
            indices = order[: last + 1]
            left_over = budget - (filled[last - 1] if last else 0.0)
        else:
            count, left_over = self._knapsack(budget)
            # The smallest of them, which may be below its bound, goes last.
            indices = largest(values, count)[::-1]
        alpha = self.upper[indices]
        alpha[-1] = min(alpha[-1], max(left_over, 0.0))
        return indices, alpha

    def gap(self, alpha: Array) -> float:
        """The relative duality gap (P(c) − D(α)) / P(c) at c = Zᵀα: zero at the optimum, certified for any solver."""
        return self.certify(alpha).gap

    def certify(self, alpha: Array) -> Certificate:
        """The duality gap and the interval of R² that belong to a feasible α, in one pass over the points.

        R² minimises R² + Σ u_i max(0, ‖z_i − c‖² + r_i² − R²): it is the distance at which the bounds of the farthest
        points have summed to one. Where they sum to one exactly between two points, every value between the two
        distances is optimal.
        """
        center = alpha @ self.Z
        return self._certificate(alpha, center, self.squared_distances(center))

    def _certificate(self, alpha: Array, center: Array, distances: Array) -> Certificate:
        """The certificate from the squared distances, which are overwritten."""
        objective = float(alpha @ distances)
        primal, interval = self.farthest(distances)
        gap = max(0.0, (primal - objective) / primal) if primal > 0 else 0.0
        return Certificate(center, objective, gap, interval)

    def farthest(self, distances: Array) -> tuple[float, tuple[float, float]]:
        """The largest Σ α_i d_i over all feasible α, and the interval of R²; the distances are overwritten."""
        if self.uniform_upper is not None and len(distances) < MANY_VALUES:
            return self._farthest_of_few(distances)
        indices, best = self.best_vertex(distances)
        chosen = distances[indices]
        high = low = float(chosen[-1])
        if best[-1] >= (1.0 - BOUND_TOLERANCE) * self.upper[indices[-1]]:
            distances[indices] = 0.0
            low = float(distances.max())
        return float(best @ chosen), (low, high)

    def _farthest_of_few(self, distances: Array) -> tuple[float, tuple[float, float]]:
        """:meth:`farthest` under equal bounds, by values alone: which points they are does not matter."""
        count, left_over = self._knapsack(1.0)
        first, C = len(distances) - count, float(self.upper[0])
        distances.partition(first)
        high = low = float(distances[first])
        if left_over >= (1.0 - BOUND_TOLERANCE) * C:
            low = float(distances[:first].max()) if first else 0.0
        return C * float(distances[first + 1 :].sum()) + left_over * high, (low, high)

    def _knapsack(self, budget: float) -> tuple[int, float]:
        """How many points share the budget if all bounds are equal, and what is left for the last of them."""
        C = float(self.upper[0])
        count = min(max(ceil(budget / C * (1 - RELATIVE_ZERO)), 1), self.n_samples)
        return count, min(C, max(budget - C * (count - 1), 0.0))


def largest(values: Array, count: int) -> Array:
    """The indices of the ``count`` largest values, the smallest of these first.

    Among many values a sample tells which can qualify at all: filtering out the rest is several times faster than
    partitioning everything, and needs no index of everything.
    """
    N = len(values)
    if count == N:
        indices = np.arange(N)
        smallest = int(values.argmin())
        indices[0], indices[smallest] = indices[smallest], indices[0]
        return indices
    if N >= MANY_VALUES and count <= N // 2:
        sample = values[:: N // SAMPLED_VALUES]
        expected = len(sample) * count / N
        first = len(sample) - min(len(sample), ceil(expected + 4.0 * sqrt(expected)) + 4)
        candidates = np.flatnonzero(values >= np.partition(sample, first)[first])
        if len(candidates) > count:
            return candidates[values[candidates].argpartition(-count)[-count:]]
    # A copy: a slice would keep the whole partition alive as long as the vertex.
    return values.argpartition(-count)[-count:].copy()


@dataclass(frozen=True)
class Certificate:
    """The host's verdict on an α: centre, dual value D(α), relative duality gap and the interval of R²."""

    center: Array
    objective: float
    gap: float
    radius2_interval: tuple[float, float]


@dataclass(frozen=True)
class QPSolution:
    """What a backend returns, and, completed by the host, what :func:`pyod_gessvdd.qp.solve_svdd` returns.

    A backend only needs to return ``alpha`` (``n_iter``, ``status`` and ``extras`` are welcome); the host projects it
    onto the constraints and computes the rest itself.

    Attributes
    ----------
    alpha : ndarray of shape (N,)
        The dual variables; those of labelled outliers are negative (:mod:`pyod_gessvdd.qp.signed`).
    center : ndarray of shape (d,)
        u = Zᵀα (paper eq. ``der2``).
    radius2 : float
        R² (paper eq. ``rsquare``); the middle of its interval when no 0 < α_i < u_i determines it.
    radius2_interval : tuple of float
        The two ends of that interval; they agree where R² is determined.
    objective : float
        The dual value D(α), which is also the criterion of the subspace (paper eq. ``Ltrace``).
    gap : float
        Relative duality gap, computed by the host.
    upper : ndarray of shape (N,)
        The bounds that held.
    n_iter, status, backend, extras
        What the backend reports about its run.

    Examples
    --------
    >>> from pyod_gessvdd.qp import solve_svdd
    >>> solve_svdd([[0.0], [1.0], [3.0]], C=1.0).is_optimal()
    True
    """

    alpha: Array
    center: Array = field(default_factory=lambda: np.zeros(0))
    radius2: float = float("nan")
    radius2_interval: tuple[float, float] = (float("nan"), float("nan"))
    objective: float = float("nan")
    gap: float = float("nan")
    upper: Array = field(default_factory=lambda: np.zeros(0))
    n_iter: int = 0
    status: str = "solved"
    backend: str = ""
    extras: dict[str, Any] = field(default_factory=dict)

    def is_optimal(self, tol: float = 1e-8) -> bool:
        """Whether the relative duality gap that the host computed is at most ``tol``; False before that."""
        return self.gap <= tol

    @cached_property
    def support(self) -> Array:
        """Indices with α_i ≠ 0: the points on and outside the sphere, and labelled outliers on and inside."""
        return (np.abs(self.alpha) > BOUND_TOLERANCE * self._bounds).nonzero()[0]

    @property
    def n_support(self) -> int:
        """The number of these."""
        return len(self.support)

    @property
    def boundary(self) -> Array:
        """Indices with 0 < |α_i| < u_i: the points on the sphere."""
        support = self.support
        bounds = self._bounds if np.ndim(self._bounds) == 0 else self.upper[support]
        return support[np.abs(self.alpha[support]) < (1.0 - BOUND_TOLERANCE) * bounds]

    @property
    def outside(self) -> Array:
        """Indices with α_i = u_i > 0: the points outside the sphere, labelled outliers not counted."""
        return np.flatnonzero((self.alpha >= (1.0 - BOUND_TOLERANCE) * self._bounds) & (self._bounds > 0))

    @property
    def _bounds(self) -> Any:
        """The bounds; if they are one number repeated, that number."""
        return self.upper[0] if self.upper.strides == (0,) and self.upper.size else self.upper


def project_to_feasible(alpha: Array, upper: Array) -> Array:
    """Clip α to its bounds, snap what is at a bound within rounding, and restore Σα = 1 exactly."""
    if abs(alpha.sum() - 1.0) <= SUMS_TO_ONE and alpha.min() >= 0.0 and (alpha <= upper).all():
        return alpha
    alpha = np.clip(alpha, 0.0, upper)
    alpha[alpha < RELATIVE_ZERO * upper] = 0.0
    alpha = np.where(alpha > (1.0 - RELATIVE_ZERO) * upper, upper, alpha)
    for _ in range(50):
        missing = 1.0 - alpha.sum()
        if abs(missing) <= 1e-15:
            break
        # Whatever is strictly between its bounds takes the difference; a first sweep may have none of those.
        free = (alpha > 0) & (alpha < upper)
        room = np.where(free, upper - alpha if missing > 0 else alpha, 0.0)
        if room.sum() < abs(missing):
            room = upper - alpha if missing > 0 else alpha
        total = room.sum()
        if total <= 0:
            break
        alpha = np.clip(alpha + room * (missing / max(total, abs(missing))), 0.0, upper)
    return alpha


#: The largest sum of weights that is allowed, and the smallest one that can be divided by.
LARGEST_TOTAL, SMALLEST_TOTAL = 1e100, 1e-290
#: The share of training points outside the sphere when neither C nor nu is given.
DEFAULT_NU = 0.1


def upper_bounds(
    n_samples: int,
    C: float | None,
    nu: float | None,
    sample_weight: Any = None,
    counted: str = "",
    largest: float = 1.0,
) -> Array:
    """The bounds u_i of α from C or nu and the sample weights; all errors about them are raised here.

    ``C`` in [1/N, 1] is the paper's; ``nu`` in (0, 1] means C = 1/(nu · N); with weights N is their sum. ``counted``
    names in errors what N counts, if not samples. Bounds are capped at ``largest``, as no α is larger than 1; it is
    infinite where a bound is also a weight.
    """
    weights = None if sample_weight is None else check_weights(sample_weight, n_samples)
    if weights is not None and C is None and weights.sum() < SMALLEST_TOTAL:
        weights = weights / weights.max()  # nu is a share, whatever the weights' unit, and 1/(nu · N) would overflow
    total = float(n_samples if weights is None else weights.sum())
    if C is not None and nu is not None:
        raise ValueError(f"give C or nu, not both, got C={C!r} and nu={nu!r}")
    if C is None:
        nu = DEFAULT_NU if nu is None else nu
        if not 0.0 < nu <= 1.0:
            raise ValueError(f"nu must be in (0, 1], got {nu!r}")
        C = 1.0 / (nu * total)
    elif not C * total >= 1.0 - 1e-9:
        raise ValueError(
            f"C must be at least 1/N = {1.0 / total:.6g} for {counted or f'{n_samples} samples'} "
            f"(Σα = 1 is impossible below), got {C!r}"
        )
    if weights is None:
        # One number for all, as an array without memory of its own; C = 1/N may miss Σu = 1 by rounding.
        bound = np.array([max(min(C, largest), 1.0 / n_samples)], dtype=float)
        return read_only(np.ndarray((n_samples,), buffer=bound, strides=(0,)))
    upper = np.minimum(C * weights, largest)
    return upper / upper.sum() if upper.sum() < 1.0 else upper


def check_weights(sample_weight: Any, n_samples: int) -> Array:
    """Sample weights as an array of shape (N,): finite, not negative, not all zero."""
    weights = np.asarray(sample_weight, dtype=float)
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must hold one number per sample, shape ({n_samples},), got shape {weights.shape}"
        )
    if not np.isfinite(weights).all():
        raise ValueError("sample_weight must be finite, got NaN or infinite values")
    if weights.min() < 0:
        raise ValueError(f"sample_weight must not be negative, got {weights.min():.6g}")
    if weights.max() > LARGEST_TOTAL / n_samples:
        raise ValueError(
            f"sample_weight must sum to at most {LARGEST_TOTAL:.0e}, got weights up to {weights.max():.0e}"
        )
    if weights.sum() == 0:
        raise ValueError("sample_weight must not be all zero")
    return weights
