"""Rows of tables as lines of text, with colours or without, and as lines of JSON."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import octet_strings, text_array
from urnscan.display.text import CONTROL, in_line, printable
from urnscan.formats.context import INSIDE

_OF_URNS = ("text", "urn", "nid", "nss")
"""Columns of URNs and their parts, which contain nothing that JSON escapes; the `text` of a reject is no URN."""
_WIDTH = 7  # of a count before a name, as of `uniq -c`


@dataclass(frozen=True, slots=True)
class Colours:
    """Sequences for a terminal that begin a colour, and `off`, which ends it."""

    source: str = ""
    separator: str = ""
    line: str = ""
    match: str = ""
    off: str = ""

    def colon(self) -> str:
        """The colon between two fields, behind a coloured one."""
        return f"{self.off}{self.separator}:{self.off}"


PLAIN = Colours()
COLOURED = Colours("\x1b[35m", "\x1b[36m", "\x1b[32m", "\x1b[1;31m", "\x1b[m")
"""The colours of grep: magenta, cyan, green, bold red."""


def occurrence_lines(rows: pa.RecordBatch, colours: Colours, name: str = "text") -> memoryview:
    """Octets of the lines `source:line:text` of OCCURRENCES rows, with the column `name` as the text.

    If the rows have the columns `before` and `after`, these stand around the text.
    """
    # Names of files and members, which may be hostile, must neither end the line nor change the terminal.
    source = _each(rows.column("source"), printable)
    member = _each(rows.column("member"), lambda text: INSIDE + printable(text)).fill_null(text_array([""])[0])
    line = rows.column("line").cast(pa.string())
    before, after = (
        _each(rows.column(side), in_line).fill_null(text_array([""])[0]) if side in rows.schema.names else ""
        for side in ("before", "after")
    )
    head = (colours.source, source, member, colours.colon() + colours.line, line, colours.colon())
    return _joined(*head, before, colours.match, rows.column(name), colours.off, after, "\n")


def frequency_lines(rows: pa.RecordBatch, colours: Colours) -> memoryview:
    """Octets of lines with count and name, as of `uniq -c`, of FREQUENCIES rows."""
    count = pc.utf8_lpad(rows.column("occurrence_count").cast(pa.string()), _WIDTH, " ")
    return _joined(colours.line, count, f"{colours.off} {colours.match}", rows.column("urn"), f"{colours.off}\n")


def source_line(source: str, count: int | None, colours: Colours) -> str:
    """Line with a source, and the count of something in it, unless that is None."""
    counted = f"{colours.off}\n" if count is None else f"{colours.colon()}{count}\n"
    return f"{colours.source}{printable(source)}{counted}"


def json_lines(rows: pa.RecordBatch) -> memoryview:
    """Octets of lines of JSON, an object for each row, with the columns as keys.

    `stop`, an octet, becomes the character; the number follows as `stop_octet`.
    """
    parts: list[pa.StringArray | str] = []
    for name, values in _json_columns(rows):
        parts += [f'{", " if parts else "{"}"{name}": ', values]
    return _joined(*parts, "}\n")


def _json_columns(rows: pa.RecordBatch) -> Iterator[tuple[str, pa.StringArray | str]]:
    """Keys and values, in JSON, of the columns; a string is the value in each row."""
    of_urns = _OF_URNS if "urn" in rows.schema.names else ()
    for name in rows.schema.names:
        column = rows.column(name)
        if name == "stop":
            yield name, _or_null(_each(column, _stop))
            yield "stop_octet", _or_null(column.cast(pa.string()))
        elif column.null_count == len(column) > 0:  # as the components are in most batches
            yield name, "null"
        else:
            yield name, json_values(column, is_of_urns=name in of_urns)


def _stop(octet: int) -> str | None:
    """JSON of an octet that ended a URN: its character; beyond ASCII, its number as names of files have it."""
    return None if octet < 0 else _json_string(bytes([octet]).decode("ascii", "backslashreplace"))


def json_values(column: pa.Array, *, is_of_urns: bool = False) -> pa.StringArray:
    """JSON of the values of a column; `is_of_urns`: nothing in them needs an escape."""
    if pa.types.is_struct(column.type):
        parts: list[pa.StringArray | str] = []
        for field, values in zip(column.type, column.flatten(), strict=True):
            inside = json_values(values, is_of_urns=field.name in _OF_URNS)
            parts += [f'{", " if parts else "{"}"{field.name}": ', inside]
        return _strings(*parts, "}")
    if pa.types.is_list(column.type):
        lists = pa.ListArray.from_arrays(column.offsets, json_values(column.values, is_of_urns=is_of_urns))
        return _strings("[", pc.binary_join(lists, text_array([", "])[0]), "]")
    if is_of_urns:
        return _strings('"', column.cast(pa.string()), '"')
    if pa.types.is_timestamp(column.type):
        return _or_null(_strings('"', moments(column), '"'))
    if pa.types.is_dictionary(column.type) or pa.types.is_string(column.type):
        return _or_null(_each(column, _json_string))
    return _or_null(column.cast(pa.string()))


def moments(column: pa.TimestampArray) -> pa.StringArray:
    """Times in UTC as ISO 8601 writes them, without fractions: `2024-01-31T23:59:59Z`."""
    return pc.strftime(column.cast(pa.timestamp("s", "UTC"), safe=False), "%Y-%m-%dT%H:%M:%SZ")


def _or_null(column: pa.StringArray) -> pa.StringArray:
    return column.fill_null(text_array(["null"])[0])


def _json_string(text: str) -> str:
    # json.dumps escapes only C0. The other control characters can also change a terminal, or end a line.
    return CONTROL.sub(lambda match: json.dumps(match[0])[1:-1], json.dumps(text, ensure_ascii=False))


def _each(column: pa.Array, change: Callable[[Any], str | None]) -> pa.StringArray:
    """Apply the function to each value of a column, once for each different value."""
    column = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    return text_array([change(text) for text in column.dictionary.to_pylist()]).take(column.indices)


def _joined(*parts: pa.StringArray | str) -> memoryview:
    """Octets of the columns, side by side, row after row."""
    octets, offsets = octet_strings(_strings(*parts))
    return octets[: offsets[-1]].data  # the buffer of a column without rows may have more


def _strings(*parts: pa.StringArray | str) -> pa.StringArray:
    """Columns joined side by side; a string is the same in each row."""
    columns: list[pa.StringArray | pa.StringScalar] = []
    for is_string, some in itertools.groupby(parts, lambda part: isinstance(part, str)):
        neighbours = list(some)
        columns += [text_array(["".join(neighbours)])[0]] if is_string else neighbours
    return pc.binary_join_element_wise(*columns, text_array([""])[0])
