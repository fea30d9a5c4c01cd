"""Updater ``GR``: one gradient step on the criterion (paper, Sub-algorithm 1), with a regulariser ψ."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from pyod_gessvdd.components.contracts import Laplacian, Updater, UpdateState
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.components.validation import build_graph
from pyod_gessvdd.regularisers import PSI, GraphPenalty, Regulariser, Samples
from pyod_gessvdd.updaters.parameters import check_regulariser

Array = np.ndarray

#: The weight of ψ unless one is given.
DEFAULT_BETA = 0.01


class Gradient(Updater):
    """Q ← Q ∓ η ΔL with ΔL = 2 S⁻¹ Q S − 2 S⁻¹ Q S Qᵀ S⁻¹ Q S_x, where S = S_α + β X M Xᵀ.

    Without a graph the criterion is Tr(Q S Qᵀ) and the step 2 Q S, so that SSVDD is GESSVDD-0-GR-min exactly. With
    one the criterion does not change under Q → RQ: this is a step on the Grassmann manifold, and the host's QR
    decomposition is its retraction.

    ψ = Tr(Q X M Xᵀ Qᵀ) has M = λλᵀ (paper eq. ``generalconstraintpsi``) or the Laplacian of a graph, which makes it
    X-SSVDD: the graph is a regulariser, not the metric. It is written for SSVDD. With a metric, as in ESSVDD, it acts
    on S_Q^{-1/2} Q as the criterion does (paper eq. ``primalobj_gesvdd``): it measures the class's variance where the
    sphere lives, and the regularised criterion stays one on the Grassmann manifold.

    Parameters
    ----------
    step_size : float, optional
        η; the detector's ``step_size`` if None.
    psi : {0, 1, 2, 3}, str, Laplacian or matrix, optional
        Which λ: 0 none; 1 ones, which vanishes on centred features; 2 α; 3 α of the samples on the sphere (0 < α < C)
        and 0 elsewhere. Or a graph, as for the detector's ``laplacian``. If None, the detector's ``psi`` if it has
        one, else 0.
    beta : float, optional
        β, the weight of ψ (paper eq. ``langSSVDD``); if None, the detector's ``beta`` if it has one, else 0.01.
    random_state : int, RandomState or None
        Seeds the graph of ψ; the detector's if None.
    """

    name = "gradient"
    by_scatter = True
    aliases = ("GR",)
    inherits = ("step_size", "psi", "beta", "random_state")

    def __init__(
        self,
        step_size: float | None = None,
        psi: Any = None,
        beta: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.step_size = step_size
        self.psi = psi
        self.beta = beta
        self.random_state = random_state

    def update(self, state: UpdateState) -> Array:
        """One step down (min) or up (max)."""
        step_size = 0.1 if self.step_size is None else self.step_size
        return state.Q + state.sign * step_size * self.gradient(state)

    def gradient(self, state: UpdateState) -> Array:
        """ΔL, of shape (d, F)."""
        Q, S_inv = state.Q, state.S_inv
        QS = self.regularised_dot(state, Q)
        gradient = 2.0 * S_inv @ QS
        if state.S_x is not None:
            gradient -= 2.0 * S_inv @ (QS @ Q.T) @ S_inv @ state.scatter_dot(Q.T).T
        return gradient

    def regularised_dot(self, state: UpdateState, Q: Array) -> Array:
        """Q S with S = S_α + β X M Xᵀ, of the shape of Q."""
        psi = 0 if self.psi is None else self.psi
        beta = DEFAULT_BETA if self.beta is None else self.beta
        check_regulariser(psi, beta)
        QS = state.alpha_scatter_dot(Q.T).T
        if beta and (regulariser := self._regulariser(psi, state)) is not None:
            samples = Samples(state.Phi, state.alpha, state.boundary, state.sample_weight)
            QS += beta * regulariser.products([Q], [samples])[0]
        return QS

    def _regulariser(self, psi: Any, state: UpdateState) -> Regulariser | None:
        """ψ; the scatter of a graph is computed once per fit."""
        if isinstance(psi, Integral):
            return PSI.get(int(psi))
        return state.once(__name__, "psi", lambda: GraphPenalty([self._graph_scatter(psi, state)]))

    def _graph_scatter(self, psi: Any, state: UpdateState) -> Array:
        laplacian: Laplacian = resolve("laplacian", psi)
        # Labelled outliers, which come last, are in no graph.
        n_rows = len(state.Phi) - state.n_outliers
        Phi, weights = state.Phi[:n_rows], state.sample_weight
        if weights is not None:
            weights = None if (weights[:n_rows] == 1.0).all() else weights[:n_rows]
        graph = build_graph(laplacian, Phi, self.random_state, weights)
        if graph is None:
            raise ValueError(f"psi must be 0, 1, 2, 3 or a graph, and laplacian {laplacian.name!r} has none")
        return graph.scatter(Phi)
