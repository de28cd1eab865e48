"""Compressed octets that can be read again: the way back to where a damaged member begins."""

import contextlib
import io

from urnscan.errors import SourceError
from urnscan.sources.reader import Reader

__all__ = ["CutError", "Tape"]

_BLOCK = 1 << 18  # octets read at a time
_MOST_KEPT = 1 << 25  # octets kept to be read again, where the reader has no second file
_LEAST_KEPT = 1 << 23  # of these, once a member is larger than that


class CutError(Exception):
    """The octets end, or are interrupted, in the middle of something."""


class Tape:
    """The octets of a reader, looked at before they are taken, and to be read again from an earlier one on.

    They are read again from the second file of the reader; without one up to 32 MiB are kept for it, and
    only the last 8 MiB to 32 MiB of what is longer.
    """

    position: int
    """Of the octet that comes next."""
    error: SourceError | None
    """What stopped the reader at the position where `peek` gives no more; `resume` reads on behind it."""

    def __init__(self, reader: Reader) -> None:
        """`reader` stays open when the tape is closed."""
        self.position = 0
        self.error = None
        self._reader = reader
        self._second: io.BufferedIOBase | None = None
        with contextlib.suppress(SourceError):  # it is gone, or may not be opened a second time
            self._second = reader.reopen()
        self._kept = bytearray()  # the octets before `_read`, from the earliest that is held
        self._earliest = 0
        self._read = 0  # octets that the reader gave
        self._buffer = memoryview(bytearray(_BLOCK))
        self._block = self._buffer[:0]  # the part of it that is still to be taken
        self._ended = False

    @property
    def buffered(self) -> bool:
        """Whether the next octet is there without waiting for it."""
        return len(self._block) > 0

    def peek(self, count: int = 1) -> memoryview:
        """The next octets, all that are there and at least `count`, unless the end or a damage comes before.

        Good until the next call. Nothing is taken by it.
        """
        while len(self._block) < count and self._fill(count):
            pass
        return self._block

    def advance(self, count: int) -> None:
        """Take the next `count` octets, which were looked at."""
        self._block = self._block[count:]
        self.position += count

    def take(self, count: int) -> memoryview:
        """Exactly the next `count` octets, good until the next call. Raises CutError where there are fewer."""
        octets = self.peek(count)[:count]
        self.advance(len(octets))
        if len(octets) < count:
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

    def resume(self) -> None:
        """Read on behind what stopped the reader; there is no way back over it."""
        self.error = None
        self._kept.clear()
        self._earliest = self._read

    def forget(self) -> None:
        """What lies before the position will not be asked for again."""
        if self._kept:
            del self._kept[: self.position - self._earliest]
            self._earliest = self.position

    def holds(self, position: int) -> bool:
        """Whether `back` can go there."""
        return position >= self._earliest

    def back(self, position: int) -> None:
        """Go back to an earlier position, or to the earliest one behind it that is held."""
        self.position = max(position, self._earliest)
        self._block = self._buffer[:0]

    def close(self) -> None:
        """Close the second file."""
        if self._second is not None:
            self._second.close()

    def _fill(self, count: int) -> bool:
        """Read once more, behind what is there; whether there was something."""
        there = len(self._block)
        buffer = self._buffer if count <= len(self._buffer) else memoryview(bytearray(count))
        buffer[:there] = self._block
        self._buffer, self._block = buffer, buffer[:there]
        at = self.position + there
        got = self._read_again(buffer[there:], at) if at < self._read else self._read_on(buffer[there:])
        self._block = buffer[: there + got]
        return got > 0

    def _read_on(self, view: memoryview) -> int:
        if self._ended or self.error is not None:
            return 0
        try:
            got = self._reader.read_into(view)
        except SourceError as error:
            self.error = error
            return 0
        self._ended = got == 0
        self._read += got
        if self._second is None:
            self._kept += view[:got]
            if len(self._kept) > _MOST_KEPT:
                del self._kept[:-_LEAST_KEPT]
                self._earliest = self._read - _LEAST_KEPT
        return got

    def _read_again(self, view: memoryview, at: int) -> int:
        view = view[: self._read - at]
        if self._second is None:
            first = at - self._earliest
            view[:] = self._kept[first : first + len(view)]
            return len(view)
        try:
            self._second.seek(at)
            got = self._second.readinto(view)
        except OSError as error:
            self.error = SourceError.from_os(getattr(self._second, "name", "?"), error)
            return 0
        return got
