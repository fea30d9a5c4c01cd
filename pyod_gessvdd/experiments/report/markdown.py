"""Markdown that shows what was meant, whatever the names of data sets and detectors are."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from pyod_gessvdd.experiments.metrics import Metric
from pyod_gessvdd.experiments.report.formats import number, probability, seconds, statistic, trait, with_deviation

Row = dict[str, Any]


def escape_markdown(text: object) -> str:
    """Text that Markdown shows as it is, on one line."""
    line = re.sub(r"\s+", " ", str(text))
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # An underscore between letters is not emphasis in any dialect that knows tables.
    return re.sub(r"([\\`*\[\]|~$]|(?<!\w)_|_(?!\w))", r"\\\1", line)


def pipe_table(headings: Sequence[str], rows: Sequence[Sequence[str]], n_left: int = 1) -> str:
    """A table of escaped cells, padded so that it also reads well unrendered; the first columns are left-aligned."""
    headings = [escape_markdown(heading) for heading in headings]
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    rule = ["-" * width if i < n_left else "-" * (width - 1) + ":" for i, width in enumerate(widths)]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if i < n_left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    return "\n".join(map(line, (headings, rule, *rows)))


def board_table(metric: Row, shown: Sequence[Metric]) -> str:
    """The leaderboard with these metrics; the best of a column is bold, a detector with failures has a dagger."""
    formats: dict[str, Callable[[Any], str]] = {
        "mean_rank": lambda value: number(value, 2),
        "wins": str,
        "fit_seconds": seconds,
        "score_seconds": seconds,
    }
    rows = []
    for row in metric["board"]:
        name = escape_markdown(row["detector"]) + (" †" if row["failures"] else "")
        finished = f"{row['finished']} of {row['tried']}" if row["finished"] != row["tried"] else str(row["finished"])
        figures = [
            _bold(with_deviation(row[one.name], row[f"{one.name}_sd"], one.decimals), one.name in row["best"])
            for one in shown
        ]
        cells = [_bold(form(row[key]), key in row["best"]) for key, form in formats.items()]
        rows.append([name, *figures, *cells, finished, str(row["failures"])])
    headings = ["Mean rank", "Wins", "Fit", "Score", "Data sets", "Failures"]
    return pipe_table(["Detector", *(one.label for one in shown), *headings], rows)


def values_table(metric: Row) -> str:
    """The metric on every data set; the best of a row is bold, a cross is a failure."""
    values, record = metric["values"], metric["record"]
    best = max if record.higher_is_better else min
    rows = [
        [
            escape_markdown(dataset),
            *(
                "×"
                if value != value
                else _bold(with_deviation(value, deviation, record.decimals), value == best(row.dropna()))
                for value, deviation in zip(row, metric["deviations"].loc[dataset], strict=True)
            ),
        ]
        for dataset, row in values.iterrows()
    ]
    return pipe_table(["Data set", *values.columns], rows)


def pairs_table(metric: Row) -> str:
    """Wilcoxon's tests, a row per pair."""
    alpha = metric["significance"].alpha
    rows = [
        [*(escape_markdown(row[key] or "–") for key in ("a", "b", "better")), statistic(row["T"]),
         probability(row["p"]), _bold(probability(row["p_holm"]), row["p_holm"] < alpha),
         f"{row['wins']}:{row['losses']}", str(row["n"])]
        for row in metric["pairs"]
    ]  # fmt: skip
    return pipe_table(["Detector", "against", "Better", "T", "p", "p (Holm)", "Wins", "Data sets"], rows, n_left=3)


def beliefs_table(metric: Row) -> str:
    """The Bayesian tests, a row per pair: how likely the first is practically better, equal and worse, in per cent."""
    rows = [
        [escape_markdown(row["a"]), escape_markdown(row["b"]),
         *(_bold(number(100 * row[key], 0), row[key] >= 0.95) for key in ("better", "equal", "worse"))]
        for row in metric["significance"].bayes.to_dict("records")
    ]  # fmt: skip
    return pipe_table(["Detector", "against", "Better (%)", "Equal (%)", "Worse (%)"], rows, n_left=2)


def losses_table(losses: Row) -> str:
    """The largest losses with the traits of the data."""
    rows = [
        [escape_markdown(row["dataset"]), escape_markdown(row["other"]),
         *(number(row[key], 3) for key in ("own", "best", "difference")),
         *(trait(row[name]) for name in losses["traits"])]
        for row in losses["rows"]
    ]  # fmt: skip
    headings = ["Data set", "Best other", "Own", "Best", "Difference", *losses["traits"].values()]
    return pipe_table(headings, rows, n_left=2)


def failures_table(jobs: list[Row]) -> str:
    """What failed, with the error's line; the tracebacks are in the HTML report."""
    rows = [
        [escape_markdown(cell or "") for cell in
         (job["detector"], job["setting"], job["status"], job["n"], ", ".join(job["where"]), job["error"])]
        for job in jobs
    ]  # fmt: skip
    return pipe_table(["Detector", "Setting", "Status", "Jobs", "Where", "Error"], rows, n_left=6)


def datasets_table(datasets: list[Row]) -> str:
    """The data sets, with the beginning of the hash of their data."""
    rows = [
        [escape_markdown(row["name"]), escape_markdown(row["source"]), str(row["n_rows"]), str(row["n_features"]),
         str(row["n_outliers"]), (row["sha256"] or "")[:12]]
        for row in datasets
    ]  # fmt: skip
    return pipe_table(["Data set", "Source", "Rows", "Features", "Outliers", "SHA-256"], rows, n_left=2)


def detectors_table(detectors: list[Row]) -> str:
    """The detectors with their parameters."""
    rows = []
    for row in detectors:
        parameters = row["parameters"] if isinstance(row["parameters"], dict) else {}
        shown = ", ".join(f"{name}={value}" for name, value in parameters.items())
        rows.append([escape_markdown(cell) for cell in (row["name"], row["class"], shown)])
    return pipe_table(["Detector", "Class", "Parameters"], rows, n_left=3)


def _bold(text: str, is_best: bool) -> str:
    return f"**{text}**" if is_best else text


#: The tables by the name that the template calls them.
TABLES: dict[str, Callable[..., str]] = {
    table.__name__: table
    for table in (
        *(board_table, values_table, pairs_table, beliefs_table, losses_table),
        *(failures_table, datasets_table, detectors_table),
    )
}
