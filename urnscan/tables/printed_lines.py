"""Rows of tables as lines of text, with or without colours, and as lines of JSON."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import byte_strings, text_array
from urnscan.display.text import CONTROL, in_line, printable
from urnscan.formats.context import INSIDE

_URN_COLUMNS = ("text", "urn", "nid", "nss")
"""Columns of URNs and their parts, which need no escapes in JSON. (In a table of rejects, `text` is not a URN.)"""
_COUNT_WIDTH = 7
"""Width of the column of counts in characters, as in the output of `uniq -c`."""


@dataclass(frozen=True, slots=True)
class Colours:
    """Escape sequences of a terminal; empty texts for lines without colours. `source`, `separator`, `line` and `match`
    begin the colours of these parts of an output line, `off` ends any of them.
    """

    source: str = ""
    separator: str = ""
    line: str = ""
    match: str = ""
    off: str = ""

    def colon(self) -> str:
        """The colon between two fields, with escape sequences around it: `off` ends the colour of the first field,
        `separator` colours the colon, and `off` ends that colour.
        """
        return f"{self.off}{self.separator}:{self.off}"


PLAIN = Colours()
"""No colours."""
COLOURED = Colours("\x1b[35m", "\x1b[36m", "\x1b[32m", "\x1b[1;31m", "\x1b[m")
"""The colours of grep: magenta, cyan, green, bold red."""


def occurrence_lines(rows: pa.RecordBatch, colours: Colours, name: str = "text") -> memoryview:
    """Return a line `source:line:text` with LF for each row, all in UTF-8, for printing. `rows` have the columns
    `source`, `member` and `line` of OCCURRENCES; the text is the column `name`, and is not escaped.

    A member of an archive is part of the source: `a.zip!/b.txt`. Control characters in names of sources and members are
    escaped. If the rows have the columns `before` and `after`, these texts are directly before and after the text, with
    a space for each white space or control character. Source, line and text have the escape sequences of `colours`.
    """
    # Names of files and members may be hostile: they must neither end the line nor change the terminal.
    source = _mapped(rows.column("source"), printable)
    member = _mapped(rows.column("member"), lambda text: INSIDE + printable(text)).fill_null(text_array([""])[0])
    line = rows.column("line").cast(pa.string())
    before, after = (
        _mapped(rows.column(side), in_line).fill_null(text_array([""])[0]) if side in rows.schema.names else ""
        for side in ("before", "after")
    )
    head = (colours.source, source, member, colours.colon() + colours.line, line, colours.colon())
    return _joined(*head, before, colours.match, rows.column(name), colours.off, after, "\n")


def frequency_lines(rows: pa.RecordBatch, colours: Colours) -> memoryview:
    """Return a line with LF for each row, in UTF-8, in the form of `uniq -c`: the column `occurrence_count`, padded
    with spaces on the left to at least 7 characters, a space, and the column `urn`, each between escape sequences of
    `colours`. `rows` have the schema FREQUENCIES.
    """
    count = pc.utf8_lpad(rows.column("occurrence_count").cast(pa.string()), _COUNT_WIDTH, " ")
    return _joined(colours.line, count, f"{colours.off} {colours.match}", rows.column("urn"), f"{colours.off}\n")


def source_line(source: str, count: int | None, colours: Colours) -> str:
    """Return a line with LF: the count of matches in a source, at least 7 characters wide, a space, and the name of the
    source with control characters escaped; only the name if `count` is None. Each is between escape sequences of
    `colours`.
    """
    # The count comes first, so that `sort` works: a name may contain any separator.
    counted = "" if count is None else f"{colours.line}{count:>{_COUNT_WIDTH}}{colours.off} "
    return f"{counted}{colours.source}{printable(source)}{colours.off}\n"


def json_lines(rows: pa.RecordBatch) -> memoryview:
    r"""Return a line of JSON with LF for each row, in UTF-8: an object with the names of the columns as keys. In rows
    with a column `urn`, the columns `text`, `urn`, `nid` and `nss` must be URNs and their parts, without nulls: they
    are not escaped.

    The column `stop` is the number of a byte. It becomes two keys: `stop` with the character (a text like `\xe4` for a
    byte that is not ASCII, null for a negative number), and `stop_octet` with the number.
    """
    parts: list[pa.StringArray | str] = []
    for name, values in _json_columns(rows):
        parts += [f'{", " if parts else "{"}"{name}": ', values]
    return _joined(*parts, "}\n")


def _json_columns(rows: pa.RecordBatch) -> Iterator[tuple[str, pa.StringArray | str]]:
    """Yield the keys of the JSON objects with their values as JSON. A str instead of a column is the value in all rows."""
    urn_columns = _URN_COLUMNS if "urn" in rows.schema.names else ()
    for name in rows.schema.names:
        column = rows.column(name)
        if name == "stop":
            yield name, _or_null(_mapped(column, _stop))
            yield "stop_octet", _or_null(column.cast(pa.string()))
        # Saves time: the columns of components have only nulls in most batches.
        elif column.null_count == len(column) > 0:
            yield name, "null"
        else:
            yield name, json_values(column, needs_no_escape=name in urn_columns)


def _stop(byte: int) -> str | None:
    """JSON of the byte after a URN; None for a negative number."""
    return None if byte < 0 else _json_string(bytes([byte]).decode("ascii", "backslashreplace"))


def json_values(column: pa.Array, *, needs_no_escape: bool = False) -> pa.StringArray:
    """Return for each value of a column its JSON as a text: `"a"` for a text, `1`, `true`, `["a", "b"]` for a list,
    `{"text": "a"}` for a structure, a time as text in ISO 8601; `null` for a null text, number, time or flag. Lists and
    structures must not be null.

    `needs_no_escape` saves time: no text in the column has characters that JSON escapes, and no value is null. The
    fields `text`, `urn`, `nid` and `nss` of structures must always be such texts.
    """
    if pa.types.is_struct(column.type):
        parts: list[pa.StringArray | str] = []
        for field, values in zip(column.type, column.flatten(), strict=True):
            inside = json_values(values, needs_no_escape=field.name in _URN_COLUMNS)
            parts += [f'{", " if parts else "{"}"{field.name}": ', inside]
        return _strings(*parts, "}")
    if pa.types.is_list(column.type):
        lists = pa.ListArray.from_arrays(column.offsets, json_values(column.values, needs_no_escape=needs_no_escape))
        return _strings("[", pc.binary_join(lists, text_array([", "])[0]), "]")
    if needs_no_escape:
        return _strings('"', column.cast(pa.string()), '"')
    if pa.types.is_timestamp(column.type):
        return _or_null(_strings('"', moments(column), '"'))
    if pa.types.is_dictionary(column.type) or pa.types.is_string(column.type):
        return _or_null(_mapped(column, _json_string))
    return _or_null(column.cast(pa.string()))


def moments(column: pa.TimestampArray) -> pa.StringArray:
    """Return times as texts in UTC, in ISO 8601 without fractions: `2024-01-31T23:59:59Z`; null stays null."""
    return pc.strftime(column.cast(pa.timestamp("s", "UTC"), safe=False), "%Y-%m-%dT%H:%M:%SZ")


def _or_null(column: pa.StringArray) -> pa.StringArray:
    return column.fill_null(text_array(["null"])[0])


def _json_string(text: str) -> str:
    # json.dumps escapes only C0. The other control characters can also change a terminal, or end a line.
    return CONTROL.sub(lambda match: json.dumps(match[0])[1:-1], json.dumps(text, ensure_ascii=False))


def _mapped(column: pa.Array, function: Callable[[Any], str | None]) -> pa.StringArray:
    """The results of `function`, which is called for each value in the dictionary of a column, not for each row; null
    for null.
    """
    column = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    return text_array([function(value) for value in column.dictionary.to_pylist()]).take(column.indices)


def _joined(*parts: pa.StringArray | str) -> memoryview:
    """The bytes of all rows that `_strings` joins, one after the other. A row with a null has no bytes."""
    data, offsets = byte_strings(_strings(*parts))
    # The buffer of a column without rows may have more bytes.
    return data[: offsets[-1]].data


def _strings(*parts: pa.StringArray | str) -> pa.StringArray:
    """The parts joined row by row. At least one part is a column. A row with a null in any part is null."""
    columns: list[pa.StringArray | pa.StringScalar] = []
    for is_string, group in itertools.groupby(parts, lambda part: isinstance(part, str)):
        neighbours = list(group)
        columns += [text_array(["".join(neighbours)])[0]] if is_string else neighbours
    return pc.binary_join_element_wise(*columns, text_array([""])[0])
