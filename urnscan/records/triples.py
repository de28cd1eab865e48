"""Records of RDF dumps in lines: N-Triples and N-Quads (W3C RDF 1.1, 25 February 2014). A record is what stands together
of one subject: a run of statements that have it, whatever their graph.

Comments and blank lines within a run belong to it, those between runs to none.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from urnscan.framing.buffer import LONGEST, MARK, Buffer
from urnscan.framing.lines import lines, too_long
from urnscan.records.fields import own_fields
from urnscan.records.record import Damaged, Own, Record

__all__ = ["TripleRecords", "is_triples"]

# The terminals of the grammar (N-Triples §7, N-Quads §4). Every loop is possessive, so that a line is read
# once, whatever stands in it. Octets that are not ASCII are taken for letters. An IRI may also hold { } | ^ and `, which
# the grammar excludes: dumps have them, and where it ends is no less certain.
_UCHAR = rb"\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})"
_ESCAPE = rb"\\(?:[tbnrf\"'\\]|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})"
_IRI = rb"<[^\x00-\x20<>\"\\]*+(?:" + _UCHAR + rb"[^\x00-\x20<>\"\\]*+)*+>"
_LABEL = rb"[0-9A-Za-z_:\-\x80-\xff]++"
_NODE = rb"_:(?!-)" + _LABEL + rb"(?:\.++" + _LABEL + rb")*+"
_STRING = rb'"[^"\\\r\n]*+(?:' + _ESCAPE + rb'[^"\\\r\n]*+)*+"'
_LITERAL = _STRING + rb"(?:\^\^" + _IRI + rb"|@[A-Za-z]++(?:-[0-9A-Za-z]++)*+)?+"
_SPACE = rb"[ \t]*+"
_RESOURCE = rb"(?:" + _IRI + rb"|" + _NODE + rb")"
_OBJECT = rb"(?:" + _IRI + rb"|" + _NODE + rb"|" + _LITERAL + rb")"
_COMMENT = rb"(?:\#[^\r\n]*+)?+"
_EOL = rb"(?:\r\n?+|\n)"
_REST = _SPACE.join((b"", _IRI, _OBJECT, rb"(?:" + _RESOURCE + rb")?+", rb"\.", _COMMENT, rb"(?:" + _EOL + rb"|\Z)"))
_LINE = rb"(?P<subject>" + _RESOURCE + rb")" + _REST
_GAP = rb"(?:" + _SPACE + _COMMENT + _EOL + rb")*+" + _SPACE  # what may stand between statements

_BETWEEN = re.compile(_GAP + rb"(?:\#[^\r\n]*+\Z)?+")
_RUN = re.compile(_LINE + rb"(?:" + _GAP + rb"(?P=subject)" + _REST + rb")*+")
_ANY_LINE = re.compile(rb"[^\r\n]*+(?:" + _EOL + rb"|\Z)")
_STATEMENT = re.compile(
    _SPACE.join((_GAP + _RESOURCE, rb"<([^>]*+)>", rb"(?:<([^>]*+)>|(" + _STRING + rb")|_)")) + _ANY_LINE.pattern
)
_ESCAPES = re.compile(rb"(?:" + _ESCAPE + rb")++")
_BEGUN = re.compile(
    _RESOURCE + _SPACE + rb"(?:<[^\x00-\x20<>\"]*+(?:\Z|>)|\Z)|<(?:[^\x00-\x20<>\"?!/][^\x00-\x20<>\"]*+)?+\Z|_\Z"
)


def is_triples(head: bytes, name: str) -> bool | None:  # noqa: ARG001 (the content tells)
    """Whether a dump begins with a statement. That of Turtle may, too; what is no N-Triples in it is damaged then."""
    between = _BETWEEN.match(head, len(MARK) if head.startswith(MARK) else 0)
    start = between.end() if between else 0
    if start == len(head) or MARK.startswith(head):
        return None
    if _RUN.match(head, start):
        return True
    return None if _BEGUN.match(head, start) and _whole(head, start, len(head)) == start else False


class TripleRecords:
    """Runs of statements that have the same subject."""

    def __init__(self, *, own: bool) -> None:
        """`own`: only identifiers of the subject are asked for."""
        self._schemes = (
            {iri.encode(): fields[0].scheme for iri, fields in own_fields("triples").items()} if own else None
        )

    def read(self, buffer: Buffer) -> Iterator[Record | Damaged]:
        """The runs; a line that is no statement is damaged by itself and ends the run, which may go on behind it."""
        ended = False
        while True:
            yield from self._held(buffer, ended)
            if ended:
                return
            if len(buffer.octets) - buffer.at <= LONGEST:
                ended = not buffer.more()
                continue
            comment = buffer.octets.startswith(b"#", buffer.at)
            line = next(lines(buffer))  # it is too long
            if isinstance(line, Damaged) and not comment:
                yield line

    def _held(self, buffer: Buffer, ended: bool) -> Iterator[Record | Damaged]:
        """What the buffer holds up to the last run to which lines could come that it does not hold yet."""
        octets = buffer.octets
        base = buffer.offset - buffer.at
        whole = len(octets) if ended else _whole(octets, 0, len(octets))
        start = _end(_BETWEEN, octets, buffer.at, whole)
        while start < whole:
            buffer.at = start
            match = _RUN.match(octets, start, whole)
            end = match.end() if match else _end(_ANY_LINE, octets, start, whole)
            following = _end(_BETWEEN, octets, end, whole)
            if match and following == whole and not ended and len(octets) - start <= LONGEST:
                return
            if end - start > LONGEST:  # a run is cut, which loses nothing
                match = _RUN.match(octets, start, _whole(octets, start, start + LONGEST))
                end = match.end() if match else _end(_ANY_LINE, octets, start, whole)
                following = _end(_BETWEEN, octets, end, whole)
            if match:
                yield self._record(base + start, octets[start:end], match["subject"])
            elif end - start > LONGEST:
                yield too_long(base + start)
            else:
                yield Damaged(base + start, "it is no statement of N-Triples or N-Quads")
            start = following
        buffer.at = start

    def _record(self, offset: int, octets: bytes, subject: bytes) -> Record:
        name = _text(subject[1:-1] if subject.startswith(b"<") else subject)
        if self._schemes is None:
            return Record(offset, octets, name, (octets if b"\\" not in octets else _decoded(octets),))
        own = [Own(name)] if subject.startswith(b"<") else []  # the name of a blank node is the dump's alone
        for predicate, iri, literal in _STATEMENT.findall(octets):
            scheme = self._schemes.get(predicate if b"\\" not in predicate else _decoded(predicate))
            if scheme is not None and (iri or literal):
                own.append(Own(_text(iri or literal[1:-1]), scheme))
        return Record(offset, octets, name, own=own)


def _end(pattern: re.Pattern[bytes], octets: bytes, start: int, stop: int = sys.maxsize) -> int:
    """Where the match ends of a pattern that matches anywhere."""
    match = pattern.match(octets, start, stop)
    return match.end() if match else start


def _whole(octets: bytes, start: int, stop: int) -> int:
    """Where the last line ends that surely ends before: LF may follow a CR at the very end."""
    return max(octets.rfind(b"\n", start, stop), octets.rfind(b"\r", start, stop - 1)) + 1 or start


def _text(octets: bytes) -> str:
    """An IRI or the string of a literal, decoded."""
    return (octets if b"\\" not in octets else _decoded(octets)).decode("utf-8", "replace")


def _decoded(octets: bytes) -> bytes:
    """Without escapes (ECHAR, UCHAR), of which Python's own mean the same."""
    return _ESCAPES.sub(_characters, octets)


def _characters(escapes: re.Match[bytes]) -> bytes:
    text = escapes[0].decode("unicode_escape", "replace")
    try:
        return text.encode()
    except UnicodeEncodeError:  # some write a surrogate pair for one character
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
