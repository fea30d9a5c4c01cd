"""The options of every command that reads tables."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import click

from pyod_gessvdd.tabular.loader import TableOptions
from pyod_gessvdd.tabular.preparation import POLICIES

#: How text files are written; also for commands that know their columns from a model.
READING = (
    click.option(
        "--sep", metavar="CHAR", help="Between the columns of text files, such as ; or tab.  [default: recognised]"
    ),
    click.option("--decimal", metavar="CHAR", help="The decimal mark of text files, . or ,  [default: recognised]"),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first line of text files holds names.  [default: recognised]",
    ),
)

#: What the columns are.
COLUMNS = (
    click.option("--label", metavar="COLUMN", help="The label column, never a feature.  [default: label or y]"),
    click.option("--normal", metavar="VALUE", help="The label of normal rows, unless labels are 0 and 1."),
    click.option("--drop", multiple=True, metavar="COLUMN", help="A column that is not a feature; can be repeated."),
    click.option(
        "--keep", multiple=True, metavar="COLUMN", help="A feature although it looks like an index or a label."
    ),
    click.option(
        "--encode", multiple=True, metavar="COLUMN", help='A column of categories; "all" takes every column of text.'
    ),
    click.option(
        "--missing",
        type=click.Choice(POLICIES),
        default="error",
        show_default=True,
        help="Refuse missing values, leave their rows out, or fill them.",
    ),
)


def table_options(command: Any) -> Any:
    """The options that :class:`TableOptions` is made of; see :func:`taken_from`."""
    for option in reversed((*COLUMNS, *READING)):
        command = option(command)
    return command


def reading_options(command: Any) -> Any:
    """The options for files whose columns are known."""
    for option in reversed(READING):
        command = option(command)
    return command


def taken_from(options: dict[str, Any]) -> TableOptions:
    """Take the options of tables out of a command's options."""
    names = [each.name for each in fields(TableOptions)]
    return TableOptions.of(**{name: options.pop(name) for name in names if name in options})
