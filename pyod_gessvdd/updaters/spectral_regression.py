"""Updater ``SR``: targets from the graphs alone, then ridge regression (paper, Sub-algorithm 3, ``leastsquare1``).

The paper solves L_α t = υ L_x t over N × N matrices and regresses the chosen targets t on the features. With the
support s, D = diag(α_s), w = √α_s and the projector P = I − wwᵀ, L_α is B Bᵀ with B = D^½ P. So the non-zero υ are
those of the symmetric #SV × #SV matrix

    M = Bᵀ L_x⁺ B,        and its eigenvectors v give  t = L_x⁺ B v.

As the paper writes it, the problem is ill-posed: all b points at the bound share α = C, and for the graphs that are a
multiple of the identity plus a thin factor (identity, pca, within) υ = C/c is an eigenvalue of multiplicity about b.
Which targets come out of that eigenspace would be up to LAPACK. We take the ones that the features can express best,
that is, those whose regression residual is smallest: this depends neither on the order of the rows nor on the units of
the features, and it turns the eigenspace, however large, into an F × F problem.

A sample of weight ω_i stands for ω_i equal rows. In the variables √ω_i t_i and √ω_i φ_i it counts once: the graph
becomes diag(ω)^-½ L_x diag(ω)^-½, and D becomes diag(α_s / ω_s); w stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple, cast

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh

from pyod_gessvdd.components.contracts import Updater, UpdateState
from pyod_gessvdd.graph import Graph
from pyod_gessvdd.linalg import RELATIVE_ZERO, row_blocks, symmetric_eigen

Array = np.ndarray

#: Up to this many support vectors (apart from the tied ones) M is formed; above, Lanczos works with products only.
DENSE_SUPPORT = 300
#: This many columns go through a sparse solve together: one product serves them all, and memory stays a few N.
COLUMNS = 4
#: Eigenvalues that agree to this share belong to one eigenspace.
TIE = 1e-8


#: The wanted end of M's spectrum: from a number of eigenpairs to eigenvalues and eigenvectors.
_Find = Callable[[int], tuple[Array, Array]]


class Level(NamedTuple):
    """One eigenvalue of M: how often it occurs, and f = Φᵀt as columns over an orthonormal basis of its space.

    Any F with the same Σ f fᵀ = F Fᵀ will do.
    """

    value: float
    size: int
    features: Callable[[], Array]


class SpectralRegression(Updater):
    """Spectral regression.

    Parameters
    ----------
    regularization : float, optional
        The η of Sub-algorithm 3, added to ΦᵀΦ as it is. None adds a tiny constant, the ε of eq. ``leastsquare1``:
        1e-12 times the mean eigenvalue of ΦᵀΦ.
    """

    name = "spectral_regression"
    aliases = ("SR",)
    needs_graph = True
    improves_criterion = False

    def __init__(self, regularization: float | None = None) -> None:
        self.regularization = regularization

    def update(self, state: UpdateState) -> Array:
        """Jump to the regression of the best targets for the current α."""
        if state.graph is None:
            raise ValueError("spectral regression needs a graph, and laplacian 'none' has none")
        if state.graph.is_estimate:
            raise ValueError(
                f"spectral regression needs every edge of the graph, and the graph of these {len(state.Phi)} samples "
                "is a sample; use another updater or raise the laplacian's limit, for knn max_exact"
            )
        if state.sample_weight is not None:
            state = _counted_once(state, np.sqrt(state.sample_weight))
        root = state.once(__name__, "inverse_root", lambda: self._inverse_root(state.Phi))
        levels = _levels(state)
        levels.sort(key=lambda level: -state.sign * level.value)
        rows: list[Array] = []
        missing = state.n_components
        for level in levels:
            if missing == 0:
                break
            # q = (ΦᵀΦ + ηI)⁻¹ Φᵀt for the targets of this level that the regression fits best: the principal directions
            # of G, by whichever of GGᵀ and GᵀG is smaller.
            G = root.T @ level.features()
            is_wide = G.shape[0] <= G.shape[1]
            fit, vectors = symmetric_eigen(G @ G.T if is_wide else G.T @ G)
            taken = min(level.size, missing, int(np.count_nonzero(fit > RELATIVE_ZERO * fit[-1])))
            best = vectors[:, ::-1][:, :taken]
            rows.append((root @ (best if is_wide else G @ best)).T)
            missing -= taken
        if len(rows) == 1:
            return rows[0]
        return np.vstack(rows) if rows else np.zeros((0, state.Phi.shape[1]))

    def _inverse_root(self, Phi: Array) -> Array:
        """W of shape (F, rank) with W Wᵀ = (ΦᵀΦ + ηI)⁻¹ on the span of the features."""
        values, vectors = symmetric_eigen(Phi.T @ Phi)
        ridge = 1e-12 * float(values.sum()) / len(values) if self.regularization is None else float(self.regularization)
        if ridge < 0:
            raise ValueError(f"regularization must not be negative, got {self.regularization!r}")
        keep = values > RELATIVE_ZERO * values[-1]
        return vectors[:, keep] / np.sqrt(values[keep] + ridge)


def _counted_once(state: UpdateState, roots: Array) -> UpdateState:
    """The state in the variables √ω_i t_i and √ω_i φ_i; ``roots`` are the √ω_i."""
    graph = cast(Graph, state.graph)
    return replace(
        state,
        Phi=state.once(__name__, "Phi", lambda: roots[:, None] * state.Phi),
        graph=state.once(__name__, "graph", lambda: graph.rescaled(1.0 / roots)),
    )


class _Support(NamedTuple):
    """The α of the support vectors: the share of one of the samples that each stands for, its root, and w."""

    share: Array
    root: Array
    w: Array

    @classmethod
    def of(cls, state: UpdateState) -> _Support:
        """D's diagonal, its root and w = √α; without sample weights the last two are the same."""
        alpha = state.alpha[state.support]
        if state.sample_weight is None:
            root = np.sqrt(alpha)
            return cls(alpha, root, root)
        share = alpha / state.sample_weight[state.support]
        return cls(share, np.sqrt(share), np.sqrt(alpha))


