"""Bodies of archived HTTP/1.x messages: the bytes without headers, chunks and content codings.

Implements RFC 9112 and the codings of RFC 9110, section 8.4.1, RFC 7932 and RFC 8878, tolerantly: many archives decode
bodies and keep the headers, so a coding in a header is ignored if the body is plainly not in this coding. The body
begins at the first byte that cannot be a header. Trailer fields, and bytes after the end of a coding, are dropped, as
browsers do. Content-Length is ignored: the length in the archive is more reliable.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from urnscan.errors import DamageError, SourceError
from urnscan.formats.buffer import Buffer, CutError
from urnscan.formats.compression import decoders, frames
from urnscan.formats.compression.replay import BrokenError, ChecksumError, Decode
from urnscan.formats.context import Layer
from urnscan.stores.reader import PieceReader, Reader, skip

_HEADERS = 1 << 16  # maximum bytes of the headers
# Maximum of nested codings; real archives have at most two.
_MAX_CODINGS = 8

_LINE = rb"[^\n]*(?:\n|\Z)"
_FIELD = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+[ \t]*:" + _LINE
_FOLD = rb"[ \t]+[^\s]" + _LINE
# Some programs write other lines between the fields; browsers skip them.
_STRAY = rb"[^\s]" + _LINE + b"(?=" + _FIELD + b")"
_START = rb"(?:HTTP/[0-9]|ICY |[A-Za-z-]+ [^\n]* HTTP/[0-9])" + _LINE
_HEAD = re.compile(rb"[\r\n]*(%b)(?>(?:%b|%b|%b)*)(?:[ \t\r]*\n)?" % (_START, _FIELD, _FOLD, _STRAY))
_HEAD_END = re.compile(rb"\n[ \t\r]*\n")
_INTERIM = re.compile(rb"HTTP/[0-9.]+[ \t]+1[0-9][0-9]")
_CODING = re.compile(rb"(?i)\n(Content|Transfer)-Encoding[ \t]*:([^\n]*(?:\n[ \t]+[^\s][^\n]*)*)")
_TOKEN = re.compile(rb"[0-9A-Za-z-]+")

_CHUNK = re.compile(rb"(?:\r?\n)?[ \t]*([0-9A-Fa-f]{1,16})[ \t]*(?:;[^\r\n]*)?\r?\n")
_CHUNK_LINE = 1 << 12  # maximum bytes of the line before a chunk
_NO_MORE = re.compile(rb"(?>(?:%b)*)[\r\n]*\Z" % _FIELD)  # after the last chunk: trailers

_BLOCK = 1 << 16  # bytes of a coded body per read
_TRIED = 1 << 12  # bytes of a body by which a coding is recognised
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_SHORT = 64  # compressed bytes of more than this length practically always contain a control character


@dataclass(frozen=True, slots=True)
class _Coding:
    """A content coding: name for messages, decoder, and signature."""

    name: str
    decode: Decode
    magic: re.Pattern[bytes] | None = None
    """Signature of a coded body, and of each further part of the body; None: no signature, and a single part."""

    def fits(self, head: bytes) -> bool:
        """Whether a body that begins with `head` may be coded, by the signature, or by a try to decode `head`."""
        if self.magic:
            return self.magic.match(head) is not None
        is_text = _CONTROL.search(head) is None
        if is_text and len(head) > _SHORT:
            return False
        buffer = Buffer(PieceReader(iter([head])))
        buffer.start_keeping(_BLOCK)
        has_text = False
        try:
            for text in self.decode(buffer):
                has_text |= text != b""
        except CutError:
            return not is_text
        except (BrokenError, ChecksumError):
            return has_text and not is_text
        return not (is_text and buffer.peek())


_DEFLATE = _Coding("deflate", decoders.zlib_format), _Coding("deflate", decoders.deflate)
_GZIP = _Coding("gzip", decoders.gzip, re.compile(rb"\x1f\x8b\x08"))
_CODINGS = {
    b"gzip": (_GZIP,),
    b"x-gzip": (_GZIP,),
    b"deflate": _DEFLATE,  # by RFC 9110 the zlib format, but many servers sent raw deflate
    b"br": (_Coding("br", decoders.brotli),),
    b"zstd": (_Coding("zstd", frames.zstandard, re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")),),
}


def plain_body(data: memoryview, start: int, end: int) -> tuple[bytes, int] | None:
    """Split an HTTP message, `data[start:end]`, in memory. Returns its head (start line and headers), and the index in
    `data` of its body.

    `(b"", start)` if it has an empty line, and does not begin like an HTTP message: then all of it is the body. None if
    it must be read by `Body`: it has no empty line in the first 64 KiB, begins with a line end or an interim response
    (1xx), or its headers name a coding (compressed, chunked) of the body.
    """
    last = min(end, start + _HEADERS)
    if not _HEAD_END.search(data, start, last) or data[start] in b"\r\n":
        return None
    head = _HEAD.match(data, start, last)
    if head is None:
        return b"", start
    return None if _INTERIM.match(head[1]) or _CODING.search(head[0]) else (bytes(head[0]), head.end())


class Body(Reader):
    """Reader of the body of an HTTP message, decoded (from gzip, chunked, …). Bytes without a head are given unchanged.

    An error in a coding is raised after the text before the error.
    """

    def __init__(self, message: Reader, layer: Layer) -> None:
        """`message`: reader of start line, headers and body, closed with this reader.

        `layer`: names and limits of the body. The first read stores the headers in `layer.capture.head`, if there is a
        capture.
        """
        self._message = Buffer(message)
        self._layer = layer
        self._body: Reader | None = None

    def read_into(self, view: memoryview) -> int:
        """Read the next bytes of the body into the front of the view. Returns their number, 0 at the end.

        Before it returns 0, it reads the rest of the message, so that an error in it is raised. Raises DamageError
        (bytes are lost, but the next call reads on), another SourceError (the rest is lost) and LimitError.
        """
        if self._body is None:
            self._body = self._open()
        got = self._body.read_into(view)
        # The rest of the message is read, too, so that an error in it is reported.
        if not got:
            skip(self._message, sys.maxsize)
        return got

    def close(self) -> None:
        """Close the reader of the message."""
        self._message.close()

    def _open(self) -> Reader:
        """Skip the headers, also those of interim responses (1xx), and make the reader of the decoded body. Stores the
        headers in `layer.capture`, if there is one.
        """
        codings: list[bytes] = []
        while headers := _HEAD.match(self._head()):
            self._message.skip(headers.end())
            # Transfer codings were applied after content codings. The coding that was applied last is decoded first.
            fields = sorted(_CODING.findall(headers[0]), key=lambda field: field[0].lower())
            codings = [token.lower() for _, value in fields for token in _TOKEN.findall(value)]
            if self._layer.capture is not None:
                self._layer.capture.head = headers[0]
            if not (_INTERIM.match(headers[1]) and self._message.head(5).startswith(b"HTTP/")):
                break
        codings = [token for token in codings if token == b"chunked" or token in _CODINGS]
        if len(codings) > _MAX_CODINGS:
            raise SourceError(self._layer.name, f"is coded more than {_MAX_CODINGS} times over: not read")
        reader = self._message
        for token in reversed(codings):
            if token == b"chunked":
                if _is_chunked(reader.head(_CHUNK_LINE)):
                    reader = Buffer(_Chunked(reader, self._layer.name))
            else:
                head = reader.head(_TRIED)
                coding = next((coding for coding in _CODINGS[token] if coding.fits(head)), None)
                if coding:
                    reader = Buffer(PieceReader(_decoded(reader, self._layer, coding)))
        return reader

    def _head(self) -> bytes:
        """The next bytes, at most 64 KiB, with the headers and perhaps a part of the body."""
        self._message.find_within(_HEAD_END, _HEADERS)
        head = self._message.head(0)
        return head if len(head) < _HEADERS else head[: head.rfind(b"\n", 0, _HEADERS) + 1]


def _is_chunked(head: bytes) -> bool:
    """Whether a body that begins with `head` is chunked: a line end comes after as many bytes as its first line says,
    or `head` ends before that.
    """
    size = _CHUNK.match(head)
    if size is None:
        return False
    byte_count = int(size[1], 16)
    if not byte_count:
        return _NO_MORE.match(head, size.end()) is not None
    after = head[size.end() + byte_count :][:2]
    return b"\r\n".startswith(after) or after.startswith(b"\n")


class _Chunked(Reader):
    """Reader of the data in chunks (RFC 9112, section 7.1), without trailers. Where a chunk should begin and does not,
    it raises DamageError, and then gives all bytes from there unchanged. Raises SourceError if the data end inside a
    chunk.
    """

    def __init__(self, reader: Buffer, name: str) -> None:
        self._reader = reader
        self._name = name
        self._left = 0  # remaining bytes of the chunk
        self._as_it_is = False  # whether the bytes after a damaged chunk are given unchanged
        self._ended = False

    def read_into(self, view: memoryview) -> int:
        if not self._left and not self._as_it_is and not self._ended:
            self._begin()
        if self._ended:
            return 0
        if self._as_it_is:
            return self._reader.read_into(view)
        try:
            got = self._reader.read_into(view[: self._left])
        except DamageError:
            self._as_it_is = True
            raise
        if not got:
            self._ended = True
            raise SourceError(self._name, f"ends {self._left:,} bytes before the end of a chunk: all else is read")
        self._left -= got
        return got

    def _begin(self) -> None:
        """Read the line before a chunk; sets `_left`, or `_ended` after the last chunk. Without such a line, sets
        `_as_it_is`, and raises DamageError, except at the end of the data.
        """
        head = self._reader.head(32)
        if b"\n" not in head[2:]:
            head = self._reader.head(_CHUNK_LINE)
        size = _CHUNK.match(head)
        if size is not None:
            self._reader.skip(size.end())
            self._left = int(size[1], 16)
            # Trailers are headers, not text, and browsers do not show bytes after the trailers.
            self._ended = not self._left
            return
        self._as_it_is = True
        if len(head) >= _CHUNK_LINE or b"\n" in head[2:]:
            raise DamageError(self._name, "is damaged where a chunk should begin, so the rest is scanned unchanged")
        # Truncated between two chunks: the end, or an error of the reader, follows.
        self._reader.skip(len(head) - len(head.lstrip(b"\r\n")))


def _decoded(buffer: Buffer, layer: Layer, coding: _Coding) -> Iterator[bytes]:
    """Yield the decoded text of all parts of a body. Raises SourceError if the rest is lost, and LimitError if the text
    exceeds the limits of `layer`. A wrong checksum ends the text, and is reported later.
    """
    buffer.start_keeping(_BLOCK)
    is_part = True
    while is_part:
        buffer.drop_kept()
        try:
            for text in coding.decode(buffer):
                layer.budget.count_unfolded(len(text))
                yield text
        except CutError:
            if buffer.error is not None:
                # Raises the error.
                buffer.read_into(memoryview(bytearray(1)))
            reason = "ends too early: what is there is read"
        except BrokenError as error:
            reason = str(error) or "is damaged: read up to there"
        except ChecksumError:
            layer.budget.failed_checksum(layer.name, f"the checksum of its {coding.name} coding")
            return
        else:
            is_part = coding.magic is not None and coding.magic.match(buffer.peek(4)) is not None
            continue
        raise SourceError(layer.name, f"its {coding.name} coding {reason}")
