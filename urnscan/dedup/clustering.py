"""Clusters of all records, the ranks of the records in their clusters, and the rows of the tables about records."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.compiled.arrow import bits, filtered, flag_array, number_array, numbers, text_array
from urnscan.dedup.compare.citations import PLACES
from urnscan.dedup.compare.unpacked_descriptions import SHOWN, unpacked
from urnscan.dedup.join.component_batches import Bits
from urnscan.dedup.join.components import Flags, Numbers, Pair, merged
from urnscan.dedup.join.split_component import REASONS
from urnscan.dedup.read.batches import only_names
from urnscan.dedup.read.read_dumps import ReadDumps
from urnscan.dedup.reread import Dump
from urnscan.dedup.review.review_table import shown_digests
from urnscan.dedup.write.copies import Places
from urnscan.records.keys import DESCRIPTION, always
from urnscan.tables.schemas import CLUSTERS, REVIEW
from urnscan.tables.spill import Spilled

_Value = TypeVar("_Value")

DECISIONS = ("alone", "kept", "removed", "apart")
"""Decisions of a run about a record. `alone`: no record of its cluster is removed. `kept`: the record stays, and other
records of its cluster are removed. `removed`: the record is removed, because another record of its cluster is kept.
`apart`: as `alone`, but in doubt, as it shares a key with records of other clusters, or because people decided so.
"""
BY_DECISION = "decision"
"""Entry in the column `joined_by` of a record that people joined to others."""
KEPT = pa.schema(CLUSTERS.field(name) for name in "cluster source member record record_id digest".split())
"""Columns that say which record is kept, and in which cluster."""
_ROWS = pa.schema([*CLUSTERS, REVIEW.field("edition"), REVIEW.field("part")])
_PLACE_TEXTS = [
    [f"{DESCRIPTION}:{place.name}" for at, place in enumerate(PLACES) if bits_ >> at & 1]
    for bits_ in range(1 << len(PLACES))
]
_REASON_TEXTS = [
    " ".join(name for at, name in enumerate(REASONS) if bits_ >> at & 1) for bits_ in range(1 << len(REASONS))
]


@dataclass(frozen=True, slots=True)
class Components:
    """Groups of records that keys and citations connect (connected components), before conflicts split the groups into
    clusters; and the records in batches. Records of all dumps together are numbered from 0, components from 1.
    """

    reading: ReadDumps
    """The dumps that were read."""
    component: Numbers
    """Number of the component of each record, from 1."""
    is_shared: Flags
    """Whether a component has several records, by the number of the component; False at index 0, which is unused."""

    def connected(self, pairs: Pair) -> Components:
        """Return the components that result if `pairs` of records (two arrays of their numbers) are connected, too;
        this object is not changed.
        """
        component = merged(self.component, pairs)
        return Components(self.reading, component, np.bincount(component, minlength=1) > 1)

    def batches(self) -> Iterator[tuple[Dump, slice, pa.RecordBatch]]:
        """Yield batches of all records, in order: their dump, their numbers among the records of all dumps, from 0, as
        a slice, and their rows (keys in `names`, packed `description`, place in the dump; all columns are in
        `batches.ROWS`). No batch has records of two dumps. Raises FatalError if the disk fails.
        """
        batches = self.reading.records.rows.batches()
        for dump in self.reading.dumps:
            record = dump.first
            while record < dump.first + dump.records:
                rows = next(batches)
                yield dump, slice(record, record + len(rows)), rows
                record += len(rows)

    def described(self) -> Iterator[tuple[tuple[Dump, slice, pa.RecordBatch], pa.RecordBatch]]:
        """Return an iterator over batches of all records (as `batches` yields them), each with a batch of the
        descriptions (columns of SHOWN, and `description`) of only those records for which `share` is true. Raises
        FatalError if the disk fails or a process dies.
        """
        batches, sources = itertools.tee(self.batches())
        packed = (rows.column("description").filter(flag_array(self.share(span))) for _, span, rows in sources)
        return zip(batches, self.reading.workers.results(unpacked, packed), strict=True)

    def share(self, span: slice) -> Flags:
        """Return for each record of a batch whether its component (connected records) has other records. `span`:
        numbers of the records, as a slice, from `batches`.
        """
        return self.is_shared[self.component[span]]

    def named(self, records: Collection[tuple[int, _Value]]) -> list[tuple[str, _Value]]:
        """Return pairs of a record and another value, in the order of the records, with the name of the record in
        messages instead of its number: `a.mrc: record 1,234`, the dump and the number in it, from 1. The given numbers
        are those among the readable records of all dumps, from 0. Raises FatalError if the disk fails.
        """
        numbers = sorted({record for record, _ in records})
        names = {
            record: f"{dump.name}: record {rows.column('record')[record - span.start].as_py():,}"
            for dump, span, rows in (self.batches() if numbers else ())
            for record in numbers[bisect_left(numbers, span.start) : bisect_left(numbers, span.stop)]
        }
        return [(names[record], value) for record, value in records]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustering:
    """Cluster, rank and decision of each record, as arrays by the number of the record among the records of all dumps,
    from 0; and the rows of the tables.

    A cluster has the records that are treated as the same work; ranks order the records of a cluster.
    """

    records: Components
    """The records, and the components that the clusters are parts of."""
    cluster: Numbers
    """Number of the cluster, from 1."""
    rank: Numbers
    """Rank in the cluster, from 1; the record of rank 1 is kept."""
    decision: npt.NDArray[np.int8]
    """Index in DECISIONS."""
    reasons: Bits
    """Why people should look at a record, for example why a record that shares a key is in another cluster: bit i (1 <<
    i) for `split_component.REASONS[i]`; 0 without a reason.
    """
    joins: Flags
    """Whether a key of a record is also a key of another record in the cluster; an element for each key (URNs included)
    of each record, in the order of the column `names` of all rows.
    """
    citation_places: npt.NDArray[np.uint8]
    """The places in the literature (such as first page, or volume of a journal) by which an article is joined to
    records that no key joins to it: for each record, bit i (1 << i) for `citations.PLACES[i]`; 0 for others.
    """
    by_decision: Flags
    """Whether people joined each record to others of its cluster."""
    in_doubt: Flags
    """Whether people should look at each record: it has a reason (`reasons`), or had one before people joined it to
    others, or has changed after they decided about it.
    """
    to_decide: Flags
    """Whether each record is in doubt, and no decision of people about it is applied."""
    separate: Pair
    """Pairs of records that people decided to keep in two clusters: two arrays of their numbers."""
    descriptions: Spilled | None
    """Columns of SHOWN (title, year and others) of the records that share a key, in the same batches as the rows; None
    if descriptions are not compared.
    """
    counts: Mapping[str, Any]
    """Counts for `DedupReport`, by the names of its attributes."""

    def close(self) -> None:
        """Delete the descriptions on disk. Call this last."""
        if self.descriptions is not None:
            self.descriptions.close()

    def components_with(self, is_counted: Flags) -> Flags:
        """Return for each component (connected records), by its number, whether it has a record with a flag, such as
        `in_doubt` or `rank > 1`; False at index 0, which is unused. `is_counted`: a flag for each record.
        """
        has_any = np.zeros(len(self.records.is_shared), np.bool_)
        has_any[self.records.component[is_counted]] = True
        return has_any

    def rows(self) -> Iterator[tuple[Dump, pa.RecordBatch]]:
        """Yield batches of all records, in order: the dump, and rows of the table of clusters (CLUSTERS), with edition
        and part as further columns. No batch has records of two dumps. Raises FatalError if the disk fails.
        """
        edge = 0
        shown = (
            None if self.descriptions is None else zip(self.records.batches(), self.descriptions.batches(), strict=True)
        )
        for (dump, span, rows), described in shown or self.records.described():
            names = rows.column("names")
            columns = self._named_records(dump, span, rows) | {
                "start": rows.column("start"),
                "length": rows.column("length"),
                "urns": only_names(names, of="urn:"),
                "other_keys": only_names(names, but=("urn:", *always())),
                "joined_by": self._with_others(filtered(names, self.joins[edge : edge + len(names.values)]), span),
                "cluster_rank": number_array(self.rank[span].astype(np.int64)),
                "kept": flag_array(self.rank[span] == 1),
                "decision": _named(self.decision[span].astype(np.int32), DECISIONS),
                "reason": _named(self.reasons[span].astype(np.int32), _REASON_TEXTS),
                "component": number_array(self.records.component[span].astype(np.int64)),
                **self._scattered(span, described),
            }
            yield dump, pa.RecordBatch.from_arrays([columns[name] for name in _ROWS.names], schema=_ROWS)
            edge += len(names.values)

    def _with_others(self, names: pa.ListArray, span: slice) -> pa.ListArray:
        """Reasons for which each record of a batch was joined: its keys (`names`), then places in the literature by
        which articles were joined, and BY_DECISION. `span`: numbers of the records.
        """
        places, decided = self.citation_places[span], self.by_decision[span]
        if not places.any() and not decided.any():
            return names
        texts = [_PLACE_TEXTS[bits_] for bits_ in places.tolist()]
        marks = [[BY_DECISION] * is_decided for is_decided in decided.tolist()]
        lists = [name + text + mark for name, text, mark in zip(names.to_pylist(), texts, marks, strict=True)]
        return pa.array(lists, names.type)

    def kept(self) -> Iterator[pa.RecordBatch]:
        """Yield, in batches, the records with the decision `kept`: those of rank 1 in clusters with removed records,
        without records that are `alone` or `apart`. The order is that of all records; a batch may be empty.

        Columns: cluster, source, member, record (its number in the dump, from 1), record_id and digest (hash of the
        bytes, as a text). Raises FatalError if the disk fails.
        """
        for dump, span, rows in self.records.batches():
            is_kept = flag_array(self.decision[span] == DECISIONS.index("kept"))
            yield pa.RecordBatch.from_pydict(self._named_records(dump, span, rows), KEPT).filter(is_kept)

    def _named_records(self, dump: Dump, span: slice, rows: pa.RecordBatch) -> dict[str, pa.Array]:
        return {
            "cluster": number_array(self.cluster[span].astype(np.int64)),
            "source": _repeated(dump.source.name, len(rows)),
            "member": _repeated(dump.member, len(rows)),
            "record": rows.column("record"),
            "record_id": rows.column("record_id"),
            "digest": shown_digests(numbers(rows.column("digest"))),
        }

    def standing(self) -> Iterator[tuple[Dump, Numbers, pa.RecordBatch]]:
        """Yield, in batches, the records that are neither removed nor marked as deleted: their dump, their numbers
        among the records of all dumps, from 0, and their rows (the columns of `Components.batches`). A batch may be
        empty. Raises FatalError if the disk fails.
        """
        is_standing = self.rank == 1
        is_standing[self.records.reading.records.deleted] = False
        for dump, span, rows in self.records.batches():
            stays = is_standing[span]
            yield dump, (np.flatnonzero(stays) + span.start).astype(np.int32), rows.filter(flag_array(stays))

    def _scattered(self, span: slice, described: pa.RecordBatch) -> Mapping[str, pa.Array]:
        """Columns of SHOWN for all records of a batch, null for records that are alone in their component; `described`
        has rows only of the others. `span`: numbers of the records.
        """
        is_wanted = self.records.share(span)
        place = np.cumsum(is_wanted, dtype=np.int32) - np.int32(1)
        at = pa.Array.from_buffers(pa.int32(), len(place), [bits(is_wanted), pa.py_buffer(place)])
        columns = {name: described.column(name).take(at) for name in SHOWN.names}
        return columns | {"format": columns["format"].dictionary_encode()}

    def places(self, *, kept: bool = True) -> Iterator[Places]:
        """Yield, batch by batch, where each record is in its dump (offset and length in bytes), and whether a copy of
        the dump contains it: all records that are not removed, or, with `kept=False`, only the removed ones. Raises
        FatalError if the disk fails.
        """
        for _, span, rows in self.records.batches():
            start, length = (numbers(rows.column(name)) for name in ("start", "length"))
            yield Places(start, length, (self.rank[span] == 1) == kept)


def _repeated(text: str | None, count: int) -> pa.DictionaryArray:
    index = number_array(np.zeros(count, np.int32))
    return pa.DictionaryArray.from_arrays(
        index if text is not None else pa.nulls(count, pa.int32()), text_array([text or ""])
    )


def _named(codes: npt.NDArray[np.int32], names: Sequence[str]) -> pa.DictionaryArray:
    """A dictionary-encoded column: `names[code]` for each code; null for an empty name."""
    is_known = bits(np.array(names, np.bool_)[codes])
    places = pa.Array.from_buffers(pa.int32(), len(codes), [is_known, pa.py_buffer(np.ascontiguousarray(codes))])
    return pa.DictionaryArray.from_arrays(places, text_array(names))