def _levels(state: UpdateState) -> list[Level]:
    """The positive eigenvalues of M with what the regression needs of their eigenspaces."""
    graph = cast(Graph, state.graph)
    support = state.support
    shares = _Support.of(state)

    def target_features(V: Array) -> Array:
        """Φᵀt for t = L⁺ B v and the columns v of V: of shape (F, columns)."""
        if graph.has_closed_form:
            features, lengths2 = _closed_form_targets(state, graph, shares, V)
        else:
            solved = []
            for start in range(0, V.shape[1], COLUMNS):
                T = graph.pinv_dot(spread(V[:, start : start + COLUMNS]))
                solved.append((state.Phi.T @ T, _squares(T)))
            features, lengths2 = (np.concatenate(part, axis=-1) for part in zip(*solved, strict=True))
        # No feature tells duplicates apart: for a target that does, Φᵀt is the rounding of its length.
        size2 = state.once(__name__, "size2", lambda: float(np.vdot(state.Phi, state.Phi)))
        return features * (_squares(features) > RELATIVE_ZERO**2 * size2 * lengths2)

    def spread(V: Array) -> Array:
        """B @ V, of shape (N,) or (N, m)."""
        root, w = (shares.root, shares.w) if V.ndim == 1 else (shares.root[:, None], shares.w[:, None])
        full = np.zeros((len(state.alpha), *V.shape[1:]))
        full[support] = root * (V - w * (shares.w @ V))
        return full

    ties: list[_Tie] = []
    if graph.has_closed_form and len(support) <= DENSE_SUPPORT:
        values, vectors = _small_spectrum(state, graph, shares)
    elif graph.has_closed_form and graph.closed_form_pinv[2] == 0.0:
        values, vectors = _thin_spectrum(state, graph, shares)
    elif graph.has_closed_form and _complement_size(groups := _equal(shares.share), graph) <= DENSE_SUPPORT:
        values, vectors, ties = _closed_form_spectrum(state, graph, shares, groups)
    else:
        values, vectors = _operator_spectrum(state, graph, shares, spread)
    return _group(values, vectors, ties, target_features)


