"""Encodings other than UTF-8: how an encoding is recognised or named, and the reader that converts to UTF-8.

UTF-8, ASCII, and most supersets of ASCII are not converted, because URNs are ASCII.
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
"""Byte order marks of UTF-16 and UTF-32; the mark of UTF-32-LE is missing, as it begins with the mark of UTF-16-LE."""

_BOMS = {
    codecs.BOM_UTF32_LE: "utf-32-le",  # before UTF-16-LE, whose mark is a prefix of this mark
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
    codecs.BOM_UTF8: "utf-8",
}
MARKS_BEGIN = frozenset(mark[0] for mark in _BOMS)
"""The first byte, as int, of each byte order mark: of UTF-8, UTF-16 and UTF-32."""
_BEGUN = frozenset(mark[:count] for mark in _BOMS for count in range(1, len(mark)))
_AS_IT_IS = ("utf-8", "utf-8-sig", "ascii")
# Without a mark Python uses the byte order of the machine, but results must not depend on the machine. Most such files
# are from Windows.
_BYTE_ORDER = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}

# Control characters, which are not text in any encoding.
_CONTROL = re.compile(rb"[^\t\n\f\r\x1b\x20-\xff]")
# Bytes. In compressed data every tenth byte is a control character.
_TOLD_BY = 64

# To recognise UTF-16 and UTF-32 without a mark: the bytes of a unit, and the byte that is not NUL if the unit is ASCII.
_UNITS = (("utf-32-le", 4, 0), ("utf-32-be", 4, 3), ("utf-16-le", 2, 0), ("utf-16-be", 2, 1))
_PRINTABLE = frozenset(b"\t\n\r" + bytes(range(0x20, 0x7F)))
_TELLING = 1 << 9  # first bytes that are examined
_FEWEST_UNITS = 6  # the length of "urn:a:"

_NO_STREAMS = ("punycode", "unicode-escape", "raw-unicode-escape")  # the result depends on how the text is split
_SHIFTING = ("utf-7", "iso2022")  # Python's decoders may buffer without a limit, or not progress

_BLOCK = 1 << 17  # bytes per read


@functools.cache
def check_encoding(name: str) -> str:
    """Return Python's name of the text encoding `name`. Raises FatalError if there is no such text encoding, or if it
    cannot be decoded here, as UTF-7 and ISO 2022.

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
        # LookupError for a codec that is not of text, such as base64.
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
    """Find the encoding of a text. Returns Python's name of it (None: UTF-8, or the text is read unchanged), and the
    number of bytes of a byte order mark to skip; the mark of UTF-8 is not skipped (0).

    `peek(count)` returns at least the first `count` bytes of the text, fewer only if there are no more. A byte order
    mark has precedence over `encoding`, the name that the user gave. Without both, UTF-16 and UTF-32 are recognised by
    NULs, if most characters are ASCII. Raises FatalError if there is no mark and `encoding` is unknown or cannot be
    decoded, and the errors of `peek`.
    """
    # As few bytes as possible, because a pipe may have no more bytes yet.
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
    """Whether a file that begins with `head` is not text: `has_control` is true for its first 64 bytes.

    None if `head` is shorter than 64 bytes and has none. False for UTF-16 and UTF-32 with a byte order mark.
    """
    data = head[:_TOLD_BY]
    if data.startswith(WIDE_MARKS):
        return False
    return has_control(data) or (None if len(data) < _TOLD_BY else False)


def has_control(data: bytes) -> bool:
    """Whether `data` contains a byte below 0x20 that does not occur in text: not tab, LF, FF, CR or ESC."""
    return _CONTROL.search(data) is not None


def _by_nuls(head: bytes) -> str | None:
    """Python's name of UTF-32 or UTF-16, if a text that begins with `head` is in it: at least three of four units are
    printable ASCII, and none is NUL. Else None.
    """
    head = head[:_TELLING]
    # Then at least three of eight bytes are NUL.
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
    """Counters of `_replace` for the current thread, since `count` was set to 0."""

    count = 0
    start = 0  # offset of the first error in the decoded bytes
    length = 0  # number of decoded bytes


_replaced = _Replaced()


def _replace(error: UnicodeError) -> tuple[str, int]:
    """Error handler of codecs: replaces bytes by U+FFFD, and counts the errors in `_replaced`."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    if not _replaced.count:
        _replaced.start, _replaced.length = error.start, len(error.object)
    _replaced.count += 1
    return "\ufffd", error.end


codecs.register_error("urnscan.replace", _replace)


def as_text(reader: Buffer, layer: Layer) -> Document:
    """Return plain text as a `Document`, whose reader converts UTF-16, UTF-32 or the encoding of the user to UTF-8.

    Other text stays unchanged. A byte order mark of UTF-16 or UTF-32 is skipped in `reader`. Raises FatalError if there
    is no mark, and the encoding of the user (`--encoding`) is unknown or cannot be decoded.
    """
    codec, mark = find_codec(reader.head, layer.reading.encoding)
    reader.skip(mark)
    return Document(
        layer.member, reader if codec is None else Transcoder(reader, layer, codec, mark), codec, layer.capture
    )


class Transcoder(PieceReader):
    """Reader that decodes the bytes of an inner reader by `codec`, and gives them in UTF-8.

    Bytes that cannot be decoded become U+FFFD; at the end a single SourceError about all of them is added to the errors
    that `layer.budget` collects.
    """

    def __init__(self, reader: Reader, layer: Layer, codec: str, mark: int = 0) -> None:
        """`reader`: the inner reader, closed with this one; its byte order mark of `mark` bytes was already skipped.

        `layer`: names and limits of the text; `codec`: Python's name of the encoding.
        """
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
        """Close the inner reader."""
        self._reader.close()

    def _next(self) -> bytes | None:
        """Return the text of a single read in UTF-8, perhaps empty; None after the end."""
        # A single read: text from a slow pipe must not wait.
        if self._ended:
            return None
        try:
            got = self._reader.read_into(self._block)
        except DamageError:
            # The bytes after the damage do not complete a half character.
            self._decoder.reset()
            raise
        self._ended = got == 0
        kept = len(self._decoder.getstate()[0])
        _replaced.count = 0
        try:
            text = self._decoder.decode(self._block[:got], self._ended)
        except UnicodeError as error:
            # From a codec that ignores error handlers.
            raise SourceError(self._layer.name, f"cannot be decoded as {self._codec.upper()}: {error}") from error
        if _replaced.count and not self._bad:
            is_known = _replaced.length == kept + got
            self._first_bad = self._position - kept + _replaced.start if is_known else None
        self._bad += _replaced.count
        self._position += got
        if self._ended and self._bad:
            where = "" if self._first_bad is None else f" at byte {self._first_bad}"
            places = f" ({self._bad} such places)" if self._bad > 1 else ""
            # A mark has precedence over the option, so with a mark the option would not help.
            remedy = "" if self._mark else f"; name the right one with {option('encoding', None)}"
            wrong = f"invalid {self._codec.upper()}{where}, read as U+FFFD{places}{remedy}"
            self._layer.budget.collect(SourceError(self._layer.name, wrong))
        return text.encode("utf-8", "replace")
