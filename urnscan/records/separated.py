"""Records that are rows of a table in text: CSV, TSV, or with ; or | between values. The first row names the columns.

Exports leave out empty cells at the end of a row, or write more of them than there are columns; some write quotation
marks in a value that are not doubled. A row is damaged if it has more cells with text than columns, or if it has
another number of cells and text after a closing quotation mark. Cells are counted only if
the header has a known name.

A row with a quotation mark that is never closed is damaged, too: the first line of the row is left out, and the next
line is read as a row.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from urnscan.framing.buffer import HEAD, MARK, Buffer
from urnscan.framing.lines import Damaged
from urnscan.framing.rows import CsvLayout, Row, SeparatedRows, begin, first_rows
from urnscan.records.description import pack
from urnscan.records.format import Format
from urnscan.records.named_values import RANKS, are_known, own_identifiers, statements
from urnscan.records.record import Cut, Record, RecordReader

_NAMES = (".csv", ".tsv", ".tab")
# Rows after the header that must fit for a table to be recognised, and least number of columns.
_ROWS, _FEWEST = 3, 2
# The identifier of an authority in DSpace, and its confidence.
_AUTHORITY = re.compile(r"::[^:|]*+::-?[0-9]++\Z")
# A list in JSON or Python.
_QUOTED = r""""((?>(?:[^"\\]|\\.)*))"|'((?>(?:[^'\\]|\\.)*))'"""
_LIST = re.compile(rf"\[\s*+(?:{_QUOTED})(?>(?:\s*+,\s*+(?:{_QUOTED}))*)\s*+\]")
_IN_LIST = re.compile(_QUOTED)
# Characters of the name of a column.
_LONGEST_NAME = 100
# Beginnings of other formats, and of comments.
_OTHER = re.compile(rb"\s*[<{\[@%#]")
# Fields of MARC in lines, and of references in lines.
_TAGGED = re.compile(rb"(?:=?LDR|00[0-9])[\t ]|\s*+[A-Z][A-Z0-9]{1,3}[ \t]{0,2}-[ \t\r\n]")


def is_separated(head: bytes, name: str) -> bool | None:
    """Whether a dump whose first bytes are `head` is a table in text: by the suffix of the file name (in lower case:
    .csv, .tsv, .tab), or because the first rows have as many values as the header has names. A dump that begins like
    another format is not a table. None: more bytes are needed.
    """
    unknown = None if len(head) < HEAD else False
    head = head.removeprefix(MARK)
    other = _OTHER.match(head) or _TAGGED.match(head)
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
            has_names = all(map(_is_name, columns[1:])) and (not columns[0] or _is_name(columns[0]))
            if len(columns) < _FEWEST or len(set(columns)) < len(columns) or not has_names:
                return False
        elif len(values) != len(columns):
            return False
        at = end
    return True


