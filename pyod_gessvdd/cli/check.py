"""``gessvdd check``: whether components keep their contract, check by check."""

from __future__ import annotations

import difflib
import json
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from pyod_gessvdd.checks import CONTRACTS, is_of
from pyod_gessvdd.checks.outcomes import FAILED, NOT_APPLICABLE, PASSED, outcomes
from pyod_gessvdd.components.registry import EXTENSIONS, KINDS, key, registry
from pyod_gessvdd.errors import SpecError, UnknownComponentError

if TYPE_CHECKING:
    from rich.console import Console

#: A component and its kind.
Target = tuple[str, Any]
#: One check's outcome: kind, name (of the component), check, result (passed, failed or not applicable) and message.
Row = dict[str, str]

#: The first line keeps click from re-wrapping the rest.
EXAMPLES = """\b
Examples:
  gessvdd check
  gessvdd check knn
  gessvdd check 'knn(n_neighbors=7)' --verbose
  gessvdd check my_package.graphs:MyGraph
  gessvdd check --kind kernel
  gessvdd check --kind protocol
  gessvdd check --all --json | jq '.[] | select(.result == "failed")'
"""


@click.command("check", epilog=EXAMPLES)
@click.argument("name", required=False)
@click.option(
    "--kind", type=click.Choice(list(CONTRACTS)), help="What the component is, where a name has several meanings."
)
@click.option("--all", "everything", is_flag=True, help="All installed components, as without NAME.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per component and check.")
@click.option("-v", "--verbose", is_flag=True, help="List every check, not only those that fail or do not apply.")
@click.pass_context
def command(
    ctx: click.Context, name: str | None, kind: str | None, everything: bool, as_json: bool, verbose: bool
) -> None:
    """Check whether components keep their contract.

    NAME is an installed component's name, alias or spec string, the name of a metric or a protocol of experiments, or
    a class (of a metric, its record) as package.module:Class, which need not be registered; the current folder is
    searched for it too. Without NAME everything that is installed is checked.

    The exit code is 0 if every check passes, 1 if one fails, 2 if there is nothing to check by that name.
    """
    if name is not None and everything:
        raise click.UsageError(f"give a NAME or --all, not both, got {name!r} and --all")
    targets = _installed(kind) if name is None else _named(name, kind)
    rows = []
    console = None if as_json else _console()
    for target in targets:
        of_component = _run(*target)
        rows += of_component
        if console is not None:
            _print(console, of_component, verbose)
    if console is None:
        click.echo(json.dumps(rows, indent=2))
    else:
        _print_summary(console, rows, len(targets))
    ctx.exit(1 if _count(rows, FAILED) else 0)


# What to check --------------------------------------------------------------------------------------------------------


def _installed(kind: str | None) -> list[Target]:
    order = list(CONTRACTS)
    found = [(entry.kind, entry.component) for entry in registry().registrations if kind in (None, entry.kind)]
    found += [target for of_kind in EXTENSIONS if kind in (None, of_kind) for target in _extensions(of_kind)]
    return sorted(found, key=lambda target: (order.index(target[0]), target[1].name))


def _extensions(kind: str) -> list[Target]:
    """The metrics or protocols that are installed."""
    return [(kind, extension) for extension in registry().extensions(kind, CONTRACTS[kind]).values()]


def _named(name: str, kind: str | None) -> list[Target]:
    """The components that a name stands for: more than one if a kernel and a graph share it."""
    kinds = list(CONTRACTS) if kind is None else [kind]
    if ":" in name:
        component = _imported(name)
        found = [(of_kind, component) for of_kind in kinds if is_of(of_kind, component)]
        if not found:
            expected = " or ".join(CONTRACTS[of_kind].__name__ for of_kind in kinds)
            raise click.UsageError(f"{name!r} is not a component; expected a subclass of {expected}")
        return found
    from pyod_gessvdd.components.specs import resolve

    refusals: list[Exception] = []
    found = [target for of_kind in EXTENSIONS if of_kind in kinds for target in _extensions(of_kind)]
    found = [target for target in found if key(target[1].name) == key(name)]
    for of_kind in [one for one in kinds if one in KINDS]:
        try:
            found.append((of_kind, resolve(of_kind, name)))
        except (UnknownComponentError, SpecError) as error:
            refusals.append(error)
    if not found:
        # That a known component does not take a parameter tells more than that other kinds do not know the name.
        told = [error for error in refusals if isinstance(error, SpecError)] or refusals[: len(kinds) == 1]
        raise told[0] if told else UnknownComponentError(_unknown(name))
    return found


