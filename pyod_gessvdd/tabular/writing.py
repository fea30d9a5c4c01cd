"""Results in files: checked before the work, written as a whole or not at all."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyod_gessvdd.errors import ModelFileError
from pyod_gessvdd.extras import need
from pyod_gessvdd.tabular.formulas import defused_frame
from pyod_gessvdd.tabular.tables import SEPARATORS, suffix

if TYPE_CHECKING:
    from pandas import DataFrame

#: What a table can be written as.
WRITTEN = (*SEPARATORS, ".parquet")
#: The name that stands for the standard output.
STDOUT = Path("-")


def check_table_target(path: Path, force: bool) -> None:
    """See before the work that a table can be written there."""
    if path == STDOUT:
        return
    if suffix(path) not in WRITTEN:
        raise ModelFileError(f"{path} cannot be written; its name must be - or end in {', '.join(WRITTEN)}")
    if suffix(path) == ".parquet":
        need("pyarrow", "parquet", f"writing {path.name}")
    check_free(path, force)


def check_free(path: Path, force: bool) -> None:
    """See before the work that the result can be written where it should go."""
    if path.exists() and not force:
        raise ModelFileError(f"{path} already exists; choose another name or replace it with --force")
    if path.is_dir():
        raise ModelFileError(f"{path} is a folder; name a file")
    if not path.parent.is_dir():
        raise ModelFileError(f"there is no folder {path.parent} to write {path.name} to")


def write_frame(frame: DataFrame, path: Path) -> None:
    """Write a table, all of it or nothing, in the format of its extension, ``-`` as CSV; text is never a formula."""
    if path == STDOUT:
        defused_frame(frame).to_csv(sys.stdout, index=False, lineterminator="\n")
        return
    ending = suffix(path)

    def write(unfinished: Path) -> None:
        if ending == ".parquet":
            frame.to_parquet(unfinished)
        else:
            compression = "gzip" if str(ending).endswith(".gz") else None
            defused_frame(frame).to_csv(unfinished, sep=SEPARATORS[str(ending)], index=False, compression=compression)

    write_whole(path, write)


def write_whole(path: Path, write: Any) -> None:
    """Let ``write`` fill a file next to ``path`` and put it in its place: what was there stays if anything fails."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        write(unfinished)
        os.replace(unfinished, path)
    except OSError as error:
        raise ModelFileError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        unfinished.unlink(missing_ok=True)
