"""Limits on the bytes, members and levels of nesting that come out of an input, and the counts of an input."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from urnscan.errors import LimitError, SourceError, option

# Maximum of errors, such as failed checksums, that are reported singly: a hostile input has millions.
_MAX_WRONG = 10_000
# Bytes that may come out of any input, at any ratio.
_FREE = 1 << 28


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the bytes, members and levels of nesting that come out of an input.

    The defaults stop only hostile files.
    """

    ratio: int = 1000
    """Maximum bytes that come out for each byte read (`--max-ratio`); checked when more than 256 MiB have come out."""
    size: int = 10**13
    """Maximum bytes that come out of an input, all levels of nesting together (`--max-size`)."""
    depth: int = 8
    """Maximum number of compressions, archives and tables inside each other (`--max-depth`)."""
    members: int = 10**7
    """Maximum members of all archives in an input (`--max-members`)."""


class Budget:
    """Counters of an input: bytes read, bytes and members that come out of it, checked against limits.

    Also collects errors that are reported after the text.
    """

    def __init__(self, name: str, limits: Limits, on_read: Callable[[int], object] = lambda _: None) -> None:
        """`name`: of the input, for errors. `on_read`: called by `count_read` with its argument, for progress."""
        self._name = name
        self._limits = limits
        self._on_read = on_read
        self.has_records = False
        """Whether the input is, or contains, a web archive, as far as it was read; set by `unfold`."""
        self._read = self._unfolded = self._members = 0
        self._wrong: list[SourceError] = []
        self._more_wrong = 0

    def count_read(self, byte_count: int) -> None:
        """Add to the number of bytes read from the input, and call `on_read`."""
        self._read += byte_count
        self._on_read(byte_count)

    def count_unfolded(self, byte_count: int) -> None:
        """Add to the number of bytes that came out of the input (unpacked, converted); then raise LimitError if it is
        above a limit.
        """
        self._unfolded += byte_count
        self.check_announced(0)

    def check_announced(self, byte_count: int) -> None:
        """Raise LimitError if `byte_count` more bytes, as a header announces, would exceed a limit. Counts nothing."""
        limits = self._limits
        if not self.allows(byte_count):
            if self._unfolded + byte_count > limits.size:
                raise self._past(f"unpacks to more than {limits.size:,} bytes", "max_size")
            raise self._past(f"unpacks to more than {limits.ratio:,} times its size", "max_ratio")

    def allows(self, byte_count: int) -> bool:
        """Whether `byte_count` more bytes may come out of the input. Counts nothing."""
        unfolded, limits = self._unfolded + byte_count, self._limits
        return unfolded <= limits.size and (unfolded <= _FREE or unfolded <= limits.ratio * self._read)

    def count_member(self, count: int = 1) -> None:
        """Add `count` to the number of members of archives; then raise LimitError if the number is above the limit."""
        self._members += count
        if self._members > (most := self._limits.members):
            raise self._past(f"has more than {most:,} member{'s' * (most != 1)}", "max_members")

    def allows_members(self, count: int) -> bool:
        """Whether the input may have `count` more members. Counts nothing."""
        return self._members + count <= self._limits.members

    def _past(self, what: str, name: str) -> LimitError:
        return LimitError(self._name, f"{what}; the rest is not read; {option(name, None)} allows more")

    def failed_checksum(self, name: str, what: str) -> None:
        """Add (not raise) a SourceError about a failed checksum to the collected errors.

        `name`: of the input or member; `what`: subject of the message, as in "the CRC-32 of member 3".
        """
        self.collect(SourceError(name, f"{what} is wrong; its text may be damaged"))

    def collect(self, error: SourceError) -> None:
        """Add an error that does not end reading to the collected errors, which are reported after the text.

        After 10,000 errors, more are only counted.
        """
        if len(self._wrong) < _MAX_WRONG:
            self._wrong.append(error)
        else:
            self._more_wrong += 1

    def collected(self) -> Iterator[SourceError]:
        """Yield the errors that were collected since the last call, and remove them from this object: the first 10,000
        and, if there were more, an error with the number of the others.
        """
        wrong, more = self._wrong, self._more_wrong
        self._wrong, self._more_wrong = [], 0
        yield from wrong
        if more:
            yield SourceError(self._name, f"{more:,} more errors of this kind in it")
