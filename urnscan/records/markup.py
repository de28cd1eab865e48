"""Records cut out of XML: where in a document, or in several one behind the other, each begins and ends (XML 1.0).

Outside of records every tag is looked at, for the namespaces that are in scope where a record begins. Inside only tags of
its own name are, and what hides such: comments, CDATA sections, processing instructions. No octet is looked for twice, so
time is linear whatever the octets are. What a record says is told by `markup_fields.py`, record by record: neither a tree
of the document is made, nor its DTD read.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

from urnscan.framing.buffer import LONGEST, MARK, Buffer
from urnscan.framing.lines import too_long
from urnscan.records.markup_fields import TOLD_BY_BEGINNING, Kind, Parser, held, identifier, kind_of, local, own, texts
from urnscan.records.record import Damaged, Record

__all__ = ["MarkupRecords", "is_dublin_core", "is_marcxml", "is_mods", "is_oai_pmh", "is_onix", "is_sru"]

_NCNAME = rb"[A-Za-z_\x80-\xff][A-Za-z0-9_.\x80-\xff-]*+"
_TAG = re.compile(  # a start tag as loose as it can be told, or an end tag
    rb"<(/?)(" + _NCNAME + rb"(?::" + _NCNAME + rb")?+)(?=\s|/?>)((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+)>"
)
_DECLARATION = re.compile(rb"\sxmlns(?::(" + _NCNAME + rb"))?+\s*+=\s*+(\"[^\"]*+\"|'[^']*+')")
_ENCODING = re.compile(
    rb"\sencoding\s*+=\s*+[\"']((?i:iso[-_]?8859|latin|windows|cp12|koi8|mac|gb|big5|euc|shift)[A-Za-z0-9._-]*+)"
)
_COMMENT, _INSTRUCTION = rb"<!--(?:[^-]|-(?!->))*+-->", rb"<\?(?:[^?]|\?(?!>))*+\?>"
_MISCELLANEOUS = re.compile(rb"(?:\s++|" + _COMMENT + rb"|" + _INSTRUCTION + rb")*+")
_DOCTYPE = re.compile(
    rb"<!DOCTYPE\s(?:[^\[\"'<>]++|\"[^\"]*+\"|'[^']*+')*+"
    rb"(?:\[(?:[^\]\"'<]++|\"[^\"]*+\"|'[^']*+'|" + _COMMENT + rb"|" + _INSTRUCTION + rb"|<(?!!--|\?))*+\]\s*+)?+>"
)
_CLOSED = re.compile(rb"\s*+>")
_DOCUMENT = re.compile(rb"<(?:\?xml|!DOCTYPE)\s")
_MARKUP = re.compile(rb"(?:" + MARK + rb")?\s*+<[!?A-Za-z_\x80-\xff]")
_ENDS = frozenset((b" ", b"\t", b"\r", b"\n", b"/", b">"))  # of a name

_NEAR = 1 << 10  # octets that are looked ahead, as from the start tag of a record to the first element in it
_DOCTYPE_MOST = 1 << 16  # octets
_WINDOW = 1 << 16  # octets that are looked through at a time, as what is looked for may be another for each record
_DEEPEST = 1 << 8  # elements around a record
_DECLARED_MOST = 1 << 14  # octets of namespaces declared around a record
_FEW = 32  # prefixes; of more only those are declared that a record has
_PREFIX = re.compile(rb"[<\s](" + _NCNAME + rb"):")
_HIDING = ((b"<!--", b"-->"), (b"<![CDATA[", b"]]>"), (b"<?", b"?>"))


class _Scope:
    """The elements that are open around a record, with the namespaces that they declare."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Nothing is open: a document begins."""
        self._open: list[tuple[bytes, Mapping[bytes, bytes]]] = []
        self._count: Counter[bytes] = Counter()
        self._deeper = 0
        self._bound: dict[bytes, list[bytes]] = {}
        self._declarations: bytes | None = None
        self.encoding = "utf-8"

    def start(self, name: bytes, declared: Mapping[bytes, bytes]) -> None:
        """An element begins."""
        if len(self._open) == _DEEPEST:
            self._deeper += 1
            return
        self._open.append((name, declared))
        self._count[name] += 1
        for prefix, uri in declared.items():
            self._bound.setdefault(prefix, []).append(uri)
            self._declarations = None

    def end(self, name: bytes) -> None:
        """An element ends, and with it what was left open in it; nothing if there is none."""
        if self._deeper:
            self._deeper -= 1
            return
        if name not in self._count:
            return
        ended = b""
        while ended != name:
            ended, declared = self._open.pop()
            self._count[ended] -= 1
            if not self._count[ended]:
                del self._count[ended]
            for prefix in declared:
                self._bound[prefix].pop()
                if not self._bound[prefix]:
                    del self._bound[prefix]
                self._declarations = None
        if not self._open:
            self.clear()

    def expanded(self, name: bytes, *declared: Mapping[bytes, bytes]) -> str:
        """A name as `{namespace}local`, where besides what is open this is declared, the innermost first."""
        prefix, _, local_name = name.rpartition(b":")
        bound = self._bound.get(prefix)
        uri = next((names[prefix] for names in declared if prefix in names), bound[-1] if bound else b'""')
        namespace = uri[1:-1].decode("utf-8", "replace").strip()
        name_there = local_name.decode("utf-8", "replace")
        return f"{{{namespace}}}{name_there}" if namespace else name_there

    @property
    def is_open(self) -> bool:
        """Whether an element is open."""
        return bool(self._open)

    def declarations(self, record: bytes) -> bytes:
        """All that are in scope, or those of them that a record needs, as attributes in UTF-8."""
        if len(self._bound) > _FEW:
            return self._declared(dict.fromkeys((b"", *_PREFIX.findall(record))))
        if self._declarations is None:
            self._declarations = self._declared(self._bound)
        return self._declarations

    def _declared(self, prefixes: Iterable[bytes]) -> bytes:
        """What these prefixes stand for, as far as it is declared."""
        found = b""
        for prefix in prefixes:
            uris = self._bound.get(prefix)
            if uris and len(found) + len(uris[-1]) < _DECLARED_MOST:
                found += b" xmlns%b%b=%b" % (b":" if prefix else b"", prefix, uris[-1])
        return found.decode(self.encoding, "replace").encode()


