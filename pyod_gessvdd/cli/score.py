"""``gessvdd score``: the rows of a file with the scores that a saved model gives them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pyod_gessvdd.cli.tables import reading_options
from pyod_gessvdd.tabular.preparation import POLICIES

#: The first line keeps click from re-wrapping the rest.
EXAMPLES = """\b
Examples:
  gessvdd score model.gessvdd new.csv -o scored.csv
  gessvdd score model.gessvdd new.parquet -o scored.parquet --explain outliers
  gessvdd score model.gessvdd new.csv -o scored.csv --top 0 --prefix gessvdd_
  gessvdd score model.gessvdd new.csv -o - --missing drop | head
  gessvdd score model.gessvdd many-files/ -o scored.parquet --scheduler tcp://10.0.0.1:8786
  gessvdd score iforest.pyod new.csv -o scored.csv --trusted
"""


@click.command("score", epilog=EXAMPLES)
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, allow_dash=True),
    required=True,
    help="A CSV, TSV or Parquet file, or - for CSV on the standard output.",
)
@click.option("--trusted", is_flag=True, help="Load a pickle, which can run any code; trust its source.")
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
@click.option("--prefix", default="", metavar="TEXT", help="Prefix of the new columns' names.")
@click.option(
    "--missing",
    type=click.Choice(POLICIES),
    help="Refuse missing values, give such rows no score (drop), or fill them with what was learnt at fit.  "
    "[default: as at fit]",
)
@reading_options
@click.option("--scheduler", metavar="ADDRESS", help="A Dask scheduler, such as tcp://host:8786, for large Parquet.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def command(
    model: Path,
    data: Path,
    out: Path,
    trusted: bool,
    top: int,
    explain: str,
    prefix: str,
    missing: str | None,
    scheduler: str | None,
    force: bool,
    **reading: Any,
) -> None:
    """Score the rows of DATA with a saved model.

    The columns of DATA are kept, and these are added: score, label (1 is an outlier), probability (of being one) and,
    if the detector can explain itself, feature_1 and contribution_1 … of the features that contribute most. Features
    are found by name, in any order, and encoded as they were for the fit. A folder of Parquet files, or a file of
    more than 100,000 rows, is scored into a Parquet file block by block.
    """
    import logging

    from rich.console import Console

    from pyod_gessvdd.cli.progress import Progress
    from pyod_gessvdd.tabular.models import load_model
    from pyod_gessvdd.tabular.scoring import Scorer
    from pyod_gessvdd.tabular.streaming import is_large, n_rows_of, score_large
    from pyod_gessvdd.tabular.tables import read_table, suffix
    from pyod_gessvdd.tabular.wording import listed
    from pyod_gessvdd.tabular.writing import STDOUT, check_table_target, write_frame

    logger = logging.getLogger(__name__)
    check_table_target(out, force)
    detector, card, notes = load_model(model, trusted=trusted)
    scorer = Scorer(detector, card, top=top, explain=explain, prefix=prefix)
    if suffix(out) == ".parquet" and is_large(data):
        with Progress(Console(stderr=True, highlight=False), "rows") as progress:
            progress.start(n_rows_of(data))
            n_scored, n_outliers = score_large(scorer, data, out, missing, progress.update, scheduler)
        click.echo(f"{n_scored:,} rows scored, {n_outliers:,} of them outliers; written to {out}")
        return
    if scheduler is not None:
        raise click.UsageError(
            f"--scheduler is for large Parquet that is scored into Parquet, and {data} into {out} is not that"
        )
    raw = read_table(data, **reading)
    scorer.check(raw.frame, data)
    prepared = card.preparation.apply(raw.frame.reset_index(drop=True), data, missing)
    extra = [name for name in raw.frame.columns if name not in {*card.feature_names, *card.left_out}]
    if extra:
        notes.append(f"{data} has columns that are no features of the model, kept as they are: {listed(extra)}")
    for note in [*notes, *(f"{data}: {note}" for note in (*raw.notes, *prepared.notes))]:
        logger.info("%s", note)
    with Progress(Console(stderr=True, highlight=False), "rows") as progress:
        progress.start(len(prepared.X))
        scored = scorer.score(raw.frame, prepared.X, prepared.complete, progress.update)
    write_frame(scored, out)
    n_outliers = int((scored[f"{prefix}label"] == 1).sum())
    where = "" if out == STDOUT else f"; written to {out}"
    click.echo(f"{len(prepared.X):,} rows scored, {n_outliers:,} of them outliers{where}", err=out == STDOUT)
