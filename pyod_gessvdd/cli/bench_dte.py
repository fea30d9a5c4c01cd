"""``gessvdd bench dte``: DTE's protocols on ADBench's sets, compared with its published figures of 26 methods."""

from __future__ import annotations

from typing import Any

import click

from pyod_gessvdd.cli.running import beside_published, run, run_options

#: KNN, IForest, OCSVM and ECOD show whether the protocol is the published one.
DETECTORS = (
    *("GESSVDD(novelty=True)", "GESSVDD", "KNN", "KNN(n_neighbors=32)", "IForest", "OCSVM", "ECOD", "LOF"),
    *("DTE-NP", "DTE-NP(n_neighbors=32)"),
)
SETTINGS = {"semi": "dte_semi", "unsupervised": "dte_unsupervised", "both": "dte_semi,dte_unsupervised"}

#: The first line keeps click from re-wrapping the rest.
EXAMPLES = """\b
Examples:
  gessvdd bench dte --data-dir data --jobs 2 --timeout 600 --out runs/dte
  gessvdd bench dte cardio thyroid --data-dir data --setting semi -d gessvdd,knn,iforest,ocsvm,ecod
"""


@click.command("dte", epilog=EXAMPLES)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--setting",
    type=click.Choice(list(SETTINGS)),
    default="semi",
    show_default=True,
    help="Train on half of the normal rows (semi), on a bootstrap of all rows (unsupervised), or both.",
)
@run_options(seeds=5, metrics="roc_auc,average_precision,precision_at_n")
@click.pass_context
def command(
    ctx: click.Context, names: tuple[str, ...], setting: str, detectors: tuple[str, ...], **options: Any
) -> None:
    """Run DTE's protocols, and compare the figures with the published ones.

    NAME is a set of ADBench such as 6_cardio or cardio; without it all that are in DATA_DIR/adbench are run. The run
    folder also gets published.md: what was run here and what was published, each marked as such. KNN, IForest, OCSVM
    and ECOD calibrate: only if their means are within a point of the published ones is it one ranking. Sets with fewer
    than 1,000 rows were bootstrapped to 1,000 before the split; means are given with and without them.
    """
    data = [f"adbench/{name}" for name in names] or ["adbench"]
    from pyod_gessvdd.experiments.report.published import Publication

    given = {**options, "max_rows": 0, "more": beside_published(Publication.dte())}
    run(ctx, data, detectors or DETECTORS, setting=SETTINGS[setting], **given)
