"""The first reading of dumps: their records, and the URNs that each of them names."""

from __future__ import annotations

import dataclasses
import itertools
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.arrow import number_array, numbers, octets_array, text_array
from urnscan.columns import scan_values
from urnscan.dedup.joining import Edges, Numbers
from urnscan.dedup.policy import Policy
from urnscan.dedup.rewriting import Dumps, ReadInto, Spool, Summed
from urnscan.errors import FatalError, SourceError
from urnscan.options import Options
from urnscan.records.buffer import Buffer
from urnscan.records.formats import FORMATS, Format, recognise
from urnscan.records.identifiers import as_text
from urnscan.records.record import Damaged, Record
from urnscan.running import NO_PLACE, Failures
from urnscan.sources import INSIDE, Checks, Document, Input, Values, open_documents
from urnscan.spilling import Spilled
from urnscan.tables import CLUSTERS, canonical_column
from urnscan.views import make_scanner

__all__ = ["Dump", "Harvest"]

_TOGETHER = (
    1 << 15
)  # records that are scanned at once: few large steps, as each waits for the reading thread's turn to end
_TOGETHER_OCTETS = 1 << 24
_AHEAD = 2  # batches that wait to be scanned while the next is read
_IN_MEMORY = 1 << 26  # octets of rows that wait in memory

_ROWS = pa.schema([CLUSTERS.field(name) for name in ("record", "record_id", "offset", "length", "urns")])
"""What is known of records before there are clusters."""


@dataclass(slots=True)
class Dump:
    """A text of records that was read."""

    source: Input
    name: str
    """What errors call it."""
    member: str | None
    number: int
    """Its place among the things that are in the input, from 0."""
    format: Format
    first: int
    """The number of its first record among all that could be read, from 0."""
    records: int = 0
    damaged: int = 0
    octets: int = 0
    sum: int = 0
    """The checksum of its octets, where it is to be read again."""
    kept: tuple[int, int] | None = None
    """Where it lies in the spool, if it is out of a pipe that is to be read again."""


