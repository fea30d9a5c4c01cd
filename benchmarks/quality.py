"""How good GESSVDD is out of the box, compared with PyOD's detectors, all with their default parameters.

    python benchmarks/quality.py --data-dir DATA --jobs 2

writes ``benchmarks/results/quality.md`` and ``quality_by_set.md``. Every fit is a job of the experiment engine, in a
run folder under ``--store``: a run that was stopped goes on with the same command, and a fit that takes longer than
``--limit`` is stopped. Our detectors have a folder for each state of the package's code, so that they are run again
when it has changed; the others stay. ``--parts`` are

*settings*: the sets of ``DATA/adbench`` and ``DATA/oddbench``, 60/40 stratified splits, standardised by the training
rows. *novelty* trains on the normal training rows; *contaminated* on the outliers of the training part too, at most a
tenth of all rows; *transductive* judges ``decision_scores_`` of those same training rows.
*calibration*: whether ``predict(X_train)`` agrees with ``labels_`` in these fits; new normal rows that are flagged.
*planted*: groups of similar outliers; normal rows with many columns, and new ones that are 0, 10 or 100 σ off.
*suite*: PyOD's benchmark (its 17 ODDS sets, those that are there, with the true contamination) and ``generate_data``.
*sklearn*: scikit-learn's own sets, novelty, each class in turn as the normal one.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import groupby, product
from pathlib import Path
from time import strftime
from typing import Any

import pandas as pd
import pyod
from leaderboard import first, goal, leaderboard, per_set, ranks, table
from quality_protocols import FAR, METRICS, SUITE_ROWS, Clean, Contaminated, Drawn, Suite, drawn

import pyod_gessvdd
from pyod_gessvdd.compare import ComparisonResult, Progress
from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.data.datasets import resolve_datasets
from pyod_gessvdd.experiments.detectors.specs import resolve_detectors
from pyod_gessvdd.experiments.environment import machine, versions
from pyod_gessvdd.experiments.experiment import How, run_experiment
from pyod_gessvdd.experiments.run.job import Job

HERE = Path(__file__).parent
DEFAULT, NOVELTY = OURS = ["GESSVDD()", "GESSVDD(novelty=True)"]
RADIUS = ["GESSVDD(threshold='radius')", "GESSVDD(novelty=True, threshold='radius')"]
PYOD = ["KNN", "LOF", "ECOD", "COPOD", "HBOS", "CBLOF", "PCA", "GMM", "OCSVM", "KDE", "IForest", "INNE", "KPCA", "MCD"]
PEERS = [*PYOD, "KNN(method='mean')", "DTE-NP", *(["EIF"] if find_spec("isotree") else [])]
SKLEARN_PEERS = ["KNN", "LOF", "OCSVM", "IForest", "KPCA", "PCA", "ECOD"]
COLLECTIONS = ["adbench", "oddbench"]
#: The training rows of a setting, and the columns of the store that judge it.
SETTINGS = {
    "novelty": ("clean", "roc_auc", "ap"),
    "contaminated": ("contaminated", "roc_auc", "ap"),
    "transductive": ("contaminated", "own_roc_auc", "own_ap"),
}
SUITE = [
    "odds/arrhythmia", "odds/glass", "odds/ionosphere", "odds/lympho", "odds/wbc", "adbench/6_cardio",
    "adbench/20_letter", "adbench/24_mnist", "adbench/25_musk", "adbench/26_optdigits", "adbench/28_pendigits",
    "adbench/29_Pima", "adbench/30_satellite", "adbench/31_satimage-2", "adbench/32_shuttle", "adbench/39_vertebral",
    "adbench/40_vowels",
]  # fmt: skip
PLANTED = [f"{d} columns, {k} rows at {s} σ" for d, k, s in product((5, 20, 100, 300), (2, 5, 10), (5, 10, 30, 100))]
WIDE = [f"{n} x {d}" for n in (50, 100, 200, 400) for d in (2, 10, n // 2, n, 2 * n, 5 * n)]
SKLEARN = {
    "iris": ("setosa", "versicolor", "virginica"),
    "wine": ("class_0", "class_1", "class_2"),
    "breast-cancer": ("malignant", "benign"),
    "digits": tuple(map(str, range(10))),
}
KEY = ["collection", "dataset", "training", "seed", "detector"]
#: Columns of the jobs' table, and what the tables below call them.
NAMES = {
    "setting": "training",
    "average_precision": "ap",
    "precision_at_n": "precision",
    "own_average_precision": "own_ap",
    "own_precision_at_n": "own_precision",
    "error": "failure",
}
INTRODUCTION = """Default parameters, the same rows for all. Means: over the seeds, then over the sets that a detector
finished; it ranks last on the others. "failed": fits with an error, out of time or with scores that are not finite.
"±": standard error of the mean difference in ROC-AUC from the first of the table. "own_": of the training rows. A lead
among the goals is over the sets that the other detector finished, ± its standard error; where ours failed, it counts as
the worst of all there. [How the sets were divided](../quality_parts.json); [set by set](quality_by_set.md). Other work
ran on the machine at the same time, so the times are rough."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder with adbench/, oddbench/ and odds/")
    parser.add_argument("--parts", default="settings,calibration,planted,suite,sklearn", help="(default: all)")
    parser.add_argument("--detectors", nargs="+", default=["GESSVDD", *PEERS], help="beginnings of names to run")
    parser.add_argument("--sets", nargs="+", default=[""], help="beginnings of the names of sets (default: all)")
    parser.add_argument("--seeds", type=int, default=2, help="splits of every set (default: %(default)s)")
    parser.add_argument(
        "--rows", type=int, default=10_000, help="training rows at most (default: ADBench's %(default)s)"
    )
    parser.add_argument("--limit", type=int, default=60, help="seconds for a detector on a set (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: %(default)s)")
    parser.add_argument("--store", type=Path, default=Path("runs/quality"), help="(default: %(default)s)")
    parser.add_argument("--results", type=Path, default=HERE / "results", help="the folder of the tables")
    given = parser.parse_args()
    code = b"".join(path.read_bytes() for path in sorted(Path(pyod_gessvdd.__file__).parent.rglob("*.py")))
    given.code = hashlib.sha256(code).hexdigest()[:10]
    report(given, pd.concat([run(given, *folder) for folder in folders(given)], ignore_index=True))


