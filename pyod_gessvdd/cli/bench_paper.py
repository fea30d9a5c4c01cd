"""``gessvdd bench paper``: the experiments of the GESSVDD paper, compared with its published figures."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pyod_gessvdd.cli.running import how_of, way_options, with_progress
from pyod_gessvdd.errors import ComparisonError

if TYPE_CHECKING:
    from pyod_gessvdd.compare import ComparisonResult
    from pyod_gessvdd.experiments.report.paper.published import Published
    from pyod_gessvdd.experiments.run.job import Job

#: The first line keeps click from re-wrapping the rest.
EXAMPLES = """\b
Examples:
  gessvdd bench paper --quick --data-dir DATA
  gessvdd bench paper --datasets heart --linear --methods variants --jobs 2 --out heart
  gessvdd bench paper --datasets heart --linear --methods variants --jobs 2 --out heart --resume
  gessvdd bench paper --datasets seeds,iris --methods kNN-GR-min,SVDD --nonlinear
"""

#: With --quick, unless the options say otherwise.
QUICK_SPLITS = 2

#: What is measured; the first one chooses the hyperparameters.
METRICS = ("gmean", "tpr", "tnr")


def _names(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Names given with commas, with several options, or both."""
    return tuple(name.strip() for text in value for name in text.split(",") if name.strip())


@click.command("paper", epilog=EXAMPLES)
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    envvar="PYOD_GESSVDD_DATA",
    show_envvar=True,
    help="The folder that holds paper/ and mnist.npz.",
)
@click.option(
    "--datasets",
    multiple=True,
    callback=_names,
    help="Names with commas, all (default: the nine, and Heart with noise) or clean (the nine). With --quick: heart.",
)
@click.option(
    "--methods",
    "--variants",
    "methods",
    multiple=True,
    callback=_names,
    help="Names as in the paper's tables (kNN-GR-min, ESVDD), or all (default), variants, others, main. "
    "With --quick: main.",
)
@click.option("--linear", "kind", flag_value="linear", help="Linear data descriptions only; the default of --quick.")
@click.option("--nonlinear", "kind", flag_value="non-linear", help="Non-linear data descriptions only.")
@click.option("--both", "kind", flag_value="both", help="Both; the default without --quick.")
@click.option("--splits", type=click.IntRange(1, 1000), help="Splits of each data set. [default: 5; with --quick: 2]")
@click.option("--quick", is_flag=True, help="Fewer points of the grid and fewer splits: a first look, not the paper's.")
@click.option(
    "--scale",
    type=click.Choice(["minmax", "standard", "none"]),
    default="minmax",
    show_default=True,
    help="How features are scaled by the training rows of the target class; the paper does not say. MNIST never is.",
)
@click.option(
    "--published", type=click.Path(path_type=Path), help="CSV file of other published figures than the paper's own."
)
@click.option("--seed", type=click.IntRange(0, 2**31), default=0, show_default=True, help="Seeds splits and detectors.")
@way_options(out=Path("paper-run"))
@click.option("--plots/--no-plots", default=True, show_default=True, help="Draw the sensitivity plots.")
def command(
    data_dir: Path | None,
    datasets: tuple[str, ...],
    methods: tuple[str, ...],
    kind: str | None,
    splits: int | None,
    quick: bool,
    scale: str,
    published: Path | None,
    seed: int,
    out: Path,
    plots: bool,
    verbose: bool,
    **way: Any,
) -> None:
    """Repeat the paper's experiments, and compare them with its figures.

    Each class in turn is the target; stratified 70/30 splits (MNIST: 10 % of its own split); hyperparameters by
    five-fold cross-validation within the training rows, with models trained on positives only; the best are fitted to
    all training positives and tested. Every point of a grid is a job. The run folder gets results.sqlite (from which
    --resume continues), results.csv, report.md and the sensitivity plots. The full grid over all data sets takes days:
    choose.
    """
    from pyod_gessvdd.experiments.data.paper import choose_datasets, load
    from pyod_gessvdd.experiments.detectors.paper.methods import LINEAR, NONLINEAR, choose_methods
    from pyod_gessvdd.experiments.experiment import run_experiment
    from pyod_gessvdd.experiments.report.paper.published import PAPER, Published
    from pyod_gessvdd.experiments.result import ComparisonResult

    if data_dir is None:
        raise ComparisonError("the paper's data are not in the package: name their folder with --data-dir")
    data_dir = data_dir.resolve()
    chosen_datasets = choose_datasets(datasets or (("heart",) if quick else ("all",)))
    chosen_methods = choose_methods(methods or (("main",) if quick else ("all",)))
    kind = kind or (LINEAR if quick else "both")
    figures = Published.load(published or PAPER)
    descriptions = (LINEAR, NONLINEAR) if kind == "both" else (kind,)
    if not any(description in method.descriptions for method in chosen_methods for description in descriptions):
        names = ", ".join(method.name for method in chosen_methods)
        raise ComparisonError(f"nothing to run: the paper has no {kind} {names}")
    for dataset in chosen_datasets:
        load(dataset.name, data_dir)
    how = how_of(way)
    how.check()
    how.check_folder(out)
    seeds = range(seed, seed + (splits or (QUICK_SPLITS if quick else 5)))
    jobs = plan(chosen_datasets, chosen_methods, descriptions, seeds, data_dir, quick=quick, scale=scale)
    arguments = {"setting": ["nested"], "metrics": METRICS, "quick": quick, "seed": seed, "scale": scale}
    with with_progress(out, verbose, how, stderr=True) as shown:
        run_experiment(out, jobs, arguments, shown)
    click.echo(_write(ComparisonResult(out), out, figures, plots), nl=False)


