"""What is added to the criterion of a subspace: penalties ω = Σ_mn Tr(Q_m Φ_mᵀ M_mn Φ_n Q_nᵀ) of the projected rows.

SSVDD's ψ and X-SSVDD's graph have one modality, MSSVDD's ω and its graphs have several. M is λλᵀ with multipliers λ of
the samples, or the Laplacian of a graph over them, which keeps neighbours close. Either way M is positive
semi-definite and treated as a constant when Q moves, so that ∂ω/∂Q_m = 2 Σ_n Q_n Φ_nᵀ M_nm Φ_m.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pyod_gessvdd.graph import Graph
from pyod_gessvdd.linalg import row_blocks

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Samples:
    """The samples of a modality as a regulariser sees them.

    Attributes
    ----------
    Phi : ndarray of shape (N, F)
        Their features.
    alpha : ndarray of shape (N,)
        Their dual variables.
    boundary : ndarray of int
        The samples on the sphere.
    weight : ndarray of shape (N,) or None
        How often each counts; None if all count once.
    """

    Phi: Array
    alpha: Array
    boundary: Array
    weight: Array | None = None


class Regulariser(ABC):
    """A penalty on the projections of one or several modalities."""

    @abstractmethod
    def products(self, Q: Sequence[Array], samples: Sequence[Samples]) -> list[Array]:
        """Σ_n Q_n Φ_nᵀ M_nm Φ_m of every modality m, of shape (d, F_m): half of the gradient.

        Parameters
        ----------
        Q : sequence of ndarray of shape (d, F_m)
            The projections.
        samples : sequence of Samples
            The samples, in each modality.
        """

    def value(self, Q: Sequence[Array], samples: Sequence[Samples]) -> float:
        """ω."""
        return sum(float(np.vdot(*pair)) for pair in zip(self.products(Q, samples), Q, strict=True))


@dataclass(frozen=True)
class Multipliers(Regulariser):
    """M = λλᵀ: ω = Σ_m ‖Q_m Φ_mᵀ λ_m‖², or ‖Σ_m Q_m Φ_mᵀ λ_m‖² if the modalities are crossed.

    Attributes
    ----------
    which : {"all", "support", "boundary"}
        λ: ones, α, or α on the sphere's surface and 0 elsewhere.
    crossed : bool
        Whether products between different modalities count.
    """

    which: str
    crossed: bool = False

    def products(self, Q: Sequence[Array], samples: Sequence[Samples]) -> list[Array]:
        """Q_m Φ_mᵀ λ_m, or the sum of these, times (Φ_mᵀ λ_m)ᵀ; λλᵀ is never formed."""
        sums = [self._sum(modality) for modality in samples]
        images = [q @ total for q, total in zip(Q, sums, strict=True)]
        if self.crossed:
            images = [np.sum(images, axis=0)] * len(images)
        return [np.outer(image, total) for image, total in zip(images, sums, strict=True)]

    def _sum(self, samples: Samples) -> Array:
        """Φᵀ λ, of shape (F,)."""
        Phi = samples.Phi
        if self.which == "all":
            rows = np.arange(len(Phi))
            weights = np.ones(len(Phi)) if samples.weight is None else samples.weight
        else:
            rows = np.flatnonzero(samples.alpha) if self.which == "support" else samples.boundary
            weights = samples.alpha[rows]
        total = np.zeros(Phi.shape[1])
        for block in row_blocks(len(rows), len(total)):
            total += weights[block] @ Phi[rows[block]]
        return total


@dataclass(frozen=True, eq=False)
class GraphPenalty(Regulariser):
    """M_mm = L_m: ω = Σ_m Tr(Q_m S_m Q_mᵀ) with the scatter S_m = Φ_mᵀ L_m Φ_m of a graph in each modality.

    Attributes
    ----------
    scatters : list of ndarray of shape (F_m, F_m)
        S_m.
    """

    scatters: list[Array]

    def products(self, Q: Sequence[Array], samples: Sequence[Samples]) -> list[Array]:
        """Q_m S_m."""
        return [q @ S for q, S in zip(Q, self.scatters, strict=True)]


@dataclass(frozen=True, eq=False)
class CrossGraphPenalty(Regulariser):
    """M_mn = L for all modalities m and n: ω = Tr(Y L Yᵀ) with Y = Σ_m Q_m Φ_mᵀ, the sum of a sample's projections.

    Neighbouring samples should be close in all modalities taken together: one modality may make up for a difference in
    another.

    Attributes
    ----------
    graph : Graph
        L.
    """

    graph: Graph

    def products(self, Q: Sequence[Array], samples: Sequence[Samples]) -> list[Array]:
        """(L Yᵀ)ᵀ Φ_m."""
        Y = np.sum([modality.Phi @ q.T for q, modality in zip(Q, samples, strict=True)], axis=0)
        pulled = self.graph.dot(Y)
        return [pulled.T @ modality.Phi for modality in samples]


#: ψ of SSVDD by its number (paper eq. ``generalconstraintpsi``); 0 is none.
PSI: dict[int, Regulariser] = {1: Multipliers("all"), 2: Multipliers("support"), 3: Multipliers("boundary")}
#: ω of MSSVDD by its number; 0 is none.
OMEGA: dict[int, Regulariser] = {
    **PSI,
    4: Multipliers("all", crossed=True),
    5: Multipliers("support", crossed=True),
    6: Multipliers("boundary", crossed=True),
}