def folders(given: argparse.Namespace) -> Iterator[tuple[Path, list[Job]]]:
    """The jobs by run folder: ours by the package's code, the others by PyOD's version, both by the training rows."""
    everything = sorted(plan(given), key=lambda job: (not is_ours(job), job.seed))
    for ours, jobs in groupby(everything, key=is_ours):
        version = given.code if ours else f"pyod-{pyod.__version__}"
        yield given.store / f"{version}-{given.rows}", list({job.key: job for job in jobs}.values())


def is_ours(job: Job) -> bool:
    """Whether the detector is one of this package's."""
    return job.detector.path.startswith("pyod_gessvdd:")


def run(given: argparse.Namespace, folder: Path, jobs: list[Job]) -> pd.DataFrame:
    """Run what the folder does not hold yet; the jobs asked for, as the tables below know them."""
    how = How(jobs=given.jobs, timeout=given.limit, resume=True, progress=show)
    run_experiment(folder, jobs, {"metrics": [one.name for one in (*METRICS, *FAR)], "rows": given.rows}, how)
    fits = ComparisonResult.load(folder).table.set_index(["dataset", "detector", "setting", "seed"], drop=False)
    fits = fits.loc[[job.key for job in jobs]].reset_index(drop=True)
    # A set of PyOD's suite is one of ADBench too, under the same name.
    collections = {(job.dataset.name, job.protocol.name): collection_of(job) for job in jobs}
    fits = fits.replace({"detector": {"GESSVDD": DEFAULT}}).rename(columns=NAMES)
    found = [collections[key] for key in zip(fits["dataset"], fits["training"], strict=True)]
    cells = [name.removeprefix(f"{collection}: ") for name, collection in zip(fits["dataset"], found, strict=True)]
    return fits.assign(collection=found, dataset=cells)


def collection_of(job: Job) -> str:
    """The part of the report that a job belongs to."""
    if isinstance(job.protocol, Drawn):
        return job.dataset.name.partition(":")[0]
    if isinstance(job.protocol, Suite):
        return "suite"
    return next((name for name in COLLECTIONS if f"/{name}/" in job.dataset.origin), "scikit-learn")


def show(progress: Progress) -> None:
    """A line now and then."""
    if progress.result and progress.done % 100 == 0:
        row = progress.result.row
        print(f"{progress.done} of {progress.total}:", row["dataset"], row["detector"], row["setting"], flush=True)


