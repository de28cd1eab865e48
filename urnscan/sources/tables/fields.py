"""Fields of records in text, where they are named: CSV and its kin, JSON, JSON Lines.

Without a named field such files are scanned as the text that they are.
"""

import csv
import io
import itertools
import re
from collections.abc import Iterator

from urnscan.errors import DamageError, SourceError
from urnscan.sources.buffer import Buffer
from urnscan.sources.documents import Values
from urnscan.sources.encodings import Transcoder, find_codec
from urnscan.sources.layers import Layer
from urnscan.sources.reader import Reader
from urnscan.sources.tables.records import read_records
from urnscan.sources.tables.text import Text
from urnscan.sources.tables.values import LONGEST, Failures, Gathered, in_place, in_words, no_column

__all__ = ["is_csv", "is_json", "read_csv", "read_json"]

_JSON_NAMES = (".json", ".jsonl", ".ndjson", ".geojson")
# An object, or an array of objects, arrays and strings. Not so few texts begin with a bracket.
_JSON = re.compile(rb'(?:\xef\xbb\xbf)?[ \t\r\n]*(?:\{[ \t\r\n]*["}]|\[[ \t\r\n\[]*["{\]])')
_JSON_BEGUN = re.compile(rb"(?:\xef(?:\xbb(?:\xbf)?)?)?[ \t\r\n]*(?:\{[ \t\r\n]*|\[[ \t\r\n\[]*)?")
_CSV_NAMES = (".csv", ".tsv", ".tab")
_DELIMITERS = ",;\t|"
_HEADER = 1 << 16  # octets of a first row by which a table is recognised
_BLANK = 1 << 16  # octets of white space before the beginning of JSON
_LONGEST_HEADER = 1 << 24  # characters
_BLANK_LINES = re.compile("\ufeff?(?:[ \\t]*+[\\r\\n])*+")
_SEP = re.compile(r'"?sep=([,;\t|])"?(?:\r\n?|\n)')  # for Excel
_LINE_END = re.compile("[\\r\\n]")
_WHOLE_LINES = re.compile(r".*(?:\n|\r(?!\Z))", re.DOTALL)


def is_json(head: bytes, layer: Layer) -> bool | None:
    """Whether it is to be read as JSON or JSON Lines: by its name, or because it begins like an object or array."""
    if not layer.reading.columns:
        return False
    if layer.file_name.lower().endswith(_JSON_NAMES) or _JSON.match(head):
        return True
    return None if len(head) < _BLANK and _JSON_BEGUN.fullmatch(head) else False


def is_csv(head: bytes, layer: Layer) -> bool | None:
    """Whether it is to be read as separated values: by its name, or because its first row holds a named field."""
    if not layer.reading.columns:
        return False
    if layer.file_name.lower().endswith(_CSV_NAMES):
        return True
    codec, mark = find_codec(lambda _: head, layer.reading.encoding)
    lines = _WHOLE_LINES.match(head[mark:_HEADER].decode(codec or "utf-8-sig", "replace"))
    text = lines[0] if lines else ""
    at, said = _before(text, None)
    _, _, found, is_open = _split(text[at:], said, layer)
    if found or not is_open:
        return found > 0
    return None if len(head) < _HEADER else False


def read_json(reader: Reader, layer: Layer) -> Iterator[Values | SourceError]:
    """The strings in the named fields of the records. Raises SourceError where it cannot be read to its end."""
    return read_records(_decoded(reader, layer), layer)


def read_csv(reader: Reader, layer: Layer) -> Iterator[Values | SourceError]:
    """The values in the named columns; rows are counted behind the header, blank lines are none.

    Raises SourceError where it cannot be read to its end.
    """
    # It is one for all of Python, and fields that are longer than it allows are an error.
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST))
    text = Text(_decoded(reader, layer))
    lines = _Lines(text)
    delimiter, fields, found = lines.header(layer)
    if not found:
        if any(fields):
            yield no_column(layer, layer.reading.columns, fields)
        text.raise_error()
        return
    rows = csv.reader(lines.follow(), delimiter=delimiter)
    gathered = Gathered(layer)
    failures = Failures(layer.name, "rows")
    chosen: list[tuple[int, str]] = []
    number = -1  # that of the header
    while True:
        lines.begin_row()
        try:
            row = next(rows)
        except StopIteration:
            break
        except DamageError as error:
            yield from gathered.take()
            yield error
            text.skip_line()
            rows = csv.reader(lines.follow(), delimiter=delimiter)
        except (csv.Error, OverflowError, MemoryError) as error:
            yield from failures.one(f"row {number} before octet {text.octet(text.at)} damaged: {in_words(error)}")
            text.skip_line()
            rows = csv.reader(lines.follow(), delimiter=delimiter)
        else:
            if lines.ended:  # it asked for more
                where = f"row {number}" if number >= 0 else "its header"
                reason = f"{where} has a quotation mark that is never closed: all behind it was read as one value"
                yield from failures.one(reason)
            if number >= 0:
                for at, name in chosen:
                    if at < len(row) and gathered.add(row[at].encode("utf-8", "surrogateescape"), number, name):
                        yield from gathered.take()
            elif row:
                names = enumerate(map(str.strip, row))
                chosen = [(at, in_place(name)) for at, name in names if name in layer.reading.columns]
            if not row:
                continue
        number += 1
    yield from gathered.take()
    yield from failures.rest()
    text.raise_error()


