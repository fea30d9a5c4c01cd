"""How numbers are written for readers: the same in the terminal, in Markdown and in HTML."""

from __future__ import annotations

import math
import re
from typing import Any

#: Stands for a value that is not there.
NONE = "–"


def number(value: Any, decimals: int = 4) -> str:
    """A number with this many decimals, or a dash."""
    return NONE if missing(value) else f"{value:.{decimals}f}"


def seconds(value: Any) -> str:
    """A time with three digits and a unit."""
    if missing(value):
        return NONE
    for limit, factor, unit in ((1e-3, 1e6, "µs"), (1, 1e3, "ms"), (100, 1, "s"), (6000, 1 / 60, "min")):
        if value < limit:
            return f"{value * factor:.3g} {unit}"
    return f"{value / 3600:.3g} h"


def probability(value: Any) -> str:
    """A p value: three decimals, and none that pretend to be zero."""
    if missing(value):
        return NONE
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def statistic(value: Any) -> str:
    """A sum of ranks: whole, or with its half."""
    return NONE if missing(value) else f"{value:g}"


def trait(value: Any) -> str:
    """A count as it is, anything else with three digits."""
    return NONE if missing(value) else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def missing(value: Any) -> bool:
    """Whether there is no value: None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def listing(names: list[str], longest: int = 8) -> str:
    """Names as a sentence has them, the last ones only counted if they are many."""
    if len(names) > longest:
        return f"{', '.join(names[:longest])} and {len(names) - longest} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def plural(count: int, noun: str) -> str:
    """A count with its noun, regular nouns only."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def natural(name: str) -> list[tuple[bool, int, str]]:
    """What sorts names as a reader does: ``9_x`` before ``10_x``."""
    parts = re.split(r"(\d+)", name.casefold())
    return [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts if part]


def with_deviation(value: Any, deviation: Any, decimals: int = 4) -> str:
    """A mean, and after ± how far the seeds lie apart, if there are several."""
    shown = number(value, decimals)
    return shown if missing(value) or missing(deviation) else f"{shown} ± {number(deviation, max(decimals - 1, 1))}"
