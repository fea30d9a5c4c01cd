"""The checks of a Laplacian: what ``build`` returns for ordinary data and for data at the edge."""

from __future__ import annotations

from functools import wraps
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from pyod_gessvdd.checks import data
from pyod_gessvdd.checks.check import CheckFailed, CheckFunction, refuses_politely, require, same
from pyod_gessvdd.checks.common import Kind, common_checks
from pyod_gessvdd.components.contracts import NoGraph
from pyod_gessvdd.components.validation import as_graph
from pyod_gessvdd.errors import ComponentError
from pyod_gessvdd.graph import Graph
from pyod_gessvdd.linalg import RELATIVE_ZERO

Array = np.ndarray

#: Negative eigenvalues and asymmetries up to this share of the largest entry are rounding.
ROUNDING = 1e-8
#: A graph that claims to be sparse holds at most this share of N² numbers, for N = MANY.
SPARSE_SHARE = 0.25
MANY = 1000


def _of_a_graph(check: CheckFunction) -> CheckFunction:
    """The check, which does not apply where there is no graph."""

    @wraps(check)
    def checked(laplacian: Any) -> str | None:
        if isinstance(laplacian, NoGraph):
            return "it has no graph, so that build is never called"
        return check(laplacian)

    return checked


def _answer(laplacian: Any, Phi: Array) -> dict[str, Array]:
    return {} if isinstance(laplacian, NoGraph) else {"graph": _graph(laplacian, Phi).toarray()}


def _detector(laplacian: Any) -> tuple[dict[str, Any], Array, Array]:
    return {"kernel": "linear", "n_components": 2, "updater": "gradient"}, data.rows(0), data.rows(1)[:10]


KIND = Kind(
    name="laplacian",
    inputs=lambda laplacian, seed: data.rows(seed),
    arrays=lambda Phi: {"Phi": Phi},
    answer=_answer,
    tolerance=lambda laplacian: 1e-9,
    detector=_detector,
)


def _graph(laplacian: Any, Phi: Array, random_state: Any = 0) -> Graph:
    """What ``build`` returned, after the host's own checks."""
    try:
        return as_graph(laplacian.build(Phi, random_state), len(Phi), laplacian)
    except ComponentError as error:
        raise CheckFailed(f"the host refuses what build returned: {error}") from error


def require_symmetric(L: Array, on: str) -> None:
    """The check fails unless L equals its transpose; ``on`` says on which data."""
    asymmetry = float(np.abs(L - L.T).max())
    require(
        asymmetry <= ROUNDING * float(np.abs(L).max()),
        f"L is not symmetric on {on}: |L − Lᵀ| reaches {asymmetry:.3g}; link j to i with the weight that links i to j, "
        "for instance by (A + A.T) / 2 or A.maximum(A.T)",
    )


def require_positive_semi_definite(L: Array, on: str) -> None:
    """The check fails if L has a negative eigenvalue; ``on`` says on which data."""
    smallest = float(np.linalg.eigvalsh((L + L.T) / 2)[0])
    require(
        smallest >= -ROUNDING * float(np.abs(L).max()),
        f"L is not positive semi-definite on {on}: its smallest eigenvalue is {smallest:.3g}; the Laplacian of edge "
        "weights A ≥ 0 is D − A (Graph.from_adjacency), not A − D",
    )


def require_any_random_state(graph: Any) -> None:
    """The check fails unless ``build`` takes a seed, a ``RandomState`` and None."""
    for random_state in (3, np.int64(3), check_random_state(3), None):
        try:
            graph.build(data.rows(0), random_state)
        except Exception as error:
            raise CheckFailed(
                f"build with random_state={random_state!r} raised {type(error).__name__} ({error}); pass it through "
                "sklearn.utils.check_random_state"
            ) from error


@_of_a_graph
def check_laplacian_shape(laplacian: Any) -> None:
    """``build`` returns a ``Graph``, a sparse matrix or an array, N × N for N samples."""
    for N in (40, 60):
        built = laplacian.build(data.rows(0, N), 0)
        require(
            isinstance(built, Graph | np.ndarray) or sp.issparse(built),
            f"build returned {type(built).__name__}; return a Graph, a sparse matrix or an array",
        )
        shape = (built.n_nodes,) * 2 if isinstance(built, Graph) else built.shape
        require(shape == (N, N), f"build returned a matrix of shape {shape} for {N} samples; return shape ({N}, {N})")


