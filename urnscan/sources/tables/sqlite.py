"""SQLite databases: the values of text and octets in their tables.

Nothing that the database brings is run: only stored values are read. Views, generated columns that are not stored, and
virtual tables are left out, as their code could do harm. A virtual table keeps its values in ordinary tables beside it,
which are read: `NAME_content` has the texts of a full-text index `NAME`.
"""

import itertools
import os
import re
import sqlite3
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from urnscan.errors import SourceError
from urnscan.sources.documents import Values
from urnscan.sources.layers import Layer
from urnscan.sources.reader import Reader, begins
from urnscan.sources.tables.values import LONGEST, Failures, Gathered, in_place, in_words, no_column, octets_of, path_of

__all__ = ["is_sqlite", "read_sqlite"]

_MAGIC = b"SQLite format 3\0"
_ROW_IDS = ("rowid", "_rowid_", "oid")
_STORED = (0, 3)  # of table_xinfo's `hidden`: an ordinary column, and a generated one that is stored
# Possessive, all of it: a statement may be long, and many comments in a row could be matched in too many ways.
_GAP = r"(?>\s++|\xef\xbb\xbf|/\*.*?\*/|--[^\n]*+\n)"
_VIRTUAL = re.compile(rf"{_GAP}*+CREATE{_GAP}++VIRTUAL\b".encode(), re.IGNORECASE | re.DOTALL)
_SMALLEST_ROW = 2  # octets that a row takes in its table's file, and more
_AT_ONCE = 256  # rows that are read at a time
_SHORT = 1 << 18  # octets of a row of which there are so many at a time
_FAILED = (sqlite3.Error, MemoryError, OverflowError, UnicodeDecodeError)
"""What sqlite3 raises where a database is not what it should be; the last where it quotes a name that is damaged."""


@dataclass(frozen=True, slots=True)
class _Table:
    name: str
    columns: tuple[str, ...]
    """Those that are stored, by their names."""
    row_id: str | None
    """What the number of a row is called; None where it has none."""


def is_sqlite(head: bytes, _: Layer) -> bool | None:
    """Whether it is an SQLite database."""
    return begins(head, _MAGIC)


def read_sqlite(reader: Reader, layer: Layer) -> Iterator[Values | SourceError]:
    """The text in the tables of a database, table by table. Raises SourceError where it as a whole cannot be read."""
    file = reader.reopen()
    path = None
    size = 0
    if file is not None:
        with file:
            path = path_of(file)
            size = file.seek(0, os.SEEK_END)
    try:
        if path is None:
            database, size = _load(octets_of(reader, layer))
        else:
            yield from _look_beside(path, layer)
            database = _open(path)
        try:
            yield from _Database(database, layer, size, counts=path is not None).read()
        finally:
            database.close()
    except _FAILED as error:
        raise SourceError(layer.name, f"cannot be read as SQLite: {in_words(error)}") from error


def _look_beside(path: str, layer: Layer) -> Iterator[SourceError]:
    """The error for changes in a write-ahead log: SQLite could read them only if it wrote into the folder."""
    try:
        logged = os.stat(path + "-wal").st_size  # noqa: PTH116 (paths are strings here)
    except OSError:
        return
    if logged:
        reason = "what was changed and stands in the -wal file beside it is not read"
        yield SourceError(layer.name, f"{reason}: run sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)' first")


def _open(path: str) -> sqlite3.Connection:
    """A database in a file that is not to change; nothing is written beside it."""
    name = urllib.parse.quote(os.fsencode(path))
    return sqlite3.connect(f"file:{name}?mode=ro&immutable=1", uri=True, check_same_thread=False)


def _load(octets: bytearray) -> tuple[sqlite3.Connection, int]:
    """A database in memory, and its size in octets."""
    # Its two versions: 2 is for a write-ahead log, which there is none of in memory.
    octets[18:20] = bytes(min(version, 1) for version in octets[18:20])
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.deserialize(octets)
    return database, len(octets)


def _quoted(name: str) -> str:
    """A name in a query. In the quotes of the standard it would be a string where nothing has that name."""
    return "`" + name.replace("`", "``") + "`"


