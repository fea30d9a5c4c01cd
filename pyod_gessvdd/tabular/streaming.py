"""Parquet that is not read as a whole: a detector fitted block by block, and scores written block by block."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyod_gessvdd.errors import ModelFileError, TableError
from pyod_gessvdd.extras import need
from pyod_gessvdd.sources import ParquetSource
from pyod_gessvdd.sources.parquet import files_of
from pyod_gessvdd.sources.source import SMALL_ROWS
from pyod_gessvdd.tabular.columns import choose_columns
from pyod_gessvdd.tabular.loader import TableOptions
from pyod_gessvdd.tabular.models import ModelCard, versions_of
from pyod_gessvdd.tabular.scoring import Buildable, Scorer
from pyod_gessvdd.tabular.tables import as_table
from pyod_gessvdd.tabular.writing import write_whole

if TYPE_CHECKING:
    from pandas import DataFrame

#: Which columns are features is judged by this many rows, the first ones.
JUDGED_ROWS = 10_000
#: So many rows are scored and written at a time.
SCORED_ROWS = 20_000
#: Called with the number of rows that are done, and words about them.
Told = Callable[[int, str], None]


def is_large(path: Path) -> bool:
    """Whether a file is a folder of Parquet files, or one of more rows than are read into memory."""
    if path.is_dir():
        return True
    if path.suffix.lower() != ".parquet" or not path.is_file():
        return False
    parquet = need("pyarrow.parquet", "parquet", f"reading {path.name}")
    try:
        return bool(parquet.read_metadata(path).num_rows > SMALL_ROWS)
    except (OSError, ValueError):
        return False  # what is wrong with it is said where it is read


@contextmanager
def cluster(address: str | None) -> Iterator[Any]:
    """The client of Dask's scheduler at an address, which is in use inside; None without one."""
    if address is None:
        yield None
        return
    distributed = need("distributed", "dask", "--scheduler")
    try:
        client = distributed.Client(address, timeout=10)
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise ModelFileError(f"there is no Dask scheduler at {address}: {reason}") from error
    with client:
        yield client