def _closed_form_targets(state: UpdateState, graph: Graph, shares: _Support, V: Array) -> tuple[Array, Array]:
    """Φᵀt for t = rest·Bv + U diag(inverse − rest) Uᵀ Bv, and a bound on ‖t‖², without the N numbers of each t."""
    U, inverse, rest = graph.closed_form_pinv
    Phi_U = state.once(__name__, "Phi_U", lambda: state.Phi.T @ U)
    BV = shares.root[:, None] * (V - shares.w[:, None] * (shares.w @ V))
    # With ``take``, and products written out: for so few rows, indexing and np.outer would take most of the time.
    coordinates = U.take(state.support, axis=0).T @ BV
    features = rest * (state.Phi.take(state.support, axis=0).T @ BV) + Phi_U @ ((inverse - rest)[:, None] * coordinates)
    return features, max(rest, inverse.max(initial=0.0)) ** 2 * _squares(BV)


def _squares(A: Array) -> Array:
    """The squared length of each column."""
    return np.einsum("ij,ij->j", A, A)


def _projected(M: Array, w: Array) -> Array:
    """P M P of a symmetric M, P = I − wwᵀ."""
    Mw = M @ w
    across = w[:, None] * (Mw - (0.5 * (w @ Mw)) * w)
    return M - across - across.T


def _equal(alpha: Array) -> list[Array]:
    """The support vectors in groups that share one α, as all points outside the sphere with one bound do."""
    order = np.argsort(alpha, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(alpha[order]) > 1e-9 * alpha[order][1:]) + 1)


def _complement_size(groups: list[Array], graph: Graph) -> int:
    """The largest number of dimensions left when the ties inside the groups are split off."""
    return sum(min(len(group), 1 + graph.factor.shape[1]) for group in groups)


def _small_spectrum(state: UpdateState, graph: Graph, shares: _Support) -> tuple[Array, Array]:
    """The whole spectrum of M = P D^½ (rest·I + U diag(inverse − rest) Uᵀ) D^½ P, formed."""
    U, inverse, rest = graph.closed_form_pinv
    factor = shares.root[:, None] * U.take(state.support, axis=0)
    inner = (factor * (inverse - rest)) @ factor.T
    inner.reshape(-1)[:: len(inner) + 1] += rest * shares.share
    return symmetric_eigen(_projected(inner, shares.w))


def _thin_spectrum(state: UpdateState, graph: Graph, shares: _Support) -> tuple[Array, Array]:
    """The non-zero spectrum of M = G Gᵀ, G = P D^½ U diag(inverse)^½, where L is its thin factor alone."""
    U, inverse, _ = graph.closed_form_pinv
    G = shares.root[:, None] * U[state.support] * np.sqrt(inverse)
    vectors, singular, _ = scipy.linalg.svd(G - np.outer(shares.w, shares.w @ G), full_matrices=False)
    return singular**2, vectors


class _Tie(NamedTuple):
    """The eigenspace of the points that share one α, apart from the thin factor: found without eigenvectors."""

    value: float
    size: int
    moment: Array


