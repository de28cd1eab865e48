"""Limits on what an input unfolds to, and the counts of what it has unfolded to."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from urnscan.errors import LimitError, SourceError

# Failed checksums that are reported one by one: a hostile input has millions of them.
_MOST_WRONG = 10_000
# Bytes that anything may unfold to, whatever its ratio.
_FREE = 1 << 28


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on what an input unfolds to. The defaults stop hostile files, and hardly any others."""

    ratio: int = 1000
    """Bytes that may come out of one byte of the input; checked once more than 256 MiB have come out."""
    size: int = 10**13
    """Bytes that may come out of an input, all layers together."""
    depth: int = 8
    """Layers of compression, archives and tables inside one another."""
    members: int = 10**7
    """Members of all archives in an input."""


class Budget:
    """Counts of the bytes and members that an input unfolds to, checked against the limits; and its errors that end nothing."""

    def __init__(self, name: str, limits: Limits, on_read: Callable[[int], object] = lambda _: None) -> None:
        """`name` is the input's; `on_read` is called with the number of bytes of the input that were read, for progress."""
        self._name = name
        self._limits = limits
        self._on_read = on_read
        self.has_records = False
        """Whether the input is, or contains, a web archive."""
        self._read = self._unfolded = self._members = 0
        self._wrong: list[SourceError] = []
        self._more_wrong = 0

    def count_read(self, byte_count: int) -> None:
        """Count bytes of the input itself that were read."""
        self._read += byte_count
        self._on_read(byte_count)

    def count_unfolded(self, byte_count: int) -> None:
        """Count bytes that came out of a compression or a table. Raises LimitError."""
        self._unfolded += byte_count
        self.check_announced(0)

    def check_announced(self, byte_count: int) -> None:
        """Check a number of bytes that a header announces, before memory is allocated for them. Raises LimitError."""
        limits = self._limits
        if not self.allows(byte_count):
            if self._unfolded + byte_count > limits.size:
                raise self._past(f"unpacks to more than {limits.size:,} bytes", "--max-size")
            raise self._past(f"unpacks to more than {limits.ratio:,} times its size", "--max-ratio")

    def allows(self, byte_count: int) -> bool:
        """True if so many more bytes may come out of the input."""
        unfolded, limits = self._unfolded + byte_count, self._limits
        return unfolded <= limits.size and (unfolded <= _FREE or unfolded <= limits.ratio * self._read)

    def count_member(self, count: int = 1) -> None:
        """Count a member of an archive, or several. Raises LimitError."""
        self._members += count
        if self._members > (most := self._limits.members):
            raise self._past(f"has more than {most:,} member{'s' * (most != 1)}", "--max-members")

    def allows_members(self, count: int) -> bool:
        """True if the input may have so many more members."""
        return self._members + count <= self._limits.members

    def count_members(self, count: int) -> bool:
        """Count members of an archive if the limit allows all of them; returns whether it does."""
        is_allowed = self.allows_members(count)
        self._members += count if is_allowed else 0
        return is_allowed

    def _past(self, what: str, option: str) -> LimitError:
        return LimitError(self._name, f"{what}; the rest is not read; {option} allows more")

    def failed_checksum(self, name: str, what: str) -> None:
        """Collect the error for an input or member in which the checksum `what` failed."""
        self.collect(SourceError(name, f"{what} is wrong; its text may be damaged"))

    def collect(self, error: SourceError) -> None:
        """Keep an error that ends nothing, such as a wrong checksum; it is reported after the text."""
        if len(self._wrong) < _MOST_WRONG:
            self._wrong.append(error)
        else:
            self._more_wrong += 1

    def collected(self) -> Iterator[SourceError]:
        """Errors collected since the last call."""
        wrong, more = self._wrong, self._more_wrong
        self._wrong, self._more_wrong = [], 0
        yield from wrong
        if more:
            yield SourceError(self._name, f"{more:,} more errors of this kind in it")
