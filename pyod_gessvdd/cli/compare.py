"""``gessvdd compare``: detectors side by side on your own data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from pyod_gessvdd.cli.running import run, run_options, setting_option
from pyod_gessvdd.cli.tables import table_options, taken_from
from pyod_gessvdd.experiments.data.datasets import BUNDLED
from pyod_gessvdd.experiments.detectors.catalogue import DEFAULT, GROUPS

#: The first line of each paragraph keeps click from re-wrapping the rest.
NOTES = f"""\b
DATA is any of
  {", ".join(BUNDLED)}: bundled; NAME:CLASS takes another class as normal
  FILE.csv, .tsv, .parquet, .npz, .mat, or a folder of such files
  adbench, oddbench, odds, paper, or adbench/NAME: under --data-dir
\b
A detector is any of
  ocsvm, "iforest(n_estimators=200)": PyOD's, with parameters if wanted
  gessvdd, "gessvdd(laplacian='knn(n_neighbors=7)')", svdd, essvdd, ...
  gessvdd:kNN-GR-min: a variant of the paper
  "package.module:Class(parameter=1)": one of your own
  {", ".join(GROUPS)}: a group
By default: {", ".join(DEFAULT)}.
\b
Exit code: 0 all jobs done, 1 some failed, 2 bad input, 130 interrupted.
\b
Examples:
  gessvdd compare
  gessvdd compare wine iris -d gessvdd,knn,ocsvm --seeds 3 --jobs 2
  gessvdd compare sensors.csv --label state --normal ok -d fast --setting both
  gessvdd compare orders.csv --label fraud --drop order_no --encode all --missing median
  gessvdd compare adbench --data-dir data -d "gessvdd,iforest(n_estimators=200)" --timeout 600 --out runs/adbench
  gessvdd compare adbench --data-dir data -d "gessvdd,iforest(n_estimators=200)" --out runs/adbench --resume
"""


@click.command("compare", epilog=NOTES)
@click.argument("data", nargs=-1, metavar="[DATA]...")
@table_options
@setting_option("novelty")
@run_options(seeds=5)
@click.pass_context
def command(ctx: click.Context, data: tuple[str, ...], detectors: tuple[str, ...], **options: Any) -> None:
    """Compare detectors on data sets, and draw the report.

    Prints a table and writes results.csv, report.md and report.html.

    Every data set, detector, setting and seed is a job. Results are stored as they arrive: a run that was stopped in
    any way continues with --resume. A detector that raises, returns NaN, crashes or exceeds --timeout is recorded as
    failed.
    """
    tables = asdict(taken_from(options))
    label, normal = tables.pop("label"), tables.pop("normal")
    run(ctx, data or tuple(BUNDLED), detectors or DEFAULT, label=label, normal=normal, tables=tables, **options)