class MarkupRecords:
    """The records of the kind of the first that is found, each with the elements in it."""

    def __init__(self, *, own: bool) -> None:
        """`own`: only identifiers of the records themselves are asked for."""
        self._own = own
        self._scope = _Scope()
        self._parser = Parser()
        self._kind: Kind | None = None
        self._held: Kind | None = None
        self._name = b""  # of the element that is a record, as it stands in its tags
        self._opening = self._closing = b""
        self._doctype_from = 0  # up to here it is in vain to look for the end of one
        # For each that was looked for: where the next is, or up to where there is none.
        self._places: dict[bytes, tuple[int, bool]] = {}

    def read(self, buffer: Buffer) -> Iterator[Record | Damaged]:
        """The records; what is around them is none."""
        while kind := self.seek(buffer):
            offset = buffer.offset
            length, damage = self._cut(buffer, kind)
            octets = buffer.take(length)
            yield damage or self._read(kind, offset, octets)

    def _read(self, kind: Kind, offset: int, octets: bytes) -> Record | Damaged:
        try:
            element, utf8 = self._parser.parse(octets, self._scope.declarations(octets), self._scope.encoding)
        except ValueError as error:
            return Damaged(offset, str(error))
        name = identifier(kind, element)
        if kind.is_deleted(element):
            return Record(offset, octets, name)
        if self._own:
            return Record(offset, octets, name, own=own(kind, element))
        return Record(offset, octets, name, texts(element, utf8))

    @property
    def none_of(self) -> Kind | None:
        """The kind of which the documents that were read have no records; None if they have some, or have not ended."""
        return None if self._kind or self._scope.is_open else self._held

    def seek(self, buffer: Buffer) -> Kind | None:
        """Go on to the start tag of the next record; None where there is none, and all is taken."""
        while True:
            found = buffer.octets.find(b"<", buffer.at)
            if found < 0:
                buffer.at = len(buffer.octets)
                if not buffer.more():
                    return None
                continue
            buffer.at = found
            buffer.has(_NEAR)
            if self._kind and self._opens(buffer, 0):
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
            else:
                declared = _declared(tag)
                name = self._scope.expanded(tag[2], declared)
                told = local(name) in TOLD_BY_BEGINNING
                kind = kind_of(name, self._first_within(buffer, 0, tag, declared) if told else "")
                if kind and (self._kind or kind) is kind:
                    self._kind = kind
                    self._name, self._opening, self._closing = tag[2], b"<" + tag[2], b"</" + tag[2]
                    self._places = {needle: place for needle, place in self._places.items() if len(needle) < 4}
                    return kind
                self._held = self._held or held(name, tag[3])
                if not tag[0].endswith(b"/>"):
                    self._scope.start(tag[2], declared)
            buffer.at += len(tag[0])

    def _pass_by(self, buffer: Buffer) -> None:
        """Go on behind a comment, a CDATA section, a processing instruction or a document type declaration."""
        if _begins_document(buffer, 0):
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
        distance = self._hidden(buffer, 0) or 2  # on its own: where more is read, `at` is another then
        buffer.at += distance

    def _hidden(self, buffer: Buffer, start: int) -> int:
        """The distance to the end of what hides tags, if that begins at this distance, and ends; else 0."""
        for begins, ends in _HIDING:
            if buffer.octets.startswith(begins, buffer.at + start):
                at, limit = buffer.offset + start + len(begins), buffer.offset + LONGEST
                while True:
                    place, found = self._place(buffer, ends, at, limit)
                    if found and place < limit:
                        return place + len(ends) - buffer.offset
                    if place >= limit or not buffer.more():
                        return 0
        return 0

    def _opens(self, buffer: Buffer, start: int) -> bool:
        """Whether a start tag of the name of the records is at this distance."""
        at = buffer.at + start
        end = at + len(self._opening)
        return buffer.octets.startswith(self._opening, at) and buffer.octets[end : end + 1] in _ENDS

    def _first_within(self, buffer: Buffer, start: int, tag: re.Match[bytes], declared: Mapping[bytes, bytes]) -> str:
        """The name of the first element within that whose start tag is at this distance; empty for none."""
        start += len(tag[0])
        buffer.has(start + _NEAR)
        if tag[0].endswith(b"/>"):
            return ""
        start, end = buffer.at + start, buffer.at + start + _NEAR
        between = _MISCELLANEOUS.match(buffer.octets, start, end)
        child = _TAG.match(buffer.octets, between.end() if between else start, end)
        return self._scope.expanded(child[2], _declared(child), declared) if child and not child[1] else ""

    def _cut(self, buffer: Buffer, kind: Kind) -> tuple[int, Damaged | None]:
        """The length of the record that begins here, and what is wrong with it."""
        offset = buffer.offset
        tag = _tag(buffer, 0)
        at = len(tag[0]) if tag else len(self._opening)
        if tag and tag[0].endswith(b"/>"):
            return at, None
        depth = 1
        while True:
            at, needle = self._next(buffer, at)
            if at > LONGEST:
                return LONGEST, too_long(offset)
            if not needle:
                return at, Damaged(offset, "it is cut off: the dump ends in it")
            buffer.has(at + _NEAR)
            if needle == self._closing:
                closed = _CLOSED.match(buffer.octets, buffer.at + at + len(needle), buffer.at + at + _NEAR)
                at += len(needle)
                if closed:
                    at += len(closed[0])
                    depth -= 1
                    if not depth:
                        return at, None
            elif needle != self._opening:
                if _begins_document(buffer, at):
                    return at, Damaged(offset, "it is cut off: another document begins in it")
                at = self._hidden(buffer, at) or at + 2
            elif self._opens(buffer, at):
                tag = _tag(buffer, at)
                # One kind does not stand in itself. In what holds records of other kinds these may have the same name.
                if not kind.holds or (tag and local(self._first_within(buffer, at, tag, _NONE)) in kind.begins):
                    return at, Damaged(offset, "it is cut off: another record begins in it")
                depth += not (tag and tag[0].endswith(b"/>"))
                at += len(needle)
            else:
                at += len(needle)

    def _next(self, buffer: Buffer, start: int) -> tuple[int, bytes]:
        """The next of what the end of a record goes by: its distance, and which it is; nothing at the end of the dump."""
        at = buffer.offset + start
        reach = at + _WINDOW
        while True:
            nearest, which = reach, b""
            for needle in (self._closing, self._opening, b"<!", b"<?"):
                place, found = self._place(buffer, needle, at, nearest)
                if found and place < nearest:
                    nearest, which = place, needle
            held = buffer.offset - buffer.at + len(buffer.octets)
            if which or reach - buffer.offset > LONGEST:
                return nearest - buffer.offset, which
            if reach < held:
                reach += _WINDOW
            elif not buffer.more():
                return held - buffer.offset, b""

    def _place(self, buffer: Buffer, needle: bytes, at: int, limit: int) -> tuple[int, bool]:
        """Where in the dump these octets stand next, from `at` on; else up to where they do not begin, as far as is held.
        From `limit` on they are not looked for.
        """
        known = self._places.get(needle, _NOWHERE)
        if known[0] >= (at if known[1] else limit):
            return known
        base = buffer.offset - buffer.at
        start, end = max(at, known[0]) - base, min(limit - base + len(needle) - 1, len(buffer.octets))
        if len(needle) == 2:  # one octet is found ten times as fast as two, and most records do not have it
            found = buffer.octets.find(needle[1:], start + 1, end) - 1
            if found >= 0 and buffer.octets[found] != needle[0]:
                found = buffer.octets.find(needle, found, end)
        else:
            found = buffer.octets.find(needle, start, end)
        known = (base + found, True) if found >= 0 else (base + max(start, end - len(needle) + 1), False)
        self._places[needle] = known
        return known


