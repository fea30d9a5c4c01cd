"""A variant's whole grid fitted to some rows: one kernel map and one graph for all C, d and η."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pyod_gessvdd.components.contracts import Kernel, Updater
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.components.validation import build_graph, graph_scatter
from pyod_gessvdd.detectors.base import PAPER
from pyod_gessvdd.detectors.variants import parse_variant
from pyod_gessvdd.experiments.detectors.paper.spheres import solve_spheres
from pyod_gessvdd.experiments.detectors.paper.together import Fits, Solve, fit_together
from pyod_gessvdd.feature_map import FeatureMap
from pyod_gessvdd.subspace import principal_directions, random_directions, total_scatter
from pyod_gessvdd.training import TrainingData

Array = np.ndarray
Point = Mapping[str, Any]

#: Which seeds are drawn from: as the detector draws its own.
SEEDS = np.iinfo(np.int32).max


def npt(sigma: float | None) -> Kernel:
    """The paper's non-linear map of this width, or the rows themselves without one."""
    kernel: Kernel = resolve("kernel", "linear" if sigma is None else "rbf")
    return kernel if sigma is None else kernel.set_params(sigma=sigma)


@dataclass(frozen=True)
class Setup:
    """How Algorithm 1 is run; as it stands, as the paper writes it.

    Attributes
    ----------
    components : mapping of str to component
        Another Laplacian or updater for one of the variants' own, by its name.
    init : {"pca", "random"}
        The start of Q; a random one is drawn anew for every point.
    center : bool
        Whether the features are centred.
    ridge : float
        See :func:`~pyod_gessvdd.subspace.whiten`.
    n_iter : int
        The number of updates.
    kernel : callable
        From a width, or None, to the kernel.
    solve : callable
        What finds the spheres.
    """

    components: Mapping[str, Any] = field(default_factory=dict)
    init: str = "pca"
    center: bool = True
    ridge: float = PAPER["ridge"]
    n_iter: int = PAPER["n_iter"]
    kernel: Callable[[float | None], Kernel] = npt
    solve: Solve = solve_spheres

    def component(self, kind: str, name: str) -> Any:
        """A fresh component of the variant, or the one in its place."""
        return resolve(kind, self.components.get(name, name))


#: Algorithm 1 as the paper writes it.
AS_WRITTEN = Setup()


@dataclass(frozen=True, eq=False)
class FittedGrid:
    """All points of a variant's grid that share the kernel's width, fitted to the same rows.

    Attributes
    ----------
    feature_map : FeatureMap
        From rows to features.
    exists : ndarray of bool of shape (n_points,)
        Whether there is a model of a point for these rows: d is at most the number of features, and C at least 1/N.
    fits : Fits
        The models of those.
    """

    feature_map: FeatureMap
    exists: Array
    fits: Fits

    def accept(self, X: Array, iterate: int = -1) -> Array:
        """Whether each point accepts each row, of shape (n_points, n); a point without a model accepts none."""
        accepted = np.zeros((len(self.exists), len(X)), dtype=bool)
        accepted[self.exists] = self.fits.accept(self.feature_map.features(X)[0], iterate)
        return accepted


def fit_grid(
    variant: str, X: Array, points: Sequence[Point], seed: int, setup: Setup = AS_WRITTEN, sigma: float | None = None
) -> FittedGrid:
    """Fit all points of a variant's grid to the rows.

    Parameters
    ----------
    variant : str
        Its name.
    X : ndarray of shape (N, D)
        Rows of the target class.
    points : sequence of mapping
        ``C``, ``n_components`` and, for the gradient, ``step_size`` of each.
    seed : int
        Seeds clusters and random starts, as ``random_state`` seeds them in a detector.
    setup : Setup
        How Algorithm 1 is run.
    sigma : float, optional
        The width of the kernel; without one the description is linear.
    """
    names = parse_variant(variant)
    drawn = int(check_random_state(seed).randint(SEEDS))
    kernel = setup.kernel(sigma)
    kernel.inherit({"center": setup.center, "random_state": drawn})
    feature_map, Phi, _ = FeatureMap.learn(X, kernel, center=setup.center, standardize=False)
    laplacian = setup.component("laplacian", names["laplacian"])
    graph = build_graph(laplacian, Phi, drawn, None)
    total = total_scatter(Phi) if setup.center else None
    S_x = None if graph is None else graph_scatter(graph, Phi, laplacian, total)
    directions = principal_directions(Phi, total=total)
    if len(directions) == 0:
        raise ValueError(f"all {len(Phi)} rows of X are equal: there is nothing to describe")
    exists = np.array([point["n_components"] <= Phi.shape[1] and point["C"] * len(X) >= 1 - 1e-9 for point in points])
    fitted = [point for point, there in zip(points, exists, strict=True) if there]
    random = check_random_state(drawn)
    dimensions = [min(point["n_components"], len(directions)) for point in fitted]
    is_pca = setup.init == "pca"
    fits = fit_together(
        TrainingData(Phi, graph, S_x),
        [directions[:d] if is_pca else random_directions(d, Phi.shape[1], random) for d in dimensions],
        np.array([point["C"] for point in fitted], dtype=float),
        updaters=[_updater(setup.component("updater", names["updater"]), point) for point in fitted],
        criterion=names["criterion"],
        ridge=setup.ridge,
        n_iter=setup.n_iter,
        solve=setup.solve,
    )
    return FittedGrid(feature_map, exists, fits)


def _updater(updater: Updater, point: Point) -> Updater:
    updater.inherit({"step_size": point.get("step_size", PAPER["step_size"])})
    return updater
