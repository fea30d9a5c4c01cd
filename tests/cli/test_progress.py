"""A bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import io

from rich.console import Console

from pyod_gessvdd.cli.progress import EVERY, Progress


class Clock:
    """Goes on when it is told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def shown(terminal, moments):
    """What is printed when 5, 6, 7, … of 20 steps, 4 of which were done before, are done at these moments."""
    console = Console(file=io.StringIO(), force_terminal=terminal, width=200, highlight=False)
    clock = Clock()
    with Progress(console, "jobs", clock=clock) as progress:
        progress.start(20, 4)
        for done, clock.now in enumerate(moments, start=5):
            progress.update(done, "wine, [KNN]", "1 failed" if done > 5 else "")
    return console.file.getvalue()


def test_a_redirected_run_prints_a_line_now_and_then():
    assert shown(False, [1.0, EVERY + 2.0, EVERY + 3.0, 2 * EVERY + 1.0, 2 * EVERY + 4.0]).splitlines() == [
        "6 of 20 jobs in 0:00:32, about 0:03:44 left, 1 failed, wine, [KNN]",
        "9 of 20 jobs in 0:01:04, about 0:02:21 left, 1 failed, wine, [KNN]",
    ]


def test_a_short_run_and_the_last_step_print_nothing():
    assert shown(False, [1.0, 2.0]) == ""
    assert shown(False, [1.0] * 15 + [EVERY + 1.0]) == ""


def test_a_terminal_gets_a_bar():
    text = shown(True, [1.0, EVERY + 2.0])
    assert "6/20" in text
    assert "about" not in text
