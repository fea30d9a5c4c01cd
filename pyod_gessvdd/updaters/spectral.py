"""Updater ``S``: the generalised eigenproblem S_α q = υ S_x q (paper, Sub-algorithm 2)."""

from __future__ import annotations

import numpy as np

from pyod_gessvdd.components.contracts import Updater, UpdateState
from pyod_gessvdd.linalg import RELATIVE_ZERO, symmetric_eigen


class Spectral(Updater):
    """The d eigenvectors with the smallest positive (min) or the largest (max) eigenvalues.

    The problem is solved in its symmetric form on the range of S_x: a direction in which the graph sees no scatter
    would have an infinite υ, so it is left out. "Positive" means above a relative tolerance. If fewer than d
    eigenvectors are left, Q gets fewer rows.
    """

    name = "spectral"
    by_scatter = True
    aliases = ("S",)

    def update(self, state: UpdateState) -> np.ndarray:
        """Jump to the optimum of the criterion for the current α."""
        W = whitening_basis(state)
        values, vectors = symmetric_eigen(W.T @ state.S_alpha @ W)
        positive = np.flatnonzero(values > RELATIVE_ZERO * values[-1])
        chosen = positive[: state.n_components] if state.criterion == "min" else positive[::-1][: state.n_components]
        return (W @ vectors[:, chosen]).T


def whitening_basis(state: UpdateState) -> np.ndarray:
    """W of shape (F, rank) with Wᵀ S_x W = I, computed once per fit; the identity without a graph."""
    S_x = state.S_x
    if S_x is None:
        return np.eye(state.Q.shape[1])
    return state.once(__name__, "inverse_root", lambda: _inverse_root(S_x))


def _inverse_root(S: np.ndarray) -> np.ndarray:
    """W of shape (F, rank) with Wᵀ S W = I."""
    values, vectors = symmetric_eigen(S)
    keep = values > RELATIVE_ZERO * values[-1]
    return vectors[:, keep] / np.sqrt(values[keep])
