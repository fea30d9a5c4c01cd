"""What the library logs as information, printed as notes."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import click


class _Notes(logging.Handler):
    """Prints each line once, on stderr."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._printed: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Print a line that is new."""
        line = record.getMessage()
        if line not in self._printed:
            self._printed.add(line)
            click.echo(f"gessvdd: note: {line}", err=True)


@contextmanager
def notes_on_stderr() -> Iterator[None]:
    """What the library logs as information is printed while the command runs."""
    logger, handler = logging.getLogger("pyod_gessvdd"), _Notes()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
