"""Records that are lines: of any text, each line that is not blank is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from urnscan.records.buffer import LONGEST, Buffer
from urnscan.records.record import Damaged, Own, Record

__all__ = ["LineRecords", "lines", "parts", "too_long"]


def lines(buffer: Buffer, end: bytes = b"\n") -> Iterator[tuple[int, bytes] | Damaged]:
    """The lines of a text, each with the octet that ends it, and where it begins."""
    return parts(buffer, lambda: buffer.find(end) + 1, lambda: buffer.has(1))


def parts(buffer: Buffer, length: Callable[[], int], more: Callable[[], bool]) -> Iterator[tuple[int, bytes] | Damaged]:
    """Parts of a text as long as there is `more`, and where each begins. `length` says where the next one ends, 0 if
    nowhere: then it is the last. What is too long for a record is damaged.
    """
    while more():
        offset, count = buffer.offset, length()
        if not count and len(buffer.octets) - buffer.at <= LONGEST:
            count = len(buffer.octets) - buffer.at
        if 0 < count <= LONGEST:
            yield offset, buffer.take(count)
            continue
        while not count and buffer.has(1):
            buffer.take(LONGEST)
            count = length()
        buffer.take(count)
        yield too_long(offset)


def too_long(offset: int) -> Damaged:
    """In the place of what would be a record of more than `LONGEST` octets."""
    return Damaged(offset, f"it is longer than {LONGEST:,} octets")


class LineRecords:
    """Lines, blank ones passed over."""

    def __init__(self, *, own: bool) -> None:
        """`own`: only identifiers of the record itself are asked for; a line has no fields, so all of it is one."""
        self._own = own

    def read(self, buffer: Buffer) -> Iterator[Record | Damaged]:
        """The lines that are not blank."""
        for line in lines(buffer):
            if isinstance(line, Damaged):
                yield line
                continue
            offset, octets = line
            if octets.isspace():
                continue
            if self._own:
                yield Record(offset, octets, None, own=(Own(octets.decode("utf-8", "replace").strip()),))
            else:
                yield Record(offset, octets, None, (octets,))
