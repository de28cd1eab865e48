"""Records that are lines: of any text, each line that is not blank is one."""

from __future__ import annotations

from collections.abc import Iterator

from urnscan.framing.buffer import Buffer
from urnscan.framing.lines import Damaged, lines
from urnscan.records.record import Own, Record

__all__ = ["LineRecords"]


class LineRecords:
    """Reads the lines of any text, blank ones passed over."""

    def __init__(self, *, own: bool) -> None:
        """`own`: only identifiers of the record itself are asked for. A line has no fields, so all of it is one."""
        self._own = own

    def read(self, buffer: Buffer) -> Iterator[Record | Damaged]:
        """Read the lines that are not blank."""
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
