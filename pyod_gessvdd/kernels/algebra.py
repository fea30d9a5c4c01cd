"""Sums and products of kernels, written ``"0.5*rbf + 0.5*laplacian"`` and ``"rbf*linear"``: kernels too."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from pyod_gessvdd.components.contracts import Kernel
from pyod_gessvdd.kernels.npt import PairwiseKernel

Array = np.ndarray

#: What only a stand-alone kernel takes from the detector: in a sum or a product a row has one view.
OF_VIEWS = ("view_weights", "smooth", "decorrelated", "linear")


class InnerProduct(PairwiseKernel):
    """xᵀy: ``linear`` in a sum or a product."""

    name = "inner_product"
    differentiable = True

    def gram(self, X: Array, Y: Array) -> Array:
        """xᵀy."""
        return X @ Y.T

    def gram_diagonal(self, X: Array) -> Array:
        """‖x‖²."""
        return np.einsum("ij,ij->i", X, X)

    def gram_pullback(self, X: Array, Y: Array, K: Array, weights: Array) -> Array:
        """Σ_l weights_il y_l."""
        return weights @ Y

    def gram_diagonal_pullback(self, X: Array, weights: Array) -> Array:
        """2 weights_i x_i."""
        return 2.0 * weights[:, None] * X


@dataclass(eq=False, repr=False)
class _Compound(PairwiseKernel):
    """A kernel made of others, whose properties follow from theirs.

    Each part finds its own width from the training rows, and inherits from the detector what it would alone (``gamma``,
    ``sigma``, ``random_state``). The map to features, with ``energy`` and ``approximation``, is the compound's own.
    """

    kernels: Sequence[Kernel] = ()

    @property
    def parts(self) -> list[PairwiseKernel]:
        """The kernels as functions of two rows; errors about them are raised here."""
        if not self.kernels:
            raise ValueError(f"a {self.name} of kernels needs at least one kernel, got none")
        return [_as_function(kernel, self.name) for kernel in self.kernels]

    @property
    def asks_for(self) -> tuple[str, ...]:
        """What it or any of its kernels takes from the detector."""
        asked = [name for kernel in self.kernels for name in kernel.asks_for if name not in OF_VIEWS]
        return tuple(dict.fromkeys([*self.inherits, *asked]))

    def inherit(self, values: dict[str, Any]) -> None:
        """Take what is asked for, and pass it on to the kernels."""
        super().inherit(values)
        for kernel in self.kernels:
            kernel.inherit({name: value for name, value in values.items() if name not in OF_VIEWS})

    @property
    def differentiable(self) -> bool:  # type: ignore[override]
        """Whether all of them are."""
        return all(kernel.differentiable for kernel in self.parts)

    @property
    def needs_nonnegative(self) -> bool:  # type: ignore[override]
        """Whether any of them does."""
        return any(kernel.needs_nonnegative for kernel in self.kernels)

    @property
    def positive_definite(self) -> bool:  # type: ignore[override]
        """Whether all of them are: sums and products keep it."""
        return all(kernel.positive_definite for kernel in self.kernels)

    @property
    def learns_by_moments(self) -> bool:  # type: ignore[override]
        """Whether all of them do."""
        return all(kernel.learns_by_moments for kernel in self.parts)

    @property
    def needs_centring(self) -> bool:  # type: ignore[override]
        """Whether any of them does."""
        return any(kernel.needs_centring for kernel in self.parts)

    def prepare(self, X: Array, sample_weight: Array | None = None) -> None:
        """Let every kernel learn what it needs."""
        self.parts_ = self.parts
        for kernel in self.parts_:
            kernel.prepare_weighted(X, sample_weight)

    @abstractmethod
    def gram(self, X: Array, Y: Array) -> Array:
        """k(x, y) for all pairs of rows, of shape (len(X), len(Y))."""


@dataclass(eq=False, repr=False)
class KernelSum(_Compound):
    """Σ_k w_k k_k(x, y).

    Parameters
    ----------
    kernels : sequence of Kernel
        The kernels.
    weights : sequence of float, optional
        Their weights, positive; all one if None.
    energy, approximation, n_landmarks, landmarks, center, random_state
        See :class:`~pyod_gessvdd.kernels.npt.PairwiseKernel`.
    """

    name = "sum"

    weights: Sequence[float] | None = None

    def prepare(self, X: Array, sample_weight: Array | None = None) -> None:
        """Let every kernel learn what it needs; errors about the weights are raised here."""
        weights = [1.0] * len(self.kernels) if self.weights is None else list(self.weights)
        if len(weights) != len(self.kernels):
            raise ValueError(f"got {len(self.kernels)} kernels and {len(weights)} weights; give one weight per kernel")
        if not all(0 < weight < np.inf for weight in weights):
            raise ValueError(f"the weights of a sum of kernels must be positive, got {weights}")
        super().prepare(X, sample_weight)
        self.weights_ = np.array(weights, dtype=float)

    def gram(self, X: Array, Y: Array) -> Array:
        """Σ_k w_k k_k(x, y)."""
        return _total(weight * kernel.gram(X, Y) for weight, kernel in self._terms())

    def gram_diagonal(self, X: Array) -> Array:
        """Σ_k w_k k_k(x, x)."""
        return _total(weight * kernel.gram_diagonal(X) for weight, kernel in self._terms())

    def gram_pullback(self, X: Array, Y: Array, K: Array, weights: Array) -> Array:
        """The weighted sum of the kernels' pullbacks."""
        return _total(
            weight * kernel.gram_pullback(X, Y, kernel.gram(X, Y), weights) for weight, kernel in self._terms()
        )

    def gram_diagonal_pullback(self, X: Array, weights: Array) -> Array:
        """The weighted sum of the kernels' pullbacks."""
        return _total(weight * kernel.gram_diagonal_pullback(X, weights) for weight, kernel in self._terms())

    def _terms(self) -> Iterator[tuple[float, PairwiseKernel]]:
        return zip(map(float, self.weights_), self.parts_, strict=True)