_NOWHERE = (0, False)
_NONE: Mapping[bytes, bytes] = MappingProxyType({})


def _tag(buffer: Buffer, start: int) -> re.Match[bytes] | None:
    """The tag at this distance; None if it is none, as where another begins in it."""
    while True:
        at = buffer.at + start
        tag = _TAG.match(buffer.octets, at, at + LONGEST)
        if tag or buffer.octets.find(b"<", at + 1, at + LONGEST) >= 0:
            return tag
        if len(buffer.octets) - at >= LONGEST or not buffer.more():
            return None


def _declared(tag: re.Match[bytes]) -> Mapping[bytes, bytes]:
    """The namespaces that a start tag declares, by prefix, in the quotes in which they stand."""
    if b"xmlns" not in tag[3]:
        return _NONE
    return {prefix: uri for prefix, uri in _DECLARATION.findall(tag[3]) if len(uri) < _NEAR}


def _begins_document(buffer: Buffer, start: int) -> bool:
    """Whether an XML or document type declaration is at this distance: with one of these a document begins."""
    return _DOCUMENT.match(buffer.octets, buffer.at + start) is not None


def _known(encoding: str) -> str:
    """An encoding that has ASCII in it, UTF-8 for what is unknown."""
    try:
        return encoding if b"<a>".decode(encoding) == "<a>" else "utf-8"
    except (LookupError, UnicodeError):
        return "utf-8"


@functools.lru_cache(maxsize=1)
def _first_kind(head: bytes) -> str | None:
    """The kind of the first record in a head, or that of which whole documents have none; None where it is too short to
    tell, "" where that is not XML.
    """
    if not _MARKUP.match(head):
        return "" if head.lstrip(MARK + b" \t\r\n") else None
    buffer = Buffer(lambda _: 0)
    buffer.octets = head
    reader = MarkupRecords(own=False)
    kind = reader.seek(buffer) or reader.none_of
    return kind.name if kind else None


def _recogniser(kind: str) -> Callable[[bytes, str], bool | None]:
    def recognise(head: bytes, _name: str) -> bool | None:
        """Whether the first record of a dump that begins like this is of the kind."""
        first = _first_kind(head)
        return None if first is None else first == kind

    return recognise


is_oai_pmh = _recogniser("oai-pmh")
is_sru = _recogniser("sru")
is_marcxml = _recogniser("marcxml")
is_mods = _recogniser("mods")
is_dublin_core = _recogniser("dc")
is_onix = _recogniser("onix")
