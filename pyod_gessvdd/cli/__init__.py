"""The command line: ``gessvdd COMMAND``, one module per command, imported when it is asked for."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import click

from pyod_gessvdd import __version__, errors
from pyod_gessvdd.cli.groups import LazyGroup
from pyod_gessvdd.cli.notes import notes_on_stderr

#: Each is a module of this package (with ``_`` for ``-``) whose ``command`` is the click command.
COMMANDS = (
    "bench",
    "check",
    "compare",
    "demo",
    "fit",
    "gallery",
    "new-plugin",
    "plugins",
    "report",
    "score",
)

#: What a user can put right: one sentence, no traceback. Anything else is a bug and shows where.
EXPECTED = (
    errors.ComparisonError,
    errors.ComponentError,
    errors.MissingPluginError,
    errors.ModelFileError,
    errors.NotSolvedError,
    errors.PluginError,
    errors.ScaffoldError,
    errors.SpecError,
    errors.UnknownComponentError,
)


class Commands(LazyGroup):
    """All commands; errors are one sentence."""

    names = COMMANDS

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run, and exit with 0, with the command's own code, or with 2 and one sentence on stderr."""
        try:
            # Outside of its standalone mode click returns the exit code and lets its errors through.
            with notes_on_stderr():
                code = super().main(*args, **{**kwargs, "standalone_mode": False})
        except click.Abort:
            click.echo("gessvdd: interrupted", err=True)
            code = 130
        except (click.ClickException, *EXPECTED) as error:
            sentence = error.format_message() if isinstance(error, click.ClickException) else str(error)
            click.echo(f"gessvdd: {sentence}", err=True)
            code = 2
        sys.exit(code)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="gessvdd")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Graph-Embedded Subspace Support Vector Data Description, a PyOD detector with pluggable components."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
