"""``gessvdd new-plugin``: a plugin package to start from."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from pyod_gessvdd.components.registry import KINDS, key

#: The first line keeps click from re-wrapping the rest.
EXAMPLES = """\b
Examples:
  gessvdd new-plugin laplacian my-graph
  gessvdd new-plugin qp_backend my-solver --dir ~/src
  gessvdd new-plugin kernel my-kernel --force
"""


@click.command("new-plugin", epilog=EXAMPLES)
@click.argument("kind", type=click.Choice(list(KINDS)))
@click.argument("name")
@click.option("--dir", "folder", type=click.Path(path_type=Path), default=Path(), help="Where to make its folder.")
@click.option("--force", is_flag=True, help="Overwrite the files of an existing package.")
def command(kind: str, name: str, folder: Path, force: bool) -> None:
    """Write a plugin package to start from.

    KIND is the detector's parameter that takes the component, NAME what users will write there. The package installs
    and passes its tests as it is: it has a small working component to change into yours, the entry point that
    pyod-gessvdd finds it by, and tests that call the conformance checks of its kind.
    """
    from pyod_gessvdd.scaffold import write_plugin

    root, written = write_plugin(kind, name, folder, overwrite=force)
    click.echo(f"Wrote {root}:")
    for path in written:
        click.echo(f"  {path.as_posix()}")
    click.echo("Next:")
    for line in (
        f"cd {shlex.quote(str(root))}",
        "pip install --editable '.[test]'",
        "pytest",
        f"gessvdd plugins --kind {kind}",
        f"gessvdd check {key(name)} --kind {kind}",
    ):
        click.echo(f"  {line}")
