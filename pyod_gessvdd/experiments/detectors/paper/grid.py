"""The points of the methods' grids as detectors of an experiment, which share what does not depend on the point."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.errors import NoSuchModelError, NotSolvedError
from pyod_gessvdd.experiments.detectors.paper.methods import LINEAR, METHODS, NONLINEAR, Method
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
    """

    description: str = LINEAR

    @property
    def family(self) -> str:
        """The method: its points share their code."""
        return f"{self.spec}, {self.description}"

    def build(self, seed: int | None = None, **given: Any) -> GridModel:
        """A model of this point."""
        return GridModel(METHODS[self.spec], self.description, self.parameters, seed or 0)

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
        )
        for point in points
    ]


class GridModel:
    """A model of one point: ``predict`` says 0 for the rows that it accepts and 1 for the others.

    The variants' non-linear projection trick is done as the paper has it: map the rows, then go on as in the linear
    case, so that the map is computed once for each width.
    """

    def __init__(self, method: Method, description: str, parameters: dict[str, Any], seed: int) -> None:
        self.sigma = parameters.get("sigma") if method.is_variant and description == NONLINEAR else None
        if self.sigma is not None:
            parameters = {name: value for name, value in parameters.items() if name != "sigma"}
            description = LINEAR
        self.model = method.build(description, parameters, seed, shared_graph(method.name))

    def fit(self, X: Array) -> GridModel:
        """Fit the rows; NoSuchModelError if the point does not exist for them: d above the features, C below 1/N."""
        self.train = X
        try:
            self.model.fit(X if self.sigma is None else _mapped(self.sigma, _Rows(X), _Rows(X)))
        except (ValueError, NotSolvedError) as error:
            raise NoSuchModelError(str(error)) from error
        return self

    def predict(self, X: Array) -> Array:
        """0 or 1 for each row."""
        rows = X if self.sigma is None else _mapped(self.sigma, _Rows(self.train), _Rows(X))
        return np.asarray(self.model.predict(rows))


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


@lru_cache(maxsize=KEPT)
def _kernel(sigma: float, train: _Rows) -> tuple[Any, Array]:
    """An RBF kernel of this width fitted to the rows, and their features."""
    kernel = resolve("kernel", "rbf").set_params(sigma=sigma, center=True)
    return kernel, kernel.fit_features(train.X)[0]


@lru_cache(maxsize=2 * KEPT)
def _mapped(sigma: float, train: _Rows, rows: _Rows) -> Array:
    kernel, features = _kernel(sigma, train)
    return features if rows == train else kernel.features(rows.X)
