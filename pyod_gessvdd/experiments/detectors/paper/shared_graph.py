"""A Laplacian that builds each graph once: within a search the graph depends neither on C nor on d nor on η."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from pyod_gessvdd.components.contracts import Laplacian

#: A search goes through the five folds and all training rows, again and again.
KEPT = 8


class SharedGraph(Laplacian):
    """The graphs of another Laplacian, the last few kept for when the same rows and seed come again.

    Parameters
    ----------
    laplacian : Laplacian
        The one that builds them.
    """

    name = "shared"

    def __init__(self, laplacian: Laplacian) -> None:
        self.laplacian = laplacian
        self._graphs: OrderedDict[tuple[Any, ...], Any] = OrderedDict()

    def __sklearn_clone__(self) -> SharedGraph:
        # A detector clones its components before it fits them; a copy would forget the graphs.
        return self

    def build(self, Phi: np.ndarray, random_state: Any) -> Any:
        """The graph, built if these rows or this seed are new."""
        key = (Phi.shape, Phi.tobytes(), random_state)
        if key not in self._graphs:
            self._graphs[key] = self.laplacian.build(Phi, random_state)
            if len(self._graphs) > KEPT:
                self._graphs.popitem(last=False)
        self._graphs.move_to_end(key)
        return self._graphs[key]
