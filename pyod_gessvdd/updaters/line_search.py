"""The line search of the monotone updaters: Armijo's rule with backtracking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

Point = TypeVar("Point")


@dataclass(frozen=True)
class Armijo:
    """Shorten a step until the value has fallen by a fair share of what its slope promised.

    Parameters
    ----------
    share : float, default=1e-4
        The share of the fall promised by the slope that must be reached.
    shrink : float, default=0.5
        What a refused step is multiplied by.
    max_trials : int, default=30
        After this many refused steps the search gives up: the value cannot fall any further in floating point.
    """

    share: float = 1e-4
    shrink: float = 0.5
    max_trials: int = 30

    def search(
        self,
        value: Callable[[Point], float],
        path: Callable[[float], Point],
        start: float,
        slope: float,
        step: float,
    ) -> tuple[Point, float] | None:
        """The first point on the path that satisfies the rule, with its value, or None.

        Parameters
        ----------
        value : callable
            The function that should fall.
        path : callable
            Maps a step length to the point there.
        start : float
            The value at step 0.
        slope : float
            The value's derivative there; no step is tried unless it is negative.
        step : float
            The first step to try.
        """
        if not slope < 0:
            return None
        for _ in range(self.max_trials):
            point = path(step)
            reached = value(point)
            # Strictly lower too: if the promised fall is below rounding, a step that changes nothing would pass.
            if reached < start and reached <= start + self.share * step * slope:
                return point, reached
            step *= self.shrink
        return None
