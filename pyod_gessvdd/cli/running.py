"""What the commands that run a comparison share: their options, the progress bar, and what is printed at the end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pyod_gessvdd.experiments.metrics import METRICS
from pyod_gessvdd.experiments.protocols.settings import DEFAULT_MAX_ROWS
from pyod_gessvdd.experiments.run.runner import BACKENDS

if TYPE_CHECKING:
    from rich.console import Console

    from pyod_gessvdd.compare import ComparisonResult, Progress


class Seeds(click.ParamType):
    """A number of seeds, or the seeds themselves separated by commas."""

    name = "N or LIST"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """An int or a list of ints."""
        if not isinstance(value, str):
            return value
        try:
            if "," in value:
                return [int(part) for part in value.split(",") if part.strip()]
            return int(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number of seeds nor a list of seeds such as 3,14,15", param, ctx)


def run_options(seeds: int) -> Callable[[Any], Any]:
    """The options of every command that runs a comparison."""
    options = (
        click.option(
            "-d",
            "--detectors",
            multiple=True,
            metavar="LIST",
            help="Detectors, separated by commas; may be given several times. See below.",
        ),
        click.option(
            "--seeds", type=Seeds(), default=seeds, show_default=True, help="How many seeds, or which: 3,14,15."
        ),
        click.option(
            "--metrics",
            default=",".join(METRICS),
            show_default=True,
            metavar="LIST",
            help="What to measure; the first one ranks.",
        ),
        click.option(
            "--max-rows",
            type=click.IntRange(min=0),
            default=DEFAULT_MAX_ROWS,
            show_default=True,
            help="Novelty: subsample larger sets to so many rows; 0 takes all.",
        ),
        click.option(
            "--data-dir",
            type=click.Path(file_okay=False, path_type=Path),
            help="The folder that holds adbench/, odds/ and paper/.  [default: $PYOD_GESSVDD_DATA]",
        ),
        click.option("-j", "--jobs", type=int, default=1, show_default=True, help="Jobs at a time; -1: one per core."),
        click.option(
            "--backend",
            type=click.Choice(BACKENDS),
            default="loky",
            show_default=True,
            help="Processes of this machine (loky), or an existing Dask or Ray cluster.",
        ),
        click.option("--scheduler", metavar="ADDRESS", help="The cluster's address, for dask and ray."),
        click.option("--timeout", type=float, metavar="SECONDS", help="Stop a job after so long; it counts as failed."),
        click.option("-o", "--out", type=click.Path(path_type=Path), help="The run folder.  [default: runs/DATE-TIME]"),
        click.option("--resume", is_flag=True, help="Go on with the run in --out; what it holds is not run again."),
        click.option("--force", is_flag=True, help="Replace the run in --out."),
        click.option("-v", "--verbose", is_flag=True, help="A line for each job."),
    )

    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def run(ctx: click.Context, datasets: Any, detectors: Any, *, out: Path | None, verbose: bool, **options: Any) -> None:
    """Run a comparison, print the leaderboard, write the report, and exit with 1 if a job failed, else 0."""
    from rich.console import Console

    from pyod_gessvdd.experiments.report.page import write_report
    from pyod_gessvdd.experiments.report.terminal import leaderboard

    if options["resume"] and out is None:
        raise click.UsageError("--resume needs the run folder to go on with; name it with --out")
    folder = out or Path("runs") / f"{datetime.now():%Y%m%d-%H%M%S}"
    console = Console(highlight=False)
    result = _run_with_progress(console, folder, verbose, datasets, detectors, options)
    files = write_report(result, folder)
    console.print(leaderboard(result))
    failed = int((result.table["status"] != "done").sum())
    console.print()
    if failed:
        console.print(f"{failed} of {len(result.table)} jobs failed; the report says why.", style="bold red")
    console.print(f"Written to {folder}: {', '.join(path.name for path in files)}", style="dim", soft_wrap=True)
    ctx.exit(1 if failed else 0)


def _run_with_progress(
    console: Console, folder: Path, verbose: bool, datasets: Any, detectors: Any, options: dict[str, Any]
) -> ComparisonResult:
    from pyod_gessvdd.cli.progress import Progress as Shown
    from pyod_gessvdd.compare import compare

    failed = 0
    with Shown(console, "jobs") as shown:

        def show(progress: Progress) -> None:
            nonlocal failed
            if progress.result is None:
                shown.start(progress.total, progress.done)
                return
            row = progress.result.row
            failed += row["status"] != "done"
            shown.update(progress.done, f"{row['dataset']}, {row['detector']}", f"{failed} failed" if failed else "")
            if verbose:
                console.print(_line(row, progress), markup=False, soft_wrap=True)

        try:
            options["metrics"] = [name.strip() for name in options["metrics"].split(",") if name.strip()]
            options["max_rows"] = options["max_rows"] or None
            return compare(datasets, detectors, out=folder, progress=show, **options)
        except KeyboardInterrupt:
            click.echo(f"gessvdd: what is done is kept; go on with --out {folder} --resume", err=True)
            raise


def _line(row: dict[str, Any], progress: Progress) -> str:
    """A job in one line."""
    head = f"{progress.done}/{progress.total} {row['dataset']} {row['detector']} {row['setting']} seed {row['seed']}:"
    if row["status"] != "done":
        return f"{head} {row['status']}, {row['error']}"
    figures = " ".join(f"{name} {row[name]:.4f}" for name in METRICS if row[name] is not None)
    return f"{head} {figures}, fit {row['fit_seconds']:.3g} s, score {row['score_seconds']:.3g} s"
