"""The checks of a graph over features: what ``build`` returns for ordinary data and for data at the edge."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from pyod_gessvdd.checks import data
from pyod_gessvdd.checks.check import CheckFailed, CheckFunction, refuses_politely, require, same
from pyod_gessvdd.checks.common import Kind, common_checks
from pyod_gessvdd.checks.laplacians import (
    require_any_random_state,
    require_positive_semi_definite,
    require_symmetric,
)
from pyod_gessvdd.components.validation import as_graph
from pyod_gessvdd.errors import ComponentError
from pyod_gessvdd.graph import Graph

Array = np.ndarray


def _detector(graph: Any) -> tuple[dict[str, Any], Array, Array]:
    return {"kernel": "linear", "n_components": 2, "standardize": False}, data.rows(0), data.rows(1)[:10]


KIND = Kind(
    name="feature_laplacian",
    inputs=lambda graph, seed: data.rows(seed),
    arrays=lambda X: {"X": X},
    answer=lambda graph, X: {"graph": _graph(graph, X).toarray()},
    tolerance=lambda graph: 1e-9,
    detector=_detector,
)


def _graph(graph: Any, X: Array, random_state: Any = 0) -> Graph:
    """What ``build`` returned, after the host's own checks."""
    try:
        return as_graph(graph.build(X, random_state), X.shape[1], graph)
    except ComponentError as error:
        raise CheckFailed(f"the host refuses what build returned: {error}") from error


def check_feature_laplacian_shape(graph: Any) -> None:
    """``build`` returns a ``Graph``, a sparse matrix or an array, D × D for D columns, whatever the number of rows."""
    for n_rows in (20, 60):
        built = graph.build(data.rows(0, n_rows), 0)
        require(
            isinstance(built, Graph | np.ndarray) or sp.issparse(built),
            f"build returned {type(built).__name__}; return a Graph, a sparse matrix or an array",
        )
        shape = (built.n_nodes,) * 2 if isinstance(built, Graph) else built.shape
        require(shape == (4, 4), f"build returned a matrix of shape {shape} for 4 columns; return shape (4, 4)")


def check_feature_laplacian_is_real_and_finite(graph: Any) -> None:
    """L holds finite real numbers."""
    built = graph.build(data.rows(0), 0)
    L = built.toarray() if isinstance(built, Graph) or sp.issparse(built) else np.asarray(built)
    require(L.dtype.kind in "biuf", f"L holds values of type {L.dtype}; return real numbers")
    require(np.isfinite(L).all(), "L holds NaN or infinite weights on ordinary data; look for a division by zero")


def check_feature_laplacian_is_symmetric(graph: Any) -> None:
    """L equals its transpose."""
    built = graph.build(data.rows(0), 0)
    L = built.toarray() if isinstance(built, Graph) or sp.issparse(built) else np.asarray(built)
    require_symmetric(L, "ordinary data")


def check_feature_laplacian_is_positive_semi_definite(graph: Any) -> None:
    """L has no negative eigenvalue, so that Tr(QLQᵀ) is a penalty."""
    for seed in range(3):
        require_positive_semi_definite(_graph(graph, data.rows(seed)).toarray(), "ordinary data")


def check_feature_laplacian_ignores_the_order_of_rows(graph: Any) -> None:
    """Rows in another order give the same graph over the columns."""
    X = data.rows(0)
    order = np.random.default_rng(0).permutation(len(X))
    require(
        same(_graph(graph, X).toarray(), _graph(graph, X[order]).toarray(), 1e-6),
        "the same rows in another order get another graph; let nothing depend on a row's number",
    )


def check_feature_laplacian_takes_any_random_state(graph: Any) -> None:
    """``build`` takes a ``random_state`` that is an int, a ``RandomState`` or None."""
    require_any_random_state(graph)


def _check_on(graph: Any, X: Array, on: str) -> None:
    built = refuses_politely(lambda: graph.build(X, 0), on)
    if built is None:
        return
    try:
        L = as_graph(built, X.shape[1], graph).toarray()
    except ComponentError as error:
        raise CheckFailed(f"on {on} the host refuses what build returned: {error}") from error
    require_symmetric(L, on)
    require_positive_semi_definite(L, on)


def check_feature_laplacian_on_one_column(graph: Any) -> None:
    """Data of one column, which has no other to be linked with, get a valid graph, or are refused by a sentence."""
    _check_on(graph, data.rows(0)[:, :1], "data of one column")


def check_feature_laplacian_on_a_constant_column(graph: Any) -> None:
    """Data with a constant column, which is correlated with none, get a valid graph, or are refused by a sentence."""
    X = data.rows(0)
    X[:, 1] = 2.5
    _check_on(graph, X, "data with a constant column")


def check_feature_laplacian_on_equal_columns(graph: Any) -> None:
    """Data with equal columns get a valid graph, or are refused by a sentence."""
    X = data.rows(0)
    X[:, 2] = X[:, 0]
    _check_on(graph, X, "data with two equal columns")


def check_feature_laplacian_on_wide_data(graph: Any) -> None:
    """Data with more columns than rows get a valid graph, or are refused by a sentence."""
    _check_on(graph, data.rows(0, 20, 50), "data with more columns than rows")


CHECKS: tuple[CheckFunction, ...] = (
    *common_checks(KIND),
    check_feature_laplacian_shape,
    check_feature_laplacian_is_real_and_finite,
    check_feature_laplacian_is_symmetric,
    check_feature_laplacian_is_positive_semi_definite,
    check_feature_laplacian_ignores_the_order_of_rows,
    check_feature_laplacian_takes_any_random_state,
    check_feature_laplacian_on_one_column,
    check_feature_laplacian_on_a_constant_column,
    check_feature_laplacian_on_equal_columns,
    check_feature_laplacian_on_wide_data,
)