@dataclass(eq=False, repr=False)
class KernelProduct(_Compound):
    """Π_k k_k(x, y).

    Parameters
    ----------
    kernels : sequence of Kernel
        The kernels. One that is positive definite only after centring is refused.
    energy, approximation, n_landmarks, landmarks, center, random_state
        See :class:`~pyod_gessvdd.kernels.npt.PairwiseKernel`.
    """

    name = "product"

    def prepare(self, X: Array, sample_weight: Array | None = None) -> None:
        """Let every kernel learn what it needs."""
        super().prepare(X, sample_weight)
        for kernel in self.parts_:
            if kernel.needs_centring:
                raise ValueError(
                    f"kernel {kernel.name!r} is positive definite after centring only and cannot be part of a product"
                )

    def gram(self, X: Array, Y: Array) -> Array:
        """Π_k k_k(x, y)."""
        return _product([kernel.gram(X, Y) for kernel in self.parts_])

    def gram_diagonal(self, X: Array) -> Array:
        """Π_k k_k(x, x)."""
        return _product([kernel.gram_diagonal(X) for kernel in self.parts_])

    def gram_pullback(self, X: Array, Y: Array, K: Array, weights: Array) -> Array:
        """By the product rule: each kernel's pullback under the weights times all other kernels."""
        values = [kernel.gram(X, Y) for kernel in self.parts_]
        return _total(
            kernel.gram_pullback(X, Y, values[k], _product([weights, *values[:k], *values[k + 1 :]]))
            for k, kernel in enumerate(self.parts_)
        )

    def gram_diagonal_pullback(self, X: Array, weights: Array) -> Array:
        """By the product rule."""
        values = [kernel.gram_diagonal(X) for kernel in self.parts_]
        return _total(
            kernel.gram_diagonal_pullback(X, _product([weights, *values[:k], *values[k + 1 :]]))
            for k, kernel in enumerate(self.parts_)
        )


def _as_function(kernel: Kernel, of: str) -> PairwiseKernel:
    """The kernel as one with ``gram``; ``linear``, whose features are the rows, is the inner product."""
    if kernel.is_identity:
        return InnerProduct()
    if not kernel.input_is_rows:
        raise ValueError(f"kernel {kernel.name!r} is a matrix, not a function of rows; add up the matrices themselves")
    if not isinstance(kernel, PairwiseKernel):
        raise ValueError(f"kernel {kernel.name!r} has no gram(X, Y) and cannot be part of a {of} of kernels")
    return kernel


def _total(parts: Iterator[Array]) -> Array:
    return reduce(np.add, parts)


def _product(values: list[Array]) -> Array:
    return reduce(np.multiply, values)
