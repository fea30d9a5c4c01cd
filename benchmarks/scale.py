"""Rows beyond memory and one machine: ``python benchmarks/scale.py [--rows N] [--parquet-rows N] [--cluster-rows N]``.

Fits a memory map, Parquet and a Dask array on a cluster of two workers, each in a process of its own, and writes
``benchmarks/results/scale.md``. Memory is the largest resident set beyond what the process had before it saw the rows;
time is compared with one pass of XᵀX over the same file in the same process. Without options the sizes are those that
the project promises figures for: 5·10⁷ rows of 20 columns, 8 GB on disk. Needs the extras ``dask`` and ``parquet``.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
import platform
import resource
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results"
COLUMNS = 20
#: Rows written at a time.
STEP = 100_000
#: What is fitted: nothing but sums, and the defaults of the linear kernel (trusted rows, signed logarithms).
LINEAR = {
    "plain": {"kernel": "linear", "standardize": True, "novelty": True},
    "default": {"kernel": "linear"},
}


def blocks(n_rows: int) -> Any:
    random = np.random.default_rng(0)
    mixing = random.normal(size=(COLUMNS, COLUMNS))
    for start in range(0, n_rows, STEP):
        n = min(STEP, n_rows - start)
        yield random.normal(size=(n, COLUMNS)) @ mixing + random.exponential(size=(n, COLUMNS))


def write_memmap(path: Path, n_rows: int) -> None:
    with path.open("wb") as file:
        for block in blocks(n_rows):
            block.tofile(file)


def write_parquet(path: Path, n_rows: int) -> None:
    import pyarrow
    import pyarrow.parquet

    writer = None
    for block in blocks(n_rows):
        table = pyarrow.table({f"x{i}": block[:, i] for i in range(COLUMNS)})
        writer = writer or pyarrow.parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def warmed_up() -> None:
    """Load what a fit loads, so that the baseline has it."""
    from pyod_gessvdd import GESSVDD

    GESSVDD(random_state=0).fit(np.random.default_rng(0).normal(size=(300, COLUMNS)))
    GESSVDD(kernel="linear", random_state=0).fit(np.random.default_rng(0).normal(size=(300, COLUMNS)))


def linear(path: str, n_rows: int, params: str) -> dict[str, Any]:
    from pyod_gessvdd import GESSVDD
    from pyod_gessvdd.sources import ArraySource

    warmed_up()
    before = megabytes()
    source = ArraySource(np.memmap(path, "f8", "r", shape=(n_rows, COLUMNS)))
    started = time.perf_counter()
    sum(source.map(lambda block, rows: block.T @ block), start=np.zeros((COLUMNS, COLUMNS)))
    one_pass = time.perf_counter() - started
    started = time.perf_counter()
    detector = GESSVDD(random_state=0, **LINEAR[params]).fit(source)
    seconds = time.perf_counter() - started
    gap = max(line["gap"] for line in detector.history_)
    return {"seconds": seconds, "one_pass": one_pass, "megabytes": megabytes() - before, "gap": gap}


def kernel(path: str, n_rows: int) -> dict[str, Any]:
    from pyod_gessvdd import GESSVDD

    warmed_up()
    before = megabytes()
    started = time.perf_counter()
    detector = GESSVDD(random_state=0).fit(path)
    return {
        "seconds": time.perf_counter() - started,
        "megabytes": megabytes() - before,
        "gap": detector.history_[-1]["gap"],
    }


def cluster(path: str, n_rows: int) -> dict[str, Any]:
    import dask.array as da
    import distributed

    from pyod_gessvdd import GESSVDD

    params = {**LINEAR["plain"], "random_state": 0}
    warmed_up()
    X = np.fromfile(path, count=n_rows * COLUMNS).reshape(n_rows, COLUMNS)
    started = time.perf_counter()
    in_memory = GESSVDD(**params).fit(X)
    alone = time.perf_counter() - started
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as two_workers, distributed.Client(two_workers):
        whole = da.from_delayed(_rows(path, n_rows), (n_rows, COLUMNS), dtype=float)
        mapped = whole.rechunk((n_rows // 8, -1)).persist()
        distributed.wait(mapped)
        started = time.perf_counter()
        detector = GESSVDD(**params).fit(mapped)
        together = time.perf_counter() - started
        scores = detector.decision_scores_[:STEP].compute()
    expected = in_memory.decision_scores_[:STEP]
    return {"alone": alone, "together": together, "difference": float(np.abs(scores / expected - 1.0).max())}


def _rows(path: str, n_rows: int) -> Any:
    import dask

    return dask.delayed(np.fromfile)(path, count=n_rows * COLUMNS).reshape(n_rows, COLUMNS)


def apart(part: str, *arguments: Any) -> dict[str, Any]:
    """What a part measures in a process of its own."""
    command = [sys.executable, __file__, "--part", json.dumps([part, *arguments])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    print(part, *arguments[1:], done.stdout.strip(), flush=True)
    return json.loads(done.stdout.splitlines()[-1])


def main(options: argparse.Namespace) -> None:
    lines: list[str] = []
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "rows"
        write_memmap(path, options.rows)
        sizes = [options.rows // 16, options.rows // 4, options.rows]
        found = {name: [apart("linear", str(path), n, name) for n in sizes] for name in LINEAR}
        for name, results in found.items():
            for n, result in zip(sizes, results, strict=True):
                ratio = result["seconds"] / result["one_pass"]
                lines.append(
                    f"| linear fit ({name}) of a memmap | {n:,} | {result['seconds']:.1f} s, {ratio:.0f} × one pass "
                    f"| {result['megabytes']:.0f} MB | gap {result['gap']:.0e} |"
                )
            growth = np.polyfit(np.log(sizes), np.log([result["seconds"] for result in results]), 1)[0]
            lines.append(f"| the same, exponent of time in N | {sizes[0]:,} to {sizes[-1]:,} | {growth:.2f} | | |")
        result = apart("cluster", str(path), options.cluster_rows)
        lines.append(
            f"| LocalCluster of 2 workers, linear fit (plain) | {options.cluster_rows:,} | {result['together']:.1f} s, "
            f"{result['together'] / result['alone']:.2f} × in memory on one core | | scores differ by "
            f"{result['difference']:.0e} |"
        )
        path.unlink()
        path = Path(folder) / "rows.parquet"
        write_parquet(path, options.parquet_rows)
        result = apart("kernel", str(path), options.parquet_rows)
        lines.append(
            f"| default (kernel) fit of Parquet | {options.parquet_rows:,} | {result['seconds']:.1f} s "
            f"| {result['megabytes']:.0f} MB | gap {result['gap']:.0e} |"
        )
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "pyarrow", "dask"))
    note = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {versions}"
    text = "\n".join(
        [
            "# Rows beyond memory and one machine",
            "",
            f"Written by `python benchmarks/scale.py {' '.join(sys.argv[1:])}` on {note}; one BLAS thread. "
            f"Load average at the start: {load:.1f}; a pass is XᵀX over the same file. The figures that the project "
            "promises are for 50,000,000, 10,000,000 and 2,000,000 rows; the command without options takes those.",
            "",
            "| what | rows | time | memory beyond the interpreter | check |",
            "|---|---|---|---|---|",
            *lines,
            "",
        ]
    )
    (RESULTS / "scale.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000_000, help="of the memory map")
    parser.add_argument("--parquet-rows", type=int, default=2_000_000)
    parser.add_argument("--cluster-rows", type=int, default=10_000_000)
    parser.add_argument("--folder", default=None, help="where the rows are written")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        name, *arguments = json.loads(options.part)
        print(json.dumps(globals()[name](*arguments)))
    else:
        main(options)
