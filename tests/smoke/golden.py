"""Models as files of the repository, written once: every environment must read them, and write the same bytes again.

``python -m tests.smoke.golden`` writes them anew, which only a new version of the format is a reason for.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pyod_gessvdd import GESSVDD, MSSVDD, SVDD

FOLDER = Path(__file__).parent / "models"

MODELS = {
    "default": GESSVDD(random_state=0),
    "linear": GESSVDD(kernel="linear", laplacian="0.5*knn + 0.5*pca", random_state=0),
    "svdd": SVDD(nu=0.2),
    "modalities": MSSVDD(modalities=[[0, 1], [2]], random_state=0),
}


def rows() -> np.ndarray:
    """Forty rows to fit and five new ones, without a generator whose stream could change."""
    angles = np.arange(45)[:, None] * np.array([1.0, 2.0**0.5, 3.0**0.5])
    return np.sin(angles) + 0.1 * np.cos(7 * angles)


def write() -> None:
    """Fit the models, and write them with the scores of all rows."""
    X = rows()
    for name, detector in MODELS.items():
        detector.fit(X[:40]).save(FOLDER / f"{name}.gessvdd")
        np.save(FOLDER / f"{name}.npy", detector.decision_function(X))


if __name__ == "__main__":
    write()
