"""Buffer: a reader of bytes with lookahead, and with a way back to earlier bytes, for the readers of file formats."""

import contextlib
import io
import re
from collections.abc import Callable
from typing import Self

from urnscan.errors import DamageError, SourceError
from urnscan.stores.reader import Reader

_HEAD = 1 << 12  # bytes per read
_MAX_KEPT = 1 << 25  # maximum of bytes that are kept for `seek`, without a second file
_MIN_KEPT = 1 << 23  # bytes that remain when the maximum is exceeded


class CutError(Exception):
    """The bytes of a `Buffer` end, or an error comes (`Buffer.error`), inside a part that must be whole, such as a
    header or a member.
    """


class Buffer(Reader):
    """Reader of the bytes of an inner reader, with lookahead (`peek`) and, after `start_keeping`, a way back (`seek`).

    The position is the number of bytes before the next byte. An error of the inner reader is kept in `error`; only
    `read_into` and `fill` raise it, for all other methods the bytes end there.

    After `seek`, bytes come from a second opening of the same file (`Reader.reopen`). If the file cannot be opened a
    second time (a pipe), the buffer keeps the last bytes in memory, at most about 32 MiB, and reads these again.
    """

    error: SourceError | None
    """The error that the inner reader raised after the bytes in the buffer; None without an error."""

    def __init__(
        self,
        reader: Reader,
        on_read: Callable[[int], object] = lambda _: None,
        front: bytes = b"",
        error: SourceError | None = None,
    ) -> None:
        """`reader`: the inner reader, closed with the buffer. `on_read`: called with the number of bytes of each read.

        `front`, `error`: bytes that were already read from `reader`, which come first, and the error after them.
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
        """Return `reader` itself if it is a buffer; otherwise make a buffer around it."""
        return reader if isinstance(reader, cls) else cls(reader)

    @property
    def buffered(self) -> bool:
        """Whether the next byte is in the buffer, so that `peek()` reads nothing and does not wait."""
        return self._end > self._start

    def peek(self, count: int = 1) -> memoryview:
        """View of all bytes in the buffer, from the next byte on; the position does not move.

        Reads on if they are fewer than `count`. The view often has more than `count` bytes, and fewer only if the end
        or an error (in `error`, not raised) comes first. The view is valid until the next call of a method.
        """
        while self._end - self._start < count and self._fill(count):
            pass
        return self._storage[self._start : self._end]

    def head(self, count: int) -> bytes:
        """Return a copy of the next bytes: at least `count`, often more, fewer only before the end or an error.

        The position does not move.
        """
        return bytes(self.peek(count))

    def peek_exactly(self, count: int) -> bytes:
        """Return a copy of exactly the next `count` bytes; the position does not move.

        If fewer bytes are left, skips them and raises CutError.
        """
        data = bytes(self.peek(count)[:count])
        if len(data) < count:
            self.skip(len(data))
            raise CutError
        return data

    def read(self, count: int) -> memoryview:
        """Return exactly the next `count` bytes, and move after them; the view is valid until the next method call.

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
        """The position: the number of bytes before the next byte, counted from the first byte of the inner reader."""
        return self._position

    def find(self, pattern: re.Pattern[bytes], longest: int) -> bool:
        """Move to the first byte of the next match of a pattern, and return True; without a match, move to the end or
        to an error, and return False.

        `longest`: maximum bytes of a match, including bytes after it at which the pattern looks.
        """
        while data := self.peek(longest):
            if match := pattern.search(data):
                self.skip(match.start())
                return True
            self.skip(len(data) - (longest - 1) if len(data) >= longest else len(data))
        return False

    def find_within(self, pattern: re.Pattern[bytes], most: int) -> re.Match[bytes] | None:
        """First match of a pattern in the next `most` bytes, or None; the position does not move.

        Indices in the match count from the next byte. It may be used until the next call of a method.
        """
        data = self.peek()
        while not (match := pattern.search(data[:most])):
            longer = self.peek(min(2 * len(data), most))
            if len(longer) == len(data):
                return None
            data = longer
        return match

    def read_into(self, view: memoryview) -> int:
        """Take next bytes into the front of the view, perhaps fewer than have room. Returns their number, 0 at the end.

        When all bytes before `error` are taken, raises the error, and clears it: the next call reads on if it was a
        DamageError, else it returns 0.
        """
        got = self._read_next(view)
        if not got and self.error is not None:
            error = self.error
            self.resume()
            raise error
        return got

    def fill(self, view: memoryview) -> int:
        """Take the next bytes into the whole view. Returns their number, less than `len(view)` only if the end or an
        error comes first.

        Raises (and clears) the error only if it comes before any byte; otherwise it is left in `error`.
        """
        filled = got = self.read_into(view)
        while got and filled < len(view):
            got = self._read_next(view[filled:])
            filled += got
        return filled

    def resume(self) -> None:
        """Set `error` to None, when all bytes before the error are read. After a DamageError the bytes after the damage
        follow; after another error none.

        `seek` can no longer go back to bytes before the error.
        """
        self.error = None
        self._kept.clear()
        self._earliest = self._read

    def start_keeping(self, block: int) -> None:
        """From now on, let `seek` go back as far as the current position, and read about `block` bytes at a time.

        For this, opens the file a second time (then `has_second` is true); if that is impossible, keeps the last bytes
        in memory, at most about 32 MiB, so that `seek` goes back less far.
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
        """Whether the file was opened a second time, so that `seek` can go back over any number of bytes."""
        return self._second is not None

    def drop_kept(self) -> None:
        """Drop the kept bytes before the position from memory: `seek` can no longer go back before the position.

        Does nothing if no bytes are kept in memory.
        """
        if self._kept:
            del self._kept[: self._position - self._earliest]
            self._earliest = self._position

    def can_seek(self, position: int) -> bool:
        """Whether `seek` can go back to exactly this position: its byte was not dropped. Only after `start_keeping`."""
        return position >= self._earliest

    def seek(self, position: int) -> None:
        """Go back to `position` or, if that is no longer possible (`can_seek`), to the earliest possible position. Only
        after `start_keeping`.
        """
        position = max(position, self._earliest)
        if self._position - position <= self._start:
            self._start -= self._position - position
        else:
            self._start = self._end = 0
        self._position = position

    def stop_keeping(self) -> None:
        """Close the second opening of the file, and drop the kept bytes; `seek` must not be used any more."""
        self._holds = False
        self._kept.clear()
        if self._second is not None:
            self._second.close()

    def reopen(self) -> io.BufferedIOBase | None:
        """Open a seekable file with all bytes of the inner reader, from its first byte; None if impossible (a pipe).

        The caller closes the file. Raises SourceError.
        """
        return self._reader.reopen()

    def close(self) -> None:
        """Close the inner reader, and the second opening of the file."""
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
        """Read more bytes by a single read into the storage, which gets room for `count` unread bytes in all. False if
        no bytes came.
        """
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
            if len(self._kept) > _MAX_KEPT:
                del self._kept[:-_MIN_KEPT]
                self._earliest = self._read - _MIN_KEPT
        return got

    def _read_again(self, view: memoryview, at: int) -> int:
        if self._second is None:
            first = at - self._earliest
            view[:] = self._kept[first : first + len(view)]
            return len(view)
        try:
            self._second.seek(at)
            return self._second.readinto(view)
        except SourceError as error:
            self.error = error
        except OSError as error:
            self.error = SourceError.from_os(getattr(self._second, "name", "?"), error)
        return 0
