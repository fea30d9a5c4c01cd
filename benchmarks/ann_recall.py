"""The approximate kNN graph against the exact one: ``python benchmarks/ann_recall.py [--quick]``.

Time and recall side by side, in one process and one thread, on the same data; times are of the processor, so that
others on the machine do not count. The table goes to ``benchmarks/results/ann_recall.md``. Needs the plugin
``pyod-gessvdd-ann`` installed.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from pyod_gessvdd.experiments.environment import sentence
from pyod_gessvdd.laplacians.knn import KNN
from pyod_gessvdd_ann import ANN

RESULT = Path(__file__).parent / "results" / "ann_recall.md"
SIZES = [(5_000, 30), (40_000, 30), (5_000, 100), (20_000, 100), (60_000, 100)]
CANDIDATES = (15, 30)
PACKAGES = ("pyod-gessvdd", "pyod-gessvdd-ann", "pynndescent", "numba", "scikit-learn", "scipy", "numpy")


def groups(n_samples: int, n_features: int) -> np.ndarray:
    """Ten normal groups of different spread, overlapping."""
    random = np.random.default_rng(0)
    centres = 3 * random.normal(size=(10, n_features))
    member = random.integers(10, size=n_samples)
    spread = random.uniform(0.5, 2.0, size=10)[member, None]
    return centres[member] + spread * random.normal(size=(n_samples, n_features))


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    answer = function()
    return answer, time.process_time() - start


def edges(graph: Any) -> sp.csr_array:
    return abs(sp.csr_array(sp.triu(graph.base, k=1)))


def row(n_samples: int, n_features: int) -> str:
    Phi = groups(n_samples, n_features)
    exact, exact_seconds = timed(lambda: KNN(max_exact=n_samples).build(Phi, 0))
    cells = [f"{n_samples:,}", str(n_features), f"{exact_seconds:.1f}"]
    for n_candidates in CANDIDATES:
        graph = ANN(max_exact=0, n_candidates=n_candidates)
        found, seconds = timed(lambda graph=graph: graph.build(Phi, 0))
        shared = edges(exact).multiply(edges(found)).sum()
        S, S_found = exact.scatter(Phi), found.scatter(Phi)
        error = np.linalg.norm(S_found - S) / np.linalg.norm(S)
        cells += [f"{seconds:.1f}", f"{shared / edges(exact).sum():.4f}", f"{error:.1e}"]
    return "| " + " | ".join(cells) + " |"


def compile_everything() -> None:
    """Some parts are compiled for short lists or many samples only."""
    for n_candidates in CANDIDATES:
        ANN(max_exact=0, n_candidates=n_candidates).build(groups(20_000, 3), 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the smallest size only, and no file")
    arguments = parser.parse_args()
    _, compiling = timed(compile_everything)
    rows = [row(*size) for size in (SIZES[:1] if arguments.quick else SIZES)]
    table = "\n".join(
        [
            "# The approximate kNN graph",
            "",
            f"`python benchmarks/ann_recall.py`. {sentence(PACKAGES)}.",
            "",
            "Seconds of processor time in one thread to build the graph of 5 neighbours; recall is the share of the",
            "exact graph's edges that the approximate one has; S_x is compared in the Frobenius norm. Ten overlapping",
            f"normal groups. Compiling pynndescent, once per process and not in the table, took {compiling:.0f} s.",
            "",
            "| N | F | `knn` | "
            + " | ".join(f"`ann`, n_candidates={n} | recall | error of S_x" for n in CANDIDATES)
            + " |",
            "|--:|--:|--:|" + "--:|--:|--:|" * len(CANDIDATES),
            *rows,
            "",
        ]
    )
    print(table)
    if not arguments.quick:
        RESULT.write_text(table, encoding="utf-8")


if __name__ == "__main__":
    main()
