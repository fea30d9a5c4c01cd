"""``gessvdd bench``: published experiments, one command each."""

from __future__ import annotations

import click

from pyod_gessvdd.cli.groups import LazyGroup

#: Each is the module ``bench_NAME`` next to this one, whose ``command`` is the click command.
BENCHMARKS = ("adbench", "dte", "paper", "pyod")


class Benchmarks(LazyGroup):
    """One command per benchmark."""

    names = BENCHMARKS
    prefix = f"{__package__}.bench_"


#: The first line keeps click from re-wrapping the rest.
EXAMPLES = """\b
Examples:
  gessvdd bench
  gessvdd bench paper --quick
  gessvdd bench adbench --data-dir DATA --jobs 2
  gessvdd bench pyod --data-dir DATA --jobs 2
  gessvdd bench dte --data-dir DATA --jobs 2
"""


@click.group("bench", cls=Benchmarks, epilog=EXAMPLES)
def command() -> None:
    """Repeat published experiments."""
