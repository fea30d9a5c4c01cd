"""The host's checks of what components return: a wrong shape or a NaN is named, with its author, where it happens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp

from pyod_gessvdd.components.contracts import Component, FeatureLaplacian, Laplacian, NoGraph
from pyod_gessvdd.errors import ComponentError, warn
from pyod_gessvdd.graph import Graph, check_indices
from pyod_gessvdd.linalg import RELATIVE_ZERO, all_finite, read_only

Array = np.ndarray


def real_array(value: Any, who: str) -> Array:
    """What a component returned, as a float array; an error that names the component if it holds no real numbers."""
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as error:  # lists of different lengths
        raise ComponentError(f"{who} returned {type(value).__name__}; expected an array of real numbers") from error
    if array.dtype.kind not in "biuf":
        what = "None" if value is None else f"values of type {array.dtype}"
        raise ComponentError(f"{who} returned {what}; expected an array of real numbers")
    return array.astype(float, copy=False)


@contextmanager
def names_the_writer(who: str) -> Iterator[None]:
    """A component that writes to what it was given, which is read-only, is named in the error."""
    try:
        yield
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise ComponentError(
            f"{who} writes to the array that it was given ({error}); it must work on a copy"
        ) from error


def as_graph(built: Any, n_samples: int, laplacian: Component) -> Graph:
    """What ``Laplacian.build`` returned, checked, as a :class:`Graph`."""
    kind = "feature_laplacian" if isinstance(laplacian, FeatureLaplacian) else "laplacian"
    who = f"{kind} {laplacian.name!r}"
    if not isinstance(built, Graph):
        if not (sp.issparse(built) or isinstance(built, np.ndarray)):
            raise ComponentError(
                f"{who} returned {type(built).__name__}; expected a Graph, a sparse matrix or an array"
            )
        if built.shape != (n_samples, n_samples):
            raise ComponentError(f"{who} returned a matrix of shape {built.shape}; expected ({n_samples}, {n_samples})")
        if not sp.issparse(built):
            built = real_array(built, who)
        _check_indices(built, who)
        built = Graph.from_matrix(built)
    if built.n_nodes != n_samples:
        raise ComponentError(f"{who} returned a graph of {built.n_nodes} nodes; expected {n_samples}")
    parts = [built.base, built.factor, built.weights]
    for part in parts:
        _check_indices(part, who)
    if not all(np.isfinite(part.data if sp.issparse(part) else part).all() for part in parts):
        raise ComponentError(f"{who} returned NaN or infinite weights")
    if not np.isscalar(built.base):
        difference = abs(built.base - built.base.T).max()
        if difference > 1e-8 * abs(built.base).max():
            raise ComponentError(f"{who} returned a matrix that is not symmetric: |L − Lᵀ| reaches {difference:.3g}")
    return built


def _check_indices(matrix: Any, who: str) -> None:
    """Before SciPy touches a sparse matrix: an index that is out of range corrupts the memory of the process."""
    if sp.issparse(matrix):
        try:
            check_indices(matrix)
        except ValueError as error:
            raise ComponentError(f"{who} returned a matrix that cannot be used: {error}") from error


def build_graph(laplacian: Laplacian, Phi: Array, random_state: int, sample_weight: Array | None) -> Graph | None:
    """The graph over the training features, checked; None for a Laplacian that has none."""
    if isinstance(laplacian, NoGraph):
        return None
    if sample_weight is not None and not laplacian.supports_sample_weight:
        warn(f"laplacian {laplacian.name!r} ignores sample weights: every row counts equally in its graph")
    with names_the_writer(f"laplacian {laplacian.name!r}"):
        built = laplacian.build_weighted(read_only(Phi), random_state, sample_weight)
    return as_graph(built, len(Phi), laplacian)


def build_feature_graph(feature_laplacian: FeatureLaplacian, Phi: Array, random_state: int) -> Graph:
    """The graph over the columns, checked."""
    with names_the_writer(f"feature_laplacian {feature_laplacian.name!r}"):
        built = feature_laplacian.build(read_only(Phi), random_state)
    return as_graph(built, Phi.shape[1], feature_laplacian)


def graph_scatter(graph: Graph, Phi: Array, laplacian: Laplacian, total: Array | None = None) -> Array:
    """S_x = Φᵀ L_x Φ; an error if nothing is left of the features' scatter. ``total``: see :meth:`Graph.scatter`."""
    S_x = graph.scatter(Phi, total)
    # Relative to a weight of one per sample and edge, what is left of a scatter of zero is rounding.
    size2 = float(np.vdot(Phi, Phi) if total is None else total.trace())
    if not np.trace(S_x) > RELATIVE_ZERO * size2 / len(Phi):
        raise ValueError(
            f"laplacian {laplacian.name!r} leaves no scatter in the features (its trace is {np.trace(S_x):.3g}); "
            "choose another graph"
        )
    return S_x


def check_features(Phi: Any, n_samples: int, kernel: Component, n_features: int | None = None) -> Array:
    """What ``Kernel.features`` returned, checked; ``n_features`` is what it returned for the training rows."""
    who = f"kernel {kernel.name!r}"
    Phi = real_array(Phi, who)
    if Phi.ndim != 2 or Phi.shape[0] != n_samples or n_features not in (None, Phi.shape[1]):
        expected = f"({n_samples}, {'F' if n_features is None else n_features})"
        raise ComponentError(f"{who} returned features of shape {Phi.shape}; expected {expected}")
    if Phi.shape[1] == 0:
        raise ComponentError(f"{who} left no feature: all rows look the same to it")
    if not all_finite(Phi):
        raise ComponentError(f"{who} returned NaN or infinite features")
    return Phi


def check_fit_features(returned: Any, n_samples: int, kernel: Component) -> tuple[Array, Array | None]:
    """What ``Kernel.fit_features`` returned, checked: the features, and what they miss or None."""
    if not (isinstance(returned, tuple) and len(returned) == 2):
        what = f"a tuple of {len(returned)}" if isinstance(returned, tuple) else type(returned).__name__
        raise ComponentError(
            f"kernel {kernel.name!r} returned {what} from fit_features; expected two things, the features and what "
            "they miss of each row, or None"
        )
    Phi, missed = returned
    Phi = check_features(Phi, n_samples, kernel)
    return Phi, None if missed is None else check_residual(missed, n_samples, kernel)


def check_residual(missed: Any, n_samples: int, kernel: Component) -> Array:
    """What ``Kernel.residual`` returned, checked."""
    who = f"kernel {kernel.name!r}"
    missed = real_array(missed, who)
    if missed.shape != (n_samples,):
        raise ComponentError(f"{who} returned a residual of shape {missed.shape}; expected ({n_samples},)")
    if not (np.isfinite(missed).all() and missed.min(initial=0.0) >= 0):
        raise ComponentError(f"{who} returned a residual that is negative, NaN or infinite")
    return missed


def check_projection(Q: Any, n_components: int, n_features: int, updater: Component) -> Array:
    """What ``Updater.update`` returned, checked."""
    who = f"updater {updater.name!r}"
    Q = real_array(Q, who)
    if Q.ndim != 2 or Q.shape[1] != n_features or Q.shape[0] > n_components:
        raise ComponentError(
            f"{who} returned a projection of shape {Q.shape}; expected (at most {n_components}, {n_features})"
        )
    if not np.isfinite(Q).all():
        raise ComponentError(f"{who} returned NaN or infinite values")
    return Q
