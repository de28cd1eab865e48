"""Batches of records: filled while a dump is read, scanned as one, and turned into rows and URNs."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from urnscan.arrays.arrow import flag_array, number_array, numbers, octets_array, text_array
from urnscan.dedup.components import Numbers
from urnscan.records.identifiers import as_text
from urnscan.records.record import Record
from urnscan.run.options import Options
from urnscan.scanner.views import make_scanner
from urnscan.tables.rows import canonical_column
from urnscan.tables.schemas import CLUSTERS
from urnscan.tables.values import scan_values

__all__ = ["ROWS", "Batch", "BatchScanner", "Scanned"]

ROWS = pa.schema([CLUSTERS.field(name) for name in ("record", "record_id", "offset", "length", "urns")])
"""Columns of CLUSTERS that are known before there are clusters."""

# A batch is full with so many records or octets. Each batch waits for the reading thread to release the GIL: few are better.
_FULL = 1 << 15
_FULL_OCTETS = 1 << 24
_CUT = -1  # `stop` of a match that was cut at `max_length`


@dataclass(slots=True)
class Batch:
    """Neighbouring records of a dump that are not scanned yet."""

    record: list[int] = field(default_factory=list)
    identifier: list[str | None] = field(default_factory=list)
    offset: list[int] = field(default_factory=list)
    length: list[int] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    owner: list[int] = field(default_factory=list)
    """For each text, the index of its record in the batch."""
    octets: int = 0
    """Approximate size of the texts and identifiers."""

    def add(self, number: int, record: Record) -> None:
        """Append a record; `number` is its number in the dump, from 1."""
        index = len(self.record)
        self.record.append(number)
        self.identifier.append(record.identifier)
        self.offset.append(record.offset)
        self.length.append(len(record.octets))
        self.octets += len(record.identifier or "")
        own = (text.encode() for each in record.own if (text := as_text(each)) is not None)
        for octets in itertools.chain(own, record.texts):
            self.texts.append(octets)
            self.owner.append(index)
            self.octets += len(octets)

    @property
    def is_full(self) -> bool:
        """Whether the batch has to be scanned before the next record is added."""
        return len(self.record) == _FULL or self.octets > _FULL_OCTETS


@dataclass(frozen=True, slots=True)
class Scanned:
    """Result of scanning a batch."""

    rows: pa.RecordBatch
    """ROWS, one for each record."""
    urns: pa.StringArray
    """Canonical URNs of all records, end to end."""
    owner: Numbers
    """For each URN, the index of its record in the batch."""
    counts: Numbers
    """Number of URNs of each record."""
    trimmable: int
    """Occurrences that `trim` would have changed."""
    cut: int
    """URNs longer than `max_length`. They are left out: two of them may share only their beginnings."""


class BatchScanner:
    """Scanner of batches, for one thread."""

    def __init__(self, options: Options) -> None:
        self._scanner = make_scanner(options.grammar(count_lines=False), options.recover)
        self._level = options.level

    def scan(self, batch: Batch) -> Scanned:
        """Scan a batch. Each record gets each canonical form once, in the order of the first occurrences."""
        trimmable = cut = 0
        places, forms = [np.empty(0, np.int64)], [text_array([])]
        for hits in scan_values(self._scanner, octets_array(batch.texts)):
            whole = hits.matches.stop != _CUT
            place, form = hits.value, canonical_column(hits.matches, self._level)
            if not whole.all():
                place, form = place[whole], form.filter(flag_array(whole))
            places.append(place)
            forms.append(form)
            trimmable += int(np.count_nonzero(hits.matches.trailing))
            cut += int(np.count_nonzero(~whole))
        owner = np.array(batch.owner, np.int32)[np.concatenate(places)]
        urn = pa.concat_arrays(forms).dictionary_encode()
        codes = numbers(urn.indices)
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
            pa.ListArray.from_arrays(number_array(ends), urns, type=ROWS.field("urns").type),
        ]
        rows = pa.RecordBatch.from_arrays(columns, schema=ROWS)
        return Scanned(rows, urns, owner, np.diff(ends), trimmable, cut)
