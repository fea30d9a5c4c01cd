"""What a boundary around the projected rows is: fitted to points, it scores any points, with 1 on the boundary."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pyod_gessvdd.components.contracts import QPBackend
from pyod_gessvdd.dual import QPSolution

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Boundary(ABC):
    """A fitted boundary.

    Attributes
    ----------
    degree : int
        The score's degree as a polynomial of the points.
    """

    degree: ClassVar[int]

    @classmethod
    @abstractmethod
    def fit(
        cls,
        Z: Array,
        residual2: Array | None,
        upper: Array,
        *,
        backend: QPBackend,
        tol: float,
        last_alpha: Array | None = None,
    ) -> tuple[Boundary, QPSolution]:
        """The boundary around some points, and the solved dual: α, the support sets, the certificate.

        Parameters
        ----------
        Z : ndarray of shape (N, d)
            The points; overwritten.
        residual2 : ndarray of shape (N,) or None
            Their squared residuals, or None if these do not count.
        upper : ndarray of shape (N,)
            The bounds of α.
        backend : QPBackend
            The solver.
        tol : float
            The relative duality gap to reach.
        last_alpha : ndarray of shape (N,), optional
            The α of a related problem.
        """

    @abstractmethod
    def scores(self, Z: Array, residual2: Array | None = None) -> Array:
        """The points' scores: 1 on the boundary, more outside, of shape (n,); Z may be overwritten."""

    @abstractmethod
    def gradient(self, Z: Array) -> tuple[Array, float]:
        """How the scores change with the points, of shape (n, d), and with their squared residuals."""

    @abstractmethod
    def base(self, center: Array) -> float:
        """The part of a score that the features' contributions leave; ``center`` is the mean weighted by α, (d,)."""

    @abstractmethod
    def outline(self, coordinates: list[int], reach: float) -> Array:
        """The boundary as drawn in one or two coordinates: points on its curve, or the ends of its line.

        Parameters
        ----------
        coordinates : list of int
            Which coordinates.
        reach : float
            How far unbounded boundaries are drawn.
        """

    @abstractmethod
    def published(self) -> dict[str, Any]:
        """The attributes that a detector with this boundary publishes."""


def snapped(scores: Array, rounding: float) -> Array:
    """The scores, made exactly 1 within rounding of it: "≤ 1" must not depend on the last bit."""
    scores[np.abs(scores - 1.0) <= rounding] = 1.0
    return scores
