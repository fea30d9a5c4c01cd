"""How long the fuzzers run: some seconds with a fixed seed in the suite, as long as one likes with ``make fuzz``."""

from __future__ import annotations

import os
from collections.abc import Callable

from hypothesis import HealthCheck, Phase, settings

#: The number of examples of each fuzzer; ``make fuzz`` sets it.
EXAMPLES = "PYOD_GESSVDD_FUZZ"


def fuzzed(examples: int) -> Callable:
    """The settings of a fuzzer that tries so many examples in the suite, always the same ones."""
    wanted = int(os.environ.get(EXAMPLES, 0))
    return settings(
        max_examples=wanted or examples,
        derandomize=not wanted,
        database=None,
        deadline=None,
        # Without its time-consuming explanations; a failing example is made small as always.
        phases=[Phase.explicit, Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
