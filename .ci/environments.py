"""Small suites in environments of their own: other interpreters, the lowest versions, the packages of others.

``make compatibility`` runs it, two environments at a time. An interpreter that this machine does not have is named, and
so is an environment that failed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: Where it is set a package that is missing is a failure: see tests/compatibility/packages.py.
ALL_INSTALLED = "PYOD_GESSVDD_ALL_PACKAGES"
#: The pages whose snippets need the packages of others: see tests/test_docs.py.
PAGES = "how-to/time-series.md or how-to/mlflow.md"


@dataclass(frozen=True)
class Environment:
    """What is installed, for which interpreter, and the arguments of pytest, one tuple per run."""

    name: str
    python: str
    extras: str
    runs: tuple[tuple[str, ...], ...]
    options: tuple[str, ...] = ()


SMOKE = ("tests/smoke",)
ENVIRONMENTS = (
    Environment(
        "the packages of others",
        "3.12",
        "compatibility,compare",
        (("tests/smoke", "tests/compatibility"), ("tests/test_docs.py", "-k", PAGES)),
    ),
    Environment("the lowest versions", "3.11", "compare,parquet", (SMOKE,), ("--resolution", "lowest-direct")),
    Environment("the newest versions", "3.10", "compare,parquet", (SMOKE,)),
    Environment("the newest versions", "3.13", "compare,parquet", (SMOKE,)),
)


def interpreter(version: str) -> str | None:
    """The path of a Python of this version, from the search path or from pyenv, or None."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    places = [shutil.which(f"python{version}"), *map(str, sorted(pyenv.glob(f"{version}.*/bin/python")))]
    for place in filter(None, places):
        # pyenv's shims are there for versions that they then refuse to run.
        asked = [place, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        if subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip() == version:
            return place
    return None


def run(environment: Environment, python: str, wheel: Path, folder: Path) -> tuple[bool, str]:
    """Install and test one environment; whether all went well, and what there is to read."""
    started, home = time.monotonic(), folder / environment.python
    uv = [sys.executable, "-m", "uv"]
    place = str(home / "bin" / "python")
    install = [*uv, "pip", "install", "--quiet", "--python", place, *environment.options]
    tests = [place, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--strict-markers"]
    commands = [
        [*uv, "venv", "--quiet", "--python", python, str(home)],
        [*install, f"pyod-gessvdd[{environment.extras}] @ {wheel.as_uri()}", "pytest>=8"],
        *([*tests, *arguments] for arguments in environment.runs),
    ]
    variables = {**os.environ, ALL_INSTALLED: "1" if "compatibility" in environment.extras else ""}
    told = []
    for command in commands:
        done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
        told += [*done.stdout.splitlines(), *done.stderr.splitlines()]
        if done.returncode:
            return False, "\n".join([" ".join(command), *told])
    counts = [line for line in told if " passed" in line]
    return True, f"{', '.join(counts)}; {time.monotonic() - started:.0f} s with the installation"


def main() -> int:
    """Run all environments whose interpreter is there; the number of those that failed."""
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build = [sys.executable, "-m", "build", "--wheel", "--outdir", name, str(ROOT)]
        subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
        (wheel,) = folder.glob("*.whl")
        with ThreadPoolExecutor(max_workers=2) as pool:
            running = []
            for environment in ENVIRONMENTS:
                python = interpreter(environment.python)
                if python is None:
                    print(f"Python {environment.python} is not on this machine: {environment.name} were not tested")
                else:
                    running.append((environment, pool.submit(run, environment, python, wheel, folder)))
            for environment, result in running:
                is_well, told = result.result()
                print(
                    f"Python {environment.python}, {environment.name}: {'' if is_well else 'FAILED'} {told}", flush=True
                )
                failed += not is_well
    return failed


if __name__ == "__main__":
    sys.exit(main())
