"""The first reading of dumps: their records, and the URNs that each of them names."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt

from urnscan.arrays.arrow import numbers, text_array
from urnscan.dedup.batches import ROWS, Batch, BatchScanner, Scanned
from urnscan.dedup.components import MOST, Edges, Numbers
from urnscan.dedup.outputs import Dumps
from urnscan.dedup.policy import PLACEHOLDERS, Policy
from urnscan.dedup.second_reading import Dump, ReadInto, Spool, Summed
from urnscan.errors import FatalError, LimitError, SourceError
from urnscan.output.spill import Spilled
from urnscan.records.buffer import Buffer
from urnscan.records.formats import FORMATS, recognise
from urnscan.records.record import Damaged
from urnscan.run.failures import NO_PLACE, Failures
from urnscan.run.options import Options
from urnscan.sources import INSIDE, Document, Input, Reading, Values, is_binary, open_documents

__all__ = ["Harvest"]

_AHEAD = 2  # batches that wait to be scanned while the next is read
_IN_MEMORY = 1 << 26  # octets of rows that wait in memory


class Harvest:
    """Reads dumps once, and holds what is known of their records."""

    def __init__(
        self,
        options: Options,
        policy: Policy,
        reading: Reading,
        *,
        failures: Failures,
        folder: Callable[[], Path],
        on_read: Callable[[int], object],
        dumps: Dumps | None,
        again: bool,
    ) -> None:
        """`folder` gives the folder for what memory does not hold, `on_read` is told how many octets of the inputs were
        read; `dumps` are to be written without duplicates; `again`: they will be read once more, for that or another reason.
        """
        self.dumps: list[Dump] = []
        self.empty: list[Input] = []
        """Inputs without an octet, of which no format is known."""
        self.edges = Edges((*policy.weak, *PLACEHOLDERS), policy.max_class, folder)
        """Records and the URNs that they name."""
        self.pieces: Edges | None = None
        """Records and what they are known by, where two with the same identifier are pieces of one."""
        self.rows = Spilled(ROWS, folder)
        """Those of a dump lie in batches of their own."""
        self.spool: Spool | None = None
        """What came out of pipes that are to be read again."""
        self.trimmable = 0
        """Occurrences that `trim` would have changed."""
        self.cut = 0
        """URNs that were left out as they are longer than a match may be."""
        self._policy = policy
        self._reading = reading
        self._scanner = BatchScanner(options)
        self._failures = failures
        self._folder = folder
        self._on_read = on_read
        self._again = again
        self._outputs = dumps
        self._records = 0  # that were read
        self._taken = 0  # those of them that were scanned as well
        self._lengths: list[npt.NDArray[np.int64]] = []
        self._counts: list[Numbers] = []
        # Octets are scanned in a thread of its own, while the next are read.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="urnscan-scanning")
        self._waiting: deque[tuple[Dump, Future[Scanned]]] = deque()

    def close(self) -> None:
        """Give back what it holds."""
        self._thread.shutdown(cancel_futures=True)
        self.rows.close()
        self.edges.close()
        if self.pieces is not None:
            self.pieces.close()
        if self.spool is not None:
            self.spool.close()

    @property
    def records(self) -> int:
        """How many records were read."""
        return self._records

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The octets of each record."""
        return np.concatenate([np.empty(0, np.int64), *self._lengths])

    @property
    def counts(self) -> Numbers:
        """How many different URNs each record names."""
        return np.concatenate([np.empty(0, np.int32), *self._counts])

    def read(self, inputs: Iterable[Input | SourceError]) -> None:
        """Read all records. Raises FatalError."""
        for place, source in enumerate(inputs):
            if isinstance(source, SourceError):
                self._failures.add(NO_PLACE, source.source, source)
                continue
            try:
                with closing(open_documents(source, self._reading, self._on_read)) as documents:
                    for number, document in enumerate(documents):
                        self._document(place, source, number, document)
            except SourceError as error:
                self._failures.add(place, source.name, error)
        self._take(0)
        self._failures.finish()

    def _document(self, place: int, source: Input, number: int, document: Document | Values | SourceError) -> None:
        """Read one of the things that are in an input. Raises SourceError."""
        match document:
            case SourceError():
                self._failures.add(place, source.name, document)
            case Values():
                reason = "is a table, and no dump of records: export it as CSV or JSON Lines"
                member, inside, _ = document.place(0).rpartition(INSIDE)
                if not inside:  # it is all that is in the input
                    raise SourceError(source.name, reason)
                name = source.name + INSIDE + member
                self._failures.add(place, source.name, SourceError(name, reason), is_part=True)
            case Document():
                self._dump(place, source, number, document)

    def _dump(self, place: int, source: Input, number: int, document: Document) -> None:
        """Read a text of records. Raises SourceError."""
        name = source.name if document.member is None else source.name + INSIDE + document.member
        read_into: ReadInto = document.reader.read_into
        start = 0  # of the dump in the spool
        if is_kept := self._again and source.size is None:
            self.spool = self.spool or Spool(self._folder())
            start = self.spool.octets
            read_into = self.spool.keep(read_into)
        summed = Summed(read_into, want_sum=self._again)
        buffer = Buffer(summed.read_into)
        # A member of an archive may have any name; that of the input may be the archive's.
        file_name = source.file_name if document.member is None else document.member
        recognised = recognise(buffer, file_name)
        format_ = FORMATS[self._policy.record] if self._policy.record else recognised
        if format_ is None:
            if isinstance(buffer.error, LimitError):
                raise buffer.error
            if buffer.error is not None:
                self._failures.add(place, source.name, buffer.error)
            elif buffer.has(1):
                reason = "is in no format of records that is known (urnscan dedup --help lists them)"
                if not is_binary(buffer.octets):
                    reason += "; --record line takes each line for a record"
                self._failures.add(place, source.name, SourceError(name, reason))
            elif document.member is None:
                self.empty.append(source)
            return
        if self._outputs is not None:
            self._outputs.admit(source, format_, document.codec)
        dump = Dump(source, name, document.member, number, format_, self._records)
        self.dumps.append(dump)
        try:
            self._read_records(place, dump, buffer)
        finally:
            dump.octets, dump.sum = summed.octets, summed.sum
            dump.kept = (start, start + summed.octets) if is_kept else None
        if format_ is not recognised and not dump.records + dump.damaged and summed.octets:
            reason = f"holds no record of {format_.title}: without --record its format is found out"
            self._failures.add(place, source.name, SourceError(name, reason))

    def _read_records(self, place: int, dump: Dump, buffer: Buffer) -> None:
        """Read the records of a dump. Raises LimitError where no more of its input is to be read."""
        reader = dump.format.open(own=self._policy.fields)
        batch = Batch()
        number = 0
        limit: LimitError | None = None
        buffer.take_mark()
        while True:
            for record in reader.read(buffer):
                number += 1
                if isinstance(record, Damaged):
                    dump.damaged += 1
                    reason = f"record {number:,} at octet {record.offset:,} is damaged: {record.reason}"
                    self._failures.add(place, dump.source.name, SourceError(dump.name, reason))
                    continue
                batch.add(number, record)
                if batch.is_full:
                    self._scan(dump, batch)
                    batch = Batch()
            if buffer.error is None:
                break
            if isinstance(buffer.error, LimitError):
                limit = buffer.error
                break
            self._failures.add(place, dump.source.name, buffer.error)
            if not buffer.resume():
                break
        self._scan(dump, batch)
        if limit is not None:
            raise limit

    def _scan(self, dump: Dump, batch: Batch) -> None:
        """Have a batch scanned."""
        if batch.record:
            if self._records + len(batch.record) > MOST:
                raise FatalError(f"more than {MOST:,} records: give the dumps in several runs")
            if dump.format.keyed:
                self.pieces = self.pieces or Edges((), sys.maxsize, self._folder)
                known = [place for place, name in enumerate(batch.identifier) if name is not None]
                keys = text_array([f"{len(self.dumps)} {batch.identifier[place]}" for place in known])
                self.pieces.add(np.array(known, np.int32) + np.int32(self._records), keys)
            dump.records += len(batch.record)
            self._records += len(batch.record)
            self._waiting.append((dump, self._thread.submit(self._scanner.scan, batch)))
            self._take(_AHEAD)

    def _take(self, most: int) -> None:
        """Take what was scanned until no more than so many batches wait. Raises FatalError where no disk is left."""
        while len(self._waiting) > most:
            dump, waiting = self._waiting.popleft()
            scanned = waiting.result()
            dump.without += int(np.count_nonzero(scanned.counts == 0))
            self.edges.add(scanned.owner + np.int32(self._taken), scanned.urns)
            self.trimmable += scanned.trimmable
            self.cut += scanned.cut
            self._taken += scanned.rows.num_rows
            self._counts.append(scanned.counts)
            self._lengths.append(numbers(scanned.rows.column("length")).copy())
            self.rows.add(scanned.rows)
            if self.rows.octets > _IN_MEMORY:
                self.rows.spill()
