"""Splitting of a text into lines, or into parts whose length a function gives; `Damaged`: an unreadable part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from urnscan.framing.buffer import LONGEST, Buffer


class Damaged(NamedTuple):
    """A part of a text that cannot be read as a record; a reader yields it instead of the record."""

    offset: int
    """Number of bytes of the text before the part, or before the byte at which the damage was noticed."""
    reason: str
    """Reason in a single line, such as "its length 300 leads beyond the end of the dump"."""


def lines(buffer: Buffer, end: bytes = b"\n") -> Iterator[tuple[int, bytes] | Damaged]:
    """Take the lines from the next byte on, and yield each as (offset in the text, bytes with `end`). `end` is a single
    byte.

    The last line may lack `end`. Instead of a line of more than 64 MiB a `Damaged` is yielded.
    """
    return parts(buffer, lambda: buffer.find(end) + 1, lambda: buffer.has(1))


def parts(buffer: Buffer, length: Callable[[], int], more: Callable[[], bool]) -> Iterator[tuple[int, bytes] | Damaged]:
    """Take the parts of a text while `more()` is true, and yield each as (offset in the text, bytes).

    `length()` returns the number of bytes from the next byte to the end of the part, or 0 if it finds no end: then the
    part is the rest of the text. Instead of a part of more than 64 MiB, which is passed over, a `Damaged` is yielded.
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
    """Return the `Damaged` for a record of more than 64 MiB; `offset`: bytes of the text before the record."""
    return Damaged(offset, f"it is longer than {LONGEST:,} bytes")
