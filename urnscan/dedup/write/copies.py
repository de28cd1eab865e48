"""Dumps copied byte for byte, without some of their records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.framing.buffer import Buffer

_BLANK = b" \t\r\n"
# Maximum number of bytes around records that are searched for separators; number of bytes written at a time.
_BLOCK = 1 << 20

Write = Callable[[bytes], object]
"""Function that writes bytes."""
Change = Callable[[bytes], bytes]
"""Function from the bytes of a record to the bytes that are written instead."""


@dataclass(frozen=True, slots=True)
class Places:
    """Neighbouring records of a dump, and whether each record is copied or left out; an element of each array for each
    record.
    """

    start: npt.NDArray[np.int64]
    """Bytes from the start of the dump to each record."""
    length: npt.NDArray[np.int64]
    """Number of bytes of each record."""
    stays: npt.NDArray[np.bool_]
    """Whether each record is copied."""
    changes: Mapping[int, Change] = field(default_factory=dict)
    """For records that stay, the function that changes their bytes, by the index of the record in these arrays, from 0;
    unchanged records are missing.
    """


class _Span(NamedTuple):
    """Neighbouring records that are copied, or left out, together."""

    offset: int
    length: int
    stays: bool
    change: Change | None


def places_of(count: int, places: Iterator[Places]) -> Iterator[Places]:
    """Yield the batches of the next dump, taken from `places`: as many as have its `count` records together. A batch
    has records of only one dump.
    """
    while count:
        batch = next(places)
        count -= len(batch.start)
        yield batch


def copy_without(buffer: Buffer, places: Iterable[Places], separator: bytes, write: Write) -> None:
    """Write a dump to `write`, without the records that do not stay. Records in `Places.changes` are changed.

    `buffer` has the bytes of the dump, and is consumed; `places` has all its records that can be read, in order. The
    white space and the `separator` of the format (the comma of a JSON array; empty if there is none) before a record
    are left out with it; if no earlier record is kept, those after it. Everything else stays: wrapper, comments,
    damaged records. Raises the errors of `write`.
    """
    # End of the previous record.
    end = 0
    # Whether a record of the current array is kept, if there are separators.
    is_any_kept = False
    # Whether the previous record is left out, and the separator after it, too.
    has_gone = False
    copy = _WriteBuffer(write)
    for offset, length, kept, change in (span for batch in places for span in _spans(batch, separator)):
        if kept and not (change or separator or has_gone):  # copied together with what follows
            is_any_kept, end = True, offset + length
            continue
        for data in buffer.blocks(max(end, offset - _BLOCK) - buffer.offset):
            copy.write(data)
        gap = buffer.take(offset - buffer.offset)
        if has_gone:
            gap = _without_first(gap, separator)
        if separator and (between := gap.strip(_BLANK)) != separator:
            is_any_kept = between.endswith(separator)  # after a damaged record; otherwise an array begins
        has_gone = not (kept or is_any_kept)
        end = offset + length
        if kept:
            copy.write(gap)
            if change:
                copy.write(change(buffer.take(length)))
            is_any_kept = True
            continue
        last = b""
        for data in buffer.blocks(length):
            last = data[-1:]
        # A record that is a line goes with its line end. A comment before it keeps its own line end, so that it does
        # not run into the next record.
        stays = has_gone or (last == b"\n" and gap.strip(_BLANK))
        copy.write(gap if stays else _without_last(gap, separator))
    for data in buffer.blocks(end - buffer.offset):
        copy.write(data)
    if has_gone:
        copy.write(_without_first(buffer.take(_BLOCK), separator))
    for data in buffer.blocks():
        copy.write(data)
    copy.flush()


class _WriteBuffer:
    """Joins bytes, so that a file is written by few calls; `flush` must be called at the end."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._parts: list[bytes] = []
        self._length = 0

    def write(self, data: bytes) -> None:
        self._parts.append(data)
        self._length += len(data)
        if self._length >= _BLOCK:
            self.flush()

    def flush(self) -> None:
        self._write(b"".join(self._parts))
        self._parts, self._length = [], 0


def _spans(places: Places, separator: bytes) -> Iterator[_Span]:
    """Group neighbouring records that all stay, or are all left out, into spans. Those left out are grouped only if
    neither bytes nor a `separator` are between them. A changed record is a span by itself.
    """
    if not len(places.start):
        return
    end = places.start + places.length
    follows = np.append(False, places.start[1:] == end[:-1]) & (separator == b"")
    follows[1:] &= follows[:-1].copy()
    goes_on = np.append(False, places.stays[1:] == places.stays[:-1]) & (places.stays | follows)
    changed = np.array(list(places.changes), np.intp)
    goes_on[changed] = False
    goes_on[changed[changed + 1 < len(end)] + 1] = False
    first = np.flatnonzero(~goes_on)
    last = np.append(first[1:], len(end)) - 1
    columns: list[list[Any]] = [
        column.tolist() for column in (first, places.start[first], end[last], places.stays[first])
    ]
    for at, offset, stop, stays in zip(*columns, strict=True):
        yield _Span(offset, stop - offset, stays, places.changes.get(at))


def _without_last(gap: bytes, separator: bytes) -> bytes:
    return gap.rstrip(_BLANK).removesuffix(separator).rstrip(_BLANK)


def _without_first(gap: bytes, separator: bytes) -> bytes:
    return gap.lstrip(_BLANK).removeprefix(separator).lstrip(_BLANK)
