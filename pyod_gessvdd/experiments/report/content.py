"""What a report says, before it is Markdown or HTML: tables as rows, findings and notes as sentences."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.environment import described_machine
from pyod_gessvdd.experiments.metrics import described
from pyod_gessvdd.experiments.protocols import known_protocols
from pyod_gessvdd.experiments.protocols.protocol import Protocol
from pyod_gessvdd.experiments.report.formats import listing, natural, number, plural, probability
from pyod_gessvdd.experiments.statistics.bayes import ROPE
from pyod_gessvdd.experiments.statistics.losses import LABELS, against_the_best_other, common_traits, subject_of
from pyod_gessvdd.experiments.statistics.ranks import (
    deviations,
    means,
    measured,
    metric_columns,
    of_setting,
    rank,
)
from pyod_gessvdd.experiments.statistics.significance import Significance, significance

if TYPE_CHECKING:
    import pandas as pd

    from pyod_gessvdd.experiments.result import ComparisonResult

Row = dict[str, Any]

#: Fewer data sets than this give the tests little power; Demšar asks for more than ten.
FEW_DATASETS = 10

#: So many of the largest losses are listed.
SHOWN_LOSSES = 15


def content(result: ComparisonResult) -> Row:
    """Everything that a report of the run says, as plain data."""
    table = result.table
    return {
        "settings": sections(result),
        "title": f"{plural(len(result.detectors), 'detector')} on {plural(len(result.datasets), 'data set')}",
        "facts": _facts(result),
        "datasets": sorted(_records(result.datasets), key=lambda row: natural(row["name"])),
        "detectors": [row | {"parameters": _decoded(row["parameters"])} for row in _records(result.detectors)],
        "failures": _failure_groups(table),
        "n_failed": int((table["status"] != "done").sum()),
        "warned": _warnings(table),
        "n_jobs": len(table),
    }


def _facts(result: ComparisonResult) -> list[tuple[str, str]]:
    meta = result.meta
    machine = meta.get("machine", {})
    facts = [
        ("Data sets", listing(list(result.datasets["name"]), 40)),
        ("Detectors", listing(list(result.detectors["name"]), 40)),
        ("Settings and seeds", " and ".join(_seeds(result.table))),
        ("Jobs", _job_counts(result)),
        ("Started", str(meta.get("created", "")).replace("T", " ")[:19] + " UTC" if meta.get("created") else ""),
        ("Versions", ", ".join(f"{name} {version}" for name, version in meta.get("versions", {}).items() if version)),
        ("Machine", ", ".join(described_machine(machine))),
        ("Arguments", "; ".join(_arguments(meta.get("arguments", {})))),
    ]
    return [(term, text) for term, text in facts if text]


def _job_counts(result: ComparisonResult) -> str:
    counts = result.table["status"].value_counts()
    words = {"done": "done", "failed": "failed", "timeout": "over the time limit"}
    return ", ".join(f"{counts[status]:,} {word}" for status, word in words.items() if status in counts)


def _seeds(table: pd.DataFrame) -> list[str]:
    seeds = table.groupby("setting", sort=False)["seed"].unique()
    return [f"{setting} (seeds {listing([str(seed) for seed in sorted(used)], 12)})" for setting, used in seeds.items()]


def _arguments(arguments: Row) -> list[str]:
    """The arguments that no other fact tells."""
    others = {
        name: value for name, value in arguments.items() if value is not None and name not in ("setting", "seeds")
    }
    return [f"{name} {', '.join(map(str, v)) if isinstance(v, list | tuple) else v}" for name, v in others.items()]


def sections(result: ComparisonResult, only_first_metric: bool = False) -> list[Row]:
    """What is said of each setting, for every metric that was measured or for the first of them."""
    if result.table.empty:
        raise ComparisonError("the run holds no finished jobs, so there is nothing to report yet")
    said = []
    for setting in result.table["setting"].unique():
        rows = of_setting(result.table, setting)
        # The first metric that was asked for is the one that ranks.
        asked = result.meta.get("arguments", {}).get("metrics", metric_columns(rows))
        metrics = [metric for metric in asked if metric in measured(rows)] or list(asked[:1])
        protocol: type[Protocol] | None = known_protocols().get(setting)
        said.append(
            {
                "name": setting,
                "title": protocol.title if protocol else setting,
                "protocol": protocol.description if protocol else "",
                "metrics": [
                    _by_metric(rows, metric) | {"losses": None if only_first_metric else _losses(result, rows, metric)}
                    for metric in metrics[: 1 if only_first_metric else None]
                ],
                "notes": _notes(rows),
                "datasets": sorted(rows["dataset"].unique(), key=natural),
                "shown": [described(metric) for metric in metrics],
            }
        )
    return said


def _losses(result: ComparisonResult, rows: pd.DataFrame, metric: str) -> Row | None:
    """Where our best detector loses, if there are other detectors and enough data sets."""
    setting = str(rows["setting"].iloc[0])
    classes = dict(zip(result.detectors["name"], result.detectors["class"], strict=True))
    if rows["dataset"].nunique() < FEW_DATASETS or len({classes[name] for name in rows["detector"].unique()}) < 2:
        return None
    subject = subject_of(result, metric, setting)
    table = against_the_best_other(result, metric, setting, subject)
    if len(table) < FEW_DATASETS:
        return None
    traits = {name: label for name, label in LABELS.items() if name in table}
    lost = table[table["difference"] < 0].head(SHOWN_LOSSES)
    return {
        "subject": subject,
        "table": table,
        "rows": lost.rename_axis("dataset").reset_index().to_dict("records"),
        "traits": traits,
        "common": common_traits(table),
        "n_lost": int((table["difference"] < -ROPE).sum()),
        "n_won": int((table["difference"] > ROPE).sum()),
    }


def _by_metric(rows: pd.DataFrame, metric: str) -> Row:
    board = rank(rows, metric)
    found = significance(rows, metric)
    order = sorted(rows["dataset"].unique(), key=natural)
    return {
        "key": metric,
        "name": described(metric).label,
        "record": described(metric),
        "board": _board(board, metric),
        "findings": _leaders(board, metric),
        "values": means(rows, metric).loc[order, board["detector"]],
        "deviations": deviations(rows, metric).loc[order, board["detector"]],
        "significance": found,
        "tests": _tests(found),
        "pairs": _records(found.wilcoxon),
    }


def _board(board: pd.DataFrame, metric: str) -> list[Row]:
    """The leaderboard's rows, each with the columns that it is the best of, and its place between worst and best.

    A mean over fewer data sets than others' is not compared with theirs; ranks and wins count all data sets.
    """
    complete = board["finished"] == board["tried"]
    best: list[set[str]] = [set() for _ in board.index]
    metrics = metric_columns(board)
    for column in (*metrics, "mean_rank", "wins", "fit_seconds", "score_seconds"):
        values = board[column] if column in ("mean_rank", "wins") else board[column].where(complete)
        lower_is_better = column in ("mean_rank", "fit_seconds", "score_seconds") or (
            column in metrics and not described(column).higher_is_better
        )
        for i in board.index[values == (values.min() if lower_is_better else values.max())]:
            best[i].add(column)
    worst, span = board[metric].min(), board[metric].max() - board[metric].min()
    bars = ((board[metric] - worst) / span if span > 0 else board[metric] * 0 + 1).fillna(0)
    rows = zip(_records(board), best, bars, strict=True)
    return [row | {"best": columns, "bar": float(bar)} for row, columns, bar in rows]


def _complete(board: pd.DataFrame) -> pd.DataFrame:
    """The detectors that finished all data sets that they were tried on."""
    return board[board["finished"] == board["tried"]]


def _leaders(board: pd.DataFrame, metric: str) -> list[str]:
    candidates = board if _complete(board).empty else _complete(board)
    is_up = described(metric).higher_is_better
    finished = candidates[candidates[metric].notna()].sort_values(metric, ascending=not is_up, kind="stable")
    if finished.empty:
        return ["No detector finished a data set."]
    first = finished.iloc[0]
    share = plural(int(first["finished"]), "data set")
    share += "" if first["finished"] == first["tried"] else f" of {first['tried']} (no detector finished all)"
    sentence = (
        f"{first['detector']} has the {'highest' if is_up else 'lowest'} mean {described(metric).label}, "
        f"{number(first[metric], 3)} over {share}"
    )
    if len(finished) > 1:
        second = finished.iloc[1]
        sentence += f"; {second['detector']} follows with {number(second[metric], 3)}"
    leader = board.iloc[0]
    # One data set ranks nobody.
    if number(leader["mean_rank"]) == number(None) or board["tried"].max() == 1:
        return [f"{sentence}."]
    also = "also " if leader["detector"] == first["detector"] else ""
    return [f"{sentence}.", f"{leader['detector']} {also}has the best mean rank, {number(leader['mean_rank'], 2)}."]


def _tests(found: Significance) -> list[str]:
    """What Friedman's and Nemenyi's tests say, in sentences."""
    if found.reason or found.nemenyi is None or found.friedman_p is None:
        return [found.reason]
    verdict = "the detectors differ" if found.friedman_p < found.alpha else "no difference between detectors is shown"
    sentences = [
        f"Friedman's test over {plural(found.n_datasets, 'data set')}: "
        f"χ² = {number(found.friedman_statistic, 2)}, p {_equals(found.friedman_p)}; {verdict} at {found.alpha:g}."
    ]
    if found.friedman_p < found.alpha:
        p = found.nemenyi.iloc[0, 1:]
        same = [str(name) for name in p.index[p >= found.alpha]]
        best = found.nemenyi.index[0]
        told = f"Nemenyi's test does not separate {best}, the best-ranked, from {listing(same, 20)}"
        sentences.append(f"{told if same else f'By Nemenyi’s test {best} is better than every other detector'}.")
    if found.n_datasets < FEW_DATASETS:
        sentences.append(f"With {plural(found.n_datasets, 'data set')} these tests have little power.")
    return sentences


def _equals(p: float) -> str:
    return probability(p) if p < 0.001 else f"= {probability(p)}"


def _notes(rows: pd.DataFrame) -> list[str]:
    """Fairness, failures, duplicates: what a reader must know before believing the tables."""
    return [
        "Every detector was given the same splits, the same rows and the same scaling, and the same seeds if it takes "
        "one.",
        "Means are over the seeds first and over the data sets second. A data set counts for a detector only if all "
        "its seeds are done; where they are not, the detector ranks last.",
        *_failures(rows),
        *_waiting(rows),
        *_duplicates(rows),
    ]


def _failures(rows: pd.DataFrame) -> list[str]:
    sentences = []
    for name, jobs in rows.groupby("detector", sort=False):
        bad = jobs[jobs["status"] != "done"]
        if len(bad):
            where = list(bad["dataset"].unique())
            kept = jobs["dataset"].nunique() - len(where)
            sentences.append(
                f"† {name}: {len(bad)} of {plural(len(jobs), 'job')} failed or exceeded the time limit "
                f"({listing(where)}); its means are over the {plural(kept, 'data set')} that it finished, which may be "
                "the easier ones."
            )
    return sentences


def _waiting(rows: pd.DataFrame) -> list[str]:
    per_dataset = rows.groupby("dataset", sort=False)
    lacking = per_dataset["seed"].nunique() * rows["detector"].nunique() - per_dataset.size()
    waiting = lacking[lacking > 0]
    if waiting.empty:
        return []
    return [
        f"{plural(int(waiting.sum()), 'job')} of {listing(list(waiting.index))} not run yet; "
        "these data sets are left out of the ranks, the wins and Friedman's test."
    ]


def _duplicates(rows: pd.DataFrame) -> list[str]:
    splits = rows.drop_duplicates(["dataset", "seed"]).groupby("dataset", sort=False)[["duplicates", "n_test"]].mean()
    found = splits[splits["duplicates"] > 0]
    if found.empty:
        return ["No test row is also a training row."]
    each = [f"{name} {row.duplicates:.4g} of {row.n_test:.5g}" for name, row in found.iterrows()]
    return [f"Test rows that are also a training row, mean over the seeds: {listing(each, 40)}. They were kept."]


def _failure_groups(table: pd.DataFrame) -> list[Row]:
    """Failures with the same detector, setting and error together: where they happened, and the first traceback."""
    failed = table[table["status"] != "done"]
    groups = []
    same = ["detector", "setting", "status", "error"]
    for key, jobs in failed.groupby(same, sort=False, dropna=False):
        where = [
            f"{dataset} (seed {', '.join(map(str, of_dataset['seed']))})"
            for dataset, of_dataset in jobs.groupby("dataset", sort=False)
        ]
        traceback = next((text for text in jobs["traceback"] if isinstance(text, str) and text), "")
        groups.append(dict(zip(same, key, strict=True)) | {"n": len(jobs), "where": where, "traceback": traceback})
    return groups


def _warnings(table: pd.DataFrame) -> list[Row]:
    """What detectors warned of, each text once per detector with the number of jobs."""
    counts: dict[tuple[str, str], int] = {}
    for name, texts in zip(table["detector"], table["warnings"], strict=True):
        for text in set(_decoded(texts) or []):
            counts[name, text] = counts.get((name, text), 0) + 1
    return [{"detector": name, "text": text, "jobs": jobs} for (name, text), jobs in counts.items()]


def _decoded(value: Any) -> Any:
    """JSON text as what it says; what is decoded already, as it is."""
    return json.loads(value) if isinstance(value, str) and value else value


def _records(frame: pd.DataFrame) -> list[Row]:
    return frame.to_dict("records")
