"""``gessvdd report``: draw the report of a run again from its results."""

from __future__ import annotations

from pathlib import Path

import click

#: The first line keeps click from re-wrapping the rest.
EXAMPLES = """\b
Examples:
  gessvdd report
  gessvdd report runs/first
"""


@click.command("report", epilog=EXAMPLES)
@click.argument("run", type=click.Path(path_type=Path), default=Path())
def command(run: Path) -> None:
    """Draw the report of a run folder again.

    Writes its results.csv, report.md and report.html.

    RUN is the folder that gessvdd compare wrote (its --out), the current one if it is not given. Everything is taken
    from its results.sqlite; nothing is fitted. An unfinished run is reported up to now.
    """
    from rich.console import Console

    from pyod_gessvdd.extras import need

    need("pandas", "compare", "gessvdd report")
    from pyod_gessvdd.experiments.report.page import write_report
    from pyod_gessvdd.experiments.report.terminal import leaderboard
    from pyod_gessvdd.experiments.result import ComparisonResult

    result = ComparisonResult.load(run)
    if result.meta["arguments"].get("setting") == ["nested"] and "scale" in result.meta["arguments"]:
        raise click.ClickException(
            f"the run in {str(run)!r} is one of gessvdd bench paper; the same command with --resume draws its report"
        )
    paths = write_report(result, run)
    console = Console(highlight=False)
    console.print(leaderboard(result))
    console.print()
    for path in paths:
        console.print(str(path), soft_wrap=True, markup=False)
