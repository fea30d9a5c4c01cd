"""The labels of some training rows, for detectors that use them: known outliers, known inliers, unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Labels:
    """What is known about the training rows.

    Attributes
    ----------
    outliers, inliers : ndarray of bool of shape (N,)
        The rows that are known to be outliers, and inliers; nothing is known about the others.
    """

    outliers: Array
    inliers: Array

    @classmethod
    def read(cls, y: Any, n_rows: int) -> Labels:
        """From the y of ``fit``: 1 for outliers, 0 for inliers, −1 or NaN for unknown."""
        if y is None:
            raise ValueError("use_labels=True needs y, with 1 for outliers, 0 for inliers and -1 or NaN for unknown")
        try:
            labels = np.asarray(y, dtype=float)
        except (TypeError, ValueError) as error:
            raise ValueError(f"y must hold 0, 1, -1 or NaN, got values of type {np.asarray(y).dtype}") from error
        if labels.shape != (n_rows,):
            raise ValueError(f"y must hold one label per row, shape ({n_rows},), got shape {labels.shape}")
        strange = ~(np.isin(labels, (0.0, 1.0, -1.0)) | np.isnan(labels))
        if strange.any():
            raise ValueError(f"y must hold 0, 1, -1 or NaN, got {labels[strange][0]:g}")
        found = cls(labels == 1.0, labels == 0.0)
        if n_rows - int(found.outliers.sum()) < 2:
            raise ValueError(
                f"y must leave at least 2 rows that are not labelled as outliers, got {len(found.others)} of {n_rows}"
            )
        return found

    @property
    def others(self) -> Array:
        """The indices of the rows that are not known to be outliers."""
        return np.flatnonzero(~self.outliers)


@dataclass(frozen=True, eq=False)
class Known:
    """Labels as seen by a fit, which learns from the rows not known to be outliers.

    Attributes
    ----------
    outliers : ndarray of shape (k, D)
        The labelled outliers.
    inliers : ndarray of bool of shape (N,)
        Which of the rows are known to be inliers: they are trusted.
    """

    outliers: Array
    inliers: Array
