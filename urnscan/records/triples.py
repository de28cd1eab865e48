"""Records of RDF dumps in lines: N-Triples and N-Quads (W3C RDF 1.1, 25 February 2014).

A record is neighbouring statements with the same subject, in any graph: a *run* of statements. Comments and blank lines
inside a run belong to the record; those between runs belong to no record. RDF in other formats is recognised, and not
read.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from urnscan.framing.buffer import LONGEST, MARK, Buffer
from urnscan.framing.lines import Damaged, lines, too_long
from urnscan.records import description
from urnscan.records.description import Statement
from urnscan.records.fields import Own, of_value, own_fields
from urnscan.records.format import Format
from urnscan.records.record import Cut, Record, RecordReader

# Terminals of the grammar (N-Triples §7, N-Quads §4). All loops are possessive or atomic, so any line is read only once.
# Bytes that are not ASCII count as letters. An IRI may also contain { } | ^ and `, which the grammar excludes: dumps have
# them, and the end of the IRI is still certain.
_UCHAR = rb"\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})"
_ESCAPE = rb"\\(?:[tbnrf\"'\\]|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})"
_IRI = rb"<[^\x00-\x20<>\"\\]*+(?>(?:" + _UCHAR + rb"[^\x00-\x20<>\"\\]*+)*)>"
_LABEL = rb"[0-9A-Za-z_:\-\x80-\xff]++"
_NODE = rb"_:(?!-)" + _LABEL + rb"(?>(?:\.++" + _LABEL + rb")*)"
_STRING = rb'"[^"\\\r\n]*+(?>(?:' + _ESCAPE + rb'[^"\\\r\n]*+)*)"'
_LITERAL = _STRING + rb"(?>(?:\^\^" + _IRI + rb"|@[A-Za-z]++(?>(?:-[0-9A-Za-z]++)*))?)"
_SPACE = rb"[ \t]*+"
_RESOURCE = rb"(?:" + _IRI + rb"|" + _NODE + rb")"
_OBJECT = rb"(?:" + _IRI + rb"|" + _NODE + rb"|" + _LITERAL + rb")"
_COMMENT = rb"(?>(?:\#[^\r\n]*+)?)"
_EOL = rb"(?:\r\n?+|\n)"
_REST = _SPACE.join((b"", _IRI, _OBJECT, rb"(?>(?:" + _RESOURCE + rb")?)", rb"\.", _COMMENT, rb"(?:" + _EOL + rb"|\Z)"))
_LINE = rb"(?P<subject>" + _RESOURCE + rb")" + _REST
# Comments and blank lines.
_GAP = rb"(?>(?:" + _SPACE + _COMMENT + _EOL + rb")*)" + _SPACE

_BETWEEN = re.compile(_GAP + rb"(?>(?:\#[^\r\n]*+\Z)?)")
_RUN = re.compile(_LINE + rb"(?>(?:" + _GAP + rb"(?P=subject)" + _REST + rb")*)")
_ANY_LINE = re.compile(rb"[^\r\n]*+(?:" + _EOL + rb"|\Z)")
# A statement about a URN, at the beginning of a line.
_ABOUT_URN = re.compile(rb"^[ \t]*<urn:", re.IGNORECASE | re.MULTILINE)
_STATEMENT = re.compile(
    _SPACE.join((_GAP + _RESOURCE, rb"<([^>]*+)>", rb"(?:<([^>]*+)>|(" + _STRING + rb")|_)")) + _ANY_LINE.pattern
)
_ESCAPES = re.compile(rb"(?>(?:" + _ESCAPE + rb")+)")
_BEGUN = re.compile(
    _RESOURCE + _SPACE + rb"(?:<[^\x00-\x20<>\"]*+(?:\Z|>)|\Z)|<(?>(?:[^\x00-\x20<>\"?!/][^\x00-\x20<>\"]*+)?)\Z|_\Z"
)

_RDF_XML = re.compile(
    rb"\s*+(?>(?:<\?[^>]*+>\s*+|<!--.*?-->\s*+|<!DOCTYPE[^\[>]*+(?>(?:\[.*?\]\s*+)?)>\s*+)*)<(?>(?:[\w.\-\x80-\xff]++:)?)RDF[\s>/]",
    re.DOTALL,
)
_DIRECTIVE = rb"@?+(?i:prefix\s++[^\s:<>\"'{}(),;#]*+:|base)\s*+<[^<>\s]*+>\s*+\.?+\s*+" + _GAP
# A query of SPARQL begins with directives, too.
_QUERY = rb"(?i:SELECT|ASK|CONSTRUCT|DESCRIBE|INSERT|DELETE|WITH|LOAD|CLEAR|CREATE|DROP)\b"
_TURTLE = re.compile(rb"(?>(?:" + _DIRECTIVE + rb")+)(?!" + _QUERY + rb")")
_TURTLE_SUFFIXES = (".ttl", ".trig", ".turtle")
_TURTLE_BEGINNING = re.compile(rb"[<\[(@]|_:|[A-Za-z]")


def is_triples(head: bytes, _name: str) -> bool | None:
    """Whether a dump whose first bytes are `head` begins with a statement of N-Triples or N-Quads, after any comments
    and blank lines. True for some dumps of Turtle, too. None: more bytes are needed, as no statement has begun or the
    first has no end.
    """
    start = _end(_BETWEEN, head, len(MARK) if head.startswith(MARK) else 0)
    if start == len(head) or MARK.startswith(head):
        return None
    if _RUN.match(head, start):
        return True
    return None if _BEGUN.match(head, start) and _end_of_lines(head, start, len(head)) == start else False


def is_other_rdf(head: bytes, name: str) -> bool | None:
    """Whether a dump whose first bytes are `head` is RDF/XML, Turtle or TriG: the first element is `RDF`, or the dump
    begins with a directive (`@prefix`, `BASE`) and is not a query of SPARQL. Turtle without directives is recognised by
    the suffix of the file name `name` (in lower case). None: undecided; only if `head` is empty, or begins with
    comments or white space.
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
    """Reader of N-Triples and N-Quads. A record is a sequence of neighbouring statements with the same subject, which
    is its ID.
    """

    table = described_by = "triples"
    """Name of the tables with the fields of the format."""

    def cuts(self, buffer: Buffer) -> Iterator[Cut | Damaged]:
        """Yield each sequence of neighbouring statements with the same subject as a `Cut`, whose `around` is the
        subject as it is written (`<http://…>`, `_:b1`). A line that is not a statement, comment or blank line is
        yielded as a `Damaged`, and ends the sequence. A sequence of more than 64 MiB is split. Reads on in the buffer
        as needed.
        """
        is_at_end = False
        while True:
            yield from self._runs_in(buffer, is_at_end)
            if is_at_end:
                return
            if len(buffer.data) - buffer.at <= LONGEST:
                is_at_end = not buffer.more()
                continue
            is_comment = buffer.data.startswith(b"#", buffer.at)
            # The line is too long.
            line = next(lines(buffer))
            if isinstance(line, Damaged) and not is_comment:
                yield line

    def _runs_in(self, buffer: Buffer, is_at_end: bool) -> Iterator[Cut | Damaged]:
        """Yield the runs and damaged lines in the bytes that the buffer has in memory, and take these bytes. The last
        is left if it may continue in bytes that are not read yet (`is_at_end`: none follow).
        """
        data = buffer.data
        base = buffer.offset - buffer.at
        whole = len(data) if is_at_end else _end_of_lines(data, 0, len(data))
        start = _end(_BETWEEN, data, buffer.at, whole)
        while start < whole:
            buffer.at = start
            match = _RUN.match(data, start, whole)
            end = match.end() if match else _end(_ANY_LINE, data, start, whole)
            following = _end(_BETWEEN, data, end, whole)
            if match and following == whole and not is_at_end and len(data) - start <= LONGEST:
                return
            # A run that is too long becomes several records; no statement is lost.
            if end - start > LONGEST:
                match = _RUN.match(data, start, _end_of_lines(data, start, start + LONGEST))
                end = match.end() if match else _end(_ANY_LINE, data, start, whole)
                following = _end(_BETWEEN, data, end, whole)
            if match:
                yield Cut(base + start, data[start:end], match["subject"])
            elif end - start > LONGEST:
                yield too_long(base + start)
            else:
                yield Damaged(base + start, "it is no statement of N-Triples or N-Quads")
            start = following
        buffer.at = start

    def record(self, cut: Cut) -> Record:
        """Read the statements of a record. Returns a `Record` with the subject as its ID and, by the options of the
        reader, texts to scan for URNs (with `own`, record-level identifiers instead), identifiers that give keys
        (`keys`) and a description (`described`).
        """
        offset, data, subject = cut
        name = _text(subject[1:-1] if subject.startswith(b"<") else subject)
        texts = (_without_escapes(data),) if self.has_texts else ()
        if not (self.fields or self.described):
            return Record(offset, data, name, texts)
        # The name of a blank node has a meaning only in this dump.
        own = [Own(name)] if self.fields and subject.startswith(b"<") else []
        statements: list[Statement] = []
        for predicate, iri, literal in _STATEMENT.findall(data):
            field = _text(predicate)
            if field in self.fields or field in self.described:
                text = _text(iri or literal[1:-1])
                own += of_value(text, self.fields.get(field, ()))
                statements += description.of_text(text, self.described.get(field, ()))
        return Record(offset, data, name, texts, own, description.pack(self.described_by, statements))