@_of_a_graph
def check_laplacian_is_real_and_finite(laplacian: Any) -> None:
    """L holds finite real numbers."""
    built = laplacian.build(data.rows(0), 0)
    parts = [built.base, built.factor, built.weights] if isinstance(built, Graph) else [built]
    for part in parts:
        values = part.data if sp.issparse(part) else np.asarray(part)
        require(values.dtype.kind in "biuf", f"L holds values of type {values.dtype}; return real numbers")
        require(
            np.isfinite(values).all(),
            "L holds NaN or infinite weights on ordinary data; look for a division by zero, or the exponential of a "
            "large number",
        )


@_of_a_graph
def check_laplacian_is_symmetric(laplacian: Any) -> None:
    """L equals its transpose."""
    built = laplacian.build(data.rows(0), 0)
    L = built.toarray() if isinstance(built, Graph) or sp.issparse(built) else np.asarray(built)
    require_symmetric(L, "ordinary data")


@_of_a_graph
def check_laplacian_is_positive_semi_definite(laplacian: Any) -> None:
    """L has no negative eigenvalue, so that S_x = ΦᵀLΦ is a scatter."""
    for seed in range(3):
        require_positive_semi_definite(_graph(laplacian, data.rows(seed)).toarray(), "ordinary data")


@_of_a_graph
def check_laplacian_rows_sum_to_zero(laplacian: Any) -> str | None:
    """Every row of L sums to zero, if the class declares ``kills_constants = True``."""
    if not laplacian.kills_constants:
        return f"it declares kills_constants = {laplacian.kills_constants}"
    L = _graph(laplacian, data.rows(0)).toarray()
    largest = float(np.abs(L.sum(axis=1)).max())
    require(
        largest <= ROUNDING * float(np.abs(L).max()),
        f"it declares kills_constants = True, but a row of L sums to {largest:.3g}; subtract the edge weights from "
        "their row sums (Graph.from_adjacency), or declare kills_constants = False",
    )
    return None


@_of_a_graph
def check_laplacian_sees_the_scatter(laplacian: Any) -> None:
    """The scatter S_x = ΦᵀLΦ of ordinary data is not zero."""
    Phi = data.rows(0)
    trace = float(np.trace(_graph(laplacian, Phi).scatter(Phi)))
    require(
        trace > RELATIVE_ZERO * float((Phi**2).sum()) / len(Phi),
        f"the scatter ΦᵀLΦ of ordinary data has the trace {trace:.3g}; the graph has no edges, or only between equal "
        "samples",
    )


@_of_a_graph
def check_laplacian_is_sparse(laplacian: Any) -> str | None:
    """For many samples L is kept in far fewer than N² numbers, unless the class declares ``sparse = False``."""
    if not laplacian.sparse:
        return "it declares sparse = False"
    built = laplacian.build(data.rows(0, MANY), 0)
    parts = [built.base, built.factor] if isinstance(built, Graph) else [built]
    stored = sum(part.nnz if sp.issparse(part) else np.size(part) for part in parts)
    require(
        stored <= SPARSE_SHARE * MANY**2,
        f"for {MANY} samples L is kept in {stored:,} numbers; return a sparse matrix or Graph.low_rank, or declare "
        "sparse = False",
    )
    return None


@_of_a_graph
def check_laplacian_follows_the_samples(laplacian: Any) -> str | None:
    """Samples in another order give the same graph in that order, unless it is an approximation by its own word."""
    if not laplacian.exact:
        return "it declares exact = False"
    Phi = data.rows(0)
    graph = _graph(laplacian, Phi)
    if graph.is_estimate:
        return "its graph is marked is_estimate"
    order = np.random.default_rng(0).permutation(len(Phi))
    moved = _graph(laplacian, Phi[order]).toarray()
    require(
        same(moved, graph.toarray()[np.ix_(order, order)], 1e-6),
        "the same samples in another order get another graph; let nothing depend on a row's number, or declare "
        "exact = False if it is an approximate search",
    )
    return None


@_of_a_graph
def check_laplacian_takes_any_random_state(laplacian: Any) -> None:
    """``build`` takes a ``random_state`` that is an int, a ``RandomState`` or None."""
    require_any_random_state(laplacian)


