"""Batches of records: filled where the records of a dump are found, and read and scanned in another thread or process."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.arrays.arrow import filtered, flag_array, flags_of, number_array, numbers, octets_array, text_array
from urnscan.framing.lines import Damaged
from urnscan.records.formats import FORMATS
from urnscan.records.identifiers import as_text, with_wrong_digit
from urnscan.records.keys import KeyReader
from urnscan.records.record import Cut, Record, RecordReader
from urnscan.run.options import Options
from urnscan.run.pieces import Counts
from urnscan.scanner.blocks import components_in_names
from urnscan.scanner.views import make_scanner
from urnscan.tables.rows import canonical_column
from urnscan.tables.schemas import CLUSTERS
from urnscan.tables.values import scan_values

ROWS = pa.schema(
    [
        *(CLUSTERS.field(name) for name in ("record", "record_id", "start", "length")),
        pa.field("names", CLUSTERS.field("urns").type, nullable=False),
        pa.field("description", pa.binary(), nullable=False),
        pa.field("digest", pa.int64(), nullable=False),
    ]
)
"""A row per record, before there are clusters: columns of CLUSTERS that are known already; `names`, its URNs and then its
keys; its packed description; and its digest, 0 if none is wanted.
"""

# A batch is full with so many records or octets.
_FULL = 1 << 13
_FULL_OCTETS = 1 << 21
_CUT = -1  # `stop` of a match that was cut at `max_length`


def only_names(names: pa.ListArray, *, of: str = "", but: Sequence[str] = ()) -> pa.ListArray:
    """Keep only names with the beginning `of`, without those with one of the beginnings `but`."""
    which = pc.starts_with(names.values, of)
    for beginning in but:
        which = pc.and_not(which, pc.starts_with(names.values, beginning))
    return filtered(names, flags_of(which))


def digest_of(octets: bytes) -> int:
    """Digest of octets, which tells whether those of a record have changed."""
    return int.from_bytes(hashlib.blake2b(octets, digest_size=8).digest(), "big", signed=True)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The parts of each record of a dump that are read."""

    format: str
    """Name of the format of the dump."""
    dump: int
    """Number of the dump, from 1."""
    fields: bool
    """Whether own identifiers count as URNs, and texts do not."""
    keys: tuple[str, ...] = ()
    """Kinds of keys; empty if only URNs count."""
    described: bool = False
    """Whether descriptions are wanted."""
    digests: bool = False
    """Whether digests are wanted."""

    def reader(self) -> RecordReader:
        """Open a reader of records."""
        format_ = FORMATS[self.format]
        return format_.open(own=self.fields, described=self.described, keys=bool(self.keys) and format_.has_fields)

    def key_reader(self) -> KeyReader | None:
        """Open a reader of keys; None if none are wanted, or the format has no fields for them."""
        format_ = FORMATS[self.format]
        return KeyReader(self.keys, self.dump, named=format_.numbered) if self.keys and format_.has_fields else None


@dataclass(slots=True)
class Batch:
    """Neighbouring records of a dump that are found, and not read yet."""

    wanted: Wanted
    found: list[tuple[int, Cut | Damaged]] = field(default_factory=list)
    """Records with their numbers in the dump, from 1."""
    octets: int = 0
    """Octets of the records."""

    def add(self, number: int, found: Cut | Damaged) -> None:
        """Append a record."""
        self.found.append((number, found))
        if isinstance(found, Cut):
            self.octets += len(found.octets)

    @property
    def is_full(self) -> bool:
        """Whether the batch has to be read before the next record is added."""
        return len(self.found) == _FULL or self.octets > _FULL_OCTETS

    def __reduce__(self) -> tuple[Callable[..., Batch], tuple[object, ...]]:
        """Pickled as columns, which takes half of the time of records."""
        cuts = [(number, *found) for number, found in self.found if isinstance(found, Cut)]
        damaged = [(place, each) for place, each in enumerate(self.found) if isinstance(each[1], Damaged)]
        return _batch_of, (self.wanted, [*zip(*cuts, strict=True)], damaged, self.octets)


def _batch_of(
    wanted: Wanted, cuts: Sequence[Sequence[Any]], damaged: Sequence[tuple[int, tuple[int, Damaged]]], octets: int
) -> Batch:
    """The batch that was pickled."""
    found: list[tuple[int, Cut | Damaged]] = [*zip(cuts[0], map(Cut, *cuts[1:]), strict=True)] if cuts else []
    for place, each in damaged:
        found.insert(place, each)
    return Batch(wanted, found, octets)


class ReadBatch(NamedTuple):
    """A batch that was read."""

    rows: pa.RecordBatch
    """ROWS of the records that can be read."""
    damaged: Sequence[tuple[int, Damaged]]
    """The others, with their numbers."""
    counts: Counts
    """Counts of their occurrences."""
    cut: int
    """URNs longer than `max_length`. They are left out: two of them may share only their beginnings."""
    wrong: Sequence[tuple[int, str]]
    """Rows whose own identifiers give no URN, with one whose check digit is wrong."""


