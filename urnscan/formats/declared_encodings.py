"""Recognition of declared multibyte encodings whose characters may end with the byte of an ASCII letter.

As in browsers, the header of the HTTP response has precedence over `<meta charset>` and the XML declaration in the
first 1,024 bytes of the text.
"""

from __future__ import annotations

import codecs
import functools
import re
from collections.abc import Callable

from urnscan.formats.captures import Capture

WITHIN = 1 << 10
"""Maximum bytes at the beginning of a text in which a declaration is searched for."""

_HEADER = re.compile(rb"(?i)\nContent-Type[ \t]*:[^\n]*?;[ \t]*charset[ \t]*=[ \t]*[\"']?([A-Za-z0-9_.:-]+)")
_IN_TEXT = re.compile(
    rb"(?i)<meta\b[^>]*?\bcharset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]+)|<\?xml\b[^>]*?\bencoding\s*=\s*[\"']([A-Za-z0-9_.:-]+)"
)
_SHIFT_JIS = re.compile(rb"[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xfc]")
_GB = re.compile(rb"[\x81-\xfe](?:[\x40-\x7e\x80-\xfe]|[0-9][\x81-\xfe][0-9])")
_BIG5 = re.compile(rb"[\x81-\xfe][\x40-\x7e\xa1-\xfe]")
_KOREAN = re.compile(rb"[\x81-\xfe][A-Za-z\x81-\xfe]")
_CHARACTERS = {
    **dict.fromkeys(("cp932", "shift_jis_2004", "shift_jisx0213"), _SHIFT_JIS),
    "gb18030": _GB,
    **dict.fromkeys(("cp950", "big5hkscs"), _BIG5),
    "cp949": _KOREAN,
}
"""Name of an encoding in Python (see `name_of_encoding`) -> pattern of a multibyte character."""
_BROWSERS = {
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "ms932": "cp932",
    "x-gbk": "gbk",
    "gb_2312": "gbk",
    "gb_2312-80": "gbk",
    "x-x-big5": "big5",
    "cn-big5": "big5",
    "windows-949": "cp949",
    "ks_c_5601-1989": "cp949",
}
"""Labels of browsers (WHATWG Encoding, 4.2) that Python does not know -> name in Python."""
_LARGER = {"shift_jis": "cp932", "gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs", "euc_kr": "cp949"}
"""Name of an encoding in Python -> that of a larger one, which browsers and mail programs use under its label."""


def declared_characters(head: bytes, capture: Capture | None = None) -> re.Pattern[bytes] | None:
    r"""Pattern (of bytes) of a multibyte character in the encoding that an HTTP response or a text declares.

    `capture`: the record of a web archive that contains the text, whose HTTP headers come first. `head`: first bytes of
    the text, of which 1,024 are searched for `<meta charset>` or an XML declaration. None without a declaration, and
    for an encoding other than Shift_JIS, GBK, GB 18030, Big5 and CP949.

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
    try:
        return _CHARACTERS.get(name_of_encoding(label.decode("ascii")))
    except LookupError:
        return None


@functools.lru_cache(256)
def name_of_encoding(label: str) -> str:
    """Name in Python of the encoding that browsers use for a label: what is called GB 2312 may be GB 18030.

    Raises LookupError for an unknown label.

    >>> name_of_encoding("GB2312"), name_of_encoding("x-sjis"), name_of_encoding("latin-1")
    ('gb18030', 'cp932', 'iso8859-1')
    """
    name = codecs.lookup(_BROWSERS.get(label.lower(), label)).name
    return _LARGER.get(name, name)


class Declaring:
    """Passes on the bytes of a text, and remembers its first bytes, to find the encoding that it declares."""

    def __init__(self, read_into: Callable[[memoryview], int], capture: Capture | None) -> None:
        """`read_into`: function that reads the text. `capture`: record of a web archive that contains it, or None."""
        self._read_into = read_into
        self._capture = capture
        self._head = b""

    def read_into(self, view: memoryview) -> int:
        """Read the next bytes of the text into the front of the view. Returns their number, 0 at the end.

        Raises the errors of the function given to the constructor.
        """
        got = self._read_into(view)
        if len(self._head) < WITHIN:
            self._head += bytes(view[: min(got, WITHIN)])
        return got

    @functools.cached_property
    def _characters(self) -> re.Pattern[bytes] | None:
        return declared_characters(self._head, self._capture)

    def characters_at(self, _: int) -> re.Pattern[bytes] | None:
        """Pattern (of bytes) of a multibyte character in the declared encoding; the same at each position of the text.

        The first call looks for the declaration: in the HTTP header of the record of a web archive, or else in the
        bytes of the text that are read by then. None without a declaration, and for an encoding other than Shift_JIS,
        GBK, GB 18030, Big5 and CP949.
        """
        return self._characters
