"""Dumps copied octet for octet, without some of their records."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from urnscan.framing.buffer import Buffer

_BLANK = b" \t\r\n"
_BLOCK = 1 << 20  # most octets before and behind records that are searched for separators

Write = Callable[[bytes], object]


class Copy(NamedTuple):
    """A record that is copied, or left out."""

    offset: int
    length: int
    stays: bool
    change: Callable[[bytes], bytes] | None = None
    """Gives the octets that are written in place of those of the record."""


def copy_without(buffer: Buffer, records: Iterable[Copy], separator: bytes, write: Write) -> None:
    """Copy a dump without the records that do not stay.

    A record goes together with the white space and the `separator` of the format (the comma of a JSON array) before it.
    If no record before it is kept, it goes together with those behind it.
    All else stays: wrapper, comments, damaged records. Raises the errors of `write`.
    """
    end = 0  # end of the record before
    is_any_kept = False  # in the current array, if there are separators
    has_gone = False  # the record before is gone, and the separator behind it goes, too
    for offset, length, kept, change in records:
        if kept and not (change or separator or has_gone):  # copied together with what follows
            is_any_kept, end = True, offset + length
            continue
        for octets in buffer.blocks(max(end, offset - _BLOCK) - buffer.offset):
            write(octets)
        gap = buffer.take(offset - buffer.offset)
        if has_gone:
            gap = _without_first(gap, separator)
        if separator and (between := gap.strip(_BLANK)) != separator:
            is_any_kept = between.endswith(separator)  # behind a damaged record; otherwise an array begins
        has_gone = not (kept or is_any_kept)
        end = offset + length
        if kept:
            write(gap)
            if change:
                write(change(buffer.take(length)))
            is_any_kept = True
            continue
        last = b""
        for octets in buffer.blocks(length):
            last = octets[-1:]
        # A record that is a line goes with its line end. A comment before it keeps its own line end, so that it does
        # not run into the next record.
        stays = has_gone or (last == b"\n" and gap.strip(_BLANK))
        write(gap if stays else _without_last(gap, separator))
    for octets in buffer.blocks(end - buffer.offset):
        write(octets)
    if has_gone:
        write(_without_first(buffer.take(_BLOCK), separator))
    for octets in buffer.blocks():
        write(octets)


def _without_last(gap: bytes, separator: bytes) -> bytes:
    """Drop the separator at the end of the octets before a record, with the white space around it."""
    return gap.rstrip(_BLANK).removesuffix(separator).rstrip(_BLANK)


def _without_first(gap: bytes, separator: bytes) -> bytes:
    """Drop the separator at the beginning of the octets behind a record, with the white space around it."""
    return gap.lstrip(_BLANK).removeprefix(separator).lstrip(_BLANK)
