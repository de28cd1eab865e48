"""Records that are rows of a table in text: CSV, TSV, and with ; or | between values. The first row names the columns.

A row may have fewer or more values than there are columns. Damaged is only a row with a quotation mark that is not closed,
and of that only its first line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from urnscan.framing.buffer import HEAD, MARK, Buffer
from urnscan.framing.lines import Damaged
from urnscan.framing.rows import Row, Rows, Table, begin, first_rows
from urnscan.records.fields import own_fields
from urnscan.records.named_values import RANKS, own_identifiers
from urnscan.records.record import Record

__all__ = ["SeparatedRecords", "is_separated"]

_NAMES = (".csv", ".tsv", ".tab")
_IN_NO_URN = b"\t|"
_ROWS = 3  # by which a table is known, behind its header
_FEWEST = 2  # columns of a table that is known by its rows
_LONGEST_NAME = 100  # characters
_OTHER = re.compile(rb"\s*[<{\[@%#]")  # how other formats begin, and comments


def is_separated(head: bytes, name: str) -> bool | None:
    """Whether it is a table: by its name, or because its first rows have as many values as the first has names."""
    unknown = None if len(head) < HEAD else False
    head = head.removeprefix(MARK)
    other = _OTHER.match(head)
    if name.endswith(_NAMES):
        return not other if head.strip() else unknown
    if other:
        return False
    table, at = first_rows(head)
    columns: list[str] = []
    for _ in range(1 + _ROWS):
        end = table.end(head, at, ended=False)
        if end <= 0:
            return unknown
        values = table.names(Row(at, head[at:end]))
        if not columns:
            columns = values
            # A table of pandas has an index without a name.
            named = all(map(_is_name, columns[1:])) and (not columns[0] or _is_name(columns[0]))
            if len(columns) < _FEWEST or len(set(columns)) < len(columns) or not named:
                return False
        elif len(values) != len(columns):
            return False
        at = end
    return True


class SeparatedRecords:
    """Reads the rows behind the header."""

    def __init__(self, *, own: bool) -> None:
        """`own`: only identifiers of the record itself are asked for."""
        self._own = own_fields("separated") if own else None
        self._table = Table(",", b"\n")
        self._rows: Rows | None = None
        self._names: list[str] = []
        self._called: int | None = None  # the column by which a record is called

    def read(self, buffer: Buffer) -> Iterator[Record | Damaged]:
        """Read the rows, each with its LF. The header belongs to none, nor does a line `sep=;` before it."""
        if self._rows is None:
            self._table, header = begin(buffer)
            self._rows = Rows(self._table)
            self._names = self._table.names(header)
            ranks = [(RANKS[name.lower()], at) for at, name in enumerate(self._names) if name.lower() in RANKS]
            self._called = min(ranks)[1] if ranks else None
        for row in self._rows.read(buffer):
            if isinstance(row, Damaged):
                yield row
            elif row.fault is not None:
                yield Damaged(row.offset, row.fault)
            else:
                yield self._record(row)

    def _record(self, row: Row) -> Record:
        table = self._table
        if self._own is None and table.delimiter in _IN_NO_URN and b'"' not in row.octets:
            text, values = row.octets, row.octets.split(table.delimiter)
        else:
            text, values = table.parted(row)
        called: str | None = None
        if self._called is not None and self._called < len(values):
            called = self._said(values[self._called]).strip() or None
        if self._own is None:
            return Record(row.offset, row.octets, called, (text,))
        named = zip(self._names, map(self._said, values), strict=False)
        return Record(row.offset, row.octets, called, own=tuple(own_identifiers(named, self._own)))

    def _said(self, value: bytes) -> str:
        """Read a value. `="0123"` is how Excel is told that digits are no number."""
        said = self._table.value(value).decode("utf-8", "replace")
        return said[2:-1] if said.startswith('="') and said.endswith('"', 2) else said


def _is_name(text: str) -> bool:
    """Whether a column could be called so."""
    return 0 < len(text) <= _LONGEST_NAME and text.isprintable() and text[-1] not in ".,;:!?"
