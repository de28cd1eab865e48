"""The output of `urnscan check` in each format: lines for people, JSON, CSV, SARIF, and commands of GitHub Actions."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from urnscan.display.text import printable
from urnscan.version import __version__

if TYPE_CHECKING:
    from urnscan.library.faults import Fault


_CSV_COLUMNS = ("path", "line", "column", "name", "message")


class Format(NamedTuple):
    """A format in which faults (wrong URNs with their places) are written."""

    write: Callable[[Fault], str]
    """Returns the text of a fault."""
    head: str = ""
    """Text before the first fault; also written if there is no fault."""
    between: str = ""
    """Text between two faults."""
    tail: str = ""
    """Text after the last fault; also written if there is no fault."""


def _text_line(fault: Fault) -> str:
    """A line in the form of compilers and linters."""
    places = [str(place) for place in (fault.line, fault.column) if place is not None]
    place = ":".join([printable(fault.path), *places])
    return f"{place}: {printable(fault.text)}: {printable(fault.message)}\n"


def _json_line(fault: Fault) -> str:
    return json.dumps(fault._asdict()) + "\n"


def csv_format(delimiter: str) -> Format:
    """The format CSV: a row for each fault (wrong URN), under a row with the names of the columns.

    `delimiter` is between the values. Texts are in quotes, and a text that a spreadsheet would run as a formula is
    escaped. An unknown column is an empty text. The output begins with a byte order mark, without which Excel does not
    read UTF-8.
    """

    def write(fault: Fault) -> str:
        from urnscan.tables.writers import FORMULA, FORMULA_ESCAPE

        texts = [fault.path, fault.text, fault.message]
        path, name, message = (FORMULA_ESCAPE + text if re.match(FORMULA, text) else text for text in texts)
        column = "" if fault.column is None else fault.column
        row = io.StringIO()
        writer = csv.writer(row, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerow([printable(path), fault.line, column, printable(name), printable(message)])
        return row.getvalue()

    return Format(write, f"\ufeff{delimiter.join(_CSV_COLUMNS)}\n")


def _github_line(fault: Fault) -> str:
    places = {"file": fault.source, "line": fault.line, "col": fault.column, "title": fault.code}
    properties = ",".join(f"{name}={_escaped(str(value), ':,')}" for name, value in places.items() if value is not None)
    inside = "" if fault.member is None else f"{fault.path}: "
    return f"::error {properties}::{_escaped(f'{inside}{fault.text}: {fault.message}')}\n"


def _escaped(text: str, more: str = "") -> str:
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _sarif_result(fault: Fault) -> str:
    """A result of SARIF 2.1.0 (§3.27), as JSON."""
    location: dict[str, object] = {"artifactLocation": {"uri": _uri(fault.source)}}
    result: dict[str, object] = {"ruleId": fault.code, "level": "error"}
    if fault.member is None:
        location["region"] = {"startLine": fault.line} | ({"startColumn": fault.column} if fault.column else {})
        where: dict[str, object] = {"physicalLocation": location}
    else:
        # A line of a member is not a line of the file, so there is no region.
        name = f"{fault.path}:{fault.line}"
        where = {"physicalLocation": location, "logicalLocations": [{"fullyQualifiedName": name}]}
    return json.dumps(result | {"message": {"text": f"{fault.text}: {fault.message}"}, "locations": [where]})


def _uri(source: str) -> str:
    return source if "://" in source else quote(source.encode("utf-8", "surrogateescape"))


_SARIF_HEAD = (
    '{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [{"tool": {"driver": '
    f'{{"name": "urnscan", "version": "{__version__}"}}}}, "columnKind": "unicodeCodePoints", "results": ['
)

FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "text": Format(_text_line),
        "json": Format(_json_line),
        "csv": csv_format(","),
        "sarif": Format(_sarif_result, _SARIF_HEAD, ",\n", "]}]}\n"),
        "github": Format(_github_line),
    }
)
"""Name of a format of faults -> the format: lines for people, JSON Lines, CSV, SARIF 2.1.0, and commands of GitHub
Actions.
"""


class FaultWriter:
    """Writes faults (wrong URNs with their places) in a format, and counts them in `faults`."""

    def __init__(self, form: Format, write: Callable[[str], None]) -> None:
        """`write` gets each piece of text to write."""
        self._format = form
        self._write = write
        self.faults = 0
        """Number of faults that were written."""

    def add(self, fault: Fault) -> None:
        """Write a fault and count it; before the first fault the head of the format, before others the text between."""
        self._write((self._format.between if self.faults else self._format.head) + self._format.write(fault))
        self.faults += 1

    def finish(self) -> None:
        """Write the text after the last fault; if there was no fault, also the head before it. Call this once."""
        self._write(("" if self.faults else self._format.head) + self._format.tail)
