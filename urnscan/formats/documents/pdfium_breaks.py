r"""Names that a line end breaks on a page of a PDF: links and fonts show whether they go on. It imports nothing of this package.

The rule of the view `wraps` knows words alone. A page also has a link and a font at each of its characters:
  * A link at the name leads to an address that contains the part before the line end. The text after it there is
    what the next line begins with (the name goes on), or nothing (it ends). It also tells a hyphen that was drawn where a
    word was divided from one of the name.
  * The next line begins in another font: the name ends.
  * The next line begins in the font of the name, and the text before or after the name has another one, as around
    `\url` and `\texttt`: the name goes on after one of `: / . - _ @ ? = & # +`, if its line is filled, and the next one
    is the next one of the column, or the first one of the next column.
The mark after the part of a name is one that `wraps` knows: U+2060 where it goes on, U+00AD in place of a hyphen that is
none of the name. Where it ends, a U+2029 keeps `wraps` from joining it.
"""

from __future__ import annotations

import ctypes
import functools
import re
from bisect import bisect
from collections.abc import Iterator
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

_GOES_ON, _DIVIDED, _ENDS = "\u2060", "\xad", "\u2029"
_HYPHEN = "\ufffe"
"""One sign of pdfium for a hyphen and a line end. It is also used for a glyph without a character."""
_SOFT = 2  # its number where pdfium counts characters
_LONGEST_FONT = 200
# Bytes of an address; few are longer.
_LONG_ADDRESS = 500
_BYTES = r"[A-Za-z0-9._~!$&'()*+,;=:@/?#%-]"
_LINE_END = rf"{_HYPHEN}|[ \t]{{0,4}}\r\n[ \t]{{0,60}}"
_NAME = re.compile(rf"(?P<part>[Uu][Rr][Nn]:{_BYTES}*)(?P<runs>(?:(?:{_LINE_END})(?![Uu][Rr][Nn]:){_BYTES}+){{0,4}})")
_RUN = re.compile(rf"({_LINE_END})({_BYTES}+)")
_DELIMITERS = ":/.-_@?=&#+"
_FILLED = 2 / 3  # of the width of the column
_PITCH = 2  # heights of a line from one to the next
_AROUND = 10  # lines before and after a line that show the width of its column
_INDENT = 4  # heights of a line by which lines of a column begin apart from each other


class _Box(NamedTuple):
    """The place of a character, in points from the lower left corner of the page."""

    left: float
    bottom: float
    right: float
    top: float


class _Break(NamedTuple):
    """A line end in what may be a name; the numbers are places in the text."""

    start: int
    """The beginning of the name."""
    first: int
    """The beginning of the name in the line that ends."""
    last: int
    """The last character before the line end."""
    following: int
    """The first character of the next line."""
    end: int
    """The end of what may go on with the name there."""
    part: str
    run: str


