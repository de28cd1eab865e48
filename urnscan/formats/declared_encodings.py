"""Encodings with characters of several bytes, the last of which may be an ASCII letter: which one a text declares.

The header of the HTTP answer counts before what the text says in its first 1,024 bytes, as in browsers: `<meta charset>`
and the declaration of XML.
"""

from __future__ import annotations

import codecs
import functools
import re
from collections.abc import Callable

from urnscan.formats.captures import Capture

WITHIN = 1 << 10
"""Bytes in which a text declares its encoding."""

_HEADER = re.compile(rb"(?i)\nContent-Type[ \t]*:[^\n]*?;[ \t]*charset[ \t]*=[ \t]*[\"']?([A-Za-z0-9_.:-]+)")
_IN_TEXT = re.compile(
    rb"(?i)<meta\b[^>]*?\bcharset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]+)|<\?xml\b[^>]*?\bencoding\s*=\s*[\"']([A-Za-z0-9_.:-]+)"
)
_SHIFT_JIS = re.compile(rb"[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xfc]")
_GB = re.compile(rb"[\x81-\xfe](?:[\x40-\x7e\x80-\xfe]|[0-9][\x81-\xfe][0-9])")
_BIG5 = re.compile(rb"[\x81-\xfe][\x40-\x7e\xa1-\xfe]")
_KOREAN = re.compile(rb"[\x81-\xfe][A-Za-z\x81-\xfe]")
_CHARACTERS = {
    **dict.fromkeys(("shift_jis", "cp932", "shift_jis_2004", "shift_jisx0213"), _SHIFT_JIS),
    **dict.fromkeys(("gb2312", "gbk", "gb18030"), _GB),
    **dict.fromkeys(("big5", "cp950", "big5hkscs"), _BIG5),
    **dict.fromkeys(("euc_kr", "cp949"), _KOREAN),
}
"""A character of several bytes, by the name of the encoding in Python. Browsers read GB 2312 as GBK, and EUC-KR as CP949."""
_BROWSERS = {
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "x-gbk": "gbk",
    "gb_2312-80": "gbk",
    "x-x-big5": "big5",
    "windows-949": "cp949",
}
"""Labels of browsers (WHATWG Encoding, 4.2) that Python does not know."""


def declared_characters(head: bytes, capture: Capture | None = None) -> re.Pattern[bytes] | None:
    r"""A character of several bytes in the encoding that a text declares in its first bytes, or its HTTP answer before it.

    None if it declares none, or one in which no byte of such a character is an ASCII letter.

    >>> declared_characters(b'<meta charset="Shift_JIS">') == declared_characters(b"", Capture(head=b"\nContent-Type: a/b; charset=x-sjis"))
    True
    >>> declared_characters(b"<meta charset=utf-8>")
    """
    header = _HEADER.search(capture.head or b"\nContent-Type: " + capture.content_type) if capture else None
    if header:
        return _characters(header[1])
    match = _IN_TEXT.search(head[:WITHIN])
    return _characters(match[1] or match[2]) if match else None


@functools.lru_cache(256)
def _characters(label: bytes) -> re.Pattern[bytes] | None:
    name = label.decode("ascii").lower()
    try:
        return _CHARACTERS.get(codecs.lookup(_BROWSERS.get(name, name)).name)
    except LookupError:
        return None


class Declaring:
    """The bytes of a text as another reader gives them, and the encoding that they declare."""

    def __init__(self, read_into: Callable[[memoryview], int], capture: Capture | None) -> None:
        """`capture` is that of the text."""
        self._read_into = read_into
        self._capture = capture
        self._head = b""

    def read_into(self, view: memoryview) -> int:
        """Fill the front of the view."""
        got = self._read_into(view)
        if len(self._head) < WITHIN:
            self._head += bytes(view[: min(got, WITHIN)])
        return got

    @functools.cached_property
    def _characters(self) -> re.Pattern[bytes] | None:
        return declared_characters(self._head, self._capture)

    def characters_at(self, _: int) -> re.Pattern[bytes] | None:
        """A character of several bytes in the encoding of the text, which is the same at each place."""
        return self._characters
