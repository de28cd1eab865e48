"""Dumps without some of their records, octet for octet as they came."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from urnscan.records.buffer import Buffer

__all__ = ["copy_without"]

_BLANK = b" \t\r\n"
_BLOCK = 1 << 20  # octets copied at a time

Write = Callable[[bytes], object]


def copy_without(buffer: Buffer, records: Iterable[tuple[int, int, bool]], separator: bytes, write: Write) -> None:
    """Write what the buffer gives without the records that are not kept.

    `records` are where each begins, how many octets it has and whether it is kept. With a record goes what parts it from
    the one before: white space and the `separator` of the format; where nothing before it is kept, what parts it from the
    next. All else stays: what stands around the records, comments, and what could not be read. Raises what `write` does.
    """
    end = 0  # of the record before
    is_any_kept = False  # in the array in which we are, if there are separators
    has_gone = False  # the record before, and what follows parts it from the next
    for offset, length, kept in records:
        if kept and not separator and not has_gone:  # it is copied with what comes next
            is_any_kept, end = True, offset + length
            continue
        _copy(buffer, max(end, offset - _BLOCK) - buffer.offset, write)
        gap = buffer.take(offset - buffer.offset)
        if has_gone:
            gap = _without_first(gap, separator)
        if separator and (between := gap.strip(_BLANK)) != separator:
            is_any_kept = between.endswith(separator)  # behind what could not be read; else an array begins
        has_gone = not (kept or is_any_kept)
        end = offset + length
        if kept:
            write(gap)
            is_any_kept = True
        elif has_gone:
            write(gap)
            _pass(buffer, length)
        else:
            # Lines take with them what ends them. What stands before one, a comment say, keeps its own end, or it would
            # run into the next.
            is_line = _pass(buffer, length) == b"\n"
            write(gap if is_line and gap.strip(_BLANK) else _without_last(gap, separator))
    _copy(buffer, end - buffer.offset, write)
    if has_gone:
        write(_without_first(buffer.take(_BLOCK), separator))
    while buffer.has(1):
        write(buffer.take(_BLOCK))


def _copy(buffer: Buffer, count: int, write: Write) -> None:
    while count > 0 and (octets := buffer.take(min(count, _BLOCK))):
        write(octets)
        count -= len(octets)


def _pass(buffer: Buffer, count: int) -> bytes:
    """Let go of so many octets; the last of them."""
    last = b""
    while count > 0 and (octets := buffer.take(min(count, _BLOCK))):
        last = octets[-1:]
        count -= len(octets)
    return last


def _without_last(gap: bytes, separator: bytes) -> bytes:
    """What stands before a record, without what parts it from the record before."""
    gap = gap.rstrip(_BLANK)
    return gap.removesuffix(separator).rstrip(_BLANK) if separator and gap.endswith(separator) else gap


def _without_first(gap: bytes, separator: bytes) -> bytes:
    """What stands behind a record, without what parts it from the next."""
    gap = gap.lstrip(_BLANK)
    return gap.removeprefix(separator).lstrip(_BLANK) if separator and gap.startswith(separator) else gap
