"""From training rows to centred features: what every detector does between scaling and the subspace."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyod_gessvdd.components.validation import check_features
from pyod_gessvdd.linalg import column_means

Array = np.ndarray


def training_features(kernel: Any, X: Array, center: bool) -> tuple[Array, Array]:
    """Φ of the training rows, which the kernel is fitted on, and the mean that was taken off it (zero if none was)."""
    Phi = kernel.fit_features(X) if hasattr(kernel, "fit_features") else kernel.fit(X).features(X)
    Phi = check_features(Phi, len(X), kernel)
    if center:
        mean = column_means(Phi)
        # After scaling or the NPT map the mean is rounding already, and a copy of Φ can be saved.
        if np.abs(mean).max() > 1e-12 * np.sqrt(np.einsum("ij,ij->", Phi, Phi) / Phi.size):
            return Phi - mean, mean
    return Phi, np.zeros(Phi.shape[1])
