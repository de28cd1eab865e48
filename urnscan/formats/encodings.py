"""Encodings other than UTF-8: how one is recognised or named, and the reader that turns it into UTF-8.

UTF-8 and what is like it (ASCII, and mostly any superset of ASCII) is not touched: URNs are ASCII.
"""

import codecs
import functools
import re
import threading
from collections.abc import Callable

from urnscan.errors import DamageError, FatalError, SourceError, option
from urnscan.formats.buffer import Buffer
from urnscan.formats.contents import Document
from urnscan.formats.context import Layer
from urnscan.stores.reader import PieceReader, Reader

WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
"""The byte order marks of UTF-16 and UTF-32; that of UTF-32-LE begins with that of UTF-16-LE."""

_BOMS = {
    codecs.BOM_UTF32_LE: "utf-32-le",  # before UTF-16, whose mark is the beginning of this one
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
    codecs.BOM_UTF8: "utf-8",
}
MARKS_BEGIN = frozenset(mark[0] for mark in _BOMS)
"""First bytes of byte order marks."""
_BEGUN = frozenset(mark[:count] for mark in _BOMS for count in range(1, len(mark)))
_AS_IT_IS = ("utf-8", "utf-8-sig", "ascii")
# Without a mark Python takes the order of the machine, on which no result may depend. Most such files are from Windows.
_BYTE_ORDER = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}

# Control characters, which are not text in any encoding.
_CONTROL = re.compile(rb"[^\t\n\f\r\x1b\x20-\xff]")
# Bytes. Of those of packed text one in ten is a control character.
_TOLD_BY = 64

# To know UTF-16 and UTF-32 without a mark: the bytes of a unit, and which of them is not NUL where it is ASCII.
_UNITS = (("utf-32-le", 4, 0), ("utf-32-be", 4, 3), ("utf-16-le", 2, 0), ("utf-16-be", 2, 1))
_PRINTABLE = frozenset(b"\t\n\r" + bytes(range(0x20, 0x7F)))
_TELLING = 1 << 9  # bytes that are looked at
_FEWEST_UNITS = 6  # "urn:a:" and no less

_NO_STREAMS = ("punycode", "unicode-escape", "raw-unicode-escape")  # their result depends on how the text is cut
_SHIFTING = ("utf-7", "iso2022")  # their decoders of Python may keep bytes without end, or take none

_BLOCK = 1 << 17  # bytes decoded at a time


@functools.cache
def check_encoding(name: str) -> str:
    """Canonical name of an encoding of text. Raises FatalError for any other name, and for UTF-7 and ISO 2022.

    >>> check_encoding("Latin1")
    'iso8859-1'
    >>> check_encoding("rot13")
    Traceback (most recent call last):
        ...
    urnscan.errors.FatalError: encoding: unknown encoding 'rot13'; use one that Python has, such as utf-16-le, cp1252, \
latin-1, shift_jis, gb18030 or cp037
    """
    try:
        canonical = codecs.lookup(name).name
        # LookupError where it is a codec of something else, such as base64.
        b"a".decode(name, "replace")
    except (LookupError, ValueError):
        canonical = ""
    if canonical in ("", *_NO_STREAMS):
        examples = "utf-16-le, cp1252, latin-1, shift_jis, gb18030 or cp037"
        raise FatalError(
            f"{option('encoding', None)}: unknown encoding {name!r}; use one that Python has, such as {examples}"
        )
    if canonical.startswith(_SHIFTING):
        of_iconv = canonical.upper().replace("ISO2022_", "ISO-2022-").replace("_", "-")
        remedy = f"leave it out, as URNs in it are ASCII, or convert the text: iconv -f {of_iconv} -t UTF-8"
        raise FatalError(f"{option('encoding', None)}: {name!r} cannot be decoded here; {remedy}")
    return canonical


def find_codec(peek: Callable[[int], bytes], encoding: str | None) -> tuple[str | None, int]:
    """The codec of an input, None if it is read unchanged, and the number of bytes of its byte order mark.

    `peek(count)` gives the first bytes, at least so many. A byte order mark wins over `encoding`; that of UTF-8 belongs
    to the text. With neither, UTF-16 and UTF-32 are known by their NULs, where most of the text is ASCII.
    Raises FatalError for an unknown encoding, and what `peek` raises.
    """
    # No more than needed: a pipe may have no more to give yet.
    head = peek(1)
    while head in _BEGUN:
        longer = peek(len(head) + 1)
        if len(longer) == len(head):
            break
        head = longer
    for mark, codec in _BOMS.items():
        if head.startswith(mark):
            return (None, 0) if codec in _AS_IT_IS else (codec, len(mark))
    if encoding is None:
        return (_by_nuls(peek(_TELLING)) if b"\0" in head else None), 0
    codec = check_encoding(encoding)
    return (None if codec in _AS_IT_IS else _BYTE_ORDER.get(codec, codec)), 0


