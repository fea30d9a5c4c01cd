"""``gessvdd bench pyod``: PyOD's own benchmark with GESSVDD as more columns of it."""

from __future__ import annotations

from typing import Any

import click

from pyod_gessvdd.cli.running import run, run_options
from pyod_gessvdd.errors import ComparisonError

#: PyOD's 17 ODDS sets, and where each is read from; ADBench holds the same rows of most.
SETS = {
    "arrhythmia": "odds/arrhythmia",
    "cardio": "adbench/cardio",
    "glass": "odds/glass",
    "ionosphere": "odds/ionosphere",
    "letter": "adbench/letter",
    "lympho": "odds/lympho",
    "mnist": "adbench/mnist",
    "musk": "adbench/musk",
    "optdigits": "adbench/optdigits",
    "pendigits": "adbench/pendigits",
    "pima": "adbench/Pima",
    "satellite": "adbench/satellite",
    "satimage-2": "adbench/satimage-2",
    "shuttle": "adbench/shuttle",
    "vertebral": "adbench/vertebral",
    "vowels": "adbench/vowels",
    "wbc": "odds/wbc",
}
#: PyOD's ten with its parameters, and ours.
DETECTORS = (
    *("GESSVDD", "ABOD", "CBLOF(check_estimator=False)", "FeatureBagging(check_estimator=False)", "HBOS", "IForest"),
    *("KNN", "LOF", "MCD", "OCSVM", "PCA"),
)

#: The first line keeps click from re-wrapping the rest.
EXAMPLES = """\b
Examples:
  gessvdd bench pyod --data-dir data --jobs 2 --timeout 600 --out runs/pyod
  gessvdd bench pyod cardio glass --data-dir data -d gessvdd,knn,iforest --seeds 5
"""


@click.command("pyod", epilog=EXAMPLES)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@run_options(seeds=20, metrics="roc_auc,precision_at_n")
@click.pass_context
def command(ctx: click.Context, names: tuple[str, ...], detectors: tuple[str, ...], **options: Any) -> None:
    """Run PyOD's benchmark, with GESSVDD as one more column.

    NAME is one of its 17 ODDS sets; without it all that are in DATA_DIR/odds and DATA_DIR/adbench are run, and those
    that are missing are named. Its protocol: 20 random 60/40 splits, training on all rows of the 60 %, standardised,
    with the true share of outliers as contamination; ROC-AUC, precision@n and time. "gessvdd compare --help" explains
    what a detector can be and what the exit code means.
    """
    from pyod_gessvdd.experiments.data.datasets import resolve_datasets

    unknown = [name for name in names if name not in SETS]
    if unknown:
        raise ComparisonError(f"PyOD's benchmark has no set {unknown[0]!r}; its sets are {', '.join(SETS)}")
    found, missing = [], []
    for name in names or SETS:
        try:
            resolve_datasets(SETS[name], data_dir=options["data_dir"])
            found.append(SETS[name])
        except ComparisonError as error:
            missing.append((name, error))
    if not found:
        raise missing[0][1]
    if missing:
        listed = ", ".join(name for name, _ in missing)
        click.echo(f"Missing, and left out: {listed} ({len(found)} of {len(found) + len(missing)} sets are run).")
    run(ctx, found, detectors or DETECTORS, setting="pyod", **{**options, "max_rows": 0})
