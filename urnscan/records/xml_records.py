"""Records in XML 1.0: their starts and ends in a document, or in several documents one after the other.

Outside of records all tags are read, for the namespaces in scope. Inside a record, only tags with the name of the
record are read, and markup that may hide tags (comments, CDATA sections, processing instructions). No byte is searched
twice, so the time is linear in any input.

A record is then parsed alone (`xml_kinds`): if it is not well-formed, only this record is lost. No tree of the document
is made, and no DTD is read. lxml cannot find the records, because it does not report at which byte an element begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np
import pyarrow as pa

from urnscan.compiled.arrow import bytes_array
from urnscan.compiled.bytes import Integers
from urnscan.framing.buffer import LONGEST, Buffer
from urnscan.framing.lines import Damaged, too_long
from urnscan.records.marc_runs import Fields
from urnscan.records.marcxml_runs import fields_of
from urnscan.records.record import Cut, Record, Run, RunReader
from urnscan.records.xml_kinds import (
    KINDS,
    LOOSE_NAMES,
    Kind,
    described,
    empty_kind,
    identifier,
    is_deleted,
    kind_of,
    levels_of,
    local,
    marc_fields_in,
    own,
)
from urnscan.records.xml_runs import find_elements
from urnscan.records.xml_scope import NCNAME, Scope
from urnscan.records.xml_text import is_empty_element, parse, parsed_text, plain_text

# A start tag or an end tag; the pattern also fits texts that are not tags.
_TAG = re.compile(
    rb"<(/?)(" + NCNAME + rb"(?>(?::" + NCNAME + rb")?))(?=\s|/?>)((?>(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*))>"
)
_DECLARATION = re.compile(rb"\sxmlns(?>(?::(" + NCNAME + rb"))?)\s*+=\s*+(\"[^\"]*+\"|'[^']*+')")
_ENCODING = re.compile(
    rb"\sencoding\s*+=\s*+[\"']((?i:iso[-_]?8859|latin|windows|cp12|koi8|mac|gb|big5|euc|shift)[A-Za-z0-9._-]*+)"
)
_COMMENT, _INSTRUCTION = rb"<!--(?>(?:[^-]|-(?!->))*)-->", rb"<\?(?>(?:[^?]|\?(?!>))*)\?>"
_MISCELLANEOUS = re.compile(rb"(?>(?:\s++|" + _COMMENT + rb"|" + _INSTRUCTION + rb")*)")
_DOCTYPE = re.compile(
    rb"<!DOCTYPE\s(?>(?:[^\[\"'<>]++|\"[^\"]*+\"|'[^']*+')*)"
    rb"(?>(?:\[(?>(?:[^\]\"'<]++|\"[^\"]*+\"|'[^']*+'|"
    + _COMMENT
    + rb"|"
    + _INSTRUCTION
    + rb"|<(?!!--|\?))*)\]\s*+)?)>"
)
_DOCUMENT_BEGINS = re.compile(rb"<(?:\?xml|!DOCTYPE)\s")
_NOTHING = re.compile(rb"(?!)")
_HIDING = ((b"<!--", b"-->"), (b"<![CDATA[", b"]]>"), (b"<?", b"?>"))

# Elements in which a record may contain the records from which it was made.
_EXTENSION = re.compile(rb"<(/?)(?>(?:" + NCNAME + rb":)?)(?:extension|extraRecordData)(?=[\s/>])[^<>]*+(?<!/)>")

# Bytes to look ahead, for example from a start tag to the first element inside; also bytes of the longest namespace.
_NEAR = 1 << 10
# Bytes that may be searched in vain for each byte read, so that time is linear.
_ASTRAY = 4
# Maximum number of bytes of a document type declaration, and of records that a call finds.
_MAX_DOCTYPE, _RUN = 1 << 16, 1 << 12
_NONE: Mapping[bytes, bytes] = MappingProxyType({})


class XmlRecords(RunReader):
    """Reader of records in XML, in one document or several. All records of a dump are of the kind (MARCXML, MODS and
    others) of the first record.
    """

    def __init__(self, *, own: bool, described: bool = False, keys: bool = False) -> None:
        super().__init__(own=own, described=described, keys=keys)
        self._scope = Scope()
        self._kind: Kind | None = None
        self._empty: Kind | None = None
        # Name of the elements that are records, with its prefix.
        self._name = b""
        # Pattern of the tags and the markup that decide the end of a record.
        self._marks = _NOTHING
        # Offset from which on a document type declaration is searched: the last declaration had no end.
        # The encoding by the last XML declaration, up to the next element: a document type declaration may be between.
        self._declared = "utf-8"
        self._doctype_from = 0
        # Bytes that were searched for the ends of records that have no end.
        self._astray = 0
        # Ends of comments and other markup -> offset before which the end is missing.
        self._no_end_before: dict[bytes, int] = {}

    def find(self, buffer: Buffer) -> Iterator[Cut | Damaged | Run]:
        """Yield the records in order, with their places and bytes: a `Run` for neighbouring records in the usual form
        (one or more), a `Cut` for one record, and a `Damaged` (place and reason) for a record that is truncated or too
        long. `around` has the name of the kind, the namespaces around the record, and the encoding. Reads on in the
        buffer as needed.
        """
        while kind := self.seek(buffer):
            if run := self._run(buffer):
                if self._scope.is_large:
                    yield from (cut._replace(around=self._around(kind, cut.data)) for cut in run.cuts())
                else:
                    yield run._replace(around=self._around(kind, run.data))
                continue
            offset = buffer.offset
            length, damage = self._length(buffer, kind)
            data = buffer.take(length)
            yield damage or Cut(offset, data, self._around(kind, data))

    def _around(self, kind: Kind, data: bytes) -> tuple[str, bytes, str]:
        return kind.name, self._scope.declarations(data), self._scope.encoding

    def _run(self, buffer: Buffer) -> Run | None:
        """Take neighbouring records in the usual form from the front of the buffer, which begins with a record. None if
        this one is unusual, not wholly in memory, or may be too long.
        """
        data, at = buffer.data, buffer.at
        # A record may be too long.
        if len(data) - at > LONGEST:
            return None
        starts, ends = np.empty((2, _RUN), np.int64)
        count = find_elements(np.frombuffer(data, np.uint8), at, np.frombuffer(self._name, np.uint8), starts, ends)
        if not count:
            return None
        bytes_of_run = data[at : ends[count - 1]]
        run = Run(buffer.offset, bytes_of_run, starts[:count] - at, ends[:count] - at)
        buffer.at += len(bytes_of_run)
        return run

    def fields_of(self, run: Run) -> Fields:
        """Return the fields of the records in a run, in columns, if they are MARCXML in its most usual form. Any other
        record has -1 (REFUSED) as its number of fields, and no fields: then the method `record` must read it.
        """
        kind, declarations, encoding = run.around
        if kind != "marcxml" or encoding != "utf-8":
            return Fields.room(np.empty(0, np.uint8), len(run.ends), 0)
        return fields_of(run, declarations)

    def texts_of(self, run: Run, numbers: Integers) -> pa.BinaryArray:
        """Return a text to scan for URNs for each record in `numbers` (indices in the run, from 0), in that order: in
        UTF-8, with characters instead of references. Only for records that `fields_of` could read.
        """
        _, declarations, encoding = run.around
        texts = []
        for cut in run.cuts(numbers):
            text = plain_text(cut.data)
            texts.append(parsed_text(parse(cut.data, declarations, encoding)[0]) if text is None else text)
        return bytes_array(texts)

    def record(self, cut: Cut) -> Record | Damaged:
        """Parse a record, and read its fields. Returns a `Record` with its ID and, by the options of the reader, texts
        to scan for URNs (with `own`, record-level identifiers instead), identifiers that give keys (`keys`) and a
        description (`described`); only with the ID if the record is deleted. Returns a `Damaged` if it is not
        well-formed.
        """
        offset, data, (name_of_kind, declarations, encoding) = cut
        kind = KINDS[name_of_kind]
        try:
            element, utf8 = parse(data, declarations, encoding)
        except ValueError as error:
            return Damaged(offset, str(error))
        levels = levels_of(kind, element)
        name = identifier(levels)
        if is_deleted(kind, element):
            return Record(offset, data, name, is_deleted=True)
        texts: tuple[bytes, ...] = ()
        if self.has_texts:
            text = plain_text(utf8)
            texts = (parsed_text(element) if text is None else text,)
        description, marc_fields = described(levels, self.described_fields), marc_fields_in(levels)
        marc = marc_fields.data(self.marc.tags) if marc_fields else None
        return Record(offset, data, name, texts, own(levels, self.own_fields), description, marc)

    @property
    def kind_if_empty(self) -> Kind | None:
        """To be read at the end of a document: the kind of records that its elements show (MODS for
        `<modsCollection/>`), the first one. None if a record was found, if an element is still open, or if no element
        shows a kind.
        """
        return None if self._kind or self._scope.open else self._empty

    def seek(self, buffer: Buffer) -> Kind | None:
        """Go forward to the start tag of the next record: take the bytes before it from the buffer, and return the kind
        of the record. The tag is not taken. Without a further record, take all bytes and return None.
        """
        while True:
            at = buffer.data.find(b"<", buffer.at)
            if at < 0:
                buffer.at = len(buffer.data)
                if not buffer.more():
                    return None
                continue
            buffer.at = at
            buffer.has(_NEAR)
            mark = self._marks.match(buffer.data, buffer.at)
            if mark and mark["start"]:
                return self._kind
            if buffer.data.startswith((b"<!", b"<?"), buffer.at):
                self._pass_by(buffer)
                continue
            tag = _tag(buffer, 0)
            if tag is None:
                buffer.at += 1
                continue
            if tag[1]:
                self._scope.end(tag[2])
            elif kind := self._read_start_tag(buffer, tag):
                return kind
            buffer.at += len(tag[0])

    def _read_start_tag(self, buffer: Buffer, tag: re.Match[bytes]) -> Kind | None:
        """Read a start tag at the front of the buffer, without taking it. Returns the kind of the record that begins
        with it; None for another element, or a record of another kind than the first, which is then opened in the scope
        (unless empty).
        """
        self._declared = "utf-8"
        declared = _declarations_in(tag)
        name = self._scope.expanded(tag[2], declared)
        is_loose = local(name) in LOOSE_NAMES
        kind = kind_of(name, self._first_element_in(buffer, 0, tag, declared) if is_loose else "")
        if kind and (self._kind or kind) is kind:
            self._kind, self._name = kind, tag[2]
            escaped_name = re.escape(tag[2])
            self._marks = re.compile(
                rb"<(?:(?P<end>/" + escaped_name + rb"\s{0,1000}+>)|(?P<start>" + escaped_name + rb")(?=[\s/>])|[!?])"
            )
            return kind
        self._empty = self._empty or empty_kind(name, tag[3])
        if not tag[0].endswith(b"/>"):
            self._scope.start(tag[2], declared)
        return None

    def _pass_by(self, buffer: Buffer) -> None:
        """Take a comment, CDATA section, processing instruction or document type declaration from the front of the
        buffer; 2 bytes if it has no end. At the beginning of a document, no element is open.
        """
        if _DOCUMENT_BEGINS.match(buffer.data, buffer.at):
            self._scope.clear()
            if buffer.data.startswith(b"<?", buffer.at):
                end = buffer.data.find(b"?>", buffer.at, buffer.at + _NEAR)
                declared = _ENCODING.search(buffer.data, buffer.at, end if end >= 0 else buffer.at + _NEAR)
                self._declared = _known_encoding(declared[1].decode()) if declared else "utf-8"
            self._scope.encoding = self._declared
            if buffer.offset >= self._doctype_from:
                buffer.has(_MAX_DOCTYPE)
                doctype = _DOCTYPE.match(buffer.data, buffer.at, buffer.at + _MAX_DOCTYPE)
                if doctype:
                    buffer.at = doctype.end()
                    return
                if buffer.data.startswith(b"<!", buffer.at):
                    self._doctype_from = buffer.offset + _MAX_DOCTYPE
        # In two steps, as `buffer.at` changes when more bytes are read.
        distance = self._hidden(buffer, 0) or 2
        buffer.at += distance

    def _hidden(self, buffer: Buffer, start: int) -> int:
        """Distance, in bytes from the next byte to be taken, to the end of a comment, CDATA section or processing
        instruction at the distance `start`; 0 if there is none, or no end.
        """
        for begins, ends in _HIDING:
            if buffer.data.startswith(begins, buffer.at + start):
                after = max(start + len(begins), self._no_end_before.get(ends, 0) - buffer.offset)
                end = buffer.find(ends, after)
                if end >= 0:
                    return end + len(ends)
                searched = min(len(buffer.data) - buffer.at - len(ends), LONGEST)
                self._no_end_before[ends] = buffer.offset + max(after, searched)
                return 0
        return 0

    def _first_element_in(
        self, buffer: Buffer, start: int, tag: re.Match[bytes], declared: Mapping[bytes, bytes]
    ) -> str:
        """Name, with its namespace, of the first element inside the element whose start tag is at the distance `start`
        (bytes from the next byte to be taken); empty if none begins soon. `declared`: namespaces of the tag.
        """
        start += len(tag[0])
        buffer.has(start + _NEAR)
        if tag[0].endswith(b"/>"):
            return ""
        start, end = buffer.at + start, buffer.at + start + _NEAR
        between = _MISCELLANEOUS.match(buffer.data, start, end)
        child = _TAG.match(buffer.data, between.end() if between else start, end)
        return self._scope.expanded(child[2], _declarations_in(child), declared) if child and not child[1] else ""

    def _length(self, buffer: Buffer, kind: Kind) -> tuple[int, Damaged | None]:
        """Length in bytes of the record at the front of the buffer, and a `Damaged` if it is truncated or too long;
        then reading can go on after it.
        """
        offset = buffer.offset
        tag = _tag(buffer, 0)
        at = len(tag[0]) if tag else 1 + len(self._name)
        if tag and tag[0].endswith(b"/>"):
            return at, None
        depth = 1
        # Distance to the first record in an extension of the record.
        nested: int | None = None
        # Number of open extensions, and of the bytes in which they were counted.
        extensions = seen = 0
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
                    tags = _EXTENSION.finditer(buffer.data, buffer.at + seen, buffer.at + at)
                    extensions += sum(-1 if extension[1] else 1 for extension in tags)
                    seen = at
                # Outside of extensions, a record never contains a record of its own kind. A kind that `holds` may
                # contain a record of another kind with the same element name.
                if extensions > 0 and self._astray <= _ASTRAY * (buffer.offset + _NEAR * _NEAR):
                    nested = nested or at
                elif not kind.holds or (
                    tag and local(self._first_element_in(buffer, at, tag, _NONE)) in kind.beginnings
                ):
                    return at, Damaged(offset, "it is truncated: another record begins in it")
                depth += not (tag and tag[0].endswith(b"/>"))
                at += len(mark[0])
            elif _DOCUMENT_BEGINS.match(buffer.data, mark.start()):
                self._astray += at if nested else 0
                return nested or at, Damaged(offset, "it is truncated: another document begins in it")
            else:
                at = self._hidden(buffer, at) or at + 2
        available = len(buffer.data) - buffer.at
        # The record has no end, so the inner record is not in an extension: the outer record has lost its end before
        # the inner.
        if nested is not None:
            self._astray += available
            return nested, Damaged(offset, "it is truncated: another record begins in it")
        if available > LONGEST:
            return LONGEST, too_long(offset)
        return available, Damaged(offset, "it is truncated: the dump ends in it")


def _tag(buffer: Buffer, start: int) -> re.Match[bytes] | None:
    """The start tag or end tag at the distance `start` (bytes from the next byte to be taken); None without a whole
    tag.
    """
    while True:
        at = buffer.at + start
        tag = _TAG.match(buffer.data, at, at + LONGEST)
        if tag or buffer.data.find(b"<", at + 1, at + LONGEST) >= 0:
            return tag
        if len(buffer.data) - at >= LONGEST or not buffer.more():
            return None


def _declarations_in(tag: re.Match[bytes]) -> Mapping[bytes, bytes]:
    """Namespaces that a start tag declares: prefix (b"" for the default namespace) -> namespace in quotes, without
    those that are long or not a URI.
    """
    if b"xmlns" not in tag[3]:
        return _NONE
    # A wrong byte in the namespace of the element around all records would damage each of them.
    return {
        declaration[1] or b"": declaration[2]
        for declaration in _DECLARATION.finditer(tag[3])
        if len(declaration[2]) < _NEAR and is_empty_element(b"<a%b/>" % declaration[0])
    }


def _known_encoding(encoding: str) -> str:
    try:
        return encoding if b"<a>".decode(encoding) == "<a>" else "utf-8"
    except (LookupError, UnicodeError):
        return "utf-8"
