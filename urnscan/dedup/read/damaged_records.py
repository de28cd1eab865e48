"""The damaged records of a dump: a message for each, or a single message if no record of the dump can be read."""

from __future__ import annotations

from collections.abc import Callable

from urnscan.dedup.read.batches import ReadBatch
from urnscan.dedup.reread import Dump
from urnscan.errors import RecordError, SourceError

# Damaged records at the start of a dump that are pending until a record can be read.
_MAX_AT_START = 1_000


class DamagedRecords:
    """Errors about the damaged records of a dump. At the start of the dump up to 1,000 are pending, that is, not
    reported yet: if no record of the dump can be read, a single error replaces them.
    """

    def __init__(self, dump: Dump, report: Callable[[SourceError], object]) -> None:
        """`report` is called with each error, and may raise FatalError to end the run."""
        self._dump = dump
        self._report = report
        self._pending: list[RecordError] = []

    def add(self, batch: ReadBatch) -> None:
        """Count the damaged records of a batch in the dump, and make an error for each. The errors are pending until a
        record of the dump could be read, or more than 1,000 are damaged; then they are reported. Raises FatalError if
        an error ends the run.
        """
        dump = self._dump
        for number, damaged in batch.damaged:
            dump.damaged += 1
            reason = f"record {number:,} at byte {damaged.offset:,} is damaged: {damaged.reason}"
            self._pending.append(RecordError(dump.name, reason))
            if number != dump.damaged or number > _MAX_AT_START:
                self.report()
        if len(batch.rows):
            self.report()

    def report(self) -> None:
        """Pass all pending errors to `report` of the constructor, and forget them. Raises FatalError if an error ends
        the run.
        """
        for error in self._pending:
            self._report(error)
        self._pending.clear()

    def end(self, count: int) -> None:
        """Report the errors that are still pending. Several are replaced by a single error, which says that none of the
        `count` records of the dump can be read. Raises FatalError if an error ends the run.
        """
        if len(self._pending) > 1:
            reason = f"none of its {count:,} records can be read; {self._pending[0].reason}"
            self._pending = [RecordError(self._dump.name, reason)]
        self.report()
