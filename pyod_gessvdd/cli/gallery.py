"""``gessvdd gallery``: PyOD's picture of all detectors' regions, with our family in it."""

from __future__ import annotations

from pathlib import Path

import click

#: The first line keeps click from re-wrapping the rest.
EXAMPLES = """\b
Examples:
  gessvdd gallery
  gessvdd gallery --shape ring --out ring.svg
  gessvdd gallery -d "gessvdd,gessvdd(novelty=True),knn,ocsvm" --shape moons
"""

#: PyOD's usual ones, and the paper's methods.
DETECTORS = (
    *("GESSVDD", "GESSVDD(novelty=True)", "SSVDD", "ESSVDD", "SVDD", "ESVDD", "GESVDD", "GESVM"),
    *("ABOD", "CBLOF", "COPOD", "ECOD", "FeatureBagging", "GMM", "HBOS", "IForest", "INNE", "KDE", "KNN"),
    *("KNN(method='mean')", "KPCA", "LODA", "LOF", "MCD", "OCSVM", "PCA", "DTE-NP"),
)


@click.command("gallery", epilog=EXAMPLES)
@click.option("-d", "--detectors", multiple=True, metavar="LIST", help="Detectors, as gessvdd compare takes them.")
@click.option(
    "--shape",
    type=click.Choice(["clusters", "moons", "ring", "stripe"]),
    default="clusters",
    show_default=True,
    help="Where the normal rows lie.",
)
@click.option("--seed", type=click.IntRange(0, 2**31), default=0, show_default=True, help="Seeds rows and detectors.")
@click.option(
    "-o", "--out", type=click.Path(path_type=Path, dir_okay=False), default=Path("gallery.png"), show_default=True,
    help="The picture: .png, .svg or .pdf.",
)  # fmt: skip
def command(detectors: tuple[str, ...], shape: str, seed: int, out: Path) -> None:
    """Draw what each detector accepts in two dimensions.

    The picture that PyOD calls compare_all_models, for its detectors and our family in one figure: a panel each, with
    the same 200 rows, a quarter of them outliers (black), which is also the contamination that every detector is given.
    Inside the line (orange) rows are accepted; the darker the blue, the higher the score.
    """
    from pyod_gessvdd.experiments.detectors.specs import resolve_detectors
    from pyod_gessvdd.experiments.report.gallery import gallery

    figure = gallery(resolve_detectors(detectors or DETECTORS), shape, seed)
    try:
        figure.savefig(out, dpi=130)
    except (OSError, ValueError) as error:
        raise click.ClickException(f"the picture cannot be written to {str(out)!r}: {error}") from error
    click.echo(str(out))