def plan(
    datasets: Any, methods: Any, descriptions: Any, seeds: Any, data_dir: Path, *, quick: bool = False, scale: str
) -> list[Job]:
    """All jobs, split by split, so that a run that is stopped early has something of every method.

    A data set with a split of its own has one split.
    """
    from pyod_gessvdd.experiments.data.paper import targets
    from pyod_gessvdd.experiments.detectors.paper.grid import grid_points
    from pyod_gessvdd.experiments.protocols.nested import Nested
    from pyod_gessvdd.experiments.run.job import Job

    protocol = Nested(scale)
    return [
        Job(target, point, protocol, seed, METRICS)
        for dataset in datasets
        for of_class in [targets(dataset, data_dir)]
        for seed in (seeds[:1] if dataset.has_own_split else seeds)
        for target in of_class
        for description in descriptions
        for method in methods
        if description in method.descriptions
        for point in grid_points(method, description, target.n_features, quick=quick)
    ]


def _write(result: ComparisonResult, out: Path, figures: Published, plots: bool) -> str:
    """Write the run folder's report, table and plots; the report comes back."""
    from pyod_gessvdd.experiments.report.paper.report import csv_rows, report
    from pyod_gessvdd.experiments.report.paper.summary import summarise
    from pyod_gessvdd.experiments.report.paper.trials import trials_of

    trials, sensitivity = trials_of(result)
    lines = summarise(trials)
    published = figures.of({line.block for line in lines})
    text = report(trials, result.meta, published)
    (out / "report.md").write_text(text, encoding="utf-8")
    rows = csv_rows(lines, published)
    if rows:
        with (out / "results.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    if plots:
        _draw(sensitivity, out / "sensitivity")
    return text


def _draw(sensitivity: list[dict[str, Any]], folder: Path) -> None:
    from pyod_gessvdd.experiments.report.paper.figures import sensitivity_figure

    grouped: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for point in sensitivity:
        key = tuple(point[name] for name in ("dataset", "description", "method"))
        grouped.setdefault(key, []).append(point)
    folder.mkdir(exist_ok=True)
    for name, points in grouped.items():
        sensitivity_figure(points).savefig(folder / f"{'_'.join(name)}.png", dpi=110)
