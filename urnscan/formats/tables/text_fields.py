"""Columns of CSV, TSV, JSON and JSON Lines, if the user names columns (`--column`).

Without `--column` these files are scanned as text.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from urnscan.errors import DamageError, SourceError
from urnscan.formats import contents as documents
from urnscan.formats.buffer import Buffer as Stream
from urnscan.formats.context import Layer
from urnscan.formats.encodings import as_text, find_codec
from urnscan.formats.protocol import Table
from urnscan.formats.tables.json_lines import UsualLines
from urnscan.formats.tables.json_paths import strings
from urnscan.formats.tables.values import Failures, PlacedValues, gather, in_place, no_column
from urnscan.framing.buffer import HEAD, MARK, Buffer
from urnscan.framing.json_layout import LINE_NAMES, are_lines
from urnscan.framing.json_values import JsonValues, Value, ValueLines
from urnscan.framing.lines import Damaged
from urnscan.framing.rows import Row, SeparatedRows, begin, first_rows
from urnscan.stores.reader import Reader

_JSON_NAMES = (".json", ".jsonl", ".ndjson", ".geojson")
# An object, or an array of objects, arrays and strings. A bracket alone is not enough: many texts begin with a bracket.
_JSON = re.compile(rb'(?:\xef\xbb\xbf)?[ \t\r\n]*(?:\{[ \t\r\n]*["}]|\[[ \t\r\n\[]*["{\]])')
_JSON_BEGUN = re.compile(rb"(?:\xef(?:\xbb(?:\xbf)?)?)?[ \t\r\n]*(?:\{[ \t\r\n]*|\[[ \t\r\n\[]*)?")
_CSV_NAMES = (".csv", ".tsv", ".tab")
_LONGEST_HEADER = 1 << 24  # bytes
_FIELDS = 100  # maximum names of fields in a message
_SURROGATES = re.compile("[\ud800-\udfff]")
_IS_PLAIN = re.compile(r"[ !#-\-/-\[\]-~]+").fullmatch  # no quotation mark, no full stop, no backslash
_ESCAPED = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # surrogates that do not represent a byte
# Objects as tuples of pairs, as a name may occur twice. Integers as float, because Python refuses int of many digits.
_DECODER = json.JSONDecoder(object_pairs_hook=tuple, parse_int=float)


def is_json(head: bytes, layer: Layer) -> bool | None:
    """Whether a file is read as JSON or JSON Lines: it has a suffix such as `.json`, or begins like an object, or an
    array of objects or strings.

    False without `--column`, as the file is then scanned as text. None if more bytes than `head` are needed.
    """
    if not layer.reading.columns:
        return False
    if layer.file_name.lower().endswith(_JSON_NAMES) or _JSON.match(head):
        return True
    return None if len(head) < HEAD and _JSON_BEGUN.fullmatch(head) else False


def is_csv(head: bytes, layer: Layer) -> bool | None:
    """Whether a file is read as CSV or TSV: it has a suffix such as `.csv`, or a column of `--column` in its first row.

    False without `--column`, as the file is then scanned as text. None if more bytes than `head` are needed. Raises
    FatalError for an unknown encoding.
    """
    columns = layer.reading.columns
    if not columns:
        return False
    if layer.file_name.lower().endswith(_CSV_NAMES):
        return True
    codec, mark = find_codec(lambda _: head, layer.reading.encoding)
    text = head[mark:HEAD].removeprefix(MARK) if codec is None else head[mark:HEAD].decode(codec, "replace").encode()
    table, at = first_rows(text, columns)
    end = table.end(text, at, ended=False)
    if end > 0:
        return any(name in columns for name in table.names(Row(at, text[at:end])))
    return None if len(head) < HEAD else False


def read_json(reader: Reader, layer: Layer) -> Iterator[documents.Values | SourceError]:
    """Yield the strings at the names or dotted paths of `--column` in the records of JSON or JSON Lines as `Values`;
    empty strings are left out.

    Their places are `record/path`, with records from 0. Also yields errors about damaged records or, if no record is
    damaged, an error if no record has any of the columns. Raises SourceError if the rest of the text cannot be read,
    and LimitError.
    """
    text = _Text(reader, layer, "record")
    columns = layer.reading.columns
    there: dict[str, None] = {}
    present: set[str] = set()

    def named(record: Value, number: int) -> PlacedValues:
        if not present and isinstance(record.value, tuple) and len(there) < _FIELDS:
            there.update(dict.fromkeys(in_place(name) for name, _ in record.value))
        filled = [pair for column in columns for pair in strings(record.value, column, present) if pair[1]]
        return [_bytes(value, record.data) for _, value in filled], lambda index: f"{number}/{filled[index][0]}"

    records = _json_reader(text.buffer, layer)
    usual = UsualLines(columns) if isinstance(records, ValueLines) and all(map(_IS_PLAIN, columns)) else None

    def usually(number: int) -> tuple[int, PlacedValues | None]:
        # Until a named column occurs, records are read singly: the error about missing columns lists the names in them.
        return usual.read(text.buffer, number) if usual is not None and present else (0, None)

    yield from text.values(records.read, named, usually)
    if text.count and not present and not text.failures.count:
        yield no_column(layer, columns, there)


def read_csv(reader: Reader, layer: Layer) -> Iterator[documents.Values | SourceError]:
    """Yield the values in the columns of `--column` of CSV or TSV as `Values`, in UTF-8, without quotation marks around
    them; empty values are left out.

    Their places are `row/column`; row 0 is the row after the header, and blank lines are not counted. Also yields
    errors about damaged rows, and one if none of the columns exists. Raises SourceError if the first line has more than
    16 MiB or the rest of the text cannot be read, and LimitError.
    """
    text = _Text(reader, layer, "row")
    columns = layer.reading.columns
    layout, header = begin(text.buffer, columns)
    if header.fault is not None and text.buffer.error is None:
        yield SourceError(layer.name, f"damaged header: {header.fault}")
    if len(header.data) > _LONGEST_HEADER:
        raise SourceError(layer.name, f"its first line has more than {_LONGEST_HEADER:,} bytes, so it is not read")
    names = layout.names(header)
    chosen = [(at, in_place(name)) for at, name in enumerate(names) if name in columns]

    def named(row: Row, number: int) -> PlacedValues:
        values = layout.values(row)
        filled = [(values[at], name) for at, name in chosen if at < len(values) and values[at]]
        return [value for value, _ in filled], lambda index: f"{number}/{filled[index][1]}"

    if any(names) and not chosen:
        yield no_column(layer, columns, names)
    yield from text.values(SeparatedRows(layout).read, named) if chosen else text.end()


_Record = TypeVar("_Record", Value, Row)


class _Text:
    """A text with records (JSON, CSV or TSV), converted to UTF-8, which is read on after damage."""

    def __init__(self, reader: Reader, layer: Layer, what: str) -> None:
        """`what`: word for a record in messages: "record" or "row"."""
        self.buffer = Buffer(as_text(Stream.of(reader), layer).reader.read_into)
        self.buffer.take_mark()
        self.failures = Failures(layer.name, f"{what}s")
        self.count = 0
        """Number of records so far. A record that is interrupted by lost bytes counts once."""
        self._layer = layer
        self._what = what

    def values(
        self,
        read: Callable[[Buffer], Iterator[_Record | Damaged]],
        named: Callable[[_Record, int], PlacedValues],
        several: Callable[[int], tuple[int, PlacedValues | None]] | None = None,
    ) -> Iterator[documents.Values | SourceError]:
        """Yield the values of all records as `Values`, and errors; after damage, reading goes on. `read` yields the
        records in the buffer; `named` returns the values of a record and their places, given its number from 0.

        `several`, given the number of the next record, may take further records from the buffer: it returns how many,
        and their values, and is called after each whole record until it returns (0, None).
        """
        yield from gather(self._placed_values(read, named, several), self._layer)
        yield from self.end()

    def end(self) -> Iterator[SourceError]:
        # Called after the last record.
        yield from self.failures.rest()
        if self.buffer.error is not None:
            raise self.buffer.error

    def _placed_values(
        self,
        read: Callable[[Buffer], Iterator[_Record | Damaged]],
        named: Callable[[_Record, int], PlacedValues],
        several: Callable[[int], tuple[int, PlacedValues | None]] | None,
    ) -> Iterator[PlacedValues | SourceError]:
        is_resumed = False
        while True:
            for record in read(self.buffer):
                if isinstance(record, Damaged):
                    fault = record.reason
                elif record.fault is None:
                    yield named(record, self.count)
                    self.count += 1
                    is_resumed = False
                    while several is not None:
                        count, values = several(self.count)
                        if values is None:
                            break
                        yield values
                        self.count += count
                    continue
                else:
                    fault = f"{record.fault}; only its line is read"
                is_cut = self.buffer.error is not None and not self.buffer.has(1)
                if not is_cut and not is_resumed:
                    where = f"{self._what} {self.count} at byte {record.offset}"
                    yield from self.failures.one(f"{where} damaged: {fault}")
                if not isinstance(record, Damaged) and not (is_cut and isinstance(self.buffer.error, DamageError)):
                    yield named(record, self.count)
                self.count += not is_resumed
                is_resumed = False
            if not isinstance(self.buffer.error, DamageError):
                return
            yield self.buffer.error
            is_resumed = self.buffer.resume()


def _json_reader(buffer: Buffer, layer: Layer) -> ValueLines | JsonValues:
    name = layer.file_name.lower()
    while True:
        head = buffer.data[buffer.at : buffer.at + HEAD]
        try:
            in_lines = are_lines(head, name)
        except ValueError:
            # The beginning of the text is damaged.
            in_lines = name.endswith(LINE_NAMES)
        # Only the end of the first line shows that the line is a single value.
        is_known = in_lines is not None and (not in_lines or b"\n" in head or len(head) == HEAD)
        if is_known or not buffer.more():
            break
    return ValueLines(_DECODER) if in_lines else JsonValues(_DECODER)


def _bytes(value: str, around: bytes) -> bytes:
    """UTF-8 of a string from a decoded record, whose bytes are `around`. If these are not UTF-8, surrogate escapes
    become bytes again; other surrogates become U+FFFD.
    """
    try:
        return value.encode()
    except UnicodeEncodeError:
        is_utf8 = around.decode("utf-8", "ignore").encode() == around
        return (_SURROGATES if is_utf8 else _ESCAPED).sub("\ufffd", value).encode("utf-8", "surrogateescape")


FORMS = (Table(name="JSON", open=read_json, recognise=is_json), Table(name="CSV", open=read_csv, recognise=is_csv))
