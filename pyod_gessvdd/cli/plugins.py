"""``gessvdd plugins``: which components are installed, who brought them, and what failed to load."""

from __future__ import annotations

import json
import math
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import click

from pyod_gessvdd.components.registry import EXTENSIONS, KINDS, available

if TYPE_CHECKING:
    from rich.console import RenderableType

Row = dict[str, Any]

#: The first line keeps click from re-wrapping the rest.
EXAMPLES = """\b
Examples:
  gessvdd plugins
  gessvdd plugins --kind laplacian
  gessvdd plugins --json | jq '.[] | select(.error)'
  PYOD_GESSVDD_PLUGINS=my-graphs gessvdd plugins
  PYOD_GESSVDD_PLUGINS=-my-graphs gessvdd plugins
"""


@click.command("plugins", epilog=EXAMPLES)
@click.option("--kind", type=click.Choice([*KINDS, *EXTENSIONS]), help="Only the components of this kind.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per component or failure.")
@click.pass_context
def command(ctx: click.Context, kind: str | None, as_json: bool) -> None:
    """List the installed components, and what failed to load.

    The kind of a component is the detector's parameter; it takes a name or an alias, alone or with parameters, for
    instance GESSVDD(laplacian="knn(n_neighbors=7)"). A parameter that is None takes the detector's value of the same
    name, if the component asks for it. Metrics and protocols are for gessvdd compare.

    The exit code is 1 if a plugin failed to load or two claim the same name, else 0. The environment variable
    PYOD_GESSVDD_PLUGINS (names of distributions or entry points, separated by commas) loads only these and the
    built-ins; with a minus before each name it loads all but these.
    """
    # A plugin that failed may have meant to bring the kind asked for, so failures are always shown.
    rows = [row for row in available() if kind in (None, row["kind"]) or row["kind"] == "plugin"]
    if as_json:
        click.echo(json.dumps(_plain(rows), indent=2))
    else:
        _print(rows)
    ctx.exit(1 if any(row["error"] for row in rows) else 0)


def _print(rows: list[Row]) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(highlight=False)
    console.print(_table([row for row in rows if row["kind"] != "plugin"]))
    problems = _problems(rows)
    if problems:
        console.print("\n[bold red]Not usable[/]")
        for problem in problems:
            console.print(Padding(Text(problem), (0, 0, 1, 2)))


def _table(rows: list[Row]) -> RenderableType:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    # The kind heads its rows instead of taking a column, so that the parameters have room in 80 columns.
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("kind, name", no_wrap=True)
    table.add_column("aliases", no_wrap=True)
    table.add_column("distribution", overflow="fold")
    table.add_column("parameters and defaults", overflow="fold")
    for kind, of_kind in groupby(rows, key=itemgetter("kind")):
        table.add_row(Text(kind, style="bold cyan"))
        for row in of_kind:
            table.add_row(
                Text(f"  {row['name']}", style="bold red" if row["error"] else "bold"),
                Text(", ".join(row["aliases"])),
                Text(f"{row['distribution']} {row['version']}"),
                Text(", ".join(f"{name}={default!r}" for name, default in row["parameters"].items())),
            )
        table.add_section()
    return table


def _problems(rows: list[Row]) -> list[str]:
    """A sentence per plugin that failed and per name that is taken twice (which both its rows tell)."""
    sentences = []
    for row in rows:
        if row["kind"] == "plugin":
            owner = f" of {row['distribution']} {row['version']}" if row["distribution"] else ""
            sentences.append(f"plugin {row['name']!r}{owner}: {row['error']}")
        elif row["error"]:
            sentences.append(row["error"])
    return list(dict.fromkeys(sentences))


def _plain(value: Any) -> Any:
    """What JSON can hold: defaults that it cannot are written as Python writes them."""
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return repr(value)
