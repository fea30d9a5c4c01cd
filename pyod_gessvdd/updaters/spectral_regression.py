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

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from math import sqrt
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
#: α that agree to this share are equal.
EQUAL = 1e-9
#: Of rows that are all equal, subtracting what they have in common leaves less than this share of their squares.
DUPLICATES = 1e-13


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
        rows: list[Array] = []
        missing = state.n_components
        for level in _levels(state):
            # q = (ΦᵀΦ + ηI)⁻¹ Φᵀt for the targets of this level that the regression fits best: the principal directions
            # of G, by whichever of GGᵀ and GᵀG is smaller.
            G = root.T @ level.features()
            is_wide = G.shape[0] <= G.shape[1]
            fit, vectors = symmetric_eigen(G @ G.T if is_wide else G.T @ G)
            taken = min(level.size, missing, int(np.count_nonzero(fit > RELATIVE_ZERO * fit[-1])))
            best = vectors[:, ::-1][:, :taken]
            rows.append((root @ (best if is_wide else G @ best)).T)
            missing -= taken
            if missing == 0:
                break
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


def _levels(state: UpdateState) -> Iterator[Level]:
    """The positive eigenvalues of M, the wanted ones first, with what the regression needs of their eigenspaces."""
    graph = cast(Graph, state.graph)
    support = state.support
    shares = _Support.of(state)
    top = _known_top(state, graph, shares) if state.criterion == "max" and graph.has_closed_form else None
    if top is not None:
        yield top

    def target_features(V: Array) -> Array:
        """Φᵀt for t = L⁺ B v and the orthonormal columns v of V: of shape (F, columns)."""
        lengths2: Array | float
        if graph.has_closed_form:
            targets, lengths2 = closed_form_targets()
            features = targets @ V
        else:
            solved = []
            for start in range(0, V.shape[1], COLUMNS):
                T = graph.pinv_dot(spread(V[:, start : start + COLUMNS]))
                solved.append((state.Phi.T @ T, _squares(T)))
            features, lengths2 = (np.concatenate(part, axis=-1) for part in zip(*solved, strict=True))
        # No feature tells duplicates apart: for a target that does, Φᵀt is the rounding of its length.
        size2 = state.once(__name__, "size2", lambda: float(np.vdot(state.Phi, state.Phi)))
        features *= _squares(features) > RELATIVE_ZERO**2 * size2 * lengths2
        return features

    def spread(V: Array) -> Array:
        """B @ V, of shape (N,) or (N, m)."""
        root, w = (shares.root, shares.w) if V.ndim == 1 else (shares.root[:, None], shares.w[:, None])
        full = np.zeros((len(state.alpha), *V.shape[1:]))
        full[support] = root * (V - w * (shares.w @ V))
        return full

    ties: list[Level] = []
    if graph.has_closed_form:
        U_s = graph.closed_form_pinv[0].take(support, axis=0)
        closed_form_targets = cache(partial(_closed_form_targets, state, graph, shares, U_s))
        if len(support) <= DENSE_SUPPORT:
            values, vectors = _small_spectrum(graph, shares, U_s)
        elif graph.closed_form_pinv[2] == 0.0:
            values, vectors = _thin_spectrum(graph, shares, U_s)
        elif _complement_size(groups := _equal(shares.share), graph) <= DENSE_SUPPORT:
            values, vectors, ties = _closed_form_spectrum(state, graph, shares, U_s, groups)
        else:
            values, vectors = _operator_spectrum(state, graph, shares, spread)
    else:
        values, vectors = _operator_spectrum(state, graph, shares, spread)
    levels = _group(values, vectors, ties, target_features)
    levels.sort(key=lambda level: -state.sign * level.value)
    yield from (level for level in levels if top is None or level.value < (1.0 - TIE) * top.value)


