"""Time and duality gap of the QP backends of pyod-gessvdd-qpsolvers beside the built-in ones.

    python benchmarks/qp_solvers.py > benchmarks/results/qpsolvers.md

Times are the process's own, so that other work on the machine does not count. Each solve runs in a child, forked after
the imports, that ends after LIMIT such seconds. Needs pip install 'plugins/pyod-gessvdd-qpsolvers[solvers]'.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

import multiprocessing
import resource
import time
import warnings
from importlib.metadata import version

import numpy as np

import pyod_gessvdd_qpsolvers
from pyod_gessvdd.experiments.environment import sentence
from pyod_gessvdd.qp import solve_svdd

SIZES = (200, 1_000, 5_000)
DIMENSION = 5
NU = 0.1
LIMIT = 5
BUILT_IN = {"frank_wolfe": "own", "interior_point": "own", "libsvm": "dense", "osqp": "sparse"}
#: Their licences take small problems only.
LEFT_OUT = ("copt", "gurobi")


def measure(backend: str, N: int) -> str:
    """Milliseconds and gap of one solve, or why there are none."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_solve, args=(backend, N, sender))
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:  # ended by the limit
        return f"over {LIMIT} s"
    finally:
        process.join()


def _solve(backend: str, N: int, sender: object) -> None:
    Z = np.random.default_rng(0).normal(size=(N, DIMENSION))
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    try:
        solve_svdd(Z[:50], nu=NU, backend=backend)  # imports and compiles
        start = time.process_time()
        found = solve_svdd(Z, nu=NU, backend=backend)
        sender.send(f"{1000 * (time.process_time() - start):,.0f} ms, gap {found.gap:.0e}")
    except Exception as error:
        sender.send("refused: N above its limit" if "limited to" in str(error) else str(error))


def main() -> None:
    rows = [(name, form, "") for name, form in BUILT_IN.items()]
    for backend in pyod_gessvdd_qpsolvers.installed():
        if backend.solver not in LEFT_OUT:
            dense = issubclass(backend, pyod_gessvdd_qpsolvers.DenseBackend)
            rows.append((backend.name, "dense" if dense else "sparse", version(backend.distribution)))
    print("# QP solvers on the SVDD dual\n")
    print(f"Gaussian points, d = {DIMENSION}, nu = {NU:g}; processor time of one solve in one thread, and its")
    print("relative duality gap as the host certifies it. Written by `benchmarks/qp_solvers.py`.\n")
    print(f"{sentence(('numpy', 'qpsolvers'))}.\n")
    print("| backend | form | solver's version | " + " | ".join(f"N = {N:,}" for N in SIZES) + " |")
    print("|---|---|---|" + "---|" * len(SIZES))
    for name, form, of_version in rows:
        cells = [measure(name, N) for N in SIZES]
        print(f"| `{name}` | {form} | {of_version} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
