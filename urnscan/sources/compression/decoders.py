"""Decoders of one member of a compressed text: gzip, bzip2, xz and LZMA alone; frames.py has the others.

A decoder takes its member from a buffer that stands at the first octet of it, and gives the text in steps of bounded
size. It gives all that can be decoded before it raises

    CutError       the buffer ends in the middle of the member
    BrokenError    the member cannot be decoded from here on
    ChecksumError  all of it was decoded, and its checksum says that it is not what was encoded

The libraries lose what they have decoded when they raise: the member is then decoded a second time, up to the octet
that cannot be.
"""

import bz2
import contextlib
import lzma
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Protocol, TypeAlias

from urnscan.sources.buffer import Buffer, CutError

__all__ = ["BrokenError", "ChecksumError", "Decode", "Decoding", "alone", "bzip2", "gzip", "inflater", "look", "xz"]

Decode: TypeAlias = Callable[[Buffer], Iterator[bytes]]
"""Decodes the member at the position of a buffer; used for one member after another."""

_STEP = 1 << 18  # octets of text given at a time
_STEP_WITHOUT_REPLAY = 1 << 16  # so many are lost in a large member of a pipe that is damaged
_FIRST, _SECOND, _PIECE = 1 << 11, 1 << 14, 1 << 17  # octets fed at first, then, and from then on
_MEMORY = (1 << 27) + (1 << 21)  # octets for an LZMA decoder: for a dictionary of 128 MiB
_LONGEST_NAME = 1 << 16  # octets of a file name or comment in a gzip header


class BrokenError(Exception):
    """A member that cannot be decoded from the position of the buffer on; its text says why, where that helps."""


class ChecksumError(Exception):
    """A member whose checksum failed."""


