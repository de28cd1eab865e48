"""Decoders of a member of a compressed file: gzip, deflate, Brotli, bzip2, xz, LZMA (`frames.py`: Zstandard, LZ4).

A decoder takes a member from a buffer, whose position is the first byte of the member, and yields the text in pieces of
bounded size. It yields all text that can be decoded before it raises

    CutError       the buffer ends inside the member
    BrokenError    the member cannot be decoded from the position on
    ChecksumError  the whole member was decoded, and the checksum is wrong
"""

import bz2
import contextlib
import functools
import io
import lzma
import re
import struct
import zlib
from collections.abc import Callable, Iterator

from urnscan.formats.buffer import Buffer, CutError
from urnscan.formats.compression.replay import STEP, BrokenError, ChecksumError, Decoding, Decompressor, without

# Maximum bytes of memory of an LZMA decoder: enough for a dictionary of 128 MiB.
_MEMORY = (1 << 27) + (1 << 21)
_LONGEST_NAME = 1 << 16  # maximum bytes of a file name or comment in a gzip header
_NUL = re.compile(b"\0")
# Bytes per call. The shortest block has 22, so at most two blocks, of at most 46 MB, come out at once.
_BZIP2_PIECE = 44
_XZ_CHECK_SIZES = (0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64)


class _Zlib:
    """`Decompressor` of zlib, with the CRC-32 of the text so far (`crc`)."""

    def __init__(self, window: int = -15) -> None:
        self.crc = 0
        self.needs_input = True
        self._inner = zlib.decompressobj(window)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes | memoryview, max_length: int, /) -> bytes:
        text = self._inner.decompress(self._inner.unconsumed_tail or data, max_length)
        # Text that exceeds max_length may be pending, although all bytes are consumed.
        self.needs_input = not self._inner.unconsumed_tail and len(text) < max_length
        self.crc = zlib.crc32(text, self.crc)
        return text


@functools.cache
def _inflater() -> tuple[Callable[[], Decompressor], type[Exception]]:
    """Return a function that makes decompressors of raw deflate, with the CRC-32 of their text (`crc`), and the
    exception that they raise: of isal or, without it, of zlib.
    """
    try:
        from isal import igzip_lib  # noqa: PLC0415 (isal does not exist for some machines)
    except ImportError:
        return _Zlib, zlib.error
    new = functools.partial(igzip_lib.IgzipDecompressor, flag=igzip_lib.DECOMP_GZIP_NO_HDR)
    return new, igzip_lib.error  # type: ignore[return-value]  # its stub takes the class for an instance


def gzip(buffer: Buffer) -> Iterator[bytes]:
    """Take the gzip member (RFC 1952) at the position of the buffer, and yield its unpacked bytes.

    Raises CutError (the bytes end inside the member), BrokenError (damaged), ChecksumError (wrong CRC or length).
    """
    magic, flags = struct.unpack("<3sB6x", buffer.read(10))
    if magic != b"\x1f\x8b\x08" or flags & 0xE0:
        raise BrokenError
    # FEXTRA.
    if flags & 4:
        buffer.skip(int.from_bytes(buffer.read(2), "little"))
    # FNAME, FCOMMENT.
    for flag in (8, 16):
        if flags & flag:
            nul = buffer.find_within(_NUL, _LONGEST_NAME)
            if nul is None and len(buffer.peek()) >= _LONGEST_NAME:
                raise BrokenError
            if nul is None:
                buffer.skip(len(buffer.peek()))
                raise CutError
            buffer.skip(nul.end())
    # FHCRC: checksum of the header, whose fields are not used.
    if flags & 2:
        buffer.skip(2)
    new, error = _inflater()
    decoding = Decoding(buffer, new, error)
    yield from decoding.finish()
    crc, size = struct.unpack("<II", buffer.read(8))
    if crc != decoding.decompressor.crc or size != decoding.length & 0xFFFFFFFF:  # type: ignore[attr-defined]
        raise ChecksumError


