"""Bytes of a reader that can be looked at before they are read, and can be read a second time."""

import contextlib
import io
import re
from collections.abc import Callable
from typing import Self

from urnscan.errors import DamageError, SourceError
from urnscan.stores.reader import Reader

_HEAD = 1 << 12  # bytes read at a time
_MOST_KEPT = 1 << 25  # bytes kept to be read again, where the reader has no second file
_LEAST_KEPT = 1 << 23  # bytes kept of these, once there are more


class CutError(Exception):
    """The bytes end, or an error interrupts them, before a format has all that it needs."""


class Buffer(Reader):
    """Reader around another one, whose next bytes can be looked at before they are read.

    After `start_keeping` it can also go back. Bytes are then read again from the second file of the reader. If there is
    none, up to 32 MiB of them are kept, and at least the last 8 MiB.
    """

    error: SourceError | None
    """The error that the reader raised after the bytes that `peek` gives; `resume` reads on after it."""

    def __init__(
        self,
        reader: Reader,
        on_read: Callable[[int], object] = lambda _: None,
        front: bytes = b"",
        error: SourceError | None = None,
    ) -> None:
        """`reader` is closed with the buffer; `front` and `error`: bytes and the error that were already read from it.

        `on_read` is called with the number of bytes of each read.
        """
        self.error = error
        self._position = 0  # bytes that were read from the buffer
        self._reader = reader
        self._on_read = on_read
        self._block = _HEAD
        self._storage = memoryview(bytearray(front))
        # The part of the storage with bytes that are still to be read.
        self._start, self._end = 0, len(front)
        self._ended = error is not None and not isinstance(error, DamageError)
        self._read = len(front)  # bytes that the reader gave
        self._earliest = 0  # position up to which `seek` can go
        self._holds = False
        self._second: io.BufferedIOBase | None = None
        self._kept = bytearray()  # bytes from `_earliest` to `_read`, if there is no second file

    @classmethod
    def of(cls, reader: Reader) -> Self:
        """The reader itself if it is a buffer; else a buffer around it."""
        return reader if isinstance(reader, cls) else cls(reader)

    @property
    def buffered(self) -> bool:
        """Whether the next byte is there without waiting for it."""
        return self._end > self._start

    def peek(self, count: int = 1) -> memoryview:
        """The next bytes, at least `count` of them unless the end or an error comes before. They stay to be read.

        There are more of them if one read gave more: a slow pipe is not asked twice. The view is good until the next call.
        """
        while self._end - self._start < count and self._fill(count):
            pass
        return self._storage[self._start : self._end]

    def head(self, count: int) -> bytes:
        """The next bytes as `peek` gives them, copied."""
        return bytes(self.peek(count))

    def peek_exactly(self, count: int) -> bytes:
        """The next `count` bytes, which stay to be read. Where there are fewer, these are read, and CutError is raised."""
        data = bytes(self.peek(count)[:count])
        if len(data) < count:
            self.skip(len(data))
            raise CutError
        return data

    def read(self, count: int) -> memoryview:
        """The next `count` bytes; good until the next call. Raises CutError where there are fewer."""
        data = self.peek(count)[:count]
        self.skip(len(data))
        if len(data) < count:
            raise CutError
        return data

    def skip(self, count: int) -> None:
        """Pass over the next `count` bytes. Raises CutError where there are fewer."""
        while count > (there := self._end - self._start):
            self._start = self._end
            self._position += there
            count -= there
            if not self._fill(1):
                raise CutError
        self._start += count
        self._position += count

    def tell(self) -> int:
        """The position: the number of bytes that were read so far."""
        return self._position

    def find(self, pattern: re.Pattern[bytes], longest: int) -> bool:
        """Go to the next match of a pattern, or to the end; whether there is a match. `longest`: bytes of the longest match."""
        while data := self.peek(longest):
            if match := pattern.search(data):
                self.skip(match.start())
                return True
            self.skip(len(data) - (longest - 1) if len(data) >= longest else len(data))
        return False

    def find_within(self, pattern: re.Pattern[bytes], most: int) -> re.Match[bytes] | None:
        """The first match of a pattern in the next `most` bytes, or None. They stay to be read."""
        data = self.peek()
        while not (match := pattern.search(data[:most])):
            longer = self.peek(min(2 * len(data), most))
            if len(longer) == len(data):
                return None
            data = longer
        return match

    def read_into(self, view: memoryview) -> int:
        """Fill the front of the view. Raises the error of the reader after the bytes that came before it."""
        got = self._read_next(view)
        if not got and self.error is not None:
            error = self.error
            self.resume()
            raise error
        return got

    def fill(self, view: memoryview) -> int:
        """Fill all of the view, unless the end or an error comes before. Raises errors as `read_into` does."""
        filled = got = self.read_into(view)
        while got and filled < len(view):
            got = self._read_next(view[filled:])
            filled += got
        return filled

    def resume(self) -> None:
        """Read on after the error; there is no way back over it."""
        self.error = None
        self._kept.clear()
        self._earliest = self._read

    def start_keeping(self, block: int) -> None:
        """Make it possible to go back to the present position, and read `block` bytes at a time."""
        self._block = block
        self._holds = True
        self._earliest = self._position
        # It is gone, or may not be opened a second time.
        with contextlib.suppress(SourceError):
            self._second = self._reader.reopen()
        if self._second is None:
            self._kept += self._storage[self._start : self._end]

    @property
    def has_second(self) -> bool:
        """Whether bytes are read again from a second file, from wherever `start_keeping` was called."""
        return self._second is not None

    def drop_kept(self) -> None:
        """Drop the kept bytes before the position: `seek` cannot go back to them any more."""
        if self._kept:
            del self._kept[: self._position - self._earliest]
            self._earliest = self._position

    def can_seek(self, position: int) -> bool:
        """Whether `seek` can go there."""
        return position >= self._earliest

    def seek(self, position: int) -> None:
        """Go back to an earlier position, or to the earliest one after it that is kept."""
        position = max(position, self._earliest)
        if self._position - position <= self._start:
            self._start -= self._position - position
        else:
            self._start = self._end = 0
        self._position = position

    def stop_keeping(self) -> None:
        """Close the second file and drop the kept bytes: `seek` is not called any more."""
        self._holds = False
        self._kept.clear()
        if self._second is not None:
            self._second.close()

    def reopen(self) -> io.BufferedIOBase | None:
        """A second file with the same bytes, if the reader has one."""
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
            # Nothing is in the storage, nor must be: no need to copy.
            self._start = self._end = 0
            got = self._read_on(view)
            self._position += got
        return got

    def _fill(self, count: int) -> bool:
        """Read once more, after what is there; whether there was something."""
        there = self._end - self._start
        at = self._position + there
        if at == self._read and (self._ended or self.error is not None):
            return False
        if self._end == len(self._storage) or self._start + count > len(self._storage):
            # Who asks for more often asks again.
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