@_of_a_graph
def check_laplacian_sample_weight(laplacian: Any) -> str | None:
    """A sample weight of w counts as w equal rows, if the class declares ``supports_sample_weight = True``."""
    if not laplacian.supports_sample_weight:
        return "it declares supports_sample_weight = False"
    Phi = data.rows(0)

    def scatter(weights: Array) -> Array:
        return as_graph(laplacian.build(Phi, 0, sample_weight=weights), len(Phi), laplacian).scatter(Phi)

    counts = 1 + np.arange(len(Phi)) % 3
    if laplacian.repeats_exactly:
        repeated = np.repeat(Phi, counts, axis=0)
        require(
            same(scatter(counts.astype(float)), _graph(laplacian, repeated).scatter(repeated), 1e-6),
            "weights of 1, 2 and 3 give another scatter ΦᵀLΦ than rows that occur so often; weight the samples, their "
            "number and their means, or declare repeats_exactly = False if rows are searched or clustered",
        )
        return None
    plain, doubled, uneven = _graph(laplacian, Phi).scatter(Phi), scatter(np.full(len(Phi), 2.0)), scatter(counts * 1.0)
    require(
        laplacian.repeats_exactly is None or same(doubled / np.trace(doubled), plain / np.trace(plain), 1e-6),
        "weights of 2 for all samples change the scatter ΦᵀLΦ by more than a factor, though no sample counts more than "
        "another; declare repeats_exactly = None if that is meant",
    )
    require(
        not same(uneven / np.trace(uneven), plain / np.trace(plain), 1e-6),
        "weights of 1, 2 and 3 leave the scatter ΦᵀLΦ as it is; use them, or declare supports_sample_weight = False",
    )
    return None


@_of_a_graph
def check_laplacian_in_a_sum(laplacian: Any) -> str | None:
    """The graph can be added to another, as in ``"0.5*it + 0.5*pca"``."""
    Phi = data.rows(0)
    graph = _graph(laplacian, Phi)
    total = (0.5 * graph + 0.5 * Graph.identity(len(Phi))).toarray()
    require(same(total, 0.5 * graph.toarray() + 0.5 * np.eye(len(Phi)), 1e-9), "half of it plus half of I is not that")
    return None


def _check_on(laplacian: Any, Phi: Array, on: str) -> str | None:
    built = refuses_politely(lambda: laplacian.build(Phi, 0), on)
    if built is None:
        return None
    try:
        L = as_graph(built, len(Phi), laplacian).toarray()
    except ComponentError as error:
        raise CheckFailed(f"on {on} the host refuses what build returned: {error}") from error
    require_symmetric(L, on)
    require_positive_semi_definite(L, on)
    return None


@_of_a_graph
def check_laplacian_on_one_column(laplacian: Any) -> str | None:
    """Data of one column get a valid graph, or are refused by a sentence."""
    return _check_on(laplacian, data.rows(0)[:, :1], "data of one column")


@_of_a_graph
def check_laplacian_on_duplicates(laplacian: Any) -> str | None:
    """Data in which every row occurs six times get a valid graph, or are refused by a sentence."""
    return _check_on(laplacian, np.tile(data.rows(0, 10), (6, 1)), "data in which every row occurs six times")


@_of_a_graph
def check_laplacian_on_a_constant_column(laplacian: Any) -> str | None:
    """Data with a constant column get a valid graph, or are refused by a sentence."""
    Phi = data.rows(0)
    Phi[:, 1] = 2.5
    return _check_on(laplacian, Phi, "data with a constant column")


@_of_a_graph
def check_laplacian_on_few_samples(laplacian: Any) -> str | None:
    """Two to five samples, fewer than neighbours or clusters, get a valid graph, or are refused by a sentence."""
    reasons = [_check_on(laplacian, data.rows(0, N), f"{N} samples") for N in (2, 3, 5)]
    return reasons[0]


@_of_a_graph
def check_laplacian_on_wide_data(laplacian: Any) -> str | None:
    """Data with more columns than rows get a valid graph, or are refused by a sentence."""
    return _check_on(laplacian, data.rows(0, 20, 50), "data with more columns than rows")


CHECKS: tuple[CheckFunction, ...] = (
    *common_checks(KIND),
    check_laplacian_shape,
    check_laplacian_is_real_and_finite,
    check_laplacian_is_symmetric,
    check_laplacian_is_positive_semi_definite,
    check_laplacian_rows_sum_to_zero,
    check_laplacian_sees_the_scatter,
    check_laplacian_is_sparse,
    check_laplacian_follows_the_samples,
    check_laplacian_takes_any_random_state,
    check_laplacian_sample_weight,
    check_laplacian_in_a_sum,
    check_laplacian_on_one_column,
    check_laplacian_on_duplicates,
    check_laplacian_on_a_constant_column,
    check_laplacian_on_few_samples,
    check_laplacian_on_wide_data,
)
