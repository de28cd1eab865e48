"""Decoding of a member of a compressed file by a library that loses decoded text when it raises an error.

After an error the member is decoded a second time, up to the first byte that cannot be decoded.
"""

from collections.abc import Callable, Iterator
from typing import Protocol, TypeAlias

from urnscan.formats.buffer import Buffer, CutError

Decode: TypeAlias = Callable[[Buffer], Iterator[bytes]]
"""Function that takes a member of a compressed file (a part that can be decoded alone) at the position of a buffer, and
yields its unpacked bytes in pieces.

Raises, after all bytes that can be decoded, CutError if the buffer ends inside the member, BrokenError for damage,
ChecksumError for a wrong checksum of a member that was decoded to its end, LeftOutError for a member that was skipped.
"""

STEP = 1 << 18  # maximum bytes of a piece of text
# The same for a member that is too large to decode twice: damage loses at most one piece.
_STEP_WITHOUT_REPLAY = 1 << 16
_FIRST, _SECOND, _PIECE = 1 << 14, 1 << 15, 1 << 17  # bytes of the first, second and each further piece of input


class BrokenError(Exception):
    """A member of a compressed file is damaged, or cannot be decoded for another reason. The text before, as far as it
    could be decoded, was yielded.

    The message is the reason; often empty, for damage.
    """


class ChecksumError(Exception):
    """A member of a compressed file was decoded to its end, and its checksum is wrong (for gzip, or its length)."""


class LeftOutError(Exception):
    """A member (frame) of a Zstandard file was skipped, because the dictionary that it needs is missing or damaged.

    The message is the reason.
    """


class Decompressor(Protocol):
    """Protocol of decompressors such as `lzma.LZMADecompressor`, each for one stream of compressed bytes."""

    @property
    def eof(self) -> bool:
        """Whether the end of the stream was decoded."""

    @property
    def needs_input(self) -> bool:
        """Whether `decompress` has returned all it can, and needs more compressed bytes."""

    @property
    def unused_data(self) -> bytes:
        """Compressed bytes given to `decompress` that come after the end of the stream; empty before the end."""

    def decompress(self, data: bytes | memoryview, max_length: int, /) -> bytes:
        """Decode compressed bytes, and return at most `max_length` unpacked bytes; what exceeds them is returned by
        further calls with empty `data`.
        """


class Decoding:
    """Decoding of the stream at the position of a buffer. After an error the stream is decoded a second time, if the
    buffer can go back to its start, up to the first byte that cannot be decoded.

    `new`: makes a decompressor; `error`: the exception that it raises for damage.
    """

    def __init__(self, buffer: Buffer, new: Callable[[], Decompressor], error: type[Exception]) -> None:
        self.decompressor = new()
        """The decompressor; after a second decoding that reached the end of the stream, the one of this decoding."""
        self.length = 0
        """Number of unpacked bytes of the first decoding."""
        self._buffer = buffer
        self._new = new
        self._error = error
        self._origin = buffer.tell()
        self._broken = True  # false if the second decoding reached the end of the stream

    def feed(self, count: int) -> Iterator[bytes]:
        """Take the next `count` compressed bytes, fewer if the stream ends before, and yield their unpacked bytes.

        Raises CutError if the buffer ends before, BrokenError for damage or if more than 128 MiB of memory are needed.
        The bytes before that are yielded first.
        """
        end = self._buffer.tell() + count
        while self._buffer.tell() < end and not self.decompressor.eof:
            piece = self._next_piece(end)
            if not piece:
                raise CutError
            step = STEP if self._buffer.can_seek(self._origin) else _STEP_WITHOUT_REPLAY
            try:
                for text in _drain(self.decompressor, piece, step):
                    if self.decompressor.eof or self.decompressor.needs_input:
                        self._buffer.skip(len(piece) - len(self.decompressor.unused_data))
                    self.length += len(text)
                    if text:
                        yield text
            except self._error as error:
                if self._buffer.can_seek(self._origin):
                    yield from without(self.length, self._again())
                if self._broken:
                    is_memory = "emory" in str(error)
                    reason = "needs more than 128 MiB of memory; decompress it first" if is_memory else ""
                    raise BrokenError(reason) from error

    def finish(self) -> Iterator[bytes]:
        """Take the compressed bytes up to the end of the stream, and yield their unpacked bytes.

        Raises CutError if the buffer ends before, BrokenError for damage or if more than 128 MiB of memory are needed.
        The bytes before that are yielded first.
        """
        while not self.decompressor.eof:
            yield from self.feed(_PIECE)

    def _next_piece(self, end: int) -> memoryview:
        fed = self._buffer.tell() - self._origin
        size = _FIRST if fed < _FIRST else _SECOND if fed < _SECOND else _PIECE
        return self._buffer.peek()[: min(size, end - self._buffer.tell())]

    def _again(self) -> Iterator[bytes]:
        """Decode the stream again from its start, the last piece byte by byte, and yield the text before the first byte
        that cannot be decoded.
        """
        until = self._buffer.tell()
        self._buffer.seek(self._origin)
        again = self._new()
        while not again.eof:
            piece = self._next_piece(max(until, self._buffer.tell() + 1))
            if not piece:
                return
            try:
                yield from _drain(again, piece, STEP)
            except self._error:
                return
            self._buffer.skip(len(piece))
        # The stream is whole: Brotli raises for bytes after the end.
        self.decompressor, self._broken = again, False


def _drain(decompressor: Decompressor, piece: memoryview, step: int) -> Iterator[bytes]:
    yield decompressor.decompress(piece, step)
    while not (decompressor.eof or decompressor.needs_input):
        yield decompressor.decompress(b"", step)


def without(count: int, texts: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the texts without the first `count` bytes of all together, and without empty texts.

    2 and `b"a", b"bcd", b"e"` -> `b"cd", b"e"`
    """
    for text in texts:
        if len(text) > count:
            yield text[count:]
        count -= min(count, len(text))
