"""The extended isolation forest of the package isotree, with its defaults, as a PyOD detector."""

from __future__ import annotations

from typing import Any

import numpy as np
from pyod.models.base import BaseDetector


class EIF(BaseDetector):
    """What PyOD does not have; ``gessvdd compare --detectors eif:EIF`` finds it from this folder, too."""

    def __init__(self, contamination: float = 0.1, random_state: int = 1) -> None:
        super().__init__(contamination=contamination)
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: Any = None) -> EIF:
        """Grow the trees; isotree splits along random combinations of columns unless told otherwise."""
        from isotree import IsolationForest

        self.forest_ = IsolationForest(random_seed=self.random_state, nthreads=1).fit(X)
        self.decision_scores_ = self.decision_function(X)
        self._process_decision_scores()
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return the isolation scores."""
        return self.forest_.predict(X)