def _known_top(state: UpdateState, graph: Graph, shares: _Support) -> Level | None:
    """The largest eigenvalue of M where no eigenproblem is needed to find it, and nearly always all that is wanted.

    If L⁺ ≤ rest·I, then M ≤ rest·max α, and equality holds on the tie of the points that share the largest α.
    """
    U, inverse, rest = graph.closed_form_pinv
    if inverse.max(initial=0.0) >= (1.0 - TIE) * rest:
        return None
    highest = float(shares.share.max())
    group = (shares.share > (1.0 - EQUAL) * highest).nonzero()[0]
    shared = state.support.take(group)
    counts = shares.w.take(group) / shares.root.take(group)
    U_g = U.take(shared, axis=0)
    # √ω, the null vector, is in the span of U if L kills it.
    thin = _orthonormal(U_g if graph.kills_null_vector else np.column_stack([counts, U_g]))
    size = len(group) - thin.shape[1]
    return Level(rest * highest, size, partial(_tied, state, shared, counts, thin, rest, highest)) if size > 0 else None


def _closed_form_targets(state: UpdateState, graph: Graph, shares: _Support, U_s: Array) -> tuple[Array, float]:
    """Φᵀ L⁺ B, of shape (F, #SV), for L⁺ = rest·I + U diag(inverse − rest) Uᵀ, and a bound on ‖L⁺ B‖²."""
    U, inverse, rest = graph.closed_form_pinv
    Phi_U = state.once(__name__, "Phi_U", lambda: state.Phi.T @ U)
    # With ``take``, and products written out: for so few rows, indexing and np.outer would take most of the time.
    features = state.Phi.take(state.support, axis=0).T
    features *= rest
    features += (Phi_U * (inverse - rest)) @ U_s.T
    features *= shares.root
    features -= (features @ shares.w)[:, None] * shares.w
    return features, max(rest, inverse.max(initial=0.0)) ** 2 * float(shares.share.max())


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
    return np.split(order, np.flatnonzero(np.diff(alpha[order]) > EQUAL * alpha[order][1:]) + 1)


def _complement_size(groups: list[Array], graph: Graph) -> int:
    """The largest number of dimensions left when the ties inside the groups are split off."""
    return sum(min(len(group), 1 + graph.factor.shape[1]) for group in groups)


def _small_spectrum(graph: Graph, shares: _Support, U_s: Array) -> tuple[Array, Array]:
    """The whole spectrum of M = P D^½ (rest·I + U diag(inverse − rest) Uᵀ) D^½ P, formed."""
    _, inverse, rest = graph.closed_form_pinv
    factor = shares.root[:, None] * U_s
    inner = (factor * (inverse - rest)) @ factor.T
    inner.reshape(-1)[:: len(inner) + 1] += rest * shares.share
    return symmetric_eigen(_projected(inner, shares.w))


def _thin_spectrum(graph: Graph, shares: _Support, U_s: Array) -> tuple[Array, Array]:
    """The non-zero spectrum of M = G Gᵀ, G = P D^½ U diag(inverse)^½, where L is its thin factor alone."""
    G = shares.root[:, None] * U_s * np.sqrt(graph.closed_form_pinv[1])
    vectors, singular, _ = scipy.linalg.svd(G - np.outer(shares.w, shares.w @ G), full_matrices=False)
    return singular[::-1] ** 2, vectors[:, ::-1]