class Breaks:
    """The text of a page, and the line ends that break names in it."""

    def __init__(self, text: PdfTextPage, page: PdfPage, pdf: PdfDocument) -> None:
        from pypdfium2 import raw  # noqa: PLC0415 (a process loads it with its first PDF)

        self._raw = raw
        self._characters = text.get_text_range()
        self._text, self._page, self._pdf = text, page, pdf
        self._known_edges: dict[int, tuple[float, float]] = {}

    def marked(self) -> str:
        """The text of the page, with a mark where a name goes on or ends, and with `-` and a line end for U+FFFE."""
        characters = self._characters
        changes = {sign.start(): "-\n" for sign in re.finditer(_HYPHEN, characters) if self._is_hyphen(sign.start())}
        for name in _NAME.finditer(characters):
            for line_break in self._breaks(name):
                mark = self._by_link(line_break) or self._by_font(line_break)
                last = characters[line_break.last]
                if mark:
                    shown = "" if mark == _DIVIDED else last.replace(_HYPHEN, "-")
                    changes[line_break.last] = f"{shown}{mark}" + ("\n" if last == _HYPHEN else "")
                if mark == _ENDS:
                    break
        pieces: list[str] = []
        copied = 0
        for place in sorted(changes):
            pieces += characters[copied:place], changes[place]
            copied = place + 1
        return "".join([*pieces, characters[copied:]])

    def _breaks(self, name: re.Match[str]) -> Iterator[_Break]:
        """The line ends of what may be one name, in their order, up to a U+FFFE that is not a hyphen."""
        start = first = name.start()
        part = name["part"]
        for run in _RUN.finditer(self._characters, *name.span("runs")):
            is_hyphen = run[1] == _HYPHEN
            if is_hyphen and not self._is_hyphen(run.start()):
                return
            part += "-" if is_hyphen else ""
            yield _Break(start, first, run.start() - (not is_hyphen), run.start(2), run.end(), part, run[2])
            part += run[2]
            first = run.start(2)

    def _by_link(self, line_break: _Break) -> str:
        """The mark for a line end by the link at the name; empty: the link does not decide."""
        places = (line_break.start, line_break.first, line_break.last)
        uri = next(filter(None, map(self._address, places)), "").lower()
        part, run = line_break.part.lower(), line_break.run.lower()
        ways = [(part, _GOES_ON)]
        if part.endswith("-"):
            ways.append((part[:-1], _DIVIDED))
        for before, mark in ways:
            _, is_there, following = uri.partition(before)
            if is_there and not following and mark == _GOES_ON:
                return _ENDS
            if following and (run.startswith(following) or following.startswith(run)):
                return mark
        return ""

    def _by_font(self, line_break: _Break) -> str:
        """The mark for a line end by the fonts around it; empty: they do not decide."""
        font = self._font(line_break.last)
        if not font or font != self._font(line_break.first):
            return ""
        if font != self._font(line_break.following):
            return _ENDS
        around = (self._font(self._neighbour(line_break.start, -1)), self._font(self._neighbour(line_break.end - 1, 1)))
        is_apart = any(other and other != font for other in around)
        return _GOES_ON if is_apart and line_break.part[-1] in _DELIMITERS and self._is_next_line(line_break) else ""

    def _is_next_line(self, line_break: _Break) -> bool:
        """Whether the line is filled, and the next one is the next one of its column or begins another column."""
        last, following = self._box(line_break.last), self._box(line_break.following)
        number = bisect(self._lines, (line_break.last, len(self._characters))) - 1
        left, _ = self._edges(number)
        height = last.top - last.bottom
        if following.bottom > last.bottom:
            is_next = following.left > last.right
        else:
            is_next = last.bottom - following.bottom < _PITCH * height and abs(following.left - left) < _INDENT * height
        around = map(self._edges, range(max(0, number - _AROUND), min(len(self._lines), number + _AROUND + 1)))
        margin = median(right for other, right in around if abs(other - left) < _INDENT * height)
        return is_next and last.right - left > _FILLED * (margin - left)

    @functools.cached_property
    def _lines(self) -> list[tuple[int, int]]:
        """The places of the first and last character of each line."""
        return [
            (line.start(), line.end() - 1) for line in re.finditer(rf"[^{_HYPHEN}\r\n]+{_HYPHEN}?", self._characters)
        ]

    def _edges(self, number: int) -> tuple[float, float]:
        if number not in self._known_edges:
            first, last = self._lines[number]
            self._known_edges[number] = (self._box(first).left, self._box(last).right)
        return self._known_edges[number]

    def _neighbour(self, place: int, step: int) -> int:
        """The next place after another (`step` 1) or before it (-1) that is not white space; it may be outside of the text."""
        place += step
        while 0 <= place < len(self._characters) and self._characters[place].isspace():
            place += step
        return place

    def _index(self, place: int) -> int:
        """The index of a character for pdfium; -1 if the place is outside of the text, or if pdfium counts differently."""
        if not 0 <= place < len(self._characters):
            return -1
        index = self._raw.FPDFText_GetCharIndexFromTextIndex(self._text, place)
        known = _SOFT if self._characters[place] == _HYPHEN else ord(self._characters[place])
        return index if self._raw.FPDFText_GetUnicode(self._text, index) == known else -1

    def _is_hyphen(self, place: int) -> bool:
        index = self._raw.FPDFText_GetCharIndexFromTextIndex(self._text, place)
        return bool(self._raw.FPDFText_IsHyphen(self._text, index) == 1)

    def _box(self, place: int) -> _Box:
        """The place of a character on the page."""
        box = self._raw.FS_RECTF()
        self._raw.FPDFText_GetLooseCharBox(self._text, self._index(place), box)
        return _Box(box.left, box.bottom, box.right, box.top)

    def _font(self, place: int) -> str:
        """The name of the font of a character, or the address of a font without a name; empty if there is no font."""
        index = self._index(place)
        name = ctypes.create_string_buffer(_LONGEST_FONT)
        if index >= 0 and self._raw.FPDFText_GetFontInfo(self._text, index, name, _LONGEST_FONT, None) > 1:
            return name.value.decode("latin-1")
        sign = self._raw.FPDFText_GetTextObject(self._text, index) if index >= 0 else None
        return str(ctypes.addressof(self._raw.FPDFTextObj_GetFont(sign).contents)) if sign else ""

    @functools.cached_property
    def _has_links(self) -> bool:
        return bool(self._raw.FPDFLink_Enumerate(self._page, ctypes.c_int(0), self._raw.FPDF_LINK()))

    def _address(self, place: int) -> str:
        """The address to which a link at a character leads, or an empty one."""
        if not self._has_links:
            return ""
        left, bottom, right, top = self._box(place)
        link = self._raw.FPDFLink_GetLinkAtPoint(self._page, (left + right) / 2, (bottom + top) / 2)
        return address(self._pdf, self._raw.FPDFLink_GetAction(link)).decode("latin-1") if link else ""


def address(pdf: PdfDocument, action: object) -> bytes:
    """The address of an action that opens one, or an empty one."""
    from pypdfium2 import raw  # noqa: PLC0415 (as above)

    if not action or raw.FPDFAction_GetType(action) != raw.PDFACTION_URI:
        return b""
    data = ctypes.create_string_buffer(_LONG_ADDRESS)
    length = raw.FPDFAction_GetURIPath(pdf, action, data, _LONG_ADDRESS)
    if length > _LONG_ADDRESS:
        data = ctypes.create_string_buffer(length)
        raw.FPDFAction_GetURIPath(pdf, action, data, length)
    return data.value