def fit_large(
    path: Path, detector: Buildable, options: TableOptions, *, seed: int, scheduler: str | None
) -> tuple[Any, ModelCard, int]:
    """Fit a detector on the numbers of Parquet files without reading them as a whole; and how many rows are outliers.

    Parameters
    ----------
    path : Path
        A file, or a folder of files.
    detector : Buildable
        What to build; a detector of this package.
    options : TableOptions
        The columns; nothing that needs the table in memory.
    seed : int
        For detectors that take a ``random_state``.
    scheduler : str or None
        The address of a Dask scheduler whose workers read the files.
    """
    for name, given in (("--encode", options.encode), ("--normal", options.normal)):
        if given:
            raise TableError(
                f"{name} needs the whole table in memory, and {path} is read block by block; prepare the file first"
            )
    if options.missing != "error":
        raise TableError(
            f"--missing {options.missing} needs the whole table in memory, and {path} is read block by block"
        )
    model = detector.build(seed)
    if not type(model).__module__.startswith("pyod_gessvdd."):
        raise TableError(
            f"{detector.spec} needs all rows in memory; detectors of this package can read {path} in blocks"
        )
    head = next(_frames(path, JUDGED_ROWS))
    columns = choose_columns(as_table(head, path), path, label=options.label, drop=options.drop, keep=options.keep)
    source = ParquetSource(path, columns.features)
    try:
        with cluster(scheduler):
            if scheduler is None:
                model.fit(source)
            else:
                frames = need("dask.dataframe", "dask", "--scheduler")
                model.fit(frames.read_parquet([str(file) for file in source.files], columns=columns.features))
            n_outliers = int(model.labels_.sum())  # a lazy sum is computed while its scheduler is there
    except (ValueError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise ModelFileError(f"{detector.spec} cannot be fitted on {path}: {reason}") from error
    card = ModelCard(
        detector=detector.spec,
        feature_names=columns.features,
        left_out=columns.left_out,
        n_rows=source.n_rows,
        versions=versions_of(model),
        plugins=list(model.plugins_),
    )
    return model, card, n_outliers


def score_large(
    scorer: Scorer, path: Path, out: Path, missing: str | None, told: Told, scheduler: str | None = None
) -> tuple[int, int]:
    """Score the rows of Parquet files block by block into another file; returns how many, and how many outliers.

    Parameters
    ----------
    scorer : Scorer
        Adds the answers to a block of rows.
    path, out : Path
        A file or folder of Parquet, and the file to write.
    missing : str or None
        What happens to missing values, if not what did at fit.
    told : callable
        Called with the rows that are done.
    scheduler : str, optional
        The address of a Dask scheduler whose workers read and score the rows; they are written here, in their order.
    """
    parquet = need("pyarrow.parquet", "parquet", f"writing {out.name}")
    pyarrow = need("pyarrow", "parquet", f"writing {out.name}")
    counts = [0, 0, 0]
    scored_by = _Scored(scorer, path, missing)

    def write(unfinished: Path) -> None:
        writer = None
        try:
            with cluster(scheduler) as client:
                for head in _frames(path, 1):
                    scorer.check(head, path)
                    break
                for scored in _scored_here(scored_by) if client is None else _scored_by_workers(scored_by, client):
                    if writer is None:
                        schema = _schema(pyarrow, scored, scorer)
                        writer = parquet.ParquetWriter(unfinished, schema)
                    writer.write_table(pyarrow.Table.from_pandas(scored, schema, preserve_index=False))
                    counts[0] += len(scored)
                    counts[1] += int(scored[f"{scorer.prefix}score"].notna().sum())
                    counts[2] += int((scored[f"{scorer.prefix}label"] == 1).sum())
                    told(counts[0], "")
        finally:
            if writer is not None:
                writer.close()

    write_whole(out, write)
    return counts[1], counts[2]


class _Scored:
    """A frame with its scores; what is done to each, wherever it is."""

    def __init__(self, scorer: Scorer, path: Path, missing: str | None) -> None:
        self.scorer, self.path, self.missing = scorer, path, missing

    def __call__(self, frame: DataFrame) -> DataFrame:
        prepared = self.scorer.card.preparation.apply(frame.reset_index(drop=True), self.path, self.missing)
        return self.scorer.score(frame, prepared.X, prepared.complete, lambda done: None)

    def row_group(self, file: Path, number: int) -> list[DataFrame]:
        """Those of one row group of a file."""
        return [self(frame) for frame in _frames(file, SCORED_ROWS, number)]


def _scored_here(scored: _Scored) -> Iterator[DataFrame]:
    return (scored(frame) for frame in _frames(scored.path, SCORED_ROWS))


def _scored_by_workers(scored: _Scored, client: Any) -> Iterator[DataFrame]:
    """The same in the same order, row group by row group; few are under way at a time, and no more are held here."""
    parquet = need("pyarrow.parquet", "parquet", f"reading {scored.path.name}")
    groups = [
        (file, number) for file in files_of(scored.path) for number in range(parquet.read_metadata(file).num_row_groups)
    ]
    model, waiting = client.scatter(scored, broadcast=True), deque[Any]()
    n_threads = sum(client.nthreads().values())
    for file, number in groups:
        waiting.append(client.submit(_Scored.row_group, model, file.resolve(), number, pure=False))
        if len(waiting) > 2 * n_threads:
            yield from _result(waiting.popleft())
    while waiting:
        yield from _result(waiting.popleft())


def _result(future: Any) -> list[DataFrame]:
    from pyod_gessvdd.sources.dask_rows import gone, is_of_connection

    try:
        found: list[DataFrame] = future.result()
    except Exception as error:
        if is_of_connection(error):
            raise gone(type(error).__name__) from error
        raise
    return found


def n_rows_of(path: Path) -> int:
    """The rows of a Parquet file or folder."""
    parquet = need("pyarrow.parquet", "parquet", f"reading {path.name}")
    return sum(int(parquet.read_metadata(file).num_rows) for file in files_of(path))


def _schema(pyarrow: Any, scored: DataFrame, scorer: Scorer) -> Any:
    """The columns of the first block; those of the answers have their types even where it has no answer."""
    schema = pyarrow.Schema.from_pandas(scored, preserve_index=False)
    kinds = {"label": pyarrow.int64(), "feature": pyarrow.string()}
    for name in scorer.names:
        kind = kinds.get(name.removeprefix(scorer.prefix).partition("_")[0], pyarrow.float64())
        schema = schema.set(schema.get_field_index(name), pyarrow.field(name, kind))
    return schema.remove_metadata()


def _frames(path: Path, n_rows: int, row_group: int | None = None) -> Iterator[DataFrame]:
    """The rows with all their columns, some at a time; of all row groups or of one."""
    parquet = need("pyarrow.parquet", "parquet", f"reading {path.name}")
    for file in files_of(path):
        with parquet.ParquetFile(file, pre_buffer=False) as opened:
            for batch in opened.iter_batches(n_rows, row_groups=None if row_group is None else [row_group]):
                if batch.num_rows:
                    yield batch.to_pandas()
