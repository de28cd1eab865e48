"""SQLite databases: the values of text and bytes in their tables.

No code in the database is run: views, virtual tables and generated columns that are not stored are not read. The values
of a virtual table are in ordinary tables, which are read (`NAME_content` for a full-text index `NAME`).
"""

import contextlib
import functools
import itertools
import os
import re
import sqlite3
import urllib.parse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from urnscan.errors import SourceError
from urnscan.formats.contents import Values
from urnscan.formats.context import Layer
from urnscan.formats.encodings import is_binary
from urnscan.formats.protocol import Table, begins_with, exactly
from urnscan.formats.tables.values import (
    Failures,
    PlacedValues,
    bytes_of,
    gather,
    in_place,
    in_words,
    no_column,
)
from urnscan.stores.reader import Reader, path_of

LONGEST = 1 << 26
"""Maximum bytes of a row or value (64 MiB); a longer one is not read, which is reported."""

_MAGIC = b"SQLite format 3\0"
_SHARED_SUFFIXES = (".db", ".db3")
_FRACTIONS = slice(21, 24)  # bytes that are equal in every database
_ROW_IDS = ("rowid", "_rowid_", "oid")
# Values of `hidden` in table_xinfo: an ordinary column, and a generated column that is stored.
_STORED = (0, 3)
# All parts are possessive or atomic: a statement may be long, and many comments could be matched in too many ways.
_GAP = r"(?>\s++|\xef\xbb\xbf|/\*.*?\*/|--[^\n]*+\n)"
_VIRTUAL = re.compile(rf"(?>{_GAP}*)CREATE(?>{_GAP}+)VIRTUAL\b".encode(), re.IGNORECASE | re.DOTALL)
_SMALLEST_ROW = 2  # minimum bytes of a row in the file
_AT_ONCE = 256  # rows that are read together
_SHORT = 1 << 18  # maximum bytes of a row that is read together with other rows
# Exceptions of sqlite3 for a damaged database; UnicodeDecodeError if the message quotes a damaged name.
_FAILED = (sqlite3.Error, MemoryError, OverflowError, UnicodeDecodeError)


@dataclass(frozen=True, slots=True)
class _Table:
    name: str
    columns: tuple[str, ...]
    """Names of the stored columns."""
    row_id: str | None
    """Name of the row id; None for a table WITHOUT ROWID."""


def read_sqlite(reader: Reader, layer: Layer) -> Iterator[Values | SourceError]:
    """Yield the texts and blobs in the tables of an SQLite database as `Values`, table by table, with places
    `table/row/column`; with `--column` only those in columns that it names as `column` or `table.column`.

    Also yields errors: about damage, values of more than 64 MiB, changes in a write-ahead log, and if no named column
    exists. Views, virtual tables, tables of SQLite (`sqlite_…`) and columns that are calculated but not stored are left
    out. Bytes that are not a file of this machine are read into memory. Raises SourceError if the whole database cannot
    be read (also for more than 256 MiB in memory), and LimitError.
    """
    path = path_of(reader)
    try:
        if path is None:
            data = bytes_of(reader, layer)
            database, size = _load(data), len(data)
        else:
            size = os.path.getsize(path)  # noqa: PTH202 (paths are strings here)
            yield from _log_error(path, layer)
            # `immutable`: SQLite then writes no file next to the database.
            name = urllib.parse.quote(os.fsencode(path))
            database = sqlite3.connect(f"file:{name}?mode=ro&immutable=1", uri=True, check_same_thread=False)
        with contextlib.closing(database):
            yield from _Database(database, layer, size, counts=path is not None).read()
    except _FAILED as error:
        raise SourceError(layer.name, f"damaged SQLite database: {in_words(error)}") from error


def _log_error(path: str, layer: Layer) -> Iterator[SourceError]:
    with contextlib.suppress(OSError):
        # To read the changes, SQLite would have to write into the folder.
        if os.path.getsize(path + "-wal"):  # noqa: PTH202 (paths are strings here)
            remedy = "run sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)' first"
            yield SourceError(layer.name, f"its changes in the -wal file next to it are not read; {remedy}")


def _load(data: bytearray) -> sqlite3.Connection:
    # Both version numbers of the format: 2 means a write-ahead log, which does not exist in memory.
    data[18:20] = bytes(min(version, 1) for version in data[18:20])
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.deserialize(data)
    return database