class SeparatedRecords(RecordReader):
    """Reader of tables in text (CSV, TSV). A record is a row after the header. Its ID is in the first of the columns
    `@id`, `id`, `_id`, `identifier` and so on (`RANKS`) that the table has.
    """

    table = "separated"
    """Name of the table with the fields of identifiers."""
    described_by = "named"
    """Name of the table with the fields that describe a work; JSON and tables in text share it."""
    _rows: SeparatedRows | None = None
    # Layout of the table, names of the columns, and index of the column that contains the IDs of records.
    _table: tuple[CsvLayout, list[str], int | None]
    # A line above the table, such as `Report, 2026`, may have been read as its header: it has no known name.
    _are_counted = False

    def cuts(self, buffer: Buffer) -> Iterator[Cut | Damaged]:
        """Yield each row that is not blank as a `Cut`, in order, with its line end, and a `Damaged` for a row, or a
        header, that is cut off, too long or has a quotation mark that is never closed. The header, and a line `sep=;`
        before the header, are not records. A wrong number of cells shows only in `record`.
        """
        # `Cut.around` has the row, the layout of the table, the names of the columns, and the index of the column that
        # contains the IDs of records, or None.
        if self._rows is None:
            layout, header = begin(buffer)
            self._rows, names = SeparatedRows(layout), layout.names(header)
            ranks = [(RANKS[name.lower()], column) for column, name in enumerate(names) if name.lower() in RANKS]
            self._table = layout, names, min(ranks)[1] if ranks else None
            self._are_counted = len(names) >= _FEWEST and (bool(ranks) or are_known(names, self.table))
            if header.fault:
                yield Damaged(header.offset, f"the header, which names the columns: {header.fault}")
        for row in self._rows.read(buffer):
            if isinstance(row, Damaged):
                yield row
            elif row.fault:
                yield Damaged(row.offset, row.fault)
            else:
                yield Cut(row.offset, row.data, (row, *self._table))

    def record(self, cut: Cut) -> Record | Damaged:
        """Read the values of a row. Returns a `Record` with its ID and, by the options of the reader, texts to scan for
        URNs (with `own`, record-level identifiers instead), identifiers that give keys (`keys`) and a description
        (`described`). Returns a `Damaged` for a row whose cells do not fit the columns.
        """
        row, layout, names, named_by = cut.around
        text, values = layout.split_values(row)
        if self._are_counted and len(values) != len(names) and (fault := _fault(row, layout, values, len(names))):
            return Damaged(row.offset, fault)
        identifier = None
        if named_by is not None and named_by < len(values):
            identifier = _text(layout, values[named_by]).strip() or None
        texts = (text,) if self.has_texts else ()
        if not (self.fields or self.described):
            return Record(row.offset, row.data, identifier, texts)
        pairs = [*zip(names, (values_in(_text(layout, value)) for value in values), strict=False)]
        own = tuple(own_identifiers(pairs, self.fields)) if self.fields else ()
        description = pack(self.described_by, statements(pairs, self.described))
        return Record(row.offset, row.data, identifier, texts, own, description)


def _knows_fields(head: bytes) -> bool:
    layout, header = begin(Buffer(io.BytesIO(head).readinto))
    return are_known(layout.names(header), SeparatedRecords.table)


def _fault(row: Row, layout: CsvLayout, values: list[bytes], columns: int) -> str | None:
    """Why a row with a wrong number of cells is damaged; None if it is not."""
    has_more = any(layout.value(value).strip() for value in values[columns:])
    if not has_more and layout.is_closed(row):
        return None
    text = "" if has_more else ", and text follows a closing quotation mark"
    return f"it has {len(values)} cells, but the header has {columns}{text}"


def _text(layout: CsvLayout, value: bytes) -> str:
    """The text of a value; `="0123"` keeps Excel from reading a number, and has the text `0123`."""
    text = layout.value(value).decode("utf-8", "replace")
    return text[2:-1] if text.startswith('="') and text.endswith('"', 2) else text


def values_in(text: str) -> str | list[str]:
    """Return the text of a cell of a table; a list of texts if the cell has `||` between values (DSpace), or is in
    square brackets: of the quoted texts in them, with their escapes, or, if not all items are quoted, of the only text.
    Outside of brackets, an authority of DSpace after a value (`::x::600`) is left out.

    >>> values_in("Inks||Tinten"), values_in("['9780306406157', '0306406152']"), values_in("[0306406152]")
    (['Inks', 'Tinten'], ['9780306406157', '0306406152'], ['0306406152'])
    """
    if "||" in text:
        return [_AUTHORITY.sub("", part).strip() for part in text.split("||")]
    if text.startswith("[") and text.endswith("]"):
        if _LIST.fullmatch(text):
            return [first or second for first, second in _IN_LIST.findall(text)]
        return [text[1:-1]]
    return _AUTHORITY.sub("", text) if "::" in text else text


def _is_name(text: str) -> bool:
    # Prose in columns has many spaces between words.
    return 0 < len(text) <= _LONGEST_NAME and text.isprintable() and text[-1] not in ".,;:!?" and "   " not in text


FORMATS = (
    Format(
        name="csv",
        title="CSV or TSV",
        reader=SeparatedRecords,
        recognise=is_separated,
        suffixes=(".csv", ".tsv"),
        framed=True,
        knows_fields=_knows_fields,
    ),
)
