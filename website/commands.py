"""The command line as Markdown, read from click: every command with its arguments, help and options."""

from __future__ import annotations

import html
import inspect
import re
from collections.abc import Iterator

import click


def reference(command: click.Command, name: str) -> str:
    """All commands below ``command``, a heading each.

    Parameters
    ----------
    command : click.Command
        The group to begin with.
    name : str
        What a user types for it.
    """
    return "\n\n".join(_sections(command, _context(command, name), 2))


def _sections(command: click.Command, context: click.Context, level: int) -> Iterator[str]:
    yield f"{'#' * level} {context.command_path}"
    yield _escaped(inspect.cleandoc(command.help or ""))
    yield f"```text\n{command.get_usage(context).removeprefix('Usage: ')}\n```"
    records = [record for parameter in command.get_params(context) if (record := parameter.get_help_record(context))]
    lines = [f"| `{written}` | {_escaped(' '.join(meaning.split()))} |" for written, meaning in records]
    yield "\n".join(["| option | |", "|---|---|", *lines])
    if command.epilog:
        yield f"```text\n{inspect.cleandoc(command.epilog)}\n```".replace("\b\n", "")
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from _sections(child, _context(child, name, context), min(level + 1, 4))


def _context(command: click.Command, name: str, parent: click.Context | None = None) -> click.Context:
    return click.Context(command, info_name=name, parent=parent, **command.context_settings)


def _escaped(text: str) -> str:
    return re.sub(r"([|*_\[`])", r"\\\1", html.escape(text.replace("\b\n", ""), quote=False))
