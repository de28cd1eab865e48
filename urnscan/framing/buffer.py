"""The octets of a dump, of which a part is held: looked through, then taken front to back.

What is found is told by its distance from `at`, where that begins which is still to be taken: it stays the same when
more is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from urnscan.errors import DamageError, SourceError

__all__ = ["BETWEEN", "HEAD", "LONGEST", "MARK", "Buffer"]

LONGEST = 1 << 26
"""Octets of the longest record; what is longer is none, and memory has an end."""
HEAD = 1 << 16
"""Octets of the beginning of a dump that tell what it is: no recogniser is asked again with more."""
MARK = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8."""
BETWEEN = re.compile(rb"[\s\0\x1a]{1,1024}")
"""White space, NUL and SUB (the end of DOS files), which part records in many dumps."""
_BLOCK = 1 << 20  # octets read at a time


class Buffer:
    """Reads a dump block by block; holds no more than a record and a few blocks."""

    def __init__(self, read_into: Callable[[memoryview], int]) -> None:
        """`read_into` is that of a Reader."""
        self.octets = b""
        """What is held."""
        self.at = 0
        """Where in `octets` that begins which is still to be taken."""
        self.error: SourceError | None = None
        """What ended the reading, if it was not the end of the dump."""
        self._read_into = read_into
        self._block = memoryview(bytearray(_BLOCK))
        self._base = 0  # the offset of `octets` in the dump
        self._ended = False

    @property
    def offset(self) -> int:
        """Of the next octet to be taken, from the beginning of the dump."""
        return self._base + self.at

    def more(self) -> bool:
        """Read as many octets again as are held, or a block; whether there were any. Lets go of those that were taken."""
        if self._ended:
            return False
        parts = [self.octets[self.at :]]
        length = wanted = len(parts[0])
        wanted += max(wanted, 1)
        while length < wanted and not self._ended:
            try:
                got = self._read_into(self._block)
            except SourceError as error:
                self.error, got = error, 0
            self._ended = got == 0
            parts.append(bytes(self._block[:got]))
            length += got
        self._base += self.at
        self.at = 0
        self.octets = b"".join(parts)
        return len(parts[0]) < length

    def resume(self) -> bool:
        """Go on behind an error; whether that can be. What is left of what came before the error is let go of."""
        can_be = isinstance(self.error, DamageError)
        self.error = None
        self._base += len(self.octets)
        self.octets, self.at = b"", 0
        self._ended = not can_be
        return can_be

    def take_mark(self) -> None:
        """Take the byte order mark that may stand at the beginning: it belongs to no record."""
        if not self.offset and self.has(len(MARK)) and self.octets.startswith(MARK):
            self.take(len(MARK))

    def has(self, count: int) -> bool:
        """Whether so many octets follow."""
        while len(self.octets) - self.at < count:
            if not self.more():
                return False
        return True

    def find(self, needle: bytes, start: int = 0) -> int:
        """The distance to the next place, from `start` on, where these octets stand; -1 where none is before the end of
        the dump, or so near that a record could reach up to it (`LONGEST`).
        """
        while True:
            found = self.octets.find(needle, self.at + start)
            if found >= 0:  # what is held may reach beyond LONGEST, which must not count: the blocks are as they come
                return found - self.at if found - self.at <= LONGEST else -1
            start = max(start, len(self.octets) - self.at - len(needle) + 1)
            if start > LONGEST or not self.more():
                return -1

    def search(self, pattern: re.Pattern[bytes], start: int = 0, longest: int = 1 << 10) -> re.Match[bytes] | None:
        """The next match of a pattern from `start` on; None as for `find`. Its places count from `at` as well:
        `match.start() - buffer.at`.

        No match may be longer than `longest` octets, what it looks ahead to included.
        """
        while True:
            match = pattern.search(self.octets, self.at + start)
            # Where octets are still to come, a match at the very end could be longer, or none.
            if match and (self._ended or match.end() + longest <= len(self.octets)):
                return match if match.start() - self.at <= LONGEST else None
            start = max(start, (match.start() if match else len(self.octets) - longest) - self.at)
            if start > LONGEST:
                return None
            if not self.more():  # `at` is another now
                return pattern.search(self.octets, self.at + start)

    def match(self, pattern: re.Pattern[bytes], longest: int = 1 << 10) -> re.Match[bytes] | None:
        """The match of a pattern at the next octet, if it is there; `longest` is as in `search`."""
        self.has(longest)
        return pattern.match(self.octets, self.at)

    def pass_over(self, pattern: re.Pattern[bytes]) -> bool:
        """Take what a pattern matches, over and over; whether more follows. It matches no more than 1,024 octets."""
        while match := self.match(pattern):
            self.at = match.end()
        return self.has(1)

    def take(self, count: int) -> bytes:
        """The next `count` octets, fewer only at the end; they are let go of."""
        self.has(count)
        taken = self.octets[self.at : self.at + count]
        self.at += len(taken)
        return taken

    def take_rest(self) -> int:
        """Let go of all octets up to the end of the dump; how many there were."""
        count = 0
        while True:
            count += len(self.octets) - self.at
            self.at = len(self.octets)
            if not self.more():
                return count
