"""Buffer: a reader with lookahead, and with a way back to earlier bytes."""

import contextlib
import io
import re
from collections.abc import Callable
from typing import Self

from urnscan.errors import DamageError, SourceError
from urnscan.stores.reader import Reader

_HEAD = 1 << 12  # bytes per read
_MOST_KEPT = 1 << 25  # maximum of bytes that are kept for `seek`, without a second file
_LEAST_KEPT = 1 << 23  # bytes that remain when the maximum is exceeded


class CutError(Exception):
    """A reader ended, or raised an error, inside a header, a member or another part that a form needs whole."""


class Buffer(Reader):
    """Reader around another reader, with lookahead (`peek`) and, after `start_keeping`, with a way back (`seek`).

    After `seek`, bytes come from a second opening of the same file (`Reader.reopen`). If the file cannot be opened a
    second time (a pipe), the buffer keeps between 8 and 32 MiB of the last bytes, and reads these again.
    """

    error: SourceError | None
    """The error that the reader raised after the bytes in the buffer; None without an error.

    `resume` clears the error, to read on.
    """

    def __init__(
        self,
        reader: Reader,
        on_read: Callable[[int], object] = lambda _: None,
        front: bytes = b"",
        error: SourceError | None = None,
    ) -> None:
        """`reader` is closed with the buffer; `on_read` is called with the number of bytes of each read.

        `front`, `error`: bytes that were already read from `reader`, and the error after them.
        """
        self.error = error
        self._position = 0  # bytes that were read from the buffer
        self._reader = reader
        self._on_read = on_read
        self._block = _HEAD
        self._storage = memoryview(bytearray(front))
        # The part of the storage with unread bytes.
        self._start, self._end = 0, len(front)
        self._ended = error is not None and not isinstance(error, DamageError)
        self._read = len(front)  # bytes that the reader gave
        self._earliest = 0  # position up to which `seek` can go
        self._holds = False
        self._second: io.BufferedIOBase | None = None
        self._kept = bytearray()  # bytes from `_earliest` to `_read`, if there is no second file

    @classmethod
    def of(cls, reader: Reader) -> Self:
        """Return `reader` itself if already a buffer; else make a buffer around `reader`."""
        return reader if isinstance(reader, cls) else cls(reader)

    @property
    def buffered(self) -> bool:
        """Whether the next byte is in the buffer, so that `peek()` does not wait."""
        return self._end > self._start

    def peek(self, count: int = 1) -> memoryview:
        """All bytes in the buffer, at least `count` unless the end or an error comes first; the position does not move.

        Reads only if fewer than `count` bytes are in the buffer. The view is valid until the next call of a method; it
        has more than `count` bytes if a read gave more. Raises no error of the reader: `error` keeps it.
        """
        while self._end - self._start < count and self._fill(count):
            pass
        return self._storage[self._start : self._end]

    def head(self, count: int) -> bytes:
        """Return a copy of all bytes of `peek(count)`, often more than `count`."""
        return bytes(self.peek(count))

    def peek_exactly(self, count: int) -> bytes:
        """Return a copy of the next `count` bytes; the position does not move.

        If fewer bytes are left, skips them and raises CutError.
        """
        data = bytes(self.peek(count)[:count])
        if len(data) < count:
            self.skip(len(data))
            raise CutError
        return data

    def read(self, count: int) -> memoryview:
        """Return the next `count` bytes, and move after them; the view is valid until the next call.

        If fewer bytes are left, skips them and raises CutError.
        """
        data = self.peek(count)[:count]
        self.skip(len(data))
        if len(data) < count:
            raise CutError
        return data

    def skip(self, count: int) -> None:
        """Skip the next `count` bytes. If fewer bytes are left, skips them and raises CutError."""
        while count > (there := self._end - self._start):
            self._start = self._end
            self._position += there
            count -= there
            if not self._fill(1):
                raise CutError
        self._start += count
        self._position += count

    def tell(self) -> int:
        """The position: the number of bytes taken so far."""
        return self._position

    def find(self, pattern: re.Pattern[bytes], longest: int) -> bool:
        """Move to the first byte of the next match of a pattern, or to the end. Returns whether a match exists.

        `longest`: maximum bytes of a match with its lookahead.
        """
        while data := self.peek(longest):
            if match := pattern.search(data):
                self.skip(match.start())
                return True
            self.skip(len(data) - (longest - 1) if len(data) >= longest else len(data))
        return False

    def find_within(self, pattern: re.Pattern[bytes], most: int) -> re.Match[bytes] | None:
        """The first match of a pattern in the next `most` bytes, or None; the position does not move."""
        data = self.peek()
        while not (match := pattern.search(data[:most])):
            longer = self.peek(min(2 * len(data), most))
            if len(longer) == len(data):
                return None
            data = longer
        return match

    def read_into(self, view: memoryview) -> int:
        """Fill the front of the view. Returns the number of bytes, 0 at the end.

        Raises (and clears) `error` after all bytes before the error.
        """
        got = self._read_next(view)
        if not got and self.error is not None:
            error = self.error
            self.resume()
            raise error
        return got

    def fill(self, view: memoryview) -> int:
        """Fill the whole view, unless the end or an error comes first. Returns the number of bytes.

        Raises as `read_into`.
        """
        filled = got = self.read_into(view)
        while got and filled < len(view):
            got = self._read_next(view[filled:])
            filled += got
        return filled

    def resume(self) -> None:
        """Clear the error, to read on. From now on `seek` cannot go back before the error."""
        self.error = None
        self._kept.clear()
        self._earliest = self._read

    def start_keeping(self, block: int) -> None:
        """Keep the bytes from the current position on, so that `seek` can go back; read `block` bytes at a time.

        Opens the file a second time, if possible (`has_second`).
        """
        self._block = block
        self._holds = True
        self._earliest = self._position
        # A file may have been deleted, or may not be opened a second time.
        with contextlib.suppress(SourceError):
            self._second = self._reader.reopen()
        if self._second is None:
            self._kept += self._storage[self._start : self._end]

    @property
    def has_second(self) -> bool:
        """Whether the file was opened a second time, so that `seek` can always go back to the start of keeping."""
        return self._second is not None

    def drop_kept(self) -> None:
        """Drop the kept bytes before the position; `seek` can no longer go back before the position."""
        if self._kept:
            del self._kept[: self._position - self._earliest]
            self._earliest = self._position

    def can_seek(self, position: int) -> bool:
        """Whether `seek` can go back to exactly this position."""
        return position >= self._earliest

    def seek(self, position: int) -> None:
        """Go back to a position, or to the earliest later position that is kept."""
        position = max(position, self._earliest)
        if self._position - position <= self._start:
            self._start -= self._position - position
        else:
            self._start = self._end = 0
        self._position = position

    def stop_keeping(self) -> None:
        """Close the second file and drop the kept bytes; after this call `seek` must not be used."""
        self._holds = False
        self._kept.clear()
        if self._second is not None:
            self._second.close()

    def reopen(self) -> io.BufferedIOBase | None:
        """Open a seekable file with all bytes of the reader; None if impossible. Raises SourceError."""
        return self._reader.reopen()

    def close(self) -> None:
        """Close the second file and the reader."""
        self.stop_keeping()
        self._reader.close()

    def _read_next(self, view: memoryview) -> int:
        if self._holds or self._ended or self.error is not None or self._position < self._read:
            data = self.peek()[: len(view)]
            got = len(data)
            view[:got] = data
            self.skip(got)
        else:
            # The storage is empty and nothing is kept: the reader can fill the view directly.
            self._start = self._end = 0
            got = self._read_on(view)
            self._position += got
        return got

    def _fill(self, count: int) -> bool:
        """Read more bytes into the storage, by a single read. False if no bytes came."""
        there = self._end - self._start
        at = self._position + there
        if at == self._read and (self._ended or self.error is not None):
            return False
        if self._end == len(self._storage) or self._start + count > len(self._storage):
            # Twice as many bytes: the caller often asks for more soon.
            old, size = self._storage, max(self._block, 2 * count)
            if len(old) < size:
                self._storage = memoryview(bytearray(size))
            self._storage[:there] = old[self._start : self._end]
            self._start, self._end = 0, there
        room = self._storage[self._end :]
        got = self._read_again(room[: self._read - at], at) if at < self._read else self._read_on(room)
        self._end += got
        return got > 0

    def _read_on(self, view: memoryview) -> int:
        try:
            got = self._reader.read_into(view)
        except SourceError as error:
            self.error = error
            self._ended = not isinstance(error, DamageError)
            return 0
        self._ended = got == 0
        self._read += got
        self._on_read(got)
        if self._holds and self._second is None:
            self._kept += view[:got]
            if len(self._kept) > _MOST_KEPT:
                del self._kept[:-_LEAST_KEPT]
                self._earliest = self._read - _LEAST_KEPT
        return got

    def _read_again(self, view: memoryview, at: int) -> int:
        if self._second is None:
            first = at - self._earliest
            view[:] = self._kept[first : first + len(view)]
            return len(view)
        try:
            self._second.seek(at)
            return self._second.readinto(view)
        except OSError as error:
            self.error = SourceError.from_os(getattr(self._second, "name", "?"), error)
            return 0
