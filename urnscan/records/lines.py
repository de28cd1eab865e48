"""Records that are lines: of any text, each line that is not blank is one."""

from __future__ import annotations

from collections.abc import Iterator

from urnscan.records.buffer import LONGEST, Buffer
from urnscan.records.record import Damaged, Own, Record

__all__ = ["LineRecords", "lines", "too_long"]


def lines(buffer: Buffer) -> Iterator[tuple[int, bytes] | Damaged]:
    """The lines of a text, each with the LF that ends it, and where it begins; what is too long for a record is damaged."""
    while buffer.has(1):
        offset = buffer.offset
        length = buffer.find(b"\n") + 1
        if length:
            yield offset, buffer.take(length)
        elif len(buffer.octets) - buffer.at > LONGEST:
            while not length and buffer.has(1):
                buffer.take(LONGEST)
                length = buffer.find(b"\n") + 1
            buffer.take(length)
            yield too_long(offset)
        else:  # the last line has no LF
            yield offset, buffer.take(len(buffer.octets) - buffer.at)


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
