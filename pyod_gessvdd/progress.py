"""A fit's progress: the stages and steps that it reports, and who listens. By default only the log does.

The listener belongs to the context of the fit, as a logger would, so that no step of Algorithm 1 has to pass it on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rich.console import Console

logger = logging.getLogger(__name__)

#: Without a terminal, seconds between two lines about the same stage; a brief listener is silent that long first.
EVERY = 30.0


class Listener:
    """What a fit reports to; this one writes stages and steps to the log, at level DEBUG."""

    def stage(self, name: str, total: int | None = None) -> None:
        """A stage begins, and the one before it has ended.

        Parameters
        ----------
        name : str
            What is done.
        total : int, optional
            The number of steps, at most.
        """
        logger.debug("%s", name)

    def step(self, done: int, words: str = "") -> None:
        """Some steps of the stage are done.

        Parameters
        ----------
        done : int
            How many.
        words : str
            What the last one found.
        """
        logger.debug("%d done, %s", done, words)

    def rows(self, number: int, done: int, total: int) -> None:
        """Some rows of a pass over a source are done.

        Parameters
        ----------
        number : int
            Which pass.
        done, total : int
            The rows.
        """

    def close(self) -> None:
        """The fit has ended."""


SILENT = Listener()
_listener: ContextVar[Listener] = ContextVar("listener", default=SILENT)


def stage(name: str, total: int | None = None) -> None:
    """Report that a stage begins; see :meth:`Listener.stage`."""
    _listener.get().stage(name, total)


def step(done: int, words: str = "", *values: Any) -> None:
    """Report a step of the stage; see :meth:`Listener.step`. The values are formatted only if somebody listens."""
    if is_shown() or logger.isEnabledFor(logging.DEBUG):
        _listener.get().step(done, words % values if values else words)


def rows(number: int, done: int, total: int) -> None:
    """Report rows of a pass; see :meth:`Listener.rows`."""
    _listener.get().rows(number, done, total)


def is_shown() -> bool:
    """Whether anybody other than the log listens."""
    return _listener.get() is not SILENT


@contextmanager
def shown(verbose: Any = True, *, brief: bool = False) -> Iterator[None]:
    """Show the progress of fits inside on stderr: bars in a terminal or notebook, lines elsewhere.

    Parameters
    ----------
    verbose : bool or int
        Whether to show it; inside another such context the outer one does.
    brief : bool, default=False
        Bars disappear at the end, and lines begin after :data:`EVERY` seconds.
    """
    if not isinstance(verbose, Integral | np.bool_) or verbose < 0:  # bool is an integer, numpy's is not
        raise ValueError(f"verbose must be True, False or an integer of at least 0, got {verbose!r}")
    if not verbose or is_shown():
        yield
        return
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    has_bars = console.is_terminal or console.is_jupyter
    listener = Bars(console, brief=brief) if has_bars else Lines(console, brief=brief)
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
        listener.close()


class Bars(Listener):
    """A bar for each stage, and one for the rows of a pass.

    Parameters
    ----------
    console : Console
        Where to draw them.
    brief : bool
        Whether they disappear at the end.
    """

    def __init__(self, console: Console, *, brief: bool) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            TimeElapsedColumn(),
            TextColumn("{task.fields[words]}", markup=False),
            console=console,
            transient=brief,
        )
        self._task: Any = None
        self._pass: Any = None
        self._bars.start()

    def stage(self, name: str, total: int | None = None) -> None:
        """A new bar below the others."""
        self._end_stage()
        self._task = self._bars.add_task(name, total=total, words="")

    def step(self, done: int, words: str = "") -> None:
        """The bar of the stage moves."""
        if self._task is not None:
            self._bars.update(self._task, completed=done, words=words)

    def rows(self, number: int, done: int, total: int) -> None:
        """The bar of the pass moves; the next pass has the same bar."""
        if self._pass is None:
            self._pass = self._bars.add_task("", total=total, words="")
        words = f"pass {number}: {done:,} of {total:,} rows"
        self._bars.update(self._pass, completed=done, total=total, words=words)

    def close(self) -> None:
        """All bars are full."""
        self._end_stage()
        if self._pass is not None:
            self._bars.remove_task(self._pass)
        self._bars.stop()

    def _end_stage(self) -> None:
        """Fill the bar, even of a stage that needed fewer steps than planned."""
        if self._task is not None:
            self._bars.update(self._task, total=1, completed=1)
            self._bars.stop_task(self._task)
            self._task = None


class Lines(Listener):
    """A line for each stage when it ends, and now and then one while it lasts.

    Parameters
    ----------
    console : Console
        Where to print them.
    brief : bool
        Whether nothing is printed in the first :data:`EVERY` seconds.
    clock : callable
        The time in seconds.
    """

    def __init__(self, console: Console, *, brief: bool, clock: Callable[[], float] = monotonic) -> None:
        self._console, self._clock = console, clock
        self._name = self._words = ""
        self._began = self._said = clock()
        self._silent_until = self._began + EVERY if brief else self._began

    def stage(self, name: str, total: int | None = None) -> None:
        """The last stage has ended."""
        self.close()
        self._name, self._words = name, ""
        self._began = self._said = self._clock()

    def step(self, done: int, words: str = "") -> None:
        """Remembered until the stage ends, or printed if it lasts."""
        self._words = words
        self._say_now_and_then(f"{done} steps, {words}" if words else f"{done} steps")

    def rows(self, number: int, done: int, total: int) -> None:
        """Printed now and then."""
        self._say_now_and_then(f"pass {number}, {done:,} of {total:,} rows")

    def close(self) -> None:
        """The last stage has ended."""
        now = self._clock()
        if self._name and now >= self._silent_until:
            self._print(f"{self._words} in {now - self._began:.1f} s" if self._words else f"{now - self._began:.1f} s")
        self._name = ""

    def _say_now_and_then(self, words: str) -> None:
        now = self._clock()
        if now - self._said >= EVERY and now >= self._silent_until:
            self._said = now
            self._print(words)

    def _print(self, words: str) -> None:
        self._console.print(f"{self._name}: {words}" if self._name else words, markup=False, soft_wrap=True)
