"""``gessvdd fit``: a detector fitted on a file, saved with the names of its features."""

from __future__ import annotations

from pathlib import Path

import click

#: The first line keeps click from re-wrapping the rest.
EXAMPLES = """\b
Examples:
  gessvdd fit sensors.csv -o model.gessvdd
  gessvdd fit sensors.csv -o model.gessvdd --label state --normal ok --drop time
  gessvdd fit rows.parquet -o model.gessvdd --detector "gessvdd(nu=0.05, threshold='radius')"
  gessvdd fit rows.npz -o model.pyod --detector "iforest(n_estimators=200)"
"""


@click.command("fit", epilog=EXAMPLES)
@click.argument("data", type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="Where to save the model.")
@click.option(
    "-d", "--detector", "spec", default="gessvdd", show_default=True, metavar="SPEC", help="As gessvdd compare has it."
)
@click.option("--label", metavar="COLUMN", help="The label column, which is no feature.")
@click.option("--normal", metavar="VALUE", help="Train only on the rows with this label.")
@click.option("--drop", multiple=True, metavar="COLUMN", help="A column that is no feature; can be repeated.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Of the detector.")
@click.option("--force", is_flag=True, help="Replace the file that is there.")
def command(
    data: Path,
    out: Path,
    spec: str,
    label: str | None,
    normal: str | None,
    drop: tuple[str, ...],
    seed: int,
    force: bool,
) -> None:
    """Fit a detector on DATA and save it.

    DATA is a CSV, TSV, Parquet, NPZ or MAT file; every column is a feature except for --label and --drop. The model is
    saved as arrays and JSON, which `gessvdd score` loads without --trusted, or, if the detector is PyOD's own, in
    PyOD's format; with the names of the features, versions, and the plugins that it needs.
    """
    from pyod_gessvdd.experiments.detectors.specs import resolve_detectors
    from pyod_gessvdd.tabular.frames import check_free, read_frame
    from pyod_gessvdd.tabular.models import save_model
    from pyod_gessvdd.tabular.scoring import fit_frame

    check_free(out, force)
    detectors = resolve_detectors(spec)
    if len(detectors) != 1:
        raise click.UsageError(f"--detector {spec!r} stands for {len(detectors)} detectors; name one")
    model, card = fit_frame(read_frame(data), detectors[0], data, label=label, normal=normal, drop=drop, seed=seed)
    save_model(model, card, out)
    n_outliers = int(model.labels_.sum())
    click.echo(
        f"{detectors[0].name} fitted on {card.n_rows:,} rows and {len(card.feature_names):,} features; "
        f"threshold {model.threshold_:.4g}, {n_outliers:,} of the rows above it; saved as {out}"
    )
