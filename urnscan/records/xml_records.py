"""Records cut out of XML 1.0: the beginning and end of each in a document, or in several documents in a row.

Outside of records every tag is read, for the namespaces in scope. Inside a record only two things are read: tags with
the name of the record, and markup that may hide such tags (comments, CDATA sections, processing instructions). No octet
is searched twice, so the time is linear in any input.
Each record is then parsed by itself (`xml_kinds`): where one is not well-formed, only this one is lost. There is no tree
of the document, and no DTD is read. lxml does not cut the document, as it does not say at which octet an element begins.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

import numpy as np
import pyarrow as pa
from lxml import etree

from urnscan.compiled.arrow import octets_array
from urnscan.compiled.octets import Integers
from urnscan.framing.buffer import LONGEST, MARK, Buffer
from urnscan.framing.lines import Damaged, too_long
from urnscan.records.decoded_text import decoded
from urnscan.records.format import Format
from urnscan.records.marc_runs import Fields
from urnscan.records.marcxml_runs import fields_of
from urnscan.records.record import Cut, Record, Run, RunReader
from urnscan.records.xml_kinds import (
    KINDS,
    TOLD_BY_BEGINNING,
    Kind,
    described,
    empty_kind,
    identifier,
    is_deleted,
    kind_of,
    local,
    marc_fields_in,
    own,
    parse,
    parsed_text,
    plain_text,
)
from urnscan.records.xml_runs import find_elements
from urnscan.records.xml_scope import NCNAME, PREFIX, Scope

_TAG = re.compile(  # a start tag in its loosest form, or an end tag
    rb"<(/?)(" + NCNAME + rb"(?::" + NCNAME + rb")?+)(?=\s|/?>)((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+)>"
)
_DECLARATION = re.compile(rb"\sxmlns(?::(" + NCNAME + rb"))?+\s*+=\s*+(\"[^\"]*+\"|'[^']*+')")
_ENCODING = re.compile(
    rb"\sencoding\s*+=\s*+[\"']((?i:iso[-_]?8859|latin|windows|cp12|koi8|mac|gb|big5|euc|shift)[A-Za-z0-9._-]*+)"
)
_COMMENT, _INSTRUCTION = rb"<!--(?:[^-]|-(?!->))*+-->", rb"<\?(?:[^?]|\?(?!>))*+\?>"
_MISCELLANEOUS = re.compile(rb"(?:\s++|" + _COMMENT + rb"|" + _INSTRUCTION + rb")*+")
_DOCTYPE = re.compile(
    rb"<!DOCTYPE\s(?:[^\[\"'<>]++|\"[^\"]*+\"|'[^']*+')*+"
    rb"(?:\[(?:[^\]\"'<]++|\"[^\"]*+\"|'[^']*+'|" + _COMMENT + rb"|" + _INSTRUCTION + rb"|<(?!!--|\?))*+\]\s*+)?+>"
)
_DOCUMENT = re.compile(rb"<(?:\?xml|!DOCTYPE)\s")  # begins a document
_MARKUP = re.compile(rb"(?:" + MARK + rb")?\s*+<[!?A-Za-z_\x80-\xff]")
_NOTHING = re.compile(rb"(?!)")
_HIDING = ((b"<!--", b"-->"), (b"<![CDATA[", b"]]>"), (b"<?", b"?>"))

# Elements in which a record may carry others: those of the libraries from whose records it was made.
_EXTENSION = re.compile(rb"<(/?)(?:" + NCNAME + rb":)?+(?:extension|extraRecordData)(?=[\s/>])[^<>]*+(?<!/)>")

_NEAR = 1 << 10  # octets to look ahead, as from a start tag to the first element in it; also the longest namespace
_ASTRAY = 4  # octets that may be searched in vain for each octet read, so that time is linear
_DOCTYPE_MOST = 1 << 16  # octets
_RUN = 1 << 12  # records that are found by one call
_NONE: Mapping[bytes, bytes] = MappingProxyType({})


class XmlRecords(RunReader):
    """Reads the records of one kind, that of the first record."""

    def __init__(self, *, own: bool, described: bool = False, keys: bool = False) -> None:
        super().__init__(own=own, described=described, keys=keys)
        self._scope = Scope()
        self._places = tuple(np.empty(_RUN, np.int64) for _ in range(2))
        self._kind: Kind | None = None
        self._empty: Kind | None = None
        self._name = b""  # name of the elements that are records, with its prefix
        self._marks = _NOTHING  # tags and markup that decide the end of a record
        self._doctype_from = 0  # offset from which a document type declaration is looked for again: the last had no end
        self._astray = 0  # octets that were searched for the ends of records that have none
        self._vain: dict[bytes, int] = {}  # ends of comments and the like -> offset before which none stands

    def found(self, buffer: Buffer) -> Iterator[Cut | Damaged | Run]:
        """Find the records, each with its kind, the namespaces around it, and its encoding; those of MARCXML in runs.

        `<records>` itself is none.
        """
        while kind := self.seek(buffer):
            if run := self._run(buffer):
                if self._scope.is_large:
                    yield from (cut._replace(around=self._around(kind, cut.octets)) for cut in run.cuts())
                else:
                    yield run._replace(around=self._around(kind, run.octets))
                continue
            offset = buffer.offset
            length, damage = self._cut(buffer, kind)
            octets = buffer.take(length)
            yield damage or Cut(offset, octets, self._around(kind, octets))

    def _around(self, kind: Kind, octets: bytes) -> tuple[str, bytes, str]:
        return kind.name, self._scope.declarations(octets), self._scope.encoding

    def _run(self, buffer: Buffer) -> Run | None:
        """Take the records from the next octet on, up to one that is not held whole or is unusual; None if there are none."""
        octets, at = buffer.octets, buffer.at
        if len(octets) - at > LONGEST:  # one of them may be too long
            return None
        starts, ends = self._places
        count = find_elements(np.frombuffer(octets, np.uint8), at, np.frombuffer(self._name, np.uint8), starts, ends)
        if not count:
            return None
        found = octets[at : ends[count - 1]]
        run = Run(buffer.offset, found, starts[:count] - at, ends[:count] - at)
        buffer.at += len(found)
        return run

    def fields_of(self, run: Run) -> Fields:
        """The fields of records of MARCXML in columns, as far as these are in their most usual form; of other kinds none."""
        kind, declarations, encoding = run.around
        if kind != "marcxml" or encoding != "utf-8":
            return Fields.room(np.empty(0, np.uint8), len(run.ends), 0)
        return fields_of(run, declarations)

    def texts_of(self, run: Run, which: Integers) -> pa.BinaryArray:
        """The texts of some records of a run."""
        _, declarations, encoding = run.around

        def text(start: int, end: int) -> bytes:
            octets = run.octets[start:end]
            return _text(octets, lambda: parse(octets, declarations, encoding)[0])

        return octets_array(list(map(text, run.starts[which].tolist(), run.ends[which].tolist())))

    def record(self, cut: Cut) -> Record | Damaged:
        """Read a record."""
        offset, octets, (name_of_kind, declarations, encoding) = cut
        kind = KINDS[name_of_kind]
        try:
            element, utf8 = parse(octets, declarations, encoding)
        except ValueError as error:
            return Damaged(offset, str(error))
        name = identifier(kind, element)
        if is_deleted(kind, element):
            return Record(offset, octets, name)
        texts = (_text(utf8, lambda: element),) if self.has_texts else ()
        named = () if self.fields is None else own(kind, element, self.own_fields)
        description, marc = described(kind, element, self.described_fields), None
        if marc_fields := marc_fields_in(kind, element):
            marc = marc_fields.octets(self.marc.tags)
        return Record(offset, octets, name, texts, named, description, marc)

    @property
    def kind_if_empty(self) -> Kind | None:
        """Kind of the documents read, if they hold no records. None: they hold some, go on, or are of no known kind."""
        return None if self._kind or self._scope.open else self._empty

    def seek(self, buffer: Buffer) -> Kind | None:
        """Go to the start tag of the next record; None, and all is taken, if there is none."""
        while True:
            found = buffer.octets.find(b"<", buffer.at)
            if found < 0:
                buffer.at = len(buffer.octets)
                if not buffer.more():
                    return None
                continue
            buffer.at = found
            buffer.has(_NEAR)
            mark = self._marks.match(buffer.octets, buffer.at)
            if mark and mark["start"]:
                return self._kind
            if buffer.octets.startswith((b"<!", b"<?"), buffer.at):
                self._pass_by(buffer)
                continue
            tag = _tag(buffer, 0)
            if tag is None:
                buffer.at += 1
                continue
            if tag[1]:
                self._scope.end(tag[2])
            elif kind := self._started(buffer, tag):
                return kind
            buffer.at += len(tag[0])

    def _started(self, buffer: Buffer, tag: re.Match[bytes]) -> Kind | None:
        """Read a start tag: the kind of the record that begins with it; None if none does."""
        declared = _declared(tag)
        name = self._scope.expanded(tag[2], declared)
        is_asked = local(name) in TOLD_BY_BEGINNING
        kind = kind_of(name, self._first_within(buffer, 0, tag, declared) if is_asked else "")
        if kind and (self._kind or kind) is kind:
            self._kind, self._name = kind, tag[2]
            called = re.escape(tag[2])
            self._marks = re.compile(
                rb"<(?:(?P<end>/" + called + rb"\s{0,1000}+>)|(?P<start>" + called + rb")(?=[\s/>])|[!?])"
            )
            return kind
        self._empty = self._empty or empty_kind(name, tag[3])
        if not tag[0].endswith(b"/>"):
            self._scope.start(tag[2], declared)
        return None

    def _pass_by(self, buffer: Buffer) -> None:
        """Pass a comment, a CDATA section, a processing instruction or a document type declaration."""
        if _DOCUMENT.match(buffer.octets, buffer.at):
            self._scope.clear()
            declared = _ENCODING.search(buffer.octets, buffer.at, buffer.at + _NEAR)
            if declared and buffer.octets.startswith(b"<?", buffer.at):
                self._scope.encoding = _known(declared[1].decode())
            if buffer.offset >= self._doctype_from:
                buffer.has(_DOCTYPE_MOST)
                doctype = _DOCTYPE.match(buffer.octets, buffer.at, buffer.at + _DOCTYPE_MOST)
                if doctype:
                    buffer.at = doctype.end()
                    return
                if buffer.octets.startswith(b"<!", buffer.at):
                    self._doctype_from = buffer.offset + _DOCTYPE_MOST
        distance = self._hidden(buffer, 0) or 2  # first, as `at` changes when more is read
        buffer.at += distance

    def _hidden(self, buffer: Buffer, start: int) -> int:
        """Distance to the end of a comment or the like that begins at this distance; 0 if there is none."""
        for begins, ends in _HIDING:
            if buffer.octets.startswith(begins, buffer.at + start):
                after = max(start + len(begins), self._vain.get(ends, 0) - buffer.offset)
                found = buffer.find(ends, after)
                if found >= 0:
                    return found + len(ends)
                searched = min(len(buffer.octets) - buffer.at - len(ends), LONGEST)
                self._vain[ends] = buffer.offset + max(after, searched)
                return 0
        return 0

    def _first_within(self, buffer: Buffer, start: int, tag: re.Match[bytes], declared: Mapping[bytes, bytes]) -> str:
        """Name of the first element in the one whose start tag is at this distance; empty if there is none."""
        start += len(tag[0])
        buffer.has(start + _NEAR)
        if tag[0].endswith(b"/>"):
            return ""
        start, end = buffer.at + start, buffer.at + start + _NEAR
        between = _MISCELLANEOUS.match(buffer.octets, start, end)
        child = _TAG.match(buffer.octets, between.end() if between else start, end)
        return self._scope.expanded(child[2], _declared(child), declared) if child and not child[1] else ""

    def _cut(self, buffer: Buffer, kind: Kind) -> tuple[int, Damaged | None]:
        """Length of the record that begins here, and its damage if it is damaged."""
        offset = buffer.offset
        tag = _tag(buffer, 0)
        at = len(tag[0]) if tag else 1 + len(self._name)
        if tag and tag[0].endswith(b"/>"):
            return at, None
        depth = 1
        nested: int | None = None  # distance to the first record in an extension of this one
        extensions = seen = 0  # that are open, and the octets in which they were counted
        while mark := buffer.search(self._marks, at, _NEAR + len(self._name)):
            at = mark.start() - buffer.at
            if mark["end"]:
                at += len(mark[0])
                depth -= 1
                if not depth:
                    return at, None
            elif mark["start"]:
                tag = _tag(buffer, at)
                if depth == 1:
                    tags = _EXTENSION.finditer(buffer.octets, buffer.at + seen, buffer.at + at)
                    extensions += sum(-1 if each[1] else 1 for each in tags)
                    seen = at
                # Elsewhere a record never holds one of its own kind. A kind that `holds` may contain a record of another
                # kind with the same element name.
                if extensions > 0 and self._astray <= _ASTRAY * (buffer.offset + _NEAR * _NEAR):
                    nested = nested or at
                elif not kind.holds or (tag and local(self._first_within(buffer, at, tag, _NONE)) in kind.beginnings):
                    return at, Damaged(offset, "it is cut off: another record begins in it")
                depth += not (tag and tag[0].endswith(b"/>"))
                at += len(mark[0])
            elif _DOCUMENT.match(buffer.octets, mark.start()):
                self._astray += at if nested else 0
                return nested or at, Damaged(offset, "it is cut off: another document begins in it")
            else:
                at = self._hidden(buffer, at) or at + 2
        held = len(buffer.octets) - buffer.at
        if nested is not None:  # it is not in an extension after all: the record has lost its end
            self._astray += held
            return nested, Damaged(offset, "it is cut off: another record begins in it")
        if held > LONGEST:
            return LONGEST, too_long(offset)
        return held, Damaged(offset, "it is cut off: the dump ends in it")


def _tag(buffer: Buffer, start: int) -> re.Match[bytes] | None:
    """Match the tag at this distance; None if there is no whole tag: for example, another "<" stands before its ">"."""
    while True:
        at = buffer.at + start
        tag = _TAG.match(buffer.octets, at, at + LONGEST)
        if tag or buffer.octets.find(b"<", at + 1, at + LONGEST) >= 0:
            return tag
        if len(buffer.octets) - at >= LONGEST or not buffer.more():
            return None


def _declared(tag: re.Match[bytes]) -> Mapping[bytes, bytes]:
    """Namespaces that a start tag declares, by prefix, in their quotes."""
    if b"xmlns" not in tag[3]:
        return _NONE
    return {prefix: uri for prefix, uri in _DECLARATION.findall(tag[3]) if len(uri) < _NEAR}


def _known(encoding: str) -> str:
    """Name of an encoding that contains ASCII; UTF-8 for any other."""
    try:
        return encoding if b"<a>".decode(encoding) == "<a>" else "utf-8"
    except (LookupError, UnicodeError):
        return "utf-8"


@functools.lru_cache(maxsize=1)
def _first_kind(head: bytes) -> str | None:
    """Kind of the first record in a head, or of documents without records.

    "" means no XML. None means undecided: the head is too short, or the kind is not known.
    """
    if not _MARKUP.match(head):
        return "" if head.lstrip(MARK + b" \t\r\n") else None
    buffer = Buffer(lambda _: 0)
    buffer.octets = head
    reader = XmlRecords(own=False)
    kind = reader.seek(buffer) or reader.kind_if_empty
    return kind.name if kind else None


def is_kind(kind: str, head: bytes, _name: str) -> bool | None:
    """Whether the first record of a dump that begins like this is of a kind."""
    first = _first_kind(head)
    return None if first is None else first == kind


def show_xml(octets: bytes) -> str:
    """Show a record to a person: one of MARC as other forms of MARC, also within OAI-PMH and SRU; any other as it stands.

    The namespaces around the record are not known here: local names tell what it is.
    """
    prefixes = dict.fromkeys(PREFIX.findall(octets))
    try:
        record, _ = parse(octets, b"".join(b' xmlns:%b="%b"' % (each, each) for each in prefixes), "utf-8")
    except (ValueError, IndexError):  # not well-formed; no element
        return decoded(octets)
    first = next(record.iterchildren("*"), None)
    kind = kind_of(str(record.tag), "" if first is None else str(first.tag))
    fields = kind and marc_fields_in(kind, record)
    return fields.lines() if fields else decoded(octets)


_xml = functools.partial(Format, reader=XmlRecords, suffixes=(".xml",), framed=True)


def _text(octets: bytes, element: Callable[[], etree._Element]) -> bytes:
    """The text of a well-formed record in UTF-8. `element` parses it, which few records need."""
    text = plain_text(octets)
    return parsed_text(element()) if text is None else text


FORMATS = (
    _xml(
        name="marcxml", title="MARCXML", recognise=functools.partial(is_kind, "marcxml"), in_columns=True, show=show_xml
    ),
    _xml(name="mods", title="MODS", recognise=functools.partial(is_kind, "mods")),
    _xml(name="dc", title="Dublin Core", recognise=functools.partial(is_kind, "dc"), numbered=False),
    _xml(name="oai", title="OAI-PMH", recognise=functools.partial(is_kind, "oai"), show=show_xml),
    _xml(name="sru", title="SRU", recognise=functools.partial(is_kind, "sru"), show=show_xml),
    _xml(name="onix", title="ONIX", recognise=functools.partial(is_kind, "onix")),
    _xml(name="pubmed", title="PubMed (XML)", recognise=functools.partial(is_kind, "pubmed")),
    _xml(name="endnote", title="EndNote (XML)", recognise=functools.partial(is_kind, "endnote")),
)
