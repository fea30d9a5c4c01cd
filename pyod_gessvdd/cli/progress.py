"""How far a command is: a bar in a terminal, a line now and then where the output goes to a file."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

#: Seconds between two lines.
EVERY = 30.0


class Progress:
    """Counts steps on a console, as a context manager.

    Parameters
    ----------
    console : Console
        Where to show them.
    noun : str
        What a step is, in the plural.
    clock : callable
        The time in seconds.
    """

    def __init__(self, console: Console, noun: str, *, clock: Callable[[], float] = monotonic) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._console, self._noun, self._clock = console, noun, clock
        self._bar = Bar(
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[alert]}", style="red", markup=False),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("loading", total=None, alert="")
        self._total = self._first = 0
        self._started = self._said = clock()

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def start(self, total: int, done: int = 0) -> None:
        """Begin to count; what an earlier run has done says nothing about the time that is left."""
        self._total, self._first = total, done
        self._started = self._said = self._clock()
        self._bar.reset(self._task, total=total, completed=done, description="", alert="")

    def update(self, done: int, words: str = "", alert: str = "") -> None:
        """So many steps are done.

        Parameters
        ----------
        done : int
            All steps, those of an earlier run included.
        words : str
            What the last one was.
        alert : str
            What went wrong so far.
        """
        self._bar.update(self._task, completed=done, description=words, alert=alert)
        now = self._clock()
        if not self._console.is_terminal and now - self._said >= EVERY and done < self._total:
            self._said = now
            passed = now - self._started
            left = passed / max(done - self._first, 1) * (self._total - done)
            parts = [f"{done:,} of {self._total:,} {self._noun} in {_time(passed)}", f"about {_time(left)} left"]
            text = ", ".join([*parts, *filter(None, (alert, words))])
            self._console.print(text, markup=False, soft_wrap=True)


def _time(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
