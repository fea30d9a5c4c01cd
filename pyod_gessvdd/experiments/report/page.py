"""A run as one HTML file that needs nothing else, as Markdown, and as the files of its folder."""

from __future__ import annotations

import json
import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.metrics import described
from pyod_gessvdd.experiments.report import formats
from pyod_gessvdd.experiments.report.content import content
from pyod_gessvdd.experiments.report.markdown import TABLES, escape_markdown
from pyod_gessvdd.experiments.report.panels import (
    axes_of_panels,
    bayes_matrix,
    dataset_panels,
    heat,
    loss_figures,
    metric_figures,
    wilcoxon_matrix,
)
from pyod_gessvdd.experiments.report.style import lines
from pyod_gessvdd.experiments.report.svg import VARIABLES
from pyod_gessvdd.experiments.statistics.ranks import metric_columns

if TYPE_CHECKING:
    from jinja2 import Environment

    from pyod_gessvdd.experiments.result import ComparisonResult

#: The columns of the full table of jobs and their headings, in the page's order; the run's metrics at METRICS.
JOB_COLUMNS = {
    "dataset": "Data set",
    "detector": "Detector",
    "setting": "Setting",
    "seed": "Seed",
    "status": "Status",
    "METRICS": "",
    "fit_seconds": "Fit (s)",
    "score_seconds": "Score (s)",
    "cpu_seconds": "CPU (s)",
    "peak_memory_mib": "Memory (MiB)",
    "n_train": "Train",
    "n_test": "Test",
    "duplicates": "Dupl.",
    "error": "Error",
}


def to_html(result: ComparisonResult, path: str | os.PathLike[str] | None = None) -> str:
    """The report as one HTML page that opens from disk without network.

    Parameters
    ----------
    result : ComparisonResult
        The run.
    path : path-like, optional
        Where to write it.

    Returns
    -------
    str
        The page.
    """
    return _written(_html(result, content(result)), path)


def to_markdown(result: ComparisonResult, path: str | os.PathLike[str] | None = None) -> str:
    """The tables and sentences of the report as Markdown.

    Parameters
    ----------
    result : ComparisonResult
        The run.
    path : path-like, optional
        Where to write it.

    Returns
    -------
    str
        The text.
    """
    return _written(_markdown(content(result)), path)


def write_report(result: ComparisonResult, folder: str | os.PathLike[str]) -> list[Path]:
    """Write ``results.csv``, ``report.md`` and ``report.html`` into a folder; gives their paths."""
    paths = [Path(folder, name) for name in ("results.csv", "report.md", "report.html")]
    said = content(result)
    texts = _markdown(said), _html(result, said)
    try:
        result.to_csv(paths[0])
        for text, path in zip(texts, paths[1:], strict=True):
            _written(text, path)
    except OSError as error:
        raise ComparisonError(f"the reports cannot be written to {str(folder)!r}: {error.strerror or error}") from error
    return paths


def _markdown(said: dict[str, Any]) -> str:
    text: str = _environment().get_template("report.md").render(**said)
    return text


def _html(result: ComparisonResult, said: dict[str, Any]) -> str:
    sections = []
    for section in said["settings"]:
        metrics = [
            by_metric
            | {
                "figures": metric_figures(result, section["name"], by_metric)
                | loss_figures(result, section["name"], by_metric),
                "heat": heat(by_metric),
                "matrix": wilcoxon_matrix(by_metric["significance"]),
                "beliefs": bayes_matrix(by_metric["significance"]),
            }
            for by_metric in section["metrics"]
        ]
        panels = dataset_panels(result, section["name"], section["datasets"])
        sections.append(section | {"metrics": metrics, "panels": panels})
    page: str = (
        _environment()
        .get_template("report.html")
        .render(**said | {"settings": sections}, lines=_line_styles(result), jobs=_jobs(result), axes=axes_of_panels())
    )
    return page


def _line_styles(result: ComparisonResult) -> list[dict[str, str]]:
    """The detectors' lines as the legend's CSS needs them; a dash is given in line widths and drawn 2 pixels wide."""
    return [
        {"variable": VARIABLES[colour], "dashes": " ".join(f"{2 * dash:g}" for dash in dashes)}
        for colour, dashes in lines(result.detectors["name"]).values()
    ]


def _jobs(result: ComparisonResult) -> dict[str, Any]:
    """The full table for the page's script: column names, headings and rows; six digits are more than are shown."""
    headings: dict[str, str] = {}
    for column, heading in JOB_COLUMNS.items():
        of_metrics = {name: described(name).label for name in metric_columns(result.table)}
        headings |= of_metrics if column == "METRICS" else {column: heading}
    table = result.table[list(headings)]
    # pandas writes NaN as null and rounds; the result goes through the template's own JSON, which escapes for HTML.
    rows = json.loads(table.to_json(orient="values", double_precision=6))
    numeric = [table[column].dtype.kind in "fiu" and column != "error" for column in table]
    decimals = {"fit_seconds": 4, "score_seconds": 4, "cpu_seconds": 4, "peak_memory_mib": 1}
    decimals |= {name: described(name).decimals for name in metric_columns(result.table)}
    return {
        "columns": list(headings),
        "headings": list(headings.values()),
        "numeric": numeric,
        "decimals": decimals,
        "rows": rows,
    }


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from pyod_gessvdd.extras import need

    jinja2 = need("jinja2", "compare", "a report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__),
        autoescape=jinja2.select_autoescape(["html"]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": formats.number,
        "seconds": formats.seconds,
        "probability": formats.probability,
        "statistic": formats.statistic,
        "trait": formats.trait,
        "md": escape_markdown,
        **TABLES,
    }
    environment.tests["missing"] = formats.missing
    return environment


def _written(text: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        Path(path).write_text(text, encoding="utf-8", newline="\n")
    return text
