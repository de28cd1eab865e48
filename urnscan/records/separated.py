"""Records that are rows of a table in text: CSV (RFC 4180), TSV, and with ; or | between values.

The first row names the columns. A row ends with the LF that is in no quotation marks; with the CR, where the head has CR and
no LF (Excel for Mac). It may have fewer or more values than
there are columns; what is damaged is only a row with a quotation mark that is not closed, and of that only its first line.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from urnscan.records.buffer import HEAD, LONGEST, MARK, Buffer
from urnscan.records.fields import own_fields
from urnscan.records.lines import lines
from urnscan.records.named_values import RANKS, own_identifiers
from urnscan.records.record import Damaged, Record

__all__ = ["SeparatedRecords", "is_separated"]

_NAMES = (".csv", ".tsv", ".tab")
_DELIMITERS = ",;\t|"
_IN_NO_URN = "\t|"
_ROWS = 3  # by which a table is known, behind its header
_FEWEST = 2  # columns of a table that is known by its rows
_LONGEST_NAME = 100  # characters

_OTHER = re.compile(rb"\s*[<{\[@%#]")  # how other formats begin, and comments
_LEADING = re.compile(rb"[\r\n]*+")
_SEP = re.compile(rb"\"?sep=([,;\t|])\"?(?:\r\n?|\n)")  # for Excel
_QUOTES = re.compile(rb'"++')


def is_separated(head: bytes, name: str) -> bool | None:
    """Whether it is a table: by its name, or because its first rows have as many values as the first has names."""
    unknown = None if len(head) < HEAD else False
    head = head.removeprefix(MARK)
    other = _OTHER.match(head)
    if name.endswith(_NAMES):
        return not other if head.strip() else unknown
    if other:
        return False
    rows, at = _begin(head)
    columns: list[str] = []
    for _ in range(1 + _ROWS):
        end = rows.end(head, at, ended=False)
        if end <= 0:
            return unknown
        values = rows.values(head[at:end])
        if not columns:
            columns = [value.strip() for value in values]
            # A table of pandas has an index without a name.
            named = all(map(_is_name, columns[1:])) and (not columns[0] or _is_name(columns[0]))
            if len(columns) < _FEWEST or len(set(columns)) < len(columns) or not named:
                return False
        elif len(values) != len(columns):
            return False
        at = end
    return True


class SeparatedRecords:
    """Rows behind the header; lines that are empty are none."""

    def __init__(self, *, own: bool) -> None:
        """`own`: only identifiers of the record itself are asked for."""
        # It is one for all of Python, and values that are longer than it allows are an error.
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST))
        self._own = own_fields("separated") if own else None
        self._rows = _Rows(",", b"\n")
        self._names: list[str] | None = None
        self._called: int | None = None  # the column by which a record is called

    def read(self, buffer: Buffer) -> Iterator[Record | Damaged]:
        """The rows, each with its LF. The header belongs to none, nor does a line `sep=;` before it."""
        if self._names is None:
            self._read_header(buffer)
        elif buffer.has(1):
            line = self._line(buffer)
            yield line if isinstance(line, Damaged) else Damaged(line[0], "its beginning is missing")
        while buffer.has(1):
            offset = buffer.offset
            length = self._length(buffer)
            if length:
                octets = buffer.take(length)
                if octets.strip(b" \r\n"):
                    yield self._record(offset, octets)
            else:
                line = self._line(buffer)
                yield line if isinstance(line, Damaged) else Damaged(offset, "a quotation mark in it is never closed")

    def _read_header(self, buffer: Buffer) -> None:
        buffer.has(HEAD)
        self._rows, at = _begin(buffer.octets[buffer.at : buffer.at + HEAD])
        buffer.take(at)
        if buffer.has(1):
            length = self._length(buffer)
            line = (0, buffer.take(length)) if length else self._line(buffer)
            self._names = [] if isinstance(line, Damaged) else [name.strip() for name in self._rows.values(line[1])]
            ranks = [(RANKS[name.lower()], at) for at, name in enumerate(self._names) if name.lower() in RANKS]
            self._called = min(ranks)[1] if ranks else None

    def _line(self, buffer: Buffer) -> tuple[int, bytes] | Damaged:
        return next(lines(buffer, self._rows.line_end))

    def _length(self, buffer: Buffer) -> int:
        """Of the next row; 0 where it is too long or not closed."""
        ended = False
        while True:
            end = self._rows.end(buffer.octets, buffer.at, ended=ended)
            if end:
                return end - buffer.at if 0 < end <= buffer.at + LONGEST else 0
            if len(buffer.octets) - buffer.at > LONGEST:
                return 0
            ended = not buffer.more()

    def _record(self, offset: int, octets: bytes) -> Record:
        rows = self._rows
        if self._own is None and rows.apart and b'"' not in octets:
            text, values = octets, octets.split(rows.delimiter)
        else:
            text, values = rows.parted(octets)
        called: str | None = None
        if self._called is not None and self._called < len(values):
            called = rows.value(values[self._called]).strip() or None
        if self._own is None:
            return Record(offset, octets, called, (text,))
        named = zip(self._names or (), map(rows.value, values), strict=False)
        return Record(offset, octets, called, own=tuple(own_identifiers(named, self._own)))


class _Rows:
    """Where rows end, and what they hold. Quotation marks are such as they are to `csv`: where a value begins."""

    def __init__(self, delimiter: str, line_end: bytes) -> None:
        self.delimiter = delimiter.encode()
        self.line_end = line_end
        self.apart = delimiter in _IN_NO_URN
        """Whether no URN runs over it."""
        self._text = delimiter
        self._next = re.compile(re.escape(self.delimiter) + b'"|' + line_end)  # a value in quotation marks, or the end
        self._behind = (b"", b"\r", b"\n", self.delimiter)

    def end(self, octets: bytes, at: int, *, ended: bool) -> int:
        """Behind the row that begins there; 0 where more octets are needed, -1 where a quotation mark is not closed.

        One that is closed in another line must be so before a delimiter or the end of the row (RFC 4180, section 2), or
        it is that of another value, and the first was not closed.
        """
        behind = octets.find(self.line_end, at) + 1
        if not behind:
            if not ended:
                return 0
            behind = len(octets)
        if octets.find(b'"', at, behind) < 0 or self._quoted(octets[at:behind]):
            return behind
        while True:
            if octets.startswith(b'"', at):
                at = next((run.end() for run in _QUOTES.finditer(octets, at + 1) if (run.end() - run.start()) % 2), -1)
                if not ended and (at < 0 or at == len(octets)):
                    return 0
                if at < 0 or (at > behind and octets[at : at + 1] not in self._behind):
                    return -1
            found = self._next.search(octets, at)
            if not found:
                return len(octets) if ended else 0
            at = found.end() - 1
            if octets.startswith(self.line_end, at):
                return at + 1

    def parted(self, octets: bytes) -> tuple[bytes, list[bytes]]:
        """A row with NUL between its values, and these, as `value` takes them."""
        if b'"' not in octets:
            return octets.replace(self.delimiter, b"\0"), octets.rstrip(b"\r\n").split(self.delimiter)
        parts = self._quoted(octets) if b"\0" not in octets else []
        if parts:
            parts[::2] = [part.replace(self.delimiter, b"\0") for part in parts[::2]]
            text = b'"'.join(parts)
            return text, text.rstrip(b"\r\n").split(b"\0")
        # To `csv` a carriage return ends a row.
        line = octets.decode("utf-8", "surrogateescape").rstrip("\r\n").replace("\r", " ")
        values = [
            value.encode("utf-8", "surrogateescape") for value in next(csv.reader([line], delimiter=self._text), [])
        ]
        quoted = [b'"%b"' % value.replace(b'"', b'""') if value.startswith(b'"') else value for value in values]
        return b"\0".join(values), quoted

    def value(self, octets: bytes) -> str:
        """What stands in a value. `="0123"` is how Excel is told that digits are no number."""
        text = octets.decode("utf-8", "replace").rstrip("\r\n")
        if text.startswith('"'):
            text = text[1:-1].replace('""', '"')
        return text[2:-1] if text.startswith('="') and text.endswith('"', 2) else text

    def values(self, octets: bytes) -> list[str]:
        """What stands in the values of a row."""
        return [self.value(value) for value in self.parted(octets)[1]]

    def _quoted(self, octets: bytes) -> list[bytes]:
        """The parts of a row between the quotation marks that it has, every other in them; none if one stands elsewhere than
        at either end of a value, or is not closed.
        """
        parts = octets.split(b'"')
        first, last = parts[0], parts[-1].rstrip(b"\r\n")
        if (
            len(parts) % 2 == 0
            or (first and not first.endswith(self.delimiter))
            or (last and last[:1] != self.delimiter)
        ):
            return []
        for part in parts[2:-1:2]:
            if part and not (part[:1] == self.delimiter == part[-1:]):
                return []
        return parts


def _begin(head: bytes) -> tuple[_Rows, int]:
    """How the rows of a table are read that begins so, by the delimiter that makes most of its first line; where that is."""
    leading = _LEADING.match(head)
    at = leading.end() if leading else 0
    line_end = b"\n" if b"\n" in head or b"\r" not in head[:-1] else b"\r"
    said = _SEP.match(head, at)
    if said:
        return _Rows(said[1].decode(), line_end), said.end()
    line = head[at:].partition(line_end)[0]
    return max((_Rows(delimiter, line_end) for delimiter in _DELIMITERS), key=lambda rows: len(rows.values(line))), at


def _is_name(text: str) -> bool:
    """Whether a column could be called so."""
    return 0 < len(text) <= _LONGEST_NAME and text.isprintable() and text[-1] not in ".,;:!?"
