"""The start of Algorithm 1: how many dimensions, and which directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyod_gessvdd.errors import warn
from pyod_gessvdd.subspace import n_seen, orthonormalise, principal_directions, random_directions

Array = np.ndarray

#: The subspace's dimension when none is asked for, with the residual and without.
DEFAULT_COMPONENTS, DEFAULT_COMPONENTS_PAPER = 300, 30


def start(
    Phi: Any,
    S_x: Array | None,
    settings: dict[str, Any],
    random_state: int,
    sample_weight: Array | None = None,
    total: Array | None = None,
) -> Array:
    """The first Q: d principal directions, random ones, or the user's.

    Parameters
    ----------
    Phi : ndarray of shape (N, F)
        Centred features; with ``total`` anything of that shape.
    S_x : ndarray of shape (F, F) or None
        The graph's scatter.
    settings : dict
        ``init``, ``around_mean``, ``n_components``, ``residual`` and ``ridge`` are used.
    random_state : int
        Seeds random directions.
    sample_weight : ndarray of shape (N,), optional
        How often each row counts.
    total : ndarray of shape (F, F), optional
        See :func:`~pyod_gessvdd.subspace.total_scatter`.
    """
    init, F = settings["init"], Phi.shape[1]
    if not isinstance(init, str):
        return _given(np.asarray(init, dtype=float), F, settings["n_components"])
    directions = principal_directions(Phi, sample_weight, around_mean=settings["around_mean"], total=total)
    if len(directions) == 0:
        raise ValueError(f"all {len(Phi)} rows of X are equal: there is nothing to describe")
    d = _dimension(F, len(directions), S_x, settings)
    return directions[:d] if init == "pca" else random_directions(d, F, random_state)


def _given(Q: Array, F: int, n_components: Any) -> Array:
    if Q.ndim == 2 and not np.isfinite(Q).all():
        raise ValueError("init must be finite, got NaN or infinite values")
    if Q.ndim != 2 or Q.shape[1] != F or not 1 <= Q.shape[0] <= F:
        raise ValueError(f"init must be 'pca', 'random' or an array of shape (d, {F}), got shape {Q.shape}")
    if n_components not in (None, "all", Q.shape[0]):
        raise ValueError(f"init has {Q.shape[0]} rows but n_components={n_components}; they must agree")
    orthonormal = orthonormalise(Q)
    if len(orthonormal) < len(Q):
        raise ValueError(f"the {len(Q)} rows of init span only {len(orthonormal)} dimensions")
    return orthonormal


def _dimension(F: int, rank: int, S_x: Array | None, settings: dict[str, Any]) -> int:
    n_components = settings["n_components"]
    if n_components is None:
        # Nobody asked for directions that the graph does not see; the between graph sees K − 1 at most.
        default = DEFAULT_COMPONENTS if settings["residual"] else DEFAULT_COMPONENTS_PAPER
        return min(default, rank, rank if S_x is None else n_seen(S_x, settings["ridge"]))
    if isinstance(n_components, str):
        return rank
    if n_components > F:
        raise ValueError(f"n_components must be at most the number of features, {F}, got {n_components}")
    if n_components > rank:
        warn(
            f"n_components={n_components}, but the features vary in only {rank} of {F} directions "
            f"(constant or dependent columns); using {rank}"
        )
    return min(n_components, rank)
