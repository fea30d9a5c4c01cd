"""A Laplacian that builds its graph once: within a search the graph depends neither on C nor on d nor on η."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyod_gessvdd.components.contracts import Laplacian


class SharedGraph(Laplacian):
    """The graph of another Laplacian, kept as long as it is asked for the same rows with the same seed.

    Parameters
    ----------
    laplacian : Laplacian
        The one that builds it.
    """

    name = "shared"

    def __init__(self, laplacian: Laplacian) -> None:
        self.laplacian = laplacian
        self._key: tuple[Any, ...] | None = None
        self._graph: Any = None

    def __sklearn_clone__(self) -> SharedGraph:
        # A detector clones its components before it fits them; a copy would forget the graph.
        return self

    def build(self, Phi: np.ndarray, random_state: Any) -> Any:
        """The graph, built if these rows or this seed are new."""
        key = (Phi.shape, Phi.tobytes(), random_state)
        if key != self._key:
            self._graph = self.laplacian.build(Phi, random_state)
            self._key = key
        return self._graph
