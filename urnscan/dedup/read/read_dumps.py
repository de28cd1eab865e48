"""The first reading of all dumps: rows of the records, and edges between records and their URNs and keys."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np

from urnscan.compiled.arrow import numbers, text_array
from urnscan.dedup.join.choose_kept import Merit
from urnscan.dedup.join.components import MOST, Edges
from urnscan.dedup.policy import PLACEHOLDERS, Policy
from urnscan.dedup.read.batches import ROWS, Batch, ReadBatch, Wanted, only_names
from urnscan.dedup.read.workers import Workers
from urnscan.dedup.reread import Dump, SecondReading, Spool, SummedReader
from urnscan.dedup.write.outputs import Outputs
from urnscan.errors import (
    FatalError,
    FormatError,
    LimitError,
    NoDumpNote,
    RecordError,
    SourceError,
    UnknownFormatError,
    option,
)
from urnscan.formats.contents import Document, Values
from urnscan.formats.context import INSIDE
from urnscan.formats.encodings import is_binary
from urnscan.formats.unfold import open_documents
from urnscan.framing.buffer import Buffer
from urnscan.records.formats import FORMATS, Format, likely, recognise
from urnscan.records.keys import URN, always, unsure
from urnscan.records.record import count_of
from urnscan.run.failures import NO_PLACE, Failures
from urnscan.run.options import Options
from urnscan.run.task_results import Counts
from urnscan.stores.input import Input
from urnscan.tables.spill import Spilled

_DAMAGED = 1_000  # records at the beginning of a dump that may all be damaged before they are told
_MOST_WRONG = 100  # records with a wrong check digit that are named
_MOST_STEPS = 1_000  # that wait for batches
_IN_MEMORY = 1 << 26  # octets of rows in memory; more are spilled


@dataclasses.dataclass(slots=True, eq=False)
class _InTurn:
    """A dump whose batches are taken in their turn."""

    dump: Dump
    place: int
    """Place of its input among the arguments."""
    wanted: Wanted
    damaged: list[SourceError] = dataclasses.field(default_factory=list)
    """Records that are still to be told: perhaps no record can be read at all."""


@dataclasses.dataclass(eq=False)
class FirstReading:
    """Reads all dumps once and holds rows and edges of their records."""

    options: Options
    policy: Policy
    outputs: Outputs
    failures: Failures
    folder: Callable[[], Path]
    """Gives the folder for spilled rows."""
    on_read: Callable[[int], object]
    """Called with the octets read since the last call."""
    named: frozenset[str]
    """Names of the inputs that the user gave; all others were met in folders and archives."""
    dumps: list[Dump] = dataclasses.field(default_factory=list)
    empty: list[Input] = dataclasses.field(default_factory=list)
    """Empty inputs, whose format is unknown."""
    lengths: list[Merit] = dataclasses.field(default_factory=list)
    """Octets of each record, by batch, in the least numbers that hold them."""
    counts: list[Merit] = dataclasses.field(default_factory=list)
    """Number of different URNs and keys of each record, in the same way; keys that nearly every record has do not count."""
    pieces: Edges | None = None
    """Edges between records and their identifiers, for formats in which records of one identifier are one."""
    records: int = 0
    """Records that were read."""
    found: Counts = dataclasses.field(default_factory=Counts)
    """Counts of the occurrences in all records."""
    cut: int = 0
    """URNs that were left out because they are longer than `max_length`."""
    wrong: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    """The first records that nothing but identifiers with a wrong check digit name: name, and the identifier."""

    def __post_init__(self) -> None:
        weak = (*self.policy.weak, *PLACEHOLDERS)
        self.edges = Edges(weak, self.folder, unsure(), by_urn=URN in self.policy.keys)
        """Edges between records and their URNs and keys."""
        self.rows = Spilled(ROWS, self.folder)
        """ROWS of all records; no batch has rows of two dumps."""
        self._reading = dataclasses.replace(self.options.reading, columns=())
        self._spool: Spool | None = None
        self.workers = Workers(self.options)
        """Workers that read batches, and then do what follows."""
        self._waiting: deque[tuple[_InTurn, Future[ReadBatch]] | Callable[[], object]] = deque()
        """Batches that are being read, and what is to be done when all before it is taken, in the order of the dumps."""
        self._submitted = 0  # batches that wait
        self._untold = 0  # octets of dumps that were read since the last batch
        self._is_in_dump = False

    def close(self) -> None:
        """Release thread and files."""
        self.workers.close()
        for held in (self.rows, self.edges, self.pieces, self._spool):
            if held is not None:
                held.close()

    def read(self, inputs: Iterable[Input | SourceError]) -> None:
        """Read all dumps. Raises FatalError."""
        for place, source in enumerate(inputs):
            if isinstance(source, SourceError):
                self._fail(NO_PLACE, source.source, source)
                continue
            try:
                with closing(open_documents(source, self._reading, self._count)) as documents:
                    for number, document in enumerate(documents):
                        self._document(place, source, number, document)
            except SourceError as error:
                self._fail(place, source.name, error)
            self._count(0)
        self._take(0)
        self.failures.finish()

    def second_reading(self) -> SecondReading:
        """Prepare the second reading of the same dumps."""
        return SecondReading(self.dumps, self._spool, self._reading, self.on_read)

    def _count(self, octets: int) -> None:
        """Count octets that were read. Those of a dump are told when its records are taken, which comes much later."""
        self._untold += octets
        if self._is_in_dump:
            return
        tell = self._told()
        if self._submitted:
            self._waiting.append(tell)
        else:
            tell()

    def _told(self) -> Callable[[], object]:
        """The step that tells the octets that were read by now."""
        octets, self._untold = self._untold, 0
        return partial(self.on_read, octets)

    def _document(self, place: int, source: Input, number: int, document: Document | Values | SourceError) -> None:
        """Read one document of an input. Raises SourceError."""
        match document:
            case SourceError():
                self._fail(place, source.name, document)
            case Values():
                reason = "is a table, and no dump of records: export it as CSV or JSON Lines"
                member, inside, _ = document.place(0).rpartition(INSIDE)
                if not inside:  # the table is the whole input
                    raise FormatError(source.name, reason)
                self._fail(place, source.name, FormatError(source.name + INSIDE + member, reason), is_part=True)
            case Document(member, is_set_in_lines=True):  # one of many in a PDF, which is told once
                around, _, _ = f"{INSIDE}{member}".rpartition(INSIDE)
                error = self._no_dump(source, around, "is a PDF, and no dump of records")
                self._fail(place, source.name, error, is_part=True)
            case Document():
                self._dump(place, source, number, document)

    def _dump(self, place: int, source: Input, number: int, document: Document) -> None:
        """Read a document as a dump, or report why it is none. Raises SourceError."""
        name = source.name if document.member is None else source.name + INSIDE + document.member
        twice = self.outputs.need_second_reading
        spool = None
        if twice and source.size is None:
            spool = self._spool = self._spool or Spool(self.folder())
        spooled = None if spool is None else spool.octets
        reader = SummedReader(document.reader.read_into, want_checksum=twice, spool=spool)
        buffer = Buffer(reader.read_into)
        # The name of a member tells more than the name of its archive.
        recognised = recognise(buffer, source.file_name if document.member is None else document.member)
        format_ = FORMATS[self.policy.record] if self.policy.record else recognised
        if format_ is None or format_.recipe:
            if isinstance(buffer.error, LimitError):
                raise buffer.error
            if buffer.error is not None:
                self._fail(place, source.name, buffer.error)
            elif buffer.has(1):
                self._fail(place, source.name, self._unread(source, name, buffer.octets, format_))
            elif document.member is None:
                self.empty.append(source)
            return
        for dumps in self.outputs.copies.values():
            dumps.admit(source, format_, document.codec)
        dump = Dump(source, name, document.member, number, format_, spooled=spooled)
        self.dumps.append(dump)
        wanted = Wanted(
            format_.name,
            len(self.dumps),
            self.policy.fields,
            self.policy.keys if self.policy.has_keys else (),
            self.policy.needs_descriptions or self.outputs.candidates is not None,
            self.outputs.has_review or self.policy.decisions is not None,
        )
        in_turn = _InTurn(dump, place, wanted)
        self._is_in_dump = True
        try:
            self._read_records(in_turn, buffer)
        finally:
            self._is_in_dump = False
            dump.octets, dump.checksum = reader.octets, reader.checksum
        if format_ is not recognised:
            self._then(partial(self._check, in_turn))

    def _unread(self, source: Input, name: str, octets: bytes, format_: Format | None) -> SourceError:
        """The error or note about a document that is in no format of records that is read; `octets` are its first."""
        if format_ is not None:
            return FormatError(name, f"is {format_.title}, which is not read; {format_.recipe}")
        reason = "is in no format of records that is known (urnscan dedup --help lists them)"
        if guess := likely(octets):
            reason += f"; it resembles {guess.title}: {option('record', guess.name)} reads it as that"
            return UnknownFormatError(name, reason)
        if not is_binary(octets):
            reason += f"; {option('record', 'line')} takes each line for a record"
        return self._no_dump(source, name.removeprefix(source.name), reason)

    def _no_dump(self, source: Input, member: str, reason: str) -> SourceError:
        """An error if the user named this input, and a note if it was met in a folder or an archive."""
        kind = UnknownFormatError if source.name in self.named and not member else NoDumpNote
        return kind(source.name + member, reason)

    def _read_records(self, in_turn: _InTurn, buffer: Buffer) -> None:
        """Find the records of a dump. Raises LimitError if the rest of its input must not be read."""
        self._then(partial(self._begin, in_turn.dump))
        reader = in_turn.wanted.reader()
        batch = Batch(in_turn.wanted)
        count = 0
        buffer.take_mark()
        while True:
            for found in reader.found(buffer):
                batch.add(count + 1, found)
                count += count_of(found)
                if batch.is_full:
                    self._submit(in_turn, batch)
                    batch = Batch(in_turn.wanted)
            self._submit(in_turn, batch)
            batch = Batch(in_turn.wanted)
            if buffer.error is None or isinstance(buffer.error, LimitError):
                break
            self._then(partial(self._tell, in_turn))
            self._fail(in_turn.place, in_turn.dump.source.name, buffer.error)
            if not buffer.resume():
                break
        self._then(partial(self._end, in_turn, count))
        if isinstance(buffer.error, LimitError):
            raise buffer.error

    def _submit(self, in_turn: _InTurn, batch: Batch) -> None:
        """Have a batch read, and take what is read by now. Raises FatalError."""
        if batch.found:
            self._waiting += [(in_turn, self.workers.submit(batch)), self._told()]
            self._submitted += 1
            self._take(self.workers.ahead)

    def _then(self, step: Callable[[], None]) -> None:
        """Do something when all batches before it are taken. Raises FatalError."""
        self._waiting.append(step)
        self._take(self.workers.ahead if len(self._waiting) < _MOST_STEPS else 0)

    def _fail(self, place: int, name: str, error: SourceError, *, is_part: bool = False) -> None:
        """Add a failure in its turn. Raises FatalError if it ends the run."""
        self._then(partial(self.failures.add, place, name, error, is_part=is_part))

    def _take(self, most: int) -> None:
        """Take what is read until at most so many batches wait. Raises FatalError."""
        while self._waiting:
            step = self._waiting[0]
            if isinstance(step, tuple):
                if self._submitted <= most:
                    return
                self._submitted -= 1
                in_turn, reading = step
                self._add(in_turn, reading.result())
            else:
                step()
            self._waiting.popleft()

    def _begin(self, dump: Dump) -> None:
        dump.first = self.records

    def _end(self, in_turn: _InTurn, count: int) -> None:
        """Tell the records that are damaged; in one sentence if none of so many can be read. Raises FatalError."""
        if len(in_turn.damaged) > 1:
            reason = f"none of its {count:,} records can be read; {in_turn.damaged[0].reason}"
            in_turn.damaged[:] = [RecordError(in_turn.dump.name, reason)]
        self._tell(in_turn)

    def _check(self, in_turn: _InTurn) -> None:
        """Tell if a dump that was read in a format that the user named has no record. Raises FatalError."""
        dump = in_turn.dump
        if not dump.records + dump.damaged and dump.octets:
            reason = f"holds no record of {dump.format.title}: without {option('record', None)} its format is found out"
            self.failures.add(in_turn.place, dump.source.name, FormatError(dump.name, reason))

    def _tell(self, in_turn: _InTurn) -> None:
        """Tell the records of a dump that are damaged, and empty the list. Raises FatalError if one ends the run."""
        for error in in_turn.damaged:
            self.failures.add(in_turn.place, in_turn.dump.source.name, error)
        in_turn.damaged.clear()

    def _add(self, in_turn: _InTurn, read: ReadBatch) -> None:
        """Add the records of a batch to rows and edges. Raises FatalError, also if the disk is full."""
        dump, rows = in_turn.dump, read.rows
        for number, damaged in read.damaged:
            dump.damaged += 1
            reason = f"record {number:,} at octet {damaged.offset:,} is damaged: {damaged.reason}"
            in_turn.damaged.append(RecordError(dump.name, reason))
            if number != dump.damaged or number > _DAMAGED:
                self._tell(in_turn)
        self.found += read.counts
        self.cut += read.cut
        if not len(rows):
            return
        self._tell(in_turn)
        if self.records + len(rows) > MOST:
            raise FatalError(f"more than {MOST:,} records: give the dumps in several runs")
        first = self.records
        dump.records += len(rows)
        self.records += len(rows)
        if dump.format.keyed:
            self.pieces = self.pieces or Edges((), self.folder)
            named = [
                (at, name) for at, name in enumerate(rows.column("record_id").to_pylist(), first) if name is not None
            ]
            self.pieces.add(
                np.array([at for at, _ in named], np.int32),
                text_array([f"{in_turn.wanted.dump} {name}" for _, name in named]),
            )
        names = rows.column("names")
        self.edges.add(
            np.repeat(np.arange(first, first + len(rows), dtype=np.int32), np.diff(numbers(names.offsets))),
            names.values,
        )
        counts = np.diff(numbers(only_names(names, but=always()).offsets))
        dump.without += int(np.count_nonzero(counts == 0))
        for at, identifier in read.wrong:
            if counts[at] == 0:
                dump.wrong += 1
                if len(self.wrong) < _MOST_WRONG:
                    number, called = (rows.column(name)[at].as_py() for name in ("record", "record_id"))
                    self.wrong.append((f"{dump.name}: record {number:,}{f' ({called})' if called else ''}", identifier))
        self.counts.append(_least(counts))
        self.lengths.append(_least(numbers(rows.column("length"))))
        self.rows.add(rows)
        if self.rows.octets > _IN_MEMORY:
            self.rows.spill()


def _least(values: Merit) -> Merit:
    """Numbers, none of which is below 0, in the fewest octets that hold them."""
    return values.astype(np.min_scalar_type(values.max()))
