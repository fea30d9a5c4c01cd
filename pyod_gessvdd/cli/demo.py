"""``gessvdd demo``: GESSVDD beside four of PyOD's detectors on scikit-learn's bundled data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from statistics import fmean
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import numpy as np
    from rich.console import RenderableType


@dataclass(frozen=True)
class Dataset:
    """A labelled data set, and the classes that are taken as normal, one after the other."""

    name: str
    loader: str
    normal: tuple[int, ...]
    wording: str


#: The loaders are functions of ``sklearn.datasets``; nothing is downloaded.
DATASETS = (
    Dataset("breast-cancer", "load_breast_cancer", (1,), "benign"),
    Dataset("wine", "load_wine", (1,), "class 1 (the largest)"),
    Dataset("digits", "load_digits", tuple(range(10)), "each of the ten in turn (mean)"),
)
QUICK_DATASETS = (*DATASETS[:2], Dataset("digits", "load_digits", (0,), "0"))


@dataclass(frozen=True)
class Row:
    """What one detector reached on one data set, as the mean over its normal classes."""

    dataset: str
    detector: str
    roc_auc: float
    average_precision: float
    fit_seconds: float
    score_seconds: float


def make_detectors(seed: int) -> dict[str, Any]:
    """The detectors, with default parameters; training rows are clean here, and GESSVDD can be told so."""
    from pyod.models.iforest import IForest
    from pyod.models.knn import KNN
    from pyod.models.kpca import KPCA
    from pyod.models.ocsvm import OCSVM

    from pyod_gessvdd import GESSVDD

    return {
        "GESSVDD(novelty)": GESSVDD(novelty=True, random_state=seed),
        "GESSVDD": GESSVDD(random_state=seed),
        "OCSVM": OCSVM(),
        "KNN": KNN(),
        "IForest": IForest(random_state=seed),
        "KPCA": KPCA(random_state=seed),
    }


def run_demo(
    seed: int = 0, datasets: Sequence[Dataset] = DATASETS, progress: Callable[[str], None] | None = None
) -> list[Row]:
    """Fit every detector on the normal rows of every data set, and score the held-out rows.

    Parameters
    ----------
    seed : int, default=0
        Seeds the split and the detectors that draw random numbers.
    datasets : sequence of Dataset
        What to run on.
    progress : callable, optional
        Called with a few words before each fit.

    Returns
    -------
    list of Row
        Data sets in the order given, detectors in the order of :func:`make_detectors`.
    """
    _warm_up(seed)
    rows = []
    for dataset in datasets:
        splits = [_split(dataset, normal, seed) for normal in dataset.normal]
        for name in make_detectors(seed):
            runs = []
            for normal, split in zip(dataset.normal, splits, strict=True):
                if progress:
                    progress(f"{dataset.name}, class {normal}: {name}")
                runs.append(_run(make_detectors(seed)[name], *split))
            rows.append(Row(dataset.name, name, *(fmean(column) for column in zip(*runs, strict=True))))
    return rows


def _split(dataset: Dataset, normal: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The normal training rows, the test rows, both standardised by the former, and which test rows are abnormal."""
    from sklearn import datasets, model_selection, preprocessing

    X, y = getattr(datasets, dataset.loader)(return_X_y=True)
    train, test, train_y, test_y = model_selection.train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    train = train[train_y == normal]
    scaler = preprocessing.StandardScaler().fit(train)
    return scaler.transform(train), scaler.transform(test), test_y != normal


def _run(detector: Any, train: np.ndarray, test: np.ndarray, abnormal: np.ndarray) -> tuple[float, ...]:
    """ROC-AUC, average precision, fit and score time."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    start = perf_counter()
    detector.fit(train)
    fitted = perf_counter()
    scores = detector.decision_function(test)
    scored = perf_counter()
    return (
        float(roc_auc_score(abnormal, scores)),
        float(average_precision_score(abnormal, scores)),
        fitted - start,
        scored - fitted,
    )


def _warm_up(seed: int) -> None:
    """Let every detector do its imports before the clock starts."""
    split = _split(DATASETS[1], 1, seed)
    for detector in make_detectors(seed).values():
        _run(detector, *split)


#: The first line keeps click from re-wrapping the rest.
EXAMPLES = """\b
Examples:
  gessvdd demo
  gessvdd demo --quick --seed 1
"""


@click.command("demo", epilog=EXAMPLES)
@click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Seed of split and detectors."
)
@click.option("--quick", is_flag=True, help="Take only the digit 0 as normal instead of each of the ten.")
def command(seed: int, quick: bool) -> None:
    """Compare GESSVDD with PyOD's OCSVM, KNN, IForest and KPCA.

    On scikit-learn's bundled breast-cancer, wine and digits data: one class is normal, the detectors are trained on
    its rows alone, and are asked to tell them from the others' among rows held back. All have their default
    parameters; GESSVDD is there once more with novelty=True. It takes well under a minute and downloads nothing.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(highlight=False)
    datasets = QUICK_DATASETS if quick else DATASETS
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    start = perf_counter()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        n_fits = len(make_detectors(seed)) * sum(len(dataset.normal) for dataset in datasets)
        task = bar.add_task("warming up", total=n_fits)
        done = count()
        rows = run_demo(seed, datasets, lambda what: bar.update(task, completed=next(done), description=what))
    console.print(_table(rows))
    normal = ", ".join(f"{dataset.name}: {dataset.wording}" for dataset in datasets)
    for line in (
        "",
        "* the best ROC-AUC of its data set. GESSVDD(novelty) has novelty=True, as the training rows are clean here; "
        "all other parameters are the defaults.",
        f"Normal class: {normal}.",
        f"Trained on the normal rows of 70 % (stratified, seed {seed}) and scaled by them; tested on the other 30 %.",
        f"{perf_counter() - start:.0f} s in all.",
    ):
        console.print(line, style="dim")


def _table(rows: Sequence[Row]) -> RenderableType:
    from rich import box
    from rich.table import Table

    # 80 columns, to the last one.
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("data set", "detector"):
        table.add_column(heading, no_wrap=True)
    for heading in ("ROC-AUC  ", "avg. precision", "fit (ms)", "score (ms)"):
        table.add_column(heading, justify="right", no_wrap=True)
    for block in (*_by_dataset(rows), _means(rows)):
        best = max(f"{row.roc_auc:.4f}" for row in block)
        for i, row in enumerate(block):
            auc = f"{row.roc_auc:.4f}"
            table.add_row(
                row.dataset if i == 0 else "",
                row.detector,
                f"[bold green]{auc} *[/]" if auc == best else f"{auc}  ",
                f"{row.average_precision:.4f}",
                f"{1000 * row.fit_seconds:,.1f}",
                f"{1000 * row.score_seconds:,.1f}",
            )
        table.add_section()
    return table


def _by_dataset(rows: Sequence[Row]) -> list[list[Row]]:
    return [[row for row in rows if row.dataset == name] for name in dict.fromkeys(row.dataset for row in rows)]


def _means(rows: Sequence[Row]) -> list[Row]:
    """One row per detector: its mean over the data sets."""
    means = []
    for name in dict.fromkeys(row.detector for row in rows):
        of_name = [row for row in rows if row.detector == name]
        means.append(
            Row(
                "mean",
                name,
                fmean(row.roc_auc for row in of_name),
                fmean(row.average_precision for row in of_name),
                fmean(row.fit_seconds for row in of_name),
                fmean(row.score_seconds for row in of_name),
            )
        )
    return means
