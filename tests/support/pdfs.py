"""PDFs for tests, as small as can be: text in a font that every reader has, links, outline, metadata, attached files."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_LINE = 14  # points
_LEFT, _TOP = 50, 750
_SECOND = 430
COLUMN = "\v"
_CMAP = b"""begincmap 1 begincodespacerange <00> <FF> endcodespacerange
1 beginbfrange <01> <FF> <0001> endbfrange %b endcmap"""


@dataclass
class Pdf:
    """What is in a PDF."""

    pages: Sequence[Sequence[str | tuple[str, ...]]] = ()
    """The lines of each page, in Latin-1. The parts of a line are set in Courier and Times in turn; a COLUMN before one
    begins a second column.
    """
    links: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """Addresses of links, by the index of the page."""
    linked: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """Addresses of links that cover a line, by the indexes of the page and of the line."""
    outline: Sequence[tuple[str, str]] = ()
    """Titles and addresses."""
    info: Mapping[str, str] = field(default_factory=dict)
    xmp: bytes = b""
    attached: Sequence[tuple[str, bytes]] = ()
    pinned: Sequence[tuple[str, bytes]] = ()
    """Files that are attached to a place of the first page."""
    characters: Mapping[int, str] = field(default_factory=dict)
    """Unicode characters, in hexadecimal digits, of bytes that do not stand for themselves."""
    is_encrypted: bool = False
    repeated: tuple[bytes, int] = (b"", 0)
    """The content of one more page, and how often the tree of pages has it."""

    def build(self) -> bytes:
        """The bytes of the PDF."""
        objects = _Objects()
        font = self._font(objects)
        tree = objects.reserve()
        pinned = [
            objects.add(b"<</Type/Annot/Subtype/FileAttachment/Rect[0 0 9 9]/FS %b>>" % _file(objects, *each))
            for each in self.pinned
        ]
        pages = [
            self._page(objects, number, lines, (tree, font), pinned if number == 0 else [])
            for number, lines in enumerate(self.pages)
        ]
        content, times = self.repeated
        if times:
            stream = objects.stream(zlib.compress(content), b"/Filter/FlateDecode")
            pages += [objects.add(b"<</Type/Page/Parent %b/MediaBox[0 0 9 9]/Contents %b>>" % (tree, stream))] * times
        objects.put(tree, b"<</Type/Pages/Count %d/Kids[%b]>>" % (len(pages), b" ".join(pages)))
        catalog = b"/Type/Catalog/Pages %b" % tree
        if self.outline:
            catalog += b"/Outlines %b" % _outline(objects, self.outline)
        if self.xmp:
            head = b'<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>'
            catalog += b"/Metadata %b" % objects.stream(head + self.xmp + b'<?xpacket end="w"?>', b"/Type/Metadata")
        if self.attached:
            files = b" ".join(b"%b %b" % (_text(name), _file(objects, name, data)) for name, data in self.attached)
            catalog += b"/Names<</EmbeddedFiles<</Names[%b]>>>>" % files
        info = b"".join(b"/%b%b" % (key.encode(), _text(value)) for key, value in self.info.items())
        secret = b"/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<%b>/U<%b>>>/ID[<00><00>]" % (b"11" * 32, b"22" * 32)
        trailer = b"/Root %b/Info %b%b" % (
            objects.add(b"<<%b>>" % catalog),
            objects.add(b"<<%b>>" % info),
            secret if self.is_encrypted else b"",
        )
        return objects.build(trailer)

    def _font(self, objects: _Objects) -> bytes:
        font = b"/Type/Font/Subtype/Type1/BaseFont/Courier/Encoding/WinAnsiEncoding"
        if self.characters:
            pairs = b"".join(b"<%02X> <%b> " % (code, shown.encode()) for code, shown in self.characters.items())
            known = b"%d beginbfchar %bendbfchar" % (len(self.characters), pairs)
            font += b"/ToUnicode %b" % objects.stream(_CMAP % known)
        return objects.add(b"<<%b>>" % font)

    def _page(
        self,
        objects: _Objects,
        number: int,
        lines: Sequence[str | tuple[str, ...]],
        around: tuple[bytes, bytes],
        pinned: list[bytes],
    ) -> bytes:
        content = objects.stream(b"BT %d TL %d %d Td %bET" % (_LINE, _LEFT, _TOP, b"".join(map(_line, lines))))
        places = [(b"50 50 99 99", address) for address in self.links.get(number, ())]
        for (page, line), address in self.linked.items():
            if page == number:
                bottom = _TOP - (line + 1) * _LINE - 2
                places.append((b"%d %d 599 %d" % (_LEFT, bottom, bottom + _LINE - 2), address))
        links = [
            objects.add(b"<</Type/Annot/Subtype/Link/Rect[%b]/A<</S/URI/URI%b>>>>" % (place, _text(address)))
            for place, address in places
        ]
        return objects.add(
            b"<</Type/Page/Parent %b/MediaBox[0 0 600 800]/Resources<</Font<</F %b/G %b>>>>/Contents %b/Annots[%b]>>"
            % (*around, _times(objects), content, b" ".join(links + pinned))
        )


def _times(objects: _Objects) -> bytes:
    return objects.add(b"<</Type/Font/Subtype/Type1/BaseFont/Times-Roman/Encoding/WinAnsiEncoding>>")


def _line(parts: str | tuple[str, ...]) -> bytes:
    """What shows the next line."""
    parts = (parts,) if isinstance(parts, str) else parts
    moved = b"1 0 0 1 %d %d Tm " % (_SECOND, _TOP) if parts[0].startswith(COLUMN) else b""
    shown = (
        b"/%b 12 Tf (%b) Tj " % (font, _escaped(part.removeprefix(COLUMN)))
        for part, font in zip(parts, itertools.cycle((b"F", b"G")), strict=False)
    )
    return moved + b"T* " + b"".join(shown)


class _Objects:
    """Numbered objects, and the references to them."""

    def __init__(self) -> None:
        self._objects: list[bytes] = []

    def reserve(self) -> bytes:
        """Make room for an object that refers to later ones."""
        return self.add(b"")

    def add(self, data: bytes) -> bytes:
        self._objects.append(data)
        return b"%d 0 R" % len(self._objects)

    def put(self, reference: bytes, data: bytes) -> None:
        self._objects[int(reference.split()[0]) - 1] = data

    def stream(self, data: bytes, more: bytes = b"") -> bytes:
        return self.add(b"<<%b/Length %d>>stream\n%b\nendstream" % (more, len(data), data))

    def build(self, trailer: bytes) -> bytes:
        out, places = b"%PDF-1.7\n", []
        for number, data in enumerate(self._objects, 1):
            places.append(len(out))
            out += b"%d 0 obj\n%b\nendobj\n" % (number, data)
        table = b"".join(b"%010d 00000 n \n" % place for place in places)
        head = b"xref\n0 %d\n0000000000 65535 f \n%btrailer\n" % (len(places) + 1, table)
        return out + head + b"<</Size %d%b>>\nstartxref\n%d\n%%%%EOF\n" % (len(places) + 1, trailer, len(out))


def _file(objects: _Objects, name: str, data: bytes) -> bytes:
    """A reference to an attached file."""
    content = objects.stream(data, b"/Type/EmbeddedFile")
    return objects.add(b"<</Type/Filespec/F%b/UF%b/EF<</F %b>>>>" % (_text(name), _text(name), content))


def _outline(objects: _Objects, entries: Sequence[tuple[str, str]]) -> bytes:
    """A reference to an outline of one level."""
    root = objects.reserve()
    items = [objects.reserve() for _ in entries]
    for number, (title, address) in enumerate(entries):
        following = b"/Next %b" % items[number + 1] if number + 1 < len(items) else b""
        action = b"/A<</S/URI/URI%b>>" % _text(address) if address else b""
        objects.put(items[number], b"<</Title%b/Parent %b%b%b>>" % (_text(title), root, following, action))
    objects.put(root, b"<</First %b/Last %b/Count %d>>" % (items[0], items[-1], len(items)))
    return root


def _text(text: str) -> bytes:
    """A string of a PDF: Latin-1 if it can be, else UTF-16."""
    try:
        return b"(%b)" % _escaped(text)
    except UnicodeEncodeError:
        return b"<%b>" % ("\ufeff" + text).encode("utf-16-be").hex().encode()


def _escaped(text: str) -> bytes:
    return text.encode("latin-1").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
