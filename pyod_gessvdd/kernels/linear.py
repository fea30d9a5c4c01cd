"""The linear kernel: the features are the data."""

from __future__ import annotations

import numpy as np

from pyod_gessvdd.components.contracts import Kernel


class Linear(Kernel):
    """Φ = X."""

    name = "linear"
    is_identity = True
    supports_sample_weight = True  # the features are the rows, whatever they weigh

    def features(self, X: np.ndarray) -> np.ndarray:
        """The rows themselves."""
        return X
