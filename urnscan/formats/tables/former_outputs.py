"""Tables in CSV, TSV and JSON Lines that an earlier run wrote: skipped, as each name in them would be counted again."""

from __future__ import annotations

import re
from collections.abc import Iterator

from urnscan.errors import SourceNote
from urnscan.formats.context import Layer
from urnscan.formats.protocol import Table
from urnscan.stores.reader import Reader, begins

REASON = "is a table that urnscan wrote, and is not scanned; --column names a column to scan"
"""Text of the note about such a table."""

_FIRST_COLUMNS = ("urn nid nss nid_status", "source member start line text", "cluster source member record")
"""Names of the first columns of the tables of classes, of occurrences and rejects, of clusters."""
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
# Octets by which such a line is recognised; a line with a longer first value is not.
_LINE_WITHIN = 1 << 9


def _is_output(head: bytes, layer: Layer) -> bool | None:
    """Recognise such a table by its first columns. With `--column` it is read like any other."""
    if layer.reading.columns:
        return False
    if not head.startswith(b"{"):
        return begins(head, *_HEADERS)
    if _LINE.match(head):
        return True
    may_be = len(head) < _LINE_WITHIN and begins(head, b'{"urn": "', b'{"source": "', b'{"cluster": ') is not False
    return None if may_be else False


def _pass_over(_: Reader, layer: Layer) -> Iterator[SourceNote]:
    yield SourceNote(layer.name, REASON)


FORM = Table(name="a table that urnscan wrote", open=_pass_over, recognise=_is_output, begins=b"\xef{")