class _Database:
    """A database while it is read."""

    def __init__(self, database: sqlite3.Connection, layer: Layer, size: int, *, counts: bool) -> None:
        """`counts`: whether the budget is to be told what is read."""
        self._database = database
        self._layer = layer
        self._size = self._left = size
        self._counts = counts
        self._rows = 0
        self._gathered = Gathered(layer)
        database.text_factory = bytes
        for setting in ("trusted_schema=OFF", "query_only=ON", "cell_size_check=ON", "mmap_size=0"):
            database.execute(f"PRAGMA {setting}")
        database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        self._limit(LONGEST)

    def read(self) -> Iterator[Values | SourceError]:
        """What is in the chosen columns."""
        named = self._layer.reading.columns
        found: set[str] = set()
        there: list[str] = []
        for table in self._tables():
            if isinstance(table, SourceError):
                yield table
                continue
            chosen = []
            for column in table.columns:
                names = {column, f"{table.name}.{column}"}
                found |= names.intersection(named)
                if not named or names.intersection(named):
                    chosen.append(column)
                there.append(f"{table.name}.{column}")
            if chosen:
                yield from self._read_table(table, chosen)
        yield from self._gathered.take()
        if named and not found:
            yield no_column(self._layer, list(named), there)
        if self._counts:
            self._layer.budget.took(self._left)

    def _tables(self) -> Iterator[_Table | SourceError]:
        """Find the ordinary tables; the error of one that cannot be asked for its columns."""
        # In a file that was made to harm a name may be a number.
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
                lower = {_text(row[1]).lower() for row in info}
                row_id = next((way for way in _ROW_IDS if way not in lower), None)
                if row_id and not self._has_row_ids(name):
                    row_id = None
            except _FAILED as error:
                yield self._failed(name, error)
            else:
                yield _Table(name, columns, row_id)

    def _has_row_ids(self, name: str) -> bool:
        """Whether a table has row ids: WITHOUT ROWID, its rows are in the index that is its primary key."""
        indices = list(self._database.execute(f"PRAGMA index_list({_quoted(name)})"))
        for index in indices:
            if index[3] == b"pk":
                columns = list(self._database.execute(f"PRAGMA index_xinfo({_quoted(_text(index[1]))})"))
                return any(column[1] == -1 for column in columns)  # that of the row id
        return True

    def _failed(self, table: str, error: BaseException) -> SourceError:
        return SourceError(self._layer.name, f"table {in_place(table)!r} damaged: {in_words(error)}")

    def _read_table(self, table: _Table, columns: list[str]) -> Iterator[Values | SourceError]:
        name, names = in_place(table.name), ["", *map(in_place, columns)]  # the number of the row stands first
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
            places: list[tuple[object, ...]] = [(name, numbers[at // width], names[at % width]) for at in filled]
            if self._gathered.add_all(values, places):
                yield from self._gathered.take()

    def _rows_of(self, table: _Table, columns: list[str]) -> Iterator[list[tuple[Any, ...]] | SourceError]:
        """The rows of a table, some at a time, as far as they can be read: each its number or NULL, and its values.

        They are held, so the long ones, which together could be too much, are read one by one.
        """
        number = table.row_id or "NULL"
        # Not by an index: that of an expression would run it, and one that covers all columns has another order.
        query = f"SELECT {number}, {', '.join(map(_quoted, columns))} FROM {_quoted(table.name)} NOT INDEXED"  # noqa: S608 (quoted)
        failures = Failures(self._layer.name, f"rows of table {in_place(table.name)!r}")
        count, last = 0, None
        # Python reads one row ahead, and where that one fails, it gives neither: then that row is read alone.
        at_once, alone = _AT_ONCE, False
        reason: BaseException = sqlite3.DatabaseError()
        while True:
            ways = "" if last is None else f" WHERE {number} > {last:d}"
            ways += f" LIMIT {1 if alone else -1} OFFSET {0 if table.row_id else count}"
            before, failure = count, None
            for found in self._select(query + ways, at_once):
                if isinstance(found, BaseException):
                    failure = found
                else:
                    last = found[-1][0]
                    count += len(found)
                    yield found
            if failure is None and not alone:
                break
            if failure is None:
                if count == before or not table.row_id:
                    yield self._failed(table.name, reason)
                    break
            elif alone:
                skipped = self._skip(table, last) if isinstance(failure, sqlite3.DataError) else None
                if skipped is None:
                    yield self._failed(table.name, failure)
                    break
                last = skipped
                where = f"row {last} of table {in_place(table.name)!r}"
                yield from failures.one(f"{where} has a value of more than {LONGEST:,} octets: not read")
            elif at_once > 1 and not table.row_id and isinstance(failure, sqlite3.DataError):
                at_once = 1  # to find such a row again would take long
                continue
            alone = not alone
            at_once, reason = 1 if alone else _AT_ONCE, failure or reason
        yield from failures.rest()

    def _select(self, query: str, at_once: int) -> Iterator[list[tuple[Any, ...]] | BaseException]:
        """The rows of a query, some at a time, and behind them what ended it, if that is an error."""
        failure: BaseException | None = None
        try:
            self._limit(LONGEST)  # the query itself may be long
            cursor = self._database.execute(query)
            self._limit(LONGEST if at_once == 1 else min(LONGEST, _SHORT))
            while failure is None:
                rows: list[tuple[Any, ...]] = []
                try:
                    rows.extend(itertools.islice(cursor, at_once))
                except _FAILED as error:  # what came before it is in the list
                    failure = error
                if not rows:
                    break
                yield rows
        except _FAILED as error:
            failure = error
        if failure is not None:
            yield failure

    def _limit(self, octets: int) -> None:
        """No value and no row is longer from now on."""
        self._database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, octets)

    def _skip(self, table: _Table, last: int | None) -> int | None:
        """The row id of the row behind `last`, which holds too much; None where there is no getting past it."""
        if table.row_id is None:
            return None
        where = "" if last is None else f"WHERE {table.row_id} > {last:d}"
        query = f"SELECT min({table.row_id}) FROM {_quoted(table.name)} NOT INDEXED {where}"  # noqa: S608 (quoted)
        try:
            found = self._database.execute(query).fetchone()[0]
        except sqlite3.Error:
            return None
        return int(found) if isinstance(found, int) and (last is None or found > last) else None

    def _took(self, rows: int, octets: int) -> bool:
        """So many rows were read; whether as many fit into the file."""
        self._rows += rows
        if self._counts:
            took = min(octets + rows * _SMALLEST_ROW, self._left)
            self._left -= took
            self._layer.budget.took(took)
        return self._rows * _SMALLEST_ROW <= self._size


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")
