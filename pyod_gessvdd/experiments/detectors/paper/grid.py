"""The points of the methods' grids as detectors of an experiment, which share what does not depend on the point."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from pyod_gessvdd.errors import NoSuchModelError, NotSolvedError
from pyod_gessvdd.experiments.detectors.paper.fitted import FittedGrid, fit_grid
from pyod_gessvdd.experiments.detectors.paper.methods import LINEAR, METHODS, Method
from pyod_gessvdd.experiments.detectors.paper.shared_graph import KEPT, SharedGraph
from pyod_gessvdd.experiments.detectors.specs import Detector

Array = np.ndarray


@dataclass(frozen=True)
class GridPoint(Detector):
    """A method with a data description and a point of its grid.

    Attributes
    ----------
    description : str
        "linear" or "non-linear".
    quick : bool
        Whether the grid that it is a point of is the smaller one.
    """

    description: str = LINEAR
    quick: bool = False

    @property
    def family(self) -> str:
        """The method: its points share their code."""
        return f"{self.spec}, {self.description}"

    @property
    def bundle(self) -> str:
        """The method: its points share their fits, so that one process should run them all."""
        return self.family

    def build(self, seed: int | None = None, **given: Any) -> GridModel:
        """A model of this point."""
        return GridModel(METHODS[self.spec], self.description, self.parameters, seed or 0, quick=self.quick)

    def written(self) -> dict[str, Any]:
        """The point, with the description."""
        return {"description": self.description, **super().written()}


def grid_points(method: Method, description: str, n_features: int, *, quick: bool = False) -> list[GridPoint]:
    """All points of a method's grid, in the paper's order, those of one kernel width together.

    The width alone changes the features and the graphs that fits share.
    """
    grid = method.grid(description, n_features, quick=quick)
    points = list(ParameterGrid(grid))
    points.sort(key=lambda point: [grid[name].index(point[name]) for name in grid])
    points.sort(key=lambda point: point.get("sigma", 0.0))
    return [
        GridPoint(
            name=f"{method.name}, {description}, {', '.join(f'{name}={point[name]!r}' for name in grid)}",
            spec=method.name,
            path=f"{GridModel.__module__}:{GridModel.__qualname__}",
            parameters={name: point[name] for name in grid},
            description=description,
            quick=quick,
        )
        for point in points
    ]


class GridModel:
    """A model of one point: ``predict`` says 0 for the rows that it accepts and 1 for the others.

    The first point of a variant's grid that is fitted to some rows fits all the others along with it: a search goes
    through all of them, and together they take a fraction of the time. A point that the grid does not hold is fitted
    alone.
    """

    def __init__(
        self, method: Method, description: str, parameters: dict[str, Any], seed: int, *, quick: bool = False
    ) -> None:
        self.method, self.description, self.parameters = method, description, parameters
        self.seed, self.quick = seed, quick

    def fit(self, X: Array) -> GridModel:
        """Fit the rows; NoSuchModelError if the point does not exist for them: d above the features, C below 1/N."""
        try:
            if self.method.is_variant:
                self._fit_with_the_others(X)
            else:
                shared = shared_graph(self.method.name)
                self.model = self.method.build(self.description, self.parameters, self.seed, shared).fit(X)
        except (ValueError, NotSolvedError) as error:
            raise NoSuchModelError(str(error)) from error
        return self

    def _fit_with_the_others(self, X: Array) -> None:
        point = tuple(sorted((name, value) for name, value in self.parameters.items() if name != "sigma"))
        points = _points(self.method, self.description, X.shape[1], self.quick)
        points = points if point in points else (point,)
        self.place = points.index(point)
        key = (self.method.name, points, self.seed, self.parameters.get("sigma"))
        self.grid = _fitted(*key, _Rows(X))
        if not self.grid.exists[self.place]:
            F, d = self.grid.feature_map.n_features, self.parameters["n_components"]
            raise ValueError(
                f"n_components must be at most the number of features, {F}, got {d}"
                if d > F
                else f"C must be at least 1/N = {1 / len(X):.6g}, got {self.parameters['C']}"
            )

    def predict(self, X: Array) -> Array:
        """0 or 1 for each row."""
        if not self.method.is_variant:
            return np.asarray(self.model.predict(X))
        return (~_accepted(self.grid, _Rows(X))[self.place]).astype(int)


@lru_cache(maxsize=2)
def shared_graph(method: str) -> SharedGraph | None:
    """The graphs that the fits of a method share, if they take time to build."""
    return METHODS[method].shared_graph()


class _Rows:
    """Rows that are equal to others with the same numbers, so that what is computed of them can be kept."""

    def __init__(self, X: Array) -> None:
        self.X, self._key = X, (X.shape, X.tobytes())

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Rows) and self._key == other._key


Points = tuple[tuple[tuple[str, Any], ...], ...]


@lru_cache(maxsize=2)
def _points(method: Method, description: str, n_features: int, quick: bool) -> Points:
    """The points of a method's grid but for the width."""
    grid = method.grid(description, n_features, quick=quick)
    grid.pop("sigma", None)
    return tuple(tuple(sorted(point.items())) for point in ParameterGrid(grid))


@lru_cache(maxsize=KEPT)
def _fitted(method: str, points: Points, seed: int, sigma: float | None, train: _Rows) -> FittedGrid:
    """All points of one width fitted to the rows."""
    return fit_grid(method, train.X, [dict(point) for point in points], seed, sigma=sigma)


@lru_cache(maxsize=KEPT)
def _accepted(fitted: FittedGrid, rows: _Rows) -> Array:
    return fitted.accept(rows.X)
