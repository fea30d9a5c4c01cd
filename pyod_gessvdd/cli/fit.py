"""``gessvdd fit``: a detector fitted on a file, saved with the names of its features."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pyod_gessvdd.cli.tables import table_options, taken_from

#: The first line keeps click from re-wrapping the rest.
EXAMPLES = """\b
Examples:
  gessvdd fit sensors.csv -o model.gessvdd
  gessvdd fit sensors.csv -o model.gessvdd --label state --normal ok --drop time
  gessvdd fit orders.csv -o model.gessvdd --encode all --missing median
  gessvdd fit orders.csv -o model.gessvdd --encode goods -d "gessvdd(kernel='gower')"
  gessvdd fit rows.parquet -o model.gessvdd --detector "gessvdd(nu=0.05, threshold='radius')"
  gessvdd fit many-files/ -o model.gessvdd --scheduler tcp://10.0.0.1:8786
  gessvdd fit rows.npz -o model.pyod --detector "iforest(n_estimators=200)"
"""


@click.command("fit", epilog=EXAMPLES)
@click.argument("data", type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="Where to save the model.")
@click.option(
    "-d",
    "--detector",
    "spec",
    default="gessvdd",
    show_default=True,
    metavar="SPEC",
    help="Written as for gessvdd compare.",
)
@table_options
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Seeds the detector.")
@click.option("--scheduler", metavar="ADDRESS", help="A Dask scheduler, such as tcp://host:8786, for large Parquet.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def command(data: Path, out: Path, spec: str, seed: int, scheduler: str | None, force: bool, **options: Any) -> None:
    """Fit a detector on DATA and save it.

    DATA is a CSV, TSV, Parquet, NPZ or MAT file. Every column is a feature except for the label, the columns that
    --drop names, and those that look like an index or another label (unless --keep names them). With --normal, only
    the rows with that label are used for training. The model is saved as arrays and JSON, which gessvdd score loads
    without --trusted, or, for PyOD's own detectors, in PyOD's format. It remembers its columns and how they became
    numbers, so that gessvdd score treats new files the same way, its versions, and the plugins that it needs. A folder
    of Parquet files, or a file of more than 100,000 rows, is read block by block, never as a whole.
    """
    from pyod_gessvdd import progress
    from pyod_gessvdd.experiments.detectors.specs import resolve_detectors
    from pyod_gessvdd.tabular.models import save_model
    from pyod_gessvdd.tabular.scoring import fit_file
    from pyod_gessvdd.tabular.streaming import fit_large, is_large
    from pyod_gessvdd.tabular.writing import check_free

    check_free(out, force)
    detectors = resolve_detectors(spec)
    if len(detectors) != 1:
        raise click.UsageError(f"--detector {spec!r} stands for {len(detectors)} detectors; name one")
    if is_large(data):
        with progress.shown(brief=True):
            model, card, n_outliers = fit_large(data, detectors[0], taken_from(options), seed=seed, scheduler=scheduler)
    elif scheduler is not None:
        raise click.UsageError(f"--scheduler is for folders of Parquet and files of many rows; {data} is neither")
    else:
        with progress.shown(brief=True):
            model, card = fit_file(data, detectors[0], taken_from(options), seed=seed)
        n_outliers = int(model.labels_.sum())
    save_model(model, card, out)
    click.echo(
        f"{detectors[0].name} fitted on {card.n_rows:,} rows and {len(card.feature_names):,} features; "
        f"threshold {model.threshold_:.4g}, {n_outliers:,} of the rows above it; saved as {out}"
    )
