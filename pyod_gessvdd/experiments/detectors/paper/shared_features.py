"""The kernel's features of a fold's rows, computed once for each width: C, d and η do not change them."""

from __future__ import annotations

import numpy as np

from pyod_gessvdd.components.specs import resolve

Array = np.ndarray


class SharedFeatures:
    """The non-linear projection trick as the paper has it: map the rows, then go on as in the linear case.

    Parameters
    ----------
    train, test : ndarray
        The rows that models are fitted to, and those that they are measured on.
    """

    def __init__(self, train: Array, test: Array) -> None:
        self.train, self.test = train, test
        self._sigma: float | None = None
        self._features = train, test

    def of(self, sigma: float) -> tuple[Array, Array]:
        """Both with an RBF kernel of this width; those of the last width are kept."""
        if sigma != self._sigma:
            kernel = resolve("kernel", "rbf").set_params(sigma=sigma, center=True)
            self._features = kernel.fit_features(self.train)[0], kernel.features(self.test)
            self._sigma = sigma
        return self._features
