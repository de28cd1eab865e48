"""Decoding of one member with a library that loses what it has decoded when it raises.

The member is then decoded a second time, up to the first byte that cannot be decoded.
"""

from collections.abc import Callable, Iterator
from typing import Protocol, TypeAlias

from urnscan.formats.buffer import Buffer, CutError

Decode: TypeAlias = Callable[[Buffer], Iterator[bytes]]
"""Decodes the member at the position of a buffer."""

STEP = 1 << 18  # bytes of text of one step
# The same for a member that is too large to decode twice: damage costs at most one step.
_STEP_WITHOUT_REPLAY = 1 << 16
_FIRST, _SECOND, _PIECE = 1 << 14, 1 << 15, 1 << 17  # bytes fed at first, then, and from then on


class BrokenError(Exception):
    """A member that cannot be decoded from the position of the buffer on; its text says why, where that helps."""


class ChecksumError(Exception):
    """A member whose checksum failed."""


class LeftOutError(Exception):
    """A member that was passed over, as something is missing that others need, too; its text says what."""


class Decompressor(Protocol):
    """Interface of the decompressors of the standard library and of isal."""

    @property
    def eof(self) -> bool:
        """Whether the end of the stream was met."""

    @property
    def needs_input(self) -> bool:
        """Whether all text of the bytes so far has come out."""

    @property
    def unused_data(self) -> bytes:
        """Bytes after the end of the stream."""

    def decompress(self, data: bytes | memoryview, max_length: int, /) -> bytes:
        """Decode to at most `max_length` bytes; without data, give the bytes that are still pending."""


class Decoding:
    """A decompressor that is fed from a buffer, and is set up again to give the text that it lost when it raised."""

    def __init__(self, buffer: Buffer, new: Callable[[], Decompressor], error: type[Exception]) -> None:
        self.decompressor = new()
        self.length = 0  # bytes of text, without those of the second decoding
        self._buffer = buffer
        self._new = new
        self._error = error
        self._origin = buffer.tell()
        self._broken = True  # unless decoding byte by byte comes to the end

    def feed(self, count: int) -> Iterator[bytes]:
        """Decode the next `count` bytes, or those up to the end of the stream."""
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
        """Decode the bytes up to the end of the stream."""
        while not self.decompressor.eof:
            yield from self.feed(_PIECE)

    def _next_piece(self, end: int) -> memoryview:
        fed = self._buffer.tell() - self._origin
        size = _FIRST if fed < _FIRST else _SECOND if fed < _SECOND else _PIECE
        return self._buffer.peek()[: min(size, end - self._buffer.tell())]

    def _again(self) -> Iterator[bytes]:
        """Decode from the beginning, the last piece byte by byte, up to the first byte that cannot be decoded."""
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
        # Brotli raises for bytes after the end.
        self.decompressor, self._broken = again, False


def _drain(decompressor: Decompressor, piece: memoryview, step: int) -> Iterator[bytes]:
    """Feed one piece, and give what comes out until all of it is used."""
    yield decompressor.decompress(piece, step)
    while not (decompressor.eof or decompressor.needs_input):
        yield decompressor.decompress(b"", step)


def without(count: int, texts: Iterator[bytes]) -> Iterator[bytes]:
    """Texts without their first `count` bytes, and without empty ones."""
    for text in texts:
        if len(text) > count:
            yield text[count:]
        count -= min(count, len(text))
