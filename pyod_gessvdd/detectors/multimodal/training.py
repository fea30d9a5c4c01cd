"""The alternation of MSSVDD: one sphere around all modalities' projections, then a gradient step of every Q_m.

With z_mi = Q_m φ_mi and the centre a = Σ_m Σ_i α_mi z_mi the Lagrangian is

    L = Σ_m Σ_i α_mi ‖z_mi‖² − ‖a‖² + β ω      and      ∂L/∂Q_m = 2 Σ_i α_mi (z_mi − a) φ_miᵀ + β ∂ω/∂Q_m :

the modalities see each other through a. Only all α together sum to one, not those of a modality.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyod_gessvdd import progress
from pyod_gessvdd.boundaries.sphere import Sphere
from pyod_gessvdd.dual import QPSolution
from pyod_gessvdd.errors import warn
from pyod_gessvdd.linalg import row_blocks
from pyod_gessvdd.regularisers import Regulariser, Samples
from pyod_gessvdd.subspace import orthonormalise, subspace_distance
from pyod_gessvdd.training import record

Array = np.ndarray


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
    regulariser: Regulariser | None,
    beta: float,
    criteria: list[str],
    step_size: float,
    n_iter: int,
) -> MultimodalResult:
    """Alternate between the joint sphere and the projections.

    Parameters
    ----------
    Phi : list of ndarray of shape (N, F_m)
        The features of each modality.
    Q : list of ndarray of shape (d, F_m)
        The initial projections, orthonormal rows.
    names : list
        The modalities' names, for messages.
    fit_sphere : callable
        Maps (all N · M points, the last α) to the certified sphere; may overwrite the points.
    regulariser : Regulariser or None
        ω; None stands for ω_0.
    beta : float
        Its weight.
    criteria : list of {"min", "max"}
        For each modality, whether its projection should decrease or increase L.
    step_size : float
        η.
    n_iter : int
        The number of updates.
    """
    history: list[dict[str, Any]] = []
    alpha: Array | None = None
    etas = [step_size if criterion == "max" else -step_size for criterion in criteria]
    progress.stage("updates", n_iter)
    while True:
        sphere, solution = fit_sphere(_project(Phi, Q), alpha)
        alpha = solution.alpha
        samples = _samples(Phi, solution)
        history.append(record(len(history), solution))
        if regulariser is not None:
            history[-1]["criterion"] += beta * regulariser.value(Q, samples)
        progress.step(len(history) - 1, "criterion %.4g, gap %.1e", history[-1]["criterion"], solution.gap)
        if len(history) > n_iter:
            return MultimodalResult(Q, sphere, solution, history, f"made the {n_iter} updates asked for")
        steps = gradients(Phi, Q, solution)
        if regulariser is not None:
            products = regulariser.products(Q, samples)
            steps = [step + 2.0 * beta * more for step, more in zip(steps, products, strict=True)]
        updated = []
        for name, q, step, eta in zip(names, Q, steps, etas, strict=True):
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


def _samples(Phi: list[Array], sphere: QPSolution) -> list[Samples]:
    """The samples of every modality, as regularisers see them."""
    N = len(Phi[0])
    return [
        Samples(
            features,
            sphere.alpha[m * N : (m + 1) * N],
            sphere.boundary[sphere.boundary // N == m] - m * N,
        )
        for m, features in enumerate(Phi)
    ]


def gradients(Phi: list[Array], Q: list[Array], sphere: QPSolution) -> list[Array]:
    """2 Σ_i α_mi (z_mi − a) φ_miᵀ of every modality, of shape (d, F_m): only the support counts.

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

    The paper uses QR alone. In one modality any basis of the span gives the same scores; but the sphere is one for
    all, and the signs of LAPACK's QR would mirror one modality's points and not another's. The nearest basis leaves Q
    where it is if no step is made, and turns with Q: no choice of coordinates in the joint subspace matters.
    """
    basis = orthonormalise(moved)
    left, _, right = np.linalg.svd(moved @ basis.T, full_matrices=False)
    return left @ right @ basis if len(basis) == len(moved) else basis
