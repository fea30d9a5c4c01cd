"""The store: every finished trial in one SQLite file of the run folder, so that a killed run can go on."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.protocols.paper_trial import Outcome, Trial

#: Changes when a run folder of before can no longer be read.
SCHEMA = 1
FILE_NAME = "results.sqlite"
#: What a run leaves in its folder; none of it is overwritten unasked.
FILES = (FILE_NAME, "results.csv", "report.md")

_TABLES = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE IF NOT EXISTS trials (
    dataset TEXT, description TEXT, method TEXT, target TEXT, split INTEGER, status TEXT,
    gmean REAL, tpr REAL, tnr REAL, fpr REAL, fnr REAL, cv_gmean REAL, parameters TEXT,
    n_fits INTEGER, n_infeasible INTEGER, n_unsolved INTEGER, n_train INTEGER, n_test INTEGER, seconds REAL,
    error TEXT, traceback TEXT, finished_at TEXT,
    PRIMARY KEY (dataset, description, method, target, split));
CREATE TABLE IF NOT EXISTS sensitivity (
    dataset TEXT, description TEXT, method TEXT, target TEXT, split INTEGER, parameter TEXT, value REAL, gmean REAL,
    PRIMARY KEY (dataset, description, method, target, split, parameter, value));
"""


class Store:
    """The results of a run folder.

    Parameters
    ----------
    folder : Path
        The run folder; it is made if it is not there.
    protocol : dict
        What all trials of the run share; a folder of another protocol is refused.
    about : dict, optional
        What else is worth keeping of the run's start: versions, machine, arguments.
    resume : bool
        Whether the folder may hold results already.
    force : bool
        Whether results that the folder holds are thrown away.
    """

    def __init__(
        self,
        folder: Path,
        protocol: dict[str, Any],
        about: dict[str, Any] | None = None,
        *,
        resume: bool = False,
        force: bool = False,
    ) -> None:
        self.path = folder / FILE_NAME
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not (resume or force) and any((folder / name).exists() for name in FILES):
                raise ComparisonError(
                    f"the folder {folder} holds results already; --resume goes on with them, --force starts anew"
                )
            with self._connect() as db:
                if force:
                    db.executescript(
                        "DROP TABLE IF EXISTS meta; DROP TABLE IF EXISTS trials; DROP TABLE IF EXISTS sensitivity;"
                    )
                db.executescript(_TABLES)
                self._agree(db, folder, {"schema": SCHEMA, **protocol})
                self._keep(db, {"created": _now(), **(about or {})})
        except (OSError, sqlite3.Error) as error:
            raise ComparisonError(f"cannot keep results in the folder {folder}: {error}") from error

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        """A connection whose block is one transaction."""
        db = sqlite3.connect(self.path, timeout=60.0)
        try:
            db.execute("PRAGMA journal_mode=WAL")
            with db:
                yield db
        finally:
            db.close()

    def _agree(self, db: sqlite3.Connection, folder: Path, protocol: dict[str, Any]) -> None:
        found = {key: json.loads(value) for key, value in db.execute("SELECT key, value FROM meta")}
        for key, wanted in protocol.items():
            if found.get(key, wanted) != wanted:
                raise ComparisonError(
                    f"the folder {folder} holds results with {key} {found[key]}, and this run has {wanted}; "
                    "choose another --out, or --force to start anew"
                )
        self._keep(db, protocol)

    def _keep(self, db: sqlite3.Connection, facts: dict[str, Any]) -> None:
        """Facts of the run's start; those of a later start do not replace them."""
        rows = [(key, json.dumps(value)) for key, value in facts.items()]
        db.executemany("INSERT OR IGNORE INTO meta VALUES (?, ?)", rows)

    def finished(self) -> set[Trial]:
        """The trials that need not be run again; those that failed are among them."""
        with self._connect() as db:
            return {Trial(*row) for row in db.execute(f"SELECT {', '.join(Trial._fields)} FROM trials")}

    def add(self, trial: Trial, outcome: Outcome) -> None:
        """Keep how a trial ended."""
        columns = outcome.columns()
        lines = columns.pop("sensitivity")
        columns["parameters"] = json.dumps(columns["parameters"])
        with self._connect() as db:
            self._insert(db, trial, {"status": "done", **columns})
            db.executemany(
                "INSERT OR REPLACE INTO sensitivity VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [(*trial, *line) for line in lines],
            )

    def add_failure(self, trial: Trial, error: str, traceback: str) -> None:
        """Keep that a trial failed, and why."""
        with self._connect() as db:
            self._insert(db, trial, {"status": "failed", "error": error, "traceback": traceback})

    def _insert(self, db: sqlite3.Connection, trial: Trial, columns: dict[str, Any]) -> None:
        row = {**trial._asdict(), **columns, "finished_at": _now()}
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        db.execute(f"INSERT OR REPLACE INTO trials ({names}) VALUES ({marks})", tuple(row.values()))

    def trials(self) -> list[dict[str, Any]]:
        """Every trial as a mapping of its columns, in the order in which they were asked for first."""
        return self._rows("SELECT * FROM trials ORDER BY rowid")

    def sensitivity(self) -> list[dict[str, Any]]:
        """Every point of every sensitivity curve."""
        return self._rows("SELECT * FROM sensitivity")

    def meta(self) -> dict[str, Any]:
        """What the trials share."""
        return {row["key"]: json.loads(row["value"]) for row in self._rows("SELECT * FROM meta")}

    def _rows(self, query: str) -> list[dict[str, Any]]:
        with self._connect() as db:
            db.row_factory = sqlite3.Row
            return [dict(row) for row in db.execute(query)]


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
