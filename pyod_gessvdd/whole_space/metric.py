"""What a metric of the whole space is: learnt from the trusted rows, it measures all rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pyod_gessvdd.components.contracts import QPBackend
from pyod_gessvdd.dual import QPSolution
from pyod_gessvdd.preprocessing import Scaling
from pyod_gessvdd.whole_space.description import WholeSpace

Array = np.ndarray


@dataclass(frozen=True)
class Lengths:
    """The rows' squared lengths in the metric of the trusted rows.

    ``plain`` are the lengths as they are, ``left`` the 1 − p by which a row's p is divided when it is left out (1 − wp
    for a weight w below one, as that of doubted rows, and 1 for rows that do not count), ``beyond`` the part of every
    row in which no other row has a share, and ``scaled`` the factor on a trusted row's length when it leaves the
    scaling too.
    """

    plain: Array
    left: Array
    beyond: Array | float = 0.0
    scaled: Array | float = 1.0

    @property
    def left_out(self) -> Array:
        """As if each row had been left out."""
        return (self.plain / self.left + self.beyond) * self.scaled


class Rows(ABC):
    """Training rows in the kernel's space, with their weights.

    ``max_take_out`` is how often rows that will be labelled outliers are taken out.
    """

    max_take_out: ClassVar[int]

    @abstractmethod
    def effective_scatter(self, trusted: Array) -> float:
        """Tr(S_x²)/Tr(S_x) of the trusted rows: the typical scatter where rows vary."""

    @abstractmethod
    def metric(self, trusted: Array, lam: float) -> Metric:
        """The metric (S_x + λI)⁻¹ of the trusted rows."""


class Metric(ABC):
    """A metric learnt from the trusted rows, and all rows in it."""

    trusted: Array

    @abstractmethod
    def without(self, removed: Array) -> Metric:
        """The metric without some of the trusted rows."""

    @abstractmethod
    def squares(self, rows: Array) -> Array:
        """The squared lengths of some rows that are not trusted."""

    @abstractmethod
    def company(self, rows: Array, squares: Array) -> Array:
        """Σ_j w_j cos²(z_i, z_j) over some rows that are not trusted: how many like it there are, itself included.

        Parameters
        ----------
        rows : ndarray of int
            The rows.
        squares : ndarray
            Their squared lengths.
        """

    @abstractmethod
    def doubting(self, rows: Array, weights: Array) -> Metric:
        """The metric in which these rows, which stay untrusted, also count, each by its weight."""

    @abstractmethod
    def lengths(self) -> Lengths:
        """All rows' squared lengths."""

    @abstractmethod
    def describe(
        self, scaling: Scaling, upper: Array, backend: QPBackend, tol: float
    ) -> tuple[WholeSpace, QPSolution, Array]:
        """The sphere around the trusted rows, its solution, and ⟨z_i, u⟩ of all rows."""