def _decoded(reader: Reader, layer: Layer) -> Reader:
    """What a reader gives, in UTF-8 or the octets as they are."""
    buffer = Buffer.of(reader)
    codec, mark = find_codec(buffer.head, layer.reading.encoding)
    if mark:
        buffer.read_into(memoryview(bytearray(mark)))
    return buffer if codec is None else Transcoder(buffer, layer.name, codec, mark)


def _before(lines: str, said: str | None) -> tuple[int, str | None]:
    """Where in the first lines of a table the header begins, and the delimiter that a line before it says.

    `said`: the same of lines before these.
    """
    blank = _BLANK_LINES.match(lines)
    at = blank.end() if blank else 0
    sep = None if said else _SEP.match(lines, at)
    if not sep:
        return at, said
    blank = _BLANK_LINES.match(lines, sep.end())
    return blank.end() if blank else sep.end(), sep[1]


def _split(lines: str, said: str | None, layer: Layer) -> tuple[str, list[str], int, bool]:
    """The delimiter of a header, the fields in it, how many of them are named, and whether it may go on behind the lines."""
    best: tuple[str, list[str], int] = (",", [], 0)
    is_open = not lines
    for delimiter in said or _DELIMITERS:
        behind = iter([""])  # it is taken where a quotation mark is not closed before
        rows = csv.reader(itertools.chain(io.StringIO(lines, newline=""), behind), delimiter=delimiter)
        try:
            fields = [field.strip() for field in next(rows, [])]
        except csv.Error:
            continue
        is_open |= next(behind, None) is None
        found = sum(field in layer.reading.columns for field in fields)
        if (found, len(fields)) > (best[2], len(best[1])):
            best = delimiter, fields, found
    return *best, is_open


class _Lines:
    """The lines of a text, for csv to read; none of them, and no row of several lines, is too long."""

    def __init__(self, text: Text) -> None:
        self.ended = False
        """Whether one more line was asked for than there are."""
        self._text = text
        self._row = 0  # characters read for the row, and more

    def header(self, layer: Layer) -> tuple[str, list[str], int]:
        """What `_split` says of the header, still to be read; what stands before it is passed over.

        Raises SourceError where it is too long.
        """
        text = self._text
        said: str | None = None
        while True:
            held = self._whole()
            at, said = _before(held, said)
            text.at += at
            end = at + _LONGEST_HEADER
            if len(held) > end and not _LINE_END.search(held, at, end + 1):
                raise SourceError(layer.name, f"its first line has more than {_LONGEST_HEADER:,} characters: not read")
            delimiter, fields, found, is_open = _split(held[at:end], said, layer)
            if found or not is_open or len(held) - at >= _HEADER or not text.more():
                return delimiter, fields, found

    def begin_row(self) -> None:
        """A row begins: with a line that is there, or with the next that is read."""
        self._row = 0

    def follow(self) -> Iterator[str]:
        """The lines from here on. Raises DamageError behind the last whole one before it, OverflowError for a long row."""
        while lines := self._whole():
            self._text.at += len(lines)
            self._row += len(lines)
            if self._row > LONGEST:
                raise OverflowError(f"it has more than {LONGEST:,} characters: is a quotation mark missing?")
            yield from io.StringIO(lines, newline="")
        if self._text.damage is not None:
            raise self._text.end_damage()
        self.ended = self._text.error is None

    def _whole(self) -> str:
        """Whole lines, as many as are there; "" at the end and before a damage. A line that is too long is cut."""
        text = self._text
        while True:
            end = text.text.rfind("\n", text.at) + 1
            # At the end a carriage return may be half of a line end.
            end = end or text.text.rfind("\r", text.at, len(text.text) - 1) + 1
            if not end and len(text.text) - text.at <= LONGEST and text.more():
                continue
            if not end and text.damage is not None:
                return ""
            return text.text[text.at : end or len(text.text)]
