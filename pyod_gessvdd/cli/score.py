"""``gessvdd score``: the rows of a file with the scores that a saved model gives them."""

from __future__ import annotations

from pathlib import Path

import click

#: The first line keeps click from re-wrapping the rest.
EXAMPLES = """\b
Examples:
  gessvdd score model.gessvdd new.csv -o scored.csv
  gessvdd score model.gessvdd new.parquet -o scored.parquet --explain outliers
  gessvdd score model.gessvdd new.csv -o scored.csv --top 0 --prefix gessvdd_
  gessvdd score iforest.pyod new.csv -o scored.csv --trusted
"""


@click.command("score", epilog=EXAMPLES)
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="A CSV, TSV or Parquet file.")
@click.option("--trusted", is_flag=True, help="Load a pickle, which can run any code: know where it is from.")
@click.option(
    "--top", type=click.IntRange(min=0), default=3, show_default=True, help="How many features to name per row."
)
@click.option(
    "--explain",
    type=click.Choice(["all", "outliers"]),
    default="all",
    show_default=True,
    help="The rows whose features are named.",
)
@click.option("--prefix", default="", metavar="TEXT", help="Before the names of the new columns.")
@click.option("--force", is_flag=True, help="Replace the file that is there.")
def command(
    model: Path, data: Path, out: Path, trusted: bool, top: int, explain: str, prefix: str, force: bool
) -> None:
    """Score the rows of DATA with a saved model.

    The columns of DATA are kept, and these are added: score, label (1 is an outlier), probability (of being one) and,
    if the detector can explain itself, feature_1 and contribution_1 … of the features that contribute most. Features
    are found by name, in any order.
    """
    from pyod_gessvdd.tabular.frames import check_free, listed, read_frame, write_frame
    from pyod_gessvdd.tabular.models import load_model
    from pyod_gessvdd.tabular.scoring import score_frame

    check_free(out, force)
    detector, card, notes = load_model(model, trusted=trusted)
    frame = read_frame(data)
    extra = [name for name in frame.columns if name not in {*card.feature_names, *card.left_out}]
    if extra:
        notes.append(f"{data} has columns that are no features of the model, kept as they are: {listed(extra)}")
    scored = score_frame(frame, detector, card, data, top=top, explain=explain, prefix=prefix)
    write_frame(scored, out)
    for note in notes:
        click.echo(f"gessvdd: note: {note}", err=True)
    n_outliers = int((scored[f"{prefix}label"] == 1).sum())
    click.echo(f"{len(scored):,} rows scored, {n_outliers:,} of them outliers; written to {out}")
