"""Records that are rows of a table in text: CSV, TSV, and with ; or | between values. The first row names the columns.

A row may have fewer or more values than there are columns. A row whose quotation mark is never closed is damaged: its
first line is left out, and the next line is a row again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from urnscan.framing.buffer import HEAD, MARK, Buffer
from urnscan.framing.lines import Damaged
from urnscan.framing.rows import CsvLayout, Row, SeparatedRows, begin, first_rows
from urnscan.records.description import pack
from urnscan.records.format import Format
from urnscan.records.named_values import RANKS, own_identifiers, statements
from urnscan.records.record import Cut, Record, RecordReader

_NAMES = (".csv", ".tsv", ".tab")
_ROWS = 3  # behind the header, that tell a table
_FEWEST = 2  # columns of a table that is told by its rows
_LONGEST_NAME = 100  # characters
_OTHER = re.compile(rb"\s*[<{\[@%#]")  # beginnings of other formats, and comments
_MARC = re.compile(rb"(?:=?LDR|00[0-9])[\t ]")  # fields of MARC, one on a line


def is_separated(head: bytes, name: str) -> bool | None:
    """Whether it is a table: by its name, or because its first rows have as many values as the first has names."""
    unknown = None if len(head) < HEAD else False
    head = head.removeprefix(MARK)
    other = _OTHER.match(head) or _MARC.match(head)
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


class SeparatedRecords(RecordReader):
    """Reads the rows behind the header."""

    table = "separated"
    described_by = "named"
    _rows: SeparatedRows | None = None
    _layout: CsvLayout
    _names: list[str]
    _named_by: int | None  # the column that names records

    def cuts(self, buffer: Buffer) -> Iterator[Cut | Damaged]:
        """Find the rows, each with its LF. The header is no record, nor is a line `sep=;` before it.

        `Cut.around` has the row, the layout of the table, the names of the columns, and the column that names records.
        """
        if self._rows is None:
            self._layout, header = begin(buffer)
            self._rows = SeparatedRows(self._layout)
            self._names = self._layout.names(header)
            ranks = [(RANKS[name.lower()], column) for column, name in enumerate(self._names) if name.lower() in RANKS]
            self._named_by = min(ranks)[1] if ranks else None
        for row in self._rows.read(buffer):
            if isinstance(row, Damaged):
                yield row
            else:
                around = (row, self._layout, self._names, self._named_by)
                yield Damaged(row.offset, row.fault) if row.fault else Cut(row.offset, row.octets, around)

    def record(self, cut: Cut) -> Record:
        """Read a row."""
        row, layout, names, named_by = cut.around
        text, values = layout.split_values(row)
        called = None
        if named_by is not None and named_by < len(values):
            called = _text(layout, values[named_by]).strip() or None
        texts = (text,) if self.has_texts else ()
        if self.fields is None and not self.described:
            return Record(row.offset, row.octets, called, texts)
        named = [*zip(names, (_text(layout, value) for value in values), strict=False)]
        own = () if self.fields is None else tuple(own_identifiers(named, self.fields))
        description = pack(self.described_by, statements(named, self.described))
        return Record(row.offset, row.octets, called, texts, own, description)


def _text(layout: CsvLayout, value: bytes) -> str:
    """Decode a value. `="0123"` tells Excel that digits are no number."""
    text = layout.value(value).decode("utf-8", "replace")
    return text[2:-1] if text.startswith('="') and text.endswith('"', 2) else text


def _is_name(text: str) -> bool:
    """Whether a column could be called so. Prose that is set in columns has many spaces between its words."""
    return 0 < len(text) <= _LONGEST_NAME and text.isprintable() and text[-1] not in ".,;:!?" and "   " not in text


FORMATS = (
    Format(
        name="csv",
        title="CSV or TSV",
        reader=SeparatedRecords,
        recognise=is_separated,
        suffixes=(".csv", ".tsv"),
        framed=True,
    ),
)
