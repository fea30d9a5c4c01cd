"""Several graphs at once: L_x = Σ_k w_k L_k, written ``"0.7*knn + 0.3*pca"`` (the paper's future work)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyod_gessvdd.components.contracts import Laplacian, NoGraph
from pyod_gessvdd.components.validation import as_graph
from pyod_gessvdd.graph import Graph
from pyod_gessvdd.linalg import RELATIVE_ZERO, column_means, gram

Array = np.ndarray


class WeightedSum(Laplacian):
    """A weighted sum of graphs, with given or learnt weights.

    ``weights="auto"``, written ``"auto*(knn + pca)"``, learns them without labels. First every graph is scaled so that
    its scatter S_k has the trace of the total scatter S_t = Σ (φ_i − φ̄)(φ_i − φ̄)ᵀ: the units of a graph do not
    matter. Then the rule of auto-weighted multi-view learning (Nie, Li, Li: Parameter-Free Auto-Weighted Multiple Graph
    Learning, IJCAI 2016), w_k ∝ 1 / (2 √Tr(P S_k Pᵀ)), is evaluated at P = S_t^½, the principal directions in which
    Algorithm 1 starts, each weighted by its standard deviation. A graph that only repeats where the variance is gets a
    small weight, one that sees other directions a large one.

    Parameters
    ----------
    laplacians : sequence of Laplacian
        The graphs.
    weights : sequence of float or "auto", optional
        Their weights, positive; all one if None.

    Notes
    -----
    Sample weights are passed on to the graphs that take them; the others are built on the rows as they are.

    Attributes
    ----------
    weights_ : ndarray of shape (n_graphs,)
        The weights of the last ``build``. Learnt ones sum to one, and are those of the graphs after their scaling.
    """

    name = "weighted_sum"
    supports_sample_weight = True
    repeats_exactly = None

    def __init__(self, laplacians: Sequence[Laplacian], weights: Sequence[float] | str | None = None) -> None:
        self.laplacians = laplacians
        self.weights = weights

    def of_rows(self, chosen: Array) -> WeightedSum:
        """The sum of the graphs of these rows."""
        return WeightedSum([laplacian.of_rows(chosen) for laplacian in self.laplacians], self.weights)

    def build(self, Phi: Array, random_state: Any, sample_weight: Array | None = None) -> Graph:
        """L = Σ_k w_k L_k."""
        given = self.checked_weights()
        for laplacian in self.laplacians:
            if isinstance(laplacian, NoGraph):
                raise ValueError(f"{laplacian.name!r} has no graph and cannot be part of a sum of graphs")
        graphs = [
            as_graph(laplacian.build_weighted(Phi, random_state, sample_weight), len(Phi), laplacian)
            for laplacian in self.laplacians
        ]
        if given is None:
            names = [laplacian.name for laplacian in self.laplacians]
            total = gram(Phi, column_means(Phi, sample_weight), sample_weight)
            scatters = [graph.scatter(Phi) for graph in graphs]
            self.weights_, factors = learn_weights(scatters, names, total, len(Phi))
        else:
            self.weights_ = factors = np.array(given, dtype=float)
        first, *rest = (float(factor) * graph for factor, graph in zip(factors, graphs, strict=True))
        return sum(rest, start=first)

    def checked_weights(self) -> list[float] | None:
        """The weights of the graphs; None if they should be learnt."""
        if isinstance(self.weights, str):
            if self.weights != "auto":
                raise ValueError(f"the weights of a sum of graphs must be numbers or 'auto', got {self.weights!r}")
            if not self.laplacians:
                raise ValueError("got no graphs to learn the weights of")
            return None
        weights = [1.0] * len(self.laplacians) if self.weights is None else list(self.weights)
        if not self.laplacians or len(weights) != len(self.laplacians):
            raise ValueError(f"got {len(self.laplacians)} graphs and {len(weights)} weights; give one weight per graph")
        if min(weights) <= 0:
            raise ValueError(f"the weights of a sum of graphs must be positive, got {weights}")
        return weights


def learn_weights(scatters: list[Array], names: list[str], total: Array, n_rows: int) -> tuple[Array, Array]:
    """The weights of the graphs scaled to the trace of S_t, and, with this scale included, those of the graphs.

    Parameters
    ----------
    scatters : list of ndarray of shape (F, F)
        S_k of each graph.
    names : list of str
        The graphs' names.
    total : ndarray of shape (F, F)
        S_t.
    n_rows : int
        N.
    """
    size = float(np.trace(total))
    traces, alignments = np.empty(len(scatters)), np.empty(len(scatters))
    for k, (S, name) in enumerate(zip(scatters, names, strict=True)):
        traces[k], alignments[k] = np.trace(S), np.vdot(S, total)
        # Relative to a weight of one per sample and edge, what is left of a scatter of zero is rounding.
        if not (traces[k] > RELATIVE_ZERO * size / n_rows and alignments[k] > RELATIVE_ZERO * traces[k] * size):
            raise ValueError(
                f"laplacian {name!r} sees none of the features' scatter: it has no weight in an 'auto' sum"
            )
    weights = 1.0 / np.sqrt(alignments / traces)
    weights /= weights.sum()
    return weights, weights * size / traces
