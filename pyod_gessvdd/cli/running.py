"""What the commands that run a comparison share: their options, the progress bar, and what is printed at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pyod_gessvdd.experiments.experiment import How
from pyod_gessvdd.experiments.metrics import METRICS, known_metrics
from pyod_gessvdd.experiments.protocols.novelty import DEFAULT_MAX_ROWS
from pyod_gessvdd.experiments.report.formats import listing
from pyod_gessvdd.experiments.run.runner import BACKENDS

if TYPE_CHECKING:
    from rich.console import Console

    from pyod_gessvdd.compare import ComparisonResult, Progress
    from pyod_gessvdd.experiments.report.published import Publication


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


def way_options(out: Path | None = None) -> Callable[[Any], Any]:
    """The options that say how jobs are run, and where to; the same for every experiment."""
    where = "runs/DATE-TIME" if out is None else str(out)
    return _decorator(
        click.option("-j", "--jobs", type=int, default=1, show_default=True, help="Jobs at a time; -1: one per core."),
        click.option(
            "--backend",
            type=click.Choice(BACKENDS),
            default="loky",
            show_default=True,
            help="Processes of this machine (loky), or an existing Dask or Ray cluster.",
        ),
        click.option("--scheduler", metavar="ADDRESS", help="The cluster's address, for dask and ray."),
        click.option(
            "--timeout", type=float, metavar="SECONDS", help="Stop a job after this time; it counts as failed."
        ),
        click.option("--memory", metavar="SIZE", help="Fail jobs that need more memory than this, for example 4G."),
        click.option(
            "-o", "--out", type=click.Path(path_type=Path), default=out, help=f"The run folder.  [default: {where}]"
        ),
        click.option("--resume", is_flag=True, help="Continue the run in --out; finished jobs are not run again."),
        click.option("--force", is_flag=True, help="Replace the run in --out."),
        click.option("-v", "--verbose", is_flag=True, help="A line for each job."),
    )


def run_options(seeds: int, metrics: str = ",".join(METRICS)) -> Callable[[Any], Any]:
    """The options of every command that runs a comparison."""
    what = _decorator(
        click.option(
            "-d",
            "--detectors",
            multiple=True,
            metavar="LIST",
            help="Detectors, separated by commas; can be repeated. See below.",
        ),
        click.option(
            "--seeds", type=Seeds(), default=seeds, show_default=True, help="How many seeds, or which: 3,14,15."
        ),
        click.option(
            "--metrics",
            default=metrics,
            show_default=True,
            metavar="LIST",
            help="What to measure; the first one ranks.",
        ),
        click.option(
            "--max-rows",
            type=click.IntRange(min=0),
            default=DEFAULT_MAX_ROWS,
            show_default=True,
            help="Subsample larger sets to this many rows; 0 takes all (unsupervised: ADBench's 10,000).",
        ),
        click.option(
            "--contamination",
            type=float,
            metavar="SHARE",
            help="Drop outliers until they are at most this share of the rows, in settings that train on some.",
        ),
        click.option(
            "--data-dir",
            type=click.Path(file_okay=False, path_type=Path),
            help="The folder that holds adbench/, oddbench/, odds/ and paper/.  [default: $PYOD_GESSVDD_DATA]",
        ),
    )
    way = way_options()
    return lambda command: what(way(command))


def setting_option(default: str) -> Callable[[Any], Any]:
    """``--setting``: the built-in protocols are named; plugins may bring others."""
    return click.option(
        "--setting",
        default=default,
        show_default=True,
        metavar="NAME",
        help="novelty: train on normal rows alone; unsupervised: on contaminated rows, as ADBench does; transductive: "
        "judge the training rows themselves; nested; both: the first two; several with commas.",
    )


def _decorator(*options: Any) -> Callable[[Any], Any]:
    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def how_of(way: dict[str, Any]) -> How:
    """What the options of :func:`way_options` say, apart from the folder."""
    names = ("jobs", "backend", "scheduler", "timeout", "memory", "resume", "force")
    return How(**{name: way.pop(name) for name in names})


def run(
    ctx: click.Context,
    datasets: Any,
    detectors: Any,
    *,
    out: Path | None,
    verbose: bool,
    more: Callable[[Console, ComparisonResult, Path], Path] | None = None,
    **options: Any,
) -> None:
    """Run a comparison, print the leaderboard, write the report, and exit with 1 if a job failed, else 0.

    ``more`` prints and writes what a benchmark adds, and gives the file's path.
    """
    from pyod_gessvdd.experiments.report.page import write_report
    from pyod_gessvdd.experiments.report.terminal import leaderboard

    if options["resume"] and out is None:
        raise click.UsageError("--resume needs the run folder to continue; name it with --out")
    folder = out or Path("runs") / f"{datetime.now():%Y%m%d-%H%M%S}"
    result = compared(folder, datasets, detectors, verbose=verbose, **options)
    console = _console()
    files = write_report(result, folder)
    console.print(leaderboard(result))
    files += [more(console, result, folder)] if more else []
    failed = print_failures(console, result)
    console.print(f"Written to {folder}: {', '.join(path.name for path in files)}", style="dim", soft_wrap=True)
    ctx.exit(1 if failed else 0)


def beside_published(publication: Publication) -> Callable[[Console, ComparisonResult, Path], Path]:
    """What writes published.md, and prints what the calibration says."""

    def write(console: Console, result: ComparisonResult, folder: Path) -> Path:
        for setting in publication.settings_of(result):
            console.print(f"{setting}: {publication.calibrate(result, setting).sentence}", markup=False)
        path = folder / "published.md"
        path.write_text(publication.report(result), encoding="utf-8")
        return path

    return write


def compared(folder: Path | None, datasets: Any, detectors: Any, *, verbose: bool, **options: Any) -> ComparisonResult:
    """Run a comparison with a progress bar."""
    from pyod_gessvdd.experiments.comparison import run_comparison

    options["metrics"] = [name.strip() for name in options["metrics"].split(",") if name.strip()]
    options["max_rows"] = options["max_rows"] or None
    with with_progress(folder, verbose, how_of(options)) as how:
        return run_comparison(datasets, detectors, how, out=folder, **options)


def print_failures(console: Console, result: ComparisonResult) -> int:
    """The reason of each kind of failure, in a line; the number of jobs that failed."""
    failed = result.table[result.table["status"] != "done"]
    console.print()
    if len(failed):
        console.print(f"{len(failed)} of {len(result.table)} jobs failed:", style="bold red")
        for (detector, error), jobs in failed.groupby(["detector", "error"], sort=False, dropna=False):
            where = listing(list(dict.fromkeys(jobs["dataset"])), 3)
            console.print(f"  {detector} on {where}: {error}", markup=False, style="red", soft_wrap=True)
    return len(failed)


def _console(stderr: bool = False) -> Console:
    from rich.console import Console

    return Console(highlight=False, stderr=stderr)


@contextmanager
def with_progress(folder: Path | None, verbose: bool, how: How, *, stderr: bool = False) -> Iterator[How]:
    """A progress bar for what is run with the How that comes back; an interrupt says how to go on."""
    from pyod_gessvdd.cli.progress import Progress as Shown

    console = _console(stderr)
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
            yield replace(how, progress=show)
        except KeyboardInterrupt:
            if folder is not None:
                click.echo(f"gessvdd: finished jobs are kept; continue with --out {folder} --resume", err=True)
            raise


def _line(row: dict[str, Any], progress: Progress) -> str:
    """A job in one line."""
    head = f"{progress.done}/{progress.total} {row['dataset']} {row['detector']} {row['setting']} seed {row['seed']}:"
    if row["status"] != "done":
        return f"{head} {row['status']}, {row['error']}"
    names = [name for name in known_metrics() if row.get(name) is not None]
    figures = " ".join(f"{name} {row[name]:.4f}" for name in names)
    return f"{head} {figures}, fit {row['fit_seconds']:.3g} s, score {row['score_seconds']:.3g} s"