def _closed_form_spectrum(
    state: UpdateState, graph: Graph, shares: _Support, U_s: Array, groups: list[Array]
) -> tuple[Array, Array, list[Level]]:
    """Spectrum of M = P (rest·D + D^½ U diag(inverse − rest) Uᵀ D^½) P, split at its large eigenspaces.

    Vectors on the points that share one α, orthogonal there to 1 and to the thin factor U, are eigenvectors with
    υ = rest·α. What they leave of each group, span(1, U) on its points, is the complement; w lies in it. With sample
    weights √ω takes the place of 1.
    """
    (alpha, root, w), (_, inverse, rest) = shares, graph.closed_form_pinv
    counts = w / root  # √ω
    order = np.concatenate(groups)
    bases = [_orthonormal(np.column_stack([counts[group], U_s[group]])) for group in groups]
    basis = sp.block_diag(bases, format="csr")

    # M on that basis: P is I − wwᵀ.
    diagonal = np.repeat([alpha[group].mean() for group in groups], [thin.shape[1] for thin in bases])
    w_c = basis.T @ w[order]
    factor_c = basis.T @ (root[:, None] * U_s)[order]
    inner = rest * np.diag(diagonal) + (factor_c * (inverse - rest)) @ factor_c.T
    values, small = symmetric_eigen(_projected(inner, w_c))
    vectors = np.zeros((len(order), len(values)))
    vectors[order] = basis @ small
    ties = []
    for group, thin in zip(groups, bases, strict=True):
        if len(group) > thin.shape[1]:
            alpha_g = float(alpha[group].mean())
            features = partial(_tied, state, state.support[group], counts[group], thin, rest, alpha_g)
            ties.append(Level(rest * alpha_g, len(group) - thin.shape[1], features))
    return values, vectors, ties


def _tied(state: UpdateState, shared: Array, counts: Array, thin: Array, rest: float, alpha: float) -> Array:
    """Φᵀt of the eigenspace on the rows ``shared`` orthogonal to ``thin``: t = L⁺ B v = rest √α v there."""
    scale = rest * sqrt(alpha)
    if len(shared) <= DENSE_SUPPORT:
        block = state.Phi.take(shared, axis=0)
        size2 = float(np.vdot(block, block))
        block -= thin @ (thin.T @ block)
        return (scale if float(np.vdot(block, block)) > DUPLICATES * size2 else 0.0) * block.T
    # Subtracted only to keep digits: the vectors are orthogonal to √ω.
    mean = (counts @ state.Phi[shared]) / float(counts @ counts)
    F = state.Phi.shape[1]
    moment, mixed = np.zeros((F, F)), np.zeros((thin.shape[1], F))
    for rows in row_blocks(len(shared), F):
        block = state.Phi[shared[rows]] - np.outer(counts[rows], mean)
        moment += block.T @ block
        mixed += thin[rows].T @ block
    size2 = float(np.trace(moment))
    moment -= mixed.T @ mixed
    squares, axes = symmetric_eigen(moment)
    return (scale if float(squares.sum()) > DUPLICATES * size2 else 0.0) * axes * np.sqrt(np.maximum(squares, 0.0))


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
            ascending = found[0].argsort()
            return found[0][ascending], found[1][:, ascending]
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


def _group(values: Array, vectors: Array, ties: list[Level], target_features: Callable[[Array], Array]) -> list[Level]:
    """Eigenvalues, which ascend, that agree up to :data:`TIE`, grouped, without the zeros."""
    largest = max([values[-1], *(tie.value for tie in ties)])
    first = int(values.searchsorted(RELATIVE_ZERO * largest, side="right"))
    values, vectors = values[first:], vectors[:, first:]
    levels = []
    for tie in ties:
        same = np.abs(values - tie.value) <= TIE * tie.value
        joined, values, vectors = vectors[:, same], values[~same], vectors[:, ~same]

        def features(joined: Array = joined, tie: Level = tie) -> Array:
            return np.hstack([tie.features(), target_features(joined)]) if joined.size else tie.features()

        levels.append(Level(tie.value, tie.size + joined.shape[1], features))
    breaks = (values[1:] - values[:-1] > TIE * values[1:]).nonzero()[0] + 1
    for start, end in pairwise([0, *breaks.tolist(), len(values)] if len(values) else []):
        levels.append(Level(values[start], end - start, partial(target_features, vectors[:, start:end])))
    return levels


def _orthonormal(A: Array) -> Array:
    """An orthonormal basis of the columns' span."""
    if A.shape[1] == 1:
        size = sqrt(float(np.vdot(A, A)))
        return A / size if size > 0 else A[:, :0]
    U, singular, _ = np.linalg.svd(A, full_matrices=False)
    return U[:, singular > RELATIVE_ZERO * singular[0]]
