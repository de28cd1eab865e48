"""Octets of a reader that can be looked at before they are taken, and can be read a second time."""

import contextlib
import io
import re
from collections.abc import Callable
from typing import Self

from urnscan.errors import DamageError, SourceError
from urnscan.sources.reader import Reader

_HEAD = 1 << 12  # octets read at a time
_MOST_KEPT = 1 << 25  # octets kept to be read again, where the reader has no second file
_LEAST_KEPT = 1 << 23  # octets kept of these, once there are more


class CutError(Exception):
    """The octets end, or an error interrupts them, before all were there that a format wants."""


class Buffer(Reader):
    """Reader around another one, whose next octets can be looked at before they are taken.

    After `hold` it can also go back. Octets are then read again from the second file of the reader. If there is none,
    up to 32 MiB of them are kept, and at least the last 8 MiB.
    """

    position: int
    """The number of octets taken so far."""
    error: SourceError | None
    """The error that the reader raised behind the octets that `peek` gives; `resume` reads on behind it."""

    def __init__(self, reader: Reader, on_read: Callable[[int], object] = lambda _: None) -> None:
        """`reader` is closed with the buffer. `on_read` is told how many octets it gave, each time."""
        self.position = 0
        self.error = None
        self._reader = reader
        self._on_read = on_read
        self._block = _HEAD
        self._storage = memoryview(b"")
        self._start = self._end = 0  # in the storage: octets that were read and are still to be taken
        self._ended = False
        self._read = 0  # octets that the reader gave
        self._earliest = 0  # position up to which `back` can go
        self._holds = False
        self._second: io.BufferedIOBase | None = None
        self._kept = bytearray()  # octets from `_earliest` to `_read`, if there is no second file

    @classmethod
    def of(cls, reader: Reader) -> Self:
        """The reader itself if it is a buffer; else a buffer around it."""
        return reader if isinstance(reader, cls) else cls(reader)

    @property
    def buffered(self) -> bool:
        """Whether the next octet is there without waiting for it."""
        return self._end > self._start

    def peek(self, count: int = 1) -> memoryview:
        """The next octets, at least `count` of them unless the end or an error comes before. Nothing is taken.

        There are more of them if one read gave more: a slow pipe is not asked twice. The view is good until the next call.
        """
        while self._end - self._start < count and self._fill(count):
            pass
        return self._storage[self._start : self._end]

    def head(self, count: int) -> bytes:
        """The next octets as `peek` gives them, copied."""
        return bytes(self.peek(count))

    def advance(self, count: int) -> None:
        """Take the next `count` octets, which were looked at."""
        self._start += count
        self.position += count

    def take(self, count: int) -> memoryview:
        """Take exactly `count` octets; good until the next call. Raises CutError where there are fewer."""
        octets = self.peek(count)[:count]
        self.advance(len(octets))
        if len(octets) < count:
            raise CutError
        return octets

    def look(self, count: int) -> bytes:
        """The next `count` octets, not taken. Where there are fewer, these are taken, and CutError is raised."""
        octets = bytes(self.peek(count)[:count])
        if len(octets) < count:
            self.advance(len(octets))
            raise CutError
        return octets

    def skip(self, count: int) -> None:
        """Pass over the next `count` octets. Raises CutError where there are fewer."""
        while count:
            octets = min(count, len(self.peek()))
            if not octets:
                raise CutError
            self.advance(octets)
            count -= octets

    def find(self, pattern: re.Pattern[bytes], longest: int) -> bool:
        """Go to the next match of a pattern, or to the end; whether there is a match. None may be longer than `longest`."""
        while octets := self.peek(longest):
            if found := pattern.search(octets):
                self.advance(found.start())
                return True
            self.advance(len(octets) - (longest - 1) if len(octets) >= longest else len(octets))
        return False

    def find_within(self, pattern: re.Pattern[bytes], most: int) -> re.Match[bytes] | None:
        """The first match of a pattern in the next `most` octets, or None. Nothing is taken, and no more is read than needed."""
        octets = self.peek()
        while not (found := pattern.search(octets[:most])):
            longer = self.peek(min(2 * len(octets), most))
            if len(longer) == len(octets):
                return None
            octets = longer
        return found

    def read_into(self, view: memoryview) -> int:
        """Fill the front of the view. Raises the error of the reader behind the octets that came before it."""
        if self._holds or self._ended or self.error is not None or self.position < self._read:
            octets = self.peek()[: len(view)]
            got = len(octets)
            view[:got] = octets
            self.advance(got)
        else:  # nothing is in the storage, nor must be: no need to copy
            self._start = self._end = 0
            got = self._read_on(view)
            self.position += got
        if not got and self.error is not None:
            error = self.error
            self.resume()
            raise error
        return got

    def resume(self) -> None:
        """Read on behind the error; there is no way back over it."""
        self.error = None
        self._kept.clear()
        self._earliest = self._read

    def hold(self, block: int) -> None:
        """Make it possible to go back to the present position, and read `block` octets at a time."""
        self._block = block
        self._holds = True
        self._earliest = self.position
        with contextlib.suppress(SourceError):  # it is gone, or may not be opened a second time
            self._second = self._reader.reopen()
        if self._second is None:
            self._kept += self._storage[self._start : self._end]

    @property
    def has_second(self) -> bool:
        """Whether octets are read again from a second file, from wherever `hold` was called."""
        return self._second is not None

    def forget(self) -> None:
        """Give up the way back to what lies before the position."""
        if self._kept:
            del self._kept[: self.position - self._earliest]
            self._earliest = self.position

    def holds(self, position: int) -> bool:
        """Whether `back` can go there."""
        return position >= self._earliest

    def back(self, position: int) -> None:
        """Go back to an earlier position, or to the earliest one behind it that is held."""
        position = max(position, self._earliest)
        if self.position - position <= self._start:
            self._start -= self.position - position
        else:
            self._start = self._end = 0
        self.position = position

    def release(self) -> None:
        """Close the second file: nobody goes back any more."""
        self._holds = False
        self._kept.clear()
        if self._second is not None:
            self._second.close()

    def reopen(self) -> io.BufferedIOBase | None:
        """A second file with the same octets, if the reader has one."""
        return self._reader.reopen()

    def close(self) -> None:
        """Close the second file and the reader."""
        self.release()
        self._reader.close()

    def _fill(self, count: int) -> bool:
        """Read once more, behind what is there; whether there was something."""
        there = self._end - self._start
        at = self.position + there
        if at == self._read and (self._ended or self.error is not None):
            return False
        if self._end == len(self._storage) or self._start + count > len(self._storage):
            old, size = self._storage, max(self._block, 2 * count)  # who asks for more often asks again
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
