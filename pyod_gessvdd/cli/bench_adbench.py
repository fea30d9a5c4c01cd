"""``gessvdd bench adbench``: ADBench's data with ADBench's protocol, and with the novelty protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pyod_gessvdd.cli.running import beside_published, run, run_options, setting_option
from pyod_gessvdd.experiments.detectors.catalogue import DEFAULT

#: The first line keeps click from re-wrapping the rest.
EXAMPLES = """\b
Examples:
  gessvdd bench adbench --data-dir data --jobs 2 --timeout 600 --out runs/adbench
  gessvdd bench adbench cardio glass --data-dir data -d gessvdd,knn,iforest
  gessvdd bench adbench --setting unsupervised --data-dir data -d all-pyod --timeout 60
  gessvdd bench adbench --data-dir data -d gessvdd,knn,iforest,ocsvm,ecod --published adbench.csv
"""


@click.command("adbench", epilog=EXAMPLES)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@setting_option("both")
@run_options(seeds=3)
@click.option(
    "--published",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A CSV file of published figures to compare with: a column 'dataset', and one for each method.",
)
@click.pass_context
def command(
    ctx: click.Context, names: tuple[str, ...], detectors: tuple[str, ...], published: Path | None, **options: Any
) -> None:
    """Compare detectors on ADBench's sets.

    NAME is a set such as 6_cardio or cardio; without it all that are in DATA_DIR/adbench are run. ADBench's protocol:
    seeds 1 to 3, sets below 1,000 rows bootstrapped to 1,000 and above 10,000 subsampled, a stratified 70/30 split,
    training on the contaminated 70 %, scaled to [0, 1] by it. Its bootstrap puts copies of training rows into the test
    part; how many is counted. "gessvdd compare --help" explains what a detector can be and what the exit code means.

    With --published, the run folder also gets published.md: what was run here and what was published, in one ranking
    only if the means of KNN, IForest, OCSVM and ECOD are within a point of the published ones.
    """
    data = [f"adbench/{name}" for name in names] or ["adbench"]
    if published is not None:
        from pyod_gessvdd.experiments.report.published import Publication

        options["more"] = beside_published(Publication.read(published))
    run(ctx, data, detectors or DEFAULT, **options)
