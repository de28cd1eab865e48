"""Records scanned together: batches of records in, their rows and the URNs that each of them names out."""

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
from urnscan.tables.rows import CLUSTERS, canonical_column
from urnscan.tables.values import scan_values

__all__ = ["ROWS", "Batch", "BatchScanner", "Scanned"]

ROWS = pa.schema([CLUSTERS.field(name) for name in ("record", "record_id", "offset", "length", "urns")])
"""What is known of records before there are clusters."""

_TOGETHER = (
    1 << 15
)  # records that are scanned at once: few large steps, as each waits for the reading thread's turn to end
_TOGETHER_OCTETS = 1 << 24
_CUT = -1  # in the place of the octet that ended a match: it is longer than a match may be


@dataclass(slots=True)
class Batch:
    """Records next to each other in a dump, still to be scanned."""

    record: list[int] = field(default_factory=list)
    identifier: list[str | None] = field(default_factory=list)
    offset: list[int] = field(default_factory=list)
    length: list[int] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    owner: list[int] = field(default_factory=list)
    """Of each text the place of its record in the batch."""
    octets: int = 0
    """Of the texts and the identifiers, about."""

    def add(self, number: int, record: Record) -> None:
        """Append the record of this number in its dump, from 1."""
        place = len(self.record)
        self.record.append(number)
        self.identifier.append(record.identifier)
        self.offset.append(record.offset)
        self.length.append(len(record.octets))
        self.octets += len(record.identifier or "")
        own = (text.encode() for each in record.own if (text := as_text(each)) is not None)
        for octets in itertools.chain(own, record.texts):
            self.texts.append(octets)
            self.owner.append(place)
            self.octets += len(octets)

    @property
    def is_full(self) -> bool:
        """Whether it is to be scanned before more is added."""
        return len(self.record) == _TOGETHER or self.octets > _TOGETHER_OCTETS


@dataclass(frozen=True, slots=True)
class Scanned:
    """A batch that was scanned."""

    rows: pa.RecordBatch
    """ROWS."""
    urns: pa.StringArray
    """Those of all its records, end to end."""
    owner: Numbers
    """Of each of them the place of its record in the batch."""
    counts: Numbers
    """Of each record, how many it has."""
    trimmable: int
    """Occurrences that `trim` would have changed."""
    cut: int
    """URNs that are longer than a match may be, and left out: what they have in common may be their beginning alone."""


class BatchScanner:
    """Scans batches. One thread's own."""

    def __init__(self, options: Options) -> None:
        self._scanner = make_scanner(options.grammar(count_lines=False), options.recover)
        self._level = options.level

    def scan(self, batch: Batch) -> Scanned:
        """The rows of a batch, and its URNs: each form once in a record, in the order in which they stand there."""
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
