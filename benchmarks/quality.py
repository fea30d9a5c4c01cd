"""How good GESSVDD is out of the box, compared with PyOD's detectors, all with their default parameters.

    python benchmarks/quality.py --data-dir DATA --jobs 2

writes ``benchmarks/results/quality.md`` and ``quality_by_set.md``. Every fit is a line of ``--store``: a run that was
stopped goes on with the same command. Our detectors are run again when the package's code has changed, the others stay;
``--fresh NAME`` forgets the detectors whose names begin with NAME. ``--parts`` are

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
import importlib.util
import json
import signal
import sys
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from time import perf_counter, strftime
from typing import Any

import numpy as np
import pandas as pd
import pyod
from joblib import Parallel, delayed
from leaderboard import first, goal, leaderboard, per_set, ranks, table
from pyod.utils.data import generate_data
from pyod.utils.utility import precision_n_scores
from sklearn import datasets
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import train_test_split

import pyod_gessvdd
from pyod_gessvdd.experiments.detectors.specs import resolve_detectors
from pyod_gessvdd.experiments.environment import machine, versions

HERE = Path(__file__).parent
DEFAULT, NOVELTY = OURS = ["GESSVDD()", "GESSVDD(novelty=True)"]
RADIUS = ["GESSVDD(threshold='radius')", "GESSVDD(novelty=True, threshold='radius')"]
PYOD = ["KNN", "LOF", "ECOD", "COPOD", "HBOS", "CBLOF", "PCA", "GMM", "OCSVM", "KDE", "IForest", "INNE", "KPCA", "MCD"]
PEERS = [*PYOD, "EIF"] if importlib.util.find_spec("isotree") else PYOD
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
#: Training rows and new rows of a set of the suite at most (KPCA cannot do more in time); new rows in the settings.
SUITE_ROWS, NEW_ROWS = 3000, 1500
PLANTED = [f"{d} columns, {k} rows at {s} σ" for d, k, s in product((5, 20, 100, 300), (2, 5, 10), (5, 10, 30, 100))]
WIDE = [f"{n} x {d}" for n in (50, 100, 200, 400) for d in (2, 10, n // 2, n, 2 * n, 5 * n)]
SKLEARN = [f"iris {k}" for k in range(3)] + [f"wine {k}" for k in range(3)]
SKLEARN += ["breast_cancer 0", "breast_cancer 1"] + [f"digits {k}" for k in range(10)]
KEY = ["collection", "dataset", "training", "seed", "detector"]
MEASURED = ["roc_auc", "ap", "precision", "own_roc_auc", "own_ap", "own_precision", "agreement", "found", "flagged"]
COLUMNS = [*KEY[:4], "rows", "detector", "version", *MEASURED, "far", "far_column", "fit_seconds", "seconds", "failure"]
PEERS_VERSION = f"pyod {pyod.__version__}"
INTRODUCTION = """Default parameters, the same rows for all. Means: over the seeds, then over the sets that a detector
finished; it ranks last on the others. "failed": fits with an error, out of time or with scores that are not finite.
"±": standard error of the mean difference in ROC-AUC from the first of the table. "own_": of the training rows. A lead
among the goals is over the sets that the other detector finished, ± its standard error; where ours failed, it counts as
the worst of all there. [How the sets were divided](../quality_parts.json); [set by set](quality_by_set.md). Other work
ran on the machine at the same time, so the times are rough."""
Task = tuple[str, str, str, int]  # collection, data set, training rows, seed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder with adbench/, oddbench/ and odds/")
    parser.add_argument("--parts", default="settings,calibration,planted,suite,sklearn", help="(default: all)")
    parser.add_argument("--detectors", nargs="+", default=["GESSVDD", *PEERS], help="beginnings of names to run")
    parser.add_argument("--seeds", type=int, default=2, help="splits of every set (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=1000, help="training rows at most (default: %(default)s)")
    parser.add_argument("--limit", type=int, default=60, help="seconds for a detector on a set (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: %(default)s)")
    parser.add_argument("--store", type=Path, default=Path("runs/quality.csv"), help="(default: %(default)s)")
    parser.add_argument("--fresh", nargs="+", help="beginnings of names to forget")
    parser.add_argument("--results", type=Path, default=HERE / "results", help="the folder of the tables")
    given = parser.parse_args()
    code = b"".join(path.read_bytes() for path in sorted(Path(pyod_gessvdd.__file__).parent.rglob("*.py")))
    given.code = hashlib.sha256(code).hexdigest()[:10]
    given.store.parent.mkdir(parents=True, exist_ok=True)
    work = tasks(given)
    run = Parallel(n_jobs=given.jobs, return_as="generator_unordered")
    for i, rows in enumerate(run(delayed(measure)(*job, given) for job in work.items()), start=1):
        frame = pd.DataFrame(rows, columns=COLUMNS)
        frame.to_csv(given.store, mode="a", header=not given.store.exists(), index=False)
        print(f"{i} of {len(work)}:", *frame.loc[0, KEY[:4]], flush=True)
    report(given, stored_fits(given))


def stored_fits(given: argparse.Namespace) -> pd.DataFrame:
    """The fits in the store that count: as many rows, the same code."""
    if not given.store.exists():
        return pd.DataFrame(columns=COLUMNS)
    stored = pd.read_csv(given.store)
    if given.fresh:
        stored = stored[~stored["detector"].str.startswith(tuple(given.fresh))]
        stored.to_csv(given.store, index=False)
        given.fresh = None
    counts = stored["version"].isin([given.code, PEERS_VERSION]) & (stored["rows"] == given.rows)
    # Two runs at the same time may both have fitted the same.
    return stored[counts].drop_duplicates(KEY)


def tasks(given: argparse.Namespace) -> dict[Task, list[str]]:
    """What is left to fit, and by which detectors; one seed of everything before the next."""
    done = set(stored_fits(given)[KEY].itertuples(index=False, name=None))
    few, everybody, seeds = [*OURS, "KNN"], [*OURS, *PEERS], given.seeds
    paths = [path for name in COLLECTIONS for path in sorted((given.data_dir / name).glob("*.npz"))]
    sets = [(path.parent.name, path.stem, training) for path in paths for training in ("clean", "contaminated")]
    there = [("suite", name, "contaminated") for name in SUITE if (given.data_dir / f"{name}.npz").exists()]
    plan = [
        ("calibration", sets, seeds, few),
        ("settings", sets, seeds, everybody),
        ("suite", there, seeds, everybody),
        ("suite", [("generate_data", "200 + 100 rows", "contaminated")], 20, few),
        ("planted", [("planted", cell, "contaminated") for cell in PLANTED], seeds, few),
        ("planted", [("wide", cell, "clean") for cell in WIDE], 10, [*few, *RADIUS]),
        ("sklearn", [("scikit-learn", name, "clean") for name in SKLEARN], 5, [*OURS, *SKLEARN_PEERS]),
    ]
    left, chosen = {}, tuple(given.detectors)
    for rows, n, names in (line[1:] for line in plan if line[0] in given.parts.split(",")):
        for task in ((*row, seed) for row, seed in product(rows, range(n))):
            left[task] = [name for name in names if name.startswith(chosen) and (*task, name) not in done]
    return {task: left[task] for task in sorted(left, key=lambda task: task[3]) if left[task]}


def samples(task: Task, data_dir: Path, rows: int) -> tuple[Any, Any, Any, Any]:
    """Training rows and new rows, and their labels (1: outlier); without new rows None."""
    collection, name, training, seed = task
    random, numbers = np.random.default_rng(seed), [int(word) for word in name.split() if word.isdigit()]
    if collection == "generate_data":
        return tuple(generate_data(*numbers, contamination=0.1, random_state=seed))
    if collection == "planted":
        labels = np.repeat([1, 0], [numbers[1], 150 - numbers[1]])
        return random.normal(size=(150, numbers[0])) + numbers[2] * labels[:, np.newaxis], None, labels, None
    if collection == "wide":
        train, new = random.normal(size=numbers), random.normal(size=(1000, numbers[1]))
        new[500:] += 10 * np.eye(numbers[1])[np.arange(500) % numbers[1]]
        return train, new, np.zeros(len(train)), np.repeat([0, 1], 500)
    if collection == "scikit-learn":
        X, y = getattr(datasets, f"load_{name.split()[0]}")(return_X_y=True)
        y = (y != numbers[0]).astype(int)
    else:
        with np.load(data_dir / collection.replace("suite", "") / f"{name}.npz") as data:
            X, y = data["X"].astype(float), data["y"].ravel().astype(int)
    train, new, labels, new_labels = train_test_split(X, y, test_size=0.4, stratify=y, random_state=seed)
    if collection == "suite":
        train, new, labels, new_labels = (rows[:SUITE_ROWS] for rows in (train, new, labels, new_labels))
    else:
        normal, outliers = train[labels == 0], train[labels == 1]
        outliers = outliers[: 0 if training == "clean" else max(2, min(len(normal), rows) // 9)]
        normal = normal[: rows - len(outliers)]
        train, labels = np.r_[normal, outliers], np.repeat([0, 1], [len(normal), len(outliers)])
        new, new_labels = new[:NEW_ROWS], new_labels[:NEW_ROWS]
    mean, deviation = train.mean(axis=0), train.std(axis=0)
    deviation[deviation <= 1e-12 * np.maximum(np.abs(mean), 1)] = 1
    return (train - mean) / deviation, (new - mean) / deviation, labels, new_labels


def measure(task: Task, detectors: list[str], given: argparse.Namespace) -> list[dict[str, Any]]:
    """A line of the store for each detector."""
    warnings.simplefilter("ignore")
    # Not an Exception, which somebody on the way up might catch.
    signal.signal(signal.SIGALRM, lambda *_: sys.exit(f"more than {given.limit} s"))
    data, rows = samples(task, given.data_dir, given.rows), []
    for name in detectors:
        version = given.code if name.startswith("GESSVDD") else PEERS_VERSION
        row, start = (
            {**dict(zip(KEY, (*task, name), strict=True)), "rows": given.rows, "version": version},
            perf_counter(),
        )
        signal.alarm(given.limit)
        try:
            row |= _measured(name, task, *data)
        except (Exception, SystemExit) as error:
            row["failure"] = f"{type(error).__name__}: {error}"[:200]
        finally:
            signal.alarm(0)
        rows.append({**row, "seconds": round(perf_counter() - start, 3)})
    return rows


def _measured(name: str, task: Task, train: Any, new: Any, labels: Any, new_labels: Any) -> dict[str, Any]:
    detector = resolve_detectors("eif:EIF" if name == "EIF" else name)[0].build(task[3])
    if task[0] == "suite":
        detector.set_params(contamination=np.r_[labels, new_labels].mean())
    start = perf_counter()
    detector.fit(train)
    measured = {"fit_seconds": round(perf_counter() - start, 4)}
    predicted = detector.predict(train)
    measured["agreement"] = np.mean(predicted == detector.labels_)
    measured["found"] = np.mean(predicted[detector.labels_ == 1]) if detector.labels_.any() else np.nan
    judged = {"own_": (labels, detector.decision_scores_)}
    if new is not None:
        judged[""] = new_labels, detector.decision_function(new)
        measured["flagged"] = np.mean(judged[""][1][new_labels == 0] > detector.threshold_)
    for prefix, (y, scores) in judged.items():
        if not np.isfinite(scores).all():
            raise ValueError("scores that are not finite")
        if 2 <= y.sum() <= len(y) - 2:
            measured[f"{prefix}roc_auc"] = roc_auc_score(y, scores)
            measured[f"{prefix}ap"] = average_precision_score(y, scores)
            measured[f"{prefix}precision"] = precision_n_scores(y, scores)
    if task[0] == "wide":
        measured["far"] = np.mean(detector.predict(new[:100] + 100))
        one_column = np.eye(new.shape[1])[np.arange(100) % new.shape[1]]
        measured["far_column"] = np.mean(detector.predict(new[:100] + 100 * one_column))
    return measured


def report(given: argparse.Namespace, stored: pd.DataFrame) -> None:
    """Write the goals and the tables of the parts asked for."""
    # Only what every detector was fitted to: another run may have stored more seeds of some.
    stored = stored[stored["detector"].isin([*OURS, *RADIUS, *PEERS])]
    detectors = stored.groupby("collection")["detector"].transform("nunique")
    stored = stored[stored.groupby(KEY[:4])["detector"].transform("nunique") == detectors]
    chosen = json.loads((HERE / "quality_parts.json").read_text(encoding="utf-8"))["choose"]
    fits = dict(iter(stored.groupby("collection")))
    both = pd.concat([fits[name].assign(chosen=fits[name]["dataset"].isin(chosen[name])) for name in COLLECTIONS])
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
    missing = ", ".join(sorted(set(SUITE) - set(fits["suite"]["dataset"])))
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
