"""Lines of a text, and other parts of a text that end with a separator or after a length."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from urnscan.framing.buffer import LONGEST, Buffer


class Damaged(NamedTuple):
    """Part of a text that cannot be read as a record."""

    offset: int
    """Bytes from the beginning of the text."""
    reason: str
    """One line, such as "its length 300 leads beyond the end of the dump"."""


def lines(buffer: Buffer, end: bytes = b"\n") -> Iterator[tuple[int, bytes] | Damaged]:
    """Read lines: the offset of each, and its bytes with `end`."""
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
    """Read parts, each with its offset, as long as there is `more`; one that is longer than `LONGEST` is damaged.

    `length` gives the bytes of the next part, 0 if it has no end: then it is the last.
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
    """The `Damaged` for a record of more than `LONGEST` bytes."""
    return Damaged(offset, f"it is longer than {LONGEST:,} bytes")
