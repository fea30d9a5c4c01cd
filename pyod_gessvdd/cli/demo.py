"""``gessvdd demo``: a preset comparison of GESSVDD with four of PyOD's detectors on scikit-learn's data."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import click

from pyod_gessvdd.cli.running import compared

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType

#: Data sets as ``gessvdd compare`` takes them; the digits are each taken as normal in turn.
DIGITS = tuple(f"digits:{digit}" for digit in range(10))
DATASETS = ("breast-cancer", "wine", *DIGITS)
QUICK_DATASETS = (*DATASETS[:2], DIGITS[0])
#: Default parameters; training rows are clean here, and GESSVDD can be told so.
DETECTORS = ("GESSVDD(novelty=True)", "GESSVDD", "OCSVM", "KNN", "IForest", "KPCA")

#: The first line keeps click from re-wrapping the rest.
EXAMPLES = """\b
Examples:
  gessvdd demo
  gessvdd demo --quick --seeds 5
"""


@click.command("demo", epilog=EXAMPLES)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**31),
    default=0,
    show_default=True,
    help="The first seed of splits and detectors.",
)
@click.option("--seeds", type=click.IntRange(1, 1000), default=3, show_default=True, help="How many seeds.")
@click.option("--quick", is_flag=True, help="Take only the digit 0 as normal instead of each of the ten.")
def command(seed: int, seeds: int, quick: bool) -> None:
    """Compare GESSVDD with PyOD's OCSVM, KNN, IForest and KPCA.

    On scikit-learn's bundled breast-cancer, wine and digits data: one class is normal, the detectors are trained on
    its rows alone, and must distinguish them from the other classes among held-out rows. All have their default
    parameters; GESSVDD also runs with novelty=True. It is "gessvdd compare" on these sets, takes about a
    minute and downloads nothing.
    """
    from rich.console import Console

    start = perf_counter()
    result = compared(
        None,
        QUICK_DATASETS if quick else DATASETS,
        DETECTORS,
        verbose=False,
        seeds=range(seed, seed + seeds),
        metrics="roc_auc,average_precision",
        max_rows=0,
        **{
            "jobs": 1,
            "backend": "loky",
            "scheduler": None,
            "timeout": None,
            "memory": None,
            "resume": False,
            "force": False,
        },
    )
    console = Console(highlight=False)
    console.print(_table(result.table))
    digits = "0" if quick else "each of the ten in turn (mean)"
    for line in (
        "",
        "* the best ROC-AUC of its data set; ± the standard deviation over the seeds. GESSVDD(novelty) has "
        "novelty=True: the training rows are declared clean, as they are here; all other parameters are the defaults.",
        f"Normal class: breast-cancer: benign, wine: class_1 (the largest), digits: {digits}.",
        f"Trained on the normal rows of 70 % (stratified, {seeds} seed{'s' * (seeds > 1)} from {seed}) and scaled by "
        "them; tested on the other 30 %.",
        f"{perf_counter() - start:.0f} s in all.",
    ):
        console.print(line, style="dim")


def _table(jobs: pd.DataFrame) -> RenderableType:
    """A block per data set, the digits as one, and a block of means over these blocks."""
    from pyod_gessvdd.experiments.report.fitting_table import FittingTable
    from pyod_gessvdd.experiments.report.formats import number, with_deviation

    columns = ["roc_auc", "average_precision", "fit_seconds", "score_seconds"]
    jobs = jobs.assign(dataset=jobs["dataset"].str.partition(":")[0])
    by_seed = jobs.groupby(["dataset", "detector", "seed"], sort=False)[columns].mean().reset_index()
    mean = by_seed.groupby(["detector", "seed"], sort=False)[columns].mean().reset_index().assign(dataset="mean")
    table = FittingTable(["data set", "detector"], ["ROC-AUC  ", "avg. prec.", "fit (ms)", "score"])
    blocks = [*by_seed.groupby("dataset", sort=False), ("mean", mean)]
    for name, block in blocks:
        of_detector = block.groupby("detector", sort=False)[columns]
        means, spreads = of_detector.mean(), of_detector.std()
        best = means["roc_auc"].round(4).max()
        for i, (detector, row) in enumerate(means.iterrows()):
            auc = with_deviation(row["roc_auc"], spreads.loc[detector, "roc_auc"])
            table.add_row(
                name if i == 0 else "",
                detector.replace("novelty=True", "novelty"),
                f"[bold green]{auc} *[/]" if round(row["roc_auc"], 4) == best else f"{auc}  ",
                number(row["average_precision"]),
                f"{1000 * row['fit_seconds']:,.1f}",
                f"{1000 * row['score_seconds']:,.1f}",
            )
        table.add_section()
    return table