def is_binary(head: bytes) -> bool | None:
    """Whether a file that begins with these bytes is not text, by its control characters; None if there are too few bytes."""
    data = head[:_TOLD_BY]
    if data.startswith(WIDE_MARKS):
        return False
    return has_control(data) or (None if len(data) < _TOLD_BY else False)


def has_control(data: bytes) -> bool:
    """Whether some of these bytes are control characters that no text has."""
    return _CONTROL.search(data) is not None


def _by_nuls(head: bytes) -> str | None:
    """UTF-32 or UTF-16, if three of four units are printable ASCII and none is NUL; else None."""
    head = head[:_TELLING]
    # In such text three of eight bytes are NUL.
    if 3 * head.count(0) < len(head) - 3:
        return None
    for codec, unit, ascii_at in _UNITS:
        count = len(head) // unit
        rows = [head[at : at + unit] for at in range(0, count * unit, unit)]
        nuls = bytes(unit - 1)
        text = sum(row[ascii_at] in _PRINTABLE and row[:ascii_at] + row[ascii_at + 1 :] == nuls for row in rows)
        if count >= _FEWEST_UNITS and 4 * text >= 3 * count and bytes(unit) not in rows:
            return codec
    return None


class _Replaced(threading.local):
    """Counts of the error handler in this thread since `count` was last set to 0."""

    count = 0
    start = 0  # offset of the first error in the decoded bytes
    length = 0  # number of decoded bytes


_replaced = _Replaced()


def _replace(error: UnicodeError) -> tuple[str, int]:
    """The error handler "replace", which also records errors: decoders have no other way to report them."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    if not _replaced.count:
        _replaced.start, _replaced.length = error.start, len(error.object)
    _replaced.count += 1
    return "\ufffd", error.end


codecs.register_error("urnscan.replace", _replace)


def as_text(reader: Buffer, layer: Layer) -> Document:
    """The document of plain text: without its byte order mark, and in UTF-8 if its bytes are in another encoding."""
    codec, mark = find_codec(reader.head, layer.reading.encoding)
    reader.skip(mark)
    return Document(
        layer.member, reader if codec is None else Transcoder(reader, layer, codec, mark), codec, layer.capture
    )


class Transcoder(PieceReader):
    """Gives in UTF-8 what another reader gives in another encoding.

    What cannot be decoded is U+FFFD; at the end of the input the budget collects one error that says so.
    """

    def __init__(self, reader: Reader, layer: Layer, codec: str, mark: int = 0) -> None:
        """`reader` is closed with this one, and is positioned after a byte order mark of `mark` bytes."""
        super().__init__(iter(self._next, None))
        self._reader = reader
        self._layer = layer
        self._codec = codec
        self._mark = mark
        self._decoder = codecs.getincrementaldecoder(codec)("urnscan.replace")
        self._block = memoryview(bytearray(_BLOCK))
        self._position = mark  # offset in the input of the next byte to decode
        self._ended = False
        self._bad = 0
        self._first_bad: int | None = None

    def close(self) -> None:
        """Close the reader below."""
        self._reader.close()

    def _next(self) -> bytes | None:
        """The text of what one read gives, so that nothing of a slow pipe is kept waiting; None at the end."""
        if self._ended:
            return None
        try:
            got = self._reader.read_into(self._block)
        except DamageError:
            # What follows does not go on with half a character.
            self._decoder.reset()
            raise
        self._ended = got == 0
        kept = len(self._decoder.getstate()[0])
        _replaced.count = 0
        try:
            text = self._decoder.decode(self._block[:got], self._ended)
        except UnicodeError as error:
            # Of a codec that knows no error handlers.
            raise SourceError(self._layer.name, f"cannot be decoded as {self._codec.upper()}: {error}") from error
        if _replaced.count and not self._bad:
            is_known = _replaced.length == kept + got
            self._first_bad = self._position - kept + _replaced.start if is_known else None
        self._bad += _replaced.count
        self._position += got
        if self._ended and self._bad:
            where = "" if self._first_bad is None else f" at byte {self._first_bad}"
            places = f" ({self._bad} such places)" if self._bad > 1 else ""
            # A mark wins over the option, so where there is one it would not help.
            remedy = "" if self._mark else "; name the right one with --encoding"
            wrong = f"invalid {self._codec.upper()}{where}, read as U+FFFD{places}{remedy}"
            self._layer.budget.collect(SourceError(self._layer.name, wrong))
        return text.encode("utf-8", "replace")
