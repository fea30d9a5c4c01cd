"""The Laplacian L_x as a value: what a Laplacian component returns and what the rest of the flow multiplies by.

Every graph of the paper is ``L = B + V diag(w) Vᵀ`` with a base ``B`` that is a multiple of the identity, diagonal, a
sparse matrix or (only if a component insists) a dense one, and a thin factor ``V``. Nothing here forms an N × N array
unless the component passed one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, cast

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, lsmr

from pyod_gessvdd.linalg import RELATIVE_ZERO, column_means, gram, row_blocks, symmetric_eigen, thin_qr

Array = np.ndarray

#: The relative residual at which conjugate gradients stop.
SOLVED = 1e-11
#: Up to this many nodes a sparse graph's pseudo-inverse is a small dense matrix, computed once: a fit by spectral
#: regression to 92 rows takes 17 ms with it and 85 ms with conjugate gradients.
SMALL = 256


#: With at most this share of its squares in the mean of the data, a scatter loses no digits to it.
FAR_ORIGIN = 1e-2


class Graph:
    """A positive semi-definite N × N matrix ``L = B + V diag(w) Vᵀ``, kept in its parts.

    Build one with :meth:`identity`, :meth:`low_rank`, :meth:`from_matrix` or :meth:`from_adjacency`; combine graphs
    with ``+`` and scale them with a number (``0.7 * knn + 0.3 * pca``).

    Parameters
    ----------
    n_nodes : int
        N, the number of samples.
    base : float, ndarray of shape (N,), or sparse matrix or ndarray of shape (N, N)
        A number stands for that multiple of the identity, a vector for the diagonal matrix with that diagonal.
    factor : ndarray or sparse matrix of shape (N, K), optional
        The thin factor V.
    weights : ndarray of shape (K,), optional
        The weights w of the factor's columns; they may be negative as long as L stays positive semi-definite.
    is_estimate : bool, default=False
        Whether only the scatter of L can be relied on, because its edges are a sample of the graph's.
    null_vector : ndarray of shape (N,), optional
        What takes the place of the constants in L's null space, positive, where L was rescaled.
    """

    def __init__(
        self,
        n_nodes: int,
        base: Any = 0.0,
        factor: Any = None,
        weights: Array | None = None,
        is_estimate: bool = False,
        null_vector: Array | None = None,
    ) -> None:
        self.n_nodes = n_nodes
        self.base = base
        self.is_estimate = is_estimate
        self.null_vector = null_vector
        self.factor: Any = np.zeros((n_nodes, 0)) if factor is None else factor
        self.weights = np.zeros(0) if weights is None else np.asarray(weights, dtype=float)

    @classmethod
    def identity(cls, n_nodes: int, scale: float = 1.0) -> Graph:
        """L = scale · I, the graph of GESSVDD-I."""
        return cls(n_nodes, float(scale))

    @classmethod
    def low_rank(cls, factor: Any, weights: Array, diagonal: float = 0.0) -> Graph:
        """L = diagonal · I + V diag(w) Vᵀ."""
        return cls(factor.shape[0], float(diagonal), factor, weights)

    @classmethod
    def from_matrix(cls, L: Any) -> Graph:
        """Wrap a ready Laplacian, sparse or dense."""
        base = _csr(L) if sp.issparse(L) else np.asarray(L, dtype=float)
        if base.ndim != 2 or base.shape[0] != base.shape[1]:
            raise ValueError(f"a Laplacian must be a square matrix, got shape {base.shape}")
        return cls(base.shape[0], base)

    @classmethod
    def from_adjacency(cls, A: Any) -> Graph:
        """L = D − A (paper eq. ``graph``) from symmetric edge weights, sparse or dense; the diagonal is ignored."""
        if sp.issparse(A):
            A = _csr(A)
            A = A - sp.diags_array(A.diagonal())
            return cls.from_matrix(sp.diags_array(A.sum(axis=1)) - A)
        A = np.array(A, dtype=float)
        np.fill_diagonal(A, 0.0)
        return cls.from_matrix(np.diag(A.sum(axis=1)) - A)

    # Algebra ------------------------------------------------------------------------------------------------------

    def __mul__(self, scale: float) -> Graph:
        return Graph(
            self.n_nodes, self.base * scale, self.factor, self.weights * scale, self.is_estimate, self.null_vector
        )

    __rmul__ = __mul__

    def __add__(self, other: Graph) -> Graph:
        if self.n_nodes != other.n_nodes:
            raise ValueError(f"cannot add graphs of {self.n_nodes} and {other.n_nodes} nodes")
        return Graph(
            self.n_nodes,
            _add_bases(self.base, other.base, self.n_nodes),
            _beside(self.factor, other.factor),
            np.concatenate([self.weights, other.weights]),
            self.is_estimate or other.is_estimate,
            self.null_vector if self.null_vector is other.null_vector else None,
        )

    def rescaled(self, scale: Array) -> Graph:
        """diag(scale) L diag(scale): L in other units of the nodes, of shape (N,), positive."""
        S = sp.diags_array(scale, format="csr")
        if _is_matrix(self.base):
            base = sp.csr_array(S @ self.base @ S) if sp.issparse(self.base) else self.base * np.outer(scale, scale)
        else:
            base = self.base * scale**2
            if np.ptp(base) <= RELATIVE_ZERO * np.abs(base).max():
                base = float(base.mean())
        factor = sp.csr_array(S @ self.factor) if sp.issparse(self.factor) else scale[:, None] * self.factor
        null_vector = (1.0 if self.null_vector is None else self.null_vector) / scale
        return Graph(self.n_nodes, base, factor, self.weights, self.is_estimate, null_vector)

    def dot(self, B: Array) -> Array:
        """L @ B for B of shape (N,) or (N, m)."""
        product = self._base_dot(B)
        if self.weights.size:
            weights = self.weights if B.ndim == 1 else self.weights[:, None]
            product = product + self.factor @ (weights * (self.factor.T @ B))
        return product

    def _base_dot(self, B: Array) -> Array:
        if _is_matrix(self.base):
            return self.base @ B
        return self.base * B if _is_number(self.base) or B.ndim == 1 else self.base[:, None] * B

    def toarray(self) -> Array:
        """L as a dense N × N array: for tests and small examples only."""
        return self.dot(np.eye(self.n_nodes))

    @cached_property
    def kills_constants(self) -> bool:
        """Whether every row of L sums to zero, so that L does not see a shift of the data."""
        return self._kills(np.ones(self.n_nodes))

    @cached_property
    def kills_null_vector(self) -> bool:
        """Whether L maps the constants, or what takes their place, to zero."""
        return self._kills(self._null_vector)

    def _kills(self, vector: Array) -> bool:
        size = (np.abs(self.diagonal) * vector).max(initial=0.0)
        return bool(np.abs(self.dot(vector)).max(initial=0.0) <= RELATIVE_ZERO * size)

    @property
    def _null_vector(self) -> Array:
        return np.ones(self.n_nodes) if self.null_vector is None else self.null_vector

    @property
    def diagonal(self) -> Array:
        """The diagonal of L."""
        base = self.base.diagonal() if _is_matrix(self.base) else np.broadcast_to(self.base, self.n_nodes)
        squared = self.factor.multiply(self.factor) if sp.issparse(self.factor) else self.factor**2
        return base + squared @ self.weights

    # What the flow needs -----------------------------------------------------------------------------------------

    def scatter(self, Phi: Array, total: Array | None = None) -> Array:
        """S_x = Φᵀ L Φ (paper eq. ``Einv``), of shape (F, F), in blocks of rows.

        Data far from the origin are centred first where L does not see a shift, so that they keep their digits.

        Parameters
        ----------
        Phi : ndarray of shape (N, F)
            The features.
        total : ndarray of shape (F, F), optional
            Their scatter around their mean, if known: it saves a pass over the rows.
        """
        mean = column_means(Phi)
        away2 = len(Phi) * float(mean @ mean)
        is_far = away2 > FAR_ORIGIN * (float(np.vdot(Phi, Phi)) if total is None else float(total.trace()) + away2)
        shift = mean if is_far and self.kills_constants else np.zeros_like(mean)
        if _is_number(self.base) and total is not None:
            S = self.base * (total + len(Phi) * np.outer(mean - shift, mean - shift))
        elif _is_number(self.base):
            S = self.base * gram(Phi, shift)
        elif not _is_matrix(self.base):
            S = gram(Phi, shift, self.base)
        else:
            # A base need not kill constants where the whole L does: its row sums times the shift are subtracted.
            row_sums = self.base @ np.ones(self.n_nodes)
            S = np.zeros((Phi.shape[1], Phi.shape[1]))
            for rows in row_blocks(*Phi.shape):
                S += (Phi[rows] - shift).T @ (self.base[rows] @ Phi - np.outer(row_sums[rows], shift))
        projected = self.factor.T @ Phi - np.outer(self.factor.T @ np.ones(self.n_nodes), shift)
        S += (projected.T * self.weights) @ projected
        return (S + S.T) / 2

    def pinv_dot(self, B: Array) -> Array:
        """L⁺ @ B for B of shape (N,) or (N, m): what spectral regression needs instead of an N × N inverse."""
        if self.has_closed_form:
            U, inverse, rest = self.closed_form_pinv
            coordinates = U.T @ B
            scaled = inverse * coordinates if B.ndim == 1 else inverse[:, None] * coordinates
            return rest * (B - U @ coordinates) + U @ scaled
        if (_is_matrix(self.base) and not sp.issparse(self.base)) or self.n_nodes <= SMALL:
            return self._dense_pinv @ B
        return self._sparse_pinv_dot(B)

    @cached_property
    def has_closed_form(self) -> bool:
        """Whether L is a multiple of the identity plus a thin factor (all graphs of the paper but kNN)."""
        return _is_number(self.base)

    @cached_property
    def closed_form_pinv(self) -> tuple[Array, Array, float]:
        """``(U, inverse, rest)`` with L⁺ = rest · (I − U Uᵀ) + U diag(inverse) Uᵀ and orthonormal U."""
        V = self.factor.toarray() if sp.issparse(self.factor) else self.factor.astype(float)
        base = float(self.base)
        if not V.size:  # the identity has no factor, and LAPACK takes no empty matrix
            return V, np.zeros(0), 1.0 / base if base > 0 else 0.0
        U, R = thin_qr(V)
        inner, rotation = symmetric_eigen((R * self.weights) @ R.T)
        eigenvalues = base + inner
        largest = max(base, float(eigenvalues[-1]))
        return U @ rotation, _reciprocal(eigenvalues, largest), 1.0 / base if base > RELATIVE_ZERO * largest else 0.0

    @cached_property
    def _dense_pinv(self) -> Array:
        return scipy.linalg.pinvh(self.toarray())

    def _sparse_pinv_dot(self, B: Array) -> Array:
        if B.ndim == 1:
            return self._sparse_pinv_dot(B[:, None])[:, 0]
        project = self._range_projector
        if project is None:
            # The null space is unknown: LSMR finds the shortest least-squares solution, which is L⁺ b, without it.
            operator = LinearOperator((self.n_nodes, self.n_nodes), matvec=self.dot, rmatvec=self.dot, dtype=float)
            limit = 10 * self.n_nodes
            return np.column_stack(
                [lsmr(operator, b, atol=1e-14, btol=1e-14, conlim=0.0, maxiter=limit)[0] for b in B.T]
            )
        return project(_conjugate_gradients(self.dot, project(B), self._safe_diagonal[:, None]))

    def is_reducible(self, nodes: Array) -> bool:
        """Whether a sparse L is known to have a :meth:`kron_reduction` onto these nodes.

        Its null space must be known, and no component may consist of these nodes alone, unless it is the only one that
        has any.
        """
        if self._parts is None:
            return False
        chosen = np.bincount(self._parts[nodes], minlength=self._parts.max() + 1)
        return np.count_nonzero(chosen) == 1 or not np.any((chosen > 0) & (chosen == np.bincount(self._parts)))

    def kron_reduction(self, nodes: Array) -> Callable[[Array], Array]:
        """The product with the Laplacian K that some nodes have if currents may flow through the rest.

        K⁺ is the nodes' block of L⁺, up to multiples of 1; but where L⁺ needs a solve with L, K needs one with L's
        block of the rest, which is far from singular: it is grounded through its links to the nodes. With s for the
        nodes and r for the rest, K is the Schur complement L_ss − L_sr L_rr⁻¹ L_rs. That does not link the components
        of L, but L⁺ does: it gives every component c a mean of zero. So each has a spring,

            K = L_ss − L_sr L_rr⁻¹ L_rs + Σ_c g_c (g_c − n_c k)ᵀ / ζ_c,      g = 1_s − L_sr y,   y = L_rr⁻¹ 1_r,

        with ζ_c the sum of y over the component, n_c its number of nodes, and k = (Σ n_c g_c / ζ_c) / (Σ n_c² / ζ_c)
        the common end of the springs. With one component there is nothing for its spring to pull at. In a rescaled
        graph the null vector takes the place of 1.

        Parameters
        ----------
        nodes : ndarray of int
            The nodes s; L :meth:`is_reducible` to them.

        Returns
        -------
        callable
            Maps x of shape (#s,) to K x.
        """
        rest = np.setdiff1d(np.arange(self.n_nodes), nodes)
        # The most linked nodes first: what the sparse product reads most often lies together (360 µs instead of 500).
        rest = rest[np.argsort(-self._safe_diagonal[rest], kind="stable")]
        inner = Graph(len(rest), sp.csr_array(self.base[rest][:, rest]), self.factor[rest], self.weights)

        def extended(x: Array, source: Array | float = 0.0) -> Array:
            """The vector that is x on the nodes and −L_rr⁻¹ (L_rs x + source) on the rest."""
            full = np.zeros(self.n_nodes)
            full[nodes] = x
            # A component without any of the nodes has a singular L_rr, but nothing drives it: it stays zero.
            full[rest] = -_conjugate_gradients(inner.dot, self.dot(full)[rest] + source, inner._safe_diagonal)
            return full

        def schur(x: Array) -> Array:
            return self.dot(extended(x))[nodes]

        numbers = cast(Array, self._parts)
        components, part = np.unique(numbers[nodes], return_inverse=True)
        if len(components) == 1:
            return schur
        ones = self._null_vector
        source = np.where(np.isin(numbers[rest], components), ones[rest], 0.0)
        minus_y = extended(np.zeros(len(nodes)), source)
        g = ones[nodes] + self.dot(minus_y)[nodes]
        zeta = np.bincount(numbers[rest], -source * minus_y[rest], minlength=components.max() + 1)[components]
        n = np.bincount(part, g * ones[nodes])

        def linked(x: Array) -> Array:
            pulls = np.bincount(part, g * x)
            end = (n * pulls / zeta).sum() / (n * n / zeta).sum()
            return schur(x) + g * ((pulls - n * end) / zeta)[part]

        return linked

    @cached_property
    def _safe_diagonal(self) -> Array:
        diagonal = self.diagonal
        return np.where(diagonal > 0, diagonal, 1.0)

    @cached_property
    def _parts(self) -> Array | None:
        """The number of each node's component where these span L's null space, None where it is unknown."""
        if not sp.issparse(self.base) or not self.kills_null_vector:
            return None
        if (self.base - sp.diags_array(self.base.diagonal())).max() > 0:
            return None  # with negative edges the null space may be larger
        n_parts, part = connected_components(self.base, directed=False)
        return None if self.weights.size and n_parts > 1 else part

    @cached_property
    def _range_projector(self) -> Any:
        """The projection onto the range of L where its null space is known: the null vector on each component."""
        part = self._parts
        if part is None:
            return None
        null_vector = self._null_vector
        members = sp.csr_array((null_vector, (part, np.arange(self.n_nodes))))
        squares = (members @ null_vector)[:, None]
        return lambda B: B - null_vector[:, None] * ((members @ B) / squares)[part]


def check_indices(matrix: Any) -> None:
    """Raise a ``ValueError`` if a sparse matrix has indices outside its shape: SciPy would write beyond its arrays.

    Parameters
    ----------
    matrix : sparse matrix or array
        Of any format.
    """
    try:
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)
        elif matrix.format == "coo" and matrix.nnz:
            for indices, length in zip((matrix.row, matrix.col), matrix.shape, strict=True):
                if indices.min() < 0 or indices.max() >= length:
                    raise ValueError(f"an index is {indices.max() if indices.max() >= length else indices.min()}")
        elif matrix.format == "lil":  # its lists are copied unchecked
            matrix.tocsr().check_format(full_check=True)
    except ValueError as error:
        raise ValueError(f"a sparse matrix of shape {matrix.shape} has indices outside of it ({error})") from error


def _csr(matrix: Any) -> Any:
    """A sparse matrix as a CSR array of numbers, once its indices are checked."""
    check_indices(matrix)
    return sp.csr_array(matrix, dtype=float)


def _is_number(base: Any) -> bool:
    """Whether a base is a multiple of the identity, given by its factor."""
    return bool(np.isscalar(base))


def _is_matrix(base: Any) -> bool:
    """Whether a base is a sparse or dense matrix: neither a number nor a diagonal."""
    return np.ndim(base) == 2


def _add_bases(left: Any, right: Any, n_nodes: int) -> Any:
    parts = [left, right]
    if not any(_is_matrix(part) for part in parts):
        return left + right
    dense = any(_is_matrix(part) and not sp.issparse(part) for part in parts)
    first, second = (part if _is_matrix(part) else _diagonal_matrix(part, n_nodes, dense) for part in parts)
    # A sparse plus a dense matrix is numpy's outdated matrix type, hence asarray.
    return np.asarray(first + second) if dense else sp.csr_array(first + second)


def _diagonal_matrix(base: Any, n_nodes: int, dense: bool) -> Any:
    diagonal = np.broadcast_to(base, n_nodes)
    return np.diag(diagonal) if dense else sp.diags_array(diagonal, format="csr")


def _beside(left: Any, right: Any) -> Any:
    if sp.issparse(left) or sp.issparse(right):
        return sp.hstack([sp.csr_array(left), sp.csr_array(right)], format="csr")
    return np.hstack([left, right])


def _conjugate_gradients(product: Callable[[Array], Array], B: Array, diagonal: Array) -> Array:
    """Solve ``product(X) = B`` for B of shape (N,), or (N, m) in lockstep: one sparse product serves all columns.

    Preconditioned by the diagonal. A column stops at a residual of :data:`SOLVED` times its right-hand side.
    """
    X = np.zeros_like(B)
    R = B.copy()
    goal = SOLVED**2 * _inner(B, B)
    Y = R / diagonal
    P = Y.copy()
    inner = _inner(R, Y)
    for _ in range(10 * len(B) + 1):
        open_columns = _inner(R, R) > goal
        if not open_columns.any():
            return X
        LP = product(P)
        curvature = _inner(P, LP)
        step = np.divide(inner, curvature, out=np.zeros_like(inner), where=open_columns & (curvature > 0))
        X += step * P
        R -= step * LP
        np.divide(R, diagonal, out=Y)
        previous, inner = inner, _inner(R, Y)
        P *= np.divide(inner, previous, out=np.zeros_like(inner), where=open_columns & (previous > 0))
        P += Y
    raise np.linalg.LinAlgError(f"conjugate gradients did not converge in {10 * len(B)} steps")


def _inner(A: Array, B: Array) -> Any:
    """The inner products of the columns; of vectors by BLAS, which takes a third of einsum's time."""
    return A @ B if A.ndim == 1 else np.einsum("ij,ij->j", A, B)


def _reciprocal(values: Array, largest: float) -> Array:
    keep = values > RELATIVE_ZERO * largest
    return np.divide(1.0, values, out=np.zeros_like(values), where=keep)
