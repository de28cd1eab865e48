"""The first reading of all dumps: rows of the records, and edges between records and their URNs."""

from __future__ import annotations

import dataclasses
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
from urnscan.dedup.outputs import Outputs
from urnscan.dedup.policy import PLACEHOLDERS, Policy
from urnscan.dedup.second_reading import Dump, ReadInto, SecondReading, Spool, SummedReader
from urnscan.errors import FatalError, LimitError, SourceError
from urnscan.framing.buffer import Buffer
from urnscan.output.spill import Spilled
from urnscan.records.formats import FORMATS, recognise
from urnscan.records.record import Damaged
from urnscan.run.failures import NO_PLACE, Failures
from urnscan.run.options import Options
from urnscan.sources import INSIDE, Document, Input, Values, is_binary, open_documents

__all__ = ["Harvest"]

_AHEAD = 2  # batches that may wait for the scanner while the next is read
_IN_MEMORY = 1 << 26  # octets of rows in memory; more are spilled


class Harvest:
    """Reads all dumps once and holds rows and edges of their records."""

    def __init__(
        self,
        options: Options,
        policy: Policy,
        outputs: Outputs,
        failures: Failures,
        folder: Callable[[], Path],
        on_read: Callable[[int], object],
    ) -> None:
        """`folder` gives the folder for spilled rows. `on_read` is called with the octets read since its last call."""
        self.dumps: list[Dump] = []
        self.empty: list[Input] = []
        """Empty inputs, whose format is unknown."""
        self.edges = Edges((*policy.weak, *PLACEHOLDERS), policy.max_class, folder)
        """Edges between records and their URNs."""
        self.pieces: Edges | None = None
        """Edges between records and their identifiers, for formats in which two records with one identifier are pieces of one."""
        self.rows = Spilled(ROWS, folder)
        """ROWS of all records; no batch has rows of two dumps."""
        self.trimmable = 0
        """Occurrences that `trim` would have changed."""
        self.cut = 0
        """URNs that were left out because they are longer than `max_length`."""
        self.records = 0
        """Records that were read."""
        self._policy = policy
        self._outputs = outputs
        self._reading = dataclasses.replace(options.reading, columns=())
        self._scanner = BatchScanner(options)
        self._failures = failures
        self._folder = folder
        self._on_read = on_read
        self._spool: Spool | None = None
        self._taken = 0  # records whose rows and edges were added
        self._lengths: list[npt.NDArray[np.int64]] = []
        self._counts: list[Numbers] = []
        # A second thread scans a batch while the next one is read.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="urnscan-scanning")
        self._waiting: deque[tuple[Dump, Future[Scanned]]] = deque()

    def close(self) -> None:
        """Release thread and files."""
        self._thread.shutdown(cancel_futures=True)
        self.rows.close()
        self.edges.close()
        if self.pieces is not None:
            self.pieces.close()
        if self._spool is not None:
            self._spool.close()

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Octets of each record."""
        return np.concatenate([np.empty(0, np.int64), *self._lengths])

    @property
    def counts(self) -> Numbers:
        """Number of different URNs of each record."""
        return np.concatenate([np.empty(0, np.int32), *self._counts])

    def read(self, inputs: Iterable[Input | SourceError]) -> None:
        """Read all dumps. Raises FatalError."""
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

    def second_reading(self) -> SecondReading:
        """Prepare the second reading of the same dumps."""
        return SecondReading(self.dumps, self._spool, self._reading, self._on_read)

    def _document(self, place: int, source: Input, number: int, document: Document | Values | SourceError) -> None:
        """Read one document of an input. Raises SourceError."""
        match document:
            case SourceError():
                self._failures.add(place, source.name, document)
            case Values():
                reason = "is a table, and no dump of records: export it as CSV or JSON Lines"
                member, inside, _ = document.place(0).rpartition(INSIDE)
                if not inside:  # the table is the whole input
                    raise SourceError(source.name, reason)
                name = source.name + INSIDE + member
                self._failures.add(place, source.name, SourceError(name, reason), is_part=True)
            case Document():
                self._dump(place, source, number, document)

    def _dump(self, place: int, source: Input, number: int, document: Document) -> None:
        """Read a document as a dump, or report why it is none. Raises SourceError."""
        name = source.name if document.member is None else source.name + INSIDE + document.member
        read_into: ReadInto = document.reader.read_into
        spooled = None
        if self._outputs.need_second_reading and source.size is None:
            self._spool = self._spool or Spool(self._folder())
            spooled = self._spool.octets
            read_into = self._spool.keep(read_into)
        reader = SummedReader(read_into, want_checksum=self._outputs.need_second_reading)
        buffer = Buffer(reader.read_into)
        # The name of a member tells more than the name of its archive.
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
        if self._outputs.dumps is not None:
            self._outputs.dumps.admit(source, format_, document.codec)
        dump = Dump(source, name, document.member, number, format_, first=self.records, spooled=spooled)
        self.dumps.append(dump)
        try:
            self._read_records(place, dump, buffer)
        finally:
            dump.octets, dump.checksum = reader.octets, reader.checksum
        if format_ is not recognised and not dump.records + dump.damaged and dump.octets:
            reason = f"holds no record of {format_.title}: without --record its format is found out"
            self._failures.add(place, source.name, SourceError(name, reason))

    def _read_records(self, place: int, dump: Dump, buffer: Buffer) -> None:
        """Read the records of a dump. Raises LimitError if the rest of its input must not be read."""
        reader = dump.format.open(own=self._policy.fields)
        batch = Batch()
        number = 0
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
            if buffer.error is None or isinstance(buffer.error, LimitError):
                break
            self._failures.add(place, dump.source.name, buffer.error)
            if not buffer.resume():
                break
        self._scan(dump, batch)
        if isinstance(buffer.error, LimitError):
            raise buffer.error

    def _scan(self, dump: Dump, batch: Batch) -> None:
        """Hand a batch to the scanning thread. Raises FatalError."""
        if not batch.record:
            return
        if self.records + len(batch.record) > MOST:
            raise FatalError(f"more than {MOST:,} records: give the dumps in several runs")
        if dump.format.keyed:
            self.pieces = self.pieces or Edges((), sys.maxsize, self._folder)
            known = [index for index, name in enumerate(batch.identifier) if name is not None]
            keys = text_array([f"{len(self.dumps)} {batch.identifier[index]}" for index in known])
            self.pieces.add(np.array(known, np.int32) + np.int32(self.records), keys)
        dump.records += len(batch.record)
        self.records += len(batch.record)
        self._waiting.append((dump, self._thread.submit(self._scanner.scan, batch)))
        self._take(_AHEAD)

    def _take(self, most: int) -> None:
        """Take scanned batches until at most so many wait. Raises FatalError if the disk is full."""
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
