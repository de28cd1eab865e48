"""Records that are lines: all lines of a text, except blank lines."""

from __future__ import annotations

from collections.abc import Iterator

from urnscan.framing.buffer import Buffer
from urnscan.framing.lines import Damaged, lines
from urnscan.records.fields import Own
from urnscan.records.format import Format
from urnscan.records.record import Cut, Record, RecordReader


class LineRecords(RecordReader):
    """Reader of texts whose lines are records. A line has no fields, so the whole line is treated as an identifier."""

    def cuts(self, buffer: Buffer) -> Iterator[Cut | Damaged]:
        """Yield each line as a `Cut`, in order, with its line end; lines of white space are skipped. A line of more
        than 64 MiB is yielded as a `Damaged`.
        """
        for line in lines(buffer):
            if isinstance(line, Damaged):
                yield line
            elif not line[1].isspace():
                yield Cut(*line)

    def record(self, cut: Cut) -> Record:
        """Return a line as a `Record` without an ID: with the line as a text to scan for URNs or, if the reader reads
        record-level identifiers (`own`), as such an identifier.
        """
        offset, data, _ = cut
        if self.has_texts:
            return Record(offset, data, None, (data,))
        return Record(offset, data, None, own=(Own(data.decode("utf-8", "replace").strip()),))


FORMATS = (Format(name="line", title="lines", reader=LineRecords, has_fields=False),)
