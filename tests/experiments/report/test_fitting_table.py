"""A table that never shortens a number."""

from __future__ import annotations

import io

from rich.console import Console
from rich.text import Text

from pyod_gessvdd.experiments.report.fitting_table import FittingTable


def printed(width, fold=None):
    table = FittingTable(["name"], ["AUC", "time"], fold)
    table.add_row("a long name", "[bold]0.98[/]", "1.25 ms")
    table.add_section()
    table.add_row(Text("[b]"), "0.5", "7 s")
    console = Console(file=io.StringIO(), width=width)
    console.print(table)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_all_columns_are_shown_where_there_is_room():
    assert printed(26) == [
        "name          AUC     time",
        "──────────────────────────",
        "a long name  0.98  1.25 ms",
        "",
        "[b]           0.5      7 s",
    ]


def test_the_last_columns_go_first_and_are_named():
    lines = printed(25)
    assert lines[2] == "a long name  0.98"
    assert " ".join(lines[-2:]) == "No room for time: widen the terminal."


def test_names_are_folded_first_if_they_may_be():
    assert printed(25, fold=6)[0].split() == ["name", "AUC", "time"]
    assert printed(25, fold=6)[2].split()[-3:] == ["0.98", "1.25", "ms"]


def test_one_column_of_numbers_stays():
    assert "".join(printed(10)[-4:]).replace(" ", "") == "Noroomfortime:widentheterminal."


def test_a_table_without_rows_has_its_headings():
    console = Console(file=io.StringIO(), width=40)
    console.print(FittingTable(["name"], ["AUC"]))
    assert console.file.getvalue().split()[:2] == ["name", "AUC"]
