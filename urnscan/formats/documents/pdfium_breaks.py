r"""URNs ("names") that a line end breaks on a page of a PDF: links and fonts show whether a name goes on.

This module imports nothing of urnscan. The view `wraps` decides by words. A page has more: links, and a font for each
character.
  * A link at the name has an address that contains the part before the line end. If the address goes on with the
    beginning of the next line, the name goes on; if the address ends there, the name ends. The address also shows
    whether a hyphen at the line end belongs to the name.
  * The next line begins in another font: the name ends.
  * The next line begins in the font of the name, and the text before or after the name has another font, as around
    `\url` and `\texttt`: the name goes on if the part ends with one of `: / . - _ @ ? = & # +`, the line is filled, and
    the next line is the next line of the column or the first line of the next column.
`wraps` knows the mark that is put after the part: U+2060 if the name goes on, U+00AD instead of a hyphen that does not
belong to the name. If the name ends, U+2029 prevents `wraps` from joining.
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
"""Character of pdfium for a hyphen with a line end, and for a glyph without a character."""
_SOFT = 2  # the code of this character in FPDFText_GetUnicode
_LONGEST_FONT = 200
# Bytes of the first buffer for an address; few addresses are longer.
_LONG_ADDRESS = 500
_BYTES = r"[A-Za-z0-9._~!$&'()*+,;=:@/?#%-]"
_LINE_END = rf"{_HYPHEN}|[ \t]{{0,4}}\r\n[ \t]{{0,60}}"
_NAME = re.compile(rf"(?P<part>[Uu][Rr][Nn]:{_BYTES}*)(?P<runs>(?:(?:{_LINE_END})(?![Uu][Rr][Nn]:){_BYTES}+){{0,4}})")
_RUN = re.compile(rf"({_LINE_END})({_BYTES}+)")
_DELIMITERS = ":/.-_@?=&#+"
_FILLED = 2 / 3  # minimum width of a filled line, in widths of the column
_PITCH = 2  # maximum distance of two adjacent lines, in heights of a line
_AROUND = 10  # lines before and after a line by which the width of the column is measured
_INDENT = 4  # maximum distance of the left ends of lines of a column, in heights of a line


class _Box(NamedTuple):
    """Box of a character (as high as the font), in points in the coordinates of the page; all 0 if pdfium has none."""

    left: float
    bottom: float
    right: float
    top: float


class _Break(NamedTuple):
    """A line end inside a possible name; all numbers are indices in the text of the page."""

    start: int
    """First character of the name."""
    first: int
    """First character of the name in the line that ends."""
    last: int
    """Last character before the line end."""
    following: int
    """First character of the next line."""
    end: int
    """Index after the characters in the next line that may belong to the name."""
    part: str
    """The name up to the line end."""
    run: str
    """The characters in the next line that may belong to the name."""


class Breaks:
    """The text of a page of a PDF; links and fonts of the page show which line ends in it break names (URNs)."""

    def __init__(self, text: PdfTextPage, page: PdfPage, pdf: PdfDocument) -> None:
        from pypdfium2 import raw  # noqa: PLC0415 (a process loads it with its first PDF)

        self._raw = raw
        self._characters = text.get_text_range()
        self._text, self._page, self._pdf = text, page, pdf
        self._known_edges: dict[int, tuple[float, float]] = {}

    def marked(self) -> str:
        """Return the text of the page, with a mark at a line end after or in a name (URN) if links or fonts show
        whether the name goes on.

        The mark comes after the last character of the line: U+2060 if the name goes on in the next line, U+2029 if it
        ends here; or U+00AD instead of a hyphen that does not belong to the name. U+FFFE, if it is pdfium's character
        for a hyphen with a line end, is replaced by `-` and LF.
        """
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
        """Yield the line ends in `name`, a match of _NAME, up to a U+FFFE that is not a hyphen."""
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
        """The mark for a line end by the link at the name: U+2060 (the name goes on), U+00AD (it goes on without the
        hyphen), U+2029 (it ends); empty if no link decides.
        """
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
        """The mark for a line end by the fonts around it: U+2060 (the name goes on), U+2029 (it ends); empty if they do
        not decide.
        """
        font = self._font(line_break.last)
        if not font or font != self._font(line_break.first):
            return ""
        if font != self._font(line_break.following):
            return _ENDS
        around = (self._font(self._neighbour(line_break.start, -1)), self._font(self._neighbour(line_break.end - 1, 1)))
        is_apart = any(other and other != font for other in around)
        return _GOES_ON if is_apart and line_break.part[-1] in _DELIMITERS and self._is_next_line(line_break) else ""

    def _is_next_line(self, line_break: _Break) -> bool:
        """Whether the line that ends fills over two thirds of its column, and the next line follows it: below it in the
        column, or higher and to its right.
        """
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
        """Index in the text of the first and last character of each line that is not empty."""
        return [
            (line.start(), line.end() - 1) for line in re.finditer(rf"[^{_HYPHEN}\r\n]+{_HYPHEN}?", self._characters)
        ]

    def _edges(self, number: int) -> tuple[float, float]:
        if number not in self._known_edges:
            first, last = self._lines[number]
            self._known_edges[number] = (self._box(first).left, self._box(last).right)
        return self._known_edges[number]

    def _neighbour(self, place: int, step: int) -> int:
        place += step
        while 0 <= place < len(self._characters) and self._characters[place].isspace():
            place += step
        return place

    def _index(self, place: int) -> int:
        """Index in pdfium of the character at index `place` of the text; -1 if pdfium has none, or another one there."""
        if not 0 <= place < len(self._characters):
            return -1
        index = self._raw.FPDFText_GetCharIndexFromTextIndex(self._text, place)
        known = _SOFT if self._characters[place] == _HYPHEN else ord(self._characters[place])
        return index if self._raw.FPDFText_GetUnicode(self._text, index) == known else -1

    def _is_hyphen(self, place: int) -> bool:
        index = self._raw.FPDFText_GetCharIndexFromTextIndex(self._text, place)
        return bool(self._raw.FPDFText_IsHyphen(self._text, index) == 1)

    def _box(self, place: int) -> _Box:
        box = self._raw.FS_RECTF()
        self._raw.FPDFText_GetLooseCharBox(self._text, self._index(place), box)
        return _Box(box.left, box.bottom, box.right, box.top)

    def _font(self, place: int) -> str:
        """Name of the font of a character, or a number if it has no name; empty without a font."""
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
        """URI of the link at a character; empty without one."""
        if not self._has_links:
            return ""
        left, bottom, right, top = self._box(place)
        link = self._raw.FPDFLink_GetLinkAtPoint(self._page, (left + right) / 2, (bottom + top) / 2)
        return address(self._pdf, self._raw.FPDFLink_GetAction(link)).decode("latin-1") if link else ""


def address(pdf: PdfDocument, action: object) -> bytes:
    """Return the URI that an action of a PDF (of a link or bookmark; a handle of pdfium) opens.

    Empty if there is no action, or if it does not open a URI.
    """
    from pypdfium2 import raw  # noqa: PLC0415 (as above)

    if not action or raw.FPDFAction_GetType(action) != raw.PDFACTION_URI:
        return b""
    data = ctypes.create_string_buffer(_LONG_ADDRESS)
    length = raw.FPDFAction_GetURIPath(pdf, action, data, _LONG_ADDRESS)
    if length > _LONG_ADDRESS:
        data = ctypes.create_string_buffer(length)
        raw.FPDFAction_GetURIPath(pdf, action, data, length)
    return data.value
