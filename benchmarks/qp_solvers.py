"""Time and duality gap of the QP backends of pyod-gessvdd-qpsolvers beside the built-in ones.

    python benchmarks/qp_solvers.py > benchmarks/results/qpsolvers.md

Each solve runs in a process of its own, forked after the imports, and is ended after LIMIT seconds.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

import multiprocessing
import platform
import time
import warnings
from importlib.metadata import PackageNotFoundError, packages_distributions, version

import numpy as np
import pyod_gessvdd_qpsolvers
import qpsolvers
from pyod_gessvdd.qp import solve_svdd

SIZES = (1_000, 5_000)
DIMENSION = 5
NU = 0.1
LIMIT = 15.0
BUILT_IN = {"frank_wolfe": "own", "interior_point": "own", "libsvm": "dense", "osqp": "sparse"}
#: Their licences take small problems only.
LEFT_OUT = ("copt", "gurobi")


def measure(backend: str, N: int) -> str:
    """Seconds and gap of the second of two solves, or why there are none."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_solve, args=(backend, N, sender))
    process.start()
    answer = receiver.recv() if receiver.poll(LIMIT) else f"over {LIMIT:.0f} s"
    process.kill()
    process.join()
    return answer


def _solve(backend: str, N: int, sender: object) -> None:
    Z = np.random.default_rng(0).normal(size=(N, DIMENSION))
    warnings.simplefilter("ignore")
    try:
        solve_svdd(Z[:50], nu=NU, backend=backend)  # imports and compiles
        start = time.perf_counter()
        found = solve_svdd(Z, nu=NU, backend=backend)
        sender.send(f"{1000 * (time.perf_counter() - start):,.0f} ms, gap {found.gap:.0e}")
    except Exception as error:
        sender.send("refused: N above its limit" if "limited to" in str(error) else str(error))


def solver_version(module: str) -> str:
    try:
        return version(packages_distributions()[module][0])
    except (KeyError, PackageNotFoundError):
        return "?"


def main() -> None:
    rows = [(name, form, "") for name, form in BUILT_IN.items()]
    for backend in pyod_gessvdd_qpsolvers.installed():
        if backend.solver not in LEFT_OUT:
            dense = issubclass(backend, pyod_gessvdd_qpsolvers.DenseBackend)
            rows.append((backend.name, "dense" if dense else "sparse", solver_version(backend.module)))
    print("# QP solvers on the SVDD dual\n")
    print(f"Gaussian points, d = {DIMENSION}, nu = {NU:g}; one solve each, one thread, with its relative duality gap")
    print("as the host certifies it. Written by `benchmarks/qp_solvers.py`.\n")
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores shared with other work, Python", end=" ")
    print(f"{platform.python_version()}, NumPy {np.__version__}, qpsolvers {qpsolvers.__version__}.\n")
    print("| backend | form | solver's version | " + " | ".join(f"N = {N:,}" for N in SIZES) + " |")
    print("|---|---|---|" + "---|" * len(SIZES))
    for name, form, of_version in rows:
        cells = [measure(name, N) for N in SIZES]
        print(f"| `{name}` | {form} | {of_version} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
