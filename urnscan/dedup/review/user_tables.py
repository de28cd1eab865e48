"""Tables that people write for a run, in a spreadsheet or by hand: CSV or TSV with a header, read row by row."""

from __future__ import annotations

import csv
import hashlib
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

from urnscan.errors import ArgumentError, FatalError
from urnscan.formats.media_types import OLE

_SEPARATORS = ",;|\t"
_DEFUSED = tuple(f"'{first}" for first in "=+@-\t\r\n\uff1d\uff0b\uff0d\uff20")
# First bytes of .xlsx and .ods (zip), and of .xls.
_WORKBOOKS = (b"PK\x03\x04", OLE[:4])
# First bytes of HTML.
_PAGE = b"<!doctype html"
_PARQUET = b"PAR1"
# Maximum bytes of a file.
_LARGEST = 1 << 30


@dataclass(frozen=True, slots=True)
class UserTable:
    """Path and bytes of a table that people wrote for a run."""

    path: str
    """Path of the file."""
    data: bytes
    """All bytes of the file."""

    @property
    def sha256(self) -> str:
        """The SHA-256 of the file, in hexadecimal digits."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def is_page(self) -> bool:
        """Whether the file is an HTML page."""
        return self.data.lstrip()[: len(_PAGE)].lower() == _PAGE

    def has(self, column: str) -> bool:
        """Whether the header names a column `column`, in the same case."""
        head = self.data.partition(b"\n")[0].decode("utf-8-sig", "replace")
        return any(column in (name.strip('\r"') for name in head.split(separator)) for separator in _SEPARATORS)

    def rows(
        self, columns: Sequence[str], hint: str, optional: Sequence[str] = ()
    ) -> Iterator[tuple[str, int, Mapping[str, str]]]:
        """Yield for each row: the place for messages (`a.csv: line 3`), the number of its last line, from 1, and the
        cells in `columns` and `optional`, by column. A missing optional column has empty cells. The separator is the
        most frequent one in the header: comma, semicolon, `|` or tab.

        Raises FatalError, during the iteration: with the line or byte, for a file that is not CSV in UTF-8; for a
        workbook; and with `hint` if a column is missing.
        """
        if self.data.startswith(_WORKBOOKS):
            raise FatalError(f"{self.path}: is an Excel file or another workbook; save it as CSV in UTF-8 first")
        if self.data.startswith(_PARQUET):
            raise FatalError(f"{self.path}: is in Parquet; save it as CSV first")
        try:
            text = self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise FatalError(f"{self.path}: is not in UTF-8 (byte {error.start:,}); save it as CSV in UTF-8") from None
        head = text.partition("\n")[0]
        rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(_SEPARATORS, key=head.count))
        try:
            if missing := [column for column in columns if column not in (rows.fieldnames or ())]:
                raise FatalError(f"{self.path}: has no column {missing[0]}; {hint}")
            for row in rows:
                cells = {column: _as_written(row.get(column) or "") for column in (*columns, *optional)}
                yield f"{self.path}: line {rows.line_num:,}", rows.line_num, cells
        except csv.Error as error:
            raise FatalError(f"{self.path}: line {rows.line_num:,}: is not CSV: {error}") from None


def read_table(path: str | os.PathLike[str], what: str) -> UserTable:
    """Read a file, and return its bytes as a table, which is not checked yet; `what` names the rows in messages ("the
    decisions"). Raises FatalError for a file that cannot be read, or has more than 1 GiB.
    """
    name = os.fsdecode(path)
    try:
        with Path(name).open("rb") as file:
            data = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:  # ValueError: NUL in the path
        raise FatalError(f"{name}: {what} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > _LARGEST:
        raise FatalError(f"{name}: is larger than {_LARGEST >> 30} GiB, the maximum for {what}")
    return UserTable(name, data)


def is_path(value: object, option: str) -> TypeGuard[str | os.PathLike[str]]:
    """Whether the value of an option is a path. Raises ArgumentError, which says what to do, for a frame of pandas or
    Polars and other objects of Arrow.
    """
    if hasattr(value, "__arrow_c_stream__"):
        kind = type(value).__name__
        writer = {"pandas": 'to_csv("edited.csv", index=False)', "polars": 'write_csv("edited.csv")'}
        remedy = writer.get(type(value).__module__.partition(".")[0])
        wanted = f'write it with {remedy}, and give "edited.csv"' if remedy else "write it as CSV first"
        raise ArgumentError(f"{option} must be a path, not a {kind}; {wanted}")
    return isinstance(value, str | os.PathLike)


def _as_written(cell: str) -> str:
    """A cell without the apostrophe that keeps a spreadsheet from calculating a formula."""
    return cell[1:] if cell.startswith(_DEFUSED) else cell
