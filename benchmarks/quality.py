"""How good GESSVDD is with its defaults, beside fifteen of PyOD's detectors with theirs.

    python benchmarks/quality.py --data-dir DATA --jobs 2

runs every detector on every set of ``DATA/adbench`` and ``DATA/odds``, in two settings, with the machinery of
``gessvdd compare``, and writes ``benchmarks/results/quality.md``. It can be killed and started again with the same
command: what is done is not run again. ``--fresh GESSVDD`` forgets what the run folder holds of a detector, for
instance after its code has changed.

*novelty*: stratified 70/30 split, training on the normal rows of the 70 % alone, standardised by them; 5 seeds.
*unsupervised*: ADBench's protocol (contaminated training part, fewer than 1,000 rows bootstrapped to 1,000, more than
10,000 subsampled, min-max scaling); seeds 1-3. ``--max-rows`` subsamples large sets further, in both settings.
"""

from __future__ import annotations

import argparse
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pyod_gessvdd.compare import ComparisonResult, compare
from pyod_gessvdd.compare.statistics import means

#: The order in which they are run: the dear ones last.
OTHERS = (
    *("KNN", "LOF", "CBLOF", "HBOS", "ECOD", "COPOD", "PCA", "IForest", "GMM", "OCSVM", "INNE", "KDE", "ABOD", "MCD"),
    "KPCA",
)
SEEDS = {"novelty": 5, "unsupervised": 3}
RESULTS = Path(__file__).parent / "results" / "quality.md"
#: Seconds after which a job is given up, and shown as a failure.
TIMEOUT = 600
#: What "no silent collapse" means: not below this share of its own mean where somebody exceeds that ROC-AUC.
COLLAPSE_SHARE, SOMEBODY = 0.5, 0.9


