"""The records of all dumps: rows, edges to URNs and keys, and counts, collected batch by batch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from urnscan.compiled.arrow import flags_of, numbers, text_array
from urnscan.dedup.join.choose_kept import IntArray
from urnscan.dedup.join.components import MAX_COUNT, Edges, Numbers
from urnscan.dedup.policy import PLACEHOLDERS, Policy
from urnscan.dedup.read.batches import ROWS, ReadBatch, WrongRow, only_names
from urnscan.dedup.reread import Dump
from urnscan.errors import FatalError
from urnscan.records.keys import URN, always, copied, unsure
from urnscan.run.task_results import Counts
from urnscan.tables.spill import Spilled

# Maximum number of records with a wrong check digit that are named.
_MAX_WRONG = 100
# Bytes of rows in memory; more are spilled.
_IN_MEMORY = 1 << 26


class RecordCollection:
    """Rows of all records, edges, and counts. An edge is a record and an identifier (URN or key) in it. Records are
    numbered from 0, over all dumps, in the order in which they are added; damaged records have no number.
    """

    def __init__(self, policy: Policy, folder: Callable[[], Path]) -> None:
        """`folder` returns the folder for temporary files, and is called only if memory is full."""
        self._folder = folder
        self.edges = Edges((*policy.weak, *PLACEHOLDERS), folder, unsure(), copied(), by_urn=URN in policy.keys)
        """Edges between records and their URNs and keys."""
        self.id_edges: Edges | None = None
        """Edges between records and their `record_id`, for formats in which several records describe a work; None
        without a dump of such a format.
        """
        self.rows = Spilled(ROWS, folder)
        """Rows of all records, with the columns of `batches.ROWS`; no batch has rows of two dumps."""
        self.lengths: list[IntArray] = []
        """Bytes of each record, by batch, in the smallest type that holds them."""
        self.counts: list[IntArray] = []
        """Number of different URNs and keys of each record, without keys that nearly all records have; by batch, in the
        smallest type that holds them.
        """
        self.count = 0
        """Number of records of all dumps that could be read; deleted records are included."""
        self._deleted: list[Numbers] = []
        self.occurrences = Counts()
        """Counts of the occurrences in all records."""
        self.cut = 0
        """Number of URNs that were left out because they are longer than `max_length`."""
        self.wrong: list[tuple[str, str]] = []
        """For the first 100 records whose identifiers all have a wrong check digit: name of the record (the dump, and
        the number of the record in the dump, from 1), and the identifier.
        """
        self.wrong_numbers: list[WrongRow] = []
        """Wrong ISBN and ISSN of all records that are not deleted, if they are wanted; ascending by `row`."""

    @property
    def deleted(self) -> Numbers:
        """Numbers of the deleted records among the records of all dumps, from 0, ascending; empty if there are none."""
        return np.concatenate([np.empty(0, np.int32), *self._deleted])

    def close(self) -> None:
        """Free the rows of the records, and the edges between records and their URNs, keys and IDs; delete their
        temporary files. Counts and lengths remain.
        """
        for part in (self.rows, self.edges, self.id_edges):
            if part is not None:
                part.close()

    def add(self, dump: Dump, dump_number: int, batch: ReadBatch) -> None:
        """Add the records of a batch, and count them in their dump. `dump_number`: number of the dump, from 1. Raises
        FatalError if there are too many records, or if the disk is full or fails.
        """
        self.occurrences += batch.counts
        self.cut += batch.cut
        rows = batch.rows
        if not len(rows):
            return
        if self.count + len(rows) > MAX_COUNT:
            raise FatalError(f"more than {MAX_COUNT:,} records; split the dumps into several runs")
        record = np.arange(self.count, self.count + len(rows), dtype=np.int32)
        dump.records += len(rows)
        self.count += len(rows)
        if dump.format.keyed:
            self._add_ids(record, dump_number, rows)
        names = rows.column("names")
        is_live = np.ones(len(rows), np.bool_)
        is_live[batch.deleted] = False
        self._deleted.append(record[~is_live])
        of_each = np.diff(numbers(names.offsets))
        self.edges.add(np.repeat(record, of_each), names.values, np.repeat(is_live, of_each))
        counts = np.diff(numbers(only_names(names, but=always()).offsets))
        dump.without += int(np.count_nonzero(counts == 0))
        for row, identifier in batch.only_wrong:
            if counts[row] == 0:
                self._add_wrong(dump, rows, row, identifier)
        live = (wrong for wrong in batch.wrong if is_live[wrong.row])
        self.wrong_numbers += (wrong._replace(row=int(record[wrong.row])) for wrong in live)
        self.counts.append(_least(counts))
        self.lengths.append(_least(numbers(rows.column("length"))))
        self.rows.add(rows)
        if self.rows.byte_count > _IN_MEMORY:
            self.rows.spill()

    def _add_ids(self, record: Numbers, dump_number: int, rows: pa.RecordBatch) -> None:
        self.id_edges = self.id_edges or Edges((), self._folder)
        record_ids = rows.column("record_id")
        texts = [f"{dump_number} {record_id}" for record_id in record_ids.drop_null().to_pylist()]
        self.id_edges.add(record[flags_of(record_ids.is_valid())], text_array(texts))

    def _add_wrong(self, dump: Dump, rows: pa.RecordBatch, row: int, identifier: str) -> None:
        """Count a record whose identifiers, the first of them `identifier`, all have a wrong check digit."""
        dump.wrong += 1
        if len(self.wrong) < _MAX_WRONG:
            number, record_id = (rows.column(name)[row].as_py() for name in ("record", "record_id"))
            called = f" ({record_id})" if record_id else ""
            self.wrong.append((f"{dump.name}: record {number:,}{called}", identifier))


def _least(values: IntArray) -> IntArray:
    """Numbers, at least one and none negative, in the smallest type that holds them."""
    return values.astype(np.min_scalar_type(values.max()))
