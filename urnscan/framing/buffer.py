"""Buffer of a dump: a part of the bytes is in memory; callers search in them, then take bytes from the front.

Positions are distances from `Buffer.at`, the next byte to be taken. Distances stay valid when more bytes are read.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator

from urnscan.errors import DamageError, SourceError

LONGEST = 1 << 26
"""Maximum bytes of a record; a longer record is damaged."""
HEAD = 1 << 16
"""Maximum bytes at the beginning of a dump by which its format is recognised."""
MARK = b"\xef\xbb\xbf"
"""Byte order mark of UTF-8."""
BETWEEN = re.compile(rb"(?:[\s\0\x1a]|\xef\xbb\xbf){1,256}")
"""Separators of records: white space, NUL, SUB (the end of DOS files), byte order marks (of joined files)."""
_BLOCK = 1 << 22  # bytes per read


class Buffer:
    """Buffer over a reader: bytes to search in, and then to take; memory holds at most a record and some MiB."""

    def __init__(self, read_into: Callable[[memoryview], int]) -> None:
        """`read_into`: function that fills the front of a view, and returns the number of bytes, 0 at the end."""
        self.data = b""
        """Bytes that are in memory."""
        self.at = 0
        """Index in `data` of the next byte to be taken."""
        self.error: SourceError | None = None
        """Error at which reading stopped; None before, and at the end of the dump."""
        self._read_into = read_into
        self._block = memoryview(bytearray(_BLOCK))
        self._base = 0  # the offset of `data` in the dump
        self._ended = False

    @property
    def offset(self) -> int:
        """Offset in the dump of the next byte to be taken."""
        return self._base + self.at

    def more(self) -> bool:
        """Drop the taken bytes, and read at least as many bytes as are left in memory, if there are so many.

        Returns False if no bytes were read. Raises no SourceError: `error` keeps it. Changes `data` and `at`.
        """
        if self._ended:
            return False
        parts = [self.data[self.at :]]
        length = len(parts[0])
        goal = length + max(length, 1)
        while length < goal and not self._ended:
            try:
                got = self._read_into(self._block)
            except SourceError as error:
                self.error, got = error, 0
            self._ended = got == 0
            parts.append(bytes(self._block[:got]))
            length += got
        self._base += self.at
        self.at = 0
        self.data = b"".join(parts)
        return len(parts[0]) < length

    def resume(self) -> bool:
        """Drop all bytes before `error`, and clear it, to read on after the damage.

        Returns False if reading cannot go on, as `error` is no DamageError.
        """
        can_be = isinstance(self.error, DamageError)
        self.error = None
        self._base += len(self.data)
        self.data, self.at = b"", 0
        self._ended = not can_be
        return can_be

    def take_mark(self) -> None:
        """Take a byte order mark at the beginning of the dump; a mark is not part of a record."""
        if not self.offset and self.has(len(MARK)) and self.data.startswith(MARK):
            self.take(len(MARK))

    def has(self, count: int) -> bool:
        """Whether at least `count` bytes can be taken; reads them into memory, if need be. False before the end, or
        before an error (see `error`).
        """
        while len(self.data) - self.at < count:
            if not self.more():
                return False
        return True

    def find(self, needle: bytes, start: int = 0) -> int:
        """Distance (from `at`, in bytes) of the next `needle` at or after the distance `start`; reads on, if need be.

        -1 if no `needle` is within `LONGEST` bytes.
        """
        while True:
            place = self.data.find(needle, self.at + start)
            # The result must not depend on whether bytes beyond LONGEST happen to be in memory.
            if place >= 0:
                return place - self.at if place - self.at <= LONGEST else -1
            start = max(start, len(self.data) - self.at - len(needle) + 1)
            if start > LONGEST or not self.more():
                return -1

    def search(self, pattern: re.Pattern[bytes], start: int = 0, longest: int = 1 << 10) -> re.Match[bytes] | None:
        """Next match of a pattern at or after the distance `start`; None without a match within `LONGEST` bytes.

        The distance of the match is `match.start() - buffer.at`. `longest`: maximum bytes of a match and its lookahead.
        """
        while True:
            match = pattern.search(self.data, self.at + start)
            # With more bytes a match at the end of the bytes in memory could be longer, or fail.
            if match and (self._ended or match.end() + longest <= len(self.data)):
                return match if match.start() - self.at <= LONGEST else None
            start = max(start, (match.start() if match else len(self.data) - longest) - self.at)
            if start > LONGEST:
                return None
            # `more` has changed `at`.
            if not self.more():
                return pattern.search(self.data, self.at + start)

    def match(self, pattern: re.Pattern[bytes], longest: int = 1 << 10) -> re.Match[bytes] | None:
        """Match of a pattern that begins at the next byte, or None; takes nothing. `match.end()` is an index in `data`.
        `longest` as in `search`.
        """
        self.has(longest)
        return pattern.match(self.data, self.at)

    def pass_over(self, pattern: re.Pattern[bytes]) -> bool:
        """Take all adjacent matches of a pattern (each at most 1,024 bytes). Returns whether more bytes follow."""
        while match := self.match(pattern):
            self.at = match.end()
        return self.has(1)

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes, and move after them; fewer only at the end or at an error."""
        self.has(count)
        data = self.data[self.at : self.at + count]
        self.at += len(data)
        return data

    def blocks(self, count: int = sys.maxsize) -> Iterator[bytes]:
        """Take the next `count` bytes, and yield them in blocks of at most 4 MiB; fewer only at the end or an error."""
        while count > 0 and (data := self.take(min(count, _BLOCK))):
            yield data
            count -= len(data)

    def take_rest(self) -> int:
        """Take all bytes up to the end of the dump or an error. Returns their number."""
        return sum(map(len, self.blocks()))