def plan(given: argparse.Namespace) -> Iterator[Job]:
    """All jobs of the parts asked for."""
    few, everybody, seeds = [*OURS, "KNN"], [*OURS, *PEERS], given.seeds
    settings, suite = [Clean(given.rows), Contaminated(given.rows)], [Suite()]
    parts = {
        "calibration": [(COLLECTIONS, settings, seeds, few)],
        "settings": [(COLLECTIONS, settings, seeds, everybody)],
        "suite": [(SUITE, suite, seeds, everybody), ([drawn("generate_data", "200 + 100 rows")], [Drawn()], 20, few)],
        "planted": [
            ([drawn("planted", cell) for cell in PLANTED], [Drawn()], seeds, few),
            ([drawn("wide", cell) for cell in WIDE], [Drawn()], 10, [*few, *RADIUS]),
        ],
        "sklearn": [
            ([f"{name}:{label}" for name, labels in SKLEARN.items() for label in labels], [Clean(given.rows)], 5,
             [*OURS, *SKLEARN_PEERS]),
        ],
    }  # fmt: skip
    for lines in (parts[part] for part in given.parts.split(",")):
        for data, protocols, n_seeds, names in lines:
            detectors = resolve_detectors([name for name in names if name.startswith(tuple(given.detectors))])
            datasets = [one for entry in data for one in loaded(given, entry)]
            chosen = [one for one in datasets if one.name.startswith(tuple(given.sets))]
            for seed, dataset, protocol, detector in product(range(n_seeds), chosen, protocols, detectors):
                far = FAR if dataset.name.startswith("wide") else ()
                yield Job(dataset, detector, protocol, seed, (*METRICS, *far))


def loaded(given: argparse.Namespace, entry: Any) -> list[Any]:
    """The data sets of a name; one of PyOD's suite that is not there is left out, which the table's title tells."""
    if not isinstance(entry, str):
        return [entry]
    try:
        return resolve_datasets(entry, data_dir=given.data_dir)
    except ComparisonError:
        if entry in SUITE:
            return []
        raise


def report(given: argparse.Namespace, stored: pd.DataFrame) -> None:
    """Write the goals and the tables of the parts asked for."""
    # Only what every detector was fitted to: another run may have stored more seeds of some.
    stored = stored[stored["detector"].isin([*OURS, *RADIUS, *PEERS])]
    detectors = stored.groupby("collection")["detector"].transform("nunique")
    stored = stored[stored.groupby(KEY[:4])["detector"].transform("nunique") == detectors]
    chosen = json.loads((HERE / "quality_parts.json").read_text(encoding="utf-8"))["choose"]
    fits = dict(iter(stored.groupby("collection")))
    both = pd.concat(
        [fits[name].assign(chosen=fits[name]["dataset"].isin(chosen[name])) for name in COLLECTIONS if name in fits]
        or [stored.assign(chosen=False).head(0)]
    )
    fits |= {"not chosen on": both[~both["chosen"]], "chosen on": both[both["chosen"]], "all sets": both}
    known = (_settings, _calibration, _planted, _suite, _sklearn)
    sections = {section.__name__.strip("_"): section for section in known}
    failed = stored.loc[stored["detector"].str.startswith("GESSVDD"), "failure"].count()
    texts = [goal("failed fits of our detectors", failed, 0, 0)]
    texts += [text for part in given.parts.split(",") for text in sections[part](fits)]
    here = {key: value for key, value in machine().items() if key != "system"}
    facts = ", ".join(f"{key} {value}" for key, value in {**here, **versions(), "code": given.code}.items())
    command = " ".join(sys.argv).replace(str(given.data_dir), "DATA")
    head = f"`python {command}`, {strftime('%d %B %Y')}; {facts}."
    goals, by_set, tables = ([text for text in texts if text.startswith(mark)] for mark in ("- ", "# ", "## "))
    text = "\n\n".join(["# Quality out of the box", head, INTRODUCTION, "## Goals", "\n".join(goals), *tables])
    (given.results / "quality.md").write_text(text + "\n", encoding="utf-8")
    if by_set:
        (given.results / "quality_by_set.md").write_text("\n\n".join(by_set) + "\n", encoding="utf-8")


def _settings(fits: dict[str, pd.DataFrame]) -> Iterator[str]:
    for (setting, (training, roc, ap)), part in product(SETTINGS.items(), ("not chosen on", "chosen on", "all sets")):
        of_part = fits[part][fits[part]["training"] == training]
        by_collection = dict(iter(of_part.groupby("collection")))
        board = leaderboard(of_part, roc, ap, by_collection)
        sizes = [f"{len(per_set(group, roc))} sets of {name}" for name, group in by_collection.items()]
        yield table("## " + ", ".join([setting, part, *sizes, f"{of_part['seed'].nunique()} seeds"]), board)
        if part != "not chosen on" or not set(OURS) <= set(board.index):
            continue
        auc, precision = per_set(of_part, roc), per_set(of_part, ap)
        shown = [*OURS, *board.index.difference(OURS, sort=False)[:5]]
        title = f"# {setting}, sets not chosen on: ROC-AUC and average precision, ours and the best five"
        yield table(title, auc[shown].join(precision[shown].add_suffix(", AP")))
        if setting == "novelty":
            yield from _novelty_goals({"both collections": of_part, **by_collection})
        else:
            yield first(f"{setting}, ROC-AUC", auc, DEFAULT, 0.005)
            yield first(f"{setting}, AP", precision, DEFAULT)


