"""The leaderboard in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyod_gessvdd.experiments.metrics import Metric
from pyod_gessvdd.experiments.report.content import Row, sections
from pyod_gessvdd.experiments.report.fitting_table import FittingTable
from pyod_gessvdd.experiments.report.formats import missing, number, seconds

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from pyod_gessvdd.experiments.result import ComparisonResult

#: Column of the leaderboard behind the metrics, its heading, and its decimals (None is a time).
COLUMNS = (
    ("mean_rank", "rank", 2),
    ("wins", "wins", 0),
    ("fit_seconds", "fit", None),
    ("score_seconds", "score", None),
)

#: Detectors' names have at least so much room.
NAME_WIDTH = 12


def leaderboard(result: ComparisonResult) -> RenderableType:
    """A table per setting, ranked by the first metric that was measured, ± the seeds, with its notes.

    A narrow terminal gets fewer columns, with their numbers whole.

    Parameters
    ----------
    result : ComparisonResult
        The run.
    """
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = []
    for section in sections(result, only_first_metric=True):
        by_metric = section["metrics"][0]
        heading = Text(f"{section['title']}: ranked by {by_metric['name']}", style="bold")
        parts += [heading, Text(), _table(by_metric, section["shown"])]
        marked = [note for note in section["notes"] if note.startswith("†")]
        parts += [Text(), *(Text(line, style="dim") for line in (*by_metric["tests"], *marked)), Text()]
    return Group(*parts[:-1])


def _table(by_metric: Row, metrics: Sequence[Metric]) -> RenderableType:
    from rich.text import Text

    board = by_metric["board"]
    deviation = f"{by_metric['key']}_sd"
    # With one seed there is none.
    spread = [(deviation, "±", 3)] if any(not missing(row[deviation]) for row in board) else []
    of_metrics = [(one.name, one.heading, 3) for one in metrics]
    shown = [*of_metrics[:1], *spread, *of_metrics[1:], *COLUMNS]
    table = FittingTable(["detector"], [heading for _, heading, _ in shown], fold=NAME_WIDTH)
    for row in board:
        name = Text(row["detector"])
        if row["failures"]:
            name.append("\u00a0†", style="red")
        table.add_row(name, *(_cell(row[key], decimals, key in row["best"]) for key, _, decimals in shown))
    return table


def _cell(value: Any, decimals: int | None, is_best: bool) -> Text:
    from rich.text import Text

    words = seconds(value) if decimals is None else number(value, decimals)
    return Text(words, style="bold green" if is_best else "")
