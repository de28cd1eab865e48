"""Decoding of a member by a library that loses decoded text when it raises an error.

After an error the member is decoded a second time, up to the first byte that cannot be decoded.
"""

from collections.abc import Callable, Iterator
from typing import Protocol, TypeAlias

from urnscan.formats.buffer import Buffer, CutError

Decode: TypeAlias = Callable[[Buffer], Iterator[bytes]]
"""Function that decodes the member at the position of a buffer, and yields the text in pieces.

Raises CutError if the buffer ends inside the member, BrokenError for damage, ChecksumError and LeftOutError.
"""

STEP = 1 << 18  # maximum bytes of a piece of text
# The same for a member that is too large to decode twice: damage loses at most one piece.
_STEP_WITHOUT_REPLAY = 1 << 16
_FIRST, _SECOND, _PIECE = 1 << 14, 1 << 15, 1 << 17  # bytes of the first, second and each further piece of input


class BrokenError(Exception):
    """A member cannot be decoded from the position of the buffer on. The message is the reason, or empty for damage."""


class ChecksumError(Exception):
    """The checksum of a decoded member is wrong; for gzip also if only the length is wrong."""


class LeftOutError(Exception):
    """A member was skipped, because a dictionary is missing that later members need, too. The message is the reason."""


class Decompressor(Protocol):
    """Interface of the decompressors of the standard library and of isal."""

    @property
    def eof(self) -> bool:
        """Whether the end of the stream was decoded."""

    @property
    def needs_input(self) -> bool:
        """Whether no text is pending, so that `decompress` needs more bytes."""

    @property
    def unused_data(self) -> bytes:
        """Bytes of the input after the end of the stream."""

    def decompress(self, data: bytes | memoryview, max_length: int, /) -> bytes:
        """Decode bytes, and return at most `max_length` bytes of text; with empty `data`, the next pending text."""


class Decoding:
    """A decompressor that reads from a buffer. After an error a new decompressor decodes the lost text again."""

    def __init__(self, buffer: Buffer, new: Callable[[], Decompressor], error: type[Exception]) -> None:
        self.decompressor = new()
        self.length = 0  # bytes of text from the first decoding
        self._buffer = buffer
        self._new = new
        self._error = error
        self._origin = buffer.tell()
        self._broken = True  # false if the second decoding reached the end of the stream

    def feed(self, count: int) -> Iterator[bytes]:
        """Take the next `count` bytes, or fewer at the end of the stream, and yield their text.

        Raises CutError, BrokenError.
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
                    reason = "needs more than 128 MiB of memory: decompress it first" if is_memory else ""
                    raise BrokenError(reason) from error

    def finish(self) -> Iterator[bytes]:
        """Yield the text up to the end of the stream. Raises CutError, BrokenError."""
        while not self.decompressor.eof:
            yield from self.feed(_PIECE)

    def _next_piece(self, end: int) -> memoryview:
        fed = self._buffer.tell() - self._origin
        size = _FIRST if fed < _FIRST else _SECOND if fed < _SECOND else _PIECE
        return self._buffer.peek()[: min(size, end - self._buffer.tell())]

    def _again(self) -> Iterator[bytes]:
        """Decode the member again, the last piece byte by byte, up to the first byte that cannot be decoded."""
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
    """Feed a piece to a decompressor, and yield the text until no text is pending."""
    yield decompressor.decompress(piece, step)
    while not (decompressor.eof or decompressor.needs_input):
        yield decompressor.decompress(b"", step)


def without(count: int, texts: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the texts without the first `count` bytes of all texts together; empty texts are left out."""
    for text in texts:
        if len(text) > count:
            yield text[count:]
        count -= min(count, len(text))