def _end(pattern: re.Pattern[bytes], data: bytes, start: int, stop: int = sys.maxsize) -> int:
    match = pattern.match(data, start, stop)
    return match.end() if match else start


def _end_of_lines(data: bytes, start: int, stop: int) -> int:
    """Index after the last line end in `data[start:stop]`; `start` without one. A CR at the end may be half of a CR LF,
    and does not count.
    """
    return max(data.rfind(b"\n", start, stop), data.rfind(b"\r", start, stop - 1)) + 1 or start


def _text(data: bytes) -> str:
    return _without_escapes(data).decode("utf-8", "replace")


def _without_escapes(data: bytes) -> bytes:
    return _ESCAPES.sub(_characters, data) if b"\\" in data else data


def _characters(escapes: re.Match[bytes]) -> bytes:
    text = escapes[0].decode("unicode_escape", "replace")
    try:
        return text.encode()
    except UnicodeEncodeError:
        # Some programs write a surrogate pair for one character.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def _knows_fields(head: bytes) -> bool:
    return bool(_ABOUT_URN.search(head)) or any(
        b"<%b>" % field.encode() in head for field in own_fields(TripleRecords.table)
    )


FORMATS = (
    Format(
        name="ntriples",
        title="N-Triples or N-Quads",
        reader=TripleRecords,
        recognise=is_triples,
        suffixes=(".nt", ".nq"),
        # A blank node has a meaning only in its dump, so two dumps, one after the other, are not one dump.
        framed=True,
        keyed=True,
        numbered=False,
        knows_fields=_knows_fields,
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
