"""Algorithm 1 for many points of a grid at once: what they share, and what they can compute together.

The points of a grid differ in C, d and η. They share the rows, their features, the graph, its scatter and the start;
what depends on the point is a stack of small matrices. One point of one fold alone is a plain
:class:`~pyod_gessvdd.GESSVDD`, and a test holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from pyod_gessvdd.boundaries.sphere import ON_THE_SPHERE
from pyod_gessvdd.components.contracts import Updater, UpdateState
from pyod_gessvdd.dual import BOUND_TOLERANCE
from pyod_gessvdd.experiments.detectors.paper.spheres import Spheres, solve_spheres
from pyod_gessvdd.linalg import RELATIVE_ZERO, read_only
from pyod_gessvdd.subspace import EPS, SURELY_INDEPENDENT, UNSEEN, orthonormalise
from pyod_gessvdd.training import TrainingData
from pyod_gessvdd.updaters.gradient import Gradient

Array = np.ndarray

#: Stacks of at most so many numbers are worked on at a time.
LARGEST_STACK = 4_000_000

#: What finds the spheres: from points (B, N, d), bounds (B,) and the last α or None.
Solve = Callable[[Array, Array, Array | None], Spheres]


class Descriptions(NamedTuple):
    """The data descriptions of some points that have the same dimension, after the same number of updates.

    Attributes
    ----------
    points : ndarray of shape (b,)
        Which points of the grid.
    projection : ndarray of shape (b, d, F)
        S_Q^{-1/2} Q.
    center, radius2 : ndarray of shape (b, d) and (b,)
        The spheres.
    """

    points: Array
    projection: Array
    center: Array
    radius2: Array

    def accept(self, Phi: Array) -> Array:
        """Whether each row of features is inside each sphere (paper eq. ``test1``), of shape (b, n)."""
        Z = Phi @ self.projection.transpose(0, 2, 1) - self.center[:, None]
        squares = np.einsum("bij,bij->bi", Z, Z)
        size2 = np.einsum("bj,bj->b", self.center, self.center)
        unit = np.maximum(self.radius2, (16 * EPS) ** 2 * np.where(size2 > 0, size2, 1.0))
        return np.asarray(squares <= (1.0 + ON_THE_SPHERE) * unit[:, None])


@dataclass
class Fits:
    """All points of a grid fitted to the same rows: what each iterate accepts.

    Attributes
    ----------
    n_points : int
        How many there are.
    iterates : list of list of Descriptions
        After 0, 1, 2, … updates; a point whose update found no direction stays as it is.
    """

    n_points: int
    iterates: list[list[Descriptions]] = field(default_factory=list)

    def accept(self, Phi: Array, iterate: int = -1) -> Array:
        """Whether each point accepts each row, of shape (n_points, n)."""
        accepted = np.zeros((self.n_points, len(Phi)), dtype=bool)
        for descriptions in self.iterates[iterate]:
            accepted[descriptions.points] = descriptions.accept(Phi)
        return accepted


def fit_together(
    data: TrainingData,
    starts: Sequence[Array],
    C: Array,
    *,
    updaters: Sequence[Updater],
    criterion: str,
    ridge: float,
    n_iter: int,
    solve: Solve = solve_spheres,
    warm: bool = True,
) -> Fits:
    """Fit every point (paper, Algorithm 1).

    Parameters
    ----------
    data : TrainingData
        Features, graph and scatter; no residual, weights or outliers, which the paper does not have.
    starts : sequence of ndarray of shape (d, F)
        Each point's first Q, orthonormal rows.
    C : ndarray of shape (n_points,)
        Each point's bound of α.
    updaters : sequence of Updater
        Each point's updater, all of one kind.
    criterion : {"min", "max"}
        The direction.
    ridge : float
        See :func:`~pyod_gessvdd.subspace.whiten`.
    n_iter : int
        How many updates are made.
    solve : callable
        What finds the spheres.
    warm : bool, default=True
        Whether the solver starts from the last iterate's α; it ends at the same sphere.
    """
    n_points, N = len(starts), len(data.Phi)
    fits = Fits(n_points)
    Qs: list[Array] = list(starts)
    dimensions = [len(Q) for Q in Qs]
    alpha = np.zeros((n_points, N))
    stopped = np.zeros(n_points, dtype=bool)
    memo: dict[Any, Any] = {}
    last: dict[int, tuple[Array, Array, float]] = {}
    for iteration in range(n_iter + 1):
        iterate: list[Descriptions] = []
        moved: dict[int, Array] = {}
        for chosen in _stacks(Qs, stopped, N):
            Q = np.stack([Qs[point] for point in chosen])
            root, inverse = whiten_all(Q, data.S_x, ridge)
            projection = root @ Q
            Z = data.Phi @ projection.transpose(0, 2, 1)
            spheres = solve(Z, C[chosen], alpha[chosen] if warm and iteration else None)
            alpha[chosen] = spheres.alpha
            iterate.append(Descriptions(chosen, projection, spheres.center, spheres.radius2))
            for place, point in enumerate(chosen):
                last[point] = (projection[place], spheres.center[place], spheres.radius2[place])
            if iteration == n_iter:
                continue
            if type(updaters[chosen[0]]) is Gradient:
                steps = np.array([updaters[point].step_size for point in chosen])
                new = _orthonormal(_step(data, Q, inverse, spheres.alpha, steps, criterion))
            else:
                states = _states(data, Q, inverse, spheres.alpha, C[chosen], criterion, iteration + 1, memo)
                asked = [dimensions[point] for point in chosen]
                new = [
                    orthonormalise(np.asarray(updaters[point].update(state(n_components=d))))
                    for point, state, d in zip(chosen, states, asked, strict=True)
                ]
            moved |= dict(zip(chosen.tolist(), new, strict=True))
        for point in np.flatnonzero(stopped).tolist():
            kept = [np.array([point]), *(np.asarray(part)[None] for part in last[point])]
            iterate.append(Descriptions(*kept))
        fits.iterates.append(iterate)
        for point, Q_new in moved.items():
            stopped[point] = len(Q_new) == 0
            Qs[point] = Q_new if len(Q_new) else Qs[point]
    return fits


def _stacks(Qs: Sequence[Array], stopped: Array, N: int) -> Iterator[Array]:
    """The points that go on, those of one dimension together."""
    dimensions = np.array([len(Q) for Q in Qs])
    for d in np.unique(dimensions[~stopped]):
        members = np.flatnonzero((dimensions == d) & ~stopped)
        size = max(1, LARGEST_STACK // (max(N, Qs[0].shape[1]) * int(d)))
        yield from (members[first : first + size] for first in range(0, len(members), size))


def whiten_all(Q: Array, S_x: Array | None, ridge: float) -> tuple[Array, Array]:
    """:func:`~pyod_gessvdd.subspace.whiten` for a stack of Q, (b, d, F): S_Q^{-1/2} and S_Q^{-1}, (b, d, d)."""
    b, d, _ = Q.shape
    if S_x is None:
        eye = np.broadcast_to(np.eye(d), (b, d, d))
        return eye, eye
    values, vectors = np.linalg.eigh(Q @ S_x @ Q.transpose(0, 2, 1))
    rounding = EPS * S_x.shape[0] * float(S_x.trace())
    values = np.where(values > rounding, values, 0.0)
    mean = np.maximum(values.mean(axis=1, keepdims=True), rounding)
    seen = values > max(min(ridge, UNSEEN), RELATIVE_ZERO) * mean
    inverse = 1.0 / (values + ridge * mean)
    root = (vectors * np.sqrt(inverse)[:, None]) @ vectors.transpose(0, 2, 1)
    return root, (vectors * (seen * inverse)[:, None]) @ vectors.transpose(0, 2, 1)


def _step(data: TrainingData, Q: Array, inverse: Array, alpha: Array, steps: Array, criterion: str) -> Array:
    """Q ∓ ηΔL of each point (paper, Sub-algorithm 1), as :class:`Gradient` does it."""
    mean = alpha @ data.Phi
    inside = data.Phi @ Q.transpose(0, 2, 1)
    around = inside - (mean[:, None] @ Q.transpose(0, 2, 1))
    QS = (alpha[:, :, None] * around).transpose(0, 2, 1) @ data.Phi
    QS -= (alpha[:, None] @ around).transpose(0, 2, 1) @ mean[:, None]
    gradient = 2.0 * inverse @ QS
    if data.S_x is not None:
        gradient -= 2.0 * inverse @ (QS @ Q.transpose(0, 2, 1)) @ inverse @ (Q @ data.S_x)
    return np.asarray(Q + (1.0 if criterion == "max" else -1.0) * steps[:, None, None] * gradient)


def _orthonormal(stack: Array) -> list[Array]:
    """:func:`~pyod_gessvdd.subspace.orthonormalise` of each; rows that depend on others are rare, and dropped."""
    lengths = np.linalg.norm(stack, axis=2, keepdims=True)
    basis, R = np.linalg.qr((stack / np.where(lengths > 0, lengths, 1.0)).transpose(0, 2, 1))
    diagonal = np.abs(np.einsum("bii->bi", R))
    sure = diagonal.min(axis=1) > SURELY_INDEPENDENT * diagonal.max(axis=1)
    return [basis[b].T if sure[b] else orthonormalise(stack[b]) for b in range(len(stack))]


def _states(
    data: TrainingData,
    Q: Array,
    inverse: Array,
    alpha: Array,
    C: Array,
    criterion: str,
    iteration: int,
    memo: dict[Any, Any],
) -> Iterator[Callable[..., UpdateState]]:
    """What an updater sees of each point but for the number of rows that it should return."""
    for place in range(len(Q)):
        a, bound = alpha[place], C[place]
        known = {
            "Q": read_only(Q[place]),
            "Phi": read_only(data.Phi),
            "alpha": read_only(a),
            "S_x": None if data.S_x is None else read_only(data.S_x),
            "S_inv": inverse[place],
            "graph": data.graph,
            "criterion": criterion,
            "iteration": iteration,
            "memo": memo,
            "boundary": np.flatnonzero((a > BOUND_TOLERANCE * bound) & (a < (1.0 - BOUND_TOLERANCE) * bound)),
        }
        yield lambda n_components, known=known: UpdateState(n_components=n_components, **known)