class _Texts:
    """Records of a batch, as columns that are still lists."""

    def __init__(self, wanted: Wanted, key_reader: KeyReader | None) -> None:
        self._wanted = wanted
        self._key_reader = key_reader
        self.records: list[tuple[int, str | None, int, int]] = []
        """Number in the dump, identifier, start and length of each record."""
        self.descriptions: list[bytes] = []
        self.digests: list[int] = []
        self.texts: list[bytes] = []
        self.owner: list[int] = []
        """For each text, the index of its record in the batch."""
        self.keys: list[str] = []
        self.key_owner: list[int] = []
        """For each key, the index of its record in the batch."""
        self.wrong: list[tuple[int, str]] = []
        """See `ReadBatch.wrong`."""

    def add(self, number: int, record: Record) -> None:
        """Append a record."""
        own = record.own if self._wanted.fields else ()
        texts = [text.encode() for each in own if (text := as_text(each)) is not None]
        if not texts and (wrong := next(filter(None, map(with_wrong_digit, own)), None)) is not None:
            self.wrong.append((len(self.records), wrong))
        texts += record.texts
        if self._key_reader is not None:
            keys = self._key_reader.of_record(record)
            self.keys += keys
            self.key_owner += [len(self.records)] * len(keys)
        self.texts += texts
        self.owner += [len(self.records)] * len(texts)
        self.records.append((number, record.identifier, record.offset, len(record.octets)))
        self.descriptions.append(record.description)
        self.digests.append(digest_of(record.octets) if self._wanted.digests else 0)


class BatchReader:
    """Reader and scanner of batches, for one thread."""

    def __init__(self, options: Options) -> None:
        self._scanner = make_scanner(options.grammar(count_lines=False), options.recover)
        self._level = options.level
        self._opened: tuple[Wanted, RecordReader, KeyReader | None] | None = None

    def read(self, batch: Batch) -> ReadBatch:
        """Read a batch."""
        if self._opened is None or self._opened[0] != batch.wanted:
            self._opened = batch.wanted, batch.wanted.reader(), batch.wanted.key_reader()
        wanted, reader, key_reader = self._opened
        read = _Texts(wanted, key_reader)
        damaged: list[tuple[int, Damaged]] = []
        records = iter(reader.records([found for _, found in batch.found if isinstance(found, Cut)]))
        for number, found in batch.found:
            one = found if isinstance(found, Damaged) else next(records)
            if isinstance(one, Damaged):
                damaged.append((number, one))
            else:
                read.add(number, one)
        names, counts, cut = self._names(read)
        record, identifier, start, length = zip(*read.records, strict=True) if read.records else ((), (), (), ())
        columns = [
            number_array(np.array(record, np.int64)),
            text_array(identifier),
            number_array(np.array(start, np.int64)),
            number_array(np.array(length, np.int64)),
            names,
            octets_array(read.descriptions),
            number_array(np.array(read.digests, np.int64)),
        ]
        return ReadBatch(pa.RecordBatch.from_arrays(columns, schema=ROWS), damaged, counts, cut, read.wrong)

    def _names(self, read: _Texts) -> tuple[pa.ListArray, Counts, int]:
        """The column `names` of the records, the counts of their occurrences, and the URNs that were cut.

        Each record gets each canonical form once, in the order of the first occurrences, and its keys behind them.
        """
        places, forms = [np.empty(0, np.int64)], [text_array([])]
        left_out, trimmable, components, cut = self._scanner.left_out, 0, 0, 0
        for hits in scan_values(self._scanner, octets_array(read.texts)):
            whole = hits.matches.stop != _CUT
            place, form = hits.value, canonical_column(hits.matches, self._level)
            if not whole.all():
                place, form = place[whole], form.filter(flag_array(whole))
            places.append(place)
            forms.append(form)
            trimmable += int(np.count_nonzero(hits.matches.punctuation))
            components += components_in_names(hits.matches, self._scanner.grammar)
            cut += int(np.count_nonzero(~whole))
        forms.append(text_array(read.keys))
        owners = (np.array(read.owner, np.int32)[np.concatenate(places)], np.array(read.key_owner, np.int32))
        owner = np.concatenate(owners)
        urn = pa.concat_arrays(forms).dictionary_encode()
        codes = numbers(urn.indices)
        _, first = np.unique(owner * np.int64(len(urn.dictionary) or 1) + codes, return_index=True)
        first = first[np.lexsort((first, owner[first]))]
        ends = np.searchsorted(owner[first], np.arange(len(read.records) + 1)).astype(np.int32)
        texts = urn.dictionary.take(number_array(codes[first]))
        names = pa.ListArray.from_arrays(number_array(ends), texts, type=ROWS.field("names").type)
        left_out = self._scanner.left_out - left_out
        return names, Counts(trimmable=trimmable, left_out=left_out, components_in_names=components), cut
