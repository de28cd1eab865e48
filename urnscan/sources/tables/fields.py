"""Fields of records in text, where they are named: CSV and its kin, JSON, JSON Lines.

Without a named field such files are scanned as the text that they are.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from urnscan.errors import DamageError, SourceError
from urnscan.framing.buffer import HEAD, MARK, Buffer
from urnscan.framing.json_layout import are_lines
from urnscan.framing.json_values import Value, ValueLines, Values
from urnscan.framing.lines import Damaged
from urnscan.framing.rows import Row, Rows, begin, first_rows
from urnscan.sources import documents
from urnscan.sources.buffer import Buffer as Stream
from urnscan.sources.encodings import Transcoder, find_codec
from urnscan.sources.layers import Layer
from urnscan.sources.reader import Reader
from urnscan.sources.tables.json_paths import strings
from urnscan.sources.tables.values import Failures, Gathered, in_place, no_column

__all__ = ["is_csv", "is_json", "read_csv", "read_json"]

_JSON_NAMES = (".json", ".jsonl", ".ndjson", ".geojson")
# An object, or an array of objects, arrays and strings. Not so few texts begin with a bracket.
_JSON = re.compile(rb'(?:\xef\xbb\xbf)?[ \t\r\n]*(?:\{[ \t\r\n]*["}]|\[[ \t\r\n\[]*["{\]])')
_JSON_BEGUN = re.compile(rb"(?:\xef(?:\xbb(?:\xbf)?)?)?[ \t\r\n]*(?:\{[ \t\r\n]*|\[[ \t\r\n\[]*)?")
_CSV_NAMES = (".csv", ".tsv", ".tab")
_LONGEST_HEADER = 1 << 24  # octets
_FIELDS = 100  # names of fields that are kept for an error
_SURROGATES = re.compile("[\ud800-\udfff]")
_ESCAPED = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # those that do not stand for an octet
# Objects as tuples of pairs, as a name may stand twice. Numbers are not looked at, and Python refuses those of many digits.
_DECODER = json.JSONDecoder(object_pairs_hook=tuple, parse_int=float)


def is_json(head: bytes, layer: Layer) -> bool | None:
    """Whether it is to be read as JSON or JSON Lines: by its name, or because it begins like an object or array."""
    if not layer.reading.columns:
        return False
    if layer.file_name.lower().endswith(_JSON_NAMES) or _JSON.match(head):
        return True
    return None if len(head) < HEAD and _JSON_BEGUN.fullmatch(head) else False


def is_csv(head: bytes, layer: Layer) -> bool | None:
    """Whether it is to be read as separated values: by its name, or because its first row holds a named field."""
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
    """Read the strings in the named fields of the records. Raises SourceError where it cannot be read to its end."""
    text = _Text(reader, layer, "record")
    gathered = Gathered(layer)
    columns = layer.reading.columns
    there: dict[str, None] = {}
    found: set[str] = set()
    number = -1
    for number, record in text.records(_json_reader(text.buffer, layer).read):
        if isinstance(record, SourceError):
            yield record
            continue
        if not found and isinstance(record.value, tuple) and len(there) < _FIELDS:
            there |= dict.fromkeys(in_place(name) for name, _ in record.value)
        for column in columns:
            for place, value in strings(record.value, column, found):
                if gathered.add(_octets(value, record.octets), number, place):
                    yield from gathered.take()
    yield from gathered.take()
    yield from text.end()
    if number >= 0 and not found and not text.is_damaged:
        yield no_column(layer, columns, there)


def read_csv(reader: Reader, layer: Layer) -> Iterator[documents.Values | SourceError]:
    """Read the values in the named columns; rows are counted behind the header, blank lines are none.

    Raises SourceError where it cannot be read to its end.
    """
    text = _Text(reader, layer, "row")
    columns = layer.reading.columns
    table, header = begin(text.buffer, columns)
    if header.fault is not None and text.buffer.error is None:
        yield SourceError(layer.name, f"its header is damaged: {header.fault}")
    if len(header.octets) > _LONGEST_HEADER:
        raise SourceError(layer.name, f"its first line has more than {_LONGEST_HEADER:,} octets: not read")
    names = table.names(header)
    chosen = [(at, in_place(name)) for at, name in enumerate(names) if name in columns]
    if not chosen:
        if any(names):
            yield no_column(layer, columns, names)
        yield from text.end()
        return
    gathered = Gathered(layer)
    for number, row in text.records(Rows(table).read):
        if isinstance(row, SourceError):
            yield row
            continue
        values = table.values(row)
        for at, name in chosen:
            if at < len(values) and gathered.add(values[at], number, name):
                yield from gathered.take()
    yield from gathered.take()
    yield from text.end()


_Found = TypeVar("_Found", Value, Row)


class _Text:
    """Text of an input, of which records are read past all damage."""

    def __init__(self, reader: Reader, layer: Layer, what: str) -> None:
        """`what` errors call one of its records."""
        self._name = layer.name
        self._what = what
        self._failures = Failures(layer.name, f"{what}s")
        self.buffer = Buffer(_decoded(reader, layer).read_into)
        self.buffer.take_mark()

    @property
    def is_damaged(self) -> bool:
        """Whether a record could not be read."""
        return self._failures.count > 0

    def records(
        self, read: Callable[[Buffer], Iterator[_Found | Damaged]]
    ) -> Iterator[tuple[int, _Found | SourceError]]:
        """Read the records with their numbers, and what is wrong. A record that a loss of octets cuts counts once."""
        number = 0
        is_resumed = False
        while True:
            for found in read(self.buffer):
                if isinstance(found, Damaged):
                    fault = found.reason
                elif found.fault is None:
                    yield number, found
                    number += 1
                    is_resumed = False
                    continue
                else:
                    fault = f"{found.fault}; only its line is read"
                is_cut = self.buffer.error is not None and not self.buffer.has(1)
                if not is_cut and not is_resumed:
                    yield from ((number, error) for error in self._failed(number, found.offset, fault))
                if not isinstance(found, Damaged) and not (is_cut and isinstance(self.buffer.error, DamageError)):
                    yield number, found
                number += not is_resumed
                is_resumed = False
            if not isinstance(self.buffer.error, DamageError):
                return
            yield number, self.buffer.error
            is_resumed = self.buffer.resume()

    def end(self) -> Iterator[SourceError]:
        """Tell what is still to be told. Raises SourceError if that ended the reading."""
        yield from self._failures.rest()
        if self.buffer.error is not None:
            raise self.buffer.error

    def _failed(self, number: int, offset: int, fault: str) -> Iterator[SourceError]:
        return self._failures.one(f"{self._what} {number} at octet {offset} damaged: {fault}")


def _json_reader(buffer: Buffer, layer: Layer) -> ValueLines | Values:
    """Choose how values are read, by the first octets of a text."""
    in_lines: bool | None = None
    while in_lines is None:
        try:
            in_lines = are_lines(buffer.octets[buffer.at : buffer.at + HEAD], layer.file_name.lower())
        except ValueError:
            break
        if not buffer.more():
            break
    return ValueLines(_DECODER) if in_lines else Values(_DECODER)


def _decoded(reader: Reader, layer: Layer) -> Reader:
    """Make a reader of the text in UTF-8, or of the octets as they are."""
    stream = Stream.of(reader)
    codec, mark = find_codec(stream.head, layer.reading.encoding)
    if mark:
        stream.read_into(memoryview(bytearray(mark)))
    return stream if codec is None else Transcoder(stream, layer.name, codec, mark)


def _octets(value: str, around: bytes) -> bytes:
    """Encode a string as the octets it stands for; half of a surrogate pair, which JSON can escape, is U+FFFD.

    `around` is the record with the string: only if that is not UTF-8, surrogates may stand for octets.
    """
    try:
        return value.encode()
    except UnicodeEncodeError:
        try:
            around.decode()
        except UnicodeDecodeError:
            return _ESCAPED.sub("\ufffd", value).encode("utf-8", "surrogateescape")
        return _SURROGATES.sub("\ufffd", value).encode()
