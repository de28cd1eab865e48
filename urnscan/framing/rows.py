"""Rows of CSV (RFC 4180) and TSV, also with ; or | between values: the end of each row, and its values.

A row ends with LF outside of quotation marks, or with CR if the head of the text has only CR (Excel for Mac). A
quotation mark has a meaning only at the beginning of a value, as in the module `csv`. If a mark is never closed, only
its line is damaged: the next row begins after that line.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from urnscan.framing.buffer import HEAD, LONGEST, Buffer
from urnscan.framing.lines import Damaged, lines

_DELIMITERS = ",;\t|"
_BLANK_LINES = rb"(?>(?:[ \t]*+[\r\n])*)"
# Before the header: blank lines, and a line for Excel that names the delimiter.
_BEFORE = re.compile(_BLANK_LINES + rb"(?:\"?sep=([,;\t|])\"?[\r\n]" + _BLANK_LINES + rb")?")
_QUOTED = re.compile(rb'"[^"]*+(?:"|\Z)')
_QUOTES = re.compile(rb'"++')
_LINE_ENDS = re.compile("[\r\n]")


class Row(NamedTuple):
    """A row of CSV or TSV, whose values `CsvLayout.values` finds."""

    offset: int
    """Number of bytes of the text before the row."""
    data: bytes
    """Bytes of the row with its line end, which only the last row may lack."""
    fault: str | None = None
    """Reason why `data` may be only a part of the row, such as "it is cut off"; None if the row is whole."""
    parts: list[bytes] | None = None
    """`data` split at each quotation mark (`CsvLayout.quoted`), if the reader has already done so; else None."""


class CsvLayout:
    """Delimiter (a character; the attribute is bytes) and line end (LF or CR) of a table in CSV or TSV; finds the ends
    and values of rows.

    In quotation marks (`"`), delimiters and line ends belong to the value, and a doubled mark is one mark of it.
    """

    def __init__(self, delimiter: str, line_end: bytes) -> None:
        self.delimiter = delimiter.encode()
        self.line_end = line_end
        self._text = delimiter
        # A value in quotation marks, or the end of the row.
        self._next = re.compile(re.escape(self.delimiter) + b'"|' + line_end)
        self._after = (b"", b"\r", b"\n", self.delimiter)
        cell = rb'(?:"(?:[^"]++|"")*+"[ \r\n]*+|(?!")[^%b]*+)' % re.escape(self.delimiter)
        self._closed = re.compile(rb"%b(?:%b%b)*+" % (cell, re.escape(self.delimiter), cell))

    def end(self, data: bytes, at: int, *, ended: bool) -> int:
        """Index in `data` after the row that begins at the index `at`, and after its line end.

        0 if more bytes are needed (never if `ended`: `data` is the end of the text); -1 if a quotation mark is not
        closed. A mark in a later line closes a value only before a delimiter or the end of the row (RFC 4180, section
        2).
        """
        after = data.find(self.line_end, at) + 1
        if not after:
            if not ended:
                return 0
            after = len(data)
        if data.find(b'"', at, after) < 0 or self.quoted(data[at:after]):
            return after
        while True:
            if data.startswith(b'"', at):
                at = next((run.end() for run in _QUOTES.finditer(data, at + 1) if (run.end() - run.start()) % 2), -1)
                if not ended and (at < 0 or at == len(data)):
                    return 0
                if at < 0 or (at > after and data[at : at + 1] not in self._after):
                    return -1
            match = self._next.search(data, at)
            if not match:
                return len(data) if ended else 0
            at = match.end() - 1
            if data.startswith(self.line_end, at):
                return at + 1

    def length(self, buffer: Buffer) -> int:
        """Number of bytes of the row, with its line end, that begins at the next byte of `buffer`; takes nothing.

        0 for a row of more than 64 MiB, or with a quotation mark that is not closed. There must be a next byte.
        """
        ended = False
        while True:
            end = self.end(buffer.data, buffer.at, ended=ended)
            if end:
                return end - buffer.at if 0 < end <= buffer.at + LONGEST else 0
            if len(buffer.data) - buffer.at > LONGEST:
                return 0
            ended = not buffer.more()

    def split_values(self, row: Row) -> tuple[bytes, list[bytes]]:
        """Split a row into values. Returns the row with NUL instead of the delimiters between values, and the values.
        If its quotation marks are irregular, as in `a"b`, the returned row is without marks around values.

        The values still have their quotation marks, which the method `value` removes: `a;"b;c"` has `a` and `"b;c"`.
        """
        data, parts = row.data, row.parts
        if parts is None and b'"' not in data:
            return data.replace(self.delimiter, b"\0"), data.rstrip(b"\r\n").split(self.delimiter)
        if b"\0" not in data and (parts := parts or self.quoted(data)):
            replaced = parts.copy()
            replaced[::2] = [part.replace(self.delimiter, b"\0") for part in parts[::2]]
            text = b'"'.join(replaced)
            return text, text.rstrip(b"\r\n").split(b"\0")
        values = self._csv(data)
        quoted = [
            b'"%b"' % value.replace(b'"', b'""') if value.startswith(b'"') or value.endswith((b"\r", b"\n")) else value
            for value in values
        ]
        return b"\0".join(values), quoted

    def value(self, data: bytes) -> bytes:
        """Return a value of `split_values` without the quotation marks around it, with one mark for each doubled mark,
        and without a line end at its end: `"a ""b"" c"` -> `a "b" c`.
        """
        data = data.rstrip(b"\r\n")
        return data[1:-1].replace(b'""', b'"') if data.startswith(b'"') else data

    def values(self, row: Row) -> list[bytes]:
        """The values of a row, without the quotation marks around them: `a;"b;c"` -> `[b"a", b"b;c"]`."""
        if row.parts and row.parts[2:-1:2].count(self.delimiter) == len(row.parts) // 2 - 1 and not row.parts[0]:
            last = row.parts[-1].rstrip(b"\r\n")
            # All values are in quotation marks, and contain no quotation mark.
            if not last:
                return row.parts[1::2]
        elif row.parts is None and b'"' not in row.data:
            return row.data.rstrip(b"\r\n").split(self.delimiter)
        return list(map(self.value, self.split_values(row)[1]))

    def is_closed(self, row: Row) -> bool:
        """Whether each value of a row that begins with a quotation mark ends with one: false for `"a"b;c`, in which text
        follows the closing mark.
        """
        return self._closed.fullmatch(row.data) is not None

    def names(self, header: Row) -> list[str]:
        """The values of a header as str, without white space around; bytes not in UTF-8 become surrogate escapes."""
        return [value.decode("utf-8", "surrogateescape").strip() for value in self.values(header)]

    def quoted(self, data: bytes) -> list[bytes]:
        """Split a row at each quotation mark; the parts with the indices 1, 3, … were in marks.

        `a;"b;c"` -> `[b"a;", b"b;c", b""]`. Returns an empty list if a mark is not closed, or is inside a value, as in
        `a"b`; but marks may be doubled, as in `"a""b"`.
        """
        parts = data.split(b'"')
        first, last, between = parts[0], parts[-1].rstrip(b"\r\n"), parts[2:-1:2]
        if len(parts) % 2 == 0 or (first and first[-1:] != self.delimiter) or (last and last[:1] != self.delimiter):
            return []
        if between.count(self.delimiter) < len(between):
            for part in between:
                if part and not (part[:1] == self.delimiter == part[-1:]):
                    return []
        return parts

    def _csv(self, data: bytes) -> list[bytes]:
        # The limit is global in the process. `csv` refuses a longer value.
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST))
        line = data.decode("utf-8", "surrogateescape").rstrip("\r\n")
        try:
            values = next(csv.reader([line], delimiter=self._text), [])
        except csv.Error:
            # An unquoted line end, which `csv` refuses: all line ends are then read as spaces.
            values = next(csv.reader([_LINE_ENDS.sub(" ", line)], delimiter=self._text), [])
        return [value.encode("utf-8", "surrogateescape") for value in values]


def first_rows(head: bytes, known_names: Collection[str] = ()) -> tuple[CsvLayout, int]:
    """Recognise the layout of a table by `head`, the first bytes of the text. Returns the layout, and the index in
    `head` at which the header (the first row) begins, after blank lines and a line `sep=;`, which names the delimiter.

    Without that line each of , ; tab and | is tried: the delimiter with the most column names in `known_names` is
    chosen, among equals the one with the most columns, and then the first of these. `head` should contain the whole
    header.
    """
    before = _BEFORE.match(head)
    at, named = (before.end(), before[1]) if before else (0, None)
    unquoted = _QUOTED.sub(b"", head[at:])
    line_end = b"\n" if b"\n" in unquoted or b"\r" not in unquoted[:-1] else b"\r"
    layouts = [CsvLayout(delimiter, line_end) for delimiter in (named.decode() if named else _DELIMITERS)]

    def fits(layout: CsvLayout) -> tuple[int, int]:
        end = layout.end(head, at, ended=True)
        names = layout.names(Row(at, head[at:end] if end > 0 else head[at:].partition(line_end)[0]))
        return sum(name in known_names for name in names), len(names)

    return max(layouts, key=fits), at


class SeparatedRows:
    """Reader of the rows of a table in CSV or TSV, a header included; blank lines are skipped."""

    def __init__(self, layout: CsvLayout) -> None:
        self._layout = layout
        self._begun = False

    def read(self, buffer: Buffer) -> Iterator[Row | Damaged]:
        """Take the rows from the next byte on, and yield each; a `Damaged` for a line of more than 64 MiB.

        If a quotation mark is not closed within 64 MiB, only the line of the mark is yielded, with a `Row.fault`. A
        second call, after `Buffer.resume`, skips the rest of a lost row up to the next line end, with a `Damaged`.
        """
        layout = self._layout
        if self._begun and buffer.has(1):
            line = next(lines(buffer, layout.line_end))
            yield line if isinstance(line, Damaged) else Damaged(line[0], "its beginning is missing")
        self._begun = True
        while buffer.has(1):
            offset, at = buffer.offset, buffer.at
            after = buffer.data.find(layout.line_end, at) + 1
            # Fast path: a row in a single line.
            if after and after - at <= LONGEST:
                data, parts = buffer.data[at:after], None
                if b'"' not in data or (parts := layout.quoted(data)):
                    buffer.at = after
                    if data.strip(b" \r\n"):
                        yield Row(offset, data, None, parts)
                    continue
            length = layout.length(buffer)
            if length:
                data = buffer.take(length)
                if data.strip(b" \r\n"):
                    cut_off = buffer.error is not None and not buffer.has(1) and not data.endswith(layout.line_end)
                    yield Row(offset, data, "it is cut off" if cut_off else None)
            else:
                line = next(lines(buffer, layout.line_end))
                yield line if isinstance(line, Damaged) else Row(*line, "a quotation mark in it is never closed")


def begin(buffer: Buffer, known_names: Collection[str] = ()) -> tuple[CsvLayout, Row]:
    """Recognise the layout of a table, and take its header (the first row) with all lines before it.

    Returns the layout and the header. `Row.data` is empty if the text has no header, or one of more than 64 MiB (then
    with a `Row.fault`). `known_names`: column names by which the delimiter is recognised.
    """
    while True:
        head = buffer.data[buffer.at : buffer.at + HEAD]
        layout, at = first_rows(head, known_names)
        if b"\n" in _QUOTED.sub(b"", head[at:]) or len(head) == HEAD or not buffer.more():
            break
    buffer.take(at)
    header = next(SeparatedRows(layout).read(buffer), None)
    if isinstance(header, Row):
        return layout, header
    return layout, Row(buffer.offset, b"", header and header.reason)