def _quoted(name: str) -> str:
    # In backticks: SQLite reads an unknown name in standard quotes (") as a string.
    return "`" + name.replace("`", "``") + "`"


class _Database:
    def __init__(self, database: sqlite3.Connection, layer: Layer, size: int, *, counts: bool) -> None:
        """`size`: bytes of the database. `counts`: False if they are already counted in the budget."""
        self._database = database
        self._layer = layer
        self._size = self._left = size
        self._counts = counts
        self._rows = 0
        database.text_factory = bytes
        for setting in ("trusted_schema=OFF", "query_only=ON", "cell_size_check=ON", "mmap_size=0"):
            database.execute(f"PRAGMA {setting}")
        database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        self._limit(LONGEST)

    def read(self) -> Iterator[Values | SourceError]:
        yield from gather(self._placed_values(), self._layer)
        if self._counts:
            self._layer.budget.count_read(self._left)

    def _placed_values(self) -> Iterator[PlacedValues | SourceError]:
        named = self._layer.reading.columns
        present: set[str] = set()
        there: list[str] = []
        for table in self._tables():
            if isinstance(table, SourceError):
                yield table
                continue
            chosen = []
            for column in table.columns:
                there.append(f"{table.name}.{column}")
                names = {column, there[-1]}.intersection(named)
                present |= names
                if names or not named:
                    chosen.append(column)
            if chosen:
                yield from self._read_table(table, chosen)
        if named and not present:
            yield no_column(self._layer, list(named), there)

    def _tables(self) -> Iterator[_Table | SourceError]:
        """Yield the tables to read (not virtual, not `sqlite_…`), and an error for each whose columns cannot be listed."""
        # In a hostile file a name may be a number.
        query = (
            "SELECT CAST(name AS TEXT), sql FROM sqlite_master WHERE type = 'table'"
            " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
        )
        names = [_text(name) for name, sql in self._database.execute(query) if not _VIRTUAL.match(sql or b"")]
        for name in names:
            self._limit(LONGEST)
            try:
                info = list(self._database.execute(f"PRAGMA table_xinfo({_quoted(name)})"))
                if not info:
                    raise sqlite3.DatabaseError("its name is not UTF-8")
                columns = tuple(_text(row[1]) for row in info if row[6] in _STORED)
                column_names = {_text(row[1]).lower() for row in info}
                row_id = next(
                    (way for way in _ROW_IDS if way not in column_names and self._has_row_id(name, way)), None
                )
                yield _Table(name, columns, row_id)
            except _FAILED as error:
                yield self._failed(name, error)

    def _has_row_id(self, table: str, row_id: str) -> bool:
        # Precondition: the table has no column with this name.
        try:
            self._database.execute(f"SELECT {row_id} FROM {_quoted(table)} NOT INDEXED LIMIT 0")  # noqa: S608 (quoted)
        except sqlite3.OperationalError:
            return False
        return True

    def _failed(self, table: str, error: BaseException) -> SourceError:
        return SourceError(self._layer.name, f"table {in_place(table)!r} damaged: {in_words(error)}")

    def _read_table(self, table: _Table, columns: list[str]) -> Iterator[PlacedValues | SourceError]:
        # The first column is the row id.
        names = ["", *map(in_place, columns)]
        width = len(names)
        count = 0
        for rows in self._rows_of(table, columns):
            if isinstance(rows, SourceError):
                yield rows
                continue
            cells = list(itertools.chain.from_iterable(rows))
            filled = [at for at, cell in enumerate(cells) if isinstance(cell, bytes) and cell]
            numbers = cells[::width] if table.row_id else range(count, count + len(rows))
            count += len(rows)
            values = [cells[at] for at in filled]
            if not self._took(len(rows), sum(map(len, values))):
                yield self._failed(table.name, sqlite3.DatabaseError("it has more rows than its file has room for"))
                return
            yield values, functools.partial(_place, in_place(table.name), numbers, names, filled)

    def _rows_of(self, table: _Table, columns: list[str]) -> Iterator[list[tuple[Any, ...]] | SourceError]:
        """Yield groups of at most 256 rows of a table, each row with its row id (or None) and the values of `columns`,
        and errors. A row with a value of more than 64 MiB is left out, or ends the rows of a table without row ids.
        """
        number = table.row_id or "NULL"
        # NOT INDEXED: an index of an expression would run code, and a covering index has another order of rows.
        query = f"SELECT {number}, {', '.join(map(_quoted, columns))} FROM {_quoted(table.name)} NOT INDEXED"  # noqa: S608 (quoted)
        failures = Failures(self._layer.name, f"rows of table {in_place(table.name)!r}")
        # If reading a group fails, its rows are read singly. Python reads a row ahead, and if this row fails, the row
        # before is lost, too. So with row ids there is a query for each row, and without row ids for the last row.
        at_once, count = _AT_ONCE, 0
        last: int | None = None
        failure: BaseException = sqlite3.DatabaseError()
        while True:
            where = f" WHERE {number} > {last:d}" if table.row_id and last is not None else ""
            part = " LIMIT 1" if table.row_id and at_once == 1 else f" LIMIT -1 OFFSET {0 if table.row_id else count}"
            before = count
            try:
                for rows in self._select(query + where + part, at_once):
                    last = rows[-1][0]
                    count += len(rows)
                    yield rows
            except _FAILED as error:
                failure = error
                if at_once > 1:
                    at_once = 1
                    continue
                if not table.row_id:
                    with contextlib.suppress(*_FAILED):
                        yield from self._select(f"{query} LIMIT 1 OFFSET {count}", 1)
                last = self._next_id(table, last) if isinstance(error, sqlite3.DataError) else None
                if last is None:
                    yield self._failed(table.name, error)
                    break
                where = f"row {last} of table {in_place(table.name)!r}"
                yield from failures.one(f"{where} has a value of more than {LONGEST:,} bytes: not read")
                at_once = _AT_ONCE
            else:
                if not table.row_id or at_once > 1:
                    break
                # The query for the row after the failure has no result.
                if count == before:
                    yield self._failed(table.name, failure)
                    break
                at_once = _AT_ONCE
        yield from failures.rest()

    def _select(self, query: str, at_once: int) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a query in groups of at most `at_once`. Raises sqlite3.DataError for a row of more than 64
        MiB, or 256 KiB if `at_once` is above 1.
        """
        # The query may be long, and its execution reads the first row. A group is in memory, so long rows fail in a group.
        self._limit(LONGEST)
        cursor = self._database.execute(query)
        self._limit(LONGEST if at_once == 1 else min(LONGEST, _SHORT))
        while rows := list(itertools.islice(cursor, at_once)):
            yield rows

    def _limit(self, byte_count: int) -> None:
        self._database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, byte_count)

    def _next_id(self, table: _Table, last: int | None) -> int | None:
        """Smallest row id above `last` (None: of all rows); None if there is none, or if it cannot be read."""
        if table.row_id is None:
            return None
        where = "" if last is None else f"WHERE {table.row_id} > {last:d}"
        query = f"SELECT min({table.row_id}) FROM {_quoted(table.name)} NOT INDEXED {where}"  # noqa: S608 (quoted)
        try:
            number = self._database.execute(query).fetchone()[0]
        except sqlite3.Error:
            return None
        return int(number) if isinstance(number, int) and (last is None or number > last) else None

    def _took(self, rows: int, byte_count: int) -> bool:
        """Count rows and the bytes of their values as read. False if the file is too small for all rows so far, and so
        damaged.
        """
        self._rows += rows
        if self._counts:
            took = min(byte_count + rows * _SMALLEST_ROW, self._left)
            self._left -= took
            self._layer.budget.count_read(took)
        return self._rows * _SMALLEST_ROW <= self._size


def _place(table: str, numbers: Sequence[object], columns: list[str], filled: list[int], index: int) -> str:
    """Place `table/row/column` of the value at `index` in a group of rows. `numbers`: for each row, its id (or number);
    `columns`: that of the row id, then those of the values; `filled`: for each value the number of its cell from 0,
    counted row by row, the row id included.
    """
    row, column = divmod(filled[index], len(columns))
    return f"{table}/{numbers[row]}/{columns[column]}"


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")


def _is_damaged(head: bytes, layer: Layer) -> bool | None:
    if not layer.file_name.lower().endswith(_SHARED_SUFFIXES):
        return is_binary(head)
    return head[_FRACTIONS] == b"\x40\x20\x20" or (None if len(head) < _FRACTIONS.stop else False)


FORM = Table(
    name="an SQLite database",
    open=read_sqlite,
    recognise=begins_with(_MAGIC),
    signs=exactly(_MAGIC),
    suffixes=(".sqlite", ".sqlite3", *_SHARED_SUFFIXES),
    recognise_named=_is_damaged,
    needs_beginning=True,
)
