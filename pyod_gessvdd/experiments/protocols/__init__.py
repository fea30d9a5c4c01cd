"""How rows become rows to fit and rows to judge. Plugins bring other protocols through ``register_protocols``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import numpy as np

from pyod_gessvdd.components.registry import registry
from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.protocols.dte import DTESemi, DTEUnsupervised
from pyod_gessvdd.experiments.protocols.nested import Nested
from pyod_gessvdd.experiments.protocols.novelty import Novelty
from pyod_gessvdd.experiments.protocols.protocol import Protocol
from pyod_gessvdd.experiments.protocols.pyod_suite import PyODSuite
from pyod_gessvdd.experiments.protocols.transductive import Transductive
from pyod_gessvdd.experiments.protocols.unsupervised import Unsupervised

#: The built-in protocols.
BUILTIN = (Novelty, Unsupervised, Transductive, Nested, PyODSuite, DTESemi, DTEUnsupervised)

#: What "both" has stood for since there were two.
BOTH = ("novelty", "unsupervised")


def known_protocols() -> dict[str, type[Protocol]]:
    """All protocols by name, the built-in ones first."""
    return registry().extensions("protocol", Protocol)


def protocols_of(setting: str, **options: Any) -> list[Protocol]:
    """The protocols that names with commas, or "both", stand for.

    Parameters
    ----------
    setting : str
        "novelty", "novelty,transductive", "both" …
    **options
        Given to the protocols that have a field of the name; one that none of them has must be None.
    """
    known = known_protocols()
    names = BOTH if setting == "both" else [name.strip() for name in str(setting).split(",")]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ComparisonError(f"setting must be {', '.join(known)} or both, got {setting!r}")
    made = []
    for name in dict.fromkeys(names):
        own = {field.name for field in fields(known[name])}
        made.append(known[name](**{option: value for option, value in options.items() if option in own}))
    if options.get("contamination") is not None and not any(hasattr(one, "contamination") for one in made):
        raise ComparisonError(f"the setting {setting} trains on no outliers, so contamination has no meaning there")
    return made


def seeds_of(seeds: Any, first: int = 0) -> tuple[int, ...]:
    """The seeds: ``n`` means n of them beginning with ``first``; a list is taken as it is."""
    if isinstance(seeds, int | np.integer) and not isinstance(seeds, bool) and seeds >= 1:
        return tuple(range(first, first + int(seeds)))
    if isinstance(seeds, Iterable) and not isinstance(seeds, str):
        listed = list(seeds)
        if listed and all(isinstance(seed, int | np.integer) and 0 <= seed < 2**32 for seed in listed):
            return tuple(dict.fromkeys(int(seed) for seed in listed))
    raise ComparisonError(f"seeds must be a positive number of seeds or a list of seeds in 0..2**32-1, got {seeds!r}")
