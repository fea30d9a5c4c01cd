"""A row's score in two: how far it is from the centre inside the subspace, and how far outside of it."""

from __future__ import annotations

import numpy as np

from pyod_gessvdd.boundaries.sphere import Sphere
from pyod_gessvdd.description import Description
from pyod_gessvdd.whole_space import WholeSpace

Array = np.ndarray

#: The leading directions of a whole space that count as inside, unless their number is given.
LEADING = 10


def check_has_two_parts(description: Description | WholeSpace) -> None:
    """Raise a ``ValueError`` for a description whose score has no second part, or is not a squared distance."""
    if isinstance(description, Description) and not isinstance(description.boundary, Sphere):
        raise ValueError("the outlier map shows distances from a sphere's centre; a half-space has none")
    if not description.has_residual:
        raise ValueError(
            "the outlier map needs the distance outside the subspace, which residual=False leaves out; "
            "use plot_subspace"
        )


def squared_coordinates(description: Description | WholeSpace, X: Array) -> Array:
    """(z − u)²/R² of each row, a column for each direction inside, of shape (n, d)."""
    Z = description.transform(X)[:, :-1]
    if isinstance(description, WholeSpace):
        return (Z - description.center) ** 2 / description.unit
    sphere = description.boundary
    assert isinstance(sphere, Sphere)
    return (Z - sphere.center) ** 2 / sphere.unit


def two_parts(squares: Array, scores: Array, n_directions: int) -> tuple[Array, Array]:
    """The distances inside and outside, in radii: their squares add up to the score."""
    inside2 = np.minimum(squares[:, :n_directions].sum(axis=1), scores)
    return np.sqrt(inside2), np.sqrt(scores - inside2)