def _novelty_goals(fits: dict[str, pd.DataFrame]) -> Iterator[str]:
    _, roc, ap = SETTINGS["novelty"]
    for name, group in fits.items():
        auc, precision = per_set(group, roc), per_set(group, ap)
        everything = name == "both collections"
        yield first(f"novelty, {name}, ROC-AUC", auc, NOVELTY, 0.015 if everything else 0)
        yield first(f"novelty, {name}, AP", precision, NOVELTY, 0.05 if everything else 0)
        # Our two detectors do not take places from each other.
        yield first(f"novelty, {name}, rank", -ranks(auc.drop(columns=DEFAULT)), NOVELTY)
        for title, values in {"ROC-AUC": auc, "AP": precision, "rank": -ranks(auc)}.items() if everything else ():
            own = values[DEFAULT].fillna(values.min(axis=1))
            place = 1 + (values.rsub(own, axis=0).mean() < 0).sum()
            yield goal(f"novelty, place of `{DEFAULT}` by {title}", place, 1, 2)


def _calibration(fits: dict[str, pd.DataFrame]) -> Iterator[str]:
    for training, part in fits["not chosen on"].groupby("training"):
        by_detector = part.groupby("detector")[["agreement", "found", "flagged"]]
        shares = by_detector.mean().join(by_detector.min().add_suffix(", least"))
        title = f"## calibration, {training} training rows, sets not chosen on"
        yield table(title, shares.sort_values("agreement", ascending=False))
        for name, row in shares.loc[shares.index.intersection(OURS)].iterrows():
            of = f"{training} training rows, `{name}`:"
            if name == DEFAULT:
                yield goal(f"{of} agreement of `predict` with `labels_`", row["agreement"], 0.985)
                yield goal(f"{of} least share of the labelled rows found in a set", row["found, least"], 0.8)
            if training == "clean":
                yield goal(f"{of} share of new normal rows flagged", row["flagged"], 0.08, 0.13)


def _planted(fits: dict[str, pd.DataFrame]) -> Iterator[str]:
    for of, column, statistic, order, title, ours, *bounds in (
        ("planted", "own_roc_auc", "mean", PLANTED, "AUC of groups of outliers among 150 rows", [DEFAULT], -0.02),
        ("wide", "roc_auc", "mean", WIDE, "AUC of rows 10 σ off in one column", [DEFAULT], -0.02),
        ("wide", "flagged", "mean", WIDE, "share of new normal rows flagged at contamination 0.1", OURS, 0.05, 0.15),
        ("wide", "far", "min", WIDE, "share of rows flagged that are 100 σ off in every column", OURS + RADIUS, 1),
        ("wide", "far_column", "min", WIDE, "share of rows flagged that are 100 σ off in one column", OURS + RADIUS, 1),
    ):
        cells = per_set(fits[of], column, statistic).reindex(order)
        if statistic == "mean":
            yield table(f"## {title}", cells[cells.columns.intersection([*OURS, "KNN"])])
        for name in cells.columns.intersection(ours):
            values, less = (cells[name] - cells["KNN"], " less KNN's") if "AUC" in title else (cells[name], "")
            yield goal(f"{title}, `{name}`{less}, in every cell", values, *bounds)


def _suite(fits: dict[str, pd.DataFrame]) -> Iterator[str]:
    there = set(fits["suite"]["dataset"])
    missing = ", ".join(sorted(name for name in SUITE if name.partition("/")[2] not in there))
    board = leaderboard(fits["suite"], "roc_auc", "precision")
    yield table(f"## PyOD's suite without {missing}; {SUITE_ROWS} training rows at most", board)
    for column in ("roc_auc", "precision") if DEFAULT in board.index else ():
        yield first(f"PyOD's suite, {column}", per_set(fits["suite"], column), DEFAULT)
    means = fits["generate_data"].groupby("detector")[["own_roc_auc", "own_precision", "roc_auc", "precision"]].mean()
    yield table("## PyOD's generate_data, 20 seeds", means)
    for name in means.index.intersection([DEFAULT]):
        yield goal(f"generate_data, `{name}` less KNN", means.loc[name] - means.loc["KNN"], 0)


def _sklearn(fits: dict[str, pd.DataFrame]) -> Iterator[str]:
    fitted = fits["scikit-learn"]
    yield table("## scikit-learn's sets, novelty, 5 seeds", leaderboard(fitted, "roc_auc", "ap"))
    for name in [name for name in OURS if name in set(fitted["detector"])]:
        board = leaderboard(fitted[fitted["detector"].isin([name, *SKLEARN_PEERS])], "roc_auc", "ap")
        yield goal(f"scikit-learn's sets, place of `{name}` by rank", board["rank"].rank()[name], 1, 2)


if __name__ == "__main__":
    main()