def _closed_form_spectrum(
    state: UpdateState, graph: Graph, shares: _Support, groups: list[Array]
) -> tuple[Array, Array, list[_Tie]]:
    """Spectrum of M = P (rest·D + D^½ U diag(inverse − rest) Uᵀ D^½) P, split at its large eigenspaces.

    Vectors on the points that share one α, orthogonal there to 1 and to the thin factor U, are eigenvectors with
    υ = rest·α. What they leave of each group, span(1, U) on its points, is the complement; w lies in it. With sample
    weights √ω takes the place of 1.
    """
    U, inverse, rest = graph.closed_form_pinv
    (alpha, root, w), U_s = shares, U[state.support]
    counts = w / root  # √ω
    order = np.concatenate(groups)
    bases = [_orthonormal(np.column_stack([counts[group], U_s[group]])) for group in groups]
    basis = sp.block_diag(bases, format="csr")

    # M on that basis: P is I − wwᵀ.
    diagonal = np.repeat([alpha[group].mean() for group in groups], [thin.shape[1] for thin in bases])
    w_c = basis.T @ w[order]
    factor_c = basis.T @ (root[:, None] * U_s)[order]
    inner = rest * np.diag(diagonal) + (factor_c * (inverse - rest)) @ factor_c.T
    values, small = np.linalg.eigh(_projected(inner, w_c))
    vectors = np.zeros((len(order), len(values)))
    vectors[order] = basis @ small
    # Subtracted only to keep digits: the vectors are orthogonal to √ω.
    mean = state.alpha_mean if state.sample_weight is None else (w * root) @ state.Phi[state.support]
    ties = [
        _tie(state.Phi, state.support[group], counts[group], mean, thin, rest, float(alpha[group].mean()))
        for group, thin in zip(groups, bases, strict=True)
        if len(group) > thin.shape[1]
    ]
    return values, vectors, ties


def _tie(Phi: Array, shared: Array, counts: Array, mean: Array, thin: Array, rest: float, alpha: float) -> _Tie:
    """The eigenspace on the rows ``shared`` orthogonal to ``thin``: t = L⁺ B v = rest √α v, so f = rest √α Φᵀv."""
    moment = np.zeros((Phi.shape[1], Phi.shape[1]))
    mixed = np.zeros((thin.shape[1], Phi.shape[1]))
    for rows in row_blocks(len(shared), Phi.shape[1]):
        block = Phi[shared[rows]] - np.outer(counts[rows], mean)
        moment += block.T @ block
        mixed += thin[rows].T @ block
    rounding = 1e-13 * np.trace(moment)
    moment -= mixed.T @ mixed
    moment *= rest**2 * alpha if np.trace(moment) > rounding else 0.0  # zero if all are duplicates
    return _Tie(rest * alpha, len(shared) - thin.shape[1], moment)


