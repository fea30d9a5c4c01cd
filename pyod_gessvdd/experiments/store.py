"""The run folder's database: one SQLite file, one transaction per job, safe to kill and to share between processes."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from pyod_gessvdd import __version__
from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.data.datasets import Dataset
from pyod_gessvdd.experiments.data.traits import TRAITS, traits
from pyod_gessvdd.experiments.detectors.specs import Detector
from pyod_gessvdd.experiments.environment import machine, versions
from pyod_gessvdd.experiments.run.job import COUNTS, TEXT, Job, JobResult, Key, columns
from pyod_gessvdd.extras import need

SCHEMA = 1
DATABASE = "results.sqlite"

#: All that a run writes into its folder.
FILES = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", "results.csv", "report.md", "report.html")

#: Seconds to wait for another process that is writing.
BUSY_SECONDS = 60

_KEY = "dataset, detector, setting, seed"


def _typed(name: str) -> str:
    return f"{name} {'TEXT' if name in TEXT else 'INTEGER' if name in (*COUNTS, 'seed') else 'REAL'}"


_TABLES = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE datasets (
    name TEXT PRIMARY KEY, source TEXT, sha256 TEXT, n_rows INTEGER, n_features INTEGER, n_outliers INTEGER);
CREATE TABLE detectors (name TEXT PRIMARY KEY, spec TEXT, class TEXT, parameters TEXT);
CREATE TABLE jobs (%s, PRIMARY KEY ({_KEY}));
CREATE TABLE scores (
    dataset TEXT, detector TEXT, setting TEXT, seed INTEGER, labels BLOB, scores BLOB, PRIMARY KEY ({_KEY}));
CREATE TABLE claims (
    dataset TEXT, detector TEXT, setting TEXT, seed INTEGER, host TEXT, pid INTEGER, started REAL,
    PRIMARY KEY ({_KEY}));
"""

_OF_DATA = ", ".join(("name", "source", "sha256", "n_rows", "n_features", "n_outliers", *TRAITS))

_ORDERED_JOBS = """
SELECT jobs.* FROM jobs
JOIN datasets ON datasets.name = jobs.dataset
JOIN detectors ON detectors.name = jobs.detector
ORDER BY datasets.rowid, setting, seed, detectors.rowid
"""


