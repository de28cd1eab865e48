"""Protocol of readers, which give the bytes of an input or a member in order."""

import io
import os
import sys
from collections.abc import Callable, Iterator
from typing import Protocol, Self

from urnscan.errors import DamageError, LimitError, SourceError

# Buffer for skipped bytes. All threads write to it, and no thread reads it.
_WASTE = memoryview(bytearray(1 << 16))
_MAX_AT_ONCE = 1 << 20  # bytes per read of `read_up_to`


class Reader(Protocol):
    """Protocol: a stream of the bytes of an input or of a member of an archive, from front to back.

    A context manager that closes the reader at its exit. Not for use by several threads.
    """

    def read_into(self, view: memoryview) -> int:
        """Read the next bytes into the front of a writable view (not empty). Returns their number, 0 at the end.

        The number may be smaller than the view also before the end. Raises DamageError where a part of the input is
        lost, after all bytes before the damage: the next call gives the bytes after the damage, or 0. After any other
        SourceError there are no more bytes.
        """
        ...

    def reopen(self) -> io.BufferedIOBase | None:
        """Open a seekable file with all bytes of this reader; None if impossible, as for a pipe.

        The caller closes the file. `path_of_file` returns its path, if the bytes are a file of this machine. Raises
        SourceError.
        """
        return None

    def close(self) -> None:
        """Release resources of the system, for example a descriptor; a second call does nothing."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class PieceReader(Reader):
    """Reader of the bytes in an iterator of pieces; each piece is copied before the iterator makes the next piece.

    Raises the errors of the iterator.
    """

    def __init__(self, pieces: Iterator[bytes | memoryview]) -> None:
        self._pieces = pieces
        self._piece = memoryview(b"")  # remaining bytes

    def read_into(self, view: memoryview) -> int:
        """Fill the front of the view from a single piece, or from what is left of it. Returns the number of bytes, 0 at
        the end of the iterator. Empty pieces are skipped.
        """
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
    """Reader of the next `length` bytes of an inner reader, such as a member of an archive whose header has the length.

    Closing it leaves the inner reader open.
    """

    def __init__(self, reader: Reader, length: int, name: str) -> None:
        """`reader`: the inner reader. `name`: of the member, for errors."""
        self.left = length
        """Bytes not yet read."""
        self.is_cut = False
        """Whether reading failed, or ended before `length` bytes."""
        self._reader = reader
        self._length = length
        self._name = name

    def read_into(self, view: memoryview) -> int:
        """Read bytes into the front of the view. Returns the number of bytes, 0 after `length` bytes.

        Raises the errors of the inner reader, and SourceError if it ends earlier; after any of them this reader is at
        its end.
        """
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
    r"""Whether `head`, the first bytes of a file, begins with any of `signs` (signatures); None if `head` is too short
    to decide.

    >>> begins(b"PK\3\4...", b"PK\3\4"), begins(b"PK", b"PK\3\4"), begins(b"BZ", b"PK\3\4")
    (True, None, False)
    """
    if head.startswith(signs):
        return True
    return None if any(sign.startswith(head) for sign in signs) else False


def read_up_to(reader: Reader, count: int) -> bytearray:
    """Return the next `count` bytes; fewer only at the end. Memory is allocated only for bytes that arrive.

    Raises the errors of the reader; then the bytes before the error are lost.
    """
    data = bytearray()
    block = memoryview(bytearray(min(count, _MAX_AT_ONCE)))
    while len(data) < count and (got := reader.read_into(block[: count - len(data)])):
        data += block[:got]
    return data


def path_of(reader: Reader) -> str | None:
    """Path of the regular file of this machine that has the bytes of a reader; None if there is none: for a pipe, a
    member of an archive, an object in a store.

    Raises SourceError.
    """
    file = reader.reopen()
    if file is None:
        return None
    with file:
        path = path_of_file(file)
    return path if path is not None and os.path.isfile(path) else None  # noqa: PTH113 (paths are strings here)


def path_of_file(file: io.BufferedIOBase) -> str | None:
    """Path of an open file of this machine that was opened for reading by its path (a str); None for another file
    object, such as an object in a store.
    """
    if isinstance(file, io.BufferedReader) and isinstance(file.raw, io.FileIO) and isinstance(file.name, str):
        return file.name
    return None


def skip(reader: Reader, count: int) -> int:
    """Skip the next `count` bytes. Returns the number of skipped bytes, less than `count` only at the end.

    Raises the errors of the reader.
    """
    left = count
    while left and (got := reader.read_into(_WASTE[:left])):
        left -= got
    return count - left


def rest_skipped(reader: Reader) -> Iterator[SourceError]:
    """Skip all bytes of a reader up to its end or the first error. Yields this error, if any; raises a LimitError."""
    try:
        skip(reader, sys.maxsize)
    except LimitError:
        raise
    except SourceError as error:
        yield error


def past_damage(read_into: Callable[[memoryview], int]) -> Callable[[memoryview], int]:
    """Return a function like the given `read_into` of a `Reader`, which raises no SourceError: after a DamageError it
    reads on after the damage, and for any other SourceError it returns 0 (the end). These errors are lost.
    """

    def read_on(view: memoryview) -> int:
        while True:
            try:
                return read_into(view)
            except DamageError:
                continue
            except SourceError:
                return 0

    return read_on
