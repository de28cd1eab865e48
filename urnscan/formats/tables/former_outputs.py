"""Tables in CSV, TSV and JSON Lines that an earlier run wrote: reported, because their URNs are counted once more.

The tables are scanned like any text, because a file that begins like a table of urnscan may be another file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from urnscan.errors import FormatError, SourceError, SourceNote, option
from urnscan.formats.buffer import Buffer
from urnscan.formats.contents import Document
from urnscan.formats.context import Layer
from urnscan.formats.encodings import as_text
from urnscan.formats.protocol import Archive, exactly
from urnscan.stores.reader import Reader, begins

_FIRST_COLUMNS = ("urn nid nss nid_status", "source member start line text", "cluster source member record")
"""First columns of the tables of classes, of occurrences and rejects, and of clusters."""
_HEADERS = tuple(
    b"\xef\xbb\xbf" + separator.join(names.encode().split()) + separator
    for names in _FIRST_COLUMNS
    for separator in (b",", b"\t")
)
_STRING = rb'"(?:[^"\\]|\\.)*"'
_LINE = re.compile(
    rb'\{"urn": S, "nid": S, "nss": S, "nid_status": '
    rb'|\{"source": S, "member": (?:null|S), "start": \d+, "line": \d+, "text": '
    rb'|\{"cluster": \d+, "source": S, "member": (?:null|S), "record": '.replace(b"S", _STRING)
)
# Bytes of the first line in which the first names must be; a table with a longer first value is not recognised.
_LINE_WITHIN = 1 << 9
_LINES_BEGIN = (b'{"urn": "', b'{"source": "', b'{"cluster": ')


def _is_output(head: bytes, layer: Layer) -> bool | None:
    """Whether a file begins like a table of classes, occurrences, rejects or clusters that urnscan wrote as CSV (with
    commas), TSV or JSON Lines; always False with `--column`. None if more bytes are needed.
    """
    if layer.reading.columns:
        return False
    if not head.startswith(b"{"):
        return begins(head, *_HEADERS)
    if _LINE.match(head):
        return True
    may_be = len(head) < _LINE_WITHIN and begins(head, *_LINES_BEGIN) is not False
    return None if may_be else False


def former_output(layer: Layer) -> SourceError:
    """Return (not raise) what is reported about an input that is a table that urnscan wrote.

    In a scan (`layer.reading.results` is true) a SourceNote: the table is scanned, and its URNs count once more. In a
    deduplication a FormatError: the table is not read. `layer`: names of the table, and options.
    """
    remedy = f"{option('exclude', None)} leaves it out"
    if not layer.reading.results:
        return FormatError(layer.name, f"is a table that urnscan wrote, not a dump of records; {remedy}")
    reason = "looks like a table that urnscan wrote, and is scanned, so its names count once more"
    return SourceNote(layer.name, f"{reason}; {remedy}, {option('column', None)} names a column to scan")


def _open(reader: Reader, layer: Layer) -> Iterator[Document | SourceError]:
    yield former_output(layer)
    if layer.reading.results:
        yield as_text(Buffer.of(reader), layer)


FORM = Archive(
    name="a table that urnscan wrote", open=_open, recognise=_is_output, signs=exactly(*_HEADERS, *_LINES_BEGIN)
)