def _operator_spectrum(
    state: UpdateState, graph: Graph, shares: _Support, spread: Callable[[Array], Array]
) -> tuple[Array, Array]:
    """The spectrum of M for a sparse or dense L: whole for few support vectors, its wanted end for many."""
    support = state.support
    n_support = len(support)

    def product(V: Array) -> Array:
        """M @ V for V of shape (#SV,) or (#SV, m)."""
        root, w = (shares.root, shares.w) if V.ndim == 1 else (shares.root[:, None], shares.w[:, None])
        inner = root * graph.pinv_dot(spread(V))[support]
        return inner - w * (shares.w @ inner)

    if n_support <= DENSE_SUPPORT:
        M = np.hstack([product(E) for E in np.array_split(np.eye(n_support), -(-n_support // COLUMNS), axis=1)])
        return scipy.linalg.eigh((M + M.T) / 2)
    if state.criterion == "min" and graph.is_reducible(support):
        find, least = _by_reduction(state, graph, shares.root), 0.0
    else:
        find, least = _by_products(state, shares.w, product)
    d, count = state.n_components, state.n_components + 2
    while True:
        count = min(count, n_support - 1)
        found = find(count)
        values = np.sort(state.sign * found[0])[::-1] * state.sign  # the wanted ones first
        positive = values[values > least]
        # Zeros may come first (min) or last (max), and the last eigenspace taken must not be cut.
        complete = len(positive) > d and abs(positive[-1] - positive[d - 1]) > TIE * positive[d - 1]
        if complete or count == n_support - 1 or (state.criterion == "max" and len(positive) < count):
            return found
        count *= 2


def _by_products(state: UpdateState, w: Array, product: Callable[[Array], Array]) -> tuple[_Find, float]:
    """Lanczos on M itself, and the value up to which its eigenvalues count as zero."""
    shape = (len(w), len(w))
    largest = float(eigsh(LinearOperator(shape, product, dtype=float), 1, v0=_start(state), tol=1e-3)[0][0])
    # w is M's null vector; moved to the far end of the spectrum it is not among the smallest.
    moved = LinearOperator(shape, lambda v: product(v) - state.sign * largest * w * (w @ v), dtype=float)
    end = "LA" if state.criterion == "max" else "SA"
    return lambda count: eigsh(moved, count, which=end, v0=_start(state), tol=1e-8), RELATIVE_ZERO * largest


def _by_reduction(state: UpdateState, graph: Graph, root: Array) -> _Find:
    """Lanczos on M⁺ = D^-½ K D^-½, whose largest eigenvalues are the smallest of M.

    K is the Kron reduction of L onto the support: M = P D^½ L⁺ D^½ P sees only the support's block of L⁺, and of that
    only the part orthogonal to 1, which is K⁺. The upper end of a Laplacian's spectrum is where Lanczos is fast,
    and K's products are cheap: for 50,000 samples with 5,000 support vectors 2.5 s instead of 7 to 17.
    """
    # υ ≤ α_i / [K]_ii: a target of a support vector whose α is rounding has a υ that counts as zero.
    kept = np.flatnonzero(root**2 > RELATIVE_ZERO * root.max() ** 2)
    K, scale = graph.kron_reduction(state.support[kept]), root[kept]
    inverse = LinearOperator((len(kept), len(kept)), lambda v: K(v / scale) / scale, dtype=float)

    def find(count: int) -> tuple[Array, Array]:
        values, found = eigsh(inverse, min(count, len(kept) - 1), which="LA", v0=_start(state)[kept], tol=1e-8)
        vectors = np.zeros((len(root), len(values)))
        vectors[kept] = found
        return 1.0 / values, vectors

    return find


def _start(state: UpdateState) -> Array:
    """A start vector for Lanczos that follows the rows when they are reordered."""
    return state.Phi[state.support] @ np.cos(np.arange(1, state.Phi.shape[1] + 1))


def _group(values: Array, vectors: Array, ties: list[_Tie], target_features: Callable[[Array], Array]) -> list[Level]:
    """Eigenvalues that agree up to :data:`TIE`, grouped, without the zeros."""
    order = values.argsort()
    largest = max([values[order[-1]], *(tie.value for tie in ties)])
    remaining = order[values[order] > RELATIVE_ZERO * largest]
    levels = []
    for tie in ties:
        same = np.abs(values[remaining] - tie.value) <= TIE * tie.value
        joined = vectors[:, remaining[same]]
        remaining = remaining[~same]

        def with_tie(joined: Array = joined, tie: _Tie = tie) -> Array:
            squares, axes = symmetric_eigen(tie.moment)
            F = axes * np.sqrt(np.maximum(squares, 0.0))
            return np.hstack([F, target_features(joined)]) if joined.size else F

        levels.append(Level(tie.value, tie.size + joined.shape[1], with_tie))
    ordered = values[remaining]
    breaks = (ordered[1:] - ordered[:-1] > TIE * ordered[1:]).nonzero()[0] + 1
    for first, end in pairwise([0, *breaks.tolist(), len(ordered)] if len(ordered) else []):

        def features(group: Array = remaining[first:end]) -> Array:
            return target_features(vectors[:, group])

        levels.append(Level(ordered[first], end - first, features))
    return levels


def _orthonormal(A: Array) -> Array:
    """An orthonormal basis of the columns' span."""
    U, singular, _ = np.linalg.svd(A, full_matrices=False)
    return U[:, singular > RELATIVE_ZERO * singular[0]]