class Store:
    """An open run folder.

    Parameters
    ----------
    folder : path-like
        The run folder; :meth:`create` makes one.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        path = self.folder / DATABASE
        if not path.is_file():
            raise ComparisonError(f"{self.folder} is not a run folder: it has no {DATABASE}")
        self._connection = _connect(path)
        # joblib asks for the next job in a thread of its own.
        self._lock = threading.RLock()
        self._me = (platform.node(), os.getpid(), _started(os.getpid()))
        try:
            schema = self.meta()["schema"]
            tables = {name for (name,) in self._rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
        except (KeyError, ValueError) as error:
            self.close()
            raise ComparisonError(f"{path} is not the database of a run: {error}") from error
        except ComparisonError:
            self.close()
            raise
        if "trials" in tables:
            self.close()
            raise ComparisonError(
                f"the run in {self.folder} was made by gessvdd bench paper before it kept the points of its grid as "
                "jobs, and holds too little to continue; its report.md and results.csv stay, run it again elsewhere"
            )
        if schema != SCHEMA:
            self.close()
            raise ComparisonError(
                f"the run in {self.folder} has the format {schema}, this version of pyod-gessvdd reads {SCHEMA}; "
                "run it again in another folder"
            )

    @classmethod
    def create(cls, folder: str | os.PathLike[str], arguments: Mapping[str, Any]) -> Store:
        """Make a run folder; of two processes that do so at the same time one makes it and both open it.

        A table that lacks a column, such as one of an earlier version, gets it.
        """
        folder = Path(folder)
        wanted = columns(arguments.get("metrics", ()))
        meta = {
            "schema": SCHEMA,
            "package_version": __version__,
            "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "versions": versions(),
            "machine": machine(),
            "arguments": dict(arguments),
        }
        try:
            folder.mkdir(parents=True, exist_ok=True)
            connection = _connect(folder / DATABASE)
            with contextlib.closing(connection), _transaction(connection):
                if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
                    for statement in (_TABLES % ", ".join(map(_typed, wanted))).split(";"):
                        connection.execute(statement)
                    connection.executemany(
                        "INSERT INTO meta VALUES (?, ?)", [(key, json.dumps(value)) for key, value in meta.items()]
                    )
                for table, names in (("jobs", wanted), ("datasets", TRAITS)):
                    there = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
                    for name in names if there else ():
                        if name not in there:
                            connection.execute(f"ALTER TABLE {table} ADD COLUMN {_typed(name)}")
        except (OSError, sqlite3.OperationalError) as error:
            raise ComparisonError(f"cannot write to the run folder {folder}: {error}") from error
        except sqlite3.Error as error:
            raise _damaged(folder, error) from error
        return cls(folder)

    def close(self) -> None:
        """Close the database; what was recorded is on the disk already."""
        self._connection.close()

    # Reading ---------------------------------------------------------------------------------------------------------

    def meta(self) -> dict[str, Any]:
        """What the run is: schema, versions, machine, arguments."""
        return {key: json.loads(value) for key, value in self._rows("SELECT key, value FROM meta")}

    def table(self, name: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The columns and rows of "jobs", "datasets" or "detectors"; jobs in the order of the other two."""
        query = _ORDERED_JOBS if name == "jobs" else f"SELECT * FROM {name} ORDER BY rowid"
        with self._lock, self._told():
            cursor = self._connection.execute(query)
            return [column[0] for column in cursor.description], cursor.fetchall()

    def keys(self) -> set[Key]:
        """The jobs that have been recorded, whatever came of them."""
        return set(self._rows(f"SELECT {_KEY} FROM jobs"))

    def scores(self, key: Key) -> tuple[np.ndarray, np.ndarray]:
        """The test rows' labels and scores of one job."""
        rows = self._rows(
            "SELECT labels, scores FROM scores WHERE (dataset, detector, setting, seed) = (?, ?, ?, ?)", key
        )
        if not rows:
            raise ComparisonError(f"the run in {self.folder} has no scores of {', '.join(map(str, key))}")
        try:
            labels, scores = (zlib.decompress(blob) for blob in rows[0])
        except zlib.error as error:
            raise _damaged(self.folder, error) from error
        values = np.frombuffer(scores, dtype="<f4").astype(np.float64)
        return np.unpackbits(np.frombuffer(labels, dtype=np.uint8), count=len(values)), values

    def _rows(self, query: str, values: Iterable[Any] = ()) -> list[Any]:
        with self._lock, self._told():
            return self._connection.execute(query, tuple(values)).fetchall()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """What SQLite says of a damaged file, a full disk or a folder that cannot be written, in one sentence."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise ComparisonError(f"the database in {self.folder} cannot be read or written: {error}") from error
        except sqlite3.Error as error:
            raise _damaged(self.folder, error) from error

    # Writing ---------------------------------------------------------------------------------------------------------

    def add(self, datasets: Iterable[Dataset], detectors: Iterable[Detector]) -> None:
        """Write down what is compared; what is there already stays."""
        known = {name for (name,) in self._rows("SELECT name FROM datasets")}
        of_data = [
            (data.name, data.origin, data.sha256, data.n_rows, data.n_features, data.n_outliers,
             *(traits(data.arrays()[0])[name] for name in TRAITS))
            for data in datasets
            if data.name not in known
        ]  # fmt: skip
        of_detectors = [
            (detector.name, detector.spec, detector.path, json.dumps(detector.written())) for detector in detectors
        ]
        with self._lock, self._told(), _transaction(self._connection):
            self._connection.executemany(
                f"INSERT OR IGNORE INTO datasets ({_OF_DATA}) VALUES ({', '.join('?' * 9)})", of_data
            )
            self._connection.executemany("INSERT OR IGNORE INTO detectors VALUES (?, ?, ?, ?)", of_detectors)

    def claim(self, job: Job) -> bool:
        """Whether this process should run the job: nobody has, and no other process that is alive is doing so."""
        here = "WHERE (dataset, detector, setting, seed) = (?, ?, ?, ?)"
        with self._lock, self._told(), _transaction(self._connection):
            if self._connection.execute(f"SELECT 1 FROM jobs {here}", job.key).fetchone():
                return False
            owner = self._connection.execute(f"SELECT host, pid, started FROM claims {here}", job.key).fetchone()
            if owner and owner != self._me and _is_alive(*owner):
                return False
            self._connection.execute(
                "INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?, ?, ?)", (*job.key, *self._me)
            )
            return True

    def record(self, result: JobResult) -> None:
        """Write a job's result, all of it or nothing; a result that is there already stays."""
        row = {**result.row, "warnings": json.dumps(result.row["warnings"])}
        key = tuple(row[name] for name in ("dataset", "detector", "setting", "seed"))
        with self._lock, self._told(), _transaction(self._connection):
            places = ", ".join("?" * len(row))
            self._connection.execute(
                f"INSERT OR IGNORE INTO jobs ({', '.join(row)}) VALUES ({places})", list(row.values())
            )
            if result.scores is not None and result.labels is not None:
                labels = zlib.compress(np.packbits(result.labels.astype(np.uint8)).tobytes())
                # Pictures need no more digits; some detectors score beyond what so few bits can hold.
                limit = np.finfo(np.float32).max
                scores = zlib.compress(np.clip(result.scores, -limit, limit).astype("<f4").tobytes())
                self._connection.execute(
                    "INSERT OR IGNORE INTO scores VALUES (?, ?, ?, ?, ?, ?)", (*key, labels, scores)
                )
            self._connection.execute("DELETE FROM claims WHERE (dataset, detector, setting, seed) = (?, ?, ?, ?)", key)


def _damaged(folder: Path, error: Exception) -> ComparisonError:
    return ComparisonError(
        f"the database {folder / DATABASE} is damaged or not that of a run: {error}; use another --out, or --force to "
        "replace it"
    )


def _connect(path: Path) -> sqlite3.Connection:
    # Transactions are begun by hand, so that none is begun too late to be alone.
    options: dict[str, Any] = {"timeout": BUSY_SECONDS, "isolation_level": None, "check_same_thread": False}
    if path.exists() and not os.access(path.parent, os.W_OK):
        # SQLite would write next to the file even to read it.
        return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, **options)
    connection = sqlite3.connect(path, **options)
    with contextlib.suppress(sqlite3.DatabaseError):  # what is wrong with the file shows when it is read
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
    return connection


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # a full disk has rolled it back already
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _started(pid: int) -> float:
    """When a process began: its number alone may be another's by now."""
    return float(need("psutil", "compare", "a comparison").Process(pid).create_time())


def _is_alive(host: str, pid: int, started: float) -> bool:
    """Whether the owner of a claim still runs; another machine's cannot be asked, and then a job may be run twice."""
    psutil = need("psutil", "compare", "a comparison")
    if host != platform.node():
        return False
    try:
        return abs(_started(pid) - started) < 1 and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
