"""Records of RDF dumps in lines: N-Triples and N-Quads (W3C RDF 1.1, 25 February 2014). A record is a run of statements
with the same subject, in any graph. RDF in other forms is recognised, and not read.

Comments and blank lines within a run belong to it, those between runs to none.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from urnscan.framing.buffer import LONGEST, MARK, Buffer
from urnscan.framing.lines import Damaged, lines, too_long
from urnscan.records import description
from urnscan.records.description import Statement
from urnscan.records.fields import Own, of_value
from urnscan.records.format import Format
from urnscan.records.record import Cut, Record, RecordReader

# Terminals of the grammar (N-Triples §7, N-Quads §4). Every loop is possessive, so a line is read once, whatever it
# holds. Octets that are not ASCII count as letters. An IRI may also hold { } | ^ and `, which the grammar excludes:
# dumps have them, and its end is no less certain.
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
_GAP = rb"(?:" + _SPACE + _COMMENT + _EOL + rb")*+" + _SPACE  # comments and blank lines

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

_RDF_XML = re.compile(
    rb"\s*+(?:<\?[^>]*+>\s*+|<!--.*?-->\s*+|<!DOCTYPE[^\[>]*+(?:\[.*?\]\s*+)?+>\s*+)*+<(?:[\w.\-\x80-\xff]++:)?+RDF[\s>/]",
    re.DOTALL,
)
_DIRECTIVE = rb"@?+(?i:prefix\s++[^\s:<>\"'{}(),;#]*+:|base)\s*+<[^<>\s]*+>\s*+\.?+\s*+" + _GAP
# A query of SPARQL begins with directives, too.
_QUERY = rb"(?i:SELECT|ASK|CONSTRUCT|DESCRIBE|INSERT|DELETE|WITH|LOAD|CLEAR|CREATE|DROP)\b"
_TURTLE = re.compile(rb"(?:" + _DIRECTIVE + rb")++(?!" + _QUERY + rb")")
_TURTLE_SUFFIXES = (".ttl", ".trig", ".turtle")
_TURTLE_BEGINNING = re.compile(rb"[<\[(@]|_:|[A-Za-z]")


def is_triples(head: bytes, _name: str) -> bool | None:
    """Whether a dump begins with a statement. One of Turtle may, too; its other lines are damaged then."""
    start = _end(_BETWEEN, head, len(MARK) if head.startswith(MARK) else 0)
    if start == len(head) or MARK.startswith(head):
        return None
    if _RUN.match(head, start):
        return True
    return None if _BEGUN.match(head, start) and _whole(head, start, len(head)) == start else False


def is_other_rdf(head: bytes, name: str) -> bool | None:
    """Whether a dump is RDF/XML, Turtle or TriG: its first element is `RDF`, or it begins with a directive. Without
    directives its name tells Turtle.
    """
    head = head.removeprefix(MARK)
    start = _end(_BETWEEN, head, 0)
    if start == len(head):
        return None
    if _RDF_XML.match(head) or _TURTLE.match(head, start):
        return True
    if name.endswith(_TURTLE_SUFFIXES):
        return bool(_TURTLE_BEGINNING.match(head, start))
    return None if start else False


class TripleRecords(RecordReader):
    """Reads runs of statements with the same subject."""

    table = described_by = "triples"

    def cuts(self, buffer: Buffer) -> Iterator[Cut | Damaged]:
        """Find the runs, each with its subject. A line that is no statement is damaged by itself and ends the run."""
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

    def _held(self, buffer: Buffer, ended: bool) -> Iterator[Cut | Damaged]:
        """Find the runs in the buffer, up to the last one that may continue in octets that are not read yet."""
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
                yield Cut(base + start, octets[start:end], match["subject"])
            elif end - start > LONGEST:
                yield too_long(base + start)
            else:
                yield Damaged(base + start, "it is no statement of N-Triples or N-Quads")
            start = following
        buffer.at = start

    def record(self, cut: Cut) -> Record:
        """Read a run."""
        offset, octets, subject = cut
        name = _text(subject[1:-1] if subject.startswith(b"<") else subject)
        texts = (_unescaped(octets),) if self.has_texts else ()
        if self.fields is None and not self.described:
            return Record(offset, octets, name, texts)
        # A blank node has a name in this dump only.
        own = [Own(name)] if self.fields is not None and subject.startswith(b"<") else []
        statements: list[Statement] = []
        for field, text in self._said(octets):
            own += of_value(text, self.field_octets.get(field, ()))
            statements += description.of_text(text, self.described_octets.get(field, ()))
        return Record(offset, octets, name, texts, own, description.pack(self.described_by, statements))

    def _said(self, octets: bytes) -> Iterator[tuple[bytes, str]]:
        """The fields in a run that are wanted."""
        for predicate, iri, literal in _STATEMENT.findall(octets):
            field = predicate if b"\\" not in predicate else _unescaped(predicate)
            if field in self.field_octets or field in self.described_octets:
                yield field, _text(iri or literal[1:-1])


def _end(pattern: re.Pattern[bytes], octets: bytes, start: int, stop: int = sys.maxsize) -> int:
    """End of the match of a pattern that matches anywhere."""
    match = pattern.match(octets, start, stop)
    return match.end() if match else start


def _whole(octets: bytes, start: int, stop: int) -> int:
    """End of the last line that is surely whole: a CR at the very end may be followed by LF."""
    return max(octets.rfind(b"\n", start, stop), octets.rfind(b"\r", start, stop - 1)) + 1 or start


def _text(octets: bytes) -> str:
    """Decode an IRI or the string of a literal."""
    return _unescaped(octets).decode("utf-8", "replace")


def _unescaped(octets: bytes) -> bytes:
    """Replace escapes (ECHAR, UCHAR), of which those of Python are a superset."""
    return _ESCAPES.sub(_characters, octets) if b"\\" in octets else octets


def _characters(escapes: re.Match[bytes]) -> bytes:
    text = escapes[0].decode("unicode_escape", "replace")
    try:
        return text.encode()
    except UnicodeEncodeError:  # some write a surrogate pair for one character
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


FORMATS = (
    Format(
        name="ntriples",
        title="N-Triples or N-Quads",
        reader=TripleRecords,
        recognise=is_triples,
        suffixes=(".nt", ".nq"),
        # A blank node has a meaning in one dump only, so two dumps do not make one.
        framed=True,
        keyed=True,
        numbered=False,
    ),
    Format(
        name="rdf",
        title="RDF/XML, Turtle or TriG",
        reader=RecordReader,
        recognise=is_other_rdf,
        suffixes=(".rdf", ".ttl", ".xml"),
        recipe="make N-Triples of it: rapper -q -i guess -o ntriples DUMP > DUMP.nt",
    ),
)