class _Decompressor(Protocol):
    """What the decompressors of the standard library and of isal have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes | memoryview, max_length: int, /) -> bytes: ...


class _Inflater(_Decompressor, Protocol):
    crc: int


class Decoding:
    """A decompressor that is fed from a buffer, and is set up anew to give what it lost when it raises."""

    def __init__(self, buffer: Buffer, new: Callable[[], _Decompressor], error: type[Exception]) -> None:
        self.decompressor = new()
        self.given = 0  # octets of text
        self._buffer = buffer
        self._new = new
        self._error = error
        self._origin = buffer.position

    def feed(self, count: int) -> Iterator[bytes]:
        """What the next `count` octets decode to, or those up to the end of the stream."""
        end = self._buffer.position + count
        while self._buffer.position < end and not self.decompressor.eof:
            piece = self._next_piece(self._buffer, end)
            if not piece:
                raise CutError
            step = _STEP if self._buffer.holds(self._origin) else _STEP_WITHOUT_REPLAY
            try:
                for text in _drain(self.decompressor, piece, step):
                    if self.decompressor.eof or self.decompressor.needs_input:
                        self._buffer.advance(len(piece) - len(self.decompressor.unused_data))
                    self.given += len(text)
                    if text:
                        yield text
            except self._error as error:
                if self._buffer.holds(self._origin):
                    yield from self._replay()
                raise BrokenError(_memory(error)) from error

    def finish(self) -> Iterator[bytes]:
        """What the octets up to the end of the stream decode to."""
        while not self.decompressor.eof:
            yield from self.feed(_PIECE)

    def _next_piece(self, buffer: Buffer, end: int) -> memoryview:
        fed = buffer.position - self._origin
        size = _FIRST if fed < _FIRST else _SECOND if fed < _SECOND else _PIECE
        return buffer.peek()[: min(size, end - buffer.position)]

    def _replay(self) -> Iterator[bytes]:
        """Decode again from the beginning, the last piece octet by octet; give what was not given."""
        until = self._buffer.position
        self._buffer.back(self._origin)
        yield from _without(self.given, self._again(until))

    def _again(self, until: int) -> Iterator[bytes]:
        again = self._new()
        while not again.eof:
            piece = self._next_piece(self._buffer, max(until, self._buffer.position + 1))
            if not piece:
                return
            try:
                yield from _drain(again, piece, _STEP)
            except self._error:
                return
            self._buffer.advance(len(piece))


def _drain(decompressor: _Decompressor, piece: memoryview, step: int) -> Iterator[bytes]:
    """Feed one piece, and give what comes out until all of it is used."""
    yield decompressor.decompress(piece, step)
    while not (decompressor.eof or decompressor.needs_input):
        yield decompressor.decompress(b"", step)


def _without(count: int, texts: Iterator[bytes]) -> Iterator[bytes]:
    """Texts without their first `count` octets, and without empty ones."""
    for text in texts:
        if len(text) > count:
            yield text[count:]
        count -= min(count, len(text))


def _memory(error: Exception) -> str:
    """What to say if it is the limit of the memory that was hit."""
    return "needs more than 128 MiB of memory: decompress it first" if "emory" in str(error) else ""


def look(buffer: Buffer, count: int) -> bytes:
    """The next `count` octets, which are not taken. Raises CutError where there are fewer."""
    octets = bytes(buffer.peek(count)[:count])
    if len(octets) < count:
        buffer.advance(len(octets))
        raise CutError
    return octets


# gzip (RFC 1952)


class _Zlib:
    """zlib with the interface of isal."""

    def __init__(self) -> None:
        self.crc = 0
        self.needs_input = True
        self._inner = zlib.decompressobj(wbits=-15)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes | memoryview, max_length: int, /) -> bytes:
        text = self._inner.decompress(self._inner.unconsumed_tail or data, max_length)
        # It may hold back what did not fit, and then has taken all octets.
        self.needs_input = not self._inner.unconsumed_tail and len(text) < max_length
        self.crc = zlib.crc32(text, self.crc)
        return text


def inflater(*, counts: bool) -> tuple[Callable[[], _Inflater], type[Exception]]:
    """What makes decompressors of raw deflate, and what they raise; with `counts` they know the CRC of the text."""
    try:
        from isal import igzip_lib  # noqa: PLC0415 (there is none for some machines)
    except ImportError:
        return _Zlib, zlib.error
    flag = igzip_lib.DECOMP_GZIP_NO_HDR if counts else igzip_lib.DECOMP_DEFLATE
    return lambda: igzip_lib.IgzipDecompressor(flag=flag), igzip_lib.error  # type: ignore[return-value]  # its stub takes the class for an instance


def gzip() -> Decode:
    """Decodes members of gzip files."""
    new, error = inflater(counts=True)
    return lambda buffer: _gzip_member(buffer, new, error)


def _gzip_member(buffer: Buffer, new: Callable[[], _Inflater], error: type[Exception]) -> Iterator[bytes]:
    magic, flags = struct.unpack("<3sB6x", buffer.take(10))
    if magic != b"\x1f\x8b\x08" or flags & 0xE0:
        raise BrokenError
    if flags & 4:  # FEXTRA
        buffer.skip(int.from_bytes(buffer.take(2), "little"))
    for flag in (8, 16):  # FNAME, FCOMMENT
        if flags & flag:
            _skip_name(buffer)
    if flags & 2:  # FHCRC: of the header, of which nothing is used
        buffer.skip(2)
    decoding = Decoding(buffer, new, error)
    yield from decoding.finish()
    inflater = decoding.decompressor
    crc, size = struct.unpack("<II", buffer.take(8))
    if crc != inflater.crc or size != decoding.given & 0xFFFFFFFF:  # type: ignore[attr-defined]
        raise ChecksumError


def _skip_name(buffer: Buffer) -> None:
    left = _LONGEST_NAME
    while left > 0:
        octets = bytes(buffer.peek()[:4096])
        if not octets:
            raise CutError
        end = octets.find(0) + 1
        buffer.advance(end or len(octets))
        if end:
            return
        left -= len(octets)
    raise BrokenError


# bzip2

_BZIP2_PIECE = 44  # octets; the shortest block has 22, so no more than two blocks of 46 MB at most come out at once


def bzip2() -> Decode:
    """Decodes streams of bzip2 files; gives only octets of blocks whose CRC is good."""
    return _bzip2_stream


def _bzip2_stream(buffer: Buffer) -> Iterator[bytes]:
    origin = buffer.position
    given = 0
    try:
        for text in _bzip2_blocks(buffer, None):
            given += len(text)
            yield text
    except OSError as error:
        if buffer.holds(origin):
            until = buffer.position
            buffer.back(origin)
            with contextlib.suppress(OSError):
                yield from _without(given, _bzip2_blocks(buffer, until))
        raise BrokenError from error


def _bzip2_blocks(buffer: Buffer, until: int | None) -> Iterator[bytes]:
    """The blocks of a stream, fed octet by octet from the position `until` on. Raises OSError, where not all may be given."""
    decompressor = bz2.BZ2Decompressor()
    decompress = decompressor.decompress
    while not decompressor.eof:
        octets = buffer.peek()
        if not octets:
            raise CutError
        size = _BZIP2_PIECE
        if until is not None:
            octets = octets[: max(1, until - buffer.position)]
            size = size if buffer.position < until else 1
        fed = 0
        try:
            for fed in range(0, len(octets), size):
                text = decompress(octets[fed : fed + size])
                if text or decompressor.eof:
                    break
            # What ends a block may be all that it was fed: it then goes on giving it, and last looks at the CRC.
            texts = [text]
            while texts[-1] and not decompressor.eof:
                texts.append(decompress(b""))
            text = b"".join(texts)
        except OSError:
            buffer.advance(fed)
            raise
        buffer.advance(min(fed + size, len(octets)) - len(decompressor.unused_data))
        if text:
            yield text


# xz (The .xz File Format 1.2), and LZMA alone

_CHECK_SIZES = (0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64)


def xz() -> Decode:
    """Decodes streams of xz files."""
    return _xz_stream


def _xz_stream(buffer: Buffer) -> Iterator[bytes]:
    start = buffer.position
    header = look(buffer, 12)
    decoding = Decoding(buffer, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MEMORY), lzma.LZMAError)
    check = _CHECK_SIZES[header[7] & 15]
    ahead = len(header)
    while size := look(buffer, ahead + 1)[ahead]:
        yield from decoding.feed(ahead + 4 * (size + 1))
        while look(buffer, 1)[0]:
            yield from decoding.feed(_lzma2_chunk(buffer))
        yield from decoding.feed(1 + (start - buffer.position - 1) % 4)
        ahead = 0
        value = bytes(buffer.take(check))
        try:
            decoding.decompressor.decompress(value, _STEP)
        except lzma.LZMAError as error:
            if look(buffer, 1)[0]:  # the library decodes no block behind it
                reason = f"has a wrong checksum before octet {buffer.position}: what follows in it is lost"
                raise BrokenError(reason) from error
            raise ChecksumError from error
    yield from decoding.finish()


def _lzma2_chunk(buffer: Buffer) -> int:
    """How many octets the LZMA2 chunk has at which the buffer stands."""
    head = buffer.peek(6)
    if len(head) < 6:
        return 6  # it is cut off: no chunk is shorter and followed by less
    if head[0] >= 0x80:
        return 6 + (head[0] >= 0xC0) + (head[3] << 8 | head[4])
    return 4 + (head[1] << 8 | head[2])


def alone() -> Decode:
    """Decodes LZMA files as they were before xz, with no checksum."""
    return _alone


def _alone(buffer: Buffer) -> Iterator[bytes]:
    new = lambda: lzma.LZMADecompressor(lzma.FORMAT_ALONE, memlimit=_MEMORY)  # noqa: E731
    yield from Decoding(buffer, new, lzma.LZMAError).finish()
