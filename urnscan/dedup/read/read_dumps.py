"""All dumps, read once: rows of the records, and edges between records and their URNs and keys."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

from urnscan.dedup.policy import Policy
from urnscan.dedup.read.batches import Batch, ReadBatch, ReadSettings
from urnscan.dedup.read.damaged_records import DamagedRecords
from urnscan.dedup.read.dump_format import DumpFormats, error_of_table
from urnscan.dedup.read.dump_order import DumpOrder
from urnscan.dedup.read.record_collection import RecordCollection
from urnscan.dedup.read.workers import Workers
from urnscan.dedup.reread import Dump, SecondReading, Spool, SummedReader
from urnscan.dedup.write.outputs import Outputs
from urnscan.errors import FormatError, LimitError, SourceError, option
from urnscan.formats.contents import Document, Values
from urnscan.formats.context import Reading, full_name
from urnscan.formats.unfold import open_documents
from urnscan.framing.buffer import HEAD, Buffer
from urnscan.records.record import count_of
from urnscan.run.failures import NO_PLACE, Failures
from urnscan.run.options import Options
from urnscan.stores.input import Input


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ReadDumps:
    """All dumps after reading, and the objects that the next steps need."""

    dumps: Sequence[Dump]
    """The dumps, in the order of the inputs."""
    empty: Sequence[Input]
    """Inputs without bytes, which have no format; they are not in `dumps`."""
    records: RecordCollection
    """Rows, edges (pairs of a record and an identifier) and counts of all records."""
    workers: Workers
    """Workers that read batches, and then call functions of the next steps."""
    options: Options
    folder: Callable[[], Path]
    """Function that returns the folder for temporary files."""
    second_reading: SecondReading
    """The second reading of the same dumps."""
    any_urn: bool
    """Whether every URN counts in all dumps, and not only record-level identifiers."""

    def close(self) -> None:
        """End the workers, and delete rows, edges and the content of pipes."""
        self.workers.close()
        self.records.close()
        if self.second_reading.spool is not None:
            self.second_reading.spool.close()


def read_dumps(
    inputs: Iterable[Input | SourceError],
    options: Options,
    policy: Policy,
    outputs: Outputs,
    failures: Failures,
    folder: Callable[[], Path],
    on_read: Callable[[int], object],
    named: Collection[str],
) -> ReadDumps:
    """Read all dumps, and return their records; the caller closes the result. Damaged records, and inputs that cannot
    be read or are not dumps, are reported to `failures`. Raises FatalError if an error ends the run, such as a full
    disk.

    `outputs` decides whether the content of pipes is kept for a second reading. `folder` returns the folder for
    temporary files. `on_read` is called with the number of bytes read since the last call. `named`: names of the inputs
    that are arguments; all other inputs are in folders, patterns, lists and archives.
    """
    with ExitStack() as stack:
        records = RecordCollection(policy, folder)
        stack.callback(records.close)
        workers = Workers(options)
        stack.callback(workers.close)
        formats, order = DumpFormats(policy.record, named), DumpOrder(workers, on_read)
        reading = dataclasses.replace(options.reading, columns=(), results=False)
        # A DOI cannot be written in rfc2141bis-03: a name ends at "/".
        any_urn = policy.any_urn or options.syntax == "rfc2141bis-03"
        reader = _DumpReader(policy, outputs, failures, folder, formats, order, records, reading, any_urn)
        stack.callback(reader.close)
        reader.read(inputs)
        stack.pop_all()
    return ReadDumps(
        dumps=reader.dumps,
        empty=reader.empty,
        records=records,
        workers=workers,
        options=options,
        folder=folder,
        second_reading=SecondReading(reader.dumps, reader.spool, reading, on_read),
        any_urn=any_urn,
    )


@dataclasses.dataclass(slots=True)
class _DumpReader:
    """Finds the records of all dumps, and puts them into the queue (`order`) in batches. `any_urn`: every URN in a
    record counts. `dumps` and `empty` (inputs without bytes) are results.
    """

    policy: Policy
    outputs: Outputs
    failures: Failures
    folder: Callable[[], Path]
    formats: DumpFormats
    order: DumpOrder
    records: RecordCollection
    reading: Reading
    any_urn: bool
    dumps: list[Dump] = dataclasses.field(default_factory=list)
    empty: list[Input] = dataclasses.field(default_factory=list)
    spool: Spool | None = None
    """Content of pipes, if the dumps are read twice."""

    def close(self) -> None:
        if self.spool is not None:
            self.spool.close()

    def read(self, inputs: Iterable[Input | SourceError]) -> None:
        """Read all dumps, and wait for all batches."""
        for place, source in enumerate(inputs):
            if isinstance(source, SourceError):
                self._fail(NO_PLACE, source.source, source)
                continue
            try:
                with closing(open_documents(source, self.reading, self.order.count)) as documents:
                    for number, document in enumerate(documents):
                        self._document(place, source, number, document)
            except SourceError as error:
                self._fail(place, source.name, error)
            self.order.count(0)
        self.order.finish()
        self.failures.finish()

    def _document(self, place: int, source: Input, number: int, document: Document | Values | SourceError) -> None:
        """Read a document as a dump, or report why not. `place`, `number`: index of the input, and of the document in
        it, from 0.
        """
        match document:
            case SourceError():
                self._fail(place, source.name, document)
            case Values():
                self._fail(place, source.name, error_of_table(source, document), is_part=True)
            # One of many texts in a PDF, which is reported once.
            case Document(member, is_set_in_lines=True):
                self._fail(place, source.name, self.formats.error_of_pdf(source, member), is_part=True)
            case Document():
                self._dump(place, source, number, document)

    def _dump(self, place: int, source: Input, number: int, document: Document) -> None:
        """Read a document as a dump, or report why not. `place`, `number`: as in `_document`. Raises LimitError if the
        rest of the input must not be read.
        """
        name = full_name(source.name, document.member)
        is_read_twice = self.outputs.need_second_reading
        spool = None
        if is_read_twice and source.size is None:
            spool = self.spool = self.spool or Spool(self.folder())
        spooled = None if spool is None else spool.byte_count
        reader = SummedReader(document.reader.read_into, want_checksum=is_read_twice, spool=spool)
        buffer = Buffer(reader.read_into)
        # The name of a member shows more than the name of its archive.
        file_name = source.file_name if document.member is None else document.member
        format_, is_recognised = self.formats.recognise(buffer, file_name)
        if format_ is None or format_.recipe:
            if isinstance(buffer.error, LimitError):
                raise buffer.error
            if buffer.error is not None:
                self._fail(place, source.name, buffer.error)
            elif buffer.has(1):
                error = self.formats.error_of_unknown(source, name, buffer.data, format_)
                self._fail(place, source.name, error)
            elif document.member is None:
                self.empty.append(source)
            return
        for dumps in self.outputs.copies.values():
            dumps.admit(source, format_, document.codec)
        dump = Dump(source, name, document.member, number, format_, spooled=spooled)
        self.dumps.append(dump)
        self.order.is_in_dump = True
        try:
            if format_.has_fields and not self.any_urn:
                buffer.has(HEAD)
                head = buffer.data[buffer.at : buffer.at + HEAD]
                dump.own, dump.unread = format_.knows_fields(head), format_.unread(head)
            self._read_records(place, dump, buffer)
        finally:
            self.order.is_in_dump = False
            dump.byte_count, dump.checksum = reader.byte_count, reader.checksum
        if not is_recognised:
            self.order.call(partial(self._check, place, dump))

    def _read_records(self, place: int, dump: Dump, buffer: Buffer) -> None:
        """Put the records of a dump into the queue. `place`: index of the input, from 0. Raises LimitError if the rest
        of the input must not be read.
        """
        self.order.call(partial(self._begin, dump))
        damaged = DamagedRecords(dump, partial(self.failures.add, place, dump.source.name))
        add = partial(self._add, dump, len(self.dumps), damaged)
        settings = self._settings(dump)
        reader = settings.reader()
        batch = Batch(settings)
        count = 0
        buffer.take_mark()
        while True:
            for record in reader.find(buffer):
                batch.add(count + 1, record)
                count += count_of(record)
                if batch.is_full:
                    self.order.submit(batch, add)
                    batch = Batch(settings)
            self.order.submit(batch, add)
            batch = Batch(settings)
            if buffer.error is None or isinstance(buffer.error, LimitError):
                break
            self.order.call(damaged.report)
            self._fail(place, dump.source.name, buffer.error)
            if not buffer.resume():
                break
        self.order.call(partial(damaged.end, count))
        if isinstance(buffer.error, LimitError):
            raise buffer.error

    def _settings(self, dump: Dump) -> ReadSettings:
        policy, outputs = self.policy, self.outputs
        return ReadSettings(
            dump.format.name,
            len(self.dumps),
            dump.own,
            policy.keys if policy.has_keys else (),
            policy.needs_descriptions or outputs.candidates is not None or outputs.wrong is not None,
            outputs.has_digests or policy.decisions is not None,
            outputs.wrong is not None,
        )

    def _begin(self, dump: Dump) -> None:
        dump.first = self.records.count

    def _add(self, dump: Dump, dump_number: int, damaged: DamagedRecords, batch: ReadBatch) -> None:
        damaged.add(batch)
        self.records.add(dump, dump_number, batch)

    def _check(self, place: int, dump: Dump) -> None:
        """Report a dump that has bytes, but no record. Precondition: all its batches were added."""
        if not dump.records + dump.damaged and dump.byte_count:
            reason = f"no record in {dump.format.title} format; leave out {option('record', None)} to have the format recognised"
            self.failures.add(place, dump.source.name, FormatError(dump.name, reason))

    def _fail(self, place: int, name: str, error: SourceError, *, is_part: bool = False) -> None:
        """Report a failure after all earlier batches. `is_part`: it is not reported if the failure before in this input
        has the same text. A failure that ends the run raises FatalError in this or a later call.
        """
        self.order.call(partial(self.failures.add, place, name, error, is_part=is_part))
