"""Protocol of readers, which give the bytes of an input or a member from the first to the last."""

import io
from collections.abc import Callable, Iterator
from typing import Protocol, Self

from urnscan.errors import DamageError, SourceError

# Buffer for bytes that are skipped; all threads write to it, no thread reads it.
_WASTE = memoryview(bytearray(1 << 16))


class Reader(Protocol):
    """Gives the bytes of an input, from the first to the last; a context manager closes it. Only one thread may use it."""

    def read_into(self, view: memoryview) -> int:
        """Fill the front of a writable view of at least one byte; how many bytes were filled, 0 at the end.

        Raises DamageError where a part of the input is lost, after all bytes before it: the next call gives the bytes
        after the damage, or 0. After any other SourceError there are no more bytes.
        """
        ...

    def reopen(self) -> io.BufferedIOBase | None:
        """A second, seekable file with the same bytes from the first one on; None if that is impossible, as for a pipe.

        The caller closes it. Its `name` is a path where there is one. Raises SourceError.
        """
        return None

    def close(self) -> None:
        """Release the resources of the system, such as a descriptor; a second call does nothing."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class PieceReader(Reader):
    """Reader of an iterator of pieces; a piece may be overwritten when the next one is asked for."""

    def __init__(self, pieces: Iterator[bytes | memoryview]) -> None:
        self._pieces = pieces
        self._piece = memoryview(b"")  # remaining bytes

    def read_into(self, view: memoryview) -> int:
        """Fill the front of the view, with bytes of one piece."""
        while not self._piece:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._piece = memoryview(piece)
        got = min(len(self._piece), len(view))
        view[:got] = self._piece[:got]
        self._piece = self._piece[got:]
        return got


class LengthReader(Reader):
    """Reader of the next bytes of another reader, as many as a header announces; that reader stays open."""

    def __init__(self, reader: Reader, length: int, name: str) -> None:
        """`name` is that of the member, for errors."""
        self.left = length
        """Bytes still to be read."""
        self.is_cut = False
        """Whether reading failed, or ended before the length."""
        self._reader = reader
        self._length = length
        self._name = name

    def read_into(self, view: memoryview) -> int:
        """Fill the front of the view. Raises SourceError where the bytes end too early; nothing follows."""
        if not self.left:
            return 0
        try:
            got = self._reader.read_into(view[: self.left])
        except SourceError:
            self.left, self.is_cut = 0, True
            raise
        if not got:
            there, self.left, self.is_cut = self._length - self.left, 0, True
            raise SourceError(self._name, f"truncated: only {there:,} of {self._length:,} bytes are present")
        self.left -= got
        return got


def begins(head: bytes, *signs: bytes) -> bool | None:
    """Whether bytes begin with one of the signs; None if there are too few of them to decide."""
    if head.startswith(signs):
        return True
    return None if any(sign.startswith(head) for sign in signs) else False


def read_up_to(reader: Reader, count: int) -> bytes:
    """The next `count` bytes; fewer only at the end. If the reader raises, the bytes before the error are lost."""
    buffer = memoryview(bytearray(count))
    filled = 0
    while filled < count and (got := reader.read_into(buffer[filled:])):
        filled += got
    return bytes(buffer[:filled])


def skip(reader: Reader, count: int) -> int:
    """Pass over the next `count` bytes; how many there were, fewer only at the end. Raises what the reader raises."""
    left = count
    while left and (got := reader.read_into(_WASTE[:left])):
        left -= got
    return count - left


def past_damage(read_into: Callable[[memoryview], int]) -> Callable[[memoryview], int]:
    """A `read_into` that skips damage, for a second reading; it returns 0 at any other error."""

    def read_on(view: memoryview) -> int:
        while True:
            try:
                return read_into(view)
            except DamageError:
                continue
            except SourceError:
                return 0

    return read_on