def main() -> None:
    arguments = _arguments()
    results = {}
    for setting in SEEDS:
        folder = arguments.out / setting
        for detector in arguments.fresh:
            _forget(folder / "results.sqlite", detector)
        results[setting] = _run(arguments, setting, folder)
    text = "\n".join([_header(arguments, results), *(_section(setting, result) for setting, result in results.items())])
    arguments.results.write_text(text + "\n", encoding="utf-8")
    print(text)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", required=True, help="the folder with adbench/ and odds/")
    parser.add_argument("--out", type=Path, default=Path("runs/quality"), help="the run folder (default: %(default)s)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the tables go (default: %(default)s)")
    parser.add_argument("--max-rows", type=int, default=10_000, help="rows per data set (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="detectors that run side by side (default: %(default)s)")
    parser.add_argument("--datasets", nargs="+", default=["adbench", "odds"], help="(default: adbench odds)")
    parser.add_argument("--others", nargs="+", default=OTHERS, help="PyOD's (default: fifteen of them)")
    parser.add_argument("--ours", nargs="+", default=["GESSVDD"], help="our detectors (default: GESSVDD)")
    parser.add_argument("--fresh", nargs="*", default=[], help="detectors to run again")
    return parser.parse_args()


def _run(arguments: argparse.Namespace, setting: str, folder: Path) -> ComparisonResult:
    columns = (TextColumn(setting), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns) as bar:
        task = bar.add_task(setting)
        return compare(
            arguments.datasets,
            [*arguments.ours, *arguments.others],
            setting=setting,
            seeds=SEEDS[setting],
            jobs=arguments.jobs,
            timeout=TIMEOUT,
            out=folder,
            resume=True,
            max_rows=arguments.max_rows,
            data_dir=arguments.data_dir,
            progress=lambda state: bar.update(task, completed=state.done, total=state.total),
        )


def _forget(database: Path, detector: str) -> None:
    if not database.exists():
        return
    with closing(sqlite3.connect(database)) as connection, connection:
        for table in ("jobs", "scores"):
            connection.execute(f"DELETE FROM {table} WHERE detector = ?", (detector,))


def _header(arguments: argparse.Namespace, results: dict[str, ComparisonResult]) -> str:
    meta = next(iter(results.values())).meta
    versions = ", ".join(f"{name} {version}" for name, version in meta["versions"].items())
    machine = ", ".join(f"{name} {value}" for name, value in meta["machine"].items())
    chosen = "" if arguments.others == OTHERS else f" --others {' '.join(arguments.others)}"
    return f"""# Quality out of the box

`python benchmarks/quality.py --data-dir DATA --max-rows {arguments.max_rows}{chosen}`: all detectors with their
default parameters, on the same splits and the same scaling. Means are over the seeds first and over the data sets
second. A mean is over the data sets that a detector finished; one that failed somewhere is marked with the number of
its failed jobs, and ranks last there.

Machine: {machine}. Versions: {versions}.
"""


def _section(setting: str, result: ComparisonResult) -> str:
    board = result.rank("roc_auc", setting)
    lines = [
        f"## {setting}: {len(result.datasets)} data sets, {SEEDS[setting]} seeds",
        "",
        "| detector | mean ROC-AUC | mean average precision | mean rank | wins | failed jobs | fit (s) | score (s) |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in board.sort_values("roc_auc", ascending=False).to_dict("records"):
        lines.append(
            f"| {row['detector']} | {row['roc_auc']:.4f} | {row['average_precision']:.4f} | {row['mean_rank']:.2f} "
            f"| {row['wins']} | {row['failures'] or ''} | {row['fit_seconds']:.2f} | {row['score_seconds']:.2f} |"
        )
    values = means(result.table, "roc_auc", setting)
    nobody = sorted(values.index[values.isna().all(axis=1)])
    if nobody:
        lines += ["", f"No detector could be run on {', '.join(nobody)}: too few outliers are left for a split."]
    lines += ["", _targets(setting, result, board, values), "", _tests(setting, result), "", _by_dataset(values)]
    return "\n".join(lines)


def _targets(setting: str, result: ComparisonResult, board: Any, values: Any) -> str:
    """What was aimed at, and whether it was reached."""
    by_name = board.set_index("detector")
    ours, others = by_name.loc["GESSVDD"], by_name.drop("GESSVDD")
    best = others["roc_auc"].idxmax()
    place = int((others["roc_auc"] > ours["roc_auc"]).sum()) + 1
    margin = ours["roc_auc"] - others["roc_auc"].max()
    if setting == "novelty":
        aims = {
            f"best mean ROC-AUC (place {place})": place == 1,
            f"best mean rank ({ours['mean_rank']:.2f}, the next {others['mean_rank'].min():.2f})": ours["mean_rank"]
            < others["mean_rank"].min(),
            f"at least 0.01 above the best other ({margin:+.4f} against {best})": margin >= 0.01,
        }
    else:
        aims = {
            f"among the best three by mean ROC-AUC (place {place})": place <= 3,
            "ahead of OCSVM and KPCA": bool((others.loc[["OCSVM", "KPCA"], "roc_auc"] < ours["roc_auc"]).all()),
        }
    somebody = values.drop(columns="GESSVDD").max(axis=1) > SOMEBODY
    own = values["GESSVDD"]
    collapsed = list(values.index[somebody & (own < COLLAPSE_SHARE * own.mean())])
    aims[f"no collapse ({', '.join(collapsed) or 'none'})"] = not collapsed
    jobs = result.table[result.table["setting"] == setting]
    possible = jobs.groupby(["dataset", "seed"])["status"].transform(lambda status: (status == "done").any())
    failed = int(((jobs["detector"] == "GESSVDD") & possible & (jobs["status"] != "done")).sum())
    aims[f"no failures, no NaN ({failed} failed jobs of those that anybody could do)"] = failed == 0
    return "\n".join(f"- {'reached' if reached else '**not reached**'}: {aim}" for aim, reached in aims.items())


def _tests(setting: str, result: ComparisonResult) -> str:
    tests = result.significance("roc_auc", setting)
    pairs = tests.wilcoxon[(tests.wilcoxon["a"] == "GESSVDD") | (tests.wilcoxon["b"] == "GESSVDD")]
    lines = []
    if not tests.reason:
        lines = [
            f"Friedman's test: χ² = {tests.friedman_statistic:.1f}, p = {tests.friedman_p:.2g} over {tests.n_datasets} "
            f"data sets; mean ranks that differ by more than {tests.critical_difference:.2f} differ at the level 0.05 "
            "(Nemenyi).",
            "",
        ]
    lines += [
        "GESSVDD against each (Wilcoxon's signed-rank test, Holm-corrected over all pairs of detectors):",
        "",
        "| other | better | T | p | p (Holm) | p (Nemenyi) | data sets |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for pair in pairs.to_dict("records"):
        other = pair["b"] if pair["a"] == "GESSVDD" else pair["a"]
        nemenyi = f"{tests.nemenyi.loc['GESSVDD', other]:.2g}" if tests.nemenyi is not None else ""
        lines.append(
            f"| {other} | {pair['better'] or 'neither'} | {pair['T']:.1f} | {pair['p']:.2g} | {pair['p_holm']:.2g} "
            f"| {nemenyi} | {pair['n']} |"
        )
    return "\n".join(lines)


def _by_dataset(values: Any) -> str:
    """Mean ROC-AUC of everybody, data set by data set; the best in bold."""
    order = values.mean().sort_values(ascending=False).index
    lines = ["| data set | " + " | ".join(order) + " |", "|---|" + "---:|" * len(order)]
    for name, row in values[order].iterrows():
        cells = [
            "failed" if cell != cell else f"**{cell:.3f}**" if cell == row.max() else f"{cell:.3f}" for cell in row
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
