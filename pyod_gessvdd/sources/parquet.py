"""Parquet files as a source: one file, or the files of a folder in the order of their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pyod_gessvdd.errors import SourceError
from pyod_gessvdd.sources.arrays import changed, fingerprint
from pyod_gessvdd.sources.source import BLOCK_ELEMENTS, Result, Source, in_order

Array = np.ndarray


def pyarrow_parquet() -> Any:
    """The module ``pyarrow.parquet``, or a one-sentence error about the extra that installs it."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(
            "Parquet files need pyarrow, which comes with: pip install 'pyod-gessvdd[parquet]'"
        ) from error
    return pyarrow.parquet


class ParquetSource(Source):
    """The rows of a Parquet file, or of a folder of them with one schema.

    Parameters
    ----------
    path : str or Path
        The file or the folder.
    columns : sequence of str, optional
        Which columns, in this order; all of them unless given.
    block_rows : int, optional
        Rows per block.
    """

    def __init__(self, path: str | Path, columns: Sequence[str] | None = None, block_rows: int | None = None) -> None:
        parquet = pyarrow_parquet()
        self.path = Path(path)
        self.files = files_of(self.path)
        self._fingerprints = [fingerprint(file) for file in self.files]
        schema: Any = None
        self.n_rows = 0
        for file in self.files:
            opened = parquet.ParquetFile(file)
            self.n_rows += opened.metadata.num_rows
            if schema is None:
                schema = opened.schema_arrow
                names = [name for name in schema.names if not name.startswith("__index_level_")]
                self.names = list(names if columns is None else columns)
            _check_schema(self.names or [], opened.schema_arrow, schema, file, self.files[0])
        self.n_columns = len(self.names or [])
        self.block_rows = block_rows or max(1, BLOCK_ELEMENTS // max(1, self.n_columns))

    def map(self, function: Callable[[Array, Array], Result]) -> Iterator[Result]:
        """What the function returns for each block."""
        return in_order(function, self._blocks(self.names or []))

    def _blocks(self, names: list[str]) -> Iterator[tuple[Array, Array]]:
        parquet = pyarrow_parquet()
        start = 0
        for file, known in zip(self.files, self._fingerprints, strict=True):
            if fingerprint(file) != known:
                raise changed(file)
            with parquet.ParquetFile(file, pre_buffer=False) as opened:
                for batch in opened.iter_batches(self.block_rows, columns=names, use_threads=False):
                    stop = start + batch.num_rows
                    yield _numbers(batch, names), np.arange(start, stop)
                    start = stop
            if fingerprint(file) != known:
                raise changed(file)


def files_of(path: Path) -> list[Path]:
    """A file, or the Parquet files of a folder in the order of their names."""
    files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
    if not files or not files[0].exists():
        raise SourceError(f"there is no Parquet file at {path}")
    return files


def _numbers(batch: Any, names: list[str]) -> Array:
    block = np.empty((batch.num_rows, len(names)))
    for place, name in enumerate(names):
        # A missing value becomes NaN, which the first pass reports.
        block[:, place] = batch.column(name).to_numpy(zero_copy_only=False)
    return block


def _check_schema(names: list[str], schema: Any, first: Any, file: Path, first_file: Path) -> None:
    import pyarrow.types

    for name in names:
        if name not in schema.names:
            raise SourceError(
                f"{file} has no column {name!r}"
                + (f", which {first_file} has; all files of a folder need one schema" if file != first_file else "")
            )
        kind = schema.field(name).type
        is_number = pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind) or pyarrow.types.is_boolean(kind)
        if not is_number:
            raise SourceError(f"column {name!r} of {file} is of type {kind}; drop it or convert it to numbers")
        expected = first.field(name).type
        if kind != expected:
            raise SourceError(
                f"column {name!r} is {kind} in {file} and {expected} in {first_file}; all files of a folder need one "
                "schema"
            )
