"""Where a comparison ran: versions and machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pyod_gessvdd.extras import need

PACKAGES = ("pyod-gessvdd", "pyod", "numpy", "scipy", "scikit-learn", "numba", "joblib", "pandas")


def versions(packages: Sequence[str] = PACKAGES) -> dict[str, str]:
    """The versions of Python and of the packages that decide the figures; those that are not installed are left out."""
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, Any]:
    """The system, the processor, the cores and the memory of this machine."""
    memory = need("psutil", "compare", "a comparison").virtual_memory().total
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30, 1),
    }


def described_machine(found: dict[str, Any]) -> list[str]:
    """What :func:`machine` found, in words."""
    words = [str(found.get(key, "")) for key in ("system", "processor")]
    words += [f"{found['cores']} cores"] if found.get("cores") else []
    words += [f"{found['memory_gib']:.3g} GiB"] if found.get("memory_gib") else []
    return [word for word in words if word]


def sentence(packages: Sequence[str] = PACKAGES) -> str:
    """The machine and the versions in one line, for the head of a benchmark's table."""
    about = ", ".join(f"{name} {number}" for name, number in versions(packages).items())
    return f"{', '.join(described_machine(machine()))}; {about}"


def _processor() -> str:
    """The processor's name; Linux tells it only in a file."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
