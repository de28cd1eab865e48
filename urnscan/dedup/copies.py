"""Dumps copied octet for octet, without some of their records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from urnscan.framing.buffer import Buffer

__all__ = ["blocks", "copy_without"]

_BLANK = b" \t\r\n"
_BLOCK = 1 << 20  # octets copied at a time

Write = Callable[[bytes], object]


def copy_without(buffer: Buffer, records: Iterable[tuple[int, int, bool]], separator: bytes, write: Write) -> None:
    """Copy a dump without the records that are not kept.

    `records` has, for each record, its offset, its length and whether it is kept.
    A record goes together with the white space and the `separator` of the format (the comma of a JSON array) before it.
    If no record before it is kept, it goes together with those behind it.
    All else stays: wrapper, comments, damaged records. Raises the errors of `write`.
    """
    end = 0  # of the record before
    is_any_kept = False  # in the current array, if there are separators
    has_gone = False  # the record before is gone, and the separator behind it goes, too
    for offset, length, kept in records:
        if kept and not separator and not has_gone:  # copied together with what follows
            is_any_kept, end = True, offset + length
            continue
        _copy(buffer, max(end, offset - _BLOCK) - buffer.offset, write)
        gap = buffer.take(offset - buffer.offset)
        if has_gone:
            gap = _without_first(gap, separator)
        if separator and (between := gap.strip(_BLANK)) != separator:
            is_any_kept = between.endswith(separator)  # behind a damaged record; otherwise an array begins
        has_gone = not (kept or is_any_kept)
        end = offset + length
        if kept:
            write(gap)
            is_any_kept = True
        elif has_gone:
            write(gap)
            _skip(buffer, length)
        else:
            # A record that is a line goes with its line end. A comment before it keeps its own line end, so that it
            # does not run into the next record.
            is_line = _skip(buffer, length) == b"\n"
            write(gap if is_line and gap.strip(_BLANK) else _without_last(gap, separator))
    _copy(buffer, end - buffer.offset, write)
    if has_gone:
        write(_without_first(buffer.take(_BLOCK), separator))
    while buffer.has(1):
        write(buffer.take(_BLOCK))


def blocks(buffer: Buffer, count: int) -> Iterator[bytes]:
    """Take `count` octets, or fewer at the end, in blocks."""
    while count > 0 and (octets := buffer.take(min(count, _BLOCK))):
        yield octets
        count -= len(octets)


def _copy(buffer: Buffer, count: int, write: Write) -> None:
    for octets in blocks(buffer, count):
        write(octets)


def _skip(buffer: Buffer, count: int) -> bytes:
    """Skip octets; returns the last one."""
    last = b""
    for octets in blocks(buffer, count):
        last = octets[-1:]
    return last


def _without_last(gap: bytes, separator: bytes) -> bytes:
    """Drop the separator at the end of the octets before a record, with the white space around it."""
    gap = gap.rstrip(_BLANK)
    return gap.removesuffix(separator).rstrip(_BLANK) if separator and gap.endswith(separator) else gap


def _without_first(gap: bytes, separator: bytes) -> bytes:
    """Drop the separator at the beginning of the octets behind a record, with the white space around it."""
    gap = gap.lstrip(_BLANK)
    return gap.removeprefix(separator).lstrip(_BLANK) if separator and gap.startswith(separator) else gap
