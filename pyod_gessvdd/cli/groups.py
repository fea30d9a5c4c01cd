"""Groups of commands, each a module that is imported when it is asked for."""

from __future__ import annotations

import difflib
from importlib import import_module

import click


class LazyGroup(click.Group):
    """A group that knows the names of its commands, imports a command's module when it is used, and suggests names.

    Subclasses set ``names``, and ``prefix``: the module of a command is ``prefix`` and the name, with ``_`` for ``-``,
    and its ``command`` is the click command.
    """

    names: tuple[str, ...] = ()
    prefix: str = f"{__package__}."

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, without importing anything."""
        return list(self.names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name not in self.names:
            return None
        command: click.Command = import_module(f"{self.prefix}{cmd_name.replace('-', '_')}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant; for a name that there is not, the nearest is suggested."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = difflib.get_close_matches(args[0], self.names, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(self.names)}"
            raise click.UsageError(f"there is no command {args[0]!r}; {hint}", ctx) from error
