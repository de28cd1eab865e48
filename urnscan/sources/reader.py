"""Protocol of readers: objects that give octets front to back, of inputs and of members."""

import io
from collections.abc import Callable
from typing import Protocol, Self

from urnscan.errors import DamageError, SourceError

__all__ = ["Reader", "begins", "past_damage", "read_up_to", "skip"]

_SKIPPED = 1 << 16  # octets read at a time to pass over them


class Reader(Protocol):
    """Gives the octets of an input, front to back; a context manager that closes it. One thread's own."""

    def read_into(self, view: memoryview) -> int:
        """Fill the front of a writable view of at least one octet; how many octets were filled, 0 at the end.

        Raises DamageError where a part of the input is lost, after all octets before it were given: the next call
        gives what follows the damage, or 0. Any other SourceError is the end.
        """
        ...

    def reopen(self) -> io.BufferedIOBase | None:
        """A second, seekable file with the same octets from the first one on; None where there can be none.

        Whoever asks for it closes it. Its `name` is a path where there is one. Raises SourceError.
        """
        return None

    def close(self) -> None:
        """Give back what the system holds for it; a second time does nothing."""
        ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def begins(head: bytes, *signs: bytes) -> bool | None:
    """Whether octets begin with one of the signs; None where they are too few to tell."""
    if head.startswith(signs):
        return True
    return None if any(sign.startswith(head) for sign in signs) else False


def read_up_to(reader: Reader, count: int) -> bytes:
    """The next `count` octets, fewer only at the end; raises what the reader raises, and the octets before it are lost."""
    buffer = memoryview(bytearray(count))
    filled = 0
    while filled < count and (got := reader.read_into(buffer[filled:])):
        filled += got
    return bytes(buffer[:filled])


def skip(reader: Reader, count: int) -> int:
    """Pass over the next `count` octets; how many there were, fewer only at the end. Raises what the reader raises."""
    view = memoryview(bytearray(min(count, _SKIPPED)))
    left = count
    while left and (got := reader.read_into(view[:left])):
        left -= got
    return count - left


def past_damage(read_into: Callable[[memoryview], int]) -> Callable[[memoryview], int]:
    """A `read_into` that passes over damage, for a second reading. Any other error is the end: 0."""

    def read_on(view: memoryview) -> int:
        while True:
            try:
                return read_into(view)
            except DamageError:
                continue
            except SourceError:
                return 0

    return read_on
