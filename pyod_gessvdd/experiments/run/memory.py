"""How much memory a piece of work needed at its peak."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

from pyod_gessvdd.extras import need

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")

#: Where the kernel keeps no peak, the resident memory is looked at so often (seconds).
INTERVAL = 0.01


class Peak:
    """The outcome: ``mib`` is set when the work is over."""

    mib: float = float("nan")


@contextlib.contextmanager
def peak_memory() -> Iterator[Peak]:
    """Measure by how much the resident memory of this process rose above where it stood.

    On Linux the kernel's own high-water mark is reset before and read after, so no peak is missed; elsewhere the
    resident memory is sampled every 10 ms. Memory that the process already held and uses again does not count.
    """
    peak = Peak()
    with _by_the_kernel(peak) if _kernel_can() else _by_sampling(peak):
        yield peak


def _kernel_can() -> bool:
    try:
        _RESET.write_text("5")
        return "VmHWM" in _STATUS.read_text()
    except OSError:
        return False


@contextlib.contextmanager
def _by_the_kernel(peak: Peak) -> Iterator[None]:
    start = _status("VmRSS")
    yield
    peak.mib = max(_status("VmHWM") - start, 0) / 1024


def _status(field: str) -> int:
    """A figure of /proc/self/status, in KiB."""
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(f"{field}:"))
    return int(line.split()[1])


@contextlib.contextmanager
def _by_sampling(peak: Peak) -> Iterator[None]:
    process = need("psutil", "compare", "measuring memory").Process()
    start = highest = process.memory_info().rss
    stop = threading.Event()

    def sample() -> None:
        nonlocal highest
        while not stop.wait(INTERVAL):
            highest = max(highest, process.memory_info().rss)

    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    try:
        yield
    finally:
        stop.set()
        sampler.join()
    peak.mib = (max(highest, process.memory_info().rss) - start) / 2**20
