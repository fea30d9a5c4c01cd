"""The updaters ``authors_spectral`` and ``authors_spectral_regression``, which drop eigenvalues below 1e-6."""

from __future__ import annotations

import numpy as np

from pyod_gessvdd import Updater, UpdateState

#: What counts as zero, whatever the unit of the data.
ABSOLUTE_ZERO = 1e-6
#: What counts as zero in a pseudo-inverse, relative to the largest.
RELATIVE_ZERO = 1e-12


class AuthorsSpectral(Updater):
    """S_α q = υ S_x q: the eigenvectors of the d smallest (min) or largest (max) υ above an absolute 1e-6."""

    name = "authors_spectral"
    by_scatter = True

    def update(self, state: UpdateState) -> np.ndarray:
        """Jump to the optimum of the criterion for the current α."""
        identity = np.eye(state.Phi.shape[1])
        W = identity
        if state.S_x is not None:
            W = state.once(__name__, "root", lambda: _inverse_root(state.scatter_dot(identity)))
        values, vectors = np.linalg.eigh(W.T @ state.S_alpha @ W)
        return (W @ vectors[:, _chosen(values, state)]).T


class AuthorsSpectralRegression(Updater):
    """L_α t = υ L_x t with the same cut-off; then Q = Tᵀ Φ (ΦᵀΦ)⁺, without η; ties are left to the eigensolver.

    With the support s, D = diag(α_s) and w = √α_s, the non-zero υ are those of M = P D^½ [L_x⁺]_ss D^½ P,
    P = I − wwᵀ, and t = L_x⁺ D^½ P v.
    """

    name = "authors_spectral_regression"
    needs_graph = True
    improves_criterion = False

    def update(self, state: UpdateState) -> np.ndarray:
        """Jump to the regression of the chosen targets."""
        if state.graph is None:
            raise ValueError("spectral regression needs a graph, and laplacian 'none' has none")
        if state.sample_weight is not None:
            raise ValueError(f"updater {self.name!r} knows no sample weights")
        support = state.support
        w = np.sqrt(state.alpha[support])
        B = np.zeros((len(state.Phi), len(support)))
        B[support] = np.diag(w) - np.outer(w * w, w)
        spread = state.graph.pinv_dot(B)
        M = B.T @ spread
        values, vectors = np.linalg.eigh((M + M.T) / 2)
        # w is a null vector of M: an eigenvalue next to zero is its rounding, whatever the unit.
        values[values <= RELATIVE_ZERO * values[-1]] = 0.0
        T = spread @ vectors[:, _chosen(values, state)]
        inverse = state.once(__name__, "pinv", lambda: np.linalg.pinv(state.Phi.T @ state.Phi, hermitian=True))
        return T.T @ state.Phi @ inverse


def _inverse_root(S: np.ndarray) -> np.ndarray:
    """W of shape (F, rank) with Wᵀ S W = I."""
    values, vectors = np.linalg.eigh((S + S.T) / 2)
    keep = values > RELATIVE_ZERO * values[-1]
    return np.asarray(vectors[:, keep] / np.sqrt(values[keep]))


def _chosen(values: np.ndarray, state: UpdateState) -> np.ndarray:
    """Which of the eigenvalues, in ascending order, are taken."""
    kept = np.flatnonzero(values > ABSOLUTE_ZERO)
    return kept[: state.n_components] if state.criterion == "min" else kept[::-1][: state.n_components]
