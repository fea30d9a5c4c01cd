"""What a metric of the whole space is: learnt from the trusted rows, it measures all of them."""

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

#: How near to the limit a lone row that is not trusted may be drawn by itself: down to the limit over this.
DOUBT = 0.2


def doubtful_weights(lengths: Array, alike: Array, limit: float) -> Array:
    """What rows that are not trusted count for, each.

    A row of squared length q that counts w has the length q/(1 + wq) then. With w = c(1/t − 1/q) and c below one it
    stays beyond the limit t: whoever is going to be labelled as an outlier still is, but what lies around a rare row
    is less odd than what nothing is known about. Rows that are alike share what one of them would count for.

    Parameters
    ----------
    lengths : ndarray of shape (n,)
        q, in the metric of the trusted rows.
    alike : ndarray of shape (n,)
        How many of these rows, itself among them, lie in a row's direction: the sum of the squared cosines.
    limit : float
        t.
    """
    beyond = np.maximum(lengths - limit, 0.0)
    return np.asarray(DOUBT * beyond / np.where(beyond > 0, limit * lengths * np.maximum(alike, 1.0), 1.0))


@dataclass(frozen=True)
class Lengths:
    """The rows' squared lengths in the metric of the trusted rows.

    ``plain`` as they are, ``left`` the 1 − p by which a trusted row's p is divided when it is left out (1 − wp for a
    weight w below one, and 1 for rows that are not trusted), ``beyond`` the part of every row that no trusted row has a
    part in, and ``scaled`` what leaving a trusted row out of the scaling, too, multiplies its length with.
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

    ``max_take_out`` is how often rows that are going to be labelled are taken out, ``counts_doubtful`` whether rows
    that are not trusted count a little.
    """

    max_take_out: ClassVar[int]
    counts_doubtful: ClassVar[bool]

    @abstractmethod
    def effective_scatter(self, trusted: Array) -> float:
        """Tr(S_x²)/Tr(S_x) of the trusted rows: the scatter that is usual where rows vary."""

    @abstractmethod
    def metric(self, trusted: Array, lam: float) -> Metric:
        """The metric (S_x + λI)⁻¹ of the trusted rows."""


class Metric(ABC):
    """A metric that was learnt from the trusted rows, and all rows in it."""

    @abstractmethod
    def without(self, removed: Array) -> Metric:
        """The metric without some of the trusted rows."""

    @abstractmethod
    def with_doubtful(self, limit: float) -> Metric:
        """The metric in which the rows that are not trusted count a little, see :func:`doubtful_weights`.

        Parameters
        ----------
        limit : float
            The length from which on a row is going to be labelled as an outlier.
        """

    @abstractmethod
    def lengths(self) -> Lengths:
        """All rows' squared lengths."""

    @abstractmethod
    def describe(
        self, scaling: Scaling, upper: Array, backend: QPBackend, tol: float
    ) -> tuple[WholeSpace, QPSolution, Array]:
        """The sphere around the trusted rows, its solution, and ⟨z_i, u⟩ of all rows."""
