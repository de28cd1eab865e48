"""Lines of a text, and other parts of a text that end with a separator or after a length."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from urnscan.framing.buffer import LONGEST, Buffer


class Damaged(NamedTuple):
    """A part of a text that cannot be read as a record."""

    offset: int
    """Bytes from the beginning of the text."""
    reason: str
    """Reason in a single line, such as "its length 300 leads beyond the end of the dump"."""


def lines(buffer: Buffer, end: bytes = b"\n") -> Iterator[tuple[int, bytes] | Damaged]:
    """Yield lines as (offset, bytes); the bytes include `end`, except that the last line may lack it.

    A line longer than `LONGEST` is a `Damaged`.
    """
    slowly = parts(buffer, lambda: buffer.find(end) + 1, lambda: buffer.has(1))
    while True:
        at = buffer.at
        after = buffer.data.find(end, at) + 1
        if after and after - at <= LONGEST:
            offset = buffer.offset
            buffer.at = after
            yield offset, buffer.data[at:after]
        elif (line := next(slowly, None)) is not None:
            yield line
        else:
            return


def parts(buffer: Buffer, length: Callable[[], int], more: Callable[[], bool]) -> Iterator[tuple[int, bytes] | Damaged]:
    """Yield parts of a text as (offset, bytes) while `more()` is true. A part longer than `LONGEST` is a `Damaged`.

    `length()` gives the bytes of the next part, or 0 if no end was found: then the part is the rest of the text.
    """
    while more():
        offset, count = buffer.offset, length()
        if not count and len(buffer.data) - buffer.at <= LONGEST:
            count = len(buffer.data) - buffer.at
        if 0 < count <= LONGEST:
            yield offset, buffer.take(count)
            continue
        while not count and buffer.has(1):
            buffer.take(LONGEST)
            count = length()
        buffer.take(count)
        yield too_long(offset)


def too_long(offset: int) -> Damaged:
    """Return the `Damaged` for a record at `offset` of more than `LONGEST` bytes."""
    return Damaged(offset, f"it is longer than {LONGEST:,} bytes")
