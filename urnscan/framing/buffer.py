"""Forward reading of a text: callers search in the bytes in memory, then take bytes from the front.

To take bytes is to move after them: the next read drops them from memory. Places ahead are distances, in bytes, from
the next byte to be taken, as an index in `Buffer.data` changes when more bytes are read.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator

from urnscan.errors import DamageError, SourceError

LONGEST = 1 << 26
"""Maximum length of a record, in bytes (64 MiB); a longer record is reported as damaged."""
HEAD = 1 << 16
"""Maximum number of bytes (64 KiB), from the beginning of a text, that are read to recognise its format."""
MARK = b"\xef\xbb\xbf"
"""Byte order mark of UTF-8."""
BETWEEN = re.compile(rb"(?:[\s\0\x1a]|\xef\xbb\xbf){1,256}")
"""Pattern of 1 to 256 characters that may separate records: white space, NUL, SUB (end of DOS files), byte order marks
(of joined files).
"""
_BLOCK = 1 << 22  # bytes per read


class Buffer:
    """Text that is read front to back: `data` has the bytes in memory, `at` is the index in `data` of the next byte to
    be taken. Taken bytes are passed over, and dropped by the next read.

    An error of the reader is not raised: it is kept in `error`, and the text seems to end there until `resume`.
    """

    def __init__(self, read_into: Callable[[memoryview], int]) -> None:
        """`read_into`: writes the next bytes of the text to the front of a memoryview of 4 MiB, and returns their
        number, 0 at the end of the text. It may raise SourceError: the text then seems to end, and the error is in
        `error`.
        """
        self.data = b""
        """Bytes that are in memory; replaced when more are read."""
        self.at = 0
        """Index in `data` of the next byte to be taken."""
        self.error: SourceError | None = None
        """Error at which reading stopped; None if none has occurred since `resume`."""
        self._read_into = read_into
        self._block = memoryview(bytearray(_BLOCK))
        self._base = 0  # the offset of `data` in the dump
        self._ended = False

    @property
    def offset(self) -> int:
        """Number of bytes of the text before the next byte to be taken; bytes that damage made unreadable do not count."""
        return self._base + self.at

    def more(self) -> bool:
        """Read on: replace `data` by its bytes that are not yet taken, followed by at least as many more (or one), if
        the text has them.

        Sets `at` to 0. Returns whether any byte was read: False at the end of the text or at an error (in `error`).
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
        """Go on after `error`: drop all bytes in memory, also those not yet taken, and set `error` to None.

        Returns whether reading can go on: True if `error` was a DamageError. Otherwise the text ends here.
        """
        can_be = isinstance(self.error, DamageError)
        self.error = None
        self._base += len(self.data)
        self.data, self.at = b"", 0
        self._ended = not can_be
        return can_be

    def take_mark(self) -> None:
        """Take the byte order mark of UTF-8 (3 bytes) if the text begins with it, and no byte is taken yet."""
        if not self.offset and self.has(len(MARK)) and self.data.startswith(MARK):
            self.take(len(MARK))

    def has(self, count: int) -> bool:
        """Whether at least `count` bytes can still be taken; reads them into `data`, if need be, but takes none.

        False if fewer bytes are left before the end of the text or before an error (then in `error`).
        """
        while len(self.data) - self.at < count:
            if not self.more():
                return False
        return True

    def find(self, needle: bytes, start: int = 0) -> int:
        """Distance from `at`, in bytes, of the first `needle` at or after the distance `start`; takes nothing.

        Reads on, if need be. -1 if the text has no such `needle`, or only one at a distance above 64 MiB.
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
        """First match of a pattern at or after the distance `start` from `at`, in bytes; takes nothing.

        Reads on, if need be; positions in the match are indices in `data` after the call. None if the text has no
        match, or only one at a distance above 64 MiB. `longest`: maximum bytes of a match with its lookahead.
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
        """Match of a pattern that begins exactly at the next byte, else None. Takes nothing; reads on, if need be.

        Positions in the match are indices in `data`. `longest`: maximum bytes of a match with its lookahead.
        """
        self.has(longest)
        return pattern.match(self.data, self.at)

    def pass_over(self, pattern: re.Pattern[bytes]) -> bool:
        """Take the next bytes as long as they match a pattern, which must match 1 to 1,024 bytes at a time, never none.

        Returns whether a byte follows: False at the end of the text or at an error.
        """
        while match := self.match(pattern):
            self.at = match.end()
        return self.has(1)

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes, and move after them; fewer only at the end of the text or at an error."""
        self.has(count)
        data = self.data[self.at : self.at + count]
        self.at += len(data)
        return data

    def blocks(self, count: int = sys.maxsize) -> Iterator[bytes]:
        """Yield the next `count` bytes in blocks of at most 4 MiB, each taken as it is yielded; fewer bytes only at the
        end of the text or at an error.
        """
        while count > 0 and (data := self.take(min(count, _BLOCK))):
            yield data
            count -= len(data)

    def take_rest(self) -> int:
        """Take (pass over) all bytes up to the end of the text or to an error. Returns their number."""
        return sum(map(len, self.blocks()))
