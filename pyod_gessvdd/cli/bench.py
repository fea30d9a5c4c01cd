"""``gessvdd bench``: published experiments, one command each."""

from __future__ import annotations

from importlib import import_module

import click

#: Each is the module ``bench_NAME`` beside this one, whose ``command`` is the click command.
BENCHMARKS = ("adbench", "dte", "paper", "pyod")


class Benchmarks(click.Group):
    """A group that imports a benchmark's module when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, without importing anything."""
        return list(BENCHMARKS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The benchmark of that name."""
        if cmd_name not in BENCHMARKS:
            return None
        benchmark: click.Command = import_module(f"{__package__}.bench_{cmd_name}").command
        return benchmark


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
