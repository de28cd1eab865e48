"""Batches of records: filled where the records of a dump are found, and read by another thread or process."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import filtered, flags_of
from urnscan.framing.lines import Damaged
from urnscan.records.format_registry import FORMATS
from urnscan.records.key_columns import KeyColumns
from urnscan.records.keys import KeyReader
from urnscan.records.record import Cut, RecordReader, Run, count_of
from urnscan.run.task_results import Counts
from urnscan.tables.schemas import CLUSTERS

ROWS = pa.schema(
    [
        *(CLUSTERS.field(name) for name in ("record", "record_id", "start", "length")),
        pa.field("names", CLUSTERS.field("urns").type, nullable=False),
        pa.field("description", pa.binary(), nullable=False),
        pa.field("digest", pa.int64(), nullable=False),
    ]
)
"""A row per record, before clustering: columns of CLUSTERS that are already known; `names`, the URNs and then the keys;
the packed description (bytes that `record.description_of` unpacks); and the digest (hash of the bytes of the record), 0
if digests are not needed.
"""

# A batch with more records or bytes is full.
_FULL = 1 << 13
_FULL_BYTES = 1 << 21


def only_names(names: pa.ListArray, *, of: str = "", but: Sequence[str] = ()) -> pa.ListArray:
    """Return lists of names with only those names that have the prefix `of` and none of the prefixes `but`; lists may
    become empty.
    """
    which = pc.starts_with(names.values, of)
    for prefix in but:
        which = pc.and_not(which, pc.starts_with(names.values, prefix))
    return filtered(names, flags_of(which))


def digest_of(data: bytes) -> int:
    """Return a hash of bytes (BLAKE2b, 8 bytes as a number with sign), which shows whether a record has changed."""
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big", signed=True)


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """Options for reading the records of a dump: which identifiers, keys and descriptions are read."""

    format: str
    """Name of the format of the dump, a key of `FORMATS`."""
    dump: int
    """Number of the dump, from 1."""
    own: bool
    """Whether only record-level identifiers (in fields that name the record itself) count; False: every URN in a
    record.
    """
    keys: tuple[str, ...] = ()
    """Kinds of identifiers that join records, as in `Policy.keys`; empty if only URNs join them."""
    described: bool = False
    """Whether descriptions are read."""
    digests: bool = False
    """Whether a digest (hash of the bytes) is calculated for each record."""
    wrong: bool = False
    """Whether all wrong ISBN and ISSN are wanted, also those of records with other identifiers."""

    def reader(self) -> RecordReader:
        """Return a new reader for the format of the dump, with these options; it gets the bytes of the records later."""
        format_ = FORMATS[self.format]
        return format_.reader(own=self.own, described=self.described, keys=bool(self.keys) and format_.has_fields)

    def key_reader(self) -> KeyColumns | None:
        """Return a new reader of keys; None if only URNs count, or the format has no fields for keys."""
        format_ = FORMATS[self.format]
        if not (self.keys and format_.has_fields):
            return None
        return KeyColumns(KeyReader(self.keys, self.dump, named=format_.numbered))


@dataclass(slots=True)
class Batch:
    """Neighbouring records of a dump that are found, but not read yet."""

    settings: ReadSettings
    """How the records are read."""
    items: list[tuple[int, Cut | Damaged | Run]] = field(default_factory=list)
    """Records, damaged records, and runs (neighbouring records in one object), in dump order. Each has its number in
    the dump, from 1, damaged records included; a run has the number of its first record.
    """
    records: int = 0
    """Number of records, damaged ones included."""
    byte_count: int = 0
    """Bytes of the records, without those of damaged records."""

    def add(self, number: int, item: Cut | Damaged | Run) -> None:
        """Append a record, a damaged record or a run (neighbouring records). `number`: its number, or that of the first
        record, in the dump, from 1.
        """
        self.items.append((number, item))
        self.records += count_of(item)
        if not isinstance(item, Damaged):
            self.byte_count += len(item.data)

    @property
    def is_full(self) -> bool:
        """Whether the batch has so many records (8,192) or bytes (more than 2 MiB) that it must be read before the next
        is added.
        """
        return self.records >= _FULL or self.byte_count > _FULL_BYTES


class WrongRow(NamedTuple):
    """A wrong ISBN or ISSN in a record."""

    row: int
    """Index of the record in the rows of the batch, from 0; in `RecordCollection.wrong_numbers`, its number among the
    records of all dumps, from 0.
    """
    number: str
    """The number as the record has it, but with plain hyphens; the whole text of the field if no part of it has the
    form of an ISBN or ISSN.
    """
    message: str
    """The reason why it is wrong, as in `WrongNumber`."""
    title: str | None
    """The title of the record, for people (`shown_title`); None without a title, or if descriptions are not read."""


class ReadBatch(NamedTuple):
    """Rows and counts of a batch of records after reading."""

    rows: pa.RecordBatch
    """ROWS of the records that can be read."""
    damaged: Sequence[tuple[int, Damaged]]
    """The damaged records, with their numbers in the dump, from 1; ascending."""
    counts: Counts
    """Counts of the occurrences of URNs in all records."""
    cut: int
    """Number of URNs longer than `max_length`. They are left out, because only their starts are known, which may be the
    same for different URNs.
    """
    only_wrong: Sequence[tuple[int, str]]
    """Records whose record-level identifiers give no URN: index in `rows`, from 0, and the first ISBN or ISSN in it,
    whose check digit is wrong.
    """
    wrong: Sequence[WrongRow]
    """Wrong ISBN and ISSN in all records, if they are wanted; ascending by `row`."""
    deleted: Sequence[int]
    """Indices in `rows`, from 0, of deleted records, ascending."""
