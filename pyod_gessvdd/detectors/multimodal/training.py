"""The alternation of MSSVDD: one sphere around all modalities' projections, then a gradient step of every Q_m.

With z_mi = Q_m φ_mi and the centre a = Σ_m Σ_i α_mi z_mi the Lagrangian is

    L = Σ_m Σ_i α_mi ‖z_mi‖² − ‖a‖² + β ω      and      ∂L/∂Q_m = 2 Σ_i α_mi (z_mi − a) φ_miᵀ + β ∂ω/∂Q_m :

the modalities see each other through a. No modality's α sums to one, only all together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyod_gessvdd.boundaries.sphere import Sphere
from pyod_gessvdd.dual import QPSolution
from pyod_gessvdd.errors import warn
from pyod_gessvdd.linalg import row_blocks
from pyod_gessvdd.subspace import orthonormalise, subspace_distance
from pyod_gessvdd.training import record

Array = np.ndarray


@dataclass(frozen=True)
class Regularizer:
    """ω = Σ_m ‖Q_m Φ_mᵀ λ_m‖², or ‖Σ_m Q_m Φ_mᵀ λ_m‖² if the modalities are crossed.

    These are the traces Σ_m Tr(Q_m Φ_mᵀ λ_m λ_mᵀ Φ_m Q_mᵀ) and Σ_m Σ_n Tr(Q_m Φ_mᵀ λ_m λ_nᵀ Φ_n Q_nᵀ). λ counts as a
    constant when Q_m moves.

    Attributes
    ----------
    samples : {"all", "support", "boundary"}
        λ_m: ones, α_m, or α_m on the sphere's surface and 0 elsewhere.
    crossed : bool
        Whether products between different modalities count.
    """

    samples: str
    crossed: bool

    def sums(self, Phi: list[Array], sphere: QPSolution) -> list[Array]:
        """Φ_mᵀ λ_m of every modality."""
        weights = np.ones_like(sphere.alpha) if self.samples == "all" else sphere.alpha.copy()
        if self.samples == "boundary":
            weights[np.setdiff1d(np.arange(len(weights)), sphere.boundary)] = 0.0
        return [w @ features for w, features in zip(weights.reshape(len(Phi), -1), Phi, strict=True)]

    def value(self, Q: list[Array], sums: list[Array]) -> float:
        """ω."""
        images = np.array([q @ total for q, total in zip(Q, sums, strict=True)])
        return float(np.sum(images.sum(axis=0) ** 2 if self.crossed else images**2))

    def gradients(self, Q: list[Array], sums: list[Array]) -> list[Array]:
        """∂ω/∂Q_m of every modality."""
        images = [q @ total for q, total in zip(Q, sums, strict=True)]
        if self.crossed:
            images = [np.sum(images, axis=0)] * len(Q)
        return [2.0 * np.outer(image, total) for image, total in zip(images, sums, strict=True)]


#: The parameter ``regularizer``: the paper's ω_1 … ω_6; ω_0 is none.
REGULARIZERS: dict[int, Regularizer] = {
    1: Regularizer("all", crossed=False),
    2: Regularizer("support", crossed=False),
    3: Regularizer("boundary", crossed=False),
    4: Regularizer("all", crossed=True),
    5: Regularizer("support", crossed=True),
    6: Regularizer("boundary", crossed=True),
}


@dataclass(frozen=True)
class MultimodalResult:
    """The projections and the sphere at the end of the alternation, and how it went."""

    Q: list[Array]
    sphere: Sphere
    solution: QPSolution
    history: list[dict[str, Any]]
    stop_reason: str


def alternate_modalities(
    Phi: list[Array],
    Q: list[Array],
    *,
    names: list[Any],
    fit_sphere: Callable[[Array, Array | None], tuple[Sphere, QPSolution]],
    regularizer: Regularizer | None,
    beta: float,
    criterion: str,
    step_size: float,
    n_iter: int,
) -> MultimodalResult:
    """Alternate between the joint sphere and the projections.

    Parameters
    ----------
    Phi : list of ndarray of shape (N, F_m)
        The features of each modality.
    Q : list of ndarray of shape (d, F_m)
        The start, orthonormal rows.
    names : list
        The modalities' names, for messages.
    fit_sphere : callable
        From (all N · M points, the last α) to the certified sphere; may overwrite the points.
    regularizer : Regularizer or None
        ω; None stands for ω_0.
    beta : float
        Its weight.
    criterion : {"min", "max"}
        Whether L is to fall or to rise.
    step_size : float
        η.
    n_iter : int
        The number of updates.
    """
    history: list[dict[str, Any]] = []
    alpha: Array | None = None
    eta = step_size if criterion == "max" else -step_size
    while True:
        sphere, solution = fit_sphere(_project(Phi, Q), alpha)
        alpha = solution.alpha
        sums = [] if regularizer is None else regularizer.sums(Phi, solution)
        history.append(record(len(history), solution))
        if regularizer is not None:
            history[-1]["criterion"] += beta * regularizer.value(Q, sums)
        if len(history) > n_iter:
            return MultimodalResult(Q, sphere, solution, history, f"made the {n_iter} updates asked for")
        steps = gradients(Phi, Q, solution)
        if regularizer is not None:
            steps = [step + beta * more for step, more in zip(steps, regularizer.gradients(Q, sums), strict=True)]
        updated = []
        for name, q, step in zip(names, Q, steps, strict=True):
            with np.errstate(over="ignore", invalid="ignore"):
                moved = q + eta * step
            if not np.isfinite(moved).all():
                raise ValueError(
                    f"step_size={step_size!r} makes the update of modality {name!r} overflow; use a smaller one"
                )
            updated.append(_retract(moved))
            if len(updated[-1]) < len(q):
                reason = f"the update left modality {name!r} only {len(updated[-1])} of {len(q)} independent directions"
                warn(f"{reason}; the projections before it are kept")
                return MultimodalResult(Q, sphere, solution, history, reason)
        history[-1]["step"] = max(subspace_distance(*pair) for pair in zip(Q, updated, strict=True))
        Q = updated


def gradients(Phi: list[Array], Q: list[Array], sphere: QPSolution) -> list[Array]:
    """2 Σ_i α_mi (z_mi − a) φ_miᵀ of every modality, of shape (d, F_m): the support alone counts.

    Equal to 2 Q_m Φ_mᵀ diag(α_m) Φ_m − 2 a (α_mᵀ Φ_m), without the difference of two large products.
    """
    out = []
    for features, q, alpha in zip(Phi, Q, sphere.alpha.reshape(len(Phi), -1), strict=True):
        gradient, support = np.zeros(q.shape), np.flatnonzero(alpha)
        for rows in row_blocks(len(support), features.shape[1]):
            index = support[rows]
            block = features[index]
            gradient += ((block @ q.T - sphere.center) * (2.0 * alpha[index, None])).T @ block
        out.append(gradient)
    return out


def _project(Phi: list[Array], Q: list[Array]) -> Array:
    """All points Q_m φ_mi, modality after modality, of shape (M · N, d)."""
    Z = np.empty((len(Phi), len(Phi[0]), len(Q[0])))
    for z, features, q in zip(Z, Phi, Q, strict=True):
        np.matmul(features, q.T, out=z)
    return Z.reshape(-1, Z.shape[2])


def _retract(moved: Array) -> Array:
    """Orthonormal rows with the span of the moved ones and as near to them as possible.

    The paper takes QR alone. In one modality any basis of the span gives the same scores; but the sphere is one for
    all, and the signs of LAPACK's QR would mirror one modality's points and not another's. The nearest basis leaves Q
    where it is if no step is made, and turns with Q: no choice of coordinates in the joint subspace matters.
    """
    basis = orthonormalise(moved)
    left, _, right = np.linalg.svd(moved @ basis.T, full_matrices=False)
    return left @ right @ basis if len(basis) == len(moved) else basis
