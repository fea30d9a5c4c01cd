"""The leaderboard in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyod_gessvdd.experiments.metrics import Metric
from pyod_gessvdd.experiments.report.content import Row, sections
from pyod_gessvdd.experiments.report.formats import number, seconds

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.table import Table
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
    """A table per setting, ranked by the first metric that was measured, with its notes.

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
        parts += [heading, Text(), _Board(by_metric["board"], section["shown"])]
        marked = [note for note in section["notes"] if note.startswith("†")]
        parts += [Text(), *(Text(line, style="dim") for line in (*by_metric["tests"], *marked)), Text()]
    return Group(*parts[:-1])


@dataclass(frozen=True)
class _Board:
    """The table of one metric: as many columns as fit with their numbers whole, the first ones first."""

    rows: list[Row]
    metrics: Sequence[Metric]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.measure import Measurement
        from rich.text import Text

        columns = [*((one.name, one.heading, 3) for one in self.metrics), *COLUMNS]
        shown = list(columns)
        # A measurement never exceeds the room that there is; names are folded before a column goes.
        roomy = options.update(max_width=10_000)
        while len(shown) > 1:
            if Measurement.get(console, roomy, self._table(shown, NAME_WIDTH)).minimum <= options.max_width:
                break
            shown.pop()
        yield self._table(shown)
        if len(shown) < len(columns):
            headings = ", ".join(heading for _, heading, _ in columns[len(shown) :])
            yield Text(f"No room for {headings}: widen the terminal, or see the report.", style="dim")

    def _table(self, columns: Sequence[tuple[str, str, int | None]], name_width: int | None = None) -> Table:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
        table.add_column("detector", overflow="fold", min_width=NAME_WIDTH, max_width=name_width)
        cells = [[_cell(row[key], decimals, key in row["best"]) for row in self.rows] for key, _, decimals in columns]
        for (_, heading, _), numbers in zip(columns, cells, strict=True):
            # A number is never shortened: rich would take the least width from its longest word.
            width = max(len(heading), *map(len, numbers))
            table.add_column(heading, justify="right", no_wrap=True, min_width=width)
        for row, *figures in zip(self.rows, *cells, strict=True):
            name = Text(row["detector"])
            if row["failures"]:
                name.append("\u00a0†", style="red")
            table.add_row(name, *figures)
        return table


def _cell(value: Any, decimals: int | None, is_best: bool) -> Text:
    from rich.text import Text

    words = seconds(value) if decimals is None else number(value, decimals)
    return Text(words, style="bold green" if is_best else "")