def _unknown(name: str) -> str:
    spellings: dict[str, Target] = {key(target[1].name): target for kind in EXTENSIONS for target in _extensions(kind)}
    spellings |= {name: (entry.kind, entry.component) for entry in registry().registrations for name in entry.names}
    near = difflib.get_close_matches(key(name), spellings, n=1)
    sentence = f"unknown component {name!r}"
    kind, component = spellings[near[0]] if near else ("", None)
    sentence += f", did you mean the {kind} {component.name!r}?" if component else "."
    return "; ".join([f"{sentence} `gessvdd plugins` lists what is installed", *map(str, registry().failures)])


def _imported(name: str) -> Any:
    """The class, or the metric's record, that ``package.module:Class`` names."""
    module, _, qualname = name.partition(":")
    # The console script's path begins with its own folder; an author's module is where the author is.
    sys.path.insert(0, os.getcwd())
    try:
        found: Any = import_module(module)
        for part in qualname.split("."):
            found = getattr(found, part)
    except Exception as error:
        # Whatever the module raises, its author is told in one sentence.
        what = f"{type(error).__name__}: {error}"
        raise click.UsageError(f"cannot import {name!r} ({what}); write package.module:Class") from error
    finally:
        sys.path.remove(os.getcwd())
    if not isinstance(found, type | CONTRACTS["metric"]):
        raise click.UsageError(f"{name!r} is a {type(found).__name__}; expected a class")
    return found


def _run(kind: str, component: Any) -> list[Row]:

    return [{"kind": kind, "name": component.name, **outcome._asdict()} for outcome in outcomes(kind, component)]


# Printing -------------------------------------------------------------------------------------------------------------


def _console() -> Console:
    from rich.console import Console

    return Console(highlight=False)


def _print(console: Console, rows: list[Row], verbose: bool) -> None:
    """A heading with the count, and a line per check that failed or did not apply (or per check)."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    failed = _count(rows, FAILED)
    verdict = Text(f"{failed} failed", style="bold red") if failed else Text("keeps its contract", style="green")
    heading = Text(f"{rows[0]['kind']} ", style="cyan").append(rows[0]["name"], style="bold").append("  ")
    console.print(heading.append(verdict).append(f"  ({_count(rows, PASSED)} of {len(rows)} checks passed)"))
    styles = {PASSED: "green", FAILED: "bold red", NOT_APPLICABLE: "yellow"}
    table = Table(box=box.SIMPLE, show_header=False, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for row in rows if verbose else _worth_telling(rows):
        check = Text(row["check"])
        if row["message"]:
            check.append(f"\n{row['message']}", style="" if row["result"] == FAILED else "dim")
        table.add_row(Text(row["result"], style=styles[row["result"]]), check)
    if table.rows:
        console.print(table)


def _worth_telling(rows: list[Row]) -> list[Row]:
    """What fails, and of what does not apply one row per reason: for a component without a graph that is nearly all."""
    by_reason: dict[str, list[Row]] = {}
    for row in rows:
        if row["result"] == NOT_APPLICABLE:
            by_reason.setdefault(row["message"], []).append(row)
    return [row for row in rows if row["result"] == FAILED] + [
        {**same[0], "check": ", ".join(row["check"] for row in same)} for same in by_reason.values()
    ]


def _print_summary(console: Console, rows: list[Row], n_components: int) -> None:
    console.print(
        f"{n_components} component{'s' * (n_components != 1)}, {len(rows)} checks: {_count(rows, PASSED)} passed, "
        f"{_count(rows, FAILED)} failed, {_count(rows, NOT_APPLICABLE)} do not apply"
    )


def _count(rows: list[Row], result: str) -> int:
    return sum(row["result"] == result for row in rows)