class _Rest(io.RawIOBase):
    """File over the rest of a buffer, up to the end or an error."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer

    def readable(self) -> bool:
        return True

    def readinto(self, view: memoryview) -> int:  # type: ignore[override]
        data = self._buffer.peek()[: len(view)]
        view[: len(data)] = data
        self._buffer.skip(len(data))
        return len(data)


def whole_gzip(buffer: Buffer) -> Iterator[bytes]:
    """Take all gzip members from the position to the end of the buffer, and yield their unpacked bytes; faster than
    `gzip` for each member.

    Raises BrokenError for damage in any member, also a wrong checksum, and if isal is not installed. Text may have been
    yielded before, and the position is then undefined.
    """
    # For members of a few KiB, this takes a third of the time of `gzip`.
    try:
        from isal import igzip  # noqa: PLC0415 (isal does not exist for some machines)
    except ImportError as error:
        raise BrokenError from error
    _, isal_error = _inflater()
    try:
        with igzip.IGzipFile(fileobj=_Rest(buffer), mode="rb") as file:  # type: ignore[no-untyped-call]
            while text := file.read(STEP):
                yield text
    except (EOFError, OSError, OverflowError, isal_error) as error:
        raise BrokenError from error
    if buffer.error is not None:
        raise BrokenError


def deflate(buffer: Buffer) -> Iterator[bytes]:
    """Take the stream of raw deflate (RFC 1951) at the position of the buffer, and yield its unpacked bytes.

    Raises CutError (the bytes end inside the stream), BrokenError (damaged).
    """
    return Decoding(buffer, *_inflater()).finish()


def inflated(data: memoryview, size: int) -> tuple[bytes, int] | None:
    """Decode raw deflate in memory. Returns the unpacked bytes and their CRC-32.

    None if `data` is damaged, is not exactly one stream, or does not unpack to exactly `size` bytes.
    """
    new, error = _inflater()
    decompressor = new()
    try:
        text = decompressor.decompress(data, size + 1)
    except error:
        return None
    is_all = decompressor.eof and not decompressor.unused_data and len(text) == size
    return (text, decompressor.crc) if is_all else None  # type: ignore[attr-defined]


def zlib_format(buffer: Buffer) -> Iterator[bytes]:
    """Take the stream in the zlib format (RFC 1950) at the position of the buffer, and yield its unpacked bytes. The
    buffer must keep its bytes (`start_keeping`).

    Raises CutError (the bytes end inside the stream), BrokenError (damaged), ChecksumError.
    """
    try:
        yield from Decoding(buffer, lambda: _Zlib(15), zlib.error).finish()
    except BrokenError as error:
        if "data check" in str(error.__cause__):
            raise ChecksumError from error
        raise


class _Brotli:
    """`Decompressor` of brotli."""

    unused_data = b""

    def __init__(self) -> None:
        import brotli  # noqa: PLC0415 (only few archives need it)

        self.needs_input = True
        self._inner = brotli.Decompressor()

    @property
    def eof(self) -> bool:
        return bool(self._inner.is_finished())

    def decompress(self, data: bytes | memoryview, max_length: int, /) -> bytes:
        text = bytes(self._inner.process(data, output_buffer_limit=max_length))
        # brotli accepts more input while text is pending.
        self.needs_input = not text
        return text


def brotli(buffer: Buffer) -> Iterator[bytes]:
    """Take the stream of Brotli (RFC 7932) at the position of the buffer, and yield its unpacked bytes.

    Raises CutError (the bytes end inside the stream), BrokenError (damaged).
    """
    from brotli import error  # noqa: PLC0415 (only few archives need it)

    return Decoding(buffer, _Brotli, error).finish()


def bzip2(buffer: Buffer) -> Iterator[bytes]:
    """Take the bzip2 stream at the position of the buffer, and yield the unpacked bytes of blocks with a good CRC.

    Raises CutError (the bytes end inside the stream), BrokenError (damaged, or a wrong CRC).
    """
    origin = buffer.tell()
    length = 0
    try:
        for text in _bzip2_blocks(buffer, None):
            length += len(text)
            yield text
    except OSError as error:
        if buffer.can_seek(origin):
            until = buffer.tell()
            buffer.seek(origin)
            with contextlib.suppress(OSError):
                yield from without(length, _bzip2_blocks(buffer, until))
        raise BrokenError from error


def _bzip2_blocks(buffer: Buffer, until: int | None) -> Iterator[bytes]:
    """Yield the unpacked blocks of the stream at the position. Raises CutError, and OSError for a damaged block: the
    position is then that of the piece of input with the error, and good text in it may be lost. `until`: such a
    position; from it on the library gets single bytes (before it, and with None, 44 at once), so that nothing is lost.
    """
    decompressor = bz2.BZ2Decompressor()
    decompress = decompressor.decompress
    while not decompressor.eof:
        data = buffer.peek()
        if not data:
            raise CutError
        size = _BZIP2_PIECE
        if until is not None:
            data = data[: max(1, until - buffer.tell())]
            size = size if buffer.tell() < until else 1
        fed = 0
        try:
            for fed in range(0, len(data), size):
                text = decompress(data[fed : fed + size])
                if text or decompressor.eof:
                    break
            # The piece may end the block: then more text comes without input, and the CRC is checked last.
            texts = [text]
            while texts[-1] and not decompressor.eof:
                texts.append(decompress(b""))
            text = b"".join(texts)
        except OSError:
            buffer.skip(fed)
            raise
        buffer.skip(min(fed + size, len(data)) - len(decompressor.unused_data))
        if text:
            yield text


def xz(buffer: Buffer) -> Iterator[bytes]:
    """Take the xz stream (.xz File Format 1.2) at the position of the buffer, and yield its unpacked bytes.

    Raises CutError (the bytes end inside the stream), BrokenError (damaged, a wrong checksum of a block that is not the
    last, or more than about 128 MiB of memory needed), ChecksumError (wrong checksum of the last block).
    """
    start = buffer.tell()
    header = buffer.peek_exactly(12)
    decoding = Decoding(buffer, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MEMORY), lzma.LZMAError)
    check = _XZ_CHECK_SIZES[header[7] & 15]
    ahead = len(header)
    while size := buffer.peek_exactly(ahead + 1)[ahead]:
        yield from decoding.feed(ahead + 4 * (size + 1))
        while buffer.peek_exactly(1)[0]:
            yield from decoding.feed(_lzma2_chunk(buffer))
        yield from decoding.feed(1 + (start - buffer.tell() - 1) % 4)
        ahead = 0
        value = bytes(buffer.read(check))
        try:
            decoding.decompressor.decompress(value, STEP)
        except lzma.LZMAError as error:
            # The library decodes no further block after a wrong checksum.
            if buffer.peek_exactly(1)[0]:
                reason = f"has a wrong checksum before byte {buffer.tell()}; the rest of it is lost"
                raise BrokenError(reason) from error
            raise ChecksumError from error
    yield from decoding.finish()


def _lzma2_chunk(buffer: Buffer) -> int:
    """Number of bytes, with the header, of the LZMA2 chunk at the position, which does not move; 6 if fewer than 6
    bytes are left.
    """
    head = buffer.peek(6)
    if len(head) < 6:
        # The chunk is truncated: even the shortest chunk with the bytes after it has 6 bytes.
        return 6
    if head[0] >= 0x80:
        return 6 + (head[0] >= 0xC0) + (head[3] << 8 | head[4])
    return 4 + (head[1] << 8 | head[2])


def lzma_alone(buffer: Buffer) -> Iterator[bytes]:
    """Take the .lzma file (the format before xz) at the position of the buffer, and yield its unpacked bytes.

    Raises CutError (the bytes end inside the file), BrokenError (damaged, or more than about 128 MiB of memory needed).
    """
    new = lambda: lzma.LZMADecompressor(lzma.FORMAT_ALONE, memlimit=_MEMORY)  # noqa: E731
    return Decoding(buffer, new, lzma.LZMAError).finish()
