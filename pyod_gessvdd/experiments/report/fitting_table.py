"""A table in the terminal that never shortens a number: what has no room is left out, and said to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table
    from rich.text import Text


class FittingTable:
    """Columns of names, and as many of the columns of numbers as fit, the first ones first.

    Parameters
    ----------
    names, numbers : sequence of str
        The headings.
    fold : int, optional
        Names may be folded to this many characters before a column goes; by default they stay whole.
    """

    def __init__(self, names: Sequence[str], numbers: Sequence[str], fold: int | None = None) -> None:
        self._names, self._numbers, self._fold = list(names), list(numbers), fold
        self._rows: list[list[Text]] = []
        self._ends: set[int] = set()

    def add_row(self, *cells: str | Text) -> None:
        """Names, then numbers; text may hold rich's markup."""
        from rich.text import Text

        self._rows.append([Text.from_markup(cell) if isinstance(cell, str) else cell for cell in cells])

    def add_section(self) -> None:
        """Let some room follow."""
        self._ends.add(len(self._rows) - 1)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.measure import Measurement
        from rich.text import Text

        # A measurement never exceeds the room that there is.
        roomy = options.update(max_width=10_000)
        shown = len(self._numbers)
        while shown > 1:
            if Measurement.get(console, roomy, self._table(shown, self._fold)).minimum <= options.max_width:
                break
            shown -= 1
        yield self._table(shown)
        if shown < len(self._numbers):
            missing = ", ".join(heading.strip() for heading in self._numbers[shown:])
            yield Text(f"No room for {missing}: widen the terminal.", style="dim")

    def _table(self, n_numbers: int, name_width: int | None = None) -> Table:
        from rich import box
        from rich.table import Table

        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
        n_names = len(self._names)
        for i, heading in enumerate(self._names):
            width = self._fold or self._width(i, heading)
            table.add_column(heading, overflow="fold", min_width=width, max_width=name_width)
        for i, heading in enumerate(self._numbers[:n_numbers], start=n_names):
            # Without a least width rich would take the length of a number's longest word, and cut off its unit.
            table.add_column(heading, justify="right", no_wrap=True, min_width=self._width(i, heading))
        for number, row in enumerate(self._rows):
            table.add_row(*row[: n_names + n_numbers], end_section=number in self._ends)
        return table

    def _width(self, column: int, heading: str) -> int:
        return max(len(heading), *(row[column].cell_len for row in self._rows)) if self._rows else len(heading)
