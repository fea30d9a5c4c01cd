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
import pickle
import platform
import resource
import signal
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
#: What is fitted to Parquet: the defaults, and Algorithm 1 in a subspace of kernel features.
PARQUET = {
    "default (kernel) fit": {},
    "kernel subspace (rbf, 100 landmarks, d = 5, 2 updates)": {
        "kernel": "rbf(n_landmarks=100)",
        "laplacian": "pca",
        "n_components": 5,
        "n_iter": 2,
        "novelty": True,
    },
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

    class Counted(ArraySource):
        """Counts the passes, and the single rows that are read without one."""

        n_passes = n_taken = 0

        def map(self, function: Any) -> Any:
            self.n_passes += 1
            return super().map(function)

        def take(self, places: Any) -> Any:
            self.n_taken += len(places)
            return super().take(places)

    warmed_up()
    before = megabytes()
    source = Counted(np.memmap(path, "f8", "r", shape=(n_rows, COLUMNS)))
    one_pass = min(timed(lambda: source.total(lambda block, rows: block.T @ block)) for _ in range(2))
    source.n_passes = source.n_taken = 0
    detector = GESSVDD(random_state=0, **LINEAR[params])
    seconds = timed(lambda: detector.fit(source))
    return {
        "seconds": seconds,
        "one_pass": one_pass,
        "megabytes": megabytes() - before,
        "gap": max(line["gap"] for line in detector.history_),
        "passes": source.n_passes,
        "taken": source.n_taken,
    }


def timed(action: Any) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def kernel(path: str, n_rows: int, params: dict[str, Any]) -> dict[str, Any]:
    from pyod_gessvdd import GESSVDD

    warmed_up()
    before = megabytes()
    detector = GESSVDD(random_state=0, **params)
    seconds = timed(lambda: detector.fit(path))
    return {"seconds": seconds, "megabytes": megabytes() - before, "gap": detector.history_[-1]["gap"]}


def alone(path: str, n_rows: int, kept: str) -> dict[str, Any]:
    """The fit in memory on one core; its scores are kept in a file."""
    from pyod_gessvdd import GESSVDD

    warmed_up()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    X = np.fromfile(path, count=n_rows * COLUMNS).reshape(n_rows, COLUMNS)
    detector = GESSVDD(**LINEAR["plain"], random_state=0)
    seconds = timed(lambda: detector.fit(X))
    detector.decision_scores_.tofile(kept)
    return {"seconds": seconds}


def cluster(path: str, n_rows: int, kept: str | None, kills: bool = False) -> dict[str, Any]:
    """The fit on two workers, the passes and bytes that it takes; with ``kills`` one of them ends in the third pass."""
    import dask
    import dask.array as da
    import distributed

    from pyod_gessvdd import GESSVDD

    returned: list[int] = []
    compute = dask.compute

    def counting(*tasks: Any, **options: Any) -> Any:
        if kills and len(returned) == 3:
            os.kill(workers[0], signal.SIGKILL)
        answers = compute(*tasks, **options)
        returned.append(len(pickle.dumps(answers)))
        return answers

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        # A worker that is idle for a moment would take rows from the other.
        dask.config.set({"distributed.scheduler.work-stealing": False}),
        distributed.LocalCluster(**options) as two_workers,
        distributed.Client(two_workers) as client,
    ):
        client.run(warmed_up)
        workers = list(client.run(os.getpid).values())
        n_chunk = -(-n_rows // 8)
        chunks = [
            da.from_delayed(dask.delayed(rows_of)(path, start, stop), (stop - start, COLUMNS), dtype=float)
            for start, stop in ((start, min(start + n_chunk, n_rows)) for start in range(0, n_rows, n_chunk))
        ]
        X = da.concatenate(chunks).persist()
        distributed.wait(X)
        before = sum(client.run(received).values())
        detector = GESSVDD(**LINEAR["plain"], random_state=0)
        dask.compute = counting
        seconds = timed(lambda: detector.fit(X))
        dask.compute = compute
        result = {
            "seconds": seconds,
            "passes": len(returned),
            "returned": sum(returned),
            "moved": sum(client.run(received).values()) - before if not kills else 0,
            "megabytes": max(client.run(megabytes).values()),
            "gap": detector.history_[-1]["gap"],
        }
        if kept is not None:
            expected = np.memmap(kept, "f8", "r")[:n_rows]
            found = detector.decision_scores_.compute()
            result["difference"] = float(np.abs(found / expected - 1.0).max())
    return result


def rows_of(path: str, start: int, stop: int) -> Any:
    return np.fromfile(path, count=(stop - start) * COLUMNS, offset=start * COLUMNS * 8).reshape(-1, COLUMNS)


def received(dask_worker: Any) -> int:
    return sum(line["total"] for line in dask_worker.transfer_incoming_log)


def apart(part: str, *arguments: Any) -> dict[str, Any]:
    """What a part measures in a process of its own."""
    command = [sys.executable, __file__, "--part", json.dumps([part, *arguments])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    print(part, *arguments[1:], done.stdout.splitlines()[-1], flush=True)
    return json.loads(done.stdout.splitlines()[-1])


def main(options: argparse.Namespace) -> None:
    lines: list[str] = []
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "rows"
        write_memmap(path, max(options.rows, options.cluster_rows))
        sizes = [options.rows // 50, options.rows // 7, options.rows]
        for name in LINEAR:
            results = [apart("linear", str(path), n, name) for n in sizes]
            for n, result in zip(sizes, results, strict=True):
                lines.append(
                    f"| linear fit ({name}) of a memmap | {n:,} | {result['seconds']:.1f} s, "
                    f"{result['seconds'] / result['one_pass']:.1f} × one pass | {result['passes']} and "
                    f"{result['taken']:,} single rows | {result['megabytes']:.0f} MB | gap {result['gap']:.0e} |"
                )
            growth = np.polyfit(np.log(sizes), np.log([result["seconds"] for result in results]), 1)[0]
            lines.append(f"| the same, exponent of time in N | {sizes[0]:,} to {sizes[-1]:,} | {growth:.2f} | | | |")
        n_rows, kept = options.cluster_rows, str(Path(folder) / "scores")
        in_memory = apart("alone", str(path), n_rows, kept)["seconds"]
        lines.append(f"| the same (plain) in memory on one core | {n_rows:,} | {in_memory:.1f} s | | | |")
        for n in (n_rows // 16, n_rows // 4, n_rows):
            result = apart("cluster", str(path), n, kept if n == n_rows else None)
            against = f", {result['seconds'] / in_memory:.2f} × in memory on one core" if n == n_rows else ""
            check = f"scores differ by {result['difference']:.0e}" if n == n_rows else f"gap {result['gap']:.0e}"
            returned, moved = (100.0 * result[key] / (n * COLUMNS * 8) for key in ("returned", "moved"))
            lines.append(
                f"| LocalCluster of 2 workers, linear fit (plain) | {n:,} | {result['seconds']:.1f} s{against} "
                f"| {result['passes']}; {returned:.2f} % of the bytes returned, {moved:.2f} % between workers "
                f"| {result['megabytes']:.0f} MB a worker, rows included | {check} |"
            )
        n = n_rows // 16
        apart("alone", str(path), n, kept)
        result = apart("cluster", str(path), n, kept, True)
        lines.append(
            f"| the same, one worker killed in the fourth pass | {n:,} | {result['seconds']:.1f} s "
            f"| {result['passes']} | | scores differ by {result['difference']:.0e} |"
        )
        path.unlink()
        path = Path(folder) / "rows.parquet"
        write_parquet(path, options.parquet_rows)
        for what, params in PARQUET.items():
            result = apart("kernel", str(path), options.parquet_rows, params)
            lines.append(
                f"| {what} of Parquet | {options.parquet_rows:,} | {result['seconds']:.1f} s | "
                f"| {result['megabytes']:.0f} MB | gap {result['gap']:.0e} |"
            )
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "pyarrow", "dask"))
    note = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {versions}"
    text = "\n".join(
        [
            "# Rows beyond memory and one machine",
            "",
            f"Written by `python benchmarks/scale.py {' '.join(sys.argv[1:])}` on {note}; one BLAS thread. "
            f"Load average at the start: {load:.1f}; one pass is XᵀX over the same file, by the same threads. The "
            "figures that the project promises are for 50,000,000, 10,000,000 and 2,000,000 rows; the command without "
            "options takes those.",
            "",
            "| what | rows | time | passes | memory beyond the interpreter | check |",
            "|---|---|---|---|---|---|",
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