class Harvest:
    """Reads dumps once, and holds what is known of their records."""

    def __init__(
        self,
        options: Options,
        policy: Policy,
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
        self.edges = Edges(policy.weak, policy.max_class, folder)
        self.rows = Spilled(_ROWS, folder)
        """Those of a dump lie in batches of their own."""
        self.spool: Spool | None = None
        """What came out of pipes that are to be read again."""
        self.trimmable = 0
        """Occurrences that `trim` would have changed."""
        self._policy = policy
        self._reading = dataclasses.replace(options.reading, columns=())
        self._level = options.level
        self._scanner = make_scanner(options.grammar(count_lines=False), options.recover)
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
        self._waiting: deque[Future[_Scanned]] = deque()
        self._keys = Edges((), sys.maxsize, folder)  # of records that are known by their identifiers

    def close(self) -> None:
        """Give back what it holds."""
        self._thread.shutdown(cancel_futures=True)
        self.rows.close()
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

    def read(self, inputs: Iterator[Input | SourceError]) -> None:
        """Read all records. Raises FatalError."""
        for place, source in enumerate(inputs):
            if isinstance(source, SourceError):
                self._failures.add(NO_PLACE, source.source, source)
                continue
            try:
                documents = open_documents(source, self._reading, Checks(), self._on_read)
                with closing(documents):  # type: ignore[type-var]
                    for number, document in enumerate(documents):
                        self._document(place, source, number, document)
            except SourceError as error:
                self._failures.add(place, source.name, error)
        self._take(0)
        self._failures.finish()
        self._tell_split()

    def _tell_split(self) -> None:
        """Tell of the first dump in which records are in pieces that do not lie together. Raises FatalError where dumps
        are written: a piece could go whose other half stays.
        """
        cluster = self._keys.clusters(self._records).cluster
        pieces = np.flatnonzero(np.bincount(cluster, minlength=1)[cluster] > 1)
        if not len(pieces):
            return
        dump = next(dump for dump in reversed(self.dumps) if dump.first <= pieces[0])
        many = int(np.count_nonzero(pieces < dump.first + dump.records))
        reason = f"{many:,} records are pieces of records whose statements do not stand together: sort its lines first"
        if self._outputs is not None:
            raise FatalError(f"{dump.name}: {reason}")
        self._failures.add(NO_PLACE, dump.name, SourceError(dump.name, reason))

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
        format_ = FORMATS[self._policy.record] if self._policy.record else recognise(buffer, file_name)
        if format_ is None:
            if buffer.error is not None:
                raise buffer.error
            if buffer.has(1):
                reason = "is in no format of records that is known: name one, as in --record line"
                self._failures.add(place, source.name, SourceError(name, reason))
            return
        if self._outputs is not None:
            self._outputs.admit(source, format_, document.codec)
        dump = Dump(source, name, document.member, number, format_, self._records)
        self.dumps.append(dump)
        self._read_records(place, dump, buffer)
        dump.octets, dump.sum = summed.octets, summed.sum
        if is_kept:
            dump.kept = (start, start + summed.octets)

    def _read_records(self, place: int, dump: Dump, buffer: Buffer) -> None:
        """Read the records of a dump."""
        reader = dump.format.open(own=self._policy.fields)
        batch = _Batch()
        number = 0
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
                    batch = _Batch()
            if buffer.error is None:
                break
            self._failures.add(place, dump.source.name, buffer.error)
            if not buffer.resume():
                break
        self._scan(dump, batch)

    def _scan(self, dump: Dump, batch: _Batch) -> None:
        """Have a batch scanned."""
        if batch.record:
            if dump.format.keyed:
                keys = text_array([f"{len(self.dumps)} {identifier}" for identifier in batch.identifier])
                self._keys.add(np.arange(len(keys), dtype=np.int32) + np.int32(self._records), keys)
            dump.records += len(batch.record)
            self._records += len(batch.record)
            self._waiting.append(self._thread.submit(self._find, batch))
            self._take(_AHEAD)

    def _find(self, batch: _Batch) -> _Scanned:
        """The rows of a batch; in the thread that scans."""
        trimmable = 0
        places, forms = [np.empty(0, np.int64)], [text_array([])]
        for hits in scan_values(self._scanner, octets_array(batch.texts)):
            places.append(hits.value)
            forms.append(canonical_column(hits.matches, self._level))
            trimmable += int(np.count_nonzero(hits.matches.trailing))
        owner = np.array(batch.owner, np.int32)[np.concatenate(places)]
        urn = pa.concat_arrays(forms).dictionary_encode()
        codes = numbers(urn.indices)
        # Each form once in a record, in the order in which they stand there.
        _, first = np.unique(owner * np.int64(len(urn.dictionary) or 1) + codes, return_index=True)
        first = first[np.lexsort((first, owner[first]))]
        owner = owner[first]
        ends = np.searchsorted(owner, np.arange(len(batch.record) + 1)).astype(np.int32)
        urns = urn.dictionary.take(number_array(codes[first]))
        columns = [
            number_array(np.array(batch.record, np.int64)),
            text_array(batch.identifier),
            number_array(np.array(batch.offset, np.int64)),
            number_array(np.array(batch.length, np.int64)),
            pa.ListArray.from_arrays(number_array(ends), urns, type=_ROWS.field("urns").type),
        ]
        return _Scanned(pa.RecordBatch.from_arrays(columns, schema=_ROWS), urns, owner, np.diff(ends), trimmable)

    def _take(self, most: int) -> None:
        """Take what was scanned until no more than so many batches wait. Raises FatalError where no disk is left."""
        while len(self._waiting) > most:
            scanned = self._waiting.popleft().result()
            self.edges.add(scanned.owner + np.int32(self._taken), scanned.urns)
            self.trimmable += scanned.trimmable
            self._taken += scanned.rows.num_rows
            self._counts.append(scanned.counts)
            self._lengths.append(numbers(scanned.rows.column("length")).copy())
            self.rows.add(scanned.rows)
            if self.rows.octets > _IN_MEMORY:
                self.rows.spill()


@dataclass(slots=True)
class _Batch:
    """Records next to each other in a dump, still to be scanned."""

    record: list[int] = field(default_factory=list)
    identifier: list[str | None] = field(default_factory=list)
    offset: list[int] = field(default_factory=list)
    length: list[int] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    owner: list[int] = field(default_factory=list)
    """Of each text the place of its record in the batch."""
    octets: int = 0
    """Of the texts."""

    def add(self, number: int, record: Record) -> None:
        """Append the record of this number in its dump, from 1."""
        place = len(self.record)
        self.record.append(number)
        self.identifier.append(record.identifier)
        self.offset.append(record.offset)
        self.length.append(len(record.octets))
        own = (text.encode("utf-8", "replace") for each in record.own if (text := as_text(each)) is not None)
        for octets in itertools.chain(own, record.texts):
            self.texts.append(octets)
            self.owner.append(place)
            self.octets += len(octets)

    @property
    def is_full(self) -> bool:
        """Whether it is to be scanned before more is added."""
        return len(self.record) == _TOGETHER or self.octets > _TOGETHER_OCTETS


@dataclass(frozen=True, slots=True)
class _Scanned:
    """A batch that was scanned."""

    rows: pa.RecordBatch
    urns: pa.StringArray
    """Those of all its records, end to end."""
    owner: Numbers
    """Of each of them the place of its record in the batch."""
    counts: Numbers
    """Of each record, how many it has."""
    trimmable: int
    """Occurrences that `trim` would have changed."""
