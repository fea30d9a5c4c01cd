"""How a text table is written: what separates its columns, how its numbers look, whether names come first.

Everything is recognised from the first lines; what the user specifies wins.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pyod_gessvdd.errors import TableError
from pyod_gessvdd.tabular.wording import listed

#: What may stand between columns, the likeliest first, and what it is called.
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
#: What the user may write for a tab, which a shell does not pass on easily.
SPELLINGS = {"\\t": "\t", "tab": "\t"}

#: What Excel writes in western Europe, where it writes no UTF-8.
FALLBACK = "cp1252"
OTHER_CHARACTERS = "its characters are read as Windows-1252, as they are no UTF-8"

#: So much of a file is looked at.
SAMPLE_BYTES = 1 << 18
SAMPLE_ROWS = 500
#: Of the rows this many must have the width that a separator gives the names.
AGREEING = 0.9

_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?")
_DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
#: Marks between thousands: 1.234,5 and 1,234 (or 1,234.5).
_POINTS_AND_COMMA = re.compile(r"[+-]?\d{1,3}(\.\d{3})+,\d+")
_COMMAS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")


@dataclass(frozen=True)
class Dialect:
    """What a reader must know about a file.

    Attributes
    ----------
    sep : str
        Between the columns.
    decimal : str
        Before the decimals of a number.
    thousands : str or None
        Between the thousands of a number.
    encoding : str
        Of the characters.
    names : list of str or None
        The names of the columns if the file has none.
    skip : int
        So many lines come before the table.
    trailing : bool
        Whether every row ends with a separator that the names do not have.
    notes : tuple of str
        What was recognised that a reader of the file may not expect.
    """

    sep: str
    decimal: str = "."
    thousands: str | None = None
    encoding: str = "utf-8-sig"
    names: list[str] | None = None
    skip: int = 0
    trailing: bool = False
    notes: tuple[str, ...] = ()


def recognise(
    path: Path, usual: str, *, sep: str | None = None, decimal: str | None = None, header: bool | None = None
) -> Dialect:
    """Look at the first lines of a file.

    Parameters
    ----------
    path : Path
        A text file, gzipped if its name ends in .gz.
    usual : str
        The separator that the file's name stands for.
    sep, decimal : str, optional
        What the user specified.
    header : bool, optional
        Whether the first line holds names, if the user specified it.
    """
    if sep is not None:
        sep = SPELLINGS.get(sep, sep)
        if len(sep) != 1 or sep.isalnum() or sep in "\"'\n":
            raise TableError(f"--sep must be one character between the columns, such as ; or tab, got {sep!r}")
    if decimal not in (None, ".", ","):
        raise TableError(f"--decimal must be . or , but got {decimal!r}")
    encoding, lines = _first_lines(path)
    notes = [OTHER_CHARACTERS] if encoding == FALLBACK else []
    skip = 0
    # Excel's own hint, in files that it writes for other regions.
    hint = re.fullmatch(r"sep=(.)", lines[0].strip("\r\n")) if lines else None
    if hint:
        sep, skip, lines = sep or hint[1], 1, lines[1:]
    if not any(line.strip() for line in lines):
        raise TableError(f"{path} is empty; a table has a line of names and a line for every row")
    chosen = sep or _separator(lines, usual)
    rows = _rows(lines, chosen)
    _check_widths(path, rows, chosen)
    names = None
    if not (_has_names(rows) if header is None else header):
        names = [f"x{i}" for i in range(len(rows[0]))]
        notes.append(f"its first line holds no names, so the columns are called {names[0]} … {names[-1]}")
    twice = sorted({name for name in rows[0] if name and rows[0].count(name) > 1}) if names is None else []
    if twice:
        raise TableError(f"{path} has more than one column called {listed(twice)}; rename them")
    mark, thousands = _marks(path, rows if names else rows[1:], chosen, decimal)
    if chosen != usual:
        notes.append(f"its columns are separated by {SEPARATORS.get(chosen, repr(chosen))}")
    if mark == "," and decimal is None:
        notes.append("its numbers have decimal commas")
    if thousands is not None:
        notes.append(f"its numbers have {'points' if thousands == '.' else 'commas'} between thousands")
    trailing = names is None and all(len(row) == len(rows[0]) + 1 and row[-1] == "" for row in rows[1:])
    return Dialect(chosen, mark, thousands, encoding, names, skip, trailing and len(rows) > 1, tuple(notes))


def _first_lines(path: Path) -> tuple[str, list[str]]:
    """The encoding and the first lines, without a last one that may be cut."""
    opened = gzip.open if path.name.lower().endswith(".gz") else open
    with opened(path, "rb") as file:
        sample = file.read(SAMPLE_BYTES)
        cut = bool(file.read(1))
    encoding = "utf-16" if sample[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    if encoding == "utf-8-sig" and b"\0" in sample:
        raise TableError(f"{path} cannot be read: it holds null bytes, so it is not text")
    try:
        text = sample.decode(encoding, errors="ignore" if cut and encoding == "utf-16" else "strict")
    except UnicodeDecodeError as error:
        # A character may be cut in two at the end of the sample.
        if cut and error.start >= len(sample) - 4:
            text = sample.decode(encoding, errors="ignore")
        else:
            encoding, text = FALLBACK, sample.decode(FALLBACK, errors="replace")
    # Not splitlines, for which a form feed ends a line too.
    lines = list(io.StringIO(text, newline=""))
    return encoding, lines[:-1] if cut and len(lines) > 1 else lines


def _rows(lines: list[str], sep: str) -> list[list[str]]:
    rows = []
    for row in csv.reader(lines, delimiter=sep, skipinitialspace=True):
        if row:
            rows.append([field.strip() for field in row])
        if len(rows) == SAMPLE_ROWS:
            break
    return rows


def _separator(lines: list[str], usual: str) -> str:
    """The usual one where it gives rows as wide as the names, else the one that gives the widest."""
    candidates = [usual, *(sep for sep in SEPARATORS if sep != usual)]
    # R's files have row names without a name of their own: their rows are wider by one.
    for wider in (0, 1):
        widths = {sep: _width(_rows(lines, sep), wider) for sep in candidates}
        best = usual if widths[usual] > 1 else max(candidates, key=lambda sep: widths[sep])
        if widths[best] > 1:
            return best
    return usual


def _width(rows: list[list[str]], wider: int) -> int:
    """How many names there are, if nearly all rows have this many values, or ``wider`` more; else none."""
    width = len(rows[0])
    agreeing = sum(len(row) == width + wider for row in rows[1:])
    return width if agreeing >= AGREEING * (len(rows) - 1) else 0


def _check_widths(path: Path, rows: list[list[str]], sep: str) -> None:
    """A row that is wider than the names cannot be placed; one more value is a row name or a trailing separator."""
    width = len(rows[0])
    extra = {len(row) - width for row in rows[1:]}
    if extra and max(extra) > 0 and extra != {1}:
        number, row = next((i, row) for i, row in enumerate(rows[1:], start=1) if len(row) > width)
        raise TableError(
            f"{path}: data row {number} has {len(row)} values and the first line {width}, with {sep!r} between "
            "columns; correct it, or name the separator with --sep"
        )


def _has_names(rows: list[list[str]]) -> bool:
    """Whether the first line holds names: it does not if all its values are numbers or are found again below."""
    first = [(column, value) for column, value in enumerate(rows[0]) if value]
    numbers = [float(value.replace(",", ".")) for _, value in first if _NUMBER.fullmatch(value)]
    if not numbers or len(rows) == 1:
        return True
    # Names that are numbers are wavelengths, positions or counts: they grow.
    if len(numbers) == len(first) and all(a < b for a, b in pairwise(numbers)):
        return True
    return not all(
        _NUMBER.fullmatch(value) or any(row[column : column + 1] == [value] for row in rows[1:])
        for column, value in first
    )


def _marks(path: Path, rows: list[list[str]], sep: str, decimal: str | None) -> tuple[str, str | None]:
    """The decimal mark, and the mark between thousands if numbers have one."""
    values = [value for row in rows for value in row]
    if decimal is None:
        # The values are fields already: where commas separate columns, one with a comma was quoted.
        with_comma = [
            value for value in values if _DECIMAL_COMMA.fullmatch(value) or _POINTS_AND_COMMA.fullmatch(value)
        ]
        if sep == "," and (not with_comma or all(map(_COMMAS.fullmatch, with_comma))):
            decimal = "."
        else:
            points = any(map(_DECIMAL_POINT.fullmatch, values)) and not any(map(_POINTS_AND_COMMA.fullmatch, values))
            if with_comma and points and sep != ",":
                raise TableError(
                    f"{path} has numbers with a point and numbers with a comma; name the decimal mark with --decimal"
                )
            decimal = "," if with_comma and not points else "."
    other, grouped = (".", _POINTS_AND_COMMA) if decimal == "," else (",", _COMMAS)
    return decimal, other if any(map(grouped.fullmatch, values)) else None
